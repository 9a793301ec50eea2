#include "compiler/lower/forms/loops.h"

#include <algorithm>

#include "compiler/lower/forms/running.h"
#include "compiler/lower/forms/window.h"
#include "compiler/lower/terms/extremes.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/vector_math.h"
#include "compiler/solve/equalities.h"

namespace attn::lower {
namespace {

using ir::Combine;

// Whether conditions bound a free index from both sides, as 1 <= t and t <= 1 do, or t == 1. Where
// they are solved Halide asks for that part whatever the extent.
bool is_bounded_alone(const ir::Definition& d, ir::IndexId i) {
  const auto is_of_it = [&](const ir::Expr& c) {
    return ir::tensors(c).empty() && ir::indices(c) == std::set<ir::IndexId>{i};
  };
  const auto count = std::count_if(d.guard.begin(), d.guard.end(), is_of_it);
  return count > 1 || std::any_of(d.guard.begin(), d.guard.end(), [&](const ir::Expr& c) {
           return is_of_it(c) && !c.is(ir::Kind::at_least_zero);
         });
}

// Whether it is one of these conditions. They are not solved where the index says what is written:
// the tensor need not have that element.
bool bounds_alone(const ir::Definition& d, const ir::Expr& condition) {
  const std::set<ir::IndexId> used = ir::indices(condition);
  return used.size() == 1 && ir::tensors(condition).empty() &&
         std::count(d.free.begin(), d.free.end(), *used.begin()) > 0 &&
         is_bounded_alone(d, *used.begin());
}

// The value of a place that is written, before it is bounded. Of max(min(i, T - 1), 0) in a loop
// over T points, and of clamp(i - 1, 0, n) where i % 2 == 1, Halide drops the maximum and asks for
// the element -1; it knows nothing of a hidden one.
Expr place_of(const Scope& scope, const ir::Expr& place, const Expr& value) {
  if (scope.arguments.hides_data && !ir::tensors(place).empty()) return hidden_data(value);
  return chooses(place) ? hidden_place(value) : value;
}

class Loops {
 public:
  Loops(const Scope& scope, const plan::LoopsForm& form, Scatter scatter, Windows windows)
      : scope_(scope), g_(scope.g), d_(form.definition), start_(form.start), scatter_(scatter) {
    if (windows == Windows::copied && !start_) window_ = window_of(g_, d_);
    type_ = computed_type(g_[d_.target].storage);
    for (size_t k = d_.free.size(); k-- > 0;) {
      spec_.vars.emplace_back("i" + std::to_string(k));
      indices_[d_.free[k]] = spec_.vars.back();
    }
    if (d_.reduced.empty()) return;
    std::vector<Halide::Range> ranges;
    // The last reduced index runs fastest.
    for (size_t k = d_.reduced.size(); k-- > 0;)
      ranges.push_back({0, scope_.extent(d_.reduced[k])});
    if (scatter_ == Scatter::in_classes) ranges.push_back({0, kScatterClasses});
    domain_ = RDom(ranges, "r");
    for (size_t k = d_.reduced.size(); k-- > 0;)
      indices_[d_.reduced[k]] = domain_[static_cast<int>(d_.reduced.size() - 1 - k)];
  }

  LoopsSpec spec() {
    const std::vector<Expr> planes = values();
    const Type stored = storage_type(g_[d_.target].storage);
    std::vector<Var> vars = spec_.vars;
    spec_.has_planes = planes.size() == 2;
    spec_.out = Func("out");
    if (spec_.in_place) {
      spec_.out = spec_.scatter;
    } else if (spec_.has_planes) {
      vars.push_back(spec_.plane);
      spec_.out(vars) = select(spec_.plane == 0, cast(stored, planes[0]), cast(stored, planes[1]));
    } else {
      spec_.out(vars) = cast(stored, planes[0]);
    }
    spec_.stored = stored;
    spec_.computed = type_;
    if (!d_.free.empty()) {
      spec_.row_points = scope_.extent(d_.free.back());
      spec_.same_condition_in_lanes =
          std::none_of(d_.guard.begin(), d_.guard.end(), [&](const ir::Expr& c) {
            return !ir::tensors(c).empty() && ir::uses(c, d_.free.back());
          });
    }
    if (spec_.in_place) return spec_;
    for (ir::IndexId r : d_.reduced) spec_.row_points = spec_.row_points * max(scope_.extent(r), 1);
    return spec_;
  }

 private:
  // The values of the definition, before storage: one, or two planes of a log-sum-exp.
  std::vector<Expr> values() {
    Translator t = at_points();
    if (d_.combine == Combine::set) return {t.where(d_.guard, cast(type_, t(d_.body)))};
    if (scatter_ != Scatter::by_owner)
      if (const auto scatters = solve::find_scatters(d_); !scatters.empty())
        return {scattered(scatters)};
    if (window_) return {windowed()};
    ir::Conditions inside, outside;
    for (const ir::Expr& c : d_.guard) {
      const ir::Expr at_zero = ir::substitute(c, single_values());
      const bool is_outside = holds_to_a_number(at_zero);
      (is_outside ? outside : inside).insert(is_outside ? at_zero : c);
    }
    const ir::Conditions of_data =
        on_a_diagonal(inside) ? data_conditions(&inside) : ir::Conditions{};
    if (!inside.empty()) domain_.where(domain_condition(inside));
    if (!of_data.empty()) domain_.where(unsolved(domain_condition(of_data)));
    std::vector<Expr> result = reduced(t);
    if (!outside.empty()) {
      const std::vector<Expr> nothing = of_nothing();
      // Not solved: short rows are computed several at a time, of which Halide would ask for some.
      for (size_t k = 0; k < result.size(); ++k)
        result[k] = select(unsolved(t.condition(outside)), result[k], nothing[k]);
    }
    if (start_) result[0] = start() + result[0];
    return result;
  }

  std::vector<Expr> reduced(Translator& t) {
    if (d_.combine == Combine::logsumexp) return log_sum_exp(each_time(cast(type_, t(d_.body))));
    if (d_.combine == Combine::argmax) {
      ir::Type body_type = d_.body.type();
      return {
          arg_max(to_accumulate(Combine::argmax, cast(arithmetic_type(body_type), t(d_.body))))};
    }
    Func acc = reduce("acc", d_.combine, to_accumulate(d_.combine, neutral(d_.combine, type_)),
                      to_accumulate(d_.combine, each_time(cast(type_, t(d_.body)))));
    return {from_accumulated(d_.combine, type_, acc(args()))};
  }

  // The sum whose window is copied: conditions choose terms, so that vectors are whole.
  Expr windowed() {
    Translator t(g_, scope_.arguments, indices_);
    std::vector<Expr> at;
    for (const ir::Expr& subscript : window_->args()) at.insert(at.begin(), t(subscript));
    spec_.window = copy_of_window(scope_, *window_);
    t.replace(*window_, spec_.window(at));
    const Expr term = t.where(d_.guard, cast(type_, t(d_.body)));
    return reduce("acc", d_.combine, make_zero(type_), each_time(term))(args());
  }

  // What the terms of a sum are added to.
  Expr start() const {
    return start_ ? cast(type_, Translator(g_, scope_.arguments, indices_)(*start_))
                  : neutral(d_.combine, type_);
  }

  // What a reduction gives where its conditions hide all.
  std::vector<Expr> of_nothing() const {
    if (d_.combine == Combine::argmax) return {Expr(0)};
    const Expr start = neutral(d_.combine, type_);
    if (d_.combine == Combine::logsumexp) return {start, make_zero(type_)};
    return {from_accumulated(d_.combine, type_, to_accumulate(d_.combine, start))};
  }

  // Indices that have one value are numbers.
  std::map<ir::IndexId, ir::Expr> single_values() const {
    std::map<ir::IndexId, ir::Expr> result;
    for (const std::vector<ir::IndexId>* all : {&d_.free, &d_.reduced})
      for (ir::IndexId i : *all)
        if (g_.known(g_[i].extent) == 1) result.emplace(i, ir::Expr(0));
    return result;
  }

  // Whether it bounds a free index by a number, as j < 1 does. As a condition of a sum Halide asks
  // for that part of the sum, whatever part a vector needs; it chooses the value instead.
  bool holds_to_a_number(const ir::Expr& c) const {
    const std::set<ir::IndexId> used = ir::indices(c);
    if (used.size() != 1 || !ir::tensors(c).empty()) return false;
    if (std::find(d_.free.begin(), d_.free.end(), *used.begin()) == d_.free.end()) return false;
    return !ir::any_part(
        c, [&](const ir::Expr& part) { return part.is(ir::Kind::size) && !g_.known(part->size); });
  }

  // Whether an equality of the result's own indices, as i == n, leaves a diagonal of it. Of solved
  // conditions on data beside it Halide makes two vectors under one name.
  bool on_a_diagonal(const ir::Conditions& conditions) const {
    return std::ranges::any_of(conditions, [&](const ir::Expr& c) {
      return c.is(ir::Kind::is_zero) && ir::tensors(c).empty() &&
             std::ranges::none_of(d_.reduced, [&](ir::IndexId r) { return ir::uses(c, r); });
    });
  }

  // Takes those out.
  static ir::Conditions data_conditions(ir::Conditions* conditions) {
    ir::Conditions result;
    for (const ir::Expr& c : ir::Conditions(*conditions))
      if (!ir::tensors(c).empty()) result.insert(conditions->extract(c));
    return result;
  }

  Translator at_points() const { return at(indices_); }
  Translator at(const Translator::Indices& indices) const {
    Translator t(g_, scope_.arguments, indices);
    std::vector<ir::IndexId> bounded = d_.reduced;
    for (ir::IndexId i : d_.free)
      if (is_bounded_alone(d_, i)) bounded.push_back(i);
    t.bound_by(d_.guard, bounded);
    return t;
  }

  std::vector<Expr> args() const { return {spec_.vars.begin(), spec_.vars.end()}; }

  // The value in terms of a reduced index even where it is the same at all of them: Halide repeats
  // only what mentions one.
  Expr each_time(const Expr& value) const { return select(domain_[0] >= 0, value, value); }

  Func reduce(const char* name, Combine c, const Expr& start, const Expr& value) {
    Func acc(name);
    acc(spec_.vars) = start;
    acc(spec_.vars) = combined(c, acc(spec_.vars), value);
    spec_.reductions.push_back(acc);
    return acc;
  }

  std::vector<Expr> log_sum_exp(const Expr& value) {
    Func largest = reduce("largest", Combine::logsumexp, neutral(Combine::logsumexp, type_), value);
    Expr top = largest(args());
    Func rest = reduce("rest", Combine::sum, make_zero(type_), vector_exp(value - top));
    Expr sum = rest(args());
    Expr one = make_one(type_);
    Expr logarithm = select(sum > 0, log(select(sum > 0, sum, one)), make_zero(type_));
    return {top, or_nan(sum, logarithm)};
  }

  Expr arg_max(const Expr& value) {
    Func best("best");
    best(spec_.vars) = Tuple(make_zero(value.type()), Expr(-1));
    Expr better = best(spec_.vars)[1] < 0 || value > best(spec_.vars)[0];
    Expr index = indices_.at(d_.reduced[0]);
    best(spec_.vars) = Tuple(select(better, value, best(spec_.vars)[0]),
                             select(better, index, best(spec_.vars)[1]));
    spec_.reductions.push_back(best);
    return max(best(args())[1], 0);
  }

  // Beyond the end of a vector data is read at the last point. In classes also beyond that of a
  // block of threads, which spans two indices.
  Translator for_domain() {
    Translator::Indices inside = indices_;
    for (ir::IndexId i : d_.free) {
      if (i != d_.free.back() && scatter_ != Scatter::in_classes) continue;
      Expr& index = inside.at(i);
      index = min(index, max(scope_.extent(i) - 1, 0));
    }
    return at(inside);
  }

  Expr domain_condition(const ir::Conditions& c) {
    Expr all = const_true();
    Translator plain = at_points(), inside = for_domain();
    for (const ir::Expr& e : c) all = all && (ir::tensors(e).empty() ? plain(e) : inside(e));
    return all;
  }

  Expr domain_condition(const solve::Scatter& scatter) {
    Expr position = for_domain()(scatter.position);
    Expr limit =
        Translator(g_, scope_.arguments, {}).extent(g_[d_.target].extents[scatter.dimension]);
    return position >= 0 && position < limit;
  }

  Expr scattered(const std::vector<solve::Scatter>& scatters) {
    const bool in_classes = scatter_ == Scatter::in_classes;
    Translator t = in_classes ? for_domain() : at_points();
    std::vector<Expr> at = args();
    Expr first, in_range = const_true();
    spec_.scattered = static_cast<int>(d_.free.size());
    for (const solve::Scatter& s : scatters) {
      const Expr position = place_of(scope_, s.position, t(s.position));
      const Expr limit = t.extent(g_[d_.target].extents[s.dimension]);
      const int dimension = static_cast<int>(d_.free.size() - 1 - s.dimension);
      at[dimension] = clamp(position, 0, max(limit - 1, 0));
      spec_.scattered = std::min(spec_.scattered, dimension);
      in_range = in_range && domain_condition(s);
      if (!first.defined()) first = position;
    }
    ir::Conditions others, alone;
    for (const ir::Expr& c : d_.guard)
      if (std::ranges::none_of(scatters, [&](const auto& s) { return s.condition == c; }))
        (bounds_alone(d_, c) ? alone : others).insert(c);
    domain_.where(domain_condition(others) && in_range);
    if (!alone.empty()) domain_.where(unsolved(domain_condition(alone)));
    if (in_classes) {
      const int last = static_cast<int>(d_.reduced.size());
      domain_.where(unsolved(first % kScatterClasses == domain_[last]));
      spec_.classes = RVar(domain_[last]);
    }
    spec_.in_place = d_.combine == Combine::sum && type_ == storage_type(g_[d_.target].storage);
    Func sums(spec_.in_place ? "out" : "sums");
    sums(spec_.vars) = to_accumulate(d_.combine, start());
    sums(at) = combined(d_.combine, sums(at), to_accumulate(d_.combine, cast(type_, t(d_.body))));
    spec_.scatter = sums;
    for (size_t k = 0; k < spec_.vars.size(); ++k)
      if (std::ranges::none_of(
              scatters, [&](const auto& s) { return s.dimension == d_.free.size() - 1 - k; }))
        spec_.placed_vars.push_back(spec_.vars[k]);
    return from_accumulated(d_.combine, type_, sums(args()));
  }

  const Scope& scope_;
  const ir::Graph& g_;
  const ir::Definition& d_;
  const std::optional<ir::Expr>& start_;
  const Scatter scatter_;
  std::optional<ir::Expr> window_;  // which is copied
  Type type_;
  RDom domain_;
  std::map<ir::IndexId, Expr> indices_;
  LoopsSpec spec_;
};

// The values of a definition with positions: one update, over variables for the indices that are
// subscripts alone, and over a domain for the others. What lies elsewhere is not touched.
class Placed {
 public:
  Placed(const Scope& scope, const ir::Definition& d) : scope_(scope), g_(scope.g), d_(d) {}

  LoopsSpec spec() {
    LoopsSpec spec;
    spec.is_placed = true;
    spec.stored = storage_type(g_[d_.target].storage);
    spec.computed = computed_type(g_[d_.target].storage);
    const size_t rank = d_.position.size();
    Translator::Indices indices;
    std::vector<Expr> at(rank);
    std::vector<bool> is_plain(rank, false);
    std::vector<Var> all;
    for (size_t k = 0; k < rank; ++k) {
      all.emplace_back("i" + std::to_string(k));
      const ir::Expr& p = d_.position[k];
      is_plain[k] = p.is(ir::Kind::index);
      if (is_plain[k]) indices[p->index] = at[k] = all[k];
    }
    std::vector<Halide::Range> ranges;
    std::vector<ir::IndexId> others;
    for (ir::IndexId i : d_.free)
      if (!indices.count(i)) others.push_back(i);
    for (ir::IndexId i : others) ranges.push_back({0, scope_.extent(i)});
    // One visit where all indices are subscripts, so that there is a domain for the conditions.
    if (ranges.empty()) ranges.push_back({0, 1});
    RDom domain(ranges, "r");
    for (size_t n = 0; n < others.size(); ++n) indices[others[n]] = domain[static_cast<int>(n)];
    Translator t(g_, scope_.arguments, indices);
    t.bound_by(d_.guard, others);
    for (size_t k = 0; k < rank; ++k) {
      if (is_plain[k]) continue;
      const Expr last = max(t.extent(g_[d_.target].extents[k]) - 1, 0);
      at[k] = clamp(place_of(scope_, d_.position[k], t(d_.position[k])), 0, last);
    }
    ir::Conditions solved, alone;
    for (const ir::Expr& c : d_.guard) (bounds_alone(d_, c) ? alone : solved).insert(c);
    if (!solved.empty()) domain.where(t.condition(solved));
    if (!alone.empty()) domain.where(unsolved(t.condition(alone)));
    const Expr value = cast(spec.stored, cast(spec.computed, t(d_.body)));
    std::reverse(at.begin(), at.end());
    spec.vars.assign(all.rbegin(), all.rend());
    for (size_t k = rank; k-- > 0;)
      if (is_plain[k]) spec.placed_vars.push_back(all[k]);
    spec.out = Func("out");
    spec.out(spec.vars) = Halide::undef(spec.stored);
    // The domain must occur on the left, or in the value.
    spec.out(at) = select(domain[0] >= 0, value, value);
    spec.is_innermost_plain = rank > 0 && is_plain[rank - 1] && d_.guard.empty();
    return spec;
  }

 private:
  const Scope& scope_;
  const ir::Graph& g_;
  const ir::Definition& d_;
};

bool has_classes(const Scope& scope, const ir::Definition& d) {
  if (d.reduced.empty() || d.combine != Combine::sum) return false;
  const ir::Storage storage = scope.g[d.target].storage;
  const auto found = solve::find_scatters(d);
  return !found.empty() && found.size() < d.free.size() &&
         !ir::tensors(found[0].position).empty() && computed_type(storage) == storage_type(storage);
}

}  // namespace

LoopsSpec loops_spec(const Scope& scope, const plan::LoopsForm& form, Scatter scatter,
                     Windows windows) {
  const ir::Definition& d = form.definition;
  if (!d.position.empty()) return Placed(scope, d).spec();
  if (form.along.valid()) return running_spec(scope, form);
  if (scatter == Scatter::in_classes && !has_classes(scope, d)) scatter = Scatter::by_owner;
  return Loops(scope, form, scatter, windows).spec();
}

}  // namespace attn::lower
