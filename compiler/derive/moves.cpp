#include "compiler/derive/moves.h"

#include <algorithm>

#include "compiler/solve/equalities.h"
#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"

namespace attn::derive {
namespace {

using ir::Definition;
using ir::Expr;
using ir::IndexId;

// The tensor that is read has at least so many times the points of the read. Not measured.
constexpr double kLeastSaving = 1.5;
// What is summed at the points of the read has at most so many times the elements of what is read,
// where several points read one element. Not measured.
constexpr double kMostTimesElements = 16;

// `value` at the points of `indices` that read the element of `free`.
Definition at_elements(ir::Graph& g, const Contribution& c, ir::TensorId target,
                       const std::vector<IndexId>& free, const std::vector<IndexId>& indices,
                       const ir::Conditions& guard, const Expr& value) {
  Definition d{.target = target,
               .free = free,
               .combine = ir::Combine::sum,
               .reduced = indices,
               .guard = guard,
               .body = value};
  for (size_t k = 0; k < free.size(); ++k)
    d.guard.merge(ir::conjuncts(ir::equal(ir::index_value(free[k]), c.at[k])));
  return solve::solve_equalities(g, d);
}

// What lies side by side in the tensor does so among the points.
void put_last(std::vector<IndexId>& indices, const Expr& subscript) {
  const auto beside = std::ranges::find_if(indices, [&](IndexId i) {
    const Expr rest = subscript - ir::index_value(i);
    return !ir::uses(rest, i);
  });
  if (beside != indices.end()) std::rotate(beside, beside + 1, indices.end());
}

// Whether a contribution is made of what is kept in tiles. The cotangent that hands it down is,
// where its tensor is.
bool reads_unmaterialised(const ir::Graph& g, const Contribution& c,
                          const solve::Unmaterialised& unmaterialised) {
  if (c.through.valid() && unmaterialised(c.through)) return true;
  return std::ranges::any_of(ir::tensors(c.value), [&](ir::TensorId t) {
    return unmaterialised(t) || unmaterialised.is_unbounded(g, g[t].extents);
  });
}

// Whether the subscripts are indices that run over all of the tensor.
bool reads_all(const ir::Graph& g, const Contribution& c, ir::TensorId target) {
  for (size_t k = 0; k < c.at.size(); ++k)
    if (!c.at[k].is(ir::Kind::index) || !g.same(g[c.at[k]->index].extent, g[target].extents[k]))
      return false;
  return true;
}

}  // namespace

std::optional<Moved> move_to_elements(ir::Graph& g, const Contribution& c, ir::TensorId target,
                                      const std::vector<IndexId>& free,
                                      const solve::Unmaterialised& unmaterialised) {
  if (c.step || reads_all(g, c, target)) return std::nullopt;
  std::set<IndexId> in_subscripts;
  for (const Expr& s : c.at) ir::insert_all(in_subscripts, ir::indices(s));
  Definition sum{.combine = ir::Combine::sum, .guard = c.guard, .body = c.value, .where = c.where};
  for (IndexId i : c.domain) (in_subscripts.count(i) ? sum.free : sum.reduced).push_back(i);
  put_last(sum.free, c.at.back());

  const Expr point = ir::read(target, ir::Type::f32, ir::index_values(sum.free));
  Definition move = at_elements(g, c, target, free, sum.free, {}, point);
  if (!move.body.is(ir::Kind::read)) return std::nullopt;
  const bool divides = std::ranges::any_of(move.body.args(), ir::has_division);
  if (sum.reduced.empty()) {
    // Else the equality is solved where the kernels are planned, and hides nothing from readers.
    const bool all_used = std::ranges::all_of(sum.free, [&](IndexId i) {
      return ir::uses(c.value, i) || ir::indices(c.guard).count(i) > 0;
    });
    if (all_used || !divides || !move.reduced.empty()) return std::nullopt;
    move = at_elements(g, c, target, free, sum.free, c.guard, c.value);
    if (!move.reduced.empty()) return std::nullopt;
    return Moved{{}, std::move(move.guard), std::move(move.body), {}};
  }
  const solve::Points points(g, solve::kTypicalSize);
  const bool saves = kLeastSaving * points.of(g.extents(sum.free)) <= points.of(g[target].extents);
  const bool has_digits = std::ranges::any_of(c.at, ir::has_division);
  if (!divides && !((saves || has_digits) && move.reduced.empty())) return std::nullopt;
  const bool is_large =
      points.of(g.extents(sum.free)) > kMostTimesElements * points.of(g[target].extents);
  if (!move.reduced.empty() && (is_large || !reads_unmaterialised(g, c, unmaterialised)))
    return std::nullopt;
  sum.guard = solve::tidy(g, ir::conjuncts(ir::all_of(sum.guard)));
  sum.body = solve::assume(g, sum.body, sum.guard);
  return Moved{ir::with_fresh_indices(g, ir::normal_form(std::move(sum))).definition,
               std::move(move.guard), std::move(move.body), std::move(move.reduced)};
}

}  // namespace attn::derive
