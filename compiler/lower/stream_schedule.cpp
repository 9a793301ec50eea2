// Rows in tiles, some tiles a block; columns in chunks, read from packed panels. Scores and weights
// of one tile and chunk stay in the first-level cache; both products are register tiles. What a
// tile cannot see, its guards' bounds leave out of the loops.
#include "compiler/lower/stream_schedule.h"

#include <algorithm>

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
using Halide::TailStrategy;
using Halide::Type;
using Halide::Var;
using Halide::VarOrRVar;

namespace {

// Scores at or below the floor count as hidden; hidden ones lie so far below that their
// exponentials are 0 beside a row without any visible score.
constexpr float kFloor = -3.0e38f;
constexpr int kBlockRows = 96;
constexpr int kTogether = 6;  // rows in flight in the passes over elements

struct Tiles {
  int rows;                       // of a tile, which shares its bounds of columns
  int score_rows, score_vectors;  // of the scores' register tile
  int sum_rows, sum_vectors;      // of the sum's register tile
  int chunk;                      // columns
  int unroll;                     // of both products
};

constexpr int kUnknownFeatures = 64;

Tiles tiles_for(const TargetInfo& target, const StreamSpec& spec) {
  const int lanes = target.lanes(Halide::Float(32));
  const int known = spec.features.defined() ? static_cast<int>(constant(spec.features)) : 1;
  const int vectors = ((known > 0 ? known : kUnknownFeatures) + lanes - 1) / lanes;
  const bool careful = spec.careful;
  if (careful) return {6, 6, 1, 6, 1, 512, 1};
  if (target.level != Level::kV4) return {6, 6, 2, 6, vectors % 2 == 0 ? 2 : 1, 512, 4};
  if (vectors % 4 == 0) return {6, 6, 4, 6, 4, 512, 2};
  if (vectors % 3 == 0) return {18, 6, 4, 9, 3, 192, 2};
  if (vectors == 5) return {30, 6, 4, 5, 5, 128, 2};
  return {12, 6, 4, 12, vectors % 2 == 0 ? 2 : 1, 256, 2};
}

class StreamScheduler {
 public:
  StreamScheduler(const StreamSpec& spec, const TargetInfo& target);
  std::vector<Func> schedule();

 private:
  void pack(const StreamDot& dot);
  void pack_panel();
  void score();
  void add_tile(int index);
  void sum_chunks();
  void sum_panel();
  void merge();
  void write();
  void place();
  void place_result(Func f, const Var* inner);
  void place_results();
  void place_tile(int index, const LoopLevel& of_tile);

  Expr row_of(const Expr& tile, const Expr& within) const {
    return in_range(min(tile * tiles_.rows + within, rows_ - 1), rows_);
  }
  Expr column_or_last(const Expr& column) const {
    return in_range(min(likely(column), some_columns_ - 1), some_columns_);
  }
  Expr batch_of(const Expr& batch) const { return in_range(batch, batches_); }
  // Of the columns that the row tile may see.
  Expr first_column(const Expr& tile) const;
  Expr end_column(const Expr& tile) const;
  void limit(RDom& domain, const Expr& position, const Expr& from, const Expr& to) const {
    domain.where(position < to);
    if (spec_.first_column) domain.where(position >= from);
  }
  Func output(const std::string& name, const std::vector<int>& dimensions, bool planes);

  const StreamSpec& spec_;
  const int lanes_;
  const Tiles tiles_;
  const int panel_columns_;   // of the right factors' panels
  const bool sums_;           // whether there is a sum beside the log-sum-exp
  const int panel_features_;  // of the sum's panels
  const Expr features_;
  const Expr padded_;         // features in whole vectors
  Expr rows_, some_columns_;  // at least 1: what is clamped to the last is there
  Expr batches_ = 1;
  struct Dots {
    Func sum;
    std::vector<RVar> reduced;
  };
  std::vector<Func> left_, right_, tile_funcs_;
  std::vector<Dots> dots_;  // of each tile
  Func panel_, scores_, largest_lanes_, largest_, weights_, total_lanes_, partial_, packed_;
  Func top_, factor_, merged_, total_, finished_;
  std::vector<Func> results_;
  std::vector<Var> batch_vars_;
  RVar product_, merge_product_;
  Var d_{"d"}, i_{"i"}, j_{"j"}, h_{"h"}, x_{"x"}, ii_{"ii"}, block_{"block"}, t_{"t"}, c_{"c"};
  Var jj_{"jj"}, jp_{"jp"}, dd_{"dd"}, dp_{"dp"}, l_{"l"}, plane_{"plane"};
  RDom rm_, rs_, rj_, over_lanes_, rc_max_, rc_;
};

StreamScheduler::StreamScheduler(const StreamSpec& spec, const TargetInfo& target)
    : spec_(spec),
      lanes_(target.lanes(Halide::Float(32))),
      tiles_(tiles_for(target, spec)),
      panel_columns_(tiles_.score_vectors * lanes_),
      sums_(spec.features.defined()),
      panel_features_(sums_ ? tiles_.sum_vectors * lanes_ : 0),
      features_(sums_ ? spec.features : Expr(0)),
      padded_(Halide::Internal::simplify((features_ + (lanes_ - 1)) / lanes_ * lanes_)),
      rows_(max(spec.rows, 1)),
      some_columns_(max(spec.columns, 1)) {
  for (size_t k = 0; k < spec.batch_extents.size(); ++k) {
    batches_ = batches_ * spec.batch_extents[k];
    batch_vars_.emplace_back("b" + std::to_string(k));
  }
  batches_ = Halide::Internal::simplify(batches_);
}

Expr StreamScheduler::first_column(const Expr& tile) const {
  if (!spec_.first_column) return 0;
  Expr row = tile * tiles_.rows;
  Expr first = spec_.first_column(row, row + (tiles_.rows - 1));
  return clamp(first, 0, spec_.columns) / panel_columns_ * panel_columns_;
}

Expr StreamScheduler::end_column(const Expr& tile) const {
  if (!spec_.end_column) return spec_.columns;
  Expr row = tile * tiles_.rows;
  return clamp(spec_.end_column(row, row + (tiles_.rows - 1)), 0, spec_.columns);
}

// Beyond an extent the last row or column repeats, so that every tile below is whole.
void StreamScheduler::pack(const StreamDot& dot) {
  Func left(spec_.name + "_left"), right(spec_.name + "_right");
  Expr d = in_range(d_, dot.reduced);
  left(d_, ii_, t_, h_) = dot.left(batch_of(h_), row_of(t_, ii_), d);
  Expr column = min(jp_ * panel_columns_ + jj_, some_columns_ - 1);
  right(jj_, d_, jp_, h_) = dot.right(batch_of(h_), in_range(column, some_columns_), d);
  left_.push_back(left);
  right_.push_back(right);
}

void StreamScheduler::pack_panel() {
  panel_ = Func(spec_.name + "_panel");
  Expr feature = min(dp_ * panel_features_ + dd_, features_ - 1);
  Expr column = in_range(min(j_, some_columns_ - 1), some_columns_);
  Expr value = spec_.panel(batch_of(h_), column, in_range(feature, features_));
  if (constant(features_) > 0) {
    panel_(dd_, j_, dp_, h_) = value;
    return;
  }
  // There may be none: nothing is read then.
  RDom some(0, 1, "some");
  some.where(features_ > 0);
  panel_(dd_, j_, dp_, h_) = 0.0f;
  panel_(dd_, j_, dp_, h_) = value + cast<float>(some);
}

void StreamScheduler::score() {
  for (size_t n = 0; n < spec_.tiles.size(); ++n) add_tile(static_cast<int>(n));
  scores_ = tile_funcs_.back();
}

void StreamScheduler::add_tile(int index) {
  const StreamTile& tile = spec_.tiles[index];
  const int panels = tiles_.chunk / panel_columns_;
  const std::string name = spec_.name + "_tile" + std::to_string(index);
  Dots dots{Func(name + "_dot"), {}};
  dots.sum(jj_, jp_, ii_, t_, c_, h_) = 0.0f;
  for (size_t k = 0; k < tile.dots.size(); ++k) {
    const StreamDot& dot = tile.dots[k];
    RDom r(0, dot.reduced, "rd" + std::to_string(k));
    if (dot.product) {
      Expr column = c_ * tiles_.chunk + jp_ * panel_columns_ + jj_;
      dots.sum(jj_, jp_, ii_, t_, c_, h_) += dot.product(
          batch_of(h_), row_of(t_, ii_), column_or_last(column), in_range(r, dot.reduced));
    } else {
      pack(dot);
      dots.sum(jj_, jp_, ii_, t_, c_, h_) +=
          left_.back()(r, ii_, t_, h_) * right_.back()(jj_, r, c_ * panels + jp_, h_);
    }
    dots.reduced.push_back(RVar(r));
  }
  Func func(name);
  Expr key = c_ * tiles_.chunk + j_;
  Expr sum = 0.0f;
  if (!tile.dots.empty()) sum = dots.sum(j_ % panel_columns_, j_ / panel_columns_, ii_, t_, c_, h_);
  auto earlier = [&](int k) -> Expr { return tile_funcs_[k](j_, ii_, t_, c_, h_); };
  Expr value = tile.value(batch_of(h_), row_of(t_, ii_), column_or_last(key), sum, earlier);
  const bool last = index + 1 == static_cast<int>(spec_.tiles.size());
  func(j_, ii_, t_, c_, h_) = select(key < spec_.columns, value, last ? kLowest : 0.0f);
  dots_.push_back(dots);
  tile_funcs_.push_back(func);
}

// Of one tile and chunk: the largest score, the weights' sum in lanes, and the weighted sum.
void StreamScheduler::sum_chunks() {
  Expr end = min(end_column(t_) - c_ * tiles_.chunk, tiles_.chunk);
  Expr first = max(first_column(t_) - c_ * tiles_.chunk, 0);
  Expr vectors = (end + (lanes_ - 1)) / lanes_, first_vector = first / lanes_;
  rm_ = RDom(0, tiles_.chunk / lanes_, "rm");
  rs_ = RDom(0, tiles_.chunk / lanes_, "rs");
  rj_ = RDom(0, tiles_.chunk, "rj");
  over_lanes_ = RDom(0, lanes_, "rl");
  limit(rm_, rm_, first_vector, vectors);
  limit(rs_, rs_, first_vector, vectors);
  limit(rj_, rj_, first, end);

  largest_lanes_ = Func(spec_.name + "_largest_lanes");
  largest_ = Func(spec_.name + "_largest");
  largest_lanes_(l_, ii_, t_, c_, h_) = kFloor;
  largest_lanes_(l_, ii_, t_, c_, h_) =
      max(largest_lanes_(l_, ii_, t_, c_, h_), scores_(rm_ * lanes_ + l_, ii_, t_, c_, h_));
  largest_(ii_, t_, c_, h_) = kFloor;
  largest_(ii_, t_, c_, h_) =
      max(largest_(ii_, t_, c_, h_), largest_lanes_(over_lanes_, ii_, t_, c_, h_));

  weights_ = Func(spec_.name + "_weights");
  weights_(j_, ii_, t_, c_, h_) =
      vector_exp(scores_(j_, ii_, t_, c_, h_) - largest_(ii_, t_, c_, h_), -60.0f);
  total_lanes_ = Func(spec_.name + "_total_lanes");
  total_lanes_(l_, ii_, t_, c_, h_) = 0.0f;
  total_lanes_(l_, ii_, t_, c_, h_) += weights_(rs_ * lanes_ + l_, ii_, t_, c_, h_);

  if (sums_) sum_panel();

  // Sum, total and maximum of a chunk side by side, the last two in every lane.
  packed_ = Func(spec_.name + "_packed");
  const int pd = panel_features_;
  Expr value =
      select(x_ < pd + lanes_, total_lanes_(clamp(x_ - pd, 0, lanes_ - 1), ii_, t_, c_, h_),
             largest_(ii_, t_, c_, h_));
  if (sums_) value = select(x_ < pd, partial_(clamp(x_, 0, pd - 1), dp_, ii_, t_, c_, h_), value);
  packed_(x_, ii_, dp_, t_, c_, h_) = value;
}

void StreamScheduler::sum_panel() {
  partial_ = Func(spec_.name + "_partial");
  Expr key = c_ * tiles_.chunk + rj_;
  Expr column = in_range(min(key, some_columns_ - 1), some_columns_);
  Expr weight = weights_(rj_, ii_, t_, c_, h_);
  if (spec_.weight) weight = weight * spec_.weight(batch_of(h_), row_of(t_, ii_), column);
  Expr product;
  if (spec_.panel_at) {
    Expr feature = min(dp_ * panel_features_ + dd_, features_ - 1);
    product = weight *
              spec_.panel_at(batch_of(h_), row_of(t_, ii_), column, in_range(feature, features_));
  } else {
    product = weight * panel_(dd_, key, dp_, h_);
  }
  if ((spec_.careful || spec_.panel_at) && spec_.visible) {
    product = select(spec_.visible(batch_of(h_), row_of(t_, ii_), column), product, 0.0f);
  }
  partial_(dd_, dp_, ii_, t_, c_, h_) = 0.0f;
  partial_(dd_, dp_, ii_, t_, c_, h_) += product;
}

void StreamScheduler::merge() {
  const int pd = panel_features_;
  Expr chunks = blocks_of(spec_.columns, tiles_.chunk);
  rc_max_ = RDom(0, chunks, "rc_max");
  rc_ = RDom(0, chunks, "rc");
  for (RDom* r : {&rc_max_, &rc_}) {
    if (spec_.end_column) r->where(*r < blocks_of(end_column(t_), tiles_.chunk));
    if (spec_.first_column) r->where(*r >= first_column(t_) / tiles_.chunk);
  }
  top_ = Func(spec_.name + "_top");
  factor_ = Func(spec_.name + "_factor");
  merged_ = Func(spec_.name + "_merged");
  total_ = Func(spec_.name + "_total");
  top_(l_, ii_, t_, h_) = kFloor;
  top_(l_, ii_, t_, h_) =
      max(top_(l_, ii_, t_, h_), packed_(pd + lanes_ + l_, ii_, 0, t_, rc_max_, h_));
  factor_(l_, ii_, t_, c_, h_) =
      vector_exp(packed_(pd + lanes_ + l_, ii_, 0, t_, c_, h_) - top_(l_, ii_, t_, h_), -60.0f);
  merged_(x_, dp_, ii_, t_, h_) = 0.0f;
  merged_(x_, dp_, ii_, t_, h_) +=
      factor_(x_ % lanes_, ii_, t_, rc_, h_) * packed_(x_, ii_, dp_, t_, rc_, h_);
  total_(ii_, t_, h_) = 0.0f;
  total_(ii_, t_, h_) += merged_(pd + over_lanes_, 0, ii_, t_, h_);

  Expr total = total_(ii_, t_, h_);
  Expr some = select(total > 0, 1.0f / max(total, 1e-30f), 0.0f);
  Expr inverse = select(has_finite_bits(total), some, total);
  Expr value = 0.0f;
  if (sums_) {
    Expr at = clamp(x_, 0, max(features_ - 1, 0));
    value = merged_(at % pd, at / pd, ii_, t_, h_) * inverse;
  }
  finished_ = Func(spec_.name + "_finished");
  if (spec_.writes_planes) {
    Expr high = select(total > 0, top_(0, ii_, t_, h_), kLowest);
    Expr logarithm = select(total > 0, log(max(total, 1e-30f)), 0.0f);
    Expr low = select(has_finite_bits(total), logarithm, total);
    value = select(x_ < padded_, value, x_ < padded_ + lanes_, high, low);
  }
  finished_(x_, ii_, t_, h_) = value;
}

Func StreamScheduler::output(const std::string& name, const std::vector<int>& dimensions,
                             bool planes) {
  const int batches = static_cast<int>(batch_vars_.size());
  std::vector<Var> vars;
  for (size_t k = dimensions.size(); k-- > 0;) {
    const int at = dimensions[k];
    vars.push_back(at < batches ? batch_vars_[at] : at == batches ? i_ : d_);
  }
  Expr batch = 0;
  for (int k = 0; k < batches; ++k) batch = batch * spec_.batch_extents[k] + batch_vars_[k];
  Expr within = i_ % tiles_.rows, tile = i_ / tiles_.rows;
  Func out(name);
  if (planes) {
    vars.push_back(plane_);
    out(vars) = select(plane_ == 0, finished_(padded_, within, tile, batch),
                       finished_(padded_ + lanes_, within, tile, batch));
  } else {
    const bool wide = std::count(dimensions.begin(), dimensions.end(), batches + 1) > 0;
    out(vars) =
        spec_.finish(batch_of(batch), in_range(i_, rows_), wide ? in_range(d_, features_) : Expr(0),
                     finished_(wide ? Expr(d_) : Expr(0), within, tile, batch));
  }
  return out;
}

void StreamScheduler::write() {
  if (spec_.writes_planes) {
    results_.push_back(output(spec_.name + "_planes", spec_.plane_dimensions, true));
  }
  if (sums_) results_.push_back(output(spec_.name, spec_.dimensions, false));
}

// The loops that both results share: blocks of rows, and the batch.
void StreamScheduler::place_result(Func f, const Var* inner) {
  f.split(i_, block_, i_, kBlockRows / tiles_.rows * tiles_.rows, TailStrategy::GuardWithIf);
  std::vector<VarOrRVar> order = {i_, block_};
  if (inner) order.insert(order.begin(), *inner);
  for (size_t k = batch_vars_.size(); k-- > 0;) order.push_back(batch_vars_[k]);
  f.reorder(order).never_partition_all();
  for (const Var& b : batch_vars_) f.parallel(b);
  f.parallel(block_);
}

void StreamScheduler::place_results() {
  Func z = results_.back();
  if (sums_) {
    const int features = static_cast<int>(constant(features_));
    const bool wide = z.args().size() > batch_vars_.size() + 1;
    place_result(z, wide ? &d_ : nullptr);
    if (wide) {
      z.bound(d_, 0, features_)
          .vectorize(d_, lanes_,
                     features > 0 && features % lanes_ == 0 ? TailStrategy::RoundUp
                                                            : TailStrategy::GuardWithIf);
      if (features > 0) z.unroll(d_);
    }
  }
  if (spec_.writes_planes) {
    Func planes = results_[0];
    place_result(planes, &plane_);
    planes.bound(plane_, 0, 2).unroll(plane_);
    if (sums_) planes.compute_with(z, block_);
  }
}

void StreamScheduler::place() {
  place_results();
  Func z = results_.back();
  const bool known = constant(features_) >= 0;
  LoopLevel of_block(z, block_);
  LoopLevel of_batch =
      batch_vars_.empty() ? LoopLevel(z, Var::outermost()) : LoopLevel(z, batch_vars_.back());
  Var xo("xo"), xi("xi"), rows("rows"), jo("jo");
  for (Func& left : left_)
    left.compute_at(of_block).vectorize(d_, lanes_, TailStrategy::GuardWithIf);
  for (Func& right : right_) {
    const int width = std::min(panel_columns_, 8);
    right.compute_at(of_batch).split(jj_, xo, xi, width).reorder(xi, d_, xo, jp_).vectorize(xi);
  }
  if (panel_.defined()) {
    panel_.compute_at(of_batch).vectorize(dd_, lanes_).unroll(dd_);
    if (panel_.has_update_definition()) panel_.update().vectorize(dd_, lanes_).unroll(dd_);
  }

  finished_.compute_at(of_block)
      .bound_extent(ii_, tiles_.rows)
      .bound_extent(x_, padded_ + (spec_.writes_planes ? 2 * lanes_ : 0))
      .reorder(x_, ii_, t_)
      .vectorize(x_, lanes_);
  if (known) finished_.unroll(x_);
  LoopLevel of_row(finished_, ii_);
  top_.compute_at(of_row).vectorize(l_, lanes_).update().reorder(l_, rc_max_).vectorize(l_, lanes_);
  merged_.compute_at(of_row)
      .bound_extent(x_, panel_features_ + lanes_)
      .vectorize(x_, lanes_)
      .unroll(x_)
      .update()
      .reorder(x_, dp_, rc_)
      .vectorize(x_, lanes_)
      .unroll(x_);
  if (known) {
    merged_.unroll(dp_);
    merged_.update().unroll(dp_);
  }
  factor_.compute_at(merged_, rc_).vectorize(l_, lanes_);
  total_.compute_at(of_row).update().atomic().vectorize(over_lanes_);

  packed_.compute_at(of_block)
      .bound_storage(c_, blocks_of(some_columns_, tiles_.chunk))
      .bound_extent(ii_, tiles_.rows)
      .bound_extent(x_, panel_features_ + 2 * lanes_)
      .split(ii_, rows, ii_, tiles_.sum_rows)
      .reorder({x_, ii_, rows, dp_, t_, c_})
      .vectorize(x_, lanes_)
      .unroll(x_)
      .unroll(ii_)
      .never_partition_all();
  LoopLevel of_tile(packed_, t_);
  if (sums_) {
    partial_.compute_at(packed_, rows)
        .vectorize(dd_, lanes_)
        .unroll(dd_)
        .unroll(ii_)
        .update()
        .reorder(dd_, ii_, rj_)
        .vectorize(dd_, lanes_)
        .unroll(dd_)
        .unroll(ii_)
        .unroll(rj_, tiles_.unroll);
  }
  for (size_t n = 0; n < tile_funcs_.size(); ++n) place_tile(static_cast<int>(n), of_tile);
  const int together = std::min(tiles_.rows, kTogether);
  largest_lanes_.compute_at(of_tile)
      .vectorize(l_, lanes_)
      .unroll(ii_, together)
      .update()
      .split(ii_, rows, ii_, together)
      .reorder(l_, ii_, rm_, rows)
      .vectorize(l_, lanes_)
      .unroll(ii_);
  largest_.compute_at(of_tile)
      .unroll(ii_, together)
      .update()
      .atomic()
      .vectorize(over_lanes_)
      .unroll(ii_, together);
  weights_.compute_at(of_tile)
      .bound_extent(c_, 1)
      .bound_storage(j_, tiles_.chunk)
      .bound_extent(ii_, tiles_.rows)
      .split(j_, jo, j_, lanes_, TailStrategy::RoundUp)
      .split(ii_, rows, ii_, together)
      .reorder(j_, ii_, jo, rows)
      .vectorize(j_)
      .unroll(ii_);
  total_lanes_.compute_at(of_tile)
      .vectorize(l_, lanes_)
      .unroll(ii_, together)
      .update()
      .split(ii_, rows, ii_, together)
      .reorder(l_, ii_, rs_, rows)
      .vectorize(l_, lanes_)
      .unroll(ii_);
}

void StreamScheduler::place_tile(int index, const LoopLevel& of_tile) {
  Func tile = tile_funcs_[index];
  Var jo("jo"), rows("rows");
  tile.compute_at(of_tile)
      .bound_extent(c_, 1)
      .bound_storage(j_, tiles_.chunk)
      .bound_extent(ii_, tiles_.rows)
      .split(j_, jo, jj_, panel_columns_, TailStrategy::RoundUp)
      .split(ii_, rows, ii_, tiles_.score_rows)
      .reorder(jj_, ii_, rows, jo)
      .vectorize(jj_, lanes_)
      .unroll(jj_)
      .unroll(ii_);
  const std::vector<StreamDot>& dots = spec_.tiles[index].dots;
  if (dots.empty()) return;
  Func sum = dots_[index].sum;
  sum.compute_at(tile, rows).vectorize(jj_, lanes_).unroll(jj_).unroll(ii_);
  for (size_t k = 0; k < dots.size(); ++k) {
    Halide::Stage stage = sum.update(static_cast<int>(k));
    const RVar r = dots_[index].reduced[k];
    stage.reorder(jj_, ii_, r).vectorize(jj_, lanes_).unroll(jj_).unroll(ii_);
    const int64_t length = constant(dots[k].reduced);
    if (length > 0 && length % tiles_.unroll == 0) stage.unroll(r, tiles_.unroll);
  }
}

std::vector<Func> StreamScheduler::schedule() {
  if (sums_ && !spec_.panel_at) pack_panel();
  score();
  sum_chunks();
  merge();
  write();
  place();
  return results_;
}

}  // namespace

std::vector<Func> schedule_stream(const StreamSpec& spec, const TargetInfo& target) {
  ATTN_CHECK(!spec.tiles.empty(), "a streaming kernel without scores");
  return StreamScheduler(spec, target).schedule();
}

}  // namespace attn::lower
