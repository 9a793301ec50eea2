#include "compiler/emit/loop.h"

#include <fmt/format.h>

namespace attn::emit {

using namespace ir;

LoopWriter::LoopWriter(const plan::Function& f, const plan::Loop& loop,
                       const std::vector<std::string>& names)
    : f_(f),
      g_(f.graph),
      loop_(loop),
      names_(names),
      step_(size_variable(g_, loop.steps.step)),
      count_(c_extent(g_, loop.steps.count)) {
  for (size_t n = loop.first; n < loop.end; ++n) {
    const plan::Kernel& k = f.kernels[n];
    for (const auto* list : {&k.reads, &k.writes}) touched_.insert(list->begin(), list->end());
  }
}

std::string LoopWriter::begin() const {
  std::string text;
  if (loop_.steps.down)
    text += fmt::format("  for (int64_t {0} = {1} - 1; {0} >= 0; --{0}) {{\n", step_, count_);
  else
    text += fmt::format("  for (int64_t {0} = 0; {0} < {1}; ++{0}) {{\n", step_, count_);
  for (const plan::Slice& s : f_.slices) {
    if (f_.places[s.tensor.value] != plan::Place::step || !touched_.count(s.tensor)) continue;
    text += fmt::format("  attn_show_step(&{}, &{}, {}, {});\n", names_[s.tensor.value],
                        names_[s.whole.value], g_[s.whole].extents.size() - 1 - s.dimension, step_);
  }
  return text;
}

std::string LoopWriter::end() const { return "  }\n"; }

}  // namespace attn::emit
