// How row kernels write their outputs.
#include "compiler/lower/cpu/row_scheduler.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

using Kind = RowStage::Kind;

// An output over rows: its update sets the elements of one row.
void RowScheduler::store_rows(Func out, int stage, const At& at, const Expr& row) {
  const RowStage& s = spec_.stages[stage];
  const std::vector<Expr> rows = decode_index(in_range(row, spec_.rows), spec_.row_extents);
  std::vector<Expr> coordinates;
  std::vector<Var> vars;
  for (size_t k = s.dimensions.size(); k-- > 0;) {
    const bool column = s.dimensions[k] >= static_cast<int>(rows.size());
    // A coordinate is no index of the loops, as it may be of a known number of rows: see `likely`.
    Expr at_dimension = column ? Expr(column_) : rows[s.dimensions[k]];
    if (!column && constant(spec_.rows) > 0) at_dimension = likely(at_dimension);
    coordinates.push_back(at_dimension);
    vars.push_back(column ? column_ : Var("d" + std::to_string(k)));
  }
  Expr stored;
  if (s.has_planes()) {
    stored = select(plane_ == 0, stored_.at(stage)(at.u, at.group, at.block),
                    low_.at(stage)(at.u, at.group, at.block));
    coordinates.push_back(plane_);
    vars.push_back(plane_);
  } else {
    stored = value(stage, at);
  }
  out(vars) = undef(s.stored);
  out(coordinates) = cast(s.stored, stored);
  if (s.has_planes()) {
    out.bound(plane_, 0, 2);
    out.update().unroll(plane_);
  }
}

// An output over columns: `total` has them in linear order.
void RowScheduler::store_columns(Func out, const RowStage& stage, const Func& total) {
  const int lanes = lanes_of(target_, total.types()[0]);
  std::vector<Var> vars;
  Expr linear = 0;
  std::vector<Expr> at(spec_.column_extents.size());
  for (size_t k = stage.dimensions.size(); k-- > 0;) {
    Var v = vars.empty() ? column_ : Var("d" + std::to_string(k));
    vars.push_back(v);
    at[stage.dimensions[k] - spec_.row_extents.size()] = v;
  }
  for (size_t k = 0; k < at.size(); ++k) linear = linear * spec_.column_extents[k] + at[k];
  if (at.size() > 1) linear = in_range(linear, spec_.columns);
  out(vars) = cast(stage.stored, total(linear));
  Func sums = total;
  Var outer("outer");
  if (vars.empty()) {
    sums.compute_root();
    return;
  }
  out.split(column_, outer, column_, 4 * lanes, TailStrategy::GuardWithIf)
      .vectorize(column_, lanes, TailStrategy::GuardWithIf);
  sums.compute_at(out, outer);
}

// The sums of each block, which `out` gets added up; gives what the loops over rows fill.
Func RowScheduler::add_column_sum(int stage, Func out, const At& at) {
  const Type& type = types_[stage];
  // Few rows are added up in one block, and the blocks in more digits: what rounding costs does not
  // grow with the rows.
  const Type kept = type == Halide::Float(32) ? Halide::Float(64) : type;
  const int lanes = lanes_of(target_, type);
  Func sums(out.name() + "_blocks"), total(out.name() + "_total");
  // Written so that Halide takes the block for an index like the other outputs' rows.
  Expr own_block = min(at.block, blocks_ - 1);
  sums(column_, block_) = make_zero(type);
  sums(column_, own_block) += body(stage, at);
  vectorize_columns(sums.compute_root(), type);
  RDom b(0, blocks_, "blocks");
  total(column_) = make_zero(kept);
  total(column_) += cast(kept, sums(column_, b));
  store_columns(out, spec_.stages[stage], total);
  vectorize_columns(total, type);
  total.update().reorder(column_, b).vectorize(column_, lanes, TailStrategy::GuardWithIf);
  return sums;
}

void RowScheduler::add_output(int stage) {
  const RowStage& s = spec_.stages[stage];
  // Halide says that loops which are known to run once may run in any order, but not where the
  // output is a scalar.
  auto unknown = [this](const Expr& e) { return constant(spec_.rows) == 1 ? likely(e) : e; };
  // Equal names of the domains let compute_with recognise the same loops.
  RDom r({{0, height_}, {0, unknown(groups_)}, {0, unknown(blocks_)}}, "rows");
  At at{r[0], r[1], r[2], column_};
  Expr row = row_of(at);
  r.where(row < spec_.rows);
  Func out(name_of(stage) + "_out");
  if (s.kind == Kind::kColumnSum) {
    fused_.push_back(add_column_sum(stage, out, at));
  } else {
    if (s.kind != Kind::kMap) at.column = Expr();
    store_rows(out, stage, at, row);
    fused_.push_back(out);
  }
  Stage update = fused_.back().update();
  if (s.kind == Kind::kMap || s.kind == Kind::kColumnSum) {
    update.reorder(column_, r[0], r[1], r[2])
        .vectorize(column_, lanes_of(target_, types_[stage]), TailStrategy::GuardWithIf);
  } else if (s.has_planes()) {
    update.reorder(plane_, r[0], r[1], r[2]);
  }
  update.allow_race_conditions()
      .rename(r[1], fused_group_)
      .rename(r[2], fused_block_)
      .parallel(fused_block_)
      .never_partition({fused_group_, fused_block_});
  results_.push_back(out);
}

}  // namespace attn::lower
