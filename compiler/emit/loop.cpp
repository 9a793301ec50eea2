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
    written_.insert(k.writes.begin(), k.writes.end());
    for (const auto* list : {&k.reads, &k.writes}) touched_.insert(list->begin(), list->end());
  }
  for (size_t n = loop.first; n < loop.end; ++n)
    for (TensorId t : f.kernels[n].repairs_if_non_finite)
      if (!written_.count(t) && !slice_of_whole(t)) scanned_before_.insert(t);
}

// The slice that the loop writes of a whole tensor, or null.
const plan::Slice* LoopWriter::slice_of_whole(TensorId t) const {
  for (const plan::Slice& s : f_.slices)
    if (s.whole == t && written_.count(s.tensor)) return &s;
  return nullptr;
}

std::string LoopWriter::begin() const {
  std::string text = "  {\n";
  for (TensorId t : scanned_before_)
    text +=
        fmt::format("  const int bad_{} = {};\n", names_[t.value], scan_of(g_, t, names_[t.value]));
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

std::string LoopWriter::end() const { return "  }\n  }\n"; }

std::string LoopWriter::scan(TensorId t) const {
  if (scanned_before_.count(t)) return "bad_" + names_[t.value];
  if (f_.places[t.value] == plan::Place::step)
    return fmt::format("attn_has_non_finite({}.host, {}, {})", names_[t.value],
                       c_type(g_[t].storage), element_count(g_, t));
  if (slice_of_whole(t)) return scan_whole(t);
  return scan_of(g_, t, names_[t.value]);
}

// Of a tensor that the loop writes, the step before is read; of planes that lie apart, all.
std::string LoopWriter::scan_whole(TensorId t) const {
  if (g_[t].split) return scan_of(g_, t, names_[t.value]);
  const std::string before = loop_.steps.down
                                 ? fmt::format("({0} + 1 < {1} ? {0} + 1 : {0})", step_, count_)
                                 : fmt::format("attn_larger({} - 1, 0)", step_);
  const std::string elements = element_count(g_, slice_of_whole(t)->tensor);
  return fmt::format("attn_has_non_finite((char*)p{} + {} * ({}) * {}, {}, {})", names_[t.value],
                     before, elements, plan::element_bytes(g_[t].storage), c_type(g_[t].storage),
                     elements);
}

std::string scan_of(const Graph& g, TensorId t, const std::string& name) {
  return fmt::format("attn_has_non_finite(p{}, {}, {})", name, c_type(g[t].storage),
                     element_count(g, t));
}

}  // namespace attn::emit
