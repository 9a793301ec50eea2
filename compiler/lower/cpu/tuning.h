// The sizes of tiles, for each target. Whatever depends on the instruction set alone stands in
// tuning.cpp.
#pragma once

#include <span>

#include "compiler/lower/terms/halide.h"
#include "compiler/target/target.h"

namespace attn::lower {

using target::Target;

struct ContractionTiles {
  int rows, vectors;  // of the register tile
  int block_rows, block_columns, block_reduced;
};

// Of dot products in registers.
struct DotTile {
  int rows, columns;
  int block_rows, block_columns;
};

struct StreamTiles {
  int rows;                       // of a tile, which shares its bounds of columns
  int score_rows, score_vectors;  // of the scores' register tile
  int sum_rows, sum_vectors;      // of the sum's register tile
  int chunk;                      // columns
  int unroll;                     // of both products
};

struct TileSizes {
  int rows, vectors;              // of a tile's register tile
  int block_rows, chunk_columns;  // of a tile
};

struct Tuning {
  ContractionTiles contraction;  // of f32
  DotTile dots;
  // By the number of vectors of features.
  StreamTiles (*stream)(int vectors);
  TileSizes tiles;
  // Rows of the register tile of a sum over a tile, by its vectors of features, from one on.
  std::span<const int> sum_rows;
};

const Tuning& tuning(const Target& target);

// Lanes of a vector of this type.
int lanes_of(const Target& target, const Type& type);

}  // namespace attn::lower
