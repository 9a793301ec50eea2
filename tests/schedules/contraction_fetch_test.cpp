// Factors of contractions that are read where they lie, and what kernels fetch before they read it.
#include <Halide.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "compiler/lower/cpu/tuning.h"
#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/linear_index.h"
#include "products.h"

static std::atomic<int64_t> fetched_bytes;  // that kernels asked for

// The runtime's, for kernels that run in this process.
extern "C" __attribute__((visibility("default"))) int halide_fetch_ahead(const void*, int64_t,
                                                                         int64_t bytes) {
  fetched_bytes += bytes;
  return 0;
}

namespace attn::lower {
namespace {

// Few rows of a right factor that is dense along k are multiplied where it lies: no element of it
// is read that is not there, and each tile fetches what the next one reads.
void check_in_place(const Target& level) {
  Product product(false, true, level);
  const std::vector<std::vector<int>> sizes = {
      {1, 5, 1, 128},    {1, 8, 97, 131}, {2, 63, 10, 135}, {1, 64, 96, 256},
      {1, 65, 193, 128}, {3, 6, 7, 1000}, {1, 127, 3, 129}, {1, 128, 95, 143},
      {0, 9, 9, 130},    {1, 9, 0, 130},  {1, 129, 40, 160}};
  for (const std::vector<int>& s : sizes) {
    SCOPED_TRACE(testing::PrintToString(s));
    fetched_bytes = 0;
    product.check(s[0], s[1], s[2], s[3]);
    const bool in_place = s[0] > 0 && s[2] > 0 && s[1] <= 128;
    EXPECT_EQ(fetched_bytes > 0, in_place);
    EXPECT_GE(fetched_bytes, in_place ? int64_t{4} * s[0] * s[2] * s[3] : 0);
    if (testing::Test::HasFailure()) return;
  }
  // Not where sums are short, rows fewer still, or the factor is dense along the columns.
  fetched_bytes = 0;
  product.check(1, 20, 30, 127);
  product.check(1, 4, 30, 200);
  Product(false, false, level).check(1, 20, 30, 200);
  EXPECT_EQ(fetched_bytes, 0);
}

TEST(Contraction, ReadsTheRightFactorWhereItLies) { check_in_place(host()); }
TEST(Contraction, ReadsTheRightFactorWhereItLiesOnTheOldestLevel) {
  check_in_place(target::targets()[0]);
}

// Packed is a factor that is computed from what is stored, one of which conditions hide elements,
// and one whose neighbours are elsewhere within a vector.
TEST(Contraction, PacksWhatDoesNotLieAsItIsMultiplied) {
  ImageParam a(Float(32), 2, "a"), c(Float(32), 2, "c");
  dense(a);
  dense(c);
  struct Case {
    int factor;
    bool hidden;
    int64_t run;
  };
  for (const Case& packed :
       std::vector<Case>{{2, false, kWholeRun}, {1, true, kWholeRun}, {1, false, 50}}) {
    ContractionSpec spec;
    spec.terms = {{{[&](Expr, Expr m, Expr k) { return Expr(a(k, m)); }, Along::kReduced},
                   {[&](Expr, Expr n, Expr k) {
                      return packed.factor == 1 ? Expr(c(k, n)) : Expr(packed.factor * c(k, n));
                    },
                    Along::kReduced},
                   a.dim(0).extent()}};
    spec.terms[0].right.run = packed.run;
    spec.terms[0].right.fallback = packed.hidden;
    spec.output = {{Group::kRow, a.dim(1).extent()}, {Group::kColumn, c.dim(1).extent()}};
    Halide::Func out = ContractionScheduler(spec, host()).schedule();
    out.compile_jit(jit_target(host()));
    const int M = 20, N = 30, K = 200;
    Guarded<float> as({K, M}), cs({K, N}), result({N, M});
    as.randomise(1);
    cs.randomise(2);
    a.set(as.buffer());
    c.set(cs.buffer());
    fetched_bytes = 0;
    run_kernel(out, result);
    EXPECT_EQ(fetched_bytes, 0);
    for (int m = 0; m < M; ++m)
      for (int n = 0; n < N; ++n) {
        double sum = 0;
        for (int k = 0; k < K; ++k) sum += packed.factor * double(as[m * K + k]) * cs[n * K + k];
        expect_near(result[m * N + n], sum, K, std::to_string(m) + " " + std::to_string(n));
      }
  }
}

// Of columns in several blocks the next block is fetched, each element once for the rows that share
// it; of one block nothing is. Rows that are left fetch a part.
void check_next_columns(bool transposed, const Target& level) {
  const ContractionTiles& tiles = tuning(level).contraction;
  const int most = tiles.block_columns, shared = 1536 / tiles.block_rows * tiles.block_rows;
  for (const int columns : {most - 1, most + 1, 2 * most + 37}) {
    Product product(false, transposed, level, 0, 0, columns);
    for (auto [B, M, K] : std::vector<std::array<int, 3>>{{1, 5, 3},
                                                          {2, 150, 300},
                                                          {1, 131, 257},
                                                          {1, 1537, 7},
                                                          {1, 1543, 700},
                                                          {0, 130, 9},
                                                          {1, 130, 0}}) {
      SCOPED_TRACE(testing::Message()
                   << columns << " columns, " << M << " rows, " << K << " terms");
      fetched_bytes = 0;
      product.check(B, M, columns, K);
      const int64_t next = columns > most ? columns - most / 2 : 0;
      EXPECT_GE(fetched_bytes, 4 * B * next * K);
      EXPECT_LE(fetched_bytes, 4 * B * next * K * (M > shared ? 2 : 1));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Contraction, FetchesTheNextBlockOfColumns) { check_next_columns(false, host()); }
TEST(Contraction, FetchesTheNextBlockOfTransposedColumns) { check_next_columns(true, host()); }
TEST(Contraction, FetchesTheNextBlockOfColumnsOnTheOldestLevel) {
  check_next_columns(false, target::targets()[0]);
}

// Rows, or terms, that data deals out:
//
//   out[m, n]    = sum[k] left[m, k] * right[group[m], k, n]
//   out[g, m, n] = sum[k where group[k] == g] left[k, m] * right[k, n]
struct GroupedProduct {
  bool of_rows;
  ImageParam left{Float(32), 2, "left"}, right, group{Halide::Int(32), 1, "group"};
  static constexpr int kGroups = 5;
  Halide::Pipeline out;

  GroupedProduct(bool deals_rows, int columns, const Target& level)
      : of_rows(deals_rows), right(Float(32), deals_rows ? 3 : 2, "right") {
    dense(left);
    dense(right);
    dense(group);
    ContractionSpec spec;
    const Expr rows = left.dim(of_rows ? 1 : 0).extent(),
               terms = left.dim(of_rows ? 0 : 1).extent();
    spec.groups = ContractionGroups{of_rows, kGroups, [this](Expr, Expr at) {
                                      return Expr(group(in_range(at, group.dim(0).extent())));
                                    }};
    const Factor a{[this](Expr, Expr m, Expr k) { return Expr(of_rows ? left(k, m) : left(m, k)); },
                   of_rows ? Along::kReduced : Along::kOuter};
    Factor c{[this](Expr g, Expr n, Expr k) {
               return Expr(of_rows ? right(n, k, in_range(g, kGroups)) : right(n, k));
             },
             Along::kOuter};
    c.run = kWholeRun;
    spec.terms = {{a, c, terms}};
    if (!of_rows) spec.output.push_back({Group::kDealt, kGroups});
    spec.output.push_back({Group::kRow, rows});
    spec.output.push_back({Group::kColumn, columns});
    out = Halide::Pipeline(ContractionScheduler(spec, level).schedule());
    hoist_conditions(out);  // for groups without members
    out.compile_jit(jit_target(level));
  }

  void check(const std::vector<int>& groups, int M, int N, int K) {
    const int dealt = static_cast<int>(groups.size());
    Guarded<float> a(of_rows ? std::vector<int>{K, M} : std::vector<int>{M, K});
    Guarded<float> c(of_rows ? std::vector<int>{N, K, kGroups} : std::vector<int>{N, K});
    Guarded<float> result(of_rows ? std::vector<int>{N, M} : std::vector<int>{N, M, kGroups});
    Guarded<int> of({dealt});
    std::ranges::copy(groups, of.data());
    a.randomise(1);
    c.randomise(2);
    left.set(a.buffer());
    right.set(c.buffer());
    group.set(of.buffer());
    run_kernel(out, result);
    for (int g = 0; g < (of_rows ? 1 : kGroups); ++g)
      for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n) {
          double sum = 0, scale = 0;
          for (int k = 0; k < K; ++k) {
            if (!of_rows && groups[static_cast<size_t>(k)] != g) continue;
            if (of_rows && groups[static_cast<size_t>(m)] < 0) continue;
            const int64_t from = of_rows ? int64_t{groups[static_cast<size_t>(m)]} * K + k : k;
            const double p = double(a[of_rows ? m * K + k : k * M + m]) * c[from * N + n];
            sum += p;
            scale += std::abs(p);
          }
          expect_near(result[(int64_t{g} * M + m) * N + n], sum, scale + 1e-6,
                      std::to_string(m) + " " + std::to_string(n));
          if (testing::Test::HasFailure()) return;
        }
  }
};

// Each group of rows fetches the next columns of its own matrix, but for those of few rows. Terms
// that are dealt out do not lie beside each other, so that nothing of them is fetched.
void check_groups(const Target& level) {
  const int most = tuning(level).contraction.block_columns, columns = 2 * most + 37;
  const int few = static_cast<int>(target::costs(level.arch).direct_rows);
  GroupedProduct rows(true, columns, level), terms(false, columns, level);
  struct Case {
    std::array<int, 6> members;  // of no group first
    int other;                   // terms of rows, rows of terms
  };
  for (const Case& c : std::vector<Case>{{{0, 150, 0, 150, 0, 0}, 90},
                                         {{7, few, few + 1, 1, 0, 131}, 601},
                                         {{3, 0, 0, 0, 0, 13}, 1},
                                         {{5, 0, 0, 0, 0, 0}, 3},
                                         {{0, 0, 0, 0, 0, 0}, 5},
                                         {{1, 30, 40, 0, 0, 50}, 0}}) {
    SCOPED_TRACE(testing::PrintToString(c.members));
    std::vector<int> groups;  // in turn
    for (int turn = 0; turn < 150; ++turn)
      for (int g = -1; g < GroupedProduct::kGroups; ++g)
        if (turn < c.members[static_cast<size_t>(g + 1)]) groups.push_back(g);
    const int dealt = static_cast<int>(groups.size());
    const auto fetch = std::count_if(c.members.begin() + 1, c.members.end(),
                                     [&](int members) { return members > few; });
    fetched_bytes = 0;
    rows.check(groups, dealt, columns, c.other);
    EXPECT_EQ(fetched_bytes, int64_t{4} * fetch * (columns - most / 2) * c.other);
    fetched_bytes = 0;
    terms.check(groups, c.other, columns, dealt);
    EXPECT_EQ(fetched_bytes, 0);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Contraction, FetchesTheNextBlockOfColumnsOfEachGroup) { check_groups(host()); }
TEST(Contraction, FetchesTheNextBlockOfColumnsOfEachGroupOnTheOldestLevel) {
  check_groups(target::targets()[0]);
}

}  // namespace
}  // namespace attn::lower
