// What a block of threads computes of a chunk.
#include "compiler/lower/gpu/functions.h"
#include "compiler/lower/gpu/sweep.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

namespace {

constexpr int kHidden = INT32_MIN;  // the bits of -0

}  // namespace

void Sweep::add_tiles() {
  const std::vector<Var> args = with_chunk({u_, v_, t_, w_});
  const TilesSpec::Values earlier = tiles_here();
  for (int k = 0; k <= of_.tile; ++k) {
    const std::string name = "out_tile" + std::to_string(k);
    Expr sum = 0.0f;
    if (!spec_.dots[k].empty()) {
      Func dot(name + "_dot");
      if (spec_.dots[k].size() == 1 && is_one_round(spec_.dots[k][0])) {
        add_fragments(dot, spec_.dots[k][0]);
      } else {
        dot(args) = 0.0f;
        for (const TilesSpec::Dot& d : spec_.dots[k]) add_products(dot, d);
      }
      in_registers(dot, of_chunk());
      sum = dot(args);
    }
    Func tile(name);
    const Expr value = at_places([&](const Point& p) { return spec_.value(k, p, sum, earlier); });
    tile(args) = select(unsolved(other_index() < others_), value,
                        streams_ && k == of_.tile ? kLowest : 0.0f);
    in_registers(tile, of_chunk());
    tiles_.push_back(tile);
  }
}

void Sweep::add_products(Func dot, const TilesSpec::Dot& d) {
  const int n = dot.num_update_definitions();
  const std::vector<Var> args = with_chunk({u_, v_, t_, w_});
  if (!d.is_packed()) {
    RDom r(0, d.length, "rd");
    dot(args) += each_time(r, spec_.product(d, here(), in_range(r, d.length)));
    std::vector<VarOrRVar> order = {u_, v_, r.x, t_, w_};
    order.insert(order.end(), of_chunk_.begin(), of_chunk_.end());
    dot.update(n).reorder(order).unroll(u_).unroll(v_).gpu_threads(t_, w_);
    return;
  }
  const std::string name = dot.name() + std::to_string(n);
  if (scores_.in_fragments) return add_fragments(dot, d);
  Func own = staged(name + "_own", of_.of_rows ? d.left : d.right, ib_, d.length);
  Func other = staged(name + "_other", of_.of_rows ? d.right : d.left, c_, d.length);
  std::vector<Var> batch = summed_;
  batch.push_back(h_);
  RDom r({{0, kStaged}, {0, blocks_of(d.length, kStaged)}}, "rd");
  dot(args) += own(at({scores_.row(v_, w_), r[0], r[1], ib_}, batch)) *
               other(at({scores_.column(u_, t_), r[0], r[1], c_}, batch));
  std::vector<VarOrRVar> order = {u_, v_, r[0], t_, w_};
  order.insert(order.end(), of_chunk_.begin(), of_chunk_.end());
  order.emplace_back(r[1]);
  dot.update(n).reorder(order).unroll(u_).unroll(v_).unroll(r[0], unrolled(target_));
  dot.update(n).gpu_threads(t_, w_).never_partition({r[1]});
  for (Func f : {own, other}) f.compute_at(dot, r[1]);
}

// Of a factor of dots, at an own element or another: 0 beyond the last feature.
Expr Sweep::factor_at(int pack, bool is_own, const Expr& index, const Expr& feature,
                      const Expr& length) const {
  const Expr value = spec_.factor(pack, batch(), cut(index, is_own ? own_extent_ : other_extent_),
                                  cut(feature, max(length, 1)));
  return select(unsolved(feature < length), value, 0.0f);
}

// Of a block or a chunk, some features of a factor of dots.
Func Sweep::staged(const std::string& name, int pack, const Var& block, const Expr& length) const {
  Func f(name);
  const bool is_own = block.name() == ib_.name();
  const Expr first = is_own ? first_own(block) : block * scores_.columns();
  std::vector<Var> args = {m_, k_, kc_, block};
  args.insert(args.end(), summed_.begin(), summed_.end());
  args.push_back(h_);
  f(args) = factor_at(pack, is_own, first + m_, kc_ * kStaged + k_, length);
  stage(f, is_own ? scores_.rows() : scores_.columns(), true, scores_);
  return f;
}

// Of a stream: each row's greatest score in the chunk.
void Sweep::add_largest() {
  const std::vector<Var> args = with_chunk({v_, t_, w_});
  RDom ru(0, scores_.across, "ru"), rt(0, scores_.threads_across, "rt");
  const auto of_each = [&](const Func& part, const std::vector<Var>& place) {
    const std::vector<Expr> here(place.begin(), place.end());
    part(place) = kFloor;
    part(place) = greatest(part(here), tiles_.back()(at({ru, v_, t_, w_}, of_chunk_)), target_);
  };
  Func part("out_largest_part");
  largest_ = Func("out_largest");
  if (target_.device == ATTN_CUDA) {
    // The threads of a row are neighbours in a warp.
    of_each(part, args);
    in_registers(part, of_chunk());
    by_threads(part.update(), {ru, v_}, of_chunk_);
    Expr value = part(args);
    for (int distance = 1; distance < scores_.threads_across; distance *= 2)
      value = greatest(value, of_lane(value, distance), target_);
    largest_(args) = value;
    in_registers(largest_, of_chunk());
    return;
  }
  of_each(part, with_chunk({v_, w_, t_}));
  shared(part, of_chunk());
  by_threads(part.update(), {ru, v_}, of_chunk_);
  largest_(args) = kFloor;
  largest_(args) = greatest(largest_(args), part(at({v_, w_, rt}, of_chunk_)), target_);
  in_registers(largest_, of_chunk());
  by_threads(largest_.update(), {v_, rt}, of_chunk_);
}

// The exponentials of the distances to it, and a thread's part of their sum.
void Sweep::add_weights() {
  const std::vector<Var> all = with_chunk({u_, v_, t_, w_}), args = with_chunk({v_, t_, w_});
  RDom rs(0, scores_.across, "rs");
  weights_ = Func("out_weights");
  weights_(all) = exponential(tiles_.back()(all) - largest_(args), target_);
  in_registers(weights_, of_chunk());
  total_ = Func("out_total");
  total_(args) = 0.0f;
  total_(args) += weights_(at({rs, v_, t_, w_}, of_chunk_));
  in_registers(total_, of_chunk());
  by_threads(total_.update(), {rs, v_}, of_chunk_);
}

// What a point gives to the sum, of which `value` is the tile or the weight; both are 0 beyond the
// last of the others.
Expr Sweep::addend(const Expr& value, const TilesSpec::Values& tiles) {
  const bool has_factor = !has_features_ && sum_->panel >= 0;
  const bool has_weight = sum_->kind() == Kind::weighted && sum_->has_weight();
  Expr result = value;
  if (has_weight)
    result = result * at_places([&](const Point& p) { return spec_.weight(*sum_, p); });
  if (has_factor)
    result = result * at_places([&](const Point& p) {
               return spec_.factor(sum_->panel, p.batch, sum_->of_rows ? p.column : p.row, 0);
             });
  if (sum_->hides_weight() || (!has_features_ && !sum_->visible.empty()))
    result = masked(at_places([&](const Point& p) { return spec_.visible(*sum_, p, tiles); }),
                    result, 0.0f);
  if (!has_weight && !has_factor) return result;
  return select(unsolved(other_index() < others_), result, 0.0f);
}

// The fallback knows what is hidden by the sign of a zero.
Expr Sweep::marked(const Expr& addend) const {
  const Expr bits = reinterpret<int32_t>(addend);
  const Expr visible = unsolved(spec_.visible(*sum_, here(), tiles_here()));
  return reinterpret<float>(select(visible, select(bits == kHidden, 0, bits), kHidden));
}

TilesSpec::Values Sweep::tiles_here() const {
  return [this, args = with_chunk({u_, v_, t_, w_})](int k) -> Expr { return tiles_[k](args); };
}

void Sweep::add_addends() {
  const std::vector<Var> all = with_chunk({u_, v_, t_, w_});
  Expr value = addend(streams_ ? weights_(all) : tiles_[sum_->tile](all), tiles_here());
  if (!has_features_ || scores_.in_fragments) {
    addends_ = Func("out_addends");
    addends_(all) = value;
    in_registers(addends_, of_chunk());
    value = addends_(all);
  }
  if (has_features_) {
    if (scores_.in_fragments && !has_fallback()) return;
    shared_addends_ = Func("out_shared_addends");
    shared_addends_(with_chunk({v_, w_, t_, u_})) = has_fallback() ? marked(value) : value;
    if (!scores_.in_fragments) shared(shared_addends_, of_chunk());
    return;
  }
  RDom ru(0, scores_.across, "ru");
  const std::vector<Var> args = with_chunk({v_, t_, w_});
  partial_ = Func("out_partial");
  partial_(args) = 0.0f;
  partial_(args) += addends_(at({ru, v_, t_, w_}, of_chunk_));
  in_registers(partial_, of_chunk());
  by_threads(partial_.update(), {ru, v_}, of_chunk_);
}

// Of a chunk's panel: 0 beyond the last of the others; beyond the last feature it repeats that.
Expr Sweep::panel_at(const Expr& feature, const Expr& in_chunk) const {
  const Expr other = c_ * scores_.columns() + in_chunk;
  return select(unsolved(other < others_),
                spec_.packed(sum_->panel, batch(), cut(other, other_extent_),
                             cut(feature, max(sum_->features, 1))),
                0.0f);
}

// The product of a chunk's addends and its panel.
void Sweep::add_partial() {
  const int groups = kStaged / scores_.across;
  const Expr features = max(sum_->features, 1);
  if (has_fallback()) find_not_finite(features);
  std::vector<Var> batch = summed_, rest = of_chunk_;
  batch.push_back(h_);
  rest.insert(rest.begin() + 1, fb_);
  RDom r({{0, scores_.across}, {0, groups}, {0, scores_.columns() / kStaged}}, "rp");
  Func panel("out_panel");
  std::vector<Var> args = {m_, k_, kc_, fb_, c_};
  args.insert(args.end(), batch.begin(), batch.end());
  panel(args) = panel_at(fb_ * panel_.columns() + m_, kc_ * kStaged + k_);
  if (scores_.in_fragments) {
    add_partial_fragments(panel);
    if (has_fallback()) add_fallback(features);
    return;
  }
  stage(panel, panel_.columns(), false, scores_);
  partial_ = Func("out_partial");
  std::vector<Var> here = {u_, v_, t_, w_};
  here.insert(here.end(), rest.begin(), rest.end());
  partial_(here) = 0.0f;
  partial_(here) +=
      shared_addends_(at({v_, w_, r[2] * groups + r[1], r[0]}, of_chunk_)) *
      panel(at({panel_.column(u_, t_), r[1] * scores_.across + r[0], r[2], fb_, c_}, batch));
  in_registers(partial_, of_chunk(), panel_);
  std::vector<VarOrRVar> order = {u_, v_, r[0], r[1], t_, w_};
  order.insert(order.end(), rest.begin(), rest.end());
  order.emplace_back(r[2]);
  partial_.update().reorder(order).unroll(u_).unroll(v_).unroll(r[0], unrolled(target_));
  partial_.update().gpu_threads(t_, w_).never_partition({r[2]});
  panel.compute_at(partial_, r[2]);
  if (has_fallback()) add_fallback(features);
}

// Two launches find the chunks whose panel has anything that is not finite.
void Sweep::find_not_finite(const Expr& features) {
  Var i("i"), h("h"), chunk("chunk");
  RDom over_features(0, features, "rf"), over_chunk(0, scores_.columns(), "rk");
  const auto launch = [&](const std::string& name, const Var& x, const Expr& extent,
                          const Expr& value) {
    Func any(name + "_any"), f(name);
    any(x, h) = 0;
    any(x, h) = max(any(x, h), value);
    f(x, h) = any(x, h);
    f.compute_root().bound(x, 0, extent).bound(h, 0, batches_);
    any.compute_at(one_thread_a_point(f));
    return f;
  };
  const Expr of_one = spec_.factor(sum_->panel, own(h, batches_), own(i, other_extent_),
                                   in_range(over_features, features));
  Func ones =
      launch("out_not_finite_one", i, other_extent_, cast<int32_t>(!has_finite_bits(of_one)));
  found_ = launch("out_not_finite", chunk, blocks_of(other_extent_, scores_.columns()),
                  ones(cut(chunk * scores_.columns() + over_chunk, other_extent_), h));
}

// What staging has replaced, where it is visible.
void Sweep::add_fallback(const Expr& features) {
  RDom r({{0, scores_.across}, {0, scores_.threads_across}}, "rn");
  r.where(of_whole_body(RVar(r[1]), found_(c_, batch()) != 0));
  const Expr other = c_ * scores_.columns() + scores_.column(r[0], r[1]);
  const Expr feature = cut(fb_ * panel_.columns() + panel_.column(u_, t_), features);
  const Expr element =
      zero_or_not_finite(spec_.factor(sum_->panel, batch(), cut(other, other_extent_), feature));
  const Expr weight = shared_addends_(at({v_, w_, r[1], r[0]}, of_chunk_));
  std::vector<Var> rest = of_chunk_;
  rest.insert(rest.begin() + 1, fb_);
  partial_(at({u_, v_, t_, w_}, rest)) +=
      masked(other < others_ && reinterpret<int32_t>(weight) != kHidden, weight * element, 0.0f);
  const int n = partial_.num_update_definitions() - 1;
  by_threads(partial_.update(n), {u_, v_}, rest, {r[0], r[1]});
  // In fragments nothing else reads them: they are there if the chunk is.
  if (scores_.in_fragments) shared(shared_addends_, LoopLevel(partial_, RVar(r[1])));
}

}  // namespace attn::lower::gpu
