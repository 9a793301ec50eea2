#include "compiler/lower/forms/loops.h"

#include <algorithm>

#include "compiler/lower/terms/combine.h"
#include "compiler/lower/terms/vector_math.h"
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
  Loops(const ir::Graph& g, const ir::Definition& d, const Arguments& arguments)
      : g_(g), d_(d), arguments_(arguments) {
    type_ = arithmetic_type(ir::arithmetic_type(g[d.target].storage));
    for (size_t k = d.free.size(); k-- > 0;) {
      spec_.vars.emplace_back("i" + std::to_string(k));
      indices_[d.free[k]] = spec_.vars.back();
    }
    if (d.reduced.empty()) return;
    std::vector<Halide::Range> ranges;
    // The last reduced index runs fastest.
    for (size_t k = d.reduced.size(); k-- > 0;) ranges.push_back({0, extent(d.reduced[k])});
    domain_ = RDom(ranges, "r");
    for (size_t k = d.reduced.size(); k-- > 0;)
      indices_[d.reduced[k]] = domain_[static_cast<int>(d.reduced.size() - 1 - k)];
  }

  LoopsSpec spec() {
    const std::vector<HExpr> planes = values();
    const Halide::Type stored = storage_type(g_[d_.target].storage);
    std::vector<Var> vars = spec_.vars;
    spec_.has_planes = planes.size() == 2;
    spec_.out = Func("out");
    if (spec_.has_planes) {
      vars.push_back(spec_.plane);
      spec_.out(vars) = select(spec_.plane == 0, cast(stored, planes[0]), cast(stored, planes[1]));
    } else {
      spec_.out(vars) = cast(stored, planes[0]);
    }
    spec_.stored = stored;
    spec_.computed = type_;
    if (!d_.free.empty()) {
      spec_.row_points = extent(d_.free.back());
      spec_.same_condition_in_lanes =
          std::none_of(d_.guard.begin(), d_.guard.end(), [&](const ir::Expr& c) {
            return !ir::tensors(c).empty() && ir::uses(c, d_.free.back());
          });
    }
    for (ir::IndexId r : d_.reduced) spec_.row_points = spec_.row_points * max(extent(r), 1);
    return spec_;
  }

 private:
  // The values of the definition, before storage: one, or two planes of a log-sum-exp.
  std::vector<HExpr> values() {
    Translator t = at_points();
    if (d_.combine == Combine::set) return {t.where(d_.guard, cast(type_, t(d_.body)))};
    if (auto scatter = solve::find_scatter(d_)) return {scattered(*scatter)};
    if (!d_.guard.empty()) domain_.where(domain_condition(d_.guard));
    if (d_.combine == Combine::logsumexp) return log_sum_exp(each_time(cast(type_, t(d_.body))));
    if (d_.combine == Combine::argmax) {
      ir::Type body_type = d_.body.type();
      return {arg_max(cast(arithmetic_type(body_type), t(d_.body)))};
    }
    Func acc =
        reduce("acc", d_.combine, neutral(d_.combine, type_), each_time(cast(type_, t(d_.body))));
    return {acc(args())};
  }

  HExpr extent(ir::IndexId i) const { return Translator(g_, arguments_, {}).extent(g_[i].extent); }

  Translator at_points() const {
    Translator t(g_, arguments_, indices_);
    t.bound_by(d_.guard, d_.reduced);
    return t;
  }

  std::vector<HExpr> args() const { return {spec_.vars.begin(), spec_.vars.end()}; }

  // The value in terms of a reduced index even where it is the same at all of them: Halide repeats
  // only what mentions one.
  HExpr each_time(const HExpr& value) const { return select(domain_[0] >= 0, value, value); }

  Func reduce(const char* name, Combine c, const HExpr& start, const HExpr& value) {
    Func acc(name);
    acc(spec_.vars) = start;
    acc(spec_.vars) = combined(c, acc(spec_.vars), value);
    spec_.reductions.push_back(acc);
    return acc;
  }

  std::vector<HExpr> log_sum_exp(const HExpr& value) {
    Func largest = reduce("largest", Combine::max, neutral(Combine::max, type_), value);
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
    best(spec_.vars) = Halide::Tuple(Halide::Internal::make_zero(value.type()), HExpr(-1));
    HExpr better = best(spec_.vars)[1] < 0 || value > best(spec_.vars)[0];
    HExpr index = indices_.at(d_.reduced[0]);
    best(spec_.vars) = Halide::Tuple(select(better, value, best(spec_.vars)[0]),
                                     select(better, index, best(spec_.vars)[1]));
    spec_.reductions.push_back(best);
    return max(best(args())[1], 0);
  }

  // A condition of the reduction's domain is tested before the end of a vector is, so data that it
  // reads is read at the last point instead of behind it.
  Translator for_domain() {
    Translator::Indices inside = indices_;
    if (!d_.free.empty()) {
      HExpr& last = inside.at(d_.free.back());
      last = min(last, max(extent(d_.free.back()) - 1, 0));
    }
    return Translator(g_, arguments_, inside);
  }

  HExpr domain_condition(const ir::Conditions& c) {
    HExpr all = Halide::Internal::const_true();
    Translator plain(g_, arguments_, indices_), inside = for_domain();
    for (const ir::Expr& e : c) all = all && (ir::tensors(e).empty() ? plain(e) : inside(e));
    return all;
  }

  HExpr domain_condition(const solve::Scatter& scatter) {
    HExpr place = for_domain()(scatter.position);
    HExpr limit = Translator(g_, arguments_, {}).extent(g_[d_.target].extents[scatter.dimension]);
    return place >= 0 && place < limit;
  }

  HExpr scattered(const solve::Scatter& scatter) {
    Translator t = at_points();
    HExpr place = t(scatter.position);
    HExpr limit = t.extent(g_[d_.target].extents[scatter.dimension]);
    ir::Conditions others = d_.guard;
    others.erase(scatter.condition);
    domain_.where(domain_condition(others) && domain_condition(scatter));
    Func sums("sums");
    sums(spec_.vars) = neutral(d_.combine, type_);
    std::vector<HExpr> at = args();
    spec_.scattered = static_cast<int>(d_.free.size() - 1 - scatter.dimension);
    at[spec_.scattered] = clamp(place, 0, max(limit - 1, 0));
    sums(at) = combined(d_.combine, sums(at), cast(type_, t(d_.body)));
    spec_.scatter = sums;
    return sums(args());
  }

  const ir::Graph& g_;
  const ir::Definition& d_;
  const Arguments& arguments_;
  Halide::Type type_;
  RDom domain_;
  std::map<ir::IndexId, HExpr> indices_;
  LoopsSpec spec_;
};

}  // namespace

LoopsSpec loops_spec(const plan::Function& f, const plan::Kernel& kernel,
                     const Arguments& arguments) {
  return Loops(f.graph, std::get<plan::LoopsForm>(kernel.form).definition, arguments).spec();
}

}  // namespace attn::lower
