#include "compiler/emit/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/kinds.h"
#include "compiler/text/text.h"

namespace attn::emit {

using namespace ir;

std::string signature(const plan::Function& f, const plan::Kernel& kernel) {
  // Names say nothing but the position in the kernel. Sizes that it does not take are known, or
  // follow from those that it takes.
  Graph g = plan::definitions_of(f.graph, kernel.form);
  int next = 0;
  std::set<TensorId> named;
  auto name = [&](TensorId t) {
    if (named.insert(t).second) g[t].name = fmt::format("t{}", next++);
  };
  for (TensorId t : kernel.arguments()) name(t);
  for (const Definition& d : g.definitions) name(d.target);
  int position = 0;
  for (const Definition& d : g.definitions)
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId i : *list) g[i].name = fmt::format("i{}", position++);
  for (size_t k = 0; k < kernel.sizes.size(); ++k) g[kernel.sizes[k]].name = fmt::format("S{}", k);
  for (size_t k = 0; k < g.sizes.size(); ++k) {
    const SizeId s{static_cast<int32_t>(k)};
    if (std::ranges::find(kernel.sizes, s) == kernel.sizes.end())
      g[s].name = fmt::format("({})", plan::poly_text(g, g.expand(Poly::size(s))));
  }

  const text::Printer print(g);
  std::string text = plan::kind_of(kernel.form).name;
  auto shape = [&](TensorId t) {
    text += fmt::format("\n{} {}{}", g[t].name, name_of(g[t].storage), g[t].split ? " split" : "");
    for (const Poly& p : g[t].extents) text += ", " + plan::poly_text(g, g.expand(p));
  };
  for (const auto* list : {&kernel.reads, &kernel.writes}) {
    for (TensorId t : *list) shape(t);
    text += "\n;";
  }
  for (TensorId t : kernel.writes)
    if (plan::is_block(f, t)) text += " " + g[t].name + " is a block";
  for (SizeId s : kernel.sizes)
    text += fmt::format("\n{} {} {}", g[s].name, g[s].lower, g[s].upper.value_or(-1));
  for (const Definition& d : g.definitions) {
    text += "\n" + print(d) + " ->";
    shape(d.target);
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId i : *list)
        text += fmt::format(" {}:{}", g[i].name, plan::poly_text(g, g.expand(g[i].extent)));
  }
  return text;
}

}  // namespace attn::emit
