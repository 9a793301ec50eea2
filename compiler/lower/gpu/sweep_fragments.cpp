// Products of tiles by the matrix units.
#include "compiler/lower/gpu/matrix_units.h"
#include "compiler/lower/gpu/sweep.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

// The element of the thread's place (u, v) in fragments of sums.
Expr Sweep::element_of(const Func& sums, const std::vector<Expr>& rest) const {
  std::vector<Expr> at = {u_ / 2, v_ / 2, t_, w_};
  at.insert(at.end(), rest.begin(), rest.end());
  return element(sums(at), v_ % 2 * 2 + u_ % 2);
}

// The features that are staged together at a time: what one instruction adds up loses digits.
void Sweep::add_fragments(Func dot, const TilesSpec::Dot& d, Func own, Func other) const {
  const std::vector<Var> args = with_chunk({u_, v_, t_, w_});
  std::vector<Var> batch = summed_, all = args, rest = of_chunk_;
  batch.push_back(h_);
  all.push_back(kc_);
  rest.push_back(kc_);
  RDom k(0, kStaged / kMultiplied, "rk"), r(0, blocks_of(d.length, kStaged), "rd");
  const auto left = [&](int x, int y) -> Expr {
    return own(at({scores_.row(v_ * 2 + x, w_), k * kMultiplied + t_ + 4 * y, kc_, ib_}, batch));
  };
  const auto right = [&](int y) -> Expr {
    return other(at({u_ * 8 + w_ % 8, k * kMultiplied + t_ + 4 * y, kc_, c_}, batch));
  };
  Func sums(dot.name() + "_fragment");
  sums(all) = no_sums(t_);
  sums(all) = multiply_add(sums(all), {left(0, 0), left(1, 0), left(0, 1), left(1, 1)},
                           {right(0), right(1)}, precision_);
  const int n = dot.num_update_definitions();
  std::vector<Expr> of_round(of_chunk_.begin(), of_chunk_.end());
  of_round.emplace_back(r.x);
  dot(args) += element_of(sums, of_round);
  std::vector<VarOrRVar> order = {u_, v_, t_, w_};
  order.insert(order.end(), of_chunk_.begin(), of_chunk_.end());
  order.emplace_back(r.x);
  dot.update(n).reorder(order).unroll(u_).unroll(v_).gpu_threads(t_, w_).never_partition({r.x});
  in_registers(sums, LoopLevel(dot, RVar(r.x)), scores_.fragments());
  by_threads(sums.update(), {u_, v_, k.x}, rest);
  for (Func f : {own, other}) f.compute_at(dot, r.x);
}

// A thread's addends lie in the units' order if those of eight are counted 0 2 4 6 1 3 5 7.
void Sweep::add_partial_fragments(Func panel) {
  std::vector<Var> batch = summed_, rest = of_chunk_;
  batch.push_back(h_);
  rest.insert(rest.begin() + 1, fb_);
  RDom k(0, scores_.columns() / kMultiplied, "rk");
  const auto left = [&](int x, int y) -> Expr {
    return addends_(at({k * 2 + y, v_ * 2 + x, t_, w_}, of_chunk_));
  };
  const auto right = [&](int y) -> Expr {
    return panel(at({u_ * 8 + w_ % 8, k * kMultiplied + t_ * 2 + y, 0, fb_, c_}, batch));
  };
  std::vector<Var> all = {u_, v_, t_, w_};
  all.insert(all.end(), rest.begin(), rest.end());
  Func sums("out_partial_fragment");
  sums(all) = no_sums(t_);
  sums(all) = multiply_add(sums(all), {left(0, 0), left(1, 0), left(0, 1), left(1, 1)},
                           {right(0), right(1)}, precision_);
  in_registers(sums, of_chunk(), panel_.fragments());
  by_threads(sums.update(), {u_, v_, k.x}, rest);
  stage(panel, panel_.columns(), false, scores_, scores_.columns());
  panel.compute_at(of_chunk());
  partial_ = Func("out_partial");
  partial_(all) = element_of(sums, {rest.begin(), rest.end()});
  in_registers(partial_, of_chunk(), panel_);
}

}  // namespace attn::lower::gpu
