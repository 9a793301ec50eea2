// Orders of kernels that need less memory at any moment.
#include "compiler/plan/peak.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace attn::testing {
namespace {

using plan::Access;
using plan::Stored;

enum class Kind { inside, kept, argument };

// A tensor that is as large whatever run-time sizes count as.
Stored stored(double bytes, Kind kind = Kind::inside) {
  Stored result{.is_argument = kind == Kind::argument, .is_kept = kind == Kind::kept};
  result.bytes.fill(bytes);
  return result;
}

std::vector<size_t> lowered(const std::vector<Access>& kernels,
                            const std::vector<Stored>& tensors) {
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  plan::lower_peak(kernels, tensors, order);
  return order;
}

// The most bytes at any kernel, by going through them.
double peak(const std::vector<Access>& kernels, const std::vector<Stored>& tensors,
            const std::vector<size_t>& order) {
  double most = 0;
  for (size_t now = 0; now < order.size(); ++now) {
    double sum = 0;
    for (size_t t = 0; t < tensors.size(); ++t) {
      bool is_written = tensors[t].is_argument, is_needed = tensors[t].is_kept;
      for (size_t k = 0; k < order.size(); ++k) {
        const Access& access = kernels[order[k]];
        const bool writes = std::ranges::count(access.writes, t) > 0;
        is_written = is_written || (k <= now && writes);
        is_needed = is_needed || (k >= now && std::ranges::count(access.reads, t) > 0) ||
                    (k == now && writes);
      }
      const Access& access = kernels[order[now]];
      const bool is_taken =
          std::ranges::count(access.over, t) > 0 &&
          std::none_of(order.begin() + static_cast<std::ptrdiff_t>(now) + 1, order.end(),
                       [&](size_t n) { return std::ranges::count(kernels[n].reads, t) > 0; });
      if (is_written && is_needed && !is_taken) sum += tensors[t].bytes[0];
    }
    most = std::max(most, sum);
  }
  return most;
}

bool can_run(const std::vector<Access>& kernels, const std::vector<size_t>& order) {
  std::vector<size_t> written;
  for (size_t n : order) {
    for (size_t t : kernels[n].reads) {
      const auto writes = [&](const Access& s) { return std::ranges::count(s.writes, t) > 0; };
      if (std::ranges::any_of(kernels, writes) && !std::ranges::count(written, t)) return false;
    }
    written.insert(written.end(), kernels[n].writes.begin(), kernels[n].writes.end());
  }
  return std::ranges::is_permutation(order, [&] {
    std::vector<size_t> all(kernels.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }());
}

// A result that is as large as what lives through it waits until that has ended.
TEST(Peak, ResultsComeAfterTheMomentThatNeedsMost) {
  // 0 and 1: saved tensors. Kernel 0 writes the gradient 2 of a weight from 0; 1 and 2 need the
  // most, for 3 and 4; 3 writes the gradient 5 from 1.
  const std::vector<Stored> tensors = {stored(1, Kind::argument), stored(1, Kind::argument),
                                       stored(8, Kind::kept),     stored(6),
                                       stored(6, Kind::kept),     stored(2, Kind::kept)};
  const std::vector<Access> kernels = {
      {{0}, {2}, {}}, {{1}, {3}, {}}, {{3}, {4}, {}}, {{1}, {5}, {}}};
  EXPECT_EQ(peak(kernels, tensors, {0, 1, 2, 3}), 8 + 1 + 6 + 6);
  const std::vector<size_t> order = lowered(kernels, tensors);
  EXPECT_EQ(peak(kernels, tensors, order), 8 + 1 + 6 + 2);
  EXPECT_TRUE(can_run(kernels, order));
}

// A small result has no room for what is in memory beside it; a large one that is written last has.
TEST(Peak, OfOrdersThatNeedAsMuchTheLargestResultIsLast) {
  // 1: read by the kernels of 2 and 3; 2: read by that of 4.
  const std::vector<Stored> tensors = {stored(1, Kind::argument), stored(8), stored(2),
                                       stored(50, Kind::kept), stored(2, Kind::kept)};
  const std::vector<Access> kernels = {
      {{0}, {1}, {}}, {{1}, {2}, {}}, {{1}, {3}, {}}, {{2}, {4}, {}}};
  EXPECT_EQ(peak(kernels, tensors, {0, 1, 2, 3}), peak(kernels, tensors, {0, 1, 3, 2}));
  EXPECT_EQ(lowered(kernels, tensors), (std::vector<size_t>{0, 1, 3, 2}));
  EXPECT_EQ(lowered({kernels[0], kernels[1], kernels[3], kernels[2]}, tensors),
            (std::vector<size_t>{0, 1, 2, 3}));
}

// What a kernel writes over another's last use needs no memory of its own.
TEST(Peak, OfWhatIsWrittenOverCountsOnce) {
  const std::vector<Stored> tensors = {stored(4, Kind::argument), stored(4), stored(4, Kind::kept)};
  const std::vector<Access> kernels = {{{0}, {1}, {}}, {{1}, {2}, {1}}};
  EXPECT_EQ(peak(kernels, tensors, {0, 1}), 8);
  EXPECT_EQ(lowered(kernels, tensors), (std::vector<size_t>{0, 1}));
}

// The last kernel that sums groups has half of what it reads beside the results.
TEST(Peak, TheLastToSumGroupsIsOneThatIsHalved) {
  const std::vector<Stored> tensors = {stored(4, Kind::argument), stored(4, Kind::argument),
                                       stored(50, Kind::kept), stored(50, Kind::kept)};
  std::vector<Access> kernels = {{{0}, {2}, {}}, {{1}, {3}, {}}};
  EXPECT_EQ(lowered(kernels, tensors), (std::vector<size_t>{0, 1}));
  for (Access& kernel : kernels) kernel.sums_groups = true;
  kernels[0].halved = {0};
  EXPECT_EQ(lowered(kernels, tensors), (std::vector<size_t>{1, 0}));
  kernels[1].halved = {1};
  EXPECT_EQ(lowered(kernels, tensors), (std::vector<size_t>{0, 1}));
}

TEST(Peak, OfRandomKernelsIsNoHigherAndOftenTheLowest) {
  int lowest = 0;
  constexpr int kPrograms = 100;
  for (unsigned seed = 1; seed <= kPrograms; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::vector<Stored> tensors = {stored(5, Kind::argument), stored(9, Kind::argument)};
    std::vector<Access> kernels;
    for (int n = 0; n < 6; ++n) {
      Access access;
      for (size_t k = 1 + below(2); k > 0; --k) access.reads.push_back(below(tensors.size()));
      std::ranges::sort(access.reads);
      access.reads.erase(std::ranges::unique(access.reads).begin(), access.reads.end());
      access.writes = {tensors.size()};
      const double bytes = 1 + static_cast<double>(below(12));
      tensors.push_back(stored(bytes, n >= 4 || below(3) == 0 ? Kind::kept : Kind::inside));
      const size_t over = access.reads[0];
      if (tensors[over].bytes[0] == bytes && !tensors[over].is_kept) access.over = {over};
      kernels.push_back(std::move(access));
    }
    std::vector<size_t> all(kernels.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const double before = peak(kernels, tensors, all);
    const std::vector<size_t> order = lowered(kernels, tensors);
    ASSERT_TRUE(can_run(kernels, order)) << seed;
    double least = before;
    do {
      if (can_run(kernels, all)) least = std::min(least, peak(kernels, tensors, all));
    } while (std::ranges::next_permutation(all).found);
    lowest += peak(kernels, tensors, order) <= least;
    // What is inside counts alone, too: a little more of all for less of that.
    EXPECT_LE(peak(kernels, tensors, order), 1.1 * before) << seed;
  }
  EXPECT_GE(lowest, kPrograms * 3 / 4);
}

}  // namespace
}  // namespace attn::testing
