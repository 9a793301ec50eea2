#include "compiler/plan/split_digits.h"

#include <algorithm>

#include "compiler/plan/sets.h"
#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

// What a size counts as that is known only at run time. A batch is often smaller, and where
// sequences are long, tiles have taken the product.
constexpr int64_t kUnknown = 8;

// index = divisor * high + low.
struct Digits {
  IndexId index, high, low;
  Poly divisor;
};

// The least divisor of the extent of i by which i, plus a number, is divided.
std::optional<Poly> divisor_of(const Graph& g, const Definition& d, IndexId i) {
  std::optional<Poly> least;
  const auto look = [&](const Expr& e) {
    if (!e.is(Kind::quotient) && !e.is(Kind::remainder)) return true;
    const Expr rest = add({e.args()[0], negate(index_value(i))});
    const auto c = as_size(e.args()[1]);
    if (!indices(rest).empty() || !tensors(rest).empty() || !c || !g.known(*c)) return true;
    const auto count = solve::exact_quotient(g, g[i].extent, *c);
    if (count && !(g.known(*count) == 1) && (!least || *g.known(*c) < *g.known(*least))) least = *c;
    return true;
  };
  visit(d.body, look);
  for (const Expr& c : d.guard) visit(c, look);
  return least;
}

// Puts two indices in the place of one.
Digits split(Graph& g, Definition& d, IndexId i, const Poly& divisor) {
  const Digits digits{i,
                      g.new_index(g[i].name + "1", *solve::exact_quotient(g, g[i].extent, divisor)),
                      g.new_index(g[i].name + "2", divisor), divisor};
  const auto at = d.free.erase(std::ranges::find(d.free, i));
  d.free.insert(at, {digits.high, digits.low});
  const std::map<IndexId, Expr> by{
      {i, size_value(divisor) * index_value(digits.high) + index_value(digits.low)}};
  d.guard = conjuncts(solve::assume(g, all_of(substitute(d.guard, by)), {}));
  d.body = solve::assume(g, substitute(d.body, by), d.guard);
  return digits;
}

// Elements that a contraction packs, each as often as it does.
double packed(const Graph& g, const ContractionForm& c) {
  const solve::Points points(g, kUnknown);
  const auto count = [&](const std::vector<IndexId>& group) {
    return points.of(g, {group.begin(), group.end()});
  };
  return count(c.batch) * (count(c.rows) + count(c.columns)) * count(c.products[0].reduced);
}

// The low digits of the batch are the outermost dimensions: matrices are then dense.
void order_dimensions(Definition& d, const ContractionForm& c, const std::vector<Digits>& all) {
  std::ranges::stable_partition(d.free, [&](IndexId i) {
    return contains(c.batch, i) &&
           std::ranges::any_of(all, [&](const Digits& digits) { return digits.low == i; });
  });
}

// What has the digits of the result's indices, as a tensor, and the result.
std::vector<Definition> part_and_copy(Graph& g, const Definition& d, Definition part,
                                      const std::vector<Digits>& all) {
  part.target = g.new_part(d.target, ".part", g[d.target].storage, g.extents(part.free));
  std::map<IndexId, Expr> digits;
  for (const Digits& s : all) {
    const Expr i = index_value(s.index), c = size_value(s.divisor);
    digits.emplace(s.high, quotient(i, c));
    digits.emplace(s.low, remainder(i, c));
  }
  std::vector<Expr> at;
  for (IndexId i : part.free) at.push_back(substitute(index_value(i), digits));
  const Definition copy{
      .target = d.target, .free = d.free, .body = g.read(part.target, at), .where = d.where};
  return {normal_form(std::move(part)), with_fresh_indices(g, copy).definition};
}

}  // namespace

std::vector<Definition> split_digits(Graph& g, const Costs& costs, const Definition& d) {
  if (d.combine != Combine::sum || !d.position.empty()) return {};
  Definition part = d;
  std::vector<Digits> all;
  for (IndexId i : d.free)
    if (const auto divisor = divisor_of(g, part, i)) all.push_back(split(g, part, i, *divisor));
  if (all.empty()) return {};
  const auto before = contraction_of(g, costs, d, nullptr);
  const auto after = contraction_of(g, costs, part, nullptr);
  if (!after || after->groups || !packs(g, costs, *after) || (before && before->groups)) return {};
  const solve::Points points(g, kUnknown);
  const double copied = 2 * points.of(g, {d.free.begin(), d.free.end()});
  if (before && packed(g, *before) < packed(g, *after) + copied) return {};
  order_dimensions(part, *after, all);
  return part_and_copy(g, d, std::move(part), all);
}

}  // namespace attn::plan
