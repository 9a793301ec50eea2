#include "compiler/lower/cpu/tiles_scheduler.h"

#include "compiler/base/check.h"
#include "compiler/lower/cpu/stream_scheduler.h"
#include "compiler/lower/cpu/sums_scheduler.h"
#include "compiler/lower/forms/schedules.h"

namespace attn::lower {

namespace {

constexpr int kUnknownFeatures = 64;

}  // namespace

TilesScheduler::TilesScheduler(const TilesSpec& spec, const Target& target)
    : spec_(spec),
      target_(target),
      lanes_(lanes_of(target, Halide::Float(32))),
      rows_(max(spec.rows, 1)),
      columns_(max(spec.columns, 1)) {
  for (size_t k = 0; k < spec.batch_extents.size(); ++k) {
    batches_ = batches_ * spec.batch_extents[k];
    batch_vars_.emplace_back("b" + std::to_string(k));
  }
  batches_ = simplify(batches_);
}

int TilesScheduler::vectors_of(const Expr& features) const {
  const int known = features.defined() ? static_cast<int>(constant(features)) : 1;
  return ((known > 0 ? known : kUnknownFeatures) + lanes_ - 1) / lanes_;
}

Expr TilesScheduler::linear(const std::vector<Expr>& coordinates) const {
  Expr linear = 0;
  for (size_t k = 0; k < coordinates.size(); ++k)
    linear = linear * spec_.batch_extents[k] + coordinates[k];
  return linear;
}

std::vector<Var> TilesScheduler::vars_of(const Result& r, const Var& kept,
                                         const Var& feature) const {
  const int batches = static_cast<int>(batch_vars_.size());
  std::vector<Var> vars;
  for (size_t k = r.dimensions.size(); k-- > 0;) {
    const int at = r.dimensions[k];
    vars.push_back(at < batches ? batch_vars_[at] : at == batches ? kept : feature);
  }
  return vars;
}

void TilesScheduler::sum_dots(Func sum, const std::vector<Var>& vars, int tile,
                              const TilesSpec::Point& point, const Packed& packed) const {
  sum(vars) = 0.0f;
  for (const TilesSpec::Dot& dot : spec_.dots[tile]) {
    RDom r(0, dot.length, "rd" + std::to_string(sum.num_update_definitions()));
    sum(vars) +=
        dot.is_packed() ? packed(dot, r) : spec_.product(dot, point, in_range(r, dot.length));
  }
}

TilesScheduler::NonFinite TilesScheduler::find_non_finite(int pack, int size) const {
  const TilesSpec::Pack& p = spec_.packs[pack];
  NonFinite m{Func("out_non_finite_lanes"), Func("out_non_finite"),
              RDom({{0, blocks_of(p.length, lanes_)}, {0, size}}, "rf"), RDom(0, lanes_, "ml")};
  const Expr extent = p.of_rows ? rows_ : columns_;
  Expr index = u_ * size + m.elements[1];
  if (size > 1) {
    m.elements.where(index < (p.of_rows ? spec_.rows : spec_.columns));
    index = min(index, extent - 1);
  }
  const Expr value = spec_.factor(pack, batch_of(h_), in_range(index, extent),
                                  clamped(m.elements[0] * lanes_ + l_, p.length));
  m.lanes(l_, u_, h_) = 0;
  m.lanes(l_, u_, h_) = max(m.lanes(l_, u_, h_), cast<int32_t>(!has_finite_bits(value)));
  m.found(u_, h_) = 0;
  m.found(u_, h_) = max(m.found(u_, h_), m.lanes(m.over, u_, h_));
  return m;
}

void TilesScheduler::NonFinite::compute_at(const LoopLevel& level, int lanes_of_vector) {
  const Var l = lanes.args()[0], u = found.args()[0];
  found.compute_at(level).update().atomic().vectorize(over);
  lanes.compute_at(found, u).vectorize(l, lanes_of_vector).update().vectorize(l, lanes_of_vector);
}

Funcs cpu::schedule(const plan::TilesForm& form, const Scope& scope, const Target& target) {
  const TilesSpec spec(scope, form);
  ATTN_CHECK(!spec.results.empty(), "a kernel of tiles without results");
  return spec.find(TilesSpec::Kind::logsumexp) ? StreamScheduler(spec, target).schedule()
                                               : SumsScheduler(spec, target).schedule();
}

}  // namespace attn::lower
