// Each equality of a guard is taken apart into terms; a term that is a reduced index times a
// coefficient, or a quotient or remainder of one, gives a candidate; the candidate that removes the
// longest loop is applied, and the search starts again.
#include "compiler/solve/equalities.h"

#include <algorithm>
#include <limits>

#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"
#include "compiler/solve/sizes.h"

namespace attn::solve {

using ir::Conditions;
using ir::Definition;
using ir::Expr;
using ir::Graph;
using ir::IndexId;
using ir::Kind;
using ir::Poly;

namespace {

constexpr int kMostRounds = 32;

struct Candidate {
  Expr equality;
  std::map<IndexId, Expr> values;  // reduced indices that go
  Conditions extra;                // what must hold beside, not counting the ranges of `values`
  std::optional<ir::Index> fresh;  // stands for the first value until the index exists
  double gain = 0;                 // points visited before, over points visited after
};

// coefficient * index.
struct Term {
  Poly coefficient;
  IndexId index;
};

std::optional<Term> as_term(const Expr& t) {
  if (t.is(Kind::index)) return Term{Poly(1), t->index};
  if (!t.is(Kind::multiply)) return std::nullopt;
  Term term{Poly(1), {}};
  for (const Expr& f : t.args()) {
    if (f.is(Kind::literal) && f->number.is_integer)
      term.coefficient = term.coefficient * Poly(f->number.integer);
    else if (f.is(Kind::size))
      term.coefficient = term.coefficient * f->size;
    else if (f.is(Kind::index) && !term.index.valid())
      term.index = f->index;
    else
      return std::nullopt;
  }
  return term.index.valid() ? std::optional(term) : std::nullopt;
}

class Solver {
 public:
  Solver(Graph& g, const Definition& d, bool plain_only) : g_(g), d_(d), plain_only_(plain_only) {}

  Definition run() {
    if (d_.combine == ir::Combine::set || d_.combine == ir::Combine::argmax) return d_;
    for (int round = 0; round < kMostRounds; ++round) {
      candidates_.clear();
      for (const Expr& c : d_.guard)
        if (c.is(Kind::is_zero)) look_at(c);
      const Candidate* best = nullptr;
      for (const Candidate& c : candidates_)
        if (!best || c.gain > best->gain) best = &c;
      if (!best) break;
      apply(Candidate(*best));
    }
    return ir::normal_form(std::move(d_));
  }

 private:
  bool is_reduced(IndexId i) const { return std::ranges::find(d_.reduced, i) != d_.reduced.end(); }

  double points(const Poly& extent) const { return Points(g_, kTypicalSize).of(extent); }

  // Whether p >= 1 wherever the definition has a point once `gone` is solved for.
  bool positive(const Poly& p, IndexId gone) const {
    std::set<IndexId> nonempty(d_.free.begin(), d_.free.end());
    nonempty.insert(d_.reduced.begin(), d_.reduced.end());
    nonempty.erase(gone);
    return nonnegative(g_, p - Poly(1), nonempty);
  }

  // A definition whose last reduced index goes becomes a map; where that has no form it stays.
  bool may_remove(size_t count) const {
    if (count < d_.reduced.size()) return true;
    bool real = ir::is_real(ir::arithmetic_type(g_[d_.target].storage));
    return d_.combine == ir::Combine::sum || d_.combine == ir::Combine::prod ||
           (real && d_.combine != ir::Combine::logsumexp);
  }

  void add(Candidate c) {
    if (!c.fresh && !may_remove(c.values.size())) return;
    c.gain = 1;
    for (const auto& [i, value] : c.values) c.gain *= points(g_[i].extent);
    if (c.fresh) c.gain /= points(c.fresh->extent);
    candidates_.push_back(std::move(c));
  }

  void look_at(const Expr& equality) {
    const Expr& e = equality.args()[0];
    for (const Expr& t : addends_of(e)) {
      Expr rest = e - t;
      if (auto term = as_term(t)) {
        if (is_reduced(term->index) && !ir::uses(rest, term->index))
          by_coefficient(equality, *term, rest);
      } else if (!plain_only_) {
        by_quotient(equality, t, rest);
      }
    }
  }

  // coefficient * index + rest == 0.
  void by_coefficient(const Expr& equality, const Term& term, const Expr& rest) {
    auto c = term.coefficient.integer();
    if (c == 1 || c == -1) {
      Expr value = *c == 1 ? -rest : rest;
      if (!plain_only_ || value.is(Kind::index)) add({equality, {{term.index, value}}, {}, {}});
      return;
    }
    if (plain_only_) return;
    bool up = positive(term.coefficient, term.index);
    if (!up && !positive(term.coefficient * Poly(-1), term.index)) return;
    Poly scale = up ? term.coefficient : term.coefficient * Poly(-1);
    Expr divisor = ir::size_value(scale);
    // c*i + j == value with a j that runs over 0 .. c - 1: both are known.
    for (const Expr& t : addends_of(rest)) {
      auto low = as_term(t);
      if (!low || !is_reduced(low->index) || low->coefficient != Poly(up ? 1 : -1) ||
          !g_.same(g_[low->index].extent, scale) || ir::uses(rest - t, low->index) ||
          low->index == term.index)
        continue;
      Expr value = up ? -(rest - t) : rest - t;
      add({equality,
           {{term.index, ir::quotient(value, divisor)},
            {low->index, ir::remainder(value, divisor)}},
           {},
           {}});
    }
    Expr value = up ? -rest : rest;
    add({equality,
         {{term.index, ir::quotient(value, divisor)}},
         {ir::is_zero(ir::remainder(value, divisor))},
         {}});
  }

  // +-(x // c) + rest == 0 or +-(x % c) + rest == 0, with x = +-index + others.
  void by_quotient(const Expr& equality, const Expr& t, const Expr& rest) {
    ir::Scaled s = ir::split_coefficient(t);
    int64_t sign = s.coefficient.integer;
    const bool remainder = s.rest.is(Kind::remainder);
    if ((!s.rest.is(Kind::quotient) && !remainder) || (sign != 1 && sign != -1)) return;
    const Expr &x = s.rest.args()[0], &divisor = s.rest.args()[1];
    Poly c;
    if (divisor.is(Kind::size))
      c = divisor->size;
    else if (divisor.is(Kind::literal))
      c = Poly(divisor->number.integer);
    else
      return;
    // c >= 1 wherever there is a point afterwards, because something runs over 0 .. c - 1.
    if (!nonnegative(g_, c)) return;
    Expr n = sign == 1 ? -rest : rest;  // what the quotient or remainder equals
    for (const Expr& part : addends_of(x)) {
      auto term = as_term(part);
      if (!term || !is_reduced(term->index) || ir::uses(rest, term->index)) continue;
      auto unit = term->coefficient.integer();
      Expr others = x - part;
      if ((unit != 1 && unit != -1) || ir::uses(others, term->index)) continue;
      Candidate candidate{equality, {}, {}, {}};
      Expr fresh = ir::index_value(kFresh);
      Poly extent = c;
      Expr value = n * divisor + fresh;
      if (remainder) {
        // The quotient becomes the new index, so the range of x must be known: x is the index.
        auto quotient =
            others.is_zero() && unit == 1 ? ceiling(g_[term->index].extent, c) : std::nullopt;
        if (!quotient) continue;
        extent = *quotient;
        value = fresh * divisor + n;
        candidate.extra = {ir::at_least_zero(n), ir::at_least_zero(divisor - 1 - n)};
      }
      if (points(extent) >= points(g_[term->index].extent)) continue;
      candidate.values[term->index] = *unit == 1 ? value - others : others - value;
      candidate.fresh = ir::Index{g_[term->index].name, extent};
      add(std::move(candidate));
    }
  }

  // extent / c rounded up, where that is a polynomial.
  std::optional<Poly> ceiling(const Poly& extent, const Poly& c) const {
    auto n = g_.known(extent), d = g_.known(c);
    if (n && d) return Poly((*n + *d - 1) / *d);
    for (auto q : {ir::divide(extent, c), ir::divide(g_.expand(extent), g_.expand(c))}) {
      if (q && std::ranges::all_of(q->terms(), [](const auto& t) { return t.second.is_integer(); }))
        return q;
    }
    return std::nullopt;
  }

  void apply(Candidate c) {
    d_.guard.erase(c.equality);
    if (c.fresh) {
      std::map<IndexId, Expr> rename{
          {kFresh, ir::index_value(g_.new_index(c.fresh->name, c.fresh->extent))}};
      IndexId gone = c.values.begin()->first;
      c.values[gone] = ir::substitute(c.values[gone], rename);
      std::ranges::replace(d_.reduced, gone, rename[kFresh]->index);
    }
    std::erase_if(d_.reduced, [&](IndexId i) { return c.values.count(i) > 0; });
    for (const auto& [i, value] : c.values) {
      c.extra.insert(ir::at_least_zero(value));
      c.extra.insert(ir::at_least_zero(ir::size_value(g_[i].extent) - 1 - value));
    }
    // The ranges of what was solved, unless the rest of the guard proves them.
    Conditions guard = ir::conjuncts(ir::all_of(ir::substitute(d_.guard, c.values)));
    Conditions extra = ir::conjuncts(ir::all_of(c.extra));
    guard.merge(tidy(g_, extra, guard));
    Expr all = ir::all_of(guard);
    guard = ir::conjuncts(all);
    d_.body = ir::substitute(d_.body, c.values);
    if (c.fresh || c.values.size() > 1) {
      // (c*n + t) // c and % c are n and t.
      d_.body = assume(g_, d_.body, guard);
      std::vector<Expr> parts;
      for (const Expr& part : guard) parts.push_back(simple(part));
      guard = ir::conjuncts(ir::all_of(std::move(parts)));
    }
    d_.guard = std::move(guard);
    if (d_.reduced.empty()) become_map();
  }

  // Only the arguments: the condition itself is not to be decided by itself.
  Expr simple(const Expr& condition) const {
    std::vector<Expr> args;
    for (const Expr& a : condition.args()) args.push_back(assume(g_, a, {}));
    return condition.args().empty() ? condition : ir::rebuild(condition, std::move(args));
  }

  void become_map() {
    constexpr double kLargest = std::numeric_limits<float>::max();
    if (d_.combine != ir::Combine::sum) {
      Expr otherwise = d_.combine == ir::Combine::prod  ? Expr(1)
                       : d_.combine == ir::Combine::max ? Expr(-kLargest)
                                                        : Expr(kLargest);
      d_.body = ir::select(ir::all_of(d_.guard), d_.body, otherwise);
      d_.guard.clear();
    }
    d_.combine = ir::Combine::set;
  }

  static constexpr IndexId kFresh{std::numeric_limits<int32_t>::max()};
  Graph& g_;
  Definition d_;
  bool plain_only_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Definition solve_equalities(Graph& g, const Definition& d) { return Solver(g, d, false).run(); }

Definition solve_plain_equalities(Graph& g, const Definition& d) {
  return Solver(g, d, true).run();
}

std::optional<Scatter> find_scatter(const Definition& d) {
  if (d.combine == ir::Combine::logsumexp || d.combine == ir::Combine::argmax || d.reduced.empty())
    return {};
  for (const Expr& c : d.guard) {
    if (!c.is(Kind::is_zero)) continue;
    for (size_t k = 0; k < d.free.size(); ++k) {
      IndexId n = d.free[k];
      for (int sign : {1, -1}) {
        // c is n - position == 0, or position - n == 0.
        Expr position = sign > 0 ? index_value(n) - c.args()[0] : index_value(n) + c.args()[0];
        if (uses(position, n) || uses(d.body, n)) continue;
        bool elsewhere = false, reduced = false;
        for (const Expr& other : d.guard)
          elsewhere = elsewhere || (!(other == c) && uses(other, n));
        for (IndexId r : d.reduced) reduced = reduced || uses(position, r);
        if (!elsewhere && reduced) return Scatter{k, position, c};
      }
    }
  }
  return {};
}

}  // namespace attn::solve
