#include "compiler/solve/linear.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "compiler/ir/operation.h"
#include "compiler/solve/prove.h"

namespace attn::solve {

using ir::Expr;
using ir::Kind;
using ir::Poly;
using ir::Rational;

namespace {

constexpr int kMostSteps = 8;    // facts combined in one proof
constexpr int kMostNodes = 200;  // of the search, so that a failure is cheap
constexpr int kMostCases = 5;    // nested case distinctions
constexpr int kMostMaps = 6;     // seen through, one in the other; a recurrence reads itself

}  // namespace

int System::unknown(const Expr& term, bool& fresh) {
  for (size_t k = 0; k < unknowns_.size(); ++k) {
    if (unknowns_[k].term->hash == term->hash && unknowns_[k].term == term) {
      fresh = false;
      return static_cast<int>(k);
    }
  }
  unknowns_.push_back({term, {}});
  fresh = true;
  // What depends on an index is computed where the index has a value.
  for (const ir::IndexId i : ir::indices(term)) sizes_.nonempty(g_.expand(g_[i].extent));
  return static_cast<int>(unknowns_.size()) - 1;
}

// What a read of an integer tensor stands for where a map computes it, of its definition's body at
// these subscripts. Not where the tensor, which has 32 bits, may hold less than the value.
Expr System::seen_through(const Expr& read) const {
  constexpr uint64_t kMostSeen = 200;  // nodes, so that maps of maps stay small
  if (read.type() != ir::Type::integer) return read;
  const ir::Definition* d = g_.definition_of(read->tensor);
  if (!d || d->combine != ir::Combine::set || !d->position.empty()) return read;
  if (d->body.type() != ir::Type::integer || !fits(range_of(g_, d->body, sizes_))) return read;
  std::map<ir::IndexId, Expr> at;
  for (size_t k = 0; k < d->free.size(); ++k) at.emplace(d->free[k], read.args()[k]);
  const Expr value = ir::where(ir::substitute(d->guard, at), ir::substitute(d->body, at));
  return value->weight <= kMostSeen ? value : read;
}

// Whether 32 bits hold all values: numbers, or what no extent of a tensor is less than.
bool System::fits(const Range& range) const {
  if (!range.lowest || !range.highest) return false;
  const auto is_small = [&](const Poly& p) {
    const Poly expanded = g_.expand(p);
    if (const auto n = expanded.integer()) return *n <= std::numeric_limits<int32_t>::max();
    return std::ranges::any_of(g_.tensors, [&](const ir::Tensor& t) {
      return std::ranges::any_of(t.extents, [&](const Poly& extent) {
        return sizes_.nonnegative(g_.expand(extent) - expanded);
      });
    });
  };
  return is_small(*range.highest) && is_small(*range.lowest * Poly(-1));
}

Linear System::linear(const Expr& e) {
  switch (e.kind()) {
    case Kind::literal:
      return {{}, Poly(e->number.integer)};
    case Kind::size:
      return {{}, g_.expand(e->size)};
    case Kind::add: {
      // Bare indices are numbered last, and so eliminated first: what is left of 7 - 2*q - u is
      // then even, which settles the quotient q.
      Linear sum;
      auto bare = [](const Expr& t) { return ir::split_coefficient(t).rest.is(Kind::index); };
      for (const Expr& t : e.args())
        if (!bare(t)) sum = sum + linear(t);
      for (const Expr& t : e.args())
        if (bare(t)) sum = sum + linear(t);
      return sum;
    }
    case Kind::multiply:
      return of_product(e);
    case Kind::quotient:
    case Kind::remainder:
      return of_division(e, e.is(Kind::remainder));
    case Kind::call:
      return of_call(e);
    case Kind::read: {
      const Expr value = seen_through_ < kMostMaps ? seen_through(e) : e;
      if (value == e) break;
      ++seen_through_;
      Linear result = linear(value);
      --seen_through_;
      return result;
    }
    default:
      break;
  }
  std::vector<Case> cases;
  if (e.is(Kind::select)) {
    // Unknowns of the arguments are numbered first: proofs eliminate the latest first.
    cases = {{{}, linear(e.args()[1])}, {{}, linear(e.args()[2])}};
    for (const Expr& c : ir::conjuncts(e.args()[0]))
      if (c.is(Kind::at_least_zero)) cases[0].when.push_back(linear(c.args()[0]));
    for (const Expr& c : ir::conjuncts(ir::negation(e.args()[0])))
      if (c.is(Kind::at_least_zero)) cases[1].when.push_back(linear(c.args()[0]));
  }
  bool fresh;
  int id = unknown(e, fresh);
  Linear self{{{id, Poly(1)}}, {}};
  if (!fresh) return self;
  if (e.is(Kind::index)) {
    Poly extent = g_.expand(g_[e->index].extent);
    definitions_.push_back(self);
    definitions_.push_back({{{id, Poly(-1)}}, extent - Poly(1)});
  } else if (e.is(Kind::read)) {
    bound_read(e, id);
  } else if (e.is(Kind::power) && e.args()[0].is(Kind::index) && e.args()[1].is_literal(2)) {
    Linear i = linear(e.args()[0]);  // 0 <= i * i <= (extent - 1) * i
    definitions_.push_back(self);
    Poly extent = g_.expand(g_[e.args()[0]->index].extent);
    definitions_.push_back(scale(i, extent - Poly(1)) - self);
  } else if (!cases.empty()) {
    unknowns_[id].cases = std::move(cases);
  }
  return self;
}

// What an argmax found is one of the places it looked at, or 0.
void System::bound_read(const Expr& e, int id) {
  if (e.type() != ir::Type::integer) return;
  const ir::Definition* d = g_.definition_of(e->tensor);
  std::set<ir::TensorId> seen;  // a recurrence may copy itself
  while (d && d->combine == ir::Combine::set && d->position.empty() && d->body.is(Kind::read) &&
         seen.insert(d->target).second)
    d = g_.definition_of(d->body->tensor);
  if (!d || d->combine != ir::Combine::argmax) return;
  Poly extent = g_.expand(g_[d->reduced[0]].extent);
  definitions_.push_back({{{id, Poly(1)}}, {}});
  if (sizes_.nonnegative(extent - Poly(1)))
    definitions_.push_back({{{id, Poly(-1)}}, extent - Poly(1)});
}

Linear System::of_product(const Expr& e) {
  Linear product{{}, Poly(1)};
  bool is_linear = true;
  for (const Expr& f : e.args()) {
    Linear l = linear(f);
    if (l.terms.empty())
      product = scale(product, l.constant);
    else if (product.terms.empty())
      product = scale(l, product.constant);
    else
      is_linear = false;
  }
  if (is_linear) return product;
  // A product of unknowns counts as an unknown; of two indices, something is known about it.
  ir::Scaled s = ir::split_coefficient(e);
  if (s.coefficient.integer != 1) return scale(linear(s.rest), Poly(s.coefficient.integer));
  bool fresh;
  int id = unknown(e, fresh);
  Linear self{{{id, Poly(1)}}, {}};
  const auto& f = e.args();
  if (fresh && f.size() == 2 && f[0].is(Kind::index) && f[1].is(Kind::index)) {
    definitions_.push_back(self);
    for (int k = 0; k < 2; ++k) {
      Poly last = g_.expand(g_[f[k]->index].extent) - Poly(1);
      definitions_.push_back(scale(linear(f[1 - k]), last) - self);
    }
  }
  return self;
}

// e // c and e % c by q with c*q <= e <= c*q + c - 1, which holds for c >= 1 and every e.
Linear System::of_division(const Expr& e, bool remainder) {
  Linear value = linear(e.args()[0]), divisor = linear(e.args()[1]);
  const Poly& c = divisor.constant;
  bool fresh;
  if (!divisor.terms.empty() || !sizes_.nonnegative(c - Poly(1)))
    return {{{unknown(e, fresh), Poly(1)}}, {}};
  Expr key = ir::quotient(e.args()[0], ir::size_value(c));
  if (!key.is(Kind::quotient)) return remainder ? value - scale(linear(key), c) : linear(key);
  int id = unknown(key, fresh);
  Linear q{{{id, Poly(1)}}, {}};
  Linear rest = value - scale(q, c);
  if (fresh) {
    const Range range = range_of(g_, key, sizes_);
    if (range.lowest) definitions_.push_back(q - Linear{{}, g_.expand(*range.lowest)});
    if (range.highest) definitions_.push_back(Linear{{}, g_.expand(*range.highest)} - q);
    definitions_.push_back(rest);
    definitions_.push_back(Linear{{}, c - Poly(1)} - rest);
  }
  return remainder ? rest : q;
}

Linear System::of_call(const Expr& e) {
  using ir::Meaning;
  const Meaning meaning = ir::meaning(e);
  const bool is_min = meaning == Meaning::minimum, is_abs = meaning == Meaning::magnitude;
  Linear a, b;
  if (is_min || is_abs || meaning == Meaning::maximum) {
    a = linear(e.args()[0]);
    b = is_abs ? minus(a) : linear(e.args()[1]);
  }
  bool fresh;
  int id = unknown(e, fresh);
  Linear self{{{id, Poly(1)}}, {}};
  if (!fresh) return self;
  if (meaning == Meaning::sign) {
    definitions_.push_back(self + Linear{{}, Poly(1)});
    definitions_.push_back(Linear{{}, Poly(1)} - self);
  }
  if (!is_min && !is_abs && meaning != Meaning::maximum) return self;
  definitions_.push_back(is_min ? a - self : self - a);
  definitions_.push_back(is_min ? b - self : self - b);
  unknowns_[id].cases = {{{is_min ? b - a : a - b}, a}, {{is_min ? a - b : b - a}, b}};
  return self;
}

bool System::nonnegative(const Linear& goal) {
  budget_ = kMostNodes;
  Linear tight = goal;
  tighten(tight);
  if (by_cases(tight, kMostCases)) return true;
  if (!tight.terms.empty()) return false;
  // About sizes alone: what was assumed about unknowns may say it, as j < i says that 2 <= T.
  for (const Linear& f : std::vector<Linear>(facts_))
    if (!f.terms.empty() && eliminate(tight - f, kMostSteps)) return true;
  return false;
}

// The latest unknown of the goal that takes one of two values is replaced by each.
bool System::by_cases(const Linear& goal, int depth) {
  auto it = std::find_if(goal.terms.rbegin(), goal.terms.rend(),
                         [&](const auto& t) { return !unknowns_[t.first].cases.empty(); });
  if (it == goal.terms.rend() || depth == 0) return eliminate(goal, kMostSteps);
  auto [id, coefficient] = *it;
  Linear self{{{id, Poly(1)}}, {}};
  Linear rest = goal - scale(self, coefficient);
  for (const Case& c : std::vector<Case>(unknowns_[id].cases)) {
    Mark before = mark();
    facts_.push_back(self - c.value);
    facts_.push_back(c.value - self);
    facts_.insert(facts_.end(), c.when.begin(), c.when.end());
    bool good = by_cases(rest + scale(c.value, coefficient), depth - 1);
    release(before);
    // A case that cannot happen needs no proof.
    for (size_t k = 0; !good && k < c.when.size(); ++k)
      good = eliminate(minus(c.when[k]) - Linear{{}, Poly(1)}, kMostSteps);
    if (!good) return false;
  }
  return true;
}

// A goal is a sum of facts with factors that are at least 0. The latest unknown must be cancelled
// by one of the facts in which it has the same sign; each is tried. `used` marks the facts that
// the way here took: none is taken twice, so that facts that bound each other do not go in cycles.
bool System::eliminate(const Linear& goal, int depth, uint64_t used) {
  if (goal.terms.empty())
    return sizes_.nonnegative(goal.constant) || std::ranges::any_of(facts_, [&](const Linear& f) {
             return f.terms.empty() && sizes_.nonnegative(goal.constant - f.constant);
           });
  if (depth == 0 || --budget_ < 0) return false;
  int id = goal.terms.back().first;
  uint64_t bit = 1;
  for (const auto* facts : {&facts_, &definitions_}) {
    for (size_t k = 0; k < facts->size(); ++k, bit <<= 1) {
      if (used & bit) continue;
      for (const auto& t : (*facts)[k].terms) {
        if (t.first == id && eliminate_with(goal, (*facts)[k], t.second, depth, used | bit))
          return true;
      }
    }
  }
  return false;
}

// `a` is the coefficient in the fact of the goal's latest unknown.
bool System::eliminate_with(const Linear& goal, const Linear& fact, const Poly& a, int depth,
                            uint64_t used) {
  const Poly& c = goal.terms.back().second;
  auto go_on = [&](Linear next) {
    tighten(next);
    return eliminate(next, depth - 1, used);
  };
  if (c == a) return go_on(goal - fact);
  auto n = a.constant(), m = c.constant();
  if (n && m && (n->num < 0) != (m->num < 0)) return false;
  if (auto factor = ir::divide(c, a); factor && whole(*factor))
    return sizes_.nonnegative(*factor) && go_on(goal - scale(fact, *factor));
  // a * goal >= 1 - a is enough, because the goal is an integer and a >= 1.
  int sign = sizes_.nonnegative(c) ? 1 : sizes_.nonnegative(negative(c)) ? -1 : 0;
  if (sign == 0) return false;
  Poly size = sign < 0 ? negative(a) : a;
  if (!sizes_.nonnegative(size - Poly(1))) return false;
  Linear next = scale(goal, size) - scale(fact, sign < 0 ? negative(c) : c);
  next.constant = next.constant + size - Poly(1);
  return go_on(std::move(next));
}

}  // namespace attn::solve
