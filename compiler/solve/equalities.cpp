// Each equality of a guard is taken apart as far as it says the same without a further loop; then
// it is solved for each reduced index in turn, the one that removes most points is taken, and the
// search starts again.
#include "compiler/solve/equalities.h"

#include <algorithm>
#include <limits>

#include "compiler/solve/inverse.h"
#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"

namespace attn::solve {

using ir::Conditions;
using ir::Definition;
using ir::Expr;
using ir::Graph;
using ir::IndexId;
using ir::Kind;
using ir::Poly;

namespace {

// What `condition` says the free index n equals, where n occurs nowhere else and that depends on
// reduced indices.
std::optional<Expr> position_of(const Definition& d, const Expr& condition, IndexId n) {
  if (!condition.is(Kind::is_zero) || uses(d.body, n)) return {};
  if (std::ranges::any_of(d.guard,
                          [&](const Expr& c) { return !(c == condition) && ir::uses(c, n); }))
    return {};
  for (int sign : {1, -1}) {
    // The condition is n - position == 0, or position - n == 0.
    const Expr& difference = condition.args()[0];
    const Expr position = sign > 0 ? index_value(n) - difference : index_value(n) + difference;
    if (!ir::uses(position, n) &&
        std::ranges::any_of(d.reduced, [&](IndexId r) { return ir::uses(position, r); }))
      return position;
  }
  return {};
}

constexpr int kMostRounds = 32;
constexpr int kMostIntroduced = 2;  // loops introduced one in another, in search of fewer points

// What solving an equality for one reduced index gives.
struct Candidate {
  Expr equality;
  IndexId index;
  Inverse solution;
  double gain = 0;  // points visited before, over points visited after
};

class Solver {
 public:
  Solver(Graph& g, const Definition& d) : g_(g), d_(d), original_(d.reduced) {}

  Definition run() {
    if (d_.combine == ir::Combine::set || d_.combine == ir::Combine::argmax) return d_;
    if (std::ranges::any_of(d_.guard, ir::has_division)) simplify_guard();
    solve(kMostIntroduced);
    return ir::normal_form(std::move(d_));
  }

 private:
  // `depth`: how often a loop may still be introduced.
  void solve(int depth) {
    for (int round = 0; round < kMostRounds && take_apart(); ++round) {
    }
    std::vector<Solver> others;
    if (depth > 0) others = introduced(depth);
    if (apply_best()) solve(depth);
    for (Solver& other : others)
      if (other.points() < points()) d_ = std::move(other.d_);
  }

  bool is_reduced(IndexId i) const { return std::ranges::find(d_.reduced, i) != d_.reduced.end(); }

  double points(const Poly& extent) const { return Points(g_, kTypicalSize).of(extent); }
  double points() const { return Points(g_, kTypicalSize).of(g_.extents(d_.reduced)); }

  // All indices that have a value at a point.
  std::set<IndexId> indices() const {
    std::set<IndexId> all(d_.free.begin(), d_.free.end());
    all.insert(d_.reduced.begin(), d_.reduced.end());
    return all;
  }

  // An equality as a sum of terms with reduced indices, and what it equals. An index that was
  // introduced counts as one where no other is left.
  struct Equation {
    Expr unknown, value;
  };
  Equation equation(const Expr& equality) const {
    const Equation e = equation(equality, original_);
    return e.unknown.is_zero() ? equation(equality, d_.reduced) : e;
  }
  Equation equation(const Expr& equality, const std::vector<IndexId>& unknowns) const {
    Expr unknown, value;
    for (const Expr& t : ir::addends_of(equality.args()[0])) {
      const bool open = std::ranges::any_of(unknowns, [&](IndexId i) { return ir::uses(t, i); });
      (open ? unknown : value) = open ? unknown + t : value - t;
    }
    // An equality has no sign of its own: most terms are to be added.
    const auto terms = ir::addends_of(unknown);
    const auto subtracted = std::ranges::count_if(
        terms, [&](const Expr& t) { return !nonnegative(g_, split_sizes(t).coefficient); });
    if (2 * static_cast<size_t>(subtracted) > terms.size()) return {-unknown, -value};
    return {unknown, value};
  }

  // Replaces equalities by simpler ones that say the same.
  bool take_apart() { return join_digits() || split_digits(); }

  // x // c == v and x % c == w say x == c * v + w; (x // c) % b likewise of x % (b * c).
  bool join_digits() {
    std::vector<std::pair<Expr, Equation>> all;
    for (const Expr& c : d_.guard)
      if (c.is(Kind::is_zero)) all.emplace_back(c, equation(c));
    for (const auto& [equality, high] : all) {
      const bool bounded = high.unknown.is(Kind::remainder);
      const Expr& q = bounded ? high.unknown.args()[0] : high.unknown;
      if (!q.is(Kind::quotient) || !ir::as_size(q.args()[1])) continue;
      const Expr &x = q.args()[0], &c = q.args()[1];
      const Expr rest = assume(g_, ir::remainder(x, c), {});
      const auto low = std::ranges::find_if(all, [&](const auto& other) {
        return other.second.unknown == rest && !(other.first == equality);
      });
      if (low == all.end()) continue;
      const Expr &v = high.value, &w = low->second.value;
      const Expr joined = bounded ? ir::remainder(x, c * high.unknown.args()[1]) : x;
      d_.guard.erase(low->first);
      replace(equality, ir::conjuncts(ir::all_of(
                            {ir::equal(joined, c * v + w), ir::at_least_zero(w), ir::less(w, c)})));
      return true;
    }
    return false;
  }

  // The digits of a number in a mixed radix, and what a remainder that occurs once says about the
  // sum in it.
  bool split_digits() {
    for (const Expr& c : d_.guard) {
      if (!c.is(Kind::is_zero)) continue;
      const Equation e = equation(c);
      Conditions parts = split_radix(g_, e.unknown, e.value, indices());
      if (parts.empty()) {
        const auto inner = unwrap(g_, e.unknown, e.value, original_, indices());
        if (!inner || !inner->inverse.fresh.empty()) continue;
        parts = inner->inverse.conditions;
        parts.merge(ir::conjuncts(ir::equal(inner->unknown, inner->inverse.value)));
      }
      replace(Expr(c), std::move(parts));
      return true;
    }
    return false;
  }

  void replace(const Expr& equality, Conditions parts) {
    d_.guard.erase(equality);
    std::vector<Expr> simpler;
    for (const Expr& p : parts) simpler.push_back(simple(p));
    d_.guard.merge(tidy(g_, ir::conjuncts(ir::all_of(std::move(simpler))), d_.guard));
    d_.guard = ir::conjuncts(ir::all_of(d_.guard));
  }

  bool apply_best() {
    std::optional<Candidate> best;
    for (const Expr& equality : d_.guard) {
      if (!equality.is(Kind::is_zero)) continue;
      for (IndexId r : d_.reduced) {
        auto candidate = solved_for(equality, r);
        if (candidate && (!best || candidate->gain > best->gain)) best = std::move(candidate);
      }
    }
    if (best) apply(std::move(*best));
    return best.has_value();
  }

  std::optional<Candidate> solved_for(const Expr& equality, IndexId r) const {
    if (!ir::uses(equality, r)) return std::nullopt;
    const Equation e = equation(equality);
    std::set<IndexId> others = indices();
    others.erase(r);
    auto solution = invert(g_, e.unknown, e.value, r, others);
    if (!solution) return std::nullopt;
    if (solution->fresh.empty() && !may_remove_one()) return std::nullopt;
    double gain = points(g_[r].extent);
    for (const FreshIndex& f : solution->fresh) gain /= points(f.extent);
    if (!solution->fresh.empty() && gain <= 1) return std::nullopt;
    for (const Expr& c : solution->conditions) gain *= further_gain(c);
    if (scatters_along_more(equality, gain)) return std::nullopt;
    return Candidate{equality, r, std::move(*solution), gain};
  }

  // Whether data says in which of more than `few` elements each point is added: fewer points are
  // visited than if each of these elements looked for its own.
  bool scatters_along_more(const Expr& equality, double few) const {
    return !ir::tensors(equality).empty() && std::ranges::any_of(d_.free, [&](IndexId n) {
      return points(g_[n].extent) > few && position_of(d_, equality, n);
    });
  }

  // Of `(j + ...) % c == 0`, which can be solved for a reduced index j in turn.
  double further_gain(const Expr& condition) const {
    if (!condition.is(Kind::is_zero) || !condition.args()[0].is(Kind::remainder)) return 1;
    const auto c = ir::as_size(condition.args()[0].args()[1]);
    double longest = 1;
    for (const Expr& t : ir::addends_of(condition.args()[0].args()[0])) {
      const ScaledBySizes s = split_sizes(t);
      const auto unit = s.coefficient.integer();
      if (s.rest.is(Kind::index) && is_reduced(s.rest->index) && (unit == 1 || unit == -1))
        longest = std::max(longest, points(g_[s.rest->index].extent));
    }
    return c ? std::min(longest, points(*c)) : 1;
  }

  // A definition whose last reduced index goes becomes a map; where that has no form it stays.
  bool may_remove_one() const {
    if (d_.reduced.size() > 1) return true;
    bool real = ir::is_real(ir::arithmetic_type(g_[d_.target].storage));
    return d_.combine == ir::Combine::sum || d_.combine == ir::Combine::prod ||
           (real && d_.combine != ir::Combine::logsumexp);
  }

  // `(a + b) // c == n` is `a + b == c * n + s` with a new loop over s: the rest may need fewer
  // points then.
  std::vector<Solver> introduced(int depth) const {
    std::vector<Solver> result;
    for (const Expr& c : d_.guard) {
      if (!c.is(Kind::is_zero)) continue;
      const Equation e = equation(c);
      const auto inner = unwrap(g_, e.unknown, e.value, original_, indices());
      if (!inner || std::ranges::count_if(
                        d_.reduced, [&](IndexId i) { return ir::uses(inner->unknown, i); }) < 2)
        continue;
      Solver& other = result.emplace_back(*this);
      const std::map<IndexId, Expr> named = other.named(inner->inverse.fresh, "s");
      Conditions parts = ir::substitute(inner->inverse.conditions, named);
      parts.merge(
          ir::conjuncts(ir::equal(inner->unknown, ir::substitute(inner->inverse.value, named))));
      for (const auto& [placeholder, i] : named) other.d_.reduced.push_back(i->index);
      other.replace(c, std::move(parts));
      other.solve(depth - 1);
    }
    return result;
  }

  // Indices of the graph for those of a solution.
  std::map<IndexId, Expr> named(const std::vector<FreshIndex>& fresh, const std::string& name) {
    std::map<IndexId, Expr> result;
    for (const FreshIndex& f : fresh)
      result.emplace(f.id, ir::index_value(g_.new_index(name, f.extent)));
    return result;
  }

  void apply(Candidate c) {
    d_.guard.erase(c.equality);
    const std::map<IndexId, Expr> fresh = named(c.solution.fresh, g_[c.index].name);
    const Expr value = ir::substitute(c.solution.value, fresh);
    Conditions extra = ir::substitute(c.solution.conditions, fresh);
    auto at = std::ranges::find(d_.reduced, c.index);
    at = d_.reduced.erase(at);
    for (const auto& [placeholder, i] : fresh) {
      at = d_.reduced.insert(at, i->index);
      original_.push_back(i->index);
    }
    // The range of what was solved, unless the rest of the guard proves it.
    extra.merge(ir::conjuncts(ir::at_least_zero(value)));
    extra.merge(ir::conjuncts(ir::less(value, ir::size_value(g_[c.index].extent))));
    const std::map<IndexId, Expr> values{{c.index, value}};
    Conditions guard = ir::conjuncts(ir::all_of(ir::substitute(d_.guard, values)));
    guard.merge(tidy(g_, ir::conjuncts(ir::all_of(extra)), guard));
    guard = ir::conjuncts(ir::all_of(guard));
    d_.body = ir::substitute(d_.body, values);
    if (ir::has_division(value) || !fresh.empty()) {
      // (c*n + t) // c and % c are n and t.
      d_.body = assume(g_, d_.body, guard);
      d_.guard = std::move(guard);
      simplify_guard();
    } else {
      d_.guard = std::move(guard);
    }
    if (d_.reduced.empty()) become_map();
  }

  void simplify_guard() {
    std::vector<Expr> parts;
    for (const Expr& p : d_.guard) parts.push_back(simple(p));
    d_.guard = ir::conjuncts(ir::all_of(std::move(parts)));
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

  Graph& g_;
  Definition d_;
  std::vector<IndexId> original_;  // reduced indices that were not introduced
};

}  // namespace

Definition solve_equalities(Graph& g, const Definition& d) {
  return d.position.empty() ? Solver(g, d).run() : d;
}

std::vector<Scatter> find_scatters(const Definition& d) {
  if (d.combine == ir::Combine::logsumexp || d.combine == ir::Combine::argmax || d.reduced.empty())
    return {};
  std::vector<Scatter> result;
  const auto says_another = [&](const Expr& c) {
    return std::ranges::any_of(result, [&](const Scatter& s) { return s.condition == c; });
  };
  for (size_t k = 0; k < d.free.size(); ++k)
    for (const Expr& c : d.guard)
      if (const auto position = position_of(d, c, d.free[k]); position && !says_another(c)) {
        result.push_back({k, *position, c});
        break;
      }
  return result;
}

}  // namespace attn::solve
