#include "compiler/lower/loops.h"

#include <algorithm>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/lower/vector_math.h"
#include "compiler/solve/equalities.h"

namespace attn::lower {
namespace {

using Halide::cast;
using Halide::Func;
using Halide::RDom;
using Halide::Var;
using ir::Combine;
using HExpr = Halide::Expr;

class Loops {
 public:
  Loops(const ir::Graph& g, const ir::Definition& d, const Arguments& arguments,
        const Target& target)
      : g_(g), d_(d), arguments_(arguments), target_(target) {
    type_ = arithmetic_type(ir::arithmetic_type(g[d.target].storage));
    for (size_t k = d.free.size(); k-- > 0;) {
      vars_.emplace_back("i" + std::to_string(k));
      indices_[d.free[k]] = vars_.back();
    }
    if (d.reduced.empty()) return;
    std::vector<Halide::Range> ranges;
    Translator plain(g, arguments, {});
    // The last reduced index runs fastest.
    for (size_t k = d.reduced.size(); k-- > 0;)
      ranges.push_back({0, plain.extent(g[d.reduced[k]].extent)});
    domain_ = RDom(ranges, "r");
    for (size_t k = d.reduced.size(); k-- > 0;)
      indices_[d.reduced[k]] = domain_[static_cast<int>(d.reduced.size() - 1 - k)];
  }

  // The values of the definition, before storage: one, or two planes of a log-sum-exp.
  std::vector<HExpr> values() {
    Translator t = at_points();
    if (d_.combine == Combine::set) return {t.where(d_.guard, cast(type_, t(d_.body)))};
    if (auto landing = solve::find_landing(d_)) return {scattered(*landing)};
    if (!d_.guard.empty()) domain_.where(domain_condition(d_.guard));
    if (d_.combine == Combine::logsumexp) return log_sum_exp(each_time(cast(type_, t(d_.body))));
    if (d_.combine == Combine::argmax) {
      ir::Type body_type = d_.body.type();
      return {arg_max(cast(arithmetic_type(body_type), t(d_.body)))};
    }
    Func acc = reduce("acc", d_.combine, neutral(), each_time(cast(type_, t(d_.body))));
    return {acc(args())};
  }

  // Whether data hides all lanes of a vector or none. Otherwise Halide would make scalars of them
  // anyway, and fails to when two conditions read the same element.
  bool same_condition_in_lanes() const {
    return std::none_of(d_.guard.begin(), d_.guard.end(), [&](const ir::Expr& c) {
      return !ir::tensors(c).empty() && ir::uses(c, d_.free.back());
    });
  }

  std::vector<Var> vars_;
  std::map<ir::IndexId, HExpr> indices_;
  std::vector<Func> stages_;  // reductions, computed where the output is
  Func scatter_;              // computed whole, before the output

 private:
  Translator at_points() const {
    Translator t(g_, arguments_, indices_);
    t.bound_by(d_.guard, d_.reduced);
    return t;
  }

  std::vector<HExpr> args() const { return {vars_.begin(), vars_.end()}; }

  // The value in terms of a reduced index even where it is the same at all of them: Halide repeats
  // only what mentions one.
  HExpr each_time(const HExpr& value) const { return select(domain_[0] >= 0, value, value); }

  HExpr neutral() const {
    auto of = [&](double real, int64_t whole) {
      return type_.is_float() ? cast(type_, HExpr(static_cast<float>(real)))
                              : Halide::Internal::make_const(type_, whole);
    };
    switch (d_.combine) {
      case Combine::max:
        return of(kLowest, INT32_MIN);
      case Combine::min:
        return of(kHighest, INT32_MAX);
      case Combine::prod:
        return of(1, 1);
      default:
        return of(0, 0);
    }
  }

  static HExpr combined(Combine c, const HExpr& a, const HExpr& b) {
    switch (c) {
      case Combine::max:
        return max(a, b);
      case Combine::min:
        return min(a, b);
      case Combine::prod:
        return a * b;
      default:
        return a + b;
    }
  }

  Func reduce(const char* name, Combine c, const HExpr& start, const HExpr& value) {
    Func acc(name);
    acc(vars_) = start;
    acc(vars_) = combined(c, acc(vars_), value);
    stages_.push_back(acc);
    return acc;
  }

  std::vector<HExpr> log_sum_exp(const HExpr& value) {
    HExpr lowest = cast(type_, HExpr(kLowest));
    Func largest = reduce("largest", Combine::max, lowest, value);
    HExpr top = largest(args());
    Func rest =
        reduce("rest", Combine::sum, Halide::Internal::make_zero(type_), vector_exp(value - top));
    HExpr sum = rest(args());
    HExpr one = Halide::Internal::make_one(type_);
    HExpr logarithm =
        select(sum > 0, log(select(sum > 0, sum, one)), Halide::Internal::make_zero(type_));
    return {top, or_nan(sum, logarithm)};
  }

  HExpr arg_max(const HExpr& value) {
    Func best("best");
    best(vars_) = Halide::Tuple(Halide::Internal::make_zero(value.type()), HExpr(-1));
    HExpr better = best(vars_)[1] < 0 || value > best(vars_)[0];
    HExpr index = indices_.at(d_.reduced[0]);
    best(vars_) =
        Halide::Tuple(select(better, value, best(vars_)[0]), select(better, index, best(vars_)[1]));
    stages_.push_back(best);
    return max(best(args())[1], 0);
  }

  // A condition of the reduction's domain is tested before the end of a vector is, so data that it
  // reads is read at the last point instead of behind it.
  Translator for_domain() {
    Translator::Indices inside = indices_;
    if (!d_.free.empty()) {
      HExpr& last = inside.at(d_.free.back());
      last =
          min(last, max(Translator(g_, arguments_, {}).extent(g_[d_.free.back()].extent) - 1, 0));
    }
    return Translator(g_, arguments_, inside);
  }

  HExpr domain_condition(const ir::Conditions& c) {
    HExpr all = Halide::Internal::const_true();
    Translator plain(g_, arguments_, indices_), inside = for_domain();
    for (const ir::Expr& e : c) all = all && (ir::tensors(e).empty() ? plain(e) : inside(e));
    return all;
  }

  HExpr domain_condition(const solve::Landing& landing) {
    HExpr place = for_domain()(landing.place);
    HExpr limit = Translator(g_, arguments_, {}).extent(g_[d_.target].extents[landing.position]);
    return place >= 0 && place < limit;
  }

  HExpr scattered(const solve::Landing& landing) {
    Translator t = at_points();
    HExpr place = t(landing.place);
    HExpr limit = t.extent(g_[d_.target].extents[landing.position]);
    ir::Conditions others = d_.guard;
    others.erase(landing.condition);
    domain_.where(domain_condition(others) && domain_condition(landing));
    Func sums("sums");
    sums(vars_) = neutral();
    std::vector<HExpr> at = args();
    size_t dimension = d_.free.size() - 1 - landing.position;
    at[dimension] = clamp(place, 0, max(limit - 1, 0));
    sums(at) = combined(d_.combine, sums(at), cast(type_, t(d_.body)));
    sums.compute_root();
    if (dimension != 0 && same_condition_in_lanes()) {
      int lanes = lanes_of(target_, type_);
      sums.update().allow_race_conditions().vectorize(vars_[0], lanes,
                                                      Halide::TailStrategy::GuardWithIf);
    } else {
      sums.update().unscheduled();
    }
    if (!vars_.empty()) {
      sums.vectorize(vars_[0], lanes_of(target_, type_), Halide::TailStrategy::GuardWithIf);
    }
    scatter_ = sums;
    return sums(args());
  }

  const ir::Graph& g_;
  const ir::Definition& d_;
  const Arguments& arguments_;
  const Target& target_;
  Halide::Type type_;
  RDom domain_;
};

HExpr stored(const HExpr& value, ir::Storage storage) { return cast(storage_type(storage), value); }

}  // namespace

Func lower_loops(const ir::Graph& g, const ir::Definition& d, const Arguments& arguments,
                 const Target& target) {
  Loops loops(g, d, arguments, target);
  std::vector<HExpr> values = loops.values();
  const ir::Tensor& result = g[d.target];
  std::vector<Var> vars = loops.vars_;
  Func out("out");
  if (values.size() == 2) {
    Var plane("plane");
    vars.push_back(plane);
    out(vars) =
        select(plane == 0, stored(values[0], result.storage), stored(values[1], result.storage));
    out.bound(plane, 0, 2).unroll(plane);
    if (!loops.vars_.empty()) {
      std::vector<Halide::VarOrRVar> order{plane};
      for (const Var& v : loops.vars_) order.push_back(v);
      out.reorder_storage(vars).reorder(order);
    }
  } else {
    out(vars) = stored(values[0], result.storage);
  }

  // Rows of the innermost dimension are dealt out to threads in blocks of enough points.
  Translator plain(g, arguments, {});
  int lanes = lanes_of(target, storage_type(result.storage));
  lanes = std::min(lanes, lanes_of(target, Halide::Float(32)));
  Halide::LoopLevel level = Halide::LoopLevel::root();
  if (!loops.vars_.empty()) {
    Var inner = loops.vars_[0];
    Var block("block");
    HExpr row = plain.extent(g[d.free.back()].extent);
    for (ir::IndexId r : d.reduced) row = row * max(plain.extent(g[r].extent), 1);
    if (loops.vars_.size() > 1) {
      Var fused = loops.vars_[1];
      for (size_t k = 2; k < loops.vars_.size(); ++k) {
        Var next("f" + std::to_string(k));
        out.fuse(fused, loops.vars_[k], next);
        fused = next;
      }
      Var in_block("in_block");
      HExpr rows = max(target::costs(target.arch).task_points / max(row, 1), 1);
      out.split(fused, block, in_block, rows, Halide::TailStrategy::GuardWithIf).parallel(block);
    }
    Var outer("outer"), lane("lane");
    out.split(inner, outer, lane, lanes, Halide::TailStrategy::GuardWithIf).vectorize(lane);
    level = Halide::LoopLevel(out, outer);
    for (Func& stage : loops.stages_) {
      stage.compute_at(level).bound_storage(inner, lanes);
      stage.vectorize(inner, lanes, Halide::TailStrategy::GuardWithIf);
      if (loops.same_condition_in_lanes())
        stage.update().vectorize(inner, lanes, Halide::TailStrategy::GuardWithIf);
      else
        stage.update().unscheduled();
    }
  } else {
    for (Func& stage : loops.stages_) stage.compute_root();
  }
  return out;
}

}  // namespace attn::lower
