// A planned contraction as a ContractionSpec: factors, epilogue and output in Halide's terms.
#include "compiler/lower/contraction.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/lower/contraction_schedule.h"
#include "compiler/lower/linear_index.h"
#include "compiler/plan/estimate.h"

namespace attn::lower {
namespace {

using Halide::cast;
using HExpr = Halide::Expr;

class Lowering {
 public:
  Lowering(const plan::Function& f, const plan::Kernel& kernel, const Arguments& arguments)
      : g_(f.graph), c_(std::get<plan::ContractionForm>(kernel.form)), arguments_(arguments) {}

  ContractionSpec spec() {
    const std::vector<ir::IndexId>& free = c_.free;
    ContractionSpec spec{.name = "out"};
    ir::Storage storage = g_[c_.target].storage;
    type_ = arithmetic_type(ir::arithmetic_type(storage));
    spec.accumulate = type_;
    for (const plan::Product& t : c_.products) {
      spec.terms.push_back({factor(t.left, t.left_guard, c_.rows, t.reduced, t.hides_left()),
                            factor(t.right, t.right_guard, c_.columns, t.reduced, t.hides_right()),
                            group_extent(t.reduced)});
    }
    for (ir::IndexId i : free) spec.output.push_back({group_of(i), extent(i)});
    spec.epilogue = [this, free, storage](const std::vector<HExpr>& place, HExpr sum) {
      Translator::Indices indices;
      for (size_t k = 0; k < free.size(); ++k) indices[free[k]] = place[k];
      Translator t(g_, arguments_, indices, true);
      t.replace(c_.sum, sum);
      std::vector<HExpr> values = {
          cast(storage_type(storage), t.where(c_.guard, cast(type_, t(c_.epilogue))))};
      if (c_.kept) values.push_back(cast(storage_type(g_[c_.sum].storage), t(*c_.kept)));
      return values;
    };
    // A batch of such matrices is small work, and several terms are costly to compile twice.
    spec.rarely_thin = !c_.batch.empty() || c_.products.size() > 1;
    spec.typical_batch = typical(c_.batch);
    spec.typical_rows = typical(c_.rows);
    spec.typical_columns = typical(c_.columns);
    spec.typical_reduced = typical(c_.products[0].reduced);
    return spec;
  }

 private:
  HExpr extent(ir::IndexId i) { return Translator(g_, arguments_, {}).extent(g_[i].extent); }

  HExpr group_extent(const std::vector<ir::IndexId>& group) {
    HExpr product = 1;
    for (ir::IndexId i : group) product = product * extent(i);
    return product;
  }

  OutputDim::Group group_of(ir::IndexId i) const {
    auto in = [&](const std::vector<ir::IndexId>& group) {
      return std::find(group.begin(), group.end(), i) != group.end();
    };
    return in(c_.batch)  ? OutputDim::Group::kBatch
           : in(c_.rows) ? OutputDim::Group::kRow
                         : OutputDim::Group::kColumn;
  }

  // Where every size is known or bounded; else "unknown".
  int typical(const std::vector<ir::IndexId>& group) const {
    double product = 1;
    for (ir::IndexId i : group) {
      ir::Poly p = g_.expand(g_[i].extent);
      for (const auto& [monomial, c] : p.terms())
        for (auto [id, power] : monomial)
          if (!g_[id].upper) return 0;
      product *= plan::estimate(g_, p);
    }
    return static_cast<int>(std::min(product, 1e9));
  }

  void decode(const std::vector<ir::IndexId>& group, const HExpr& linear,
              Translator::Indices& indices) {
    std::vector<HExpr> extents;
    for (ir::IndexId i : group) extents.push_back(extent(i));
    std::vector<HExpr> at = decode_index(linear, extents);
    for (size_t k = 0; k < group.size(); ++k) indices[group[k]] = at[k];
  }

  Factor factor(const ir::Expr& value, const ir::Conditions& guard,
                const std::vector<ir::IndexId>& outer, const std::vector<ir::IndexId>& reduced,
                bool fallback) {
    Factor f;
    const auto translator = [this, outer, reduced](HExpr batch, HExpr row, HExpr k) {
      Translator::Indices indices;
      decode(c_.batch, batch, indices);
      decode(outer, row, indices);
      decode(reduced, k, indices);
      return Translator(g_, arguments_, indices, true);
    };
    f.at = [this, translator, value, guard](HExpr batch, HExpr row, HExpr k) {
      Translator t = translator(batch, row, k);
      return t.where(guard, cast(type_, t(value)));
    };
    if (!guard.empty())
      f.visible = [translator, guard](HExpr batch, HExpr row, HExpr k) {
        return translator(batch, row, k).condition(guard);
      };
    f.fallback = fallback;
    f.contiguous = contiguous(value, outer, reduced);
    return f;
  }

  // The group whose last index is the last subscript of the largest tensor that is read.
  static Factor::Along contiguous(const ir::Expr& value, const std::vector<ir::IndexId>& outer,
                                  const std::vector<ir::IndexId>& reduced) {
    Factor::Along along = Factor::Along::kNeither;
    size_t rank = 0;
    ir::visit(value, [&](const ir::Expr& e) {
      if (!e.is(ir::Kind::read) || e.args().size() <= rank) return true;
      const ir::Expr& last = e.args().back();
      if (!reduced.empty() && ir::uses(last, reduced.back())) {
        along = Factor::Along::kReduced;
        rank = e.args().size();
      } else if (!outer.empty() && ir::uses(last, outer.back())) {
        along = Factor::Along::kOuter;
        rank = e.args().size();
      }
      return true;
    });
    return along;
  }

  const ir::Graph& g_;
  const plan::ContractionForm& c_;
  const Arguments& arguments_;
  Halide::Type type_;
};

}  // namespace

Halide::Func lower_contraction(const plan::Function& f, const plan::Kernel& kernel,
                               const Arguments& arguments, const Target& target) {
  Lowering lowering(f, kernel, arguments);
  return schedule_contraction(lowering.spec(), target);
}

}  // namespace attn::lower
