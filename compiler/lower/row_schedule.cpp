// Rows go in groups, groups in blocks, blocks in parallel. Every output is one update over the same
// domain (row in group, group, block), and compute_with fuses all of them over the groups; what is
// not an output is computed for one group at a time and stays in the first-level cache. A column
// sum is kept per block, and the blocks' sums are added at the end. The block's size follows from
// the extents alone, which fixes the order of every sum.
#include "compiler/lower/row_schedule.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/base/check.h"
#include "compiler/lower/linear_index.h"
#include "compiler/lower/translate.h"
#include "compiler/lower/vector_math.h"

namespace attn::lower {

using Halide::Expr;
using Halide::Func;
using Halide::LoopLevel;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Type;
using Halide::Var;

namespace {

using Kind = RowStage::Kind;
using Combine = RowStage::Combine;

constexpr int kTaskElements = 1 << 14;  // that a block should have at least
constexpr int kMaxBlocks = 64;          // beyond which blocks grow, for the sake of column sums

Expr neutral(Combine combine, const Type& type) {
  if (combine == Combine::kSum) return Halide::Internal::make_zero(type);
  if (type.is_int()) return combine == Combine::kMax ? type.min() : type.max();
  const float highest = 3.4028235e38f;
  return Halide::cast(type, combine == Combine::kMin ? highest : -highest);
}

Expr combined(Combine combine, const Expr& a, const Expr& b) {
  switch (combine) {
    case Combine::kSum:
      return a + b;
    case Combine::kMin:
      return min(a, b);
    default:
      return max(a, b);
  }
}

class RowScheduler {
 public:
  RowScheduler(const RowSpec& spec, const TargetInfo& target);
  Halide::Pipeline schedule();

 private:
  // A place inside a group: row u of the group, or any row where the index is not relative.
  struct At {
    Expr u, group, block, column;
  };
  void count_readers();
  RowCell cell(const At& at);
  Expr value(int stage, const At& at);
  Expr body(int stage, const At& at) { return spec_.stages[stage].body(cell(at)); }
  Expr row_of(const At& at) const { return (at.block * groups_ + at.group) * height_ + at.u; }

  void add_map(int stage);
  void add_row_map(int stage);
  void add_reduction(int stage);
  Func reduce(const std::string& name, Combine combine, const std::function<Expr(const At&)>& term,
              const Type& type);
  void add_output(int stage);
  void store_rows(Func out, const RowStage& stage, const At& at, const Expr& row);
  void store_columns(Func out, const RowStage& stage, const Func& total);
  bool shaped() const { return !spec_.row_extents.empty() || !spec_.column_extents.empty(); }
  void hold(Func func);
  // Halide aligns an array of one element for a scalar, and reads it as a vector all the same; so
  // storage is of whole vectors.
  void vectorize_columns(Func func, const Type& type) {
    const int lanes = target_.lanes(type);
    func.vectorize(column_, lanes, TailStrategy::GuardWithIf).align_storage(column_, lanes);
  }

  const RowSpec& spec_;
  TargetInfo target_;
  int height_ = 1;        // rows in a group
  Expr groups_, blocks_;  // groups in a block, blocks
  std::vector<int> readers_;
  std::vector<Type> types_;
  std::map<int, Func> stored_;  // by stage; of a log-sum-exp the high plane
  std::map<int, Func> low_;
  std::vector<std::function<void(const LoopLevel& group, const LoopLevel& block)>> place_;
  std::vector<Func> fused_, results_;
  Var u_{"u"}, group_{"group"}, block_{"block"}, column_{"column"}, lane_{"lane"}, plane_{"plane"};
  RVar fused_group_{"row_group"}, fused_block_{"row_block"};
};

RowScheduler::RowScheduler(const RowSpec& spec, const TargetInfo& target)
    : spec_(spec), target_(target) {
  // Short rows go together, so that the ends of their reductions overlap; of very short ones a
  // vector of ends.
  const int lanes = target_.lanes(Halide::Float(32));
  const int columns = spec_.typical_columns;
  if (columns > 0 && columns <= 8 * lanes) height_ = columns <= 2 * lanes ? lanes : 4;
  Expr rows_wanted =
      min(max(kTaskElements / max(spec_.columns, 1), (spec_.rows + (kMaxBlocks - 1)) / kMaxBlocks),
          spec_.rows);
  groups_ = max((rows_wanted + (height_ - 1)) / height_, 1);
  blocks_ = (spec_.rows + groups_ * height_ - 1) / (groups_ * height_);
  readers_.resize(spec_.stages.size());
  types_.resize(spec_.stages.size());
  count_readers();
}

// Runs every body once with placeholders: how often is each stage read, and which type has it?
void RowScheduler::count_readers() {
  for (size_t s = 0; s < spec_.stages.size(); ++s) {
    RowCell probe;
    probe.row = Var("row");
    probe.column = Var("column");
    std::set<int> read;
    auto placeholder = [&](int stage) -> Expr {
      ATTN_CHECK(stage >= 0 && stage < static_cast<int>(s), "a row stage reads a later one");
      ATTN_CHECK(spec_.stages[stage].kind != Kind::kColumnSum, "a row stage reads a column sum");
      read.insert(stage);
      return Halide::Internal::Variable::make(types_[stage], "stage" + std::to_string(stage));
    };
    probe.value = probe.high = probe.low = placeholder;
    types_[s] = spec_.stages[s].body(probe).type();
    for (int stage : read) ++readers_[stage];
    // Two passes over the argument.
    if (spec_.stages[s].combine == Combine::kLogSumExp &&
        spec_.stages[s].kind == Kind::kRowReduction) {
      for (int stage : read) ++readers_[stage];
    }
  }
}

RowCell RowScheduler::cell(const At& at) {
  RowCell result;
  result.row = in_range(min(row_of(at), spec_.rows - 1), spec_.rows);
  if (at.column.defined()) result.column = in_range(at.column, spec_.columns);
  result.value = [this, at](int stage) { return value(stage, at); };
  auto plane = [this, at](std::map<int, Func>& funcs, int stage) {
    ATTN_CHECK(low_.count(stage) > 0, "planes of a stage that is no log-sum-exp");
    return Expr(funcs.at(stage)(at.u, at.group, at.block));
  };
  result.high = [this, plane](int stage) { return plane(stored_, stage); };
  result.low = [this, plane](int stage) { return plane(low_, stage); };
  return result;
}

Expr RowScheduler::value(int stage, const At& at) {
  auto stored = stored_.find(stage);
  if (stored == stored_.end()) return body(stage, at);
  if (spec_.stages[stage].kind == Kind::kMap) {
    return stored->second(at.column, at.u, at.group, at.block);
  }
  Expr result = stored->second(at.u, at.group, at.block);
  auto low = low_.find(stage);
  return low == low_.end() ? result : result + low->second(at.u, at.group, at.block);
}

// Keeps a Func of a group: computed per group, its memory allocated once a block.
void RowScheduler::hold(Func func) {
  place_.push_back([this, func](const LoopLevel& group, const LoopLevel& block) mutable {
    func.compute_at(group).hoist_storage(block).bound_storage(group_, 1).bound_storage(block_, 1);
    func.bound_extent(u_, height_);
  });
}

// A map with one reader is part of its reader, unless it is held; else it is a row in the cache.
void RowScheduler::add_map(int stage) {
  if (readers_[stage] <= 1 && !spec_.stages[stage].held) return;
  Func map(spec_.name + "_" + spec_.stages[stage].name);
  map(column_, u_, group_, block_) = body(stage, {u_, group_, block_, column_});
  vectorize_columns(map, types_[stage]);
  hold(map);
  stored_[stage] = map;
}

void RowScheduler::add_row_map(int stage) {
  Func map(spec_.name + "_" + spec_.stages[stage].name);
  map(u_, group_, block_) = body(stage, {u_, group_, block_, Expr()});
  hold(map);
  stored_[stage] = map;
}

// Lanes first, several vectors of them for long rows, then the lanes of one vector.
Func RowScheduler::reduce(const std::string& name, Combine combine,
                          const std::function<Expr(const At&)>& term, const Type& type) {
  const int lanes = target_.lanes(type);
  const int width = height_ > 1 ? lanes : 4 * lanes;
  Func partial(name + "_lanes"), total(name);
  RDom whole(0, spec_.columns / width, "whole");
  RDom rest(0, spec_.columns % width, "rest"), over(0, width, "over");
  auto at = [&](const Expr& column) { return At{u_, group_, block_, column}; };
  partial(lane_, u_, group_, block_) = neutral(combine, type);
  // A term that is the same in all columns is still added for each of them.
  Expr of_whole = term(at(whole * width + lane_));
  of_whole = select(whole >= 0, of_whole, of_whole);
  partial(lane_, u_, group_, block_) =
      combined(combine, partial(lane_, u_, group_, block_), of_whole);
  partial(rest, u_, group_, block_) = combined(combine, partial(rest, u_, group_, block_),
                                               term(at(spec_.columns / width * width + rest)));
  total(u_, group_, block_) = neutral(combine, type);
  total(u_, group_, block_) =
      combined(combine, total(u_, group_, block_), partial(over, u_, group_, block_));

  partial.bound_extent(lane_, width).vectorize(lane_, lanes).unroll(lane_);
  partial.update(0).reorder(lane_, whole, u_).vectorize(lane_, lanes).unroll(lane_);
  RVar outer("rest_outer"), inner("rest_inner");
  partial.update(1)
      .allow_race_conditions()
      .split(rest, outer, inner, lanes, TailStrategy::GuardWithIf)
      .reorder(inner, outer, u_)
      .vectorize(inner);
  total.update().atomic().vectorize(over);
  if (height_ > 1) total.unroll(u_).update().unroll(u_);
  hold(partial);
  hold(total);
  return total;
}

void RowScheduler::add_reduction(int stage) {
  const RowStage& s = spec_.stages[stage];
  const std::string name = spec_.name + "_" + s.name;
  auto argument = [this, stage](const At& at) { return body(stage, at); };
  if (s.combine != Combine::kLogSumExp) {
    stored_[stage] = reduce(name, s.combine, argument, types_[stage]);
    return;
  }
  Func row(name + "_row");
  row(column_, u_, group_, block_) = body(stage, {u_, group_, block_, column_});
  vectorize_columns(row, types_[stage]);
  hold(row);
  auto held = [row](const At& at) -> Expr { return row(at.column, at.u, at.group, at.block); };
  Func high = reduce(name + "_high", Combine::kMax, held, types_[stage]);
  Expr lowest = neutral(Combine::kMax, types_[stage]);
  Func sum = reduce(
      name + "_sum", Combine::kSum,
      [=](const At& at) -> Expr {
        return vector_exp(strict_float(held(at) - high(at.u, at.group, at.block)));
      },
      types_[stage]);
  Func low(name + "_low");
  Expr z = sum(u_, group_, block_);
  // What is hidden counts 0 beside anything visible, and must not be counted alone.
  Expr nothing = high(u_, group_, block_) <= lowest;
  Expr logarithm = select(nothing || z <= 0, Halide::Internal::make_zero(z.type()),
                          log(max(z, Halide::cast(z.type(), 1e-30f))));
  low(u_, group_, block_) = select(has_finite_bits(z), logarithm, z);
  if (height_ > 1) low.vectorize(u_, height_);
  hold(low);
  stored_[stage] = high;
  low_[stage] = low;
}

// An output over rows: its update sets the elements of one row.
void RowScheduler::store_rows(Func out, const RowStage& stage, const At& at, const Expr& row) {
  auto stored = [&](const Expr& v) { return stage.store ? stage.store(v) : v; };
  const int index = static_cast<int>(&stage - spec_.stages.data());
  const bool map = stage.kind == Kind::kMap;
  std::vector<Expr> place;
  std::vector<Var> vars;
  if (shaped()) {
    std::vector<Expr> rows = decode_index(in_range(row, spec_.rows), spec_.row_extents);
    for (size_t k = stage.dimensions.size(); k-- > 0;) {
      const bool column = stage.dimensions[k] >= static_cast<int>(rows.size());
      place.push_back(column ? Expr(column_) : rows[stage.dimensions[k]]);
      vars.push_back(column ? column_ : Var("d" + std::to_string(k)));
    }
  } else {
    if (map) place.push_back(column_), vars.push_back(column_);
    place.push_back(in_range(row, spec_.rows));
    vars.push_back(u_);
  }
  Expr value;
  if (stage.planes) {
    value = stored(select(plane_ == 0, stored_.at(index)(at.u, at.group, at.block),
                          low_.at(index)(at.u, at.group, at.block)));
    place.push_back(plane_);
    vars.push_back(plane_);
  } else {
    value = stored(this->value(index, at));
  }
  out(vars) = Halide::undef(value.type());
  out(place) = value;
  if (stage.planes) {
    out.bound(plane_, 0, 2);
    out.update().unroll(plane_);
  }
  if (shaped()) return;
  if (map) out.output_buffer().dim(0).set_bounds(0, spec_.columns).set_stride(1);
  auto rows = out.output_buffer().dim(map ? 1 : 0);
  rows.set_bounds(0, spec_.rows);
  rows.set_stride(map ? spec_.columns : Expr(1));
}

// An output over columns: `total` has them in linear order.
void RowScheduler::store_columns(Func out, const RowStage& stage, const Func& total) {
  const int lanes = target_.lanes(total.types()[0]);
  std::vector<Var> vars;
  Expr linear = 0;
  if (shaped()) {
    std::vector<Expr> at(spec_.column_extents.size());
    for (size_t k = stage.dimensions.size(); k-- > 0;) {
      Var v = vars.empty() ? column_ : Var("d" + std::to_string(k));
      vars.push_back(v);
      at[stage.dimensions[k] - spec_.row_extents.size()] = v;
    }
    for (size_t k = 0; k < at.size(); ++k) linear = linear * spec_.column_extents[k] + at[k];
    if (at.size() > 1) linear = in_range(linear, spec_.columns);
  } else {
    vars = {column_};
    linear = column_;
  }
  out(vars) = stage.store ? stage.store(total(linear)) : Expr(total(linear));
  if (!shaped()) out.output_buffer().dim(0).set_bounds(0, spec_.columns).set_stride(1);
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

void RowScheduler::add_output(int stage) {
  const RowStage& s = spec_.stages[stage];
  const std::string name = spec_.name + "_" + s.name + "_out";
  // Of loops that are known to run once Halide says that they may run in any order, but not where
  // the output is a scalar; it fuses no two of which it says different things.
  auto unknown = [this](const Expr& e) { return constant(spec_.rows) == 1 ? likely(e) : e; };
  // Equal names of the domains let compute_with recognise the same loops.
  RDom r({{0, height_}, {0, unknown(groups_)}, {0, unknown(blocks_)}}, "rows");
  At at{r[0], r[1], r[2], column_};
  Expr row = row_of(at);
  r.where(row < spec_.rows);
  Func out(name);
  if (s.kind == Kind::kColumnSum) {
    const int lanes = target_.lanes(types_[stage]);
    Func sums(name + "_blocks"), total(name + "_total");
    // Written so that Halide takes the block for an index like the other outputs' rows.
    Expr place = min(r[2], blocks_ - 1);
    sums(column_, block_) = Halide::Internal::make_zero(types_[stage]);
    sums(column_, place) += body(stage, at);
    vectorize_columns(sums.compute_root(), types_[stage]);
    fused_.push_back(sums);
    RDom b(0, blocks_, "blocks");
    total(column_) = Halide::Internal::make_zero(types_[stage]);
    total(column_) += sums(column_, b);
    store_columns(out, s, total);
    vectorize_columns(total, types_[stage]);
    total.update().reorder(column_, b).vectorize(column_, lanes, TailStrategy::GuardWithIf);
  } else {
    if (s.kind != Kind::kMap) at.column = Expr();
    store_rows(out, s, at, row);
    fused_.push_back(out);
  }
  Stage update = fused_.back().update();
  if (s.kind == Kind::kMap || s.kind == Kind::kColumnSum) {
    update.reorder(column_, r[0], r[1], r[2])
        .vectorize(column_, target_.lanes(types_[stage]), TailStrategy::GuardWithIf);
  } else if (s.planes) {
    update.reorder(plane_, r[0], r[1], r[2]);
  }
  update.allow_race_conditions()
      .rename(r[1], fused_group_)
      .rename(r[2], fused_block_)
      .parallel(fused_block_)
      .never_partition({fused_group_, fused_block_});
  results_.push_back(out);
}

Halide::Pipeline RowScheduler::schedule() {
  const int count = static_cast<int>(spec_.stages.size());
  for (int s = 0; s < count; ++s) {
    if (spec_.stages[s].kind == Kind::kMap) add_map(s);
    if (spec_.stages[s].kind == Kind::kRowMap) add_row_map(s);
    if (spec_.stages[s].kind == Kind::kRowReduction) add_reduction(s);
  }
  for (int s = 0; s < count; ++s) {
    if (spec_.stages[s].output || spec_.stages[s].kind == Kind::kColumnSum) add_output(s);
  }
  ATTN_CHECK(!fused_.empty(), "a row kernel without outputs");
  for (size_t i = 1; i < fused_.size(); ++i) {
    fused_[i].update().compute_with(fused_[0].update(), fused_group_);
  }
  // The first output carries the loops that everything else is placed at.
  LoopLevel group(fused_[0], fused_group_), block(fused_[0], fused_block_);
  for (auto& place : place_) place(group, block);
  return Halide::Pipeline(results_);
}

}  // namespace

Halide::Pipeline schedule_rows(const RowSpec& spec, const TargetInfo& target) {
  return RowScheduler(spec, target).schedule();
}

}  // namespace attn::lower
