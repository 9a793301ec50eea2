// The two ways in which a GPU computes kernels of tiles, and what they share.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/forms/tiles.h"
#include "compiler/lower/gpu/threads.h"
#include "compiler/target/target.h"

namespace attn::lower::gpu {

// Scores at or below the floor count as hidden; hidden ones lie so far below that their
// exponentials are 0 beside a row without any visible score.
constexpr float kFloor = -3.0e38f;

class Tiles {
 public:
  using Kind = TilesSpec::Kind;
  using Result = TilesSpec::Result;
  using Point = TilesSpec::Point;

  explicit Tiles(const TilesSpec& spec);

 protected:
  // The dimensions of a result, innermost first, and the place of a thread among them. What is no
  // dimension is summed.
  struct Own {
    std::vector<Var> vars;
    std::vector<Expr> batch;  // by index; undefined: summed
    Expr kept = 0, feature = 0;
  };
  Own own_of(const Result& r) const;
  // The linear index of a point of the batch.
  Expr linear(const std::vector<Expr>& batch) const;
  Point promised(const Point& p) const;
  Expr feature_of(const Result& r, const Expr& feature) const {
    return r.features.defined() ? own(feature, r.features) : Expr(0);
  }
  // 1 / total, which finishes a weighted sum; 0 over nothing, and what is not finite as it is.
  static Expr inverse(const Expr& total);
  // The two numbers of a log-sum-exp.
  static Expr high(const Expr& top, const Expr& total);
  static Expr low(const Expr& total);

  const TilesSpec& spec_;
  Expr rows_, columns_, batches_ = 1;  // an empty extent counts as 1, as kernels see it
};

// A thread for each result, which computes the tiles that it sums. Takes anything.
class PlainTiles : Tiles {
 public:
  using Tiles::Tiles;
  Func schedule(const Result& r);

 private:
  struct Computed;
  Computed tiles(const std::string& reader) const;
  void see(RDom& domain, const Point& point) const;
  void add_statistics();
  Func planes(const Result& r) const;
  Expr addend(const Result& r, const Point& point, const TilesSpec::Values& tiles,
              const Expr& feature) const;
  Func sum(const Result& r) const;
  Func scatter(const Result& r) const;

  bool has_statistics_ = false;
  Func top_{"out_top"}, total_{"out_total"};
};

// Why blocks of threads do not suit a result; empty: they do.
std::string unsuited_to_blocks(const TilesSpec& spec, const TilesSpec::Result& r);

// Blocks of threads that sweep over what is summed: tiles in registers, their factors and what they
// give to the sum in shared memory. For results of one sweep: a log-sum-exp, then its weighted sum;
// or one result.
std::vector<Func> sweep_in_blocks(const TilesSpec& spec, const target::Target& target,
                                  plan::Precision precision,
                                  const std::vector<const TilesSpec::Result*>& results);

}  // namespace attn::lower::gpu
