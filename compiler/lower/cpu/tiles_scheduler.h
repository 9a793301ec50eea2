// What the schedules of kernels of tiles share. Streams have results of rows only, computed in one
// sweep over the columns; sums of rows and of columns have loops that all results fuse.
#pragma once

#include <functional>
#include <vector>

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/forms/tiles.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

class TilesScheduler {
 protected:
  using Result = TilesSpec::Result;

  TilesScheduler(const TilesSpec& spec, const Target& target);

  Expr batch_of(const Expr& h) const { return in_range(h, batches_); }
  // Beyond the last they repeat it.
  Expr row_at(const Expr& i) const { return clamped(i, rows_); }
  Expr column_at(const Expr& j) const { return clamped(j, columns_); }
  // Vectors that hold all features.
  int vectors_of(const Expr& features) const;
  // The linear index of a point of the batch.
  Expr linear(const std::vector<Expr>& coordinates) const;
  Expr linear_batch() const { return linear({batch_vars_.begin(), batch_vars_.end()}); }
  // The dimensions of a result, innermost first.
  std::vector<Var> vars_of(const Result& r, const Var& kept, const Var& feature) const;

  // The sum of the dots of a tile over `vars`, which stand at `point`. The product of a dot whose
  // factors are packed is `packed`.
  using Packed = std::function<Expr(const TilesSpec::Dot& dot, const RDom& features)>;
  void sum_dots(Func sum, const std::vector<Var>& vars, int tile, const TilesSpec::Point& point,
                const Packed& packed) const;
  // Of each block of `size` rows or columns of a pack, found(block, batch) is 1 where something is
  // not finite.
  struct NonFinite {
    Func lanes, found;
    RDom elements, over;
    // Both are computed at `level`, one lane after the other.
    void compute_at(const LoopLevel& level, int lanes_of_vector);
  };
  NonFinite find_non_finite(int pack, int size) const;
  bool has_fallback(const Result& r) const { return r.panel >= 0 && spec_.packs[r.panel].fallback; }

  const TilesSpec& spec_;
  const Target& target_;
  const int lanes_;
  Expr rows_, columns_, batches_ = 1;  // at least 1
  std::vector<Var> batch_vars_;
  Var i_{"i"}, j_{"j"}, h_{"h"}, d_{"d"}, l_{"l"}, u_{"u"};
};

}  // namespace attn::lower
