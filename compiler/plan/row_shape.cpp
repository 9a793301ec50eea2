// Which reductions rows compute, and how the others are split into such.
#include "compiler/plan/row_shape.h"

#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/groups.h"
#include "compiler/plan/sets.h"
#include "compiler/plan/split_digits.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {

using namespace ir;

std::optional<IndexId> plain_index(const Expr& e) {
  return e.is(Kind::index) ? std::optional(e->index) : std::nullopt;
}

namespace {

// The read of the most elements whose last subscript is an index, or is `last`: it says what is
// contiguous.
std::optional<Expr> largest_read(const Graph& g, const Definition& d,
                                 std::optional<IndexId> last = std::nullopt) {
  std::optional<Expr> best;
  double most = -1;
  for (const Expr& site : read_sites(d)) {
    if (site.args().empty() || !plain_index(site.args().back())) continue;
    if (last && plain_index(site.args().back()) != last) continue;
    double count = points(g, indices(site));
    if (count > most) best = site, most = count;
  }
  return best;
}

// Whether neighbours in memory are neighbours along `reduced`; the index of it that they follow.
std::optional<IndexId> contiguous_reduced(const Graph& g, const Definition& d) {
  std::optional<Expr> site = largest_read(g, d);
  if (!site) return d.reduced.size() == 1 ? std::optional(d.reduced[0]) : std::nullopt;
  IndexId last = *plain_index(site->args().back());
  return contains(d.reduced, last) ? std::optional(last) : std::nullopt;
}

}  // namespace

bool is_row_reduction(Combine c) {
  return c == Combine::sum || c == Combine::max || c == Combine::min || c == Combine::logsumexp;
}

std::optional<RowForm> row_shape(const Graph& g, const Costs& costs, const Definition& d) {
  if (d.reduced.empty() || !is_row_reduction(d.combine)) return std::nullopt;
  // Compiled for rows of nothing: no row to keep.
  if (std::ranges::any_of(d.reduced, [&](IndexId i) { return g.known(g[i].extent) == 0; }))
    return std::nullopt;
  if (sums_in_registers(g, costs, d) || runs_along(g, costs, d).valid()) return std::nullopt;
  if (!solve::find_scatters(d).empty())
    return std::nullopt;  // else every row would be asked for by every one
  if (contiguous_reduced(g, d)) {
    if (d.reduced.size() != 1) return std::nullopt;
    return RowForm{d.free, d.reduced, {}};
  }
  if (d.combine != Combine::sum || d.free.empty()) return std::nullopt;
  // A result that has more elements than anything that it reads is dense as it is written.
  std::optional<Expr> site = largest_read(g, d);
  if (site && points(g, {d.free.begin(), d.free.end()}) > points(g, indices(*site)))
    site = largest_read(g, d, d.free.back());
  if (!site) return std::nullopt;
  if (!(*plain_index(site->args().back()) == d.free.back())) return std::nullopt;
  if (d.free.size() > 1) {
    std::optional<int64_t> run = g.known(g[d.free.back()].extent);
    if (!run || *run < costs.least_run) return std::nullopt;
  }
  // Rows in the order of memory.
  RowForm row{{}, d.free, {}};
  for (const Expr& s : site->args())
    if (auto i = plain_index(s); i && contains(d.reduced, *i) && !contains(row.rows, *i))
      row.rows.push_back(*i);
  for (IndexId i : d.reduced)
    if (!contains(row.rows, i)) row.rows.push_back(i);
  return row;
}

namespace {

// In which the parts of a tensor of storage `whole` are kept.
Storage storage_of_parts(Storage whole) {
  return arithmetic_type(whole) == Type::f32 ? Storage::f32 : whole;
}

// The free indices of a sum of products over rows whose columns lie in another order in memory than
// those of the target, in the order of memory. Nothing where rows do not compute it in that order
// either.
std::vector<IndexId> order_in_memory(const Graph& g, const Costs& costs, const Definition& d) {
  if (d.combine != Combine::sum || d.free.empty() || !d.body.is(Kind::multiply) ||
      row_shape(g, costs, d) || contraction_of(g, costs, d, nullptr))
    return {};
  const std::optional<Expr> site = largest_read(g, d);
  if (!site) return {};
  const IndexId last = *plain_index(site->args().back());
  if (!contains(d.free, last) || last == d.free.back()) return {};
  Definition ordered = d;
  std::erase(ordered.free, last);
  ordered.free.push_back(last);
  return row_shape(g, costs, ordered) ? ordered.free : std::vector<IndexId>();
}

// The sum as a tensor whose dimensions are in the given order, and a copy.
std::vector<Definition> sum_and_copy(Graph& g, const Definition& d,
                                     const std::vector<IndexId>& order) {
  Definition sum = d;
  sum.free = order;
  sum.target =
      g.new_part(d.target, ".part", storage_of_parts(g[d.target].storage), g.extents(order));
  const Definition copy{
      .target = d.target, .free = d.free, .body = g.target(sum), .where = d.where};
  return {std::move(sum), with_fresh_indices(g, copy).definition};
}

// Reduces over `kept` last: `d` is the rest of it, and what comes first is the result, where `kept`
// are the outermost or the innermost dimensions.
Definition take_first(Graph& g, Definition& d, const std::vector<IndexId>& kept, bool outermost) {
  Definition first = d;
  first.free.insert(outermost ? first.free.begin() : first.free.end(), kept.begin(), kept.end());
  std::erase_if(first.reduced, [&](IndexId i) { return contains(kept, i); });
  first.target =
      g.new_part(d.target, ".part", storage_of_parts(g[d.target].storage), g.extents(first.free));
  g[first.target].split = g[d.target].split;  // of a log-sum-exp
  const Definition rest{.target = d.target,
                        .free = d.free,
                        .combine = d.combine,
                        .reduced = kept,
                        .body = g.target(first),
                        .where = d.where};
  d = with_fresh_indices(g, rest).definition;
  return first;
}

}  // namespace

std::vector<Definition> split_sum(Graph& g, const Costs& costs, Definition d) {
  const std::vector<IndexId> order = order_in_memory(g, costs, d);
  if (!order.empty()) return sum_and_copy(g, d, order);
  if (auto digits = split_digits(g, costs, d); !digits.empty()) return digits;
  if (sums_in_registers(g, costs, d)) return {std::move(d)};
  std::vector<Definition> result;
  if (const auto later = reduced_after_groups(g, costs, d); !later.empty())
    result.push_back(take_first(g, d, later, true));
  // A scatter visits each point once as it is.
  while (d.reduced.size() > 1 && is_row_reduction(d.combine) && solve::find_scatters(d).empty() &&
         !contraction_of(g, costs, d, nullptr)) {
    const std::optional<IndexId> column = contiguous_reduced(g, d);
    if (!column) break;
    std::vector<IndexId> others = d.reduced;
    std::erase(others, *column);
    // One long sum is taken down the columns first, in parallel; others along the rows.
    const bool down = d.free.empty() && d.combine == Combine::sum;
    result.push_back(take_first(g, d, down ? std::vector{*column} : others, false));
  }
  result.push_back(std::move(d));
  return result;
}

}  // namespace attn::plan
