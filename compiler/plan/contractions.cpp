// Claims sums of products of two factors: C[batch, m, n] = sum over k of A[batch, m, k] B[batch, n,
// k]. A factor may be any expression over its indices: packing evaluates it, so a shifted read, a
// gather or a map in front are the same thing. Conditions go to the factor whose indices they use.
// Where data picks a matrix for each row, the rows that pick the same are one product.
#include <algorithm>
#include <array>

#include "compiler/plan/estimate.h"
#include "compiler/plan/groups.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/sets.h"
#include "compiler/plan/sides.h"
#include "compiler/solve/out_of_sum.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

std::vector<IndexId> in_order(const std::vector<IndexId>& all, const std::set<IndexId>& some) {
  std::vector<IndexId> result;
  for (IndexId i : all)
    if (some.count(i)) result.push_back(i);
  return result;
}

// Puts each condition where it can be tested: on a factor, or on the result.
bool place_guard(const Definition& d, const Sides& s, Product& term, Conditions& of_result) {
  for (const Expr& c : d.guard) {
    std::set<IndexId> used = indices(c);
    bool rows = has_any(used, s.rows), columns = has_any(used, s.columns);
    if (!has_any(used, d.reduced)) {
      of_result.insert(c);
    } else if (rows && columns) {
      return false;
    } else if (!rows && !columns) {
      term.left_guard.insert(c);
      term.right_guard.insert(c);
    } else if (rows) {
      term.left_guard.insert(c);
    } else {
      term.right_guard.insert(c);
    }
  }
  return true;
}

// A few planes mixed to a few others, as the header says.
bool is_mixture(const Graph& g, const Costs& costs, const Definition& sum, const Sides& s) {
  if (!s.batch.empty() || sum.reduced.size() != 1 || sum.free.empty()) return false;
  if (indices(sum.guard).count(sum.reduced[0])) return false;
  if (points(g, s.rows) > costs.most_mixed || points(g, {sum.reduced[0]}) > costs.most_mixed)
    return false;
  const Expr along = index_value(sum.free.back());
  for (const std::vector<Expr>* side : {&s.left, &s.right})
    for (const Expr& f : *side)
      if (uses(f, along->index) && !(f.is(Kind::read) && f.args().back() == along)) return false;
  return true;
}

// In a batch, a matrix and a vector each.
bool multiplies_vectors(const Graph& g, const Sides& s) {
  const double m = points(g, s.rows), n = points(g, s.columns);
  return !s.batch.empty() && std::min(m, n) == 1 && std::max(m, n) > 1;
}

// Whether packing pays: for two matrices, or a matrix and a vector that are read along what is
// summed or along what only the matrix has.
bool is_large(const Graph& g, const Costs& costs, const Definition& sum, const Sides& s) {
  const double m = points(g, s.rows), n = points(g, s.columns);
  if (std::max(m, n) < costs.least_side) return false;
  if (multiplies_vectors(g, s)) return !read_along(g, costs, sum).valid();
  return std::min(m, n) >= costs.least_side;
}

// Multiplies the factors by what has no reduced index. False where that has indices of both.
bool multiply_outer(Product& term, const Sides& s) {
  for (const Expr& f : s.outer) {
    const std::set<IndexId> used = indices(f);
    const bool of_columns = has_any(used, s.columns);
    if (of_columns && has_any(used, s.rows)) return false;
    Expr& side = of_columns ? term.right : term.left;
    side = multiply({side, f});
  }
  return true;
}

// The finishing map is over the same points; its indices become those of the sum.
void finish_with(const Graph& g, ContractionForm& c, const Definition& finish, const Expr& sum) {
  std::map<IndexId, Expr> names;
  for (size_t k = 0; k < c.free.size(); ++k) names.emplace(finish.free[k], index_value(c.free[k]));
  const Expr accumulated = c.epilogue;
  c.target = finish.target;
  c.guard = substitute(finish.guard, names);
  c.epilogue = rewrite(substitute(finish.body, names),
                       [&](const Expr& e) { return e == sum ? accumulated : e; });
  c.epilogue = solve::assume(g, c.epilogue, c.guard);
}

// Whether the groups are those of the rows of all right factors, or of the terms of each matrix.
bool suit(const Graph& g, const ContractionForm& c, const Groups& groups) {
  const std::set<IndexId> used = indices(groups.of);
  return has_none(used, c.columns) && (groups.of_rows() || has_none(used, c.rows)) &&
         std::ranges::all_of(c.products,
                             [&](const Product& p) { return have_groups(g, p.right, groups); });
}

// The contraction of all rows or terms, or of each group of them.
std::optional<ContractionForm> contraction_in(const Graph& g, const Costs& costs,
                                              const Definition& whole, const Definition* finish,
                                              bool keep, const Groups* groups) {
  const Definition sum = groups ? without(*groups, whole) : whole;
  const std::set<IndexId> reduced(sum.reduced.begin(), sum.reduced.end());
  ContractionForm c{.free = whole.free, .sum = sum.target, .target = sum.target};
  std::optional<Sides> like;
  std::vector<Expr> value;
  Conditions of_result;
  const std::vector<Expr> addends = addends_of(sum.body);
  for (const Expr& product : addends) {
    std::optional<Sides> s = divide_factors(g, costs, sum, product, like, groups);
    if (!s || (!like && !is_large(g, costs, sum, *s))) return std::nullopt;
    Product term{.left = multiply(s->left), .right = multiply(s->right), .reduced = sum.reduced};
    // What has no reduced index multiplies the sum; with several terms it stays with a factor.
    if (addends.size() == 1)
      for (const Expr& f : s->outer) value.push_back(solve::out_of_sum(g, f, reduced, sum.guard));
    else if (!multiply_outer(term, *s))
      return std::nullopt;
    of_result.clear();
    if (!place_guard(sum, *s, term, of_result)) return std::nullopt;
    c.products.push_back(std::move(term));
    if (!like) like = s;
  }
  // Neighbours in memory are neighbours among the columns.
  if (!sum.free.empty() && like->rows.count(sum.free.back()) && !(groups && groups->of_rows())) {
    std::swap(like->rows, like->columns);
    for (Product& t : c.products) {
      std::swap(t.left, t.right);
      std::swap(t.left_guard, t.right_guard);
    }
  }
  if (!finish && !groups && is_mixture(g, costs, sum, *like)) return std::nullopt;
  c.batch = in_order(sum.free, like->batch);
  c.rows = in_order(sum.free, like->rows);
  c.columns = in_order(sum.free, like->columns);
  if (groups) {
    if (!packs(g, costs, c) || !suit(g, c, *groups)) return std::nullopt;
    c.groups = *groups;
  }
  c.epilogue =
      where(of_result, solve::times_sum(g, multiply(std::move(value)), g.target(whole),
                                        {whole.free.begin(), whole.free.end()},
                                        {whole.reduced.begin(), whole.reduced.end()}, whole.guard));
  if (keep) c.kept = c.epilogue;
  if (finish) finish_with(g, c, *finish, g.target(whole));
  // Conditions that exclude each other leave nothing of a sum.
  if (!tensors(c.epilogue).count(whole.target)) return std::nullopt;
  return c;
}

}  // namespace

bool mixes_planes(const Graph& g, const Costs& costs, const Definition& sum) {
  if (sum.combine != Combine::sum || addends_of(sum.body).size() != 1) return false;
  std::optional<Sides> s = divide_factors(g, costs, sum, sum.body, {}, nullptr);
  if (!s || sum.free.empty()) return false;
  if (s->rows.count(sum.free.back())) std::swap(s->rows, s->columns);
  return !s->rows.empty() && is_mixture(g, costs, sum, *s);
}

namespace {

// Of the window at i + k - 1, where i is an index of the results and k one of the sum: the longer
// of the two, along which vectors lie. Of i only where the results lie along it too.
IndexId along_window(const Graph& g, const Costs& costs, const Definition& sum,
                     const Expr& subscript) {
  const auto runs_along = [&](IndexId i) {
    return uses(subscript, i) && std::ranges::any_of(std::array{-1, 1}, [&](int step) {
             return !uses(add({subscript, multiply({Expr(step), index_value(i)})}), i);
           });
  };
  const auto free = std::ranges::find_if(sum.free, runs_along);
  const auto reduced = std::ranges::find_if(sum.reduced, runs_along);
  if (free == sum.free.end() || reduced == sum.reduced.end()) return {};
  const double line = points(g, {*reduced});
  if (line > points(g, {*free})) return line < costs.least_line ? IndexId{} : *reduced;
  return *free == sum.free.back() ? *free : IndexId{};
}

}  // namespace

IndexId read_along(const Graph& g, const Costs& costs, const Definition& sum) {
  if (sum.combine != Combine::sum) return {};
  const std::optional<Sides> s =
      divide_factors(g, costs, sum, addends_of(sum.body)[0], {}, nullptr);
  if (!s || !multiplies_vectors(g, *s)) return {};
  IndexId along;
  double most = -1;
  for (const Expr& read : read_sites(sum.body)) {
    if (read.args().empty()) continue;
    const double count = points(g, indices(read));
    if (count <= most) continue;
    const Expr& last = read.args().back();
    const IndexId window = along_window(g, costs, sum, last);
    if (!last.is(Kind::index) && !window.valid()) continue;
    most = count;
    along = window.valid() || s->batch.count(last->index) == 0 ? window : last->index;
  }
  return along;
}

std::optional<ContractionForm> contraction_of(const Graph& g, const Costs& costs,
                                              const Definition& sum, const Definition* finish,
                                              bool keep) {
  if (sum.combine != Combine::sum || !is_real(arithmetic_type(g[sum.target].storage)))
    return std::nullopt;
  const std::set<IndexId> reduced(sum.reduced.begin(), sum.reduced.end());
  if (points(g, reduced) < costs.least_reduced) return std::nullopt;
  auto plain = contraction_in(g, costs, sum, finish, keep, nullptr);
  if (plain && packs(g, costs, *plain)) return plain;
  // A matrix and a vector for each row are matrices for each group of rows.
  for (const Groups& groups : possible_groups(g, sum))
    if (auto c = contraction_in(g, costs, sum, finish, keep, &groups)) return c;
  return plain;
}

bool packs(const Graph& g, const Costs& costs, const ContractionForm& c) {
  auto count = [&](const std::vector<IndexId>& group) {
    return points(g, {group.begin(), group.end()});
  };
  return std::min(count(c.rows), count(c.columns)) >= costs.least_side;
}

namespace {

// Two sums that an expression reads only as own + ratio * joined.
struct Joint {
  Expr own, joined;
  std::optional<double> ratio;

  bool is_everywhere(const Expr& e) {
    if (e == own || e == joined) return false;
    if (!e.is(Kind::add))
      return std::ranges::all_of(e.args(), [&](const Expr& a) { return is_everywhere(a); });
    double of_own = 0, of_joined = 0;
    for (const Expr& term : e.args()) {
      Scaled s = split_coefficient(term);
      if (s.rest == own)
        of_own = s.coefficient.value();
      else if (s.rest == joined)
        of_joined = s.coefficient.value();
      else if (!is_everywhere(term))
        return false;
    }
    if (of_own == 0 && of_joined == 0) return true;
    if (of_own == 0 || of_joined == 0) return false;
    const double here = of_joined / of_own;
    const bool same = here == ratio.value_or(here);
    ratio = here;
    return same;
  }

  Expr without_joined(const Expr& epilogue) const {
    return rewrite(epilogue, [&](const Expr& e) {
      if (!e.is(Kind::add)) return e;
      std::vector<Expr> rest;
      for (const Expr& term : e.args())
        if (!(split_coefficient(term).rest == joined)) rest.push_back(term);
      return rest.size() == e.args().size() ? e : add(std::move(rest));
    });
  }
};

// Whether the rows of two contractions are in the same groups; `names` are those of one for the
// indices of the other. Terms of several sums are in groups of their own.
bool same_groups(const Graph& g, const std::optional<Groups>& one,
                 const std::optional<Groups>& other, const std::map<IndexId, Expr>& names) {
  if (!one || !other) return !one && !other;
  return one->of_rows() && other->of_rows() && one->of == substitute(other->of, names) &&
         g.same(one->count, other->count);
}

// `c`, the contraction of `first`, with the products of `other`, where its epilogue only adds the
// two sums and their groups of indices agree.
std::optional<ContractionForm> with_sum(const Graph& g, const Costs& costs,
                                        const ContractionForm& c, const Definition& first,
                                        const Definition& other) {
  std::optional<ContractionForm> o = contraction_of(g, costs, other, nullptr);
  if (!o) return std::nullopt;
  Names ids;
  for (size_t k = 0; k < other.free.size(); ++k) ids.emplace(other.free[k], first.free[k]);
  const std::map<IndexId, Expr> names = values_of(ids);
  auto renamed = [&](const std::vector<IndexId>& group) {
    std::vector<IndexId> result;
    for (IndexId i : group) result.push_back(ids.at(i));
    return result;
  };
  if (renamed(o->batch) != c.batch || renamed(o->rows) != c.rows ||
      renamed(o->columns) != c.columns || !same_groups(g, c.groups, o->groups, names))
    return std::nullopt;
  Scaled value = split_coefficient(o->epilogue);
  if (!(value.rest == g.target(other))) return std::nullopt;

  Joint joint{g.target(first), substitute(g.target(other), names), {}};
  if (!joint.is_everywhere(c.epilogue) || !joint.ratio) return std::nullopt;
  const double ratio = *joint.ratio * value.coefficient.value();
  ContractionForm joined = c;
  joined.epilogue = joint.without_joined(c.epilogue);
  for (Product& t : o->products) {
    t.left = substitute(t.left, names);
    if (ratio != 1) t.left = multiply({Expr(ratio), t.left});
    t.right = substitute(t.right, names);
    t.left_guard = substitute(t.left_guard, names);
    t.right_guard = substitute(t.right_guard, names);
    joined.products.push_back(std::move(t));
  }
  return joined;
}

// The sums that the map `d` finishes, in one kernel with it. The last is finished here; the others
// join it where they are added to it. What a gradient reads is stored too, alone.
std::optional<Claimed> finished(const Graph& g, const Costs& costs, const Open& open,
                                const Definition& d) {
  const auto found = open.epilogues.find(d.target);
  if (found == open.epilogues.end() || open.claimed.count(d.target)) return std::nullopt;
  std::vector<TensorId> operands = found->second;
  std::erase_if(operands, [&](TensorId t) { return open.claimed.count(t) > 0; });
  if (operands.size() > 1)
    std::erase_if(operands, [&](TensorId t) { return open.wanted.count(t) > 0; });
  std::vector<Definition> sums;
  std::optional<ContractionForm> c;
  for (size_t n = operands.size(); n-- > 0;) {
    const Definition& sum = g.definitions[open.uses.definition(operands[n]).value()];
    std::optional<ContractionForm> more =
        c ? with_sum(g, costs, *c, sums[0], sum)
          : contraction_of(g, costs, sum, &d, open.wanted.count(sum.target) > 0);
    if (!more) continue;
    c = std::move(more);
    sums.push_back(sum);
  }
  if (!c) return std::nullopt;
  sums.push_back(d);
  return Claimed{d.target, {.form = std::move(*c), .definitions = std::move(sums)}};
}

bool computes(const Claimed& claimed, TensorId t) {
  return std::ranges::any_of(claimed.kernel.definitions,
                             [&](const Definition& d) { return d.target == t; });
}

}  // namespace

std::optional<Proposal> claim_contraction(const Graph& g, const Costs& costs, const Open& open) {
  const Definition& d = g.definitions[open.at];
  if (auto own = finished(g, costs, open, d)) return Proposal{{std::move(*own)}, {}};
  // Left to the map that finishes it.
  for (size_t reader : open.uses.readers(d.target))
    if (auto other = finished(g, costs, open, g.definitions[reader]);
        other && computes(*other, d.target))
      return std::nullopt;
  auto c = contraction_of(g, costs, d, nullptr);
  if (!c) return std::nullopt;
  return Proposal{{{d.target, {.form = std::move(*c), .definitions = {d}}}}, {}};
}

}  // namespace attn::plan
