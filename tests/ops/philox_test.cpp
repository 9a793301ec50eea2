// The random words of `uniform` against the published vectors of Philox4x32-10.
#include "compiler/ops/philox.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/ops/table.h"

namespace attn::testing {
namespace {

using Words = std::array<uint64_t, 4>;
using Key = std::array<uint64_t, 2>;

Words philox(const Words& counter, const Key& key) {
  Words result = ops::philox(counter, key);
  for (uint64_t& word : result) word = ops::low_word(word);
  return result;
}

double uniform(const std::vector<double>& x) { return ops::find("uniform")->value(x); }

// Random123, tests/kat_vectors.
TEST(Philox, HasTheKnownAnswers) {
  constexpr uint64_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({}, {}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, LooksAtTheLowerHalfOfWords) {
  constexpr uint64_t kRest = uint64_t{7} << 32;
  EXPECT_EQ(philox({1 + kRest, 2, 3 + kRest, 4 + kRest}, {5, 6 + kRest}),
            philox({1, 2, 3, 4}, {5, 6}));
}

double number(uint64_t word) { return static_cast<double>(word >> 8) * 0x1p-24; }

TEST(Uniform, TakesTheSeedAndTheCountAsKeyAndTheRestAsCounter) {
  EXPECT_EQ(uniform({7}), number(philox({}, {7, 0})[0]));
  EXPECT_EQ(uniform({7, 1, 2}), number(philox({0, 0, 1, 2}, {7, 2})[0]));
  EXPECT_EQ(uniform({-7, 1, -2, 3, 4}), number(philox({1, 0xfffffffe, 3, 4}, {0xfffffff9, 4})[0]));
  Words block = philox({0, 0, 1, 2}, {7, 6});
  for (uint64_t k = 0; k < 4; ++k) block[k] ^= 3 + k;
  EXPECT_EQ(uniform({7, 1, 2, 3, 4, 5, 6}), number(philox(block, {7, 6})[0]));
}

TEST(Uniform, DiffersWhereAnyArgumentDoesOrTheirNumber) {
  std::set<double> seen;
  const std::vector<double> x = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
  for (size_t count = 1; count <= x.size(); ++count) {
    std::vector<double> some(x.begin(), x.begin() + static_cast<ptrdiff_t>(count));
    EXPECT_TRUE(seen.insert(uniform(some)).second);
    for (double& v : some) {
      v += 1;
      EXPECT_TRUE(seen.insert(uniform(some)).second);
      v -= 1;
    }
    some.push_back(0);
    EXPECT_TRUE(seen.insert(uniform(some)).second);
  }
}

TEST(Uniform, FillsTheUnitInterval) {
  constexpr int kCount = 100000;
  double sum = 0, squares = 0, together = 0, last = 0.5;
  for (int k = 0; k < kCount; ++k) {
    const double u = uniform({1, static_cast<double>(k)});
    ASSERT_TRUE(u >= 0 && u < 1);
    ASSERT_EQ(u, static_cast<float>(u));
    sum += u;
    squares += u * u;
    together += (u - 0.5) * (last - 0.5);
    last = u;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 4e-3);
  EXPECT_NEAR(squares / kCount, 1. / 3, 4e-3);
  EXPECT_NEAR(together / kCount, 0, 1e-3);
}

}  // namespace
}  // namespace attn::testing
