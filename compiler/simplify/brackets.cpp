#include "compiler/simplify/brackets.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/operation.h"
#include "compiler/simplify/bracket_sets.h"
#include "compiler/simplify/matching.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/out_of_sum.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

// Reading an unmaterialised tensor weighs so much more, and each sweep that must come before again
// so much.
constexpr double kUnmaterialisedWeight = 1000;
constexpr double kSweepWeight = 30;
// Numbers for tensors that exist only in a plan.
constexpr int32_t kFirstTentative = 1 << 28;
// How deep the search looks through reads, and how many factors it considers.
constexpr int kDepth = 2;
constexpr size_t kMostFactors = 8;

}  // namespace

Brackets::Brackets(Graph& g, solve::Unmaterialised& unmaterialised, std::vector<int>& numbers)
    : g_(g), unmaterialised_(unmaterialised), numbers_(numbers), points_(g, solve::kLongSize) {}

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
      insert_all(anywhere, tensors(f));
    }
  }
  if (anywhere.empty()) return;
  sums_.push_back({stored, std::move(*terms), anywhere});
  // The newest tensor in it is the one that fewest other sums read.
  by_tensor_[direct.empty() ? *anywhere.rbegin() : *direct.rbegin()].push_back(&sums_.back());
}

void Brackets::expect(const Definition& d) {
  if (d.combine != Combine::sum || d.reduced.empty()) return;
  const auto terms = expand(d.body);
  if (!terms || terms->size() != 1) return;
  const std::set<IndexId> reduced(d.reduced.begin(), d.reduced.end());
  std::set<TensorId> pair;
  size_t summed = 0;
  for (const Expr& f : (*terms)[0].factors) {
    if (!meets(indices(f), reduced)) continue;
    ++summed;
    if (f.is(Kind::read)) pair.insert(f->tensor);
  }
  if (summed == 2 && pair.size() == 2) expected_.insert(std::move(pair));
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

bool Brackets::is_unmaterialised(TensorId t) const {
  const Definition* d = tentative(t);
  if (!d) return unmaterialised_(t);
  std::vector<Poly> extents;
  for (IndexId i : d->free) extents.push_back(g_[i].extent);
  return unmaterialised_.is_unbounded(g_, extents);
}

int Brackets::sweep_number(TensorId t) const {
  const Definition* d = tentative(t);
  if (!d) return static_cast<size_t>(t.value) < numbers_.size() ? numbers_[t.value] : 0;
  int largest = 0;
  bool reads_unmaterialised = false;
  for (TensorId r : reads(*d)) {
    largest = std::max(largest, sweep_number(r));
    reads_unmaterialised = reads_unmaterialised || is_unmaterialised(r);
  }
  return largest + (reads_unmaterialised && !is_unmaterialised(t) ? 1 : 0);
}

std::optional<Bracketing> Brackets::plan(const Definition& d, const std::vector<Product>& terms) {
  free_ = {d.free.begin(), d.free.end()};
  steps_ = 0;
  tentative_.clear();
  mentions_.clear();
  precise_ = d.body.type() == Type::f64;
  // Looking through reads pays where it saves sweeps over unmaterialised tensors; else one step may
  // show that a sum exists already.
  reads_unmaterialised_ = false;
  for (TensorId t : reads(d)) reads_unmaterialised_ = reads_unmaterialised_ || is_unmaterialised(t);
  Task around{
      {}, {d.reduced.begin(), d.reduced.end()}, d.guard, reads_unmaterialised_ ? kDepth : 1};
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
    // The sum of what occurs nowhere is a factor, and would meet a division by the same size.
    std::set<IndexId> nowhere = around.reduced;
    for (const Expr& f : p.factors) nowhere = without(nowhere, mentions(f).indices);
    Bracketing b = plan_product(std::move(t));
    scale_parts(b, solve::out_of_sum(g_, p.coefficient, nowhere));
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
            auto here = ratio(g_, terms[n].coefficient, sum->terms[k].coefficient);
            if (!here || (scale && !(*scale == *here))) continue;
            taken[n] = true;
            bool done = Matcher(variables).match_more(
                b, sum->terms[k].factors, terms[n].factors,
                [&](const Bindings& more, const std::vector<Expr>& left) {
                  std::vector<Expr> sorted = left;
                  std::ranges::sort(sorted);
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
    t.conditions.merge(has_terms(found->read, found->rest, found->gone, found->conditions));
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

bool Brackets::may_be_infinite(const std::vector<Expr>& factors) const {
  const auto definition_of = [&](TensorId t) {
    return static_cast<size_t>(t.value) < by_target_.size() ? by_target_[t.value] : nullptr;
  };
  return std::ranges::any_of(factors,
                             [&](const Expr& f) { return solve::has_pole(definition_of, f); });
}

Conditions Brackets::has_terms(const Expr& sum, const std::vector<Expr>& factors,
                               const std::set<IndexId>& gone, const Conditions& guard) const {
  if (!may_be_infinite(factors) || solve::has_a_term(g_, indices(sum), gone, guard)) return {};
  return {negation(equal(sum, Expr(0)))};
}

Bracketing Brackets::as_it_stands(const Task& t, const Split& s) const {
  Part part{1, s.outer, s.inner, t.reduced, t.conditions};
  if (t.reduced.empty()) return {points(free_) * 0.5, {part}};
  std::set<IndexId> all = indices(s.inside);
  double weight = std::max<double>(1, static_cast<double>(s.inner.size()));
  bool reads_unmaterialised = false;
  int before = 0;
  for (const Expr& f : s.inner) {
    merge_in(all, mentions(f).indices);
    for (TensorId r : mentions(f).tensors) {
      // A pair's sum over a domain that is itself over two sequences stays in tiles.
      reads_unmaterialised = reads_unmaterialised ||
                             (is_unmaterialised(r) && (reads_unmaterialised_ || !tentative(r)));
      before = std::max(before, sweep_number(r));
    }
  }
  if (reads_unmaterialised) weight *= kUnmaterialisedWeight * std::pow(kSweepWeight, before);
  return {points(all) * weight + (s.outer.empty() ? 0 : points(free_)), {part}};
}

Bracketing Brackets::plan_product(Task task) {
  ++steps_;
  // An index that occurs nowhere counts how often the rest is added. Where that is 0, what may be
  // infinite is not computed.
  std::set<IndexId> used = indices(task.conditions);
  for (const Expr& f : task.factors) merge_in(used, mentions(f).indices);
  Expr count = 1;
  for (IndexId r : without(task.reduced, used)) {
    if (!solve::nonnegative(g_, g_[r].extent)) continue;
    count = count * size_value(g_[r].extent);
    task.reduced.erase(r);
    if (may_be_infinite(task.factors))
      task.conditions.merge(not_proved({at_least_zero(size_value(g_[r].extent) - 1)}));
  }
  Split s;
  s.inside = on(task.conditions, task.reduced);
  for (const Expr& f : task.factors) {
    if (meets(mentions(f).indices, task.reduced))
      s.inner.push_back(f);
    else
      s.outer.push_back(solve::out_of_sum(g_, f, task.reduced, task.conditions));
  }
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
  if (precise_ && g_[z.target].storage != Storage::f64) return std::nullopt;
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

}  // namespace attn::simplify
