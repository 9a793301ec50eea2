// How rows are computed on a GPU. Every reduction, map over the rows and output is a launch of its
// own; what lies between them is in the device's memory, one number a row.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/base/check.h"
#include "compiler/lower/forms/row.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/gpu/threads.h"
#include "compiler/lower/terms/extremes.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"
#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

using Kind = RowStage::Kind;
using ir::Combine;

namespace {

using gpu::each_time;
using gpu::one_thread_a_point;

constexpr int kRowThreads = 32, kRowsABlock = 4;
// Rows that are added up in f32 before their sums are added in f64.
constexpr int kRowsSummed = 256;
constexpr int kColumnThreads = 64;

class RowBuilder {
 public:
  explicit RowBuilder(const RowSpec& spec)
      : spec_(spec),
        all_rows_(at_least_one(spec.row_extents)),
        all_columns_(at_least_one(spec.column_extents)) {}

  std::vector<Func> schedule() {
    count_readers();
    for (int s = 0; s < count(); ++s) {
      if (spec_.stages[s].kind == Kind::kRowMap) add_row_map(s);
      if (spec_.stages[s].kind == Kind::kRowReduction) add_reduction(s);
    }
    add_held();
    std::vector<Func> outputs;
    for (int s = 0; s < count(); ++s) {
      const RowStage& stage = spec_.stages[s];
      if (stage.kind == Kind::kColumnSum)
        outputs.push_back(column_sum(s));
      else if (stage.output)
        outputs.push_back(output(s));
    }
    return outputs;
  }

 private:
  // One who reads maps at points of its own: their Funcs, all computed at one level of its loops.
  struct Reader {
    std::string name;
    std::map<int, Func> maps = {};
  };

  // As a kernel sees them: an empty extent counts as 1.
  static Expr at_least_one(const std::vector<Expr>& extents) {
    Expr all = 1;
    for (const Expr& e : extents) all = all * max(e, 1);
    return simplify(all);
  }

  int count() const { return static_cast<int>(spec_.stages.size()); }

  // Runs every body once with placeholders: how often is each stage read, and which type has it?
  void count_readers() {
    types_.resize(spec_.stages.size());
    readers_.resize(spec_.stages.size());
    for (int s = 0; s < count(); ++s) {
      std::set<int> read;
      RowCell probe;
      probe.row = Var("row");
      probe.column = Var("column");
      probe.value = probe.high = probe.low = [&](int stage) -> Expr {
        read.insert(stage);
        return Halide::Internal::Variable::make(types_[stage], "stage" + std::to_string(stage));
      };
      types_[s] = spec_.stages[s].body(probe).type();
      for (int stage : read) ++readers_[stage];
    }
  }

  Expr body(int stage, Reader& reader, const Expr& row, const Expr& column) {
    RowCell cell;
    cell.row = gpu::own(row, all_rows_);
    if (column.defined()) cell.column = gpu::own(column, all_columns_);
    cell.value = [&, row, column](int s) { return value(s, reader, row, column); };
    cell.high = [this, row](int s) -> Expr { return rows_.at(s)(row); };
    cell.low = [this, row](int s) -> Expr { return low_.at(s)(row); };
    return spec_.stages[stage].body(cell);
  }

  // A map with one reader is part of it.
  Expr value(int stage, Reader& reader, const Expr& row, const Expr& column) {
    if (spec_.stages[stage].kind != Kind::kMap) {
      const Expr own = rows_.at(stage)(row);
      return low_.count(stage) > 0 ? own + low_.at(stage)(row) : own;
    }
    if (readers_[stage] <= 1) return body(stage, reader, row, column);
    auto found = reader.maps.find(stage);
    if (found == reader.maps.end()) {
      Func map(reader.name + "_map" + std::to_string(stage));
      map(column_, row_) = body(stage, reader, row_, column_);
      found = reader.maps.emplace(stage, map).first;
    }
    return found->second(column, row);
  }

  static void compute_at(Reader& reader, const LoopLevel& level) {
    for (auto& [stage, map] : reader.maps) map.compute_at(level);
  }

  static std::string name_of(int stage) { return "out_s" + std::to_string(stage); }

  // A launch of its own, over all rows.
  Func keep(Func f) {
    f.compute_root().bound(row_, 0, all_rows_);
    return f;
  }

  void add_row_map(int stage) {
    Func map(name_of(stage));
    Reader none{name_of(stage)};
    map(row_) = body(stage, none, row_, Expr());
    one_thread_a_point(map);
    rows_[stage] = keep(map);
  }

  void add_reduction(int stage) {
    const RowStage& s = spec_.stages[stage];
    if (s.combine != Combine::logsumexp) {
      rows_[stage] = reduce(stage, name_of(stage), s.combine, types_[stage], {});
      return;
    }
    const Func high =
        reduce(stage, name_of(stage) + "_high", Combine::logsumexp, types_[stage], {});
    const Func sum =
        reduce(stage, name_of(stage) + "_sum", Combine::sum, types_[stage],
               [&](const Expr& term) { return vector_exp(strict_float(term - high(row_))); });
    Func low(name_of(stage) + "_low");
    const Expr z = sum(row_), nothing = high(row_) <= neutral(Combine::logsumexp, types_[stage]);
    // What is hidden counts 0 beside anything visible, and must not be counted alone.
    const Expr logarithm =
        select(nothing || z <= 0, make_zero(z.type()), log(max(z, cast(z.type(), 1e-30f))));
    low(row_) = select(has_finite_bits(z), logarithm, z);
    one_thread_a_point(low);
    rows_[stage] = high;
    low_[stage] = keep(low);
  }

  // Each thread of a row takes every kRowThreads-th column; one adds up what they found.
  Func reduce(int stage, const std::string& name, Combine combine, const Type& type,
              const std::function<Expr(Expr)>& of_term) {
    Func partial(name + "_partial"), total(name + "_total"), result(name);
    Var t("t"), block("block"), w("w");
    RDom k(0, blocks_of(spec_.columns, kRowThreads), "k"), over(0, kRowThreads, "over");
    const Expr column = k * kRowThreads + t;
    k.where(column < spec_.columns);
    Reader reader{name};
    Expr term = body(stage, reader, row_, min(column, all_columns_ - 1));
    if (of_term) term = of_term(term);
    term = each_time(k, term);
    // A sum has twice the digits: what rounding costs does not grow with its length. What it
    // costs was not measured.
    const Type kept =
        combine == Combine::sum && type == Halide::Float(32) ? Halide::Float(64) : type;
    const Expr start = to_accumulate(combine, neutral(combine, kept));
    partial(t, row_) = start;
    partial(t, row_) =
        combined(combine, partial(t, row_), to_accumulate(combine, cast(kept, term)));
    total(row_) = start;
    total(row_) = combined(combine, total(row_), partial(over, row_));
    result(row_) = cast(type, from_accumulated(combine, kept, total(row_)));
    result.split(row_, block, w, kRowsABlock, TailStrategy::GuardWithIf)
        .gpu_blocks(block)
        .gpu_threads(w);
    partial.compute_at(result, block)
        .store_in(Halide::MemoryType::GPUShared)
        .bound(t, 0, kRowThreads);
    partial.gpu_threads(t, row_).update().gpu_threads(t, row_);
    compute_at(reader, LoopLevel(partial, RVar(k.x)));
    total.compute_at(result, w);
    return keep(result);
  }

  // Rows and columns of an output by its dimensions, innermost first.
  struct Coordinates {
    std::vector<Var> vars;
    Expr row = 0, column = 0;
  };
  Coordinates coordinates(const RowStage& s) const {
    Coordinates result;
    const size_t rows = spec_.row_extents.size();
    std::map<int, Var> by_dimension;
    for (size_t k = s.dimensions.size(); k-- > 0;) {
      result.vars.emplace_back("d" + std::to_string(k));
      by_dimension.emplace(s.dimensions[k], result.vars.back());
    }
    const auto index = [&](size_t d) -> Expr {
      auto found = by_dimension.find(static_cast<int>(d));
      return found != by_dimension.end() ? Expr(found->second) : Expr(0);
    };
    for (size_t d = 0; d < rows; ++d) result.row = result.row * spec_.row_extents[d] + index(d);
    for (size_t d = 0; d < spec_.column_extents.size(); ++d)
      result.column = result.column * spec_.column_extents[d] + index(rows + d);
    return result;
  }

  Func output(int stage) {
    const RowStage& s = spec_.stages[stage];
    const Coordinates at = coordinates(s);
    Reader reader{name_of(stage) + "_out"};
    Func out(name_of(stage) + "_out");
    if (s.has_planes()) {
      Var plane("plane");
      std::vector<Var> vars = at.vars;
      vars.push_back(plane);
      const Expr high = rows_.at(stage)(at.row), low = low_.at(stage)(at.row);
      out(vars) = cast(s.stored, select(plane == 0, high, low));
      std::vector<VarOrRVar> order(vars.begin(), vars.end());
      order.insert(order.begin(), plane);
      order.pop_back();
      out.bound(plane, 0, 2).reorder(order).unroll(plane);
      one_thread_a_point(out, out, at.vars);
      return out;
    }
    Expr value;
    if (const auto held = held_.find(stage); held != held_.end())
      value = before_(at.column, at.row)[held->second];
    else if (s.kind == Kind::kMap)
      value = body(stage, reader, at.row, at.column);
    else
      value = rows_.at(stage)(at.row);
    value = cast(s.stored, value);
    out(at.vars) = value;
    compute_at(reader, one_thread_a_point(out));
    return out;
  }

  // All maps are computed before the first of them is written over what the others read.
  void add_held() {
    Reader reader{"out_before"};
    std::vector<Expr> values;
    for (int s = 0; s < count(); ++s) {
      if (!spec_.stages[s].held || spec_.stages[s].kind != Kind::kMap) continue;
      held_[s] = values.size();
      values.push_back(body(s, reader, row_, column_));
    }
    if (held_.size() < 2) return held_.clear();
    before_(column_, row_) = Tuple(values);
    before_.compute_root().bound(column_, 0, all_columns_).bound(row_, 0, all_rows_);
    compute_at(reader, one_thread_a_point(before_));
  }

  // The sums of blocks of rows, added up in more digits: what rounding costs does not grow with the
  // rows.
  Func column_sum(int stage) {
    const RowStage& s = spec_.stages[stage];
    const Type type = types_[stage];
    const Type kept = type == Halide::Float(32) ? Halide::Float(64) : type;
    Func sums(name_of(stage) + "_blocks"), total(name_of(stage) + "_total"),
        out(name_of(stage) + "_out");
    Var block("block");
    const Expr blocks = blocks_of(spec_.rows, kRowsSummed);
    RDom r(0, kRowsSummed, "r"), b(0, blocks, "b");
    const Expr row = block * kRowsSummed + r;
    r.where(row < spec_.rows);
    Reader reader{name_of(stage)};
    sums(column_, block) = make_zero(type);
    sums(column_, block) +=
        each_time(r, body(stage, reader, clamp(row, 0, all_rows_ - 1), column_));
    sums.compute_root().bound(column_, 0, all_columns_).bound(block, 0, max(blocks, 1));
    one_thread_a_point(sums);
    one_thread_a_point(sums, sums.update(), sums.args());
    compute_at(reader, LoopLevel(sums, RVar(r.x)));
    const Coordinates at = coordinates(s);
    total(at.vars) = make_zero(kept);
    total(at.vars) += cast(kept, sums(in_range(at.column, all_columns_), b));
    out(at.vars) = cast(s.stored, total(at.vars));
    total.compute_at(one_thread_a_point(out));
    return out;
  }

  const RowSpec& spec_;
  const Expr all_rows_, all_columns_;
  std::vector<Type> types_;
  std::vector<int> readers_;
  std::map<int, Func> rows_, low_;  // by stage: of a log-sum-exp two planes
  std::map<int, size_t> held_;      // by stage: which element of before_
  Func before_{"out_before"};
  Var row_{"row"}, column_{"column"};
};

}  // namespace

Scheduled gpu::schedule(const plan::RowForm& form, const Scope& scope, const target::Target&) {
  const RowSpec spec = row_spec(scope, form);
  return {RowBuilder(spec).schedule(), "the threads of a row share its reductions"};
}

}  // namespace attn::lower
