#include "compiler/emit/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/kinds.h"
#include "compiler/text/text.h"

namespace attn::emit {

using namespace ir;

std::string signature(const plan::Function& f, const plan::Kernel& kernel) {
  // A graph in which names say nothing but the position in the kernel.
  Graph g = f.graph;
  int next = 0;
  std::set<TensorId> named;
  auto name = [&](TensorId t) {
    if (named.insert(t).second) g[t].name = fmt::format("t{}", next++);
  };
  // Two passes, so that no old name stands in the way of a new one.
  for (size_t k = 0; k < g.tensors.size(); ++k) g.tensors[k].name = fmt::format("other{}", k);
  for (const auto* list : {&kernel.reads, &kernel.writes})
    for (TensorId t : *list) name(t);
  for (const Definition& d : kernel.definitions) name(d.target);
  int position = 0;
  for (const Definition& d : kernel.definitions)
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId i : *list) g[i].name = fmt::format("i{}", position++);
  std::vector<SizeId> taken = kernel.sizes;
  for (size_t k = 0; k < g.sizes.size(); ++k) g.sizes[k].name = fmt::format("Other{}", k);
  for (size_t k = 0; k < taken.size(); ++k) g[taken[k]].name = fmt::format("S{}", k);

  std::string text = plan::kind_of(kernel.form).name;
  auto shape = [&](TensorId t) {
    text += fmt::format("\n{} {}{}", g[t].name, name_of(g[t].storage), g[t].split ? " split" : "");
    for (const Poly& p : g[t].extents) text += ", " + plan::poly_text(g, g.expand(p));
  };
  for (const auto* list : {&kernel.reads, &kernel.writes}) {
    for (TensorId t : *list) shape(t);
    text += "\n;";
  }
  for (SizeId s : taken)
    text += fmt::format("\n{} {} {}", g[s].name, g[s].lower, g[s].upper.value_or(-1));
  for (const Definition& d : kernel.definitions) {
    text += "\n" + text::to_string(g, d) + " ->";
    shape(d.target);
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId i : *list)
        text += fmt::format(" {}:{}", g[i].name, plan::poly_text(g, g.expand(g[i].extent)));
    // Known sizes stand in the text as names: their values matter.
    for (const Expr* e : {&d.body})
      visit(*e, [&](const Expr& x) {
        if (x.is(ir::Kind::size)) text += " " + plan::poly_text(g, g.expand(x->size));
        return true;
      });
    for (const Expr& c : d.guard)
      visit(c, [&](const Expr& x) {
        if (x.is(ir::Kind::size)) text += " " + plan::poly_text(g, g.expand(x->size));
        return true;
      });
  }
  return text;
}

}  // namespace attn::emit
