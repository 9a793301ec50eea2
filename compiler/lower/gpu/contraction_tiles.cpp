// Sums of products in tiles of registers: jb and ib count tiles of columns and of rows, c chunks of
// what is summed.
#include <algorithm>
#include <cmath>

#include "compiler/lower/gpu/contraction.h"
#include "compiler/lower/gpu/pieces.h"
#include "compiler/lower/gpu/register_tile.h"
#include "compiler/lower/gpu/threads.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

using Group = OutputDim::Group;

namespace {

// Chosen so that ptxas needs 56 registers and spills none: 31 TFLOP/s on an H100.
constexpr RegisterTile kPlainTile{16, 16, 4, 4};
constexpr int kFew = 8;  // rows or columns that are no tile

// By the matrix units, where there are many results: 128 rows, of 64 columns, or of 128 where sums
// of halves have at most kMostInUnits terms, which then stay in the units. An H100 multiplied two
// matrices of 4096 x 4096 in tiles of 64 x 64, before copies overlapped with products, and of
// 128 x 64 and 128 x 128, since: bf16 116, 138 and 252 TFLOP/s, f32 in high precision 41 and 53,
// f32 that is rounded to bf16 97, 77 and 127. PyTorch there: 742 of bf16, 51 of f32.
constexpr RegisterTile kMany{4, 32, 16, 4, true}, kManyHalves{4, 32, 32, 4, true};
constexpr int kStagedHalvesOfMany = 32;
constexpr int64_t kMostInUnits = 4096;
// With fewer blocks of them multiprocessors have no work, of which large GPUs have so many.
constexpr double kLeastBlocks = 128;

// Tiles of it that cover `typical` results, or nothing is known of.
double typical_blocks(const ContractionSpec& spec, const RegisterTile& tile) {
  if (spec.typical_batch <= 0 || spec.typical_rows <= 0 || spec.typical_columns <= 0)
    return kLeastBlocks;
  return spec.typical_batch * std::ceil(spec.typical_rows / double(tile.rows())) *
         std::ceil(spec.typical_columns / double(tile.columns()));
}

struct Tiling {
  RegisterTile tile;
  int staged_halves = kStagedHalves;  // of what is summed, at a time
  bool sums_in_units = false;
};

Tiling tiling_of(const ContractionSpec& spec, const target::Target& target,
                 plan::Precision precision) {
  if (!uses_matrix_units(target, precision)) return {kPlainTile};
  bool in_units = true, rounds = false;
  for (const ContractionTerm& term : spec.terms) {
    const Type left = term.left.number, right = term.right.number;
    const Products products = products_of(left, right, precision);
    const int64_t known = constant(term.reduced);
    in_units = in_units && products.in_halves() && known > 0 && known <= kMostInUnits;
    rounds = rounds || (products.in_halves() && (left.bits() > 16 || right.bits() > 16));
  }
  if (rounds && !in_units) return {kFragments};
  const RegisterTile& many = in_units ? kManyHalves : kMany;
  const auto fills = [](int typical, int size) { return typical <= 0 || typical > size / 2; };
  const bool is_many = fills(spec.typical_rows, many.rows()) &&
                       fills(spec.typical_columns, many.columns()) &&
                       typical_blocks(spec, many) >= kLeastBlocks;
  if (!is_many) return {kFragments};
  return {many, kStagedHalvesOfMany, in_units};
}

class Tiles {
 public:
  Tiles(const ContractionSpec& spec, const target::Target& target, plan::Precision precision)
      : spec_(spec),
        target_(target),
        precision_(precision),
        tiling_(tiling_of(spec, target, precision)),
        tile_(tiling_.tile) {
    for (const OutputDim& dim : spec.output)
      extents_[static_cast<int>(dim.group)].push_back(dim.extent);
    for (int g = 0; g < 3; ++g) {
      for (const Expr& e : extents_[g]) counts_[g] = counts_[g] * e;
      counts_[g] = simplify(counts_[g]);
    }
  }

  Func schedule() {
    const Expr batches = counts_[0], rows = counts_[1], columns = counts_[2];
    sum_(u_, v_, t_, w_, jb_, ib_, b_) = 0.0f;
    for (const ContractionTerm& term : spec_.terms) add(term);
    Func out("out");
    RDom o({{0, tile_.across},
            {0, tile_.down},
            {0, tile_.threads_across},
            {0, tile_.threads_down},
            {0, blocks_of(columns, tile_.columns())},
            {0, blocks_of(rows, tile_.rows())},
            {0, batches}},
           "o");
    const Expr row = o[5] * tile_.rows() + tile_.row(o[1], o[3]);
    const Expr column = o[4] * tile_.columns() + tile_.column(o[0], o[2]);
    // Hidden: what a thread reads is its own, whatever the condition says of its index.
    o.where(unsolved(own(row, blocks_of(rows, tile_.rows()) * tile_.rows()) < rows &&
                     own(column, blocks_of(columns, tile_.columns()) * tile_.columns()) < columns));
    std::vector<Expr> coordinates[] = {decode_index(own(o[6], batches), extents_[0]),
                                       decode_index(own(row, rows), extents_[1]),
                                       decode_index(own(column, columns), extents_[2])};
    std::vector<Expr> at, unset;
    std::vector<Var> vars;
    size_t next[3] = {0, 0, 0};
    for (const OutputDim& dim : spec_.output) {
      const int group = static_cast<int>(dim.group);
      at.push_back(in_range(coordinates[group][next[group]++], dim.extent));
      vars.emplace_back("d" + std::to_string(vars.size()));
    }
    Expr sum = sum_(o[0], o[1], o[2], o[3], o[4], o[5], o[6]);
    if (has_fallback()) {
      add_fallback(LoopLevel(out, RVar(o[4])));
      sum = masked(has_finite_bits(sum), sum, exact_(o[0], o[1], o[2], o[3], o[4], o[5], o[6]));
    }
    const std::vector<Expr> values = spec_.epilogue(at, sum);
    for (const Expr& value : values) unset.push_back(undef(value.type()));
    std::reverse(vars.begin(), vars.end());
    std::reverse(at.begin(), at.end());
    out(vars) = Tuple(unset);
    out(at) = Tuple(values);
    one_thread_a_point(out);  // it is nothing, but Halide must not look for it on the host
    out.update()
        .allow_race_conditions()
        .unroll(o[0])
        .unroll(o[1])
        .gpu_threads(o[2], o[3])
        .gpu_blocks(o[4], o[5], o[6])
        .never_partition({o[4], o[5], o[6]});
    in_registers(sum_, LoopLevel(out, RVar(o[4])));
    return out;
  }

 private:
  void add(const ContractionTerm& term) {
    if (tile_.in_fragments) return add_fragments(term);
    Func left = staged("out_left", term.left, term.reduced, counts_[1], tile_.rows(), ib_);
    Func right = staged("out_right", term.right, term.reduced, counts_[2], tile_.columns(), jb_);
    RDom r({{0, kStaged}, {0, blocks_of(term.reduced, kStaged)}}, "r");
    sum_(u_, v_, t_, w_, jb_, ib_, b_) += left(tile_.row(v_, w_), r[0], ib_, r[1], b_) *
                                          right(tile_.column(u_, t_), r[0], jb_, r[1], b_);
    sum_.update(sum_.num_update_definitions() - 1)
        .reorder(u_, v_, r[0], t_, w_, jb_, ib_, b_, r[1])
        .unroll(u_)
        .unroll(v_)
        .unroll(r[0], unrolled(target_))
        .gpu_threads(t_, w_)
        .never_partition({r[1]});
    for (Func f : {left, right}) f.compute_at(sum_, r[1]);
  }

  void in_registers(Func f, const LoopLevel& level) const { in_registers(f, level, tile_); }
  void in_registers(Func f, const LoopLevel& level, const RegisterTile& tile) const {
    f.compute_at(level).store_in(Halide::MemoryType::Register);
    if (f.args().front().name() == u_.name())
      f.bound(u_, 0, tile.across).bound(v_, 0, tile.down).unroll(u_).unroll(v_);
    f.bound(t_, 0, tile_.threads_across).bound(w_, 0, tile_.threads_down);
    f.bound_extent(jb_, 1).bound_extent(ib_, 1).bound_extent(b_, 1).gpu_threads(t_, w_);
  }

  bool has_fallback() const {
    return std::ranges::any_of(spec_.terms, [](const ContractionTerm& term) {
      return term.left.fallback || term.right.fallback;
    });
  }

  // A sum that is not finite may hold what one factor hides of the other. The thread adds it up
  // again, point by point.
  void add_fallback(const LoopLevel& level) {
    Func found("out_not_finite");
    RDom r({{0, tile_.across}, {0, tile_.down}}, "rf");
    const Expr is_finite = has_finite_bits(sum_(r[0], r[1], t_, w_, jb_, ib_, b_));
    found(t_, w_, jb_, ib_, b_) = 0;
    found(t_, w_, jb_, ib_, b_) = max(found(t_, w_, jb_, ib_, b_), cast<int32_t>(!is_finite));
    in_registers(found, level);
    found.update().reorder(r[0], r[1], t_, w_, jb_, ib_, b_).unroll(r[0]).unroll(r[1]);
    found.update().gpu_threads(t_, w_);
    const auto cut = [](const Expr& index, const Expr& extent) {
      return own(min(index, max(extent - 1, 0)), max(extent, 1));
    };
    const Expr row = cut(ib_ * tile_.rows() + tile_.row(v_, w_), counts_[1]);
    const Expr column = cut(jb_ * tile_.columns() + tile_.column(u_, t_), counts_[2]);
    exact_(u_, v_, t_, w_, jb_, ib_, b_) = 0.0f;
    for (const ContractionTerm& term : spec_.terms) {
      RDom k(0, term.reduced, "k");
      k.where(of_whole_body(RVar(k.x), found(t_, w_, jb_, ib_, b_) != 0));
      exact_(u_, v_, t_, w_, jb_, ib_, b_) +=
          product(term, own(b_, counts_[0]), row, column, in_range(k, term.reduced));
      exact_.update(exact_.num_update_definitions() - 1)
          .reorder(u_, v_, k.x, t_, w_, jb_, ib_, b_)
          .unroll(u_)
          .unroll(v_)
          .gpu_threads(t_, w_);
    }
    in_registers(exact_, level);
  }

  // What one instruction adds up loses digits: sums of chunks are added outside of the units, but
  // for few chunks.
  void add_fragments(const ContractionTerm& term) {
    const Products products = products_of(term.left.number, term.right.number, precision_);
    const int staged = products.in_halves() ? tiling_.staged_halves : kStaged;
    const bool in_units = tiling_.sums_in_units;
    const auto pieces = [&](const char* name, const Factor& factor, const Expr& extent, int size,
                            const Var& block) {
      return Pieces(
          name, products, factor.number, {size, staged, factor.contiguous != Factor::Along::kOuter},
          tile_, {block, c_, b_},
          [&](const Expr& m, const Expr& k) {
            return at_chunk(factor, term.reduced, extent, block * size + m, c_ * staged + k);
          },
          memory(factor, term.reduced, extent, products, block * size, c_ * staged));
    };
    Pieces left = pieces("out_left", term.left, counts_[1], tile_.rows(), ib_);
    Pieces right = pieces("out_right", term.right, counts_[2], tile_.columns(), jb_);
    Func of_left("out_left_words"), of_right("out_right_words"), sums("out_fragment");
    of_left(v_, k_, t_, w_, c_, ib_, b_) =
        left.row_words(tile_.first_row(v_, w_), k_, lane_of(t_, w_), {ib_, c_, b_});
    of_right(u_, k_, t_, w_, c_, jb_, b_) =
        right.column_words(u_ * 16, k_, lane_of(t_, w_), {jb_, c_, b_});
    const int steps = staged / products.depth();
    const Expr chunks = blocks_of(term.reduced, staged);
    RDom k({{0, steps}, {0, in_units ? chunks : Expr(1)}}, "rk"), r(0, chunks, "r");
    // Not in the units, c counts chunks.
    const Expr chunk = in_units ? Expr(k[1]) : Expr(c_);
    std::vector<Var> args = {u_, v_, t_, w_, jb_, ib_, b_};
    if (!in_units) args.insert(args.begin() + 4, c_);
    sums(args) = no_sums(t_);
    sums(args) =
        multiply_add(sums(args), of_rows(of_left(v_, k[0], t_, w_, chunk, ib_, b_)),
                     of_columns(of_right(u_ / 2, k[0], t_, w_, chunk, jb_, b_), u_ % 2), products);
    std::vector<Expr> at = {u_ / 2, v_ / 2, t_, w_, jb_, ib_, b_};
    if (!in_units) at.insert(at.begin() + 4, r.x);
    sum_(u_, v_, t_, w_, jb_, ib_, b_) += element(sums(at), v_ % 2 * 2 + u_ % 2);
    Stage add = sum_.update(sum_.num_update_definitions() - 1);
    std::vector<VarOrRVar> order = {u_, v_, t_, w_, jb_, ib_, b_};
    if (!in_units) order.emplace_back(r.x);
    add.reorder(order).unroll(u_).unroll(v_).gpu_threads(t_, w_);
    if (!in_units) add.never_partition({r.x});
    in_registers(sums, in_units ? LoopLevel(sum_, b_) : LoopLevel(sum_, RVar(r.x)),
                 tile_.fragments());
    if (!in_units) sums.bound_extent(c_, 1);
    order = {u_, v_, k[0], t_, w_, jb_, ib_, b_};
    if (!in_units) order.insert(order.begin() + 5, c_);
    order.emplace_back(k[1]);
    sums.update().reorder(order).unroll(u_).unroll(v_).unroll(k[0]).gpu_threads(t_, w_);
    sums.update().never_partition({k[1]});
    of_left.compute_at(sums, k[0]).unroll(v_);
    of_right.compute_at(sums, k[0]).unroll(u_);
    for (Func f : {left.func, right.func})
      f.compute_at(in_units ? LoopLevel(sums, RVar(k[1])) : LoopLevel(sum_, RVar(r.x)));
  }

  // 0 beyond what is summed; beyond the last row or column it repeats that.
  Expr at_chunk(const Factor& factor, const Expr& reduced, const Expr& extent, const Expr& outer,
                const Expr& k) const {
    const Expr value =
        factor.at(own(b_, counts_[0]), own(min(outer, max(extent - 1, 0)), max(extent, 1)),
                  own(min(k, max(reduced - 1, 0)), max(reduced, 1)));
    return select(unsolved(k < reduced), value, 0.0f);
  }

  // Of a chunk from `outer` and `k` on.
  Pieces::Memory memory(const Factor& factor, const Expr& reduced, const Expr& extent,
                        const Products& products, const Expr& outer, const Expr& k) const {
    if (factor.run != kWholeRun || factor.fallback) return {};
    const bool along_k = factor.contiguous == Factor::Along::kReduced;
    const int last = products.in_piece() - 1;
    return {[=](const Expr& m, const Expr& n) {
              return unsolved(k + n + (along_k ? last : 0) < reduced &&
                              outer + m + (along_k ? 0 : last) < extent);
            },
            [=, this, at = factor.at](const Expr& m, const Expr& n) {
              return at(own(b_, counts_[0]), own(outer + m, max(extent, 1)),
                        own(k + n, max(reduced, 1)));
            }};
  }

  // A chunk of a factor in shared memory.
  Func staged(const char* name, const Factor& factor, const Expr& reduced, const Expr& extent,
              int size, const Var& block) const {
    Func f(name);
    f(m_, k_, block, c_, b_) =
        at_chunk(factor, reduced, extent, block * size + m_, c_ * kStaged + k_);
    stage(f, size, factor.contiguous == Factor::Along::kReduced, tile_);
    return f;
  }

  const ContractionSpec& spec_;
  const target::Target& target_;
  const plan::Precision precision_;
  const Tiling tiling_;
  const RegisterTile& tile_;
  std::vector<Expr> extents_[3];  // by group
  Expr counts_[3] = {1, 1, 1};
  Func sum_{"out_sum"}, exact_{"out_exact"};
  Var u_{"u"}, v_{"v"}, t_{"t"}, w_{"w"}, jb_{"jb"}, ib_{"ib"}, b_{"b"}, c_{"c"}, m_{"m"}, k_{"k"};
};

}  // namespace

std::string unsuited_to_tiles(const ContractionSpec& spec) {
  const auto is_few = [](int typical) { return typical > 0 && typical < kFew; };
  if (spec.type != Halide::Float(32)) return "its sums are not f32";
  if (spec.groups) return "data says which rows or terms are multiplied";
  if (is_few(spec.typical_rows)) return "it has few rows";
  if (is_few(spec.typical_columns)) return "it has few columns";
  return "";
}

Func tiled_contraction(const ContractionSpec& spec, const target::Target& target,
                       plan::Precision precision) {
  return Tiles(spec, target, precision).schedule();
}

}  // namespace attn::lower::gpu
