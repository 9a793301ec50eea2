#include "compiler/lower/forms/window.h"

#include <algorithm>

namespace attn::lower {

std::optional<ir::Expr> window_of(const ir::Graph& g, const ir::Definition& d) {
  if (d.combine != ir::Combine::sum || d.free.empty() || !ir::tensors(d.guard).empty()) return {};
  const ir::IndexId along = d.free.back();
  if (!ir::indices(d.guard).count(along)) return {};
  std::optional<ir::Expr> result;
  for (const ir::Expr& read : ir::read_sites(d.body)) {
    if (!ir::uses(read, along)) continue;
    if (result || ir::tensors(read).size() != 1 || g[read->tensor].split) return {};
    const ir::Expr& last = read.args().back();
    const ir::Expr rest = ir::add({last, ir::negate(ir::index_value(along))});
    if (ir::uses(rest, along) ||
        std::ranges::none_of(d.reduced, [&](ir::IndexId r) { return ir::uses(rest, r); }))
      return {};
    for (size_t k = 0; k < read.args().size(); ++k) {
      const ir::Expr& at = read.args()[k];
      if (k + 1 < read.args().size() && ir::uses(at, along)) return {};
      // It has an element to copy.
      const ir::Poly& extent = g[read->tensor].extents[k];
      const bool has_elements = std::ranges::any_of(
          d.free, [&](ir::IndexId i) { return ir::uses(at, i) && g.same(g[i].extent, extent); });
      if (!has_elements && g.known(extent).value_or(0) < 1) return {};
    }
    result = read;
  }
  return result;
}

Func copy_of_window(const Scope& scope, const ir::Expr& window) {
  const ir::Tensor& of = scope.g[window->tensor];
  Translator t(scope.g, scope.arguments, {});
  std::vector<Var> places;
  std::vector<Expr> nearest;
  for (size_t k = window.args().size(); k-- > 0;) {
    places.emplace_back("p" + std::to_string(k));
    nearest.push_back(clamp(places.back(), 0, max(t.extent(of.extents[k]) - 1, 0)));
  }
  Func copy("window");
  copy(places) =
      cast(arithmetic_type(window.type()), scope.arguments.tensors.at(window->tensor)(nearest));
  return copy;
}

}  // namespace attn::lower
