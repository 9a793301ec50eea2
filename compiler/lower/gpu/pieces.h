// Factors in shared memory as the matrix units take them: pieces of 16 bytes, of which one
// instruction loads 32 for a warp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/lower/gpu/matrix_units.h"
#include "compiler/lower/gpu/register_tile.h"

namespace attn::lower::gpu {

// A part of a factor, over an outer index (a row or a column of the product) and one that is
// summed, both from 0.
class Pieces {
 public:
  struct Shape {
    int outer, summed;  // multiples of 16, and of `Products::depth()`
    // Where neighbours lie in memory: along what is summed, or along the outer index.
    bool along_summed;
  };
  using Value = std::function<Expr(const Expr& outer, const Expr& summed)>;

  // Where a factor may lie in memory as it does here: whether the piece from a point on is in range
  // and visible; and the point's value, which is read there. Empty: never.
  struct Memory {
    Value has_piece = {}, first = {};
  };

  // `number`: of all values, as products_of() takes it. `rest`: arguments of which the part
  // depends.
  Pieces(const std::string& name, const Products& products, const Type& number, const Shape& shape,
         const RegisterTile& tile, const std::vector<Var>& rest, const Value& value,
         const Memory& memory);

  // What a thread has of the sixteen from `first` on, in step `step` of the instruction's depth, as
  // rows or as columns of the product: words t of the pieces of g and g + 8 and of the next pieces
  // of both. Words that an instruction takes together follow one another, or ptxas moves them. g
  // and t as in matrix_units.h; `lane`: the thread's number in its warp.
  Expr row_words(const Expr& first, const Expr& step, const Expr& lane,
                 const std::vector<Expr>& rest) const {
    return words(first, step, lane, lane / 8 % 2, lane / 16, rest);
  }
  Expr column_words(const Expr& first, const Expr& step, const Expr& lane,
                    const std::vector<Expr>& rest) const {
    return words(first, step, lane, lane / 16, lane / 8 % 2, rest);
  }

  Func func;  // (piece, row of pieces, rest...)

 private:
  Expr words(const Expr& first, const Expr& step, const Expr& lane, const Expr& eighth,
             const Expr& next, const std::vector<Expr>& rest) const;

  const Products products_;
  const bool is_turned_;  // pieces are along the outer index
};

// One of the four words.
Expr word(const Expr& words, const Expr& which);

// Of the words of rows, or of the columns of the eighth `eighth` (0, 1), those of an instruction.
std::array<Expr, 4> of_rows(const Expr& words);
std::array<Expr, 2> of_columns(const Expr& words, const Expr& eighth);

// The thread's number in its warp, in a RegisterTile of fragments.
inline Expr lane_of(const Expr& t, const Expr& w) { return t + w % 8 * 4; }

}  // namespace attn::lower::gpu
