// What row kernels compute, stage by stage.
#include <algorithm>
#include <set>

#include "compiler/base/check.h"
#include "compiler/lower/cpu/row_scheduler.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/terms/extremes.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"
#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

namespace {

using Kind = RowStage::Kind;
using ir::Combine;

// Rows that are added up in f32 before their sums are added in f64.
constexpr int kMostRowsSummed = 256;

}  // namespace

RowScheduler::RowScheduler(const RowSpec& spec, const Target& target)
    : spec_(spec), target_(target) {
  // Short rows go together, so that the ends of their reductions overlap; of very short ones a
  // vector of ends.
  const int lanes = lanes_of(target_, Halide::Float(32));
  const int columns = spec_.typical_columns;
  if (columns > 0 && columns <= 8 * lanes) height_ = columns <= 2 * lanes ? lanes : 4;
  const target::Costs& costs = target::costs(target_.arch);
  Expr rows_wanted = min(
      max(costs.task_points / max(spec_.columns, 1), blocks_of(spec_.rows, costs.most_row_blocks)),
      spec_.rows);
  const auto is_column_sum = [](const RowStage& s) { return s.kind == Kind::kColumnSum; };
  if (std::ranges::any_of(spec_.stages, is_column_sum))
    rows_wanted = min(rows_wanted, kMostRowsSummed);
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
    // Two sweeps over the argument.
    if (spec_.stages[s].combine == Combine::logsumexp &&
        spec_.stages[s].kind == Kind::kRowReduction)
      for (int stage : read) ++readers_[stage];
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
  if (spec_.stages[stage].kind == Kind::kMap)
    return stored->second(at.column, at.u, at.group, at.block);
  Expr result = stored->second(at.u, at.group, at.block);
  auto low = low_.find(stage);
  return low == low_.end() ? result : result + low->second(at.u, at.group, at.block);
}

// Keeps a Func of a group: computed per group, its memory allocated once a block.
void RowScheduler::hold(Func func) {
  func.compute_at(of_group_).hoist_storage(of_block_);
  func.bound_storage(group_, 1).bound_storage(block_, 1).bound_extent(u_, height_);
}

// A map with one reader is part of its reader, unless it is held; else it is a row in the cache.
void RowScheduler::add_map(int stage) {
  if (readers_[stage] <= 1 && !spec_.stages[stage].held) return;
  Func map(name_of(stage));
  map(column_, u_, group_, block_) = body(stage, {u_, group_, block_, column_});
  vectorize_columns(map, types_[stage]);
  hold(map);
  stored_[stage] = map;
}

void RowScheduler::add_row_map(int stage) {
  Func map(name_of(stage));
  map(u_, group_, block_) = body(stage, {u_, group_, block_, Expr()});
  hold(map);
  stored_[stage] = map;
}

// Vectors of a long sum that are added up before the sum goes to one of twice the precision.
constexpr int kChunk = 64;

// The sums of `count` vectors of `width` lanes, from the vector `first` on, which may depend on
// chunk_.
Func RowScheduler::vectors(const std::string& name, const Term& term, const Type& type, int width,
                           const Expr& first, const Expr& count) {
  Func sum(name);
  RDom k(0, count, "k");
  sum(lane_, chunk_, u_, group_, block_) = make_zero(type);
  // A term that is the same in all columns is still added for each of them.
  Expr of_k = term({u_, group_, block_, (first + k) * width + lane_});
  of_k = select(k >= 0, of_k, of_k);
  sum(lane_, chunk_, u_, group_, block_) += of_k;
  const int lanes = lanes_of(target_, type);
  sum.bound_extent(lane_, width).vectorize(lane_, lanes).unroll(lane_);
  sum.update().reorder(lane_, k, chunk_, u_).vectorize(lane_, lanes).unroll(lane_);
  return sum;
}

// Lanes first, several vectors of them for long rows, then the lanes of one vector. What rounding
// costs a long sum does not grow with its length.
Func RowScheduler::reduce(const std::string& name, Combine combine, const Term& term,
                          const Type& type) {
  const int lanes = lanes_of(target_, type);
  const int width = height_ > 1 ? lanes : 4 * lanes;
  const int columns = spec_.typical_columns;
  const bool is_long = combine == Combine::sum && type == Halide::Float(32) && height_ == 1 &&
                       (columns == 0 || columns > kChunk * width);
  const Type kept = is_long ? Halide::Float(64) : accumulated(combine, type);
  Func partial(name + "_lanes"), total(name);
  RDom rest(0, spec_.columns % width, "rest"), over(0, width, "over");
  auto at = [&](const Expr& column) { return At{u_, group_, block_, column}; };
  const Expr start = to_accumulate(combine, neutral(combine, is_long ? kept : type));
  if (is_long) {
    const Expr whole = spec_.columns / width, in_chunks = whole / kChunk * kChunk;
    Func chunk = vectors(name + "_chunk", term, type, width, chunk_ * kChunk, kChunk);
    Func left = vectors(name + "_left", term, type, width, in_chunks, whole - in_chunks);
    RDom n(0, whole / kChunk, "n");
    partial(lane_, u_, group_, block_) = cast(kept, left(lane_, 0, u_, group_, block_));
    partial(lane_, u_, group_, block_) += cast(kept, chunk(lane_, n, u_, group_, block_));
    partial.update(0).reorder(lane_, n, u_).vectorize(lane_, lanes).unroll(lane_);
    chunk.compute_at(partial, n);
    hold(left);
  } else {
    partial(lane_, u_, group_, block_) = start;
    RDom whole(0, spec_.columns / width, "whole");
    // A term that is the same in all columns is still added for each of them.
    Expr of_whole = to_accumulate(combine, term(at(whole * width + lane_)));
    of_whole = select(whole >= 0, of_whole, of_whole);
    partial(lane_, u_, group_, block_) =
        combined(combine, partial(lane_, u_, group_, block_), of_whole);
    partial.update(0).reorder(lane_, whole, u_).vectorize(lane_, lanes).unroll(lane_);
  }
  const Expr of_rest =
      cast(kept, to_accumulate(combine, term(at(spec_.columns / width * width + rest))));
  partial(rest, u_, group_, block_) = combined(combine, partial(rest, u_, group_, block_), of_rest);
  total(u_, group_, block_) = start;
  total(u_, group_, block_) =
      combined(combine, total(u_, group_, block_), partial(over, u_, group_, block_));

  partial.bound_extent(lane_, width).vectorize(lane_, lanes).unroll(lane_);
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
  if (kept == type) return total;
  Func result(name + "_result");
  const Expr value = from_accumulated(combine, type, total(u_, group_, block_));
  result(u_, group_, block_) = cast(type, value);
  hold(result);
  return result;
}

void RowScheduler::add_reduction(int stage) {
  const RowStage& s = spec_.stages[stage];
  auto argument = [this, stage](const At& at) { return body(stage, at); };
  if (s.combine != Combine::logsumexp) {
    stored_[stage] = reduce(name_of(stage), s.combine, argument, types_[stage]);
    return;
  }
  Func row(name_of(stage) + "_row");
  row(column_, u_, group_, block_) = body(stage, {u_, group_, block_, column_});
  vectorize_columns(row, types_[stage]);
  hold(row);
  auto held = [row](const At& at) -> Expr { return row(at.column, at.u, at.group, at.block); };
  Func high = reduce(name_of(stage) + "_high", Combine::logsumexp, held, types_[stage]);
  Expr lowest = neutral(Combine::logsumexp, types_[stage]);
  Func sum = reduce(
      name_of(stage) + "_sum", Combine::sum,
      [=](const At& at) -> Expr {
        return vector_exp(strict_float(held(at) - high(at.u, at.group, at.block)));
      },
      types_[stage]);
  Func low(name_of(stage) + "_low");
  Expr z = sum(u_, group_, block_);
  // What is hidden counts 0 beside anything visible, and must not be counted alone.
  Expr nothing = high(u_, group_, block_) <= lowest;
  Expr logarithm =
      select(nothing || z <= 0, make_zero(z.type()), log(max(z, cast(z.type(), 1e-30f))));
  low(u_, group_, block_) = select(has_finite_bits(z), logarithm, z);
  if (height_ > 1) low.vectorize(u_, height_);
  hold(low);
  stored_[stage] = high;
  low_[stage] = low;
}

std::vector<Func> RowScheduler::schedule() {
  const int count = static_cast<int>(spec_.stages.size());
  for (int s = 0; s < count; ++s) {
    if (spec_.stages[s].kind == Kind::kMap) add_map(s);
    if (spec_.stages[s].kind == Kind::kRowMap) add_row_map(s);
    if (spec_.stages[s].kind == Kind::kRowReduction) add_reduction(s);
  }
  for (int s = 0; s < count; ++s)
    if (spec_.stages[s].output || spec_.stages[s].kind == Kind::kColumnSum) add_output(s);
  ATTN_CHECK(!fused_.empty(), "a row kernel without outputs");
  for (size_t i = 1; i < fused_.size(); ++i)
    fused_[i].update().compute_with(fused_[0].update(), fused_group_);
  // The first output carries the loops that everything else is placed at.
  of_group_.set(LoopLevel(fused_[0], fused_group_));
  of_block_.set(LoopLevel(fused_[0], fused_block_));
  return results_;
}

Funcs cpu::schedule(const plan::RowForm& form, const Scope& scope, const Target& target) {
  return RowScheduler(row_spec(scope, form), target).schedule();
}

}  // namespace attn::lower
