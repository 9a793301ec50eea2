// The loops of a block of threads over its chunks, and what it writes.
#include <algorithm>
#include <map>

#include "compiler/lower/gpu/functions.h"
#include "compiler/lower/gpu/sweep.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

namespace {

using Halide::MemoryType;

constexpr int kLeastFeatures = 16, kMostFeatures = 128;
constexpr int kUnknownFeatures = 64;  // where the number is not known

// How many features a block has: all where they are few, and else a part.
int features_of_block(const Expr& features) {
  const int64_t known = constant(features);
  if (known <= 0) return kUnknownFeatures;
  int block = kLeastFeatures;
  while (block < kMostFeatures && block < known) block *= 2;
  return block;
}

}  // namespace

Sweep::Sweep(const TilesSpec& spec, const target::Target& target, plan::Precision precision,
             const Result* planes, const Result* sum)
    : Tiles(spec),
      target_(target),
      precision_(precision),
      scores_(uses_matrix_units(target, precision) ? kFragments : kPlainScores),
      planes_(planes),
      sum_(sum),
      of_(sum ? *sum : *planes),
      streams_(of_.kind() == Kind::weighted || of_.kind() == Kind::logsumexp),
      has_features_(sum && sum->features.defined()),
      own_extent_(of_.of_rows ? rows_ : columns_),
      other_extent_(of_.of_rows ? columns_ : rows_),
      others_(of_.of_rows ? spec.columns : spec.rows),
      own_blocks_(blocks_of(own_extent_, scores_.rows())) {
  const int batches = static_cast<int>(spec.batch_extents.size());
  kept_.assign(spec.batch_extents.size(), false);
  for (int k : of_.dimensions)
    if (k < batches) kept_[k] = true;
  Halide::Region chunks = {{0, blocks_of(others_, scores_.columns())}};
  for (int k = 0; k < batches; ++k) {
    if (kept_[k]) {
      kept_extents_.push_back(max(spec.batch_extents[k], 1));
      kept_batches_ = kept_batches_ * kept_extents_.back();
    } else {
      summed_.emplace_back("g" + std::to_string(k));
      chunks.emplace_back(0, spec.batch_extents[k]);
    }
  }
  kept_batches_ = simplify(kept_batches_);
  chunks_ = RDom(chunks, "rc");
  of_chunk_ = {ib_, c_};
  of_chunk_.insert(of_chunk_.end(), summed_.begin(), summed_.end());
  of_chunk_.push_back(h_);
  if (has_features_) {
    panel_ = scores_;
    panel_.across = features_of_block(sum->features) / scores_.threads_across;
    feature_blocks_ = blocks_of(max(sum->features, 1), panel_.columns());
  }
}

// Coordinates of the batch where `h` and the summed ones are given.
Expr Sweep::batch_at(const Expr& h, const std::vector<Expr>& summed) const {
  if (summed.empty()) return h;
  const std::vector<Expr> kept = decode_index(h, kept_extents_);
  std::vector<Expr> all;
  size_t next_kept = 0, next_summed = 0;
  for (bool is_kept : kept_) all.push_back(is_kept ? kept[next_kept++] : summed[next_summed++]);
  return linear(all);
}

std::vector<Expr> Sweep::summed_in_loop() const {
  std::vector<Expr> summed;
  for (int k = 1; k < chunks_.dimensions(); ++k) summed.emplace_back(chunks_[k]);
  return summed;
}

// The first of a block; those with many chunks come first.
Expr Sweep::first_own(const Expr& block) const {
  const Edges& edges = of_.of_rows ? spec_.columns_of_rows : spec_.rows_of_columns;
  return (edges.end && !edges.first ? own_blocks_ - 1 - block : block) * scores_.rows();
}

std::vector<Expr> Sweep::in_loop(std::vector<Expr> thread, bool of_features) const {
  thread.emplace_back(ib_);
  if (of_features) thread.emplace_back(fb_);
  for (int k = 0; k < chunks_.dimensions(); ++k) thread.emplace_back(chunks_[k]);
  thread.emplace_back(h_);
  return thread;
}

void Sweep::in_registers(Func f, const LoopLevel& level, const RegisterTile& tile) const {
  f.compute_at(level).store_in(MemoryType::Register);
  const std::map<std::string, int> extents = {{u_.name(), tile.across},
                                              {v_.name(), tile.down},
                                              {t_.name(), scores_.threads_across},
                                              {w_.name(), scores_.threads_down}};
  for (const Var& a : std::vector<Var>(f.args())) {
    if (a.name() == k_.name()) continue;  // it is bound
    const auto extent = extents.find(a.name());
    if (extent == extents.end()) {
      f.bound_extent(a, 1);
      continue;
    }
    f.bound(a, 0, extent->second);
    if (a.name() == u_.name() || a.name() == v_.name()) f.unroll(a);
  }
  f.gpu_threads(t_, w_);
}

// Arguments (v, w, t, ...): the rows of a thread are neighbours.
void Sweep::shared(Func f, const LoopLevel& level) const {
  f.compute_at(level).store_in(MemoryType::GPUShared);
  const std::vector<Var> args = f.args();
  f.bound(v_, 0, scores_.down).bound(w_, 0, scores_.threads_down);
  f.bound(t_, 0, scores_.threads_across).bound_storage(w_, scores_.threads_down + 1);
  std::vector<VarOrRVar> order = {v_};
  for (size_t n = 3; n < args.size(); ++n) {
    if (args[n].name() == u_.name()) {
      f.bound(u_, 0, scores_.across).unroll(u_);
      order.emplace_back(u_);
    } else {
      f.bound_extent(args[n], 1);
    }
  }
  order.insert(order.end(), {t_, w_});
  f.reorder(order).unroll(v_).gpu_threads(t_, w_);
}

// An update: `inner` loops of a thread, unrolled, and around the threads those of a block.
void Sweep::by_threads(Stage stage, const std::vector<VarOrRVar>& inner,
                       const std::vector<Var>& rest, const std::vector<VarOrRVar>& outer) const {
  std::vector<VarOrRVar> order = inner;
  order.insert(order.end(), {t_, w_});
  order.insert(order.end(), rest.begin(), rest.end());
  order.insert(order.end(), outer.begin(), outer.end());
  stage.reorder(order);
  for (const VarOrRVar& loop : inner) stage.unroll(loop);
  stage.gpu_threads(t_, w_);
  if (!outer.empty()) stage.never_partition(outer);
}

// Whether a chunk holds anything that is visible, as far as conditions and data say.
Expr Sweep::seen() const {
  const Expr own = first_own(ib_), other = chunks_[0] * scores_.columns();
  const Expr last_own = own + (scores_.rows() - 1), last_other = other + (scores_.columns() - 1);
  const Expr i0 = of_.of_rows ? own : other, i1 = of_.of_rows ? last_own : last_other;
  const Expr j0 = of_.of_rows ? other : own, j1 = of_.of_rows ? last_other : last_own;
  Expr all;
  const auto add = [&](const Expr& e) { all = all.defined() ? all && e : e; };
  const Edges& e = spec_.columns_of_rows;
  if (e.end) add(j0 < e.end(i0, i1));
  if (e.first) add(j1 >= e.first(i0, i1));
  const Expr batch = batch_at(h_, summed_in_loop());
  if (const SeenByData& data = spec_.seen_by_data)
    add(j0 < data.end(batch, i0, i1) && j1 >= data.first(batch, i0, i1));
  return all;
}

Expr Sweep::state(size_t element, const std::vector<Expr>& at) const {
  return state_elements_ == 1 ? Expr(state_(at)) : Expr(state_(at)[static_cast<int>(element)]);
}

// Of a stream the greatest score so far, a thread's part of the sum of exponentials, and the sums;
// else the sums.
void Sweep::add_state() {
  const std::vector<Var> rest = {ib_, fb_, h_};
  const std::vector<Expr> here = at({v_, t_, w_}, rest);
  const size_t first = streams_ ? 2 : 0, sums = !sum_ ? 0 : has_features_ ? panel_.across : 1;
  state_elements_ = first + sums;
  std::vector<Expr> start(state_elements_, 0.0f), next(state_elements_);
  if (streams_) start[0] = kFloor;
  state_(std::vector<Var>{v_, t_, w_, ib_, fb_, h_}) = Tuple(start);
  if (const Expr condition = seen(); condition.defined())
    chunks_.where(of_whole_body(RVar(chunks_[0]), condition));
  Expr old_factor, new_factor;
  if (streams_) {
    const Expr before = state(0, here), in_chunk = largest_(in_loop({v_, t_, w_}));
    next[0] = greatest(before, in_chunk, target_);
    old_factor = exponential(before - next[0], target_);
    new_factor = exponential(in_chunk - next[0], target_);
    next[1] = state(1, here) * old_factor + total_(in_loop({v_, t_, w_})) * new_factor;
  }
  for (int n = 0; n < static_cast<int>(sums); ++n) {
    const Expr of_chunk =
        has_features_ ? partial_(in_loop({n, v_, t_, w_}, true)) : partial_(in_loop({v_, t_, w_}));
    const Expr before = state(first + n, here);
    if (streams_) {
      next[first + n] = before * old_factor + of_chunk * new_factor;
    } else if (summed_.empty()) {
      next[first + n] = before + of_chunk;
    } else {
      const Expr feature = fb_ * panel_.columns() + panel_.column(n, t_);
      const Expr scaled = spec_.scaled(
          *sum_, own(batch_at(h_, summed_in_loop()), batches_), cut(own_index(), own_extent_),
          has_features_ ? cut(feature, max(sum_->features, 1)) : Expr(0), of_chunk);
      next[first + n] = before + cast<float>(scaled);
    }
  }
  state_(here) = Tuple(next);
  std::vector<VarOrRVar> outer;
  for (int k = 0; k < chunks_.dimensions(); ++k) outer.emplace_back(chunks_[k]);
  by_threads(state_.update(), {v_}, rest, outer);
}

// Of parts that the threads of a row have, the sum.
Func Sweep::over_threads(const std::string& name, size_t element, const LoopLevel& level) const {
  const std::vector<Var> rest = {ib_, fb_, h_};
  const std::vector<Var> args = {v_, t_, w_, ib_, fb_, h_};
  RDom rt(0, scores_.threads_across, "rt");
  Func part(name + "_part"), all(name);
  part(std::vector<Var>{v_, w_, t_, ib_, fb_, h_}) = state(element, at({v_, t_, w_}, rest));
  all(args) = 0.0f;
  all(args) += part(at({v_, w_, rt}, rest));
  shared(part, level);
  in_registers(all, level);
  by_threads(all.update(), {v_, rt}, rest);
  return all;
}

// Where a point of a result lies, innermost first.
std::vector<Expr> Sweep::place(const Result& r, const std::vector<Expr>& batch, const Expr& kept,
                               const Expr& feature) const {
  const int batches = static_cast<int>(spec_.batch_extents.size());
  std::vector<Expr> at;
  for (size_t k = r.dimensions.size(); k-- > 0;) {
    const int d = r.dimensions[k];
    at.push_back(d < batches    ? in_range(batch[d], max(spec_.batch_extents[d], 1))
                 : d == batches ? in_range(kept, own_extent_)
                                : in_range(feature, max(r.features, 1)));
  }
  return at;
}

// One Func of what the state says at the end: a result as it is, or, of two, for each row the sums
// (in f32, not scaled) and then the two numbers of the log-sum-exp.
Func Sweep::write() {
  const bool is_joint = planes_ && sum_;
  const int sums = !sum_ ? 0 : has_features_ ? panel_.across : 1;
  RDom o({{0, sums + (planes_ ? 2 : 0)},
          {0, scores_.down},
          {0, scores_.threads_across},
          {0, scores_.threads_down},
          {0, kept_batches_},
          {0, feature_blocks_},
          {0, own_blocks_}},
         "o");
  Func out("out");
  const LoopLevel of_block(out, RVar(o[4]));
  const Expr kept = first_own(o[6]) + scores_.row(o[1], o[3]);
  const Expr features = has_features_ ? max(sum_->features, 1) : Expr(1);
  const Expr feature =
      has_features_ ? o[5] * panel_.columns() + panel_.column(o[0], o[2]) : Expr(0);
  // Hidden: what a thread reads is its own, whatever a condition says of its index.
  const Expr is_kept = own(kept, own_blocks_ * scores_.rows()) < own_extent_;
  const Expr is_one_thread = own(o[2], scores_.threads_across) == 0 && o[5] == 0;
  o.where(unsolved(is_kept));
  if (has_features_) {
    const Expr is_feature = own(feature, feature_blocks_ * panel_.columns()) < features;
    o.where(unsolved(is_joint ? select(o[0] < sums, is_feature, is_one_thread) : is_feature));
  } else {
    o.where(is_one_thread);
  }
  const std::vector<Expr> in_block = {o[1], o[2], o[3], o[6], o[5], o[4]};
  const Expr h = own(o[4], kept_batches_);
  const int first = streams_ ? 2 : 0;
  std::vector<Expr> values;
  Expr total;
  if (streams_) total = over_threads("out_all", 1, of_block)(in_block);
  for (int n = 0; n < sums; ++n) {
    Expr value = has_features_ ? state(first + n, in_block)
                               : Expr(over_threads("out_sum", first, of_block)(in_block));
    if (streams_) value = value * inverse(total);
    values.push_back(value);
  }
  if (planes_) {
    values.push_back(high(state(0, in_block), total));
    values.push_back(low(total));
  }
  std::vector<Expr> at;
  if (is_joint) {
    at = {in_range(select(o[0] < sums, feature, features + o[0] - sums), features + 2),
          in_range(kept, own_extent_), in_range(h, kept_batches_)};
  } else {
    std::vector<Expr> batch(spec_.batch_extents.size());
    const std::vector<Expr> coordinates = decode_index(h, kept_extents_);
    for (size_t k = 0, next = 0; k < batch.size(); ++k)
      if (kept_[k]) batch[k] = coordinates[next++];
    at = place(of_, batch, kept, feature);
    if (planes_) at.emplace_back(o[0]);
  }
  std::vector<Var> vars;
  for (size_t n = 0; n < at.size(); ++n) vars.emplace_back("d" + std::to_string(n));
  const Type type = planes_ ? Halide::Float(32) : spec_.stored(*sum_);
  out(vars) = undef(type);
  Expr value = values.size() == 1 ? values[0] : mux(o[0], values);
  if (!planes_ && summed_.empty())
    value = spec_.scaled(*sum_, own(h, batches_), own(kept, own_extent_),
                         has_features_ ? own(feature, features) : Expr(0), value);
  out(at) = cast(type, value);
  one_thread_a_point(out);  // it is nothing, but Halide must not look for it on the host
  out.update()
      .allow_race_conditions()
      .unroll(o[0])
      .unroll(o[1])
      .gpu_threads(o[2], o[3])
      .gpu_blocks(o[4], o[5], o[6])
      .never_partition({o[4], o[5], o[6]});
  in_registers(state_, of_block);
  for (Func f : own_shared_) f.compute_at(of_block);
  if (shared_reads_.defined()) shared_reads_.hoist_storage(of_block);
  for (const Func& f : own_words_) in_registers(f, of_block, scores_.fragments());
  if (is_joint) {
    out.compute_root().bound(vars[0], 0, features + 2);
    out.bound(vars[1], 0, own_extent_).bound(vars[2], 0, kept_batches_);
  }
  return out;
}

// One result of two.
Func Sweep::read(const Func& joint, const Result& r) const {
  const Own o = own_of(r);
  const Expr h = linear(o.batch), features = has_features_ ? max(sum_->features, 1) : Expr(1);
  std::vector<Var> vars = o.vars;
  if (&r == sum_) {
    Func out("out_sum");
    out(vars) = spec_.scaled(r, own(h, batches_), own(o.kept, own_extent_),
                             feature_of(r, o.feature), joint(o.feature, o.kept, h));
    one_thread_a_point(out);
    return out;
  }
  Func out("out_planes");
  Var plane("plane");
  vars.push_back(plane);
  out(vars) = joint(features + plane, o.kept, h);
  std::vector<VarOrRVar> order(o.vars.begin(), o.vars.end());
  order.insert(order.begin(), plane);
  out.bound(plane, 0, 2).reorder(order).unroll(plane);
  one_thread_a_point(out, out, o.vars);
  return out;
}

std::vector<Func> Sweep::schedule() {
  add_reads();
  add_tiles();
  if (streams_) {
    add_largest();
    add_weights();
  }
  if (sum_) add_addends();
  if (has_features_) add_partial();
  add_state();
  const Func out = write();
  if (!planes_ || !sum_) return {out};
  return {read(out, *planes_), read(out, *sum_)};
}

std::string unsuited_to_blocks(const TilesSpec& spec, const TilesSpec::Result& r) {
  using Kind = TilesSpec::Kind;
  if (r.kind() == Kind::scatter) return "points are added at computed places";
  if (r.has_panel_at()) return "a factor depends on both positions";
  const auto in_batch = [&](int d) { return d < static_cast<int>(spec.batch_extents.size()); };
  const auto kept = std::ranges::count_if(r.dimensions, in_batch);
  if (r.kind() == Kind::weighted && kept != static_cast<int>(spec.batch_extents.size()))
    return "weights are summed over part of the batch";
  return "";
}

std::vector<Func> sweep_in_blocks(const TilesSpec& spec, const target::Target& target,
                                  plan::Precision precision,
                                  const std::vector<const TilesSpec::Result*>& results) {
  const bool has_planes = results[0]->kind() == TilesSpec::Kind::logsumexp;
  const auto* sum = !has_planes ? results[0] : results.size() > 1 ? results[1] : nullptr;
  return Sweep(spec, target, precision, has_planes ? results[0] : nullptr, sum).schedule();
}

}  // namespace attn::lower::gpu
