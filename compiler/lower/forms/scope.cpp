#include "compiler/lower/forms/scope.h"

#include <algorithm>

#include "compiler/lower/terms/linear_index.h"
#include "compiler/plan/estimate.h"

namespace attn::lower {

Expr Scope::extent(ir::IndexId i) const { return Translator(g, arguments, {}).extent(g[i].extent); }

std::vector<Expr> Scope::extents(const IndexGroup& group) const {
  std::vector<Expr> result;
  for (ir::IndexId i : group) result.push_back(extent(i));
  return result;
}

Expr Scope::count(const IndexGroup& group) const {
  Expr product = 1;
  for (const Expr& e : extents(group)) product = product * e;
  return simplify(product);
}

int Scope::typical_count(const IndexGroup& group) const {
  double product = 1;
  for (ir::IndexId i : group) {
    const ir::Poly p = g.expand(g[i].extent);
    for (const auto& [monomial, c] : p.terms())
      for (auto [id, power] : monomial)
        if (!g[id].upper) return 0;
    product *= plan::estimate(g, p);
  }
  return static_cast<int>(std::clamp(product, 0.0, 1e9));
}

void Scope::decode(const IndexGroup& group, const Expr& linear,
                   Translator::Indices& indices) const {
  const std::vector<Expr> coordinates = decode_index(linear, extents(group));
  for (size_t k = 0; k < group.size(); ++k) indices[group[k]] = coordinates[k];
}

Type Scope::number_of(const ir::Expr& value) const {
  const Type real = Halide::Float(32);
  if (!value.is(ir::Kind::read)) return real;
  const Type stored = storage_type(g[value->tensor].storage);
  return stored.is_float() && stored.bits() == 16 ? stored : real;
}

int64_t Scope::run_along(const ir::Expr& value, const IndexGroup& group) const {
  if (!value.is(ir::Kind::read) || value.args().empty() || group.empty()) return 0;
  if (g[value->tensor].split) return 0;
  const ir::Expr last = ir::index_value(group.back());
  size_t alone = 0;
  for (const ir::Expr& subscript : value.args())
    for (const ir::Expr& addend : ir::addends_of(subscript)) {
      if (!ir::uses(addend, group.back())) continue;
      if (addend != last || &subscript != &value.args().back()) return 0;
      ++alone;
    }
  if (alone != 1) return 0;
  return group.size() == 1 ? kWholeRun : std::max<int64_t>(constant(extent(group.back())), 0);
}

Translator Scope::at(Translator::Indices indices) const {
  return Translator(g, arguments, std::move(indices), true);
}

}  // namespace attn::lower
