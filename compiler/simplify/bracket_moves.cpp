// The moves of the search: reading a sum that exists, summing a pair of factors first, looking
// through a read, and knowing what exponentials sum to over which their own logarithm was taken.
#include "compiler/ir/operation.h"
#include "compiler/simplify/bracket_sets.h"
#include "compiler/simplify/brackets.h"
#include "compiler/simplify/matching.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

constexpr int kMostCostOfMap = 8;

}  // namespace

void Brackets::try_existing(const Task& t, const Split& s, Bracketing& best) {
  for (const KnownSum* sum : candidates(s.inner, false)) {
    const Product& p = sum->terms[0];
    if (sum->definition->reduced.size() > t.reduced.size()) continue;
    auto scale = ratio(g_, 1, p.coefficient);
    if (!scale || p.factors.size() > s.inner.size()) continue;
    std::vector<IndexId> variables = sum->definition->free;
    variables.insert(variables.end(), sum->definition->reduced.begin(),
                     sum->definition->reduced.end());
    Matcher(variables).match_some(
        p.factors, s.inner, [&](const Bindings& b, const std::vector<Expr>& rest) {
          auto found = accept(*sum, b, rest, t);
          if (!found) return false;
          Task left{rest, without(t.reduced, found->gone), without(t.conditions, found->conditions),
                    t.depth};
          left.factors.insert(left.factors.end(), s.outer.begin(), s.outer.end());
          left.conditions.merge(
              has_terms(found->read, left.factors, found->gone, found->conditions));
          left.factors.push_back(found->read);
          Bracketing b2 = plan_product(std::move(left));
          scale_parts(b2, *scale);
          if (b2.cost < best.cost) best = std::move(b2);
          return false;
        });
  }
}

// Of three or more factors two can be summed first, over the indices that only they have.
void Brackets::try_pairs(const Task& t, const Split& s, Bracketing& best) {
  if (s.inner.size() < 3 || t.depth < 0) return;
  std::set<IndexId> whole = indices(s.inside);
  for (const Expr& f : s.inner) merge_in(whole, mentions(f).indices);
  for (size_t x = 0; x < s.inner.size(); ++x) {
    for (size_t y = x + 1; y < s.inner.size(); ++y) {
      std::vector<Expr> others = s.outer;
      std::set<IndexId> elsewhere;
      for (size_t k = 0; k < s.inner.size(); ++k) {
        if (k == x || k == y) continue;
        others.push_back(s.inner[k]);
        merge_in(elsewhere, mentions(s.inner[k]).indices);
      }
      std::set<IndexId> of_pair = mentions(s.inner[x]).indices;
      merge_in(of_pair, mentions(s.inner[y]).indices);
      std::set<IndexId> gone;
      for (IndexId r : t.reduced)
        if (of_pair.count(r) && !elsewhere.count(r)) gone.insert(r);
      if (gone.empty()) continue;
      Definition pair;
      pair.combine = Combine::sum;
      pair.guard = on(t.conditions, gone);
      insert_all(of_pair, indices(pair.guard));
      std::set<IndexId> free = without(of_pair, gone);
      pair.free = {free.begin(), free.end()};
      pair.reduced = {gone.begin(), gone.end()};
      pair.body = s.inner[x] * s.inner[y];
      std::vector<Poly> extents;
      std::vector<Expr> subscripts;
      for (IndexId i : pair.free) {
        extents.push_back(g_[i].extent);
        subscripts.push_back(index_value(i));
      }
      // An unmaterialised intermediate must at least have fewer indices than the whole.
      if (of_pair.size() >= whole.size() && unmaterialised_.is_unbounded(g_, extents)) continue;
      const Conditions guard = pair.guard;
      Conditions conditions = without(t.conditions, guard);
      double cost = 2 * points(of_pair);
      const Expr &left = s.inner[x], &right = s.inner[y];
      if (left.is(Kind::read) && right.is(Kind::read) &&
          expected_.count({left->tensor, right->tensor}))
        cost /= 2;
      if (cost >= best.cost) continue;
      const Type type = precise_ ? Type::f64 : pair.body.type();
      TensorId made = new_tentative(std::move(pair));
      const Expr sum = ir::read(made, type, std::move(subscripts));
      conditions.merge(has_terms(sum, others, gone, guard));
      others.push_back(sum);
      Bracketing b = plan_product({std::move(others), without(t.reduced, gone), conditions, -1});
      b.cost += cost;
      if (b.cost < best.cost) best = std::move(b);
    }
  }
}

// A read is replaced by the sum or map that defines it, and the whole expanded.
void Brackets::try_looking_through(const Task& t, const Split& s, Bracketing& best) {
  if (t.depth <= 0) return;
  for (size_t k = 0; k < s.inner.size(); ++k) {
    const Expr& f = s.inner[k];
    if (!f.is(Kind::read) || tentative(f->tensor)) continue;
    const Definition* d = static_cast<size_t>(f->tensor.value) < by_target_.size()
                              ? by_target_[f->tensor.value]
                              : nullptr;
    if (!d || (d->combine != Combine::set && d->combine != Combine::sum)) continue;
    if (!stores_exactly(g_, d->target) || scatters(*d) || steps_ > kMostSteps) continue;
    std::map<IndexId, Expr> map = subscript_map(*d, f);
    std::set<IndexId> reduced = t.reduced;
    for (IndexId r : d->reduced) {
      IndexId fresh = g_.new_index(g_[r].name, Poly(g_[r].extent));
      map[r] = index_value(fresh);
      reduced.insert(fresh);
    }
    Conditions conditions = t.conditions;
    conditions.merge(not_proved(substitute(d->guard, map)));
    Expr body = solve::assume(g_, substitute(d->body, map), conditions);
    bool seen_through =
        d->combine == Combine::sum ||
        ((body.is(Kind::add) || body.is(Kind::multiply)) && cost(body) <= kMostCostOfMap);
    auto products = seen_through ? expand(body) : std::nullopt;
    if (products && products->size() <= kMostTerms) {
      std::vector<Expr> others = s.outer;
      for (size_t n = 0; n < s.inner.size(); ++n)
        if (n != k) others.push_back(s.inner[n]);
      for (Product& p : *products) p.factors.insert(p.factors.end(), others.begin(), others.end());
      auto b = plan_terms(*products, {{}, reduced, conditions, t.depth - 1});
      if (b && b->cost < best.cost) best = std::move(*b);
    }
  }
}

// sum[R where C] exp(x - Y) with Y = logsumexp[R where C] x is 1, or 0 where there is nothing.
std::optional<Expr> Brackets::weights_sum(const Task& t, const Split& s) const {
  if (s.inner.size() != 1) return std::nullopt;
  Expr weight = s.inner[0];
  if (weight.is(Kind::read) && !tentative(weight->tensor)) {
    const Definition* p = static_cast<size_t>(weight->tensor.value) < by_target_.size()
                              ? by_target_[weight->tensor.value]
                              : nullptr;
    if (!p || p->combine != Combine::set) return std::nullopt;
    std::map<IndexId, Expr> map = subscript_map(*p, weight);
    if (meaning(p->body) != Meaning::exponential) return std::nullopt;
    if (!includes(t.conditions, substitute(p->guard, map))) return std::nullopt;
    weight = substitute(p->body, map);
  }
  if (meaning(weight) != Meaning::exponential || !weight.args()[0].is(Kind::add))
    return std::nullopt;
  const Expr& difference = weight.args()[0];
  for (const Expr& term : difference.args()) {
    Expr y = negate(term);
    if (!y.is(Kind::read) || tentative(y->tensor) || meets(indices(y), t.reduced)) continue;
    const Definition* z = static_cast<size_t>(y->tensor.value) < by_target_.size()
                              ? by_target_[y->tensor.value]
                              : nullptr;
    if (!z || z->combine != Combine::logsumexp || z->reduced.size() != t.reduced.size()) continue;
    if (z->reduced.size() > 3) continue;
    std::vector<IndexId> order(t.reduced.begin(), t.reduced.end());
    do {
      std::map<IndexId, Expr> map = subscript_map(*z, y);
      bool same_extents = true;
      for (size_t k = 0; k < order.size(); ++k) {
        map[z->reduced[k]] = index_value(order[k]);
        same_extents = same_extents && g_.same(g_[z->reduced[k]].extent, g_[order[k]].extent);
      }
      if (!same_extents || !(substitute(z->body, map) == difference + y)) continue;
      Conditions theirs = substitute(z->guard, map);
      if (on(theirs, t.reduced) != s.inside || !includes(t.conditions, theirs)) continue;
      return select(less(-3e38, y), 1, 0);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return std::nullopt;
}

}  // namespace attn::simplify