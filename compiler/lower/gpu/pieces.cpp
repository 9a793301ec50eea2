#include "compiler/lower/gpu/pieces.h"

#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

using Halide::Internal::Call;

namespace {

const Type kPiece = Halide::UInt(128), kWord = Halide::UInt(32);

// The bits of halves: what a cast of a half to f32 and back gives is the half.
Expr bits_of(const Expr& value, const Type& half) {
  return cast(kWord, reinterpret(Halide::UInt(16), cast(half, value)));
}

Expr word_of(const std::vector<Expr>& values, size_t k, const Products& products,
             const Type& number, const Expr& lane) {
  if (!products.in_halves()) return reinterpret(kWord, values[k]);
  const Expr low = values[2 * k], high = values[2 * k + 1];
  if (number != products.number) return pair(low, high, products.number, lane);
  return bits_of(low, number) | (bits_of(high, number) << make_const(kWord, 16));
}

}  // namespace

Pieces::Pieces(const std::string& name, const Products& products, const Type& number,
               const Shape& shape, const RegisterTile& tile, const std::vector<Var>& rest,
               const Value& value, const Memory& memory)
    : func(name), products_(products), is_turned_(products.in_halves() && !shape.along_summed) {
  const int in_piece = products.in_piece();
  Var p("p"), x("x");
  std::vector<Expr> values, words;
  for (int n = 0; n < in_piece; ++n) {
    const Expr along = p * in_piece + n;
    values.push_back(is_turned_ ? value(along, x) : value(x, along));
  }
  for (size_t k = 0; k < 4; ++k) words.push_back(word_of(values, k, products, number, x));
  words.push_back(x);
  std::vector<Var> args = {p, x};
  args.insert(args.end(), rest.begin(), rest.end());
  const bool rounds = number == Halide::Float(32) && products.number == Halide::BFloat(16);
  if (memory.first && (number == products.number || rounds) && (is_turned_ || shape.along_summed)) {
    const Expr along = p * in_piece, outer = is_turned_ ? along : Expr(x);
    const Expr summed = is_turned_ ? Expr(x) : along;
    words.push_back(memory.has_piece(outer, summed));
    words.push_back(memory.first(outer, summed));
    words.push_back(make_const(kWord, rounds ? 1 : 0));
  }
  func(args) = Call::make(kPiece, kPieceCall, words, Call::PureExtern);
  const int pieces = (is_turned_ ? shape.outer : shape.summed) / in_piece;
  const bool neighbours_are_pieces = is_turned_ || shape.along_summed;
  stage(func, pieces, !neighbours_are_pieces, tile, is_turned_ ? shape.summed : shape.outer, 1);
}

// Lanes 8 m .. 8 m + 7 say where the rows of matrix m are: in which eighth, and in which piece.
Expr Pieces::words(const Expr& first, const Expr& step, const Expr& lane, const Expr& eighth,
                   const Expr& next, const std::vector<Expr>& rest) const {
  const Expr row = lane % 8, outer = first + eighth * 8;
  std::vector<Expr> at = {step * 2 + next, outer + row};
  if (is_turned_) at = {outer / 8, step * 16 + next * 8 + row};
  at.insert(at.end(), rest.begin(), rest.end());
  return Call::make(kPiece, is_turned_ ? kTurnedMatricesCall : kMatricesCall, {func(at)},
                    Call::Extern);
}

Expr word(const Expr& words, const Expr& which) {
  return Call::make(kWord, "attn_word", {words, which}, Call::PureExtern);
}

std::array<Expr, 4> of_rows(const Expr& words) {
  return {word(words, 0), word(words, 1), word(words, 2), word(words, 3)};
}

std::array<Expr, 2> of_columns(const Expr& words, const Expr& eighth) {
  return {word(words, eighth * 2), word(words, eighth * 2 + 1)};
}

}  // namespace attn::lower::gpu
