// Register tiles fit the registers of their target, blocks its caches.
#include "compiler/lower/cpu/tuning.h"

#include <gtest/gtest.h>

#include "compiler/lower/halide/target.h"

namespace attn::lower {
namespace {

// Sums, a vector of each column and one broadcast element.
int registers(int rows, int vectors) { return rows * vectors + vectors + 1; }

TEST(Tuning, RegisterTilesFitTheRegisters) {
  for (const Target& t : target::targets()) {
    if (t.arch != target::Arch::x86_64) continue;
    const Tuning& tuned = tuning(t);
    EXPECT_LE(registers(tuned.contraction.rows, tuned.contraction.vectors), t.registers) << t.name;
    EXPECT_LE(registers(tuned.tiles.rows, tuned.tiles.vectors), t.registers) << t.name;
    for (int vectors = 1; vectors <= static_cast<int>(tuned.sum_rows.size()); ++vectors)
      EXPECT_LE(registers(tuned.sum_rows[vectors - 1], vectors), t.registers) << t.name;
    for (int vectors = 1; vectors <= 20; ++vectors) {
      const StreamTiles s = tuned.stream(vectors);
      EXPECT_LE(registers(s.score_rows, s.score_vectors), t.registers) << t.name;
      EXPECT_LE(registers(s.sum_rows, s.sum_vectors), t.registers) << t.name;
      EXPECT_EQ(s.rows % s.score_rows, 0) << t.name;
      EXPECT_EQ(s.rows % s.sum_rows, 0) << t.name;
    }
  }
}

TEST(Tuning, BlocksFitTheCaches) {
  for (const Target& t : target::targets()) {
    if (t.arch != target::Arch::x86_64) continue;
    const Tuning& tuned = tuning(t);
    const int bytes = sizeof(float), lanes = lanes_of(t, Halide::Float(32));
    EXPECT_LE(tuned.tiles.block_rows * tuned.tiles.chunk_columns * bytes, t.l1_bytes) << t.name;
    for (int vectors = 1; vectors <= 20; ++vectors) {
      const StreamTiles s = tuned.stream(vectors);
      EXPECT_LE(s.rows * s.chunk * bytes, t.l1_bytes / 2) << t.name;
      EXPECT_EQ(s.chunk % (s.score_vectors * lanes), 0) << t.name;
    }
    const ContractionTiles& c = tuned.contraction;
    const int left = c.block_rows * c.block_reduced, block = c.block_rows * c.block_columns;
    EXPECT_LE((left + block) * bytes, t.l2_bytes) << t.name;
  }
}

TEST(Tuning, TheHostIsOneOfTheTargets) {
  const Target* found = target::find(host().name);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, &host());
}

}  // namespace
}  // namespace attn::lower
