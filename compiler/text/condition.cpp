// Conditions as the field writes them: `e >= 0` gets its two sides back, and two bounds of one
// expression become a chain: `j <= i`, `j < len[b]`, `0 <= i - j < W`, `v == token[b,i]`.
#include <algorithm>
#include <optional>

#include "compiler/text/writer.h"

namespace attn::text {
namespace {

using dsl::ExprPtr;
using dsl::Op;

// An integer expression as signed terms and a whole constant.
struct Linear {
  std::vector<Term> terms;
  int64_t constant = 0;
};

Linear linear(const ir::Expr& e) {
  Linear l;
  for (Term& t : terms_of(e)) {
    if (t.value.is(ir::Kind::literal) && t.value->number.is_integer)
      l.constant += t.negative ? -t.value->number.integer : t.value->number.integer;
    else
      l.terms.push_back(std::move(t));
  }
  return l;
}

std::vector<Term> with_constant(std::vector<Term> terms, int64_t c) {
  if (c != 0) terms.push_back({c < 0, ir::Expr(c < 0 ? -c : c)});
  return terms;
}

std::vector<Term> opposite(std::vector<Term> terms) {
  for (Term& t : terms) t.negative = !t.negative;
  return terms;
}

// The terms of one sign, as positive ones.
std::vector<Term> side(const std::vector<Term>& terms, bool negative) {
  std::vector<Term> result;
  for (const Term& t : terms)
    if (t.negative == negative) result.push_back({false, t.value});
  return result;
}

ExprPtr compare(ExprPtr a, Op op, ExprPtr b) { return chain({std::move(a), std::move(b)}, {op}); }

bool reads_something(const ir::Expr& c) { return !ir::tensors(c).empty(); }

// V + a >= 0 and b - V >= 0.
struct Interval {
  std::vector<Term> middle, low, high;
  int64_t low_constant = 0, high_constant = 0;
};

std::optional<Interval> interval(const ir::Expr& low, const ir::Expr& high) {
  const Linear a = linear(low), b = linear(high);
  Interval r;
  r.low_constant = a.constant;
  r.high_constant = b.constant;
  auto partner = [](const Term& t, const std::vector<Term>& others) {
    return std::find_if(others.begin(), others.end(), [&](const Term& o) {
             return o.negative != t.negative && o.value == t.value;
           }) != others.end();
  };
  bool index = false, positive = false;
  for (const Term& t : a.terms) {
    const bool shared = partner(t, b.terms);
    (shared ? r.middle : r.low).push_back(t);
    if (!shared && (!ir::indices(t.value).empty() || reads_something(t.value))) return std::nullopt;
    if (shared && !ir::indices(t.value).empty()) index = true;
    if (shared && !t.negative) positive = true;
  }
  for (const Term& t : b.terms)
    if (!partner(t, a.terms)) r.high.push_back(t);
  if (!index || !positive) return std::nullopt;
  return r;
}

}  // namespace

ExprPtr Writer::between(const ir::Expr& low, const ir::Expr& high) const {
  Interval r = *interval(low, high);
  std::vector<Term> below = with_constant(opposite(r.low), -r.low_constant);
  int64_t shift = 0;
  if (r.low.empty() && r.middle.size() > 1) {  // 0 <= V + a
    shift = r.low_constant;
    below.clear();
  }
  const int64_t above = r.high_constant + shift;
  const bool strict = above < 0;
  return dsl::make(
      dsl::Chain{dsl::Level::comparison,
                 {sum(std::move(below), true), sum(with_constant(r.middle, shift), true),
                  sum(with_constant(r.high, strict ? above + 1 : above), true)},
                 {Op::less_equal, strict ? Op::less : Op::less_equal}});
}

ExprPtr Writer::at_least_zero(const ir::Expr& e) const {
  const Linear l = linear(e);
  const std::vector<Term> more = side(l.terms, false), less = side(l.terms, true);
  const int64_t c = l.constant;
  auto whole = [&](const std::vector<Term>& terms, int64_t constant) {
    return sum(with_constant(terms, constant), true);
  };
  auto varies = [&](const std::vector<Term>& terms) {
    return std::any_of(terms.begin(), terms.end(),
                       [&](const Term& t) { return names_an_index(t); });
  };
  if (less.empty()) return compare(whole(more, 0), Op::greater_equal, whole({}, -c));
  if (more.empty())
    return c > 0 ? compare(whole(less, 0), Op::less, whole({}, c + 1))
                 : compare(whole(less, 0), Op::less_equal, whole({}, c));
  if (!varies(less) && varies(more)) {  // `i + j >= T`
    if (c == -1) return compare(whole(more, 0), Op::greater, whole(less, 0));
    return compare(whole(more, 0), Op::greater_equal, whole(less, -c));
  }
  if (c < 0) return compare(whole(less, 0), Op::less, whole(more, c + 1));
  return compare(whole(less, 0), Op::less_equal, whole(more, c));
}

// e == 0 or e != 0. An index of the left side that stands alone is what the condition is about.
ExprPtr Writer::zero(const ir::Expr& e, Op op) const {
  const Linear l = linear(e);
  if (d_) {
    for (ir::IndexId i : d_->free) {
      int uses = 0;
      const Term* alone = nullptr;
      for (const Term& t : l.terms) {
        if (ir::uses(t.value, i)) ++uses;
        if (t.value.is(ir::Kind::index) && t.value->index == i) alone = &t;
      }
      if (!alone || uses != 1) continue;
      std::vector<Term> rest;
      for (const Term& t : l.terms)
        if (&t != alone) rest.push_back(t);
      rest = with_constant(std::move(rest), l.constant);
      if (!alone->negative) rest = opposite(std::move(rest));
      return compare(expression(alone->value), op, sum(std::move(rest), true));
    }
  }
  std::vector<Term> left = side(l.terms, false), right = side(l.terms, true);
  int64_t c = l.constant;
  if (left.empty()) {
    std::swap(left, right);
    c = -c;
  }
  if (right.empty() || c < 0)
    return compare(sum(std::move(left), true), op, sum(with_constant(std::move(right), -c), true));
  return compare(sum(with_constant(std::move(left), c), true), op, sum(std::move(right), true));
}

ExprPtr Writer::condition(const ir::Expr& c) const {
  auto joined = [&](Op op) {
    std::vector<ExprPtr> parts;
    for (const ir::Expr& x : c.args()) parts.push_back(condition(x));
    return chain(parts, std::vector<Op>(parts.size() - 1, op));
  };
  // `x > 0`, not `0 < x`.
  auto binary = [&](Op op, Op mirrored, const ir::Expr& x) {
    const ir::Expr &a = x.args()[0], &b = x.args()[1];
    const bool swap = a.is(ir::Kind::literal);
    return compare(expression(swap ? b : a), swap ? mirrored : op, expression(swap ? a : b));
  };
  // Equality has no order: what varies more is said to equal what varies less.
  auto equality = [&](Op op, const ir::Expr& x) {
    const ir::Expr &a = x.args()[0], &b = x.args()[1];
    const bool swap = ir::indices(a).size() < ir::indices(b).size() || a.is(ir::Kind::literal);
    return compare(expression(swap ? b : a), op, expression(swap ? a : b));
  };
  switch (c.kind()) {
    case ir::Kind::at_least_zero:
      return at_least_zero(c.args()[0]);
    case ir::Kind::is_zero:
      return zero(c.args()[0], Op::equal);
    case ir::Kind::not_zero:
      return zero(c.args()[0], Op::not_equal);
    case ir::Kind::less:
      return binary(Op::less, Op::greater, c);
    case ir::Kind::at_most:
      return binary(Op::less_equal, Op::greater_equal, c);
    case ir::Kind::equal:
      return equality(Op::equal, c);
    case ir::Kind::negation:
      if (c.args()[0].is(ir::Kind::equal)) return equality(Op::not_equal, c.args()[0]);
      return dsl::make(dsl::Unary{dsl::UnaryOp::logical_not, condition(c.args()[0])});
    case ir::Kind::both:
      return conditions({c.args().begin(), c.args().end()});
    case ir::Kind::either:
      return joined(Op::logical_or);
    default:
      return expression(c);
  }
}

ExprPtr Writer::conditions(const ir::Conditions& all) const {
  if (all.empty()) return nullptr;
  // What reads a tensor stands after what may guard the read.
  std::vector<ir::Expr> open;
  for (const ir::Expr& c : all)
    if (!reads_something(c)) open.push_back(c);
  for (const ir::Expr& c : all)
    if (reads_something(c)) open.push_back(c);
  std::vector<ExprPtr> parts;
  std::vector<bool> done(open.size());
  for (size_t k = 0; k < open.size(); ++k) {
    if (done[k]) continue;
    ExprPtr part;
    if (open[k].is(ir::Kind::at_least_zero)) {
      // The pair whose lower bound is plainest: `0 <= i - j < W` before `1 - W <= j - i <= 0`.
      std::optional<size_t> other;
      bool swapped = false;
      size_t best = SIZE_MAX;
      for (size_t m = k + 1; m < open.size(); ++m) {
        if (done[m] || !open[m].is(ir::Kind::at_least_zero)) continue;
        for (bool swap : {false, true}) {
          const auto r = interval(open[swap ? m : k].args()[0], open[swap ? k : m].args()[0]);
          if (!r) continue;
          const size_t badness = 4 * r->low.size() + (r->low_constant != 0);
          if (badness >= best) continue;
          best = badness;
          other = m;
          swapped = swap;
        }
      }
      if (other) {
        done[*other] = true;
        part = between(open[swapped ? *other : k].args()[0], open[swapped ? k : *other].args()[0]);
      }
    }
    parts.push_back(part ? part : condition(open[k]));
  }
  return chain(parts, std::vector<Op>(parts.size() - 1, Op::logical_and));
}

}  // namespace attn::text
