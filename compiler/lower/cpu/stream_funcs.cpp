// What a streaming kernel computes.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/lower/cpu/stream_scheduler.h"
#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

namespace {

// Scores at or below the floor count as hidden; hidden ones lie so far below that their
// exponentials are 0 beside a row without any visible score.
constexpr float kFloor = -3.0e38f;
constexpr int kPackedTogether = 8;  // columns of a right factor
constexpr int kSeenColumns = 64;    // columns, by data: sums stay in registers for so long

}  // namespace

StreamScheduler::StreamScheduler(const TilesSpec& spec, const Target& target)
    : TilesScheduler(spec, target),
      sum_(spec.find(TilesSpec::Kind::weighted)),
      writes_planes_(spec.find(TilesSpec::Kind::logsumexp)->is_written),
      tiles_(tuning(target).stream(vectors_of(sum_ ? sum_->features : Expr()))),
      panel_columns_(tiles_.score_vectors * lanes_),
      seen_columns_(spec.seen_by_data ? kSeenColumns : tiles_.chunk),
      panel_features_(sum_ ? tiles_.sum_vectors * lanes_ : 0),
      features_(!sum_                      ? Expr(0)
                : sum_->features.defined() ? sum_->features
                                           : Expr(1)),
      padded_(simplify((features_ + (lanes_ - 1)) / lanes_ * lanes_)) {
  ATTN_CHECK(tiles_.chunk % seen_columns_ == 0 && seen_columns_ % panel_columns_ == 0,
             "blocks of columns that data leaves out are not whole panels of a chunk");
}

Expr StreamScheduler::first_column() const {
  if (!spec_.columns_of_rows.first) return 0;
  Expr first = spec_.columns_of_rows.first(first_row(), last_row());
  return clamp(first, 0, spec_.columns) / panel_columns_ * panel_columns_;
}

Expr StreamScheduler::end_column() const {
  if (!spec_.columns_of_rows.end) return spec_.columns;
  return clamp(spec_.columns_of_rows.end(first_row(), last_row()), 0, spec_.columns);
}

void StreamScheduler::limit(RDom& domain, const Expr& position, int unit) const {
  Expr end = min(end_column() - column(0), tiles_.chunk);
  domain.where(position < (unit == 1 ? end : (end + (unit - 1)) / unit));
  if (!spec_.columns_of_rows.first) return;
  Expr first = max(first_column() - column(0), 0);
  domain.where(position >= (unit == 1 ? first : first / unit));
}

void StreamScheduler::limit_to_seen(RDom& domain, const Expr& from, int size) const {
  const SeenByData& data = spec_.seen_by_data;
  if (!data) return;
  Expr first = clamp(data.first(h_, first_row(), last_row()), first_column(), spec_.columns);
  Expr end = clamp(data.end(h_, first_row(), last_row()), 0, end_column());
  domain.where(unsolved(from < end && from + size > first));
}

void StreamScheduler::limit(RDom& domain, const Expr& position, int unit, const Expr& block) const {
  limit(domain, position, unit);
  limit_to_seen(domain, column(block * seen_columns_), seen_columns_);
}

// Beyond the last row it repeats, so that every tile below is whole.
Func StreamScheduler::left(int pack) {
  auto [found, is_new] = left_.try_emplace(pack, Func("out_left"));
  Func left = found->second;
  if (is_new)
    left(d_, ii_, t_, h_) =
        spec_.factor(pack, batch_of(h_), row_of(t_, ii_), in_range(d_, spec_.packs[pack].length));
  return left;
}

// Columns are packed some at a time; what is beyond the last of these is any number, and hidden.
Func StreamScheduler::right(int pack) {
  if (auto found = right_.find(pack); found != right_.end()) return found->second.func;
  Func right("out_right");
  const int some = std::min(panel_columns_, kPackedTogether);
  RDom r({{0, some}, {0, panel_columns_ / some}}, "rc");
  r.where(jp_ * panel_columns_ + r[1] * some < columns_);
  Expr within = r[1] * some + r[0];
  right(jj_, d_, jp_, h_) = undef<float>();
  right(within, d_, jp_, h_) =
      spec_.factor(pack, batch_of(h_), column_at(jp_ * panel_columns_ + within),
                   in_range(d_, spec_.packs[pack].length));
  right_[pack] = {right, r};
  return right;
}

void StreamScheduler::pack_panel() {
  Expr value = spec_.packed(sum_->panel, batch_of(h_), column_at(j_), feature());
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
  for (size_t n = 0; n < spec_.dots.size(); ++n) add_tile(static_cast<int>(n));
  scores_ = tile_funcs_.back();
}

void StreamScheduler::add_tile(int index) {
  const int panels = tiles_.chunk / panel_columns_;
  const std::string name = "out_tile" + std::to_string(index);
  Func sum(name + "_dot");
  sum_dots(sum, {jj_, jp_, ii_, t_, c_, h_}, index,
           {batch_of(h_), row_of(t_, ii_), column_at(likely(column(jp_ * panel_columns_ + jj_)))},
           [&](const TilesSpec::Dot& dot, const RDom& r) -> Expr {
             return left(dot.left)(r, ii_, t_, h_) *
                    right(dot.right)(jj_, r, c_ * panels + jp_, h_);
           });
  Func func(name);
  const bool last = index + 1 == static_cast<int>(spec_.dots.size());
  const int rows = tiles_.score_rows, in_block = seen_columns_ / panel_columns_;
  RDom r({{0, panel_columns_},
          {0, rows},
          {0, tiles_.rows / rows},
          {0, in_block},
          {0, tiles_.chunk / seen_columns_}},
         "rp");
  Expr panel = r[4] * in_block + r[3], j = panel * panel_columns_ + r[0], i = r[2] * rows + r[1];
  limit(r, panel, panel_columns_, r[4]);
  Expr key = column(j);
  Expr dot = spec_.dots[index].empty() ? Expr(0.0f) : Expr(sum(r[0], panel, i, t_, c_, h_));
  auto earlier = [&](int k) -> Expr { return tile_funcs_[k](j, i, t_, c_, h_); };
  Expr value =
      spec_.value(index, {batch_of(h_), row_of(t_, i), column_at(likely(key))}, dot, earlier);
  func(j_, ii_, t_, c_, h_) = undef<float>();
  func(j, i, t_, c_, h_) = select(unsolved(key < spec_.columns), value, last ? kLowest : 0.0f);
  tile_domains_.push_back(r);
  dots_.push_back(sum);
  tile_funcs_.push_back(func);
}

// Of one tile and chunk: the largest score, the weights' sum in lanes, and the weighted sum.
void StreamScheduler::sum_chunks() {
  const int blocks = tiles_.chunk / seen_columns_, vectors = seen_columns_ / lanes_;
  rm_ = RDom({{0, vectors}, {0, blocks}}, "rm");
  rs_ = RDom({{0, vectors}, {0, blocks}}, "rs");
  over_lanes_ = RDom(0, lanes_, "rl");
  auto vector_of = [&](const RDom& r) { return r[1] * vectors + r[0]; };
  for (RDom* r : {&rm_, &rs_}) limit(*r, vector_of(*r), lanes_, (*r)[1]);

  largest_lanes_(l_, ii_, t_, c_, h_) = kFloor;
  largest_lanes_(l_, ii_, t_, c_, h_) = max(largest_lanes_(l_, ii_, t_, c_, h_),
                                            scores_(vector_of(rm_) * lanes_ + l_, ii_, t_, c_, h_));
  largest_(ii_, t_, c_, h_) = kFloor;
  largest_(ii_, t_, c_, h_) =
      max(largest_(ii_, t_, c_, h_), largest_lanes_(over_lanes_, ii_, t_, c_, h_));

  const int rows = rows_together();
  rw_ = RDom({{0, lanes_}, {0, rows}, {0, vectors}, {0, blocks}, {0, tiles_.rows / rows}}, "rw");
  Expr vector = rw_[3] * vectors + rw_[2], j = vector * lanes_ + rw_[0], i = rw_[4] * rows + rw_[1];
  limit(rw_, vector, lanes_, rw_[3]);
  weights_(j_, ii_, t_, c_, h_) = undef<float>();
  weights_(j, i, t_, c_, h_) =
      vector_exp(scores_(j, i, t_, c_, h_) - largest_(i, t_, c_, h_), -60.0f);
  // In vectors too, not beside the product, where each is one of a register tile's scalars.
  if (sum_ && sum_->has_weight()) {
    const TilesSpec::Point point{batch_of(h_), row_of(t_, i), column_at(likely(column(j)))};
    const auto tile = [&](int k) -> Expr { return tile_funcs_[k](j, i, t_, c_, h_); };
    const Expr value = weights_(j, i, t_, c_, h_) * spec_.weight(*sum_, point);
    contributions_(j_, ii_, t_, c_, h_) = undef<float>();
    contributions_(j, i, t_, c_, h_) =
        sum_->hides_weight() ? masked(spec_.visible(*sum_, point, tile), value, 0.0f) : value;
  }
  total_lanes_(l_, ii_, t_, c_, h_) = 0.0f;
  total_lanes_(l_, ii_, t_, c_, h_) += weights_(vector_of(rs_) * lanes_ + l_, ii_, t_, c_, h_);

  if (sum_) sum_panel();

  // Sum, total and maximum of a chunk side by side, the last two in every lane.
  const int pd = panel_features_;
  Expr value =
      select(x_ < pd + lanes_, total_lanes_(clamp(x_ - pd, 0, lanes_ - 1), ii_, t_, c_, h_),
             largest_(ii_, t_, c_, h_));
  if (sum_) {
    const std::vector<Expr> at = {clamp(x_, 0, pd - 1), dp_, ii_, t_, c_, h_};
    Expr sum = partial_(at);
    if (has_fallback(*sum_)) sum += fallback_(at);
    value = select(x_ < pd, sum, value);
  }
  // Chunks of which a tile sees nothing are left out, and not read.
  RDom seen(0, 1, "seen");
  limit_to_seen(seen, column(0), tiles_.chunk);
  packed_(x_, ii_, dp_, t_, c_, h_) = undef<float>();
  packed_(x_, ii_, dp_, t_, c_, h_) = value + cast<float>(seen);
}

void StreamScheduler::sum_panel() {
  rj_ = RDom({{0, seen_columns_}, {0, tiles_.chunk / seen_columns_}}, "rj");
  Expr within = rj_[1] * seen_columns_ + rj_[0];
  limit(rj_, within, 1, rj_[1]);
  const Func& weights = sum_->has_weight() ? contributions_ : weights_;
  Expr weight = weights(within, ii_, t_, c_, h_);
  const auto point = [&](const Expr& in_chunk) -> TilesSpec::Point {
    return {batch_of(h_), row_of(t_, ii_), column_at(column(in_chunk))};
  };
  const auto hide = [&](const Expr& in_chunk, const Expr& value) {
    auto tile = [&](int k) -> Expr { return tile_funcs_[k](in_chunk, ii_, t_, c_, h_); };
    if (sum_->visible.empty()) return value;
    return masked(spec_.visible(*sum_, point(in_chunk), tile), value, 0.0f);
  };
  Expr product = sum_->has_panel_at()
                     ? hide(within, weight * spec_.panel_at(*sum_, point(within), feature()))
                     : weight * panel_(dd_, column(within), dp_, h_);
  partial_(dd_, dp_, ii_, t_, c_, h_) = 0.0f;
  partial_(dd_, dp_, ii_, t_, c_, h_) += product;
  if (!has_fallback(*sum_)) return;
  // What packing has replaced, where it is visible; of all else 0.
  rn_ = RDom({{0, tiles_.chunk}}, "rn");
  rn_.where(unsolved(non_finite_.found(c_, h_) != 0));
  limit(rn_, rn_, 1);
  Expr element = hide(rn_, zero_or_not_finite(spec_.factor(sum_->panel, batch_of(h_),
                                                           point(rn_).column, feature())));
  fallback_(dd_, dp_, ii_, t_, c_, h_) = 0.0f;
  fallback_(dd_, dp_, ii_, t_, c_, h_) += weights(rn_, ii_, t_, c_, h_) * element;
}

void StreamScheduler::merge() {
  const int pd = panel_features_;
  Expr chunks = blocks_of(spec_.columns, tiles_.chunk);
  rc_max_ = RDom(0, chunks, "rc_max");
  rc_ = RDom(0, chunks, "rc");
  for (RDom* r : {&rc_max_, &rc_}) {
    if (spec_.columns_of_rows.end) r->where(*r < blocks_of(end_column(), tiles_.chunk));
    if (spec_.columns_of_rows.first) r->where(*r >= first_column() / tiles_.chunk);
    limit_to_seen(*r, *r * tiles_.chunk, tiles_.chunk);
  }
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
  if (sum_) {
    Expr at = clamp(x_, 0, max(features_ - 1, 0));
    value = merged_(at % pd, at / pd, ii_, t_, h_) * inverse;
  }
  if (writes_planes_) {
    Expr high = select(total > 0, top_(0, ii_, t_, h_), kLowest);
    Expr logarithm = select(total > 0, log(max(total, 1e-30f)), 0.0f);
    Expr low = select(has_finite_bits(total), logarithm, total);
    value = select(x_ < padded_, value, x_ < padded_ + lanes_, high, low);
  }
  finished_(x_, ii_, t_, h_) = value;
}

Func StreamScheduler::output(const Result& r) {
  const bool planes = r.kind() == TilesSpec::Kind::logsumexp;
  std::vector<Var> vars = vars_of(r, i_, d_);
  Expr batch = linear_batch(), within = i_ % tiles_.rows, tile = i_ / tiles_.rows;
  Func out(planes ? "out_planes" : "out");
  if (planes) {
    vars.push_back(plane_);
    out(vars) = select(plane_ == 0, finished_(padded_, within, tile, batch),
                       finished_(padded_ + lanes_, within, tile, batch));
  } else {
    const bool has_feature = vars.size() > batch_vars_.size() + 1;
    out(vars) = spec_.scaled(r, batch_of(batch), in_range(i_, rows_),
                             has_feature ? in_range(d_, features_) : Expr(0),
                             finished_(has_feature ? Expr(d_) : Expr(0), within, tile, batch));
  }
  return out;
}

}  // namespace attn::lower
