// What hidden panels hold that is not finite: sums start with it where it is visible.
#include "compiler/lower/cpu/sums_scheduler.h"

namespace attn::lower {

// Of each row or column of a pack, and of all of a batch: 1 where something is not finite.
const SumsScheduler::NonFinitePack& SumsScheduler::non_finite(int index) {
  auto found = non_finite_.find(index);
  if (found != non_finite_.end()) return found->second;
  NonFinitePack pack{find_non_finite(index, 1), Func("out_non_finite_all")};
  const RDom all(0, side(spec_.packs[index].of_rows).extent, "mp");
  pack.of_all(h_) = 0;
  pack.of_all(h_) = max(pack.of_all(h_), pack.of_row.found(all, h_));
  return non_finite_.emplace(index, pack).first->second;
}

// The tiles at one point, (column, row, batch): what a fallback weighs with.
std::vector<Func> SumsScheduler::tiles_as_written(std::vector<Func>& dots) const {
  const TilesSpec::Point point = {batch_of(h_), in_range(i_, rows_), in_range(j_, columns_)};
  std::vector<Func> tiles;
  auto earlier = [&](int k) -> Expr { return tiles[k](j_, i_, h_); };
  for (size_t n = 0; n < spec_.dots.size(); ++n) {
    Func dot("out_as_written_dot"), tile("out_as_written");
    sum_dots(dot, {j_, i_, h_}, static_cast<int>(n), point,
             [&](const TilesSpec::Dot& d, const RDom& r) {
               Expr k = in_range(r, d.length);
               return spec_.factor(d.left, point.batch, point.row, k) *
                      spec_.factor(d.right, point.batch, point.column, k);
             });
    const bool has_dots = !spec_.dots[n].empty();
    tile(j_, i_, h_) = spec_.value(static_cast<int>(n), point,
                                   has_dots ? Expr(dot(j_, i_, h_)) : Expr(0.0f), earlier);
    if (has_dots) dots.push_back(dot);
    tiles.push_back(tile);
  }
  return tiles;
}

// What packing has replaced, where it is visible; of all else 0.
void SumsScheduler::add_fallback(const Result& s, Sum& result) {
  const std::vector<Func> tiles = tiles_as_written(result.fallback_dots);
  const NonFinitePack& pack = non_finite(s.panel);
  const Side& summed = side(!s.of_rows);
  RDom r(0, summed.extent, "rn");
  Expr kept = in_range(n_, side(s.of_rows).extent), other = in_range(r, summed.extent);
  const Expr &row = s.of_rows ? kept : other, &column = s.of_rows ? other : kept;
  const auto value_of = [&](int tile) -> Expr { return tiles[tile](column, row, h_); };
  r.where(unsolved(pack.of_all(h_) != 0));
  r.where(unsolved(pack.of_row.found(r, h_) != 0));
  if (!s.visible.empty())
    r.where(unsolved(spec_.visible(s, {batch_of(h_), row, column}, value_of)));
  Expr feature = clamped(d_, s.features);
  Expr element = zero_or_not_finite(spec_.factor(s.panel, batch_of(h_), other, feature));
  // Halide fails to find where dots are used whose conditions occur twice: they are used
  // everywhere.
  for (const Func& dot : result.fallback_dots)
    element = masked((reinterpret<int32_t>(dot(column, row, h_)) | 1) != 0, element, 0.0f);
  result.fallback = Func("out_fallback");
  result.fallback(d_, n_, h_) = 0.0f;
  result.fallback(d_, n_, h_) +=
      spec_.scaled(s, batch_of(h_), kept, feature, value_of(s.tile) * element);
}

// What the sums of a point of a result begin with.
Expr SumsScheduler::start_of(const Result& s, Sum& result) {
  const auto of_batch = [&](const Expr& batch) {
    return select(non_finite(s.panel).of_all(batch) != 0, result.fallback(d_, n_, batch), 0.0f);
  };
  if (s.summed_batch.empty()) return of_batch(linear_batch());
  Halide::Region region;
  for (int k : s.summed_batch) region.emplace_back(0, spec_.batch_extents[k]);
  const RDom summed(region, "nb");
  std::vector<Expr> batch(batch_vars_.begin(), batch_vars_.end());
  int next = 0;
  for (int k : s.summed_batch) batch[k] = summed[next++];
  const std::vector<Var> vars = vars_of(s, n_, d_);
  result.start = Func("out_start");
  result.start(vars) = 0.0f;
  result.start(vars) += of_batch(batch_of(linear(batch)));
  return result.start(std::vector<Expr>(vars.begin(), vars.end()));
}

// They run only where something is not finite, and are small.
void SumsScheduler::schedule_fallbacks() {
  for (auto& [index, pack] : non_finite_) {
    pack.of_all.compute_root().update();
    Func of_row = pack.of_row.found;
    pack.of_row.compute_at(LoopLevel::root(), lanes_);
    of_row.parallel(h_).update().parallel(h_);
  }
  for (Sum& r : sums_) {
    if (!r.fallback.defined()) continue;
    const RVar summed(r.fallback.rvars(0)[0]);
    if (r.start.defined()) {
      std::vector<VarOrRVar> order = {d_};
      for (const RVar& b : r.start.rvars(0)) order.emplace_back(b);
      r.start.compute_at(r.sums, n_).vectorize(d_, lanes_);
      r.start.update().reorder(order).vectorize(d_, lanes_);
      r.fallback.compute_at(r.start, RVar(r.start.rvars(0)[0]));
    } else {
      r.fallback.compute_at(r.sums, n_);
    }
    r.fallback.vectorize(d_, lanes_);
    r.fallback.update().reorder(d_, summed).vectorize(d_, lanes_);
    for (Func& dot : r.fallback_dots) dot.compute_at(r.fallback, summed);
  }
}

}  // namespace attn::lower
