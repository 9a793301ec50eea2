// Masks of blocks, `i // W == j // W` and their like: columns that no row of a tile sees are left
// out, by bounds that follow from the quotients.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"

namespace attn::testing {
namespace {

class BlockMasks : public ::testing::TestWithParam<const char*> {};

TEST_P(BlockMasks, GiveWhatTheEvaluatorGives) {
  Library library(compile_text(fmt::format(R"(
    size B, T, S, W in 1.., E = 5
    train model m(q: [B, T, E], k: [B, S, E], v: [B, S, E], n: int[B], w: [W]) -> y {{
      s[b,i,j] = (sum[e] q[b,i,e] * k[b,j,e]) + 0 * w[0]
      p[b,i,j] = softmax[j where {}] (s[b,i,j])
      y[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
    }})",
                                           GetParam())));
  // No score is stored: all are in tiles.
  for (const plan::Function* f : plan::functions(*library.model().plan))
    for (const plan::Kernel& k : f->kernels)
      EXPECT_FALSE(std::holds_alternative<plan::ContractionForm>(k.form))
          << f->graph[k.writes[0]].name;
  for (const auto& [t, s, w] : {std::tuple{0, 3, 1},
                                {1, 1, 1},
                                {3, 0, 2},
                                {7, 9, 3},
                                {64, 64, 16},
                                {65, 63, 5},
                                {130, 131, 64}}) {
    const Arrays given =
        random_call(library.model(), {{"B", 2}, {"T", t}, {"S", s}, {"W", w}}, 3, s + 1);
    const Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ(library.reference(given), o.values), "") << t << " " << s << " " << w;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, BlockMasks,
    ::testing::Values("i // W == j // W", "i // 64 == j // 64 and j <= i",
                      "j // 4 <= i // 4 and i // 4 - j // 4 < 2", "j >= i // 8 * 8",
                      "i // 3 == j // 3 or j // 3 == 1", "i // W == j // W and j < n[b]",
                      "i // 4 != j // 4 and j <= i", "i // 2 == j // 3",
                      "i // 8 == j or i == j // 8", "j // 2 < 20 - i // 3 and j // 2 >= 2 - i",
                      "j // 1000000000 < 20 - i // 3", "j // 1000000000 >= i // 3 - 20",
                      "i // (0 - 4) >= j // (0 - 4)"));

}  // namespace
}  // namespace attn::testing
