// Tiles in blocks of threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/lower/gpu/pieces.h"
#include "compiler/lower/gpu/tiles.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower::gpu {

// Of tiles without matrix units. Not measured.
constexpr RegisterTile kPlainScores{16, 8, 4, 8};

// A block of threads has `scores_.rows()` elements of what its result keeps (rows, or columns: its
// own) and sweeps over what is summed (the others) in chunks of `scores_.columns()`. Of a chunk it
// computes
//   tiles    in registers, from factors staged in shared memory
//   addends  what the tiles give to the sum, in shared memory
//   partial  their product with the panel, in registers
// and adds that to its state, in registers. ib counts blocks of own elements, fb blocks of
// features, c chunks, h the batch of the result, g what is summed of the batch; u, v, t, w as in
// RegisterTile.
class Sweep : Tiles {
 public:
  // One of them at least. Both: a log-sum-exp and the sum that it weighs.
  Sweep(const TilesSpec& spec, const target::Target& target, plan::Precision precision,
        const Result* planes, const Result* sum);

  std::vector<Func> schedule();

 private:
  // ---- places
  Expr batch_at(const Expr& h, const std::vector<Expr>& summed) const;
  Expr batch() const { return own(batch_at(h_, {summed_.begin(), summed_.end()}), batches_); }
  // Of the batch, at the chunk of the state's loop.
  std::vector<Expr> summed_in_loop() const;
  Expr first_own(const Expr& block) const;
  Expr own_index() const { return first_own(ib_) + scores_.row(v_, w_); }
  Expr other_index() const { return c_ * scores_.columns() + scores_.column(u_, t_); }
  static Expr cut(const Expr& index, const Expr& extent) {
    return own(min(index, extent - 1), extent);
  }
  // Beyond the last they repeat it.
  Point here() const {
    const Expr o = cut(own_index(), own_extent_), n = cut(other_index(), other_extent_);
    return {batch(), of_.of_rows ? o : n, of_.of_rows ? n : o};
  }
  // A formula at the thread's places.
  Expr at_places(const std::function<Expr(const Point&)>& formula);
  void add_reads();
  Expr shared_read(const Expr& read);
  // Arguments of Funcs: those of a thread, and then those of a chunk, or other ones.
  std::vector<Var> with_chunk(std::vector<Var> vars) const {
    vars.insert(vars.end(), of_chunk_.begin(), of_chunk_.end());
    return vars;
  }
  static std::vector<Expr> at(std::vector<Expr> thread, const std::vector<Var>& rest) {
    thread.insert(thread.end(), rest.begin(), rest.end());
    return thread;
  }
  // The same for the chunk of the state's loop.
  std::vector<Expr> in_loop(std::vector<Expr> thread, bool of_features = false) const;

  // ---- loops
  LoopLevel of_chunk() const { return LoopLevel(state_, RVar(chunks_[0])); }
  void in_registers(Func f, const LoopLevel& level) const { in_registers(f, level, scores_); }
  void in_registers(Func f, const LoopLevel& level, const RegisterTile& tile) const;
  void shared(Func f, const LoopLevel& level) const;
  void by_threads(Stage stage, const std::vector<VarOrRVar>& inner, const std::vector<Var>& rest,
                  const std::vector<VarOrRVar>& outer = {}) const;

  // ---- of a chunk
  void add_tiles();
  void add_products(Func dot, const TilesSpec::Dot& d);
  Products products_of_dot(const TilesSpec::Dot& d) const;
  int staged_features(const TilesSpec::Dot& d) const;
  bool is_one_round(const TilesSpec::Dot& d) const;
  void add_fragments(Func dot, const TilesSpec::Dot& d);
  Expr element_of(const Func& sums, const std::vector<Expr>& rest) const;
  Func staged(const std::string& name, int pack, const Var& block, const Expr& length) const;
  Pieces pieces(const std::string& name, int pack, const Var& block, const Expr& length,
                const Products& products, int summed) const;
  Pieces::Memory memory(int pack, const Expr& first, const Expr& extent, const Expr& from,
                        const Expr& length, const Products& products, const Expr& condition) const;
  Pieces panel_pieces(const Products& products) const;
  Expr panel_at(const Expr& feature, const Expr& in_chunk) const;
  Expr factor_at(int pack, bool is_own, const Expr& index, const Expr& feature,
                 const Expr& length) const;
  void add_largest();
  void add_weights();
  Expr addend(const Expr& value, const TilesSpec::Values& tiles);
  Expr marked(const Expr& addend) const;
  TilesSpec::Values tiles_here() const;
  void add_addends();
  void add_partial();
  void add_partial_fragments(Func panel);
  bool has_fallback() const { return spec_.packs[sum_->panel].fallback; }
  void find_not_finite(const Expr& features);
  void add_fallback(const Expr& features);

  // ---- of a block
  Expr seen() const;
  Expr state(size_t element, const std::vector<Expr>& at) const;
  void add_state();
  Func over_threads(const std::string& name, size_t element, const LoopLevel& level) const;
  std::vector<Expr> place(const Result& r, const std::vector<Expr>& batch, const Expr& kept,
                          const Expr& feature) const;
  Func write();
  Func read(const Func& joint, const Result& r) const;

  class AtPlaces;

  const target::Target& target_;
  const plan::Precision precision_;
  const RegisterTile scores_;
  const Result *planes_, *sum_;
  const Result& of_;
  const bool streams_, has_features_;
  Expr own_extent_, other_extent_;  // at least 1
  Expr others_, own_blocks_, kept_batches_ = 1, feature_blocks_ = 1;
  RegisterTile panel_{};
  std::vector<bool> kept_;  // by index of the batch
  std::vector<Expr> kept_extents_;
  std::vector<Var> summed_, of_chunk_;
  RDom chunks_;
  std::vector<Func> tiles_;
  Func largest_, weights_, total_, partial_, state_{"out_state"};
  // What a block stages once, and what its threads keep of it in registers.
  std::vector<Func> own_shared_, own_words_;
  int kept_bytes_ = 0;       // of a row, in those registers
  Func addends_;             // in registers
  std::vector<Expr> reads_;  // at the other position
  Func shared_reads_;        // of a chunk
  Func shared_addends_;
  Func found_;  // not 0: a chunk's panel has what is not finite
  size_t state_elements_ = 0;
  Var u_{"u"}, v_{"v"}, t_{"t"}, w_{"w"}, ib_{"ib"}, fb_{"fb"}, c_{"c"}, h_{"h"}, m_{"m"}, k_{"k"},
      kc_{"kc"};
};

}  // namespace attn::lower::gpu
