#include "compiler/simplify/brackets.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/operation.h"
#include "compiler/simplify/matching.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

// Run-time sizes count as this many.
constexpr int64_t kUnknownSize = 4096;
// Reading a wide tensor weighs so much more, and each pass that must come before again so much.
constexpr double kWideWeight = 1000;
constexpr double kPassWeight = 30;
// Numbers for tensors that exist only in a plan.
constexpr int32_t kFirstTentative = 1 << 28;
// How deep and how long the search looks for one definition, and how large what it considers.
constexpr int kDepth = 2;
constexpr int kMostSteps = 400;
constexpr size_t kMostFactors = 8;
constexpr size_t kMostTerms = 4;
constexpr int kMostCostOfMap = 8;

bool meets(const std::set<IndexId>& a, const std::set<IndexId>& b) {
  return std::any_of(a.begin(), a.end(), [&](IndexId i) { return b.count(i) > 0; });
}

void merge_in(std::set<IndexId>& to, const std::set<IndexId>& more) {
  to.insert(more.begin(), more.end());
}

Conditions on(const Conditions& c, const std::set<IndexId>& indices_of) {
  Conditions result;
  for (const Expr& x : c)
    if (meets(indices(x), indices_of)) result.insert(x);
  return result;
}

Conditions without(const Conditions& c, const Conditions& taken) {
  Conditions result;
  for (const Expr& x : c)
    if (!taken.count(x)) result.insert(x);
  return result;
}

bool includes(const Conditions& all, const Conditions& some) {
  return std::all_of(some.begin(), some.end(), [&](const Expr& x) { return all.count(x) > 0; });
}

std::set<IndexId> without(const std::set<IndexId>& a, const std::set<IndexId>& taken) {
  std::set<IndexId> result;
  std::set_difference(a.begin(), a.end(), taken.begin(), taken.end(),
                      std::inserter(result, result.end()));
  return result;
}

void scale_parts(Bracketing& b, const Expr& factor) {
  if (factor.is_one()) return;
  for (Part& p : b.parts) p.coefficient = p.coefficient * factor;
}

}  // namespace

Brackets::Brackets(Graph& g, solve::Wide& wide, std::vector<int>& numbers)
    : g_(g), wide_(wide), numbers_(numbers), points_(g, kUnknownSize) {}

void Brackets::learn(const Definition& d) {
  store_.push_back(d);
  const Definition* stored = &store_.back();
  if (static_cast<size_t>(d.target.value) >= by_target_.size())
    by_target_.resize(d.target.value + 1, nullptr);
  by_target_[d.target.value] = stored;
  if (d.combine != Combine::sum || !is_real(d.body.type()) || !stores_exactly(g_, d.target)) return;
  auto terms = expand(d.body);
  if (!terms || terms->size() > kMostTerms) return;
  std::set<TensorId> direct, anywhere;
  for (const Product& p : *terms) {
    if (!p.conditions.empty() || p.factors.size() > kMostFactors) return;
    for (const Expr& f : p.factors) {
      if (f.is(Kind::read)) direct.insert(f->tensor);
      anywhere.merge(tensors(f));
    }
  }
  if (anywhere.empty()) return;
  sums_.push_back({stored, std::move(*terms), anywhere});
  // The newest tensor in it is the one that fewest other sums read.
  by_tensor_[direct.empty() ? *anywhere.rbegin() : *direct.rbegin()].push_back(&sums_.back());
}

const Definition* Brackets::tentative(TensorId t) const {
  return t.value < kFirstTentative ? nullptr : &tentative_[t.value - kFirstTentative];
}

TensorId Brackets::new_tentative(Definition d) {
  d.target = {kFirstTentative + static_cast<int32_t>(tentative_.size())};
  tentative_.push_back(std::move(d));
  return tentative_.back().target;
}

const Brackets::Mentions& Brackets::mentions(const Expr& e) const {
  auto [it, fresh] = mentions_.try_emplace(&e.node());
  if (fresh) it->second = {e, indices(e), tensors(e)};
  return it->second;
}

bool Brackets::is_wide(TensorId t) const {
  const Definition* d = tentative(t);
  if (!d) return wide_(t);
  std::vector<Poly> extents;
  for (IndexId i : d->free) extents.push_back(g_[i].extent);
  return wide_.is_unbounded(g_, extents);
}

int Brackets::pass_number(TensorId t) const {
  const Definition* d = tentative(t);
  if (!d) return static_cast<size_t>(t.value) < numbers_.size() ? numbers_[t.value] : 0;
  int largest = 0;
  bool reads_wide = false;
  for (TensorId r : reads(*d)) {
    largest = std::max(largest, pass_number(r));
    reads_wide = reads_wide || is_wide(r);
  }
  return largest + (reads_wide && !is_wide(t) ? 1 : 0);
}

std::optional<Bracketing> Brackets::plan(const Definition& d, const std::vector<Product>& terms) {
  free_ = {d.free.begin(), d.free.end()};
  steps_ = 0;
  tentative_.clear();
  mentions_.clear();
  // Looking through reads pays where it saves passes over wide tensors; else one step may show
  // that a sum exists already.
  bool reads_wide = false;
  for (TensorId t : reads(d)) reads_wide = reads_wide || is_wide(t);
  Task around{{}, {d.reduced.begin(), d.reduced.end()}, d.guard, reads_wide ? kDepth : 1};
  return plan_terms(terms, around);
}

std::optional<Bracketing> Brackets::plan_terms(const std::vector<Product>& terms,
                                               const Task& around) {
  if (terms.size() > 1)
    if (auto known = plan_known_terms(terms, around)) return known;
  Bracketing all;
  for (const Product& p : terms) {
    if (p.factors.size() > kMostFactors) return std::nullopt;
    Task t{p.factors, around.reduced, around.conditions, around.depth};
    t.conditions.insert(p.conditions.begin(), p.conditions.end());
    Bracketing b = plan_product(std::move(t));
    scale_parts(b, p.coefficient);
    all.cost += b.cost;
    all.parts.insert(all.parts.end(), b.parts.begin(), b.parts.end());
  }
  return all;
}

// Several terms that are together a known sum of several terms, times what is left over in each.
std::optional<Bracketing> Brackets::plan_known_terms(const std::vector<Product>& terms,
                                                     const Task& around) {
  std::vector<Expr> factors;
  for (const Product& p : terms) {
    if (!p.conditions.empty()) return std::nullopt;
    factors.insert(factors.end(), p.factors.begin(), p.factors.end());
  }
  for (const KnownSum* sum : candidates(factors, true)) {
    if (sum->terms.size() > terms.size()) continue;
    std::vector<IndexId> variables = sum->definition->free;
    variables.insert(variables.end(), sum->definition->reduced.begin(),
                     sum->definition->reduced.end());
    std::vector<bool> taken(terms.size(), false);
    std::optional<Found> found;
    // Term k of the sum is some term of mine; ratio and left over are the same for all.
    std::function<bool(size_t, const Bindings&, const std::optional<Expr>&,
                       const std::vector<Expr>&)>
        next = [&](size_t k, const Bindings& b, const std::optional<Expr>& scale,
                   const std::vector<Expr>& rest) {
          if (k == sum->terms.size()) {
            found = accept(*sum, b, rest, around);
            if (found) found->scale = *scale;
            return found.has_value();
          }
          for (size_t n = 0; n < terms.size(); ++n) {
            if (taken[n]) continue;
            auto here = ratio(terms[n].coefficient, sum->terms[k].coefficient);
            if (!here || (scale && !(*scale == *here))) continue;
            taken[n] = true;
            bool done = Matcher(variables).match_more(
                b, sum->terms[k].factors, terms[n].factors,
                [&](const Bindings& more, const std::vector<Expr>& left) {
                  std::vector<Expr> sorted = left;
                  std::sort(sorted.begin(), sorted.end());
                  if (k > 0 && sorted != rest) return false;
                  return next(k + 1, more, here, sorted);
                });
            if (done) return true;  // `taken` stays for the terms that are left
            taken[n] = false;
          }
          return false;
        };
    if (!next(0, {}, std::nullopt, {})) continue;
    Task t{found->rest, without(around.reduced, found->gone),
           without(around.conditions, found->conditions), around.depth};
    t.factors.push_back(found->read);
    Bracketing b = plan_product(std::move(t));
    scale_parts(b, found->scale);
    std::vector<Product> left;
    for (size_t n = 0; n < terms.size(); ++n)
      if (!taken[n]) left.push_back(terms[n]);
    if (!left.empty()) {
      auto others = plan_terms(left, around);
      if (!others) continue;
      b.cost += others->cost;
      b.parts.insert(b.parts.end(), others->parts.begin(), others->parts.end());
    }
    return b;
  }
  return std::nullopt;
}

std::vector<const Brackets::KnownSum*> Brackets::candidates(const std::vector<Expr>& factors,
                                                            bool several) const {
  std::set<TensorId> occurring;
  for (const Expr& f : factors) {
    const std::set<TensorId>& in = mentions(f).tensors;
    occurring.insert(in.begin(), in.end());
  }
  std::vector<const KnownSum*> result;
  for (TensorId t : occurring) {
    auto found = by_tensor_.find(t);
    if (found == by_tensor_.end()) continue;
    for (const KnownSum* s : found->second)
      if ((s->terms.size() > 1) == several &&
          std::includes(occurring.begin(), occurring.end(), s->reads.begin(), s->reads.end()))
        result.push_back(s);
  }
  return result;
}

Conditions Brackets::not_proved(const Conditions& c) const {
  Conditions result;
  for (const Expr& x : c)
    if (!solve::proves(g_, {}, x)) result.insert(x);
  return result;
}

Bracketing Brackets::as_it_stands(const Task& t, const Split& s) const {
  Part part{1, s.outer, s.inner, t.reduced, t.conditions};
  if (t.reduced.empty()) return {points(free_) * 0.5, {part}};
  std::set<IndexId> all = indices(s.inside);
  double weight = std::max<double>(1, static_cast<double>(s.inner.size()));
  bool reads_wide = false;
  int before = 0;
  for (const Expr& f : s.inner) {
    merge_in(all, mentions(f).indices);
    for (TensorId r : mentions(f).tensors) {
      reads_wide = reads_wide || is_wide(r);
      before = std::max(before, pass_number(r));
    }
  }
  if (reads_wide) weight *= kWideWeight * std::pow(kPassWeight, before);
  return {points(all) * weight + (s.outer.empty() ? 0 : points(free_)), {part}};
}

Bracketing Brackets::plan_product(Task task) {
  ++steps_;
  // An index that occurs nowhere counts how often the rest is added.
  std::set<IndexId> used = indices(task.conditions);
  for (const Expr& f : task.factors) merge_in(used, mentions(f).indices);
  Expr count = 1;
  for (IndexId r : without(task.reduced, used)) {
    if (!solve::nonnegative(g_, g_[r].extent)) continue;
    count = count * size_value(g_[r].extent);
    task.reduced.erase(r);
  }
  Split s;
  s.inside = on(task.conditions, task.reduced);
  for (const Expr& f : task.factors)
    (meets(mentions(f).indices, task.reduced) ? s.inner : s.outer).push_back(f);
  Bracketing best = as_it_stands(task, s);
  if (!task.reduced.empty() && steps_ <= kMostSteps) {
    if (auto sum = weights_sum(task, s)) {
      Part part{1, s.outer, {}, {}, without(task.conditions, s.inside)};
      part.outer.push_back(*sum);
      best = {points(free_), {part}};
    } else {
      try_existing(task, s, best);
      try_pairs(task, s, best);
      try_looking_through(task, s, best);
    }
  }
  scale_parts(best, count);
  return best;
}

// Whether the indices of a known sum map onto mine, so that the sum can be read in their place.
std::optional<Brackets::Found> Brackets::accept(const KnownSum& sum, const Bindings& b,
                                                const std::vector<Expr>& rest,
                                                const Task& t) const {
  const Definition& z = *sum.definition;
  if (b.size() != z.free.size() + z.reduced.size()) return std::nullopt;
  Found found{0, 1, rest, {}, {}};
  for (IndexId u : z.reduced) {
    const Expr& value = *b.find(u);
    if (!value.is(Kind::index) || !t.reduced.count(value->index)) return std::nullopt;
    if (!found.gone.insert(value->index).second) return std::nullopt;
    if (!g_.same(g_[value->index].extent, g_[u].extent)) return std::nullopt;
  }
  for (const Expr& f : rest)
    if (meets(mentions(f).indices, found.gone)) return std::nullopt;
  std::vector<Expr> subscripts;
  for (IndexId u : z.free) {
    if (meets(indices(*b.find(u)), found.gone)) return std::nullopt;
    if (!in_range(g_, t.conditions, *b.find(u), g_[u].extent)) return std::nullopt;
    subscripts.push_back(*b.find(u));
  }
  // On the indices that go, both have the same conditions; what else the sum asks, I have.
  found.conditions = on(t.conditions, found.gone);
  Conditions theirs = z.guard.empty() ? Conditions() : substitute(z.guard, b.map());
  if (on(theirs, found.gone) != found.conditions) return std::nullopt;
  if (!holds(g_, t.conditions, theirs)) return std::nullopt;
  found.read = g_.read(z.target, std::move(subscripts));
  return found;
}

void Brackets::try_existing(const Task& t, const Split& s, Bracketing& best) {
  for (const KnownSum* sum : candidates(s.inner, false)) {
    const Product& p = sum->terms[0];
    if (sum->definition->reduced.size() > t.reduced.size()) continue;
    auto scale = ratio(1, p.coefficient);
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
          left.factors.push_back(found->read);
          left.factors.insert(left.factors.end(), s.outer.begin(), s.outer.end());
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
      of_pair.merge(indices(pair.guard));
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
      // A wide intermediate must at least have fewer indices than the whole.
      if (of_pair.size() >= whole.size() && wide_.is_unbounded(g_, extents)) continue;
      Conditions left = without(t.conditions, pair.guard);
      double cost = 2 * points(of_pair);
      if (cost >= best.cost) continue;
      Type type = pair.body.type();
      TensorId made = new_tentative(std::move(pair));
      others.push_back(ir::read(made, type, std::move(subscripts)));
      Bracketing b = plan_product({std::move(others), without(t.reduced, gone), left, -1});
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
    if (!stores_exactly(g_, d->target) || lands_somewhere(*d) || steps_ > kMostSteps) continue;
    std::map<IndexId, Expr> map = subscript_map(*d, f);
    std::set<IndexId> reduced = t.reduced;
    size_t indices_before = g_.indices.size();
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
    bool better = false;
    if (products && products->size() <= kMostTerms) {
      std::vector<Expr> others = s.outer;
      for (size_t n = 0; n < s.inner.size(); ++n)
        if (n != k) others.push_back(s.inner[n]);
      for (Product& p : *products) p.factors.insert(p.factors.end(), others.begin(), others.end());
      auto b = plan_terms(*products, {{}, reduced, conditions, t.depth - 1});
      better = b && b->cost < best.cost;
      if (better) best = std::move(*b);
    }
    if (!better) g_.indices.resize(indices_before);
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
    if (!is_exponential(p->body)) return std::nullopt;
    if (!includes(t.conditions, substitute(p->guard, map))) return std::nullopt;
    weight = substitute(p->body, map);
  }
  if (!is_exponential(weight) || !weight.args()[0].is(Kind::add)) return std::nullopt;
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
