// Contractions of every strategy and layout against plain loops in double.
#include <Halide.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/halide/target.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/target/target.h"
#include "guarded.h"
#include "products.h"

namespace attn::lower {
namespace {

void check_awkward_sizes(bool left_transposed, bool right_transposed, const Target& level,
                         int typical_rows = 0, int typical_columns = 0) {
  Product product(left_transposed, right_transposed, level, typical_rows, typical_columns);
  const std::vector<std::vector<int>> sizes = {
      {1, 1, 1, 1},     {2, 0, 3, 5},     {2, 3, 0, 5},     {0, 3, 3, 5},    {2, 5, 7, 0},
      {1, 3, 17, 0},    {1, 2, 33, 13},   {1, 4, 530, 31},  {3, 13, 31, 3},  {2, 11, 33, 29},
      {1, 97, 13, 257}, {1, 101, 523, 7}, {1, 12, 32, 256}, {1, 5, 3, 9001}, {1, 1, 1, 17001}};
  for (const std::vector<int>& s : sizes) {
    SCOPED_TRACE(testing::PrintToString(s));
    product.check(s[0], s[1], s[2], s[3]);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Contraction, HandlesAwkwardSizesWithPlainOperands) {
  check_awkward_sizes(false, false, host());
}
TEST(Contraction, HandlesAwkwardSizesWithTransposedOperands) {
  check_awkward_sizes(true, true, host());
}
// With the tile of small matrices, and long sums split.
TEST(Contraction, HandlesAwkwardSizesWhereSmallOnesAreTypical) {
  check_awkward_sizes(true, false, host(), 8, 8);
}
TEST(Contraction, HandlesAwkwardSizesOnTheOldestLevel) {
  check_awkward_sizes(false, true, target::targets()[0]);
}
TEST(Contraction, HandlesAwkwardSizesOnTheMiddleLevel) {
  if (host().level == target::Level::x86_64_v2) GTEST_SKIP();
  check_awkward_sizes(true, false, target::targets()[1]);
}

// q[b,h,i,e] = bias[h,e] + sum_d x[b,i,d] w[h,e,d] + sum_c y[c,i,b] v[c], all sizes at run time:
// the output interleaves rows and columns, the second term has a factor that lacks the columns.
TEST(Contraction, InterleavesRowsAndColumnsAndAddsTerms) {
  ImageParam x(Float(32), 3, "x"), w(Float(32), 3, "w"), y(Float(32), 3, "y"), v(Float(32), 1, "v");
  ImageParam bias(Float(32), 2, "bias");
  for (ImageParam* image : {&x, &w, &y, &v, &bias}) dense(*image);
  Expr batch = x.dim(2).extent(), time = x.dim(1).extent(), depth = x.dim(0).extent();
  Expr heads = w.dim(2).extent(), width = w.dim(1).extent(), channels = v.dim(0).extent();
  ContractionSpec spec;
  Factor input{[&](Expr, Expr m, Expr k) {
                 auto p = decode_index(m, {batch, time});
                 return Expr(x(k, p[1], p[0]));
               },
               Along::kReduced};
  Factor weight{[&](Expr, Expr n, Expr k) {
                  auto p = decode_index(n, {heads, width});
                  return Expr(w(k, p[1], p[0]));
                },
                Along::kReduced};
  Factor second{[&](Expr, Expr m, Expr k) {
                  auto p = decode_index(m, {batch, time});
                  return Expr(y(p[0], p[1], k));
                },
                Along::kNeither};
  Factor vector{[&](Expr, Expr, Expr k) { return Expr(v(k)); }, Along::kReduced};
  spec.terms = {{input, weight, depth}, {second, vector, channels}};
  spec.output = {
      {Group::kRow, batch}, {Group::kColumn, heads}, {Group::kRow, time}, {Group::kColumn, width}};
  spec.typical_rows = 1000;
  spec.typical_reduced = 512;
  spec.epilogue = [&](const std::vector<Expr>& place, Expr sum) {
    return std::vector<Expr>{max(sum + bias(place[3], place[1]), 0.25f), sum};
  };
  Halide::Func out = ContractionScheduler(spec, host()).schedule();
  out.compile_jit(jit_target(host()));

  for (auto [B, T, H, E, D, C] : std::vector<std::array<int, 6>>{{2, 7, 3, 5, 11, 2},
                                                                 {1, 1, 1, 1, 1, 1},
                                                                 {3, 37, 4, 64, 20, 0},
                                                                 {2, 3, 40, 17, 0, 3},
                                                                 {2, 3, 0, 17, 4, 3},
                                                                 {1, 50, 2, 300, 5, 1}}) {
    Guarded<float> xs({D, T, B}), ws({D, E, H}), ys({B, T, C}), vs({C}), bs({E, H});
    Guarded<float> result({E, T, H, B}), sums({E, T, H, B});
    uint32_t seed = 0;
    for (auto* array : {&xs, &ws, &ys, &vs, &bs}) array->randomise(++seed);
    x.set(xs.buffer());
    w.set(ws.buffer());
    y.set(ys.buffer());
    v.set(vs.buffer());
    bias.set(bs.buffer());
    run_kernel(out, result, sums);
    for (int b = 0; b < B; ++b)
      for (int h = 0; h < H; ++h)
        for (int t = 0; t < T; ++t)
          for (int e = 0; e < E; ++e) {
            double sum = 0;
            for (int d = 0; d < D; ++d) sum += xs[(b * T + t) * D + d] * ws[(h * E + e) * D + d];
            for (int c = 0; c < C; ++c) sum += ys[(c * T + t) * B + b] * vs[c];
            const int at = ((b * H + h) * T + t) * E + e;
            const std::string where = std::to_string(b) + " " + std::to_string(h) + " " +
                                      std::to_string(t) + " " + std::to_string(e);
            expect_near(sums[at], sum, 10, where);
            expect_near(result[at], std::max(sum + bs[h * E + e], 0.25), 10, where);
            ASSERT_FALSE(HasFailure()) << B << " " << T << " " << H << " " << E;
          }
  }
}

// The output's last dimension belongs to the rows, factors are doubles, the batch is in the middle.
TEST(Contraction, TransposesTheOutputAndSumsDoubles) {
  ImageParam a(Float(64), 3, "a"), c(Float(64), 2, "c");
  dense(a);
  dense(c);
  Expr rows = a.dim(2).extent(), batch = a.dim(1).extent(), reduced = a.dim(0).extent();
  Expr columns = c.dim(1).extent();
  ContractionSpec spec;
  spec.type = Float(64);
  spec.terms = {{{[&](Expr b, Expr m, Expr k) { return Expr(a(k, b, m)); }, Along::kReduced},
                 {[&](Expr, Expr n, Expr k) { return Expr(c(k, n)); }, Along::kReduced},
                 reduced}};
  spec.output = {{Group::kColumn, columns}, {Group::kBatch, batch}, {Group::kRow, rows}};
  spec.typical_rows = spec.typical_columns = spec.typical_reduced = 100;
  Halide::Func out = ContractionScheduler(spec, host()).schedule();
  out.compile_jit(jit_target(host()));
  for (auto [M, B, N, K] :
       std::vector<std::array<int, 4>>{{13, 3, 5, 7}, {1, 1, 40, 300}, {70, 2, 19, 31}}) {
    Guarded<double> as({K, B, M}), cs({K, N}), result({M, B, N});
    as.randomise(1);
    cs.randomise(2);
    a.set(as.buffer());
    c.set(cs.buffer());
    run_kernel(out, result);
    for (int n = 0; n < N; ++n)
      for (int b = 0; b < B; ++b)
        for (int m = 0; m < M; ++m) {
          double sum = 0;
          for (int k = 0; k < K; ++k) sum += as[(m * B + b) * K + k] * cs[n * K + k];
          ASSERT_NEAR(result[(n * B + b) * M + m], sum, 1e-13 * (K + 1));
        }
  }
}

// Results are one value, and one vector, with constant extents of one.
TEST(Contraction, ReducesToAScalarAndToAVector) {
  ImageParam a(Float(32), 1, "a"), c(Float(32), 2, "c");
  dense(a);
  dense(c);
  Factor vector{[&](Expr, Expr, Expr k) { return Expr(a(k)); }, Along::kReduced};
  Factor matrix{[&](Expr, Expr m, Expr k) { return Expr(c(k, m)); }, Along::kReduced};
  ContractionSpec scalar, product;
  scalar.terms = {{vector, vector, a.dim(0).extent()}};
  product.terms = {{matrix, vector, a.dim(0).extent()}};
  product.output = {{Group::kRow, c.dim(1).extent()}};
  Halide::Func square = ContractionScheduler(scalar, host()).schedule();
  Halide::Func times = ContractionScheduler(product, host()).schedule();
  for (int K : {0, 1, 37, 30011}) {
    const int M = 19;
    Guarded<float> as({K}), cs({K, M}), one({}), many({M});
    as.randomise(1);
    cs.randomise(2);
    a.set(as.buffer());
    c.set(cs.buffer());
    square.realize(one.buffer(), jit_target(host()));
    times.realize(many.buffer(), jit_target(host()));
    double sum = 0;
    for (int k = 0; k < K; ++k) sum += double(as[k]) * as[k];
    expect_near(one[0], sum, K, "square");
    for (int m = 0; m < M; ++m) {
      sum = 0;
      for (int k = 0; k < K; ++k) sum += double(as[k]) * cs[int64_t(m) * K + k];
      expect_near(many[m], sum, K, "times " + std::to_string(m));
    }
  }
}

TEST(Contraction, GivesTheSameBitsOnAnyNumberOfThreads) {
  Product product(true, false, host());
  for (auto [M, N, K] :
       std::vector<std::array<int, 3>>{{200, 600, 300}, {40, 40, 20000}, {3, 1100, 100}}) {
    Guarded<float> a({M, K, 1}), c({N, K, 1}), first({N, M, 1}), second({N, M, 1});
    a.randomise(1);
    c.randomise(2);
    product.left.set(a.buffer());
    product.right.set(c.buffer());
    Halide::Internal::JITSharedRuntime::set_num_threads(1);
    run_kernel(product.out, first);
    Halide::Internal::JITSharedRuntime::set_num_threads(3);
    run_kernel(product.out, second);
    Halide::Internal::JITSharedRuntime::set_num_threads(0);
    EXPECT_EQ(0, std::memcmp(first.data(), second.data(), first.size() * sizeof(float)));
  }
}

// Run-time index arithmetic of the largest linear indices.
TEST(Contraction, DecodesLargeIndicesExactly) {
  Halide::Param<int> index("index"), outer("outer"), inner("inner");
  Halide::Func f("decoded");
  Halide::Var i("i");
  auto p = decode_index(index, {outer, inner});
  f(i) = select(i == 0, p[0], p[1]);
  for (auto [n, d] : std::vector<std::array<int, 2>>{{2147483646, 1},
                                                     {2147483646, 2147483647},
                                                     {2147483600, 46341},
                                                     {999999999, 1000000000},
                                                     {1000000000, 1000000000},
                                                     {46340 * 46341, 46341},
                                                     {0, 7}}) {
    index.set(n);
    inner.set(d);
    outer.set(n / d + 1);
    Halide::Buffer<int> result = f.realize({2});
    EXPECT_EQ(result(0), n / d);
    EXPECT_EQ(result(1), n % d);
  }
}

}  // namespace
}  // namespace attn::lower
