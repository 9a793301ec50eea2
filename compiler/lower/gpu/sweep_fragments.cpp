// Products of tiles by the matrix units.
#include "compiler/lower/gpu/matrix_units.h"
#include "compiler/lower/gpu/sweep.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

namespace {

// Bytes of a row of own elements in registers, of all factors together; and of a row that is staged
// at once.
constexpr int kMostKept = 256, kMostStaged = 256;

// Features that are staged together: all, where they are known and not too many.
int features_at_a_time(const Expr& length, const Products& products) {
  const int64_t known = constant(length);
  if (known <= 0 || known * products.number.bytes() > kMostStaged)
    return products.in_halves() ? kStagedHalves : kStaged;
  const int depth = products.depth();
  return static_cast<int>((known + depth - 1) / depth * depth);
}

std::vector<Var> joined(std::vector<Var> vars, const std::vector<Var>& rest) {
  vars.insert(vars.end(), rest.begin(), rest.end());
  return vars;
}

// Of a factor whose outer index is the features.
Pieces::Memory turned(const Pieces::Memory& m) {
  if (!m.first) return {};
  const auto turn = [](const Pieces::Value& value) {
    return [=](const Expr& outer, const Expr& summed) { return value(summed, outer); };
  };
  return {turn(m.has_piece), turn(m.first)};
}

Expr bits(const Expr& value) { return reinterpret(Halide::UInt(32), value); }

}  // namespace

// The element of the thread's place (u, v) in fragments of sums.
Expr Sweep::element_of(const Func& sums, const std::vector<Expr>& rest) const {
  std::vector<Expr> at = {u_ / 2, v_ / 2, t_, w_};
  at.insert(at.end(), rest.begin(), rest.end());
  return element(sums(at), v_ % 2 * 2 + u_ % 2);
}

// Of a pack from element `first` and feature `from` on, under one more condition.
Pieces::Memory Sweep::memory(int pack, const Expr& first, const Expr& extent, const Expr& from,
                             const Expr& length, const Products& products,
                             const Expr& condition) const {
  if (!spec_.packs[pack].is_dense) return {};
  const Expr b = batch();
  const int last = products.in_piece() - 1;
  return {
      [=](const Expr& element, const Expr& feature) {
        return unsolved(first + element < extent && from + feature + last < length && condition);
      },
      [=, this](const Expr& element, const Expr& feature) {
        return spec_.factor(pack, b, own(first + element, max(extent, 1)),
                            own(from + feature, max(length, 1)));
      }};
}

// The same of a block or a chunk in pieces, `summed` features at a time.
Pieces Sweep::pieces(const std::string& name, int pack, const Var& block, const Expr& length,
                     const Products& products, int summed) const {
  const bool is_own = block.name() == ib_.name();
  const Expr first = is_own ? first_own(block) : block * scores_.columns();
  std::vector<Var> rest = {kc_, block};
  rest.insert(rest.end(), summed_.begin(), summed_.end());
  rest.push_back(h_);
  return Pieces(
      name, products, spec_.packs[pack].number,
      {is_own ? scores_.rows() : scores_.columns(), summed, true}, scores_, rest,
      [&](const Expr& m, const Expr& k) {
        return factor_at(pack, is_own, first + m, kc_ * summed + k, length);
      },
      memory(pack, first, is_own ? own_extent_ : others_, kc_ * summed, length, products,
             const_true()));
}

// Of own elements, the units' rows, and others.
Products Sweep::products_of_dot(const TilesSpec::Dot& d) const {
  const Type left = spec_.packs[d.left].number, right = spec_.packs[d.right].number;
  return of_.of_rows ? products_of(left, right, precision_) : products_of(right, left, precision_);
}

int Sweep::staged_features(const TilesSpec::Dot& d) const {
  return features_at_a_time(d.length, products_of_dot(d));
}

bool Sweep::is_one_round(const TilesSpec::Dot& d) const {
  if (!scores_.in_fragments || !d.is_packed()) return false;
  const int64_t known = constant(d.length);
  return known > 0 && known <= staged_features(d);
}

// To a dot that is not defined yet, where one round of staged features is all of it.
void Sweep::add_fragments(Func dot, const TilesSpec::Dot& d) {
  const bool is_all = !dot.defined();
  const int n = is_all ? 0 : dot.num_update_definitions();
  const std::string name = dot.name() + std::to_string(n);
  const int own_pack = of_.of_rows ? d.left : d.right, other_pack = of_.of_rows ? d.right : d.left;
  const Products products = products_of_dot(d);
  const int summed = staged_features(d);
  Pieces own = pieces(name + "_own", own_pack, ib_, d.length, products, summed);
  Pieces other = pieces(name + "_other", other_pack, c_, d.length, products, summed);
  const std::vector<Var> args = with_chunk({u_, v_, t_, w_});
  std::vector<Var> batch = summed_, all = args, rest = of_chunk_;
  batch.push_back(h_);
  all.push_back(kc_);
  rest.push_back(kc_);
  RDom k(0, summed / products.depth(), "rk"), r(0, blocks_of(d.length, summed), "rd");
  Func of_own(name + "_own_words"), of_other(name + "_other_words");
  of_own(joined({v_, k_, t_, w_, kc_, ib_}, batch)) =
      own.row_words(scores_.first_row(v_, w_), k_, lane_of(t_, w_), at({kc_, ib_}, batch));
  of_other(joined({u_, k_, t_, w_, kc_, c_}, batch)) =
      other.column_words(u_ * 16, k_, lane_of(t_, w_), at({kc_, c_}, batch));
  Func sums(dot.name() + "_fragment");
  sums(all) = no_sums(t_);
  sums(all) =
      multiply_add(sums(all), of_rows(of_own(at({v_, k, t_, w_, kc_, ib_}, batch))),
                   of_columns(of_other(at({u_ / 2, k, t_, w_, kc_, c_}, batch)), u_ % 2), products);
  std::vector<Expr> of_round(of_chunk_.begin(), of_chunk_.end());
  of_round.push_back(is_all ? Expr(0) : Expr(r.x));
  if (is_all) {
    dot(args) = element_of(sums, of_round);
  } else {
    dot(args) += element_of(sums, of_round);
    std::vector<VarOrRVar> order = {u_, v_, t_, w_};
    order.insert(order.end(), of_chunk_.begin(), of_chunk_.end());
    order.emplace_back(r.x);
    dot.update(n).reorder(order).unroll(u_).unroll(v_).gpu_threads(t_, w_).never_partition({r.x});
  }
  in_registers(sums, is_all ? of_chunk() : LoopLevel(dot, RVar(r.x)), scores_.fragments());
  by_threads(sums.update(), {u_, v_, k.x}, rest);
  of_other.compute_at(sums, k.x).unroll(u_);
  // No longer than the sums need it: its memory is then for others.
  const LoopLevel of_sums(sums, Var::outermost());
  other.func.compute_at(of_sums);
  const bool is_once = summed_.empty() && is_one_round(d);
  const int bytes = summed * products.number.bytes();
  if (is_once) own_shared_.push_back(own.func);
  if (is_once && kept_bytes_ + bytes <= kMostKept) {
    kept_bytes_ += bytes;
    of_own.bound(k_, 0, summed / products.depth()).unroll(k_);
    own_words_.push_back(of_own);
  } else {
    of_own.compute_at(sums, k.x).unroll(v_);
    if (!is_once) own.func.compute_at(of_sums);
  }
}

// The panel of a chunk, in halves that lie as in memory: features are neighbours.
Pieces Sweep::panel_pieces(const Products& products) const {
  std::vector<Var> rest = {fb_, c_};
  rest.insert(rest.end(), summed_.begin(), summed_.end());
  rest.push_back(h_);
  return Pieces(
      "out_panel", products, spec_.packs[sum_->panel].number,
      {panel_.columns(), scores_.columns(), false}, scores_, rest,
      [&](const Expr& feature, const Expr& other) {
        return panel_at(fb_ * panel_.columns() + feature, other);
      },
      turned(memory(sum_->panel, c_ * scores_.columns(), others_, fb_ * panel_.columns(),
                    sum_->features, products,
                    has_fallback() ? found_(c_, batch()) == 0 : const_true())));
}

// A thread's addends lie in the units' order: of halves, as they are; of f32, if those of eight are
// counted 0 2 4 6 1 3 5 7.
void Sweep::add_partial_fragments(Func panel) {
  const Products products =
      products_of(Halide::Float(32), spec_.packs[sum_->panel].number, precision_);
  std::vector<Var> batch = summed_, rest = of_chunk_;
  batch.push_back(h_);
  rest.insert(rest.begin() + 1, fb_);
  RDom k(0, scores_.columns() / products.depth(), "rk");
  const std::vector<Var> all = joined({u_, v_, t_, w_}, rest);
  Func sums("out_partial_fragment");
  sums(all) = no_sums(t_);
  const auto addend = [&](const Expr& u, int v) -> Expr {
    return addends_(at({u, v_ * 2 + v, t_, w_}, of_chunk_));
  };
  std::array<Expr, 4> left;
  std::array<Expr, 2> right;
  if (products.in_halves()) {
    for (int n = 0; n < 4; ++n) {
      const Expr u = k * 4 + n / 2 * 2;
      left[n] = pair(addend(u, n % 2), addend(u + 1, n % 2), products.number, t_);
    }
    Pieces pieces = panel_pieces(products);
    Func words("out_panel_words");
    words(joined({u_, k_, t_, w_, fb_, c_}, batch)) =
        pieces.column_words(u_ * 16, k_, lane_of(t_, w_), at({fb_, c_}, batch));
    right = of_columns(words(at({u_ / 2, k, t_, w_, fb_, c_}, batch)), u_ % 2);
    words.compute_at(sums, k.x).unroll(u_);
    pieces.func.compute_at(of_chunk());
  } else {
    for (int n = 0; n < 4; ++n) left[n] = bits(addend(k * 2 + n / 2, n % 2));
    for (int n = 0; n < 2; ++n)
      right[n] =
          bits(panel(at({u_ * 8 + w_ % 8, k * products.depth() + t_ * 2 + n, 0, fb_, c_}, batch)));
    stage(panel, panel_.columns(), false, scores_, scores_.columns());
    panel.compute_at(of_chunk());
  }
  sums(all) = multiply_add(sums(all), left, right, products);
  in_registers(sums, of_chunk(), panel_.fragments());
  by_threads(sums.update(), {u_, v_, k.x}, rest);
  partial_ = Func("out_partial");
  partial_(all) = element_of(sums, {rest.begin(), rest.end()});
  in_registers(partial_, of_chunk(), panel_);
}

}  // namespace attn::lower::gpu
