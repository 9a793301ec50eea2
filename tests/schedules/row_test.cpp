// Row kernels against plain loops in double: layer norm with its gradient, softmax with a
// log-sum-exp, short and long rows.
#include <Halide.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "compiler/lower/cpu/row_scheduler.h"
#include "compiler/lower/halide/target.h"
#include "compiler/lower/terms/vector_math.h"
#include "compiler/target/target.h"
#include "guarded.h"

namespace attn::lower {
namespace {

using Halide::Float;
using Kind = RowStage::Kind;
using ir::Combine;

const std::vector<std::array<int, 2>> kSizes = {{0, 5},  {5, 0},    {1, 1},    {3, 3},    {7, 16},
                                                {13, 8}, {100, 17}, {9, 64},   {5, 127},  {4, 129},
                                                {3, 70}, {70, 31},  {2, 1031}, {131, 257}};

void dense(ImageParam& image) {
  image.dim(0).set_min(0).set_stride(1);
  if (image.dimensions() > 1) {
    image.dim(1).set_min(0).set_stride(image.dim(0).extent());
  }
}

RowSpec spec_over(const ImageParam& x, int typical_columns) {
  const Expr rows = x.dim(1).extent(), columns = x.dim(0).extent();
  return {.row_extents = {rows},
          .column_extents = {columns},
          .rows = rows,
          .columns = columns,
          .typical_columns = typical_columns};
}

RowStage stage(Kind kind, std::function<Expr(const RowCell&)> body, bool output = true) {
  RowStage s{.kind = kind, .body = std::move(body), .output = output};
  if (kind != Kind::kColumnSum) s.dimensions.push_back(0);
  if (kind == Kind::kColumnSum || kind == Kind::kMap) s.dimensions.push_back(1);
  return s;
}

// Layer norm and its gradient in one kernel: y, mean, 1/deviation, dx, dgamma, dbeta.
struct LayerNorm {
  ImageParam x{Float(32), 2, "x"}, dy{Float(32), 2, "dy"}, gamma{Float(32), 1, "gamma"};
  Halide::Pipeline kernel;

  LayerNorm(int typical_columns, const Target& level) {
    dense(x);
    dense(dy);
    dense(gamma);
    Expr columns = x.dim(0).extent();
    Expr over = 1.0f / Halide::cast<float>(max(columns, 1));
    auto at = [](ImageParam& image, const RowCell& c) { return Expr(image(c.column, c.row)); };
    RowSpec spec = spec_over(x, typical_columns);
    auto add = [&](const char*, Kind kind, bool output, auto body) {
      spec.stages.push_back(stage(kind, body, output));
    };
    add("sum", Kind::kRowReduction, false, [=, this](const RowCell& c) { return at(x, c); });
    add("mean", Kind::kRowMap, true, [=](const RowCell& c) { return c.value(0) * over; });
    add("centred", Kind::kMap, false,
        [=, this](const RowCell& c) { return at(x, c) - c.value(1); });
    add("square", Kind::kRowReduction, false,
        [=](const RowCell& c) { return c.value(2) * c.value(2); });
    add("scale", Kind::kRowMap, true,
        [=](const RowCell& c) { return 1.0f / sqrt(c.value(3) * over + 1e-5f); });
    add("xhat", Kind::kMap, false, [=](const RowCell& c) { return c.value(2) * c.value(4); });
    add("y", Kind::kMap, true,
        [=, this](const RowCell& c) { return c.value(5) * gamma(c.column); });
    add("g", Kind::kMap, false,
        [=, this](const RowCell& c) { return at(dy, c) * gamma(c.column); });
    add("gsum", Kind::kRowReduction, false, [=](const RowCell& c) { return c.value(7) * over; });
    add("gx", Kind::kRowReduction, false,
        [=](const RowCell& c) { return c.value(7) * c.value(5) * over; });
    add("dx", Kind::kMap, true, [=](const RowCell& c) {
      return (c.value(7) - c.value(8) - c.value(5) * c.value(9)) * c.value(4);
    });
    add("dgamma", Kind::kColumnSum, true,
        [=, this](const RowCell& c) { return at(dy, c) * c.value(5); });
    add("dbeta", Kind::kColumnSum, true, [=, this](const RowCell& c) { return at(dy, c); });
    kernel = Halide::Pipeline(RowScheduler(spec, level).schedule());
    kernel.compile_jit(jit_target(level));
  }

  struct Results {
    Guarded<float> mean, scale, y, dx, dgamma, dbeta;
    Results(int rows, int columns)
        : mean({rows}),
          scale({rows}),
          y({columns, rows}),
          dx({columns, rows}),
          dgamma({columns}),
          dbeta({columns}) {}
  };
  void run(Guarded<float>& xs, Guarded<float>& dys, Guarded<float>& gs, Results& r) {
    x.set(xs.buffer());
    dy.set(dys.buffer());
    gamma.set(gs.buffer());
    run_kernel(kernel, r.mean, r.scale, r.y, r.dx, r.dgamma, r.dbeta);
  }

  void check(int R, int C) {
    SCOPED_TRACE(std::to_string(R) + " rows of " + std::to_string(C));
    Guarded<float> xs({C, R}), dys({C, R}), gs({C});
    xs.randomise(1, -2, 3);
    dys.randomise(2);
    gs.randomise(3);
    Results result(R, C);
    run(xs, dys, gs, result);
    std::vector<double> dgamma(C), dbeta(C);
    for (int r = 0; r < R; ++r) {
      double mean = 0, square = 0, g = 0, gx = 0;
      const double n = std::max(C, 1);
      for (int c = 0; c < C; ++c) mean += xs[r * C + c] / n;
      for (int c = 0; c < C; ++c) square += std::pow(xs[r * C + c] - mean, 2);
      const double scale = 1 / std::sqrt(square / n + 1e-5);
      for (int c = 0; c < C; ++c) {
        const double xhat = (xs[r * C + c] - mean) * scale, d = dys[r * C + c];
        g += d * gs[c] / n;
        gx += d * gs[c] * xhat / n;
        dgamma[c] += d * xhat;
        dbeta[c] += d;
      }
      ASSERT_NEAR(result.mean[r], mean, 2e-6);
      ASSERT_NEAR(result.scale[r], scale, 2e-6 * scale);
      for (int c = 0; c < C; ++c) {
        const double xhat = (xs[r * C + c] - mean) * scale;
        ASSERT_NEAR(result.y[r * C + c], xhat * gs[c], 4e-6) << r << " " << c;
        ASSERT_NEAR(result.dx[r * C + c], (dys[r * C + c] * gs[c] - g - xhat * gx) * scale,
                    1e-5 * (1 + scale))
            << r << " " << c;
      }
    }
    for (int c = 0; c < C; ++c) {
      ASSERT_NEAR(result.dgamma[c], dgamma[c], 1e-5 * (R + 1)) << c;
      ASSERT_NEAR(result.dbeta[c], dbeta[c], 1e-5 * (R + 1)) << c;
    }
  }

  // The same bits on any number of threads.
  void check_threads(int R, int C) {
    Guarded<float> xs({C, R}), dys({C, R}), gs({C});
    xs.randomise(1);
    dys.randomise(2);
    gs.randomise(3);
    Results one(R, C), three(R, C);
    Halide::Internal::JITSharedRuntime::set_num_threads(1);
    run(xs, dys, gs, one);
    Halide::Internal::JITSharedRuntime::set_num_threads(3);
    run(xs, dys, gs, three);
    Halide::Internal::JITSharedRuntime::set_num_threads(0);
    EXPECT_EQ(0, std::memcmp(one.dx.data(), three.dx.data(), one.dx.size() * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(one.dgamma.data(), three.dgamma.data(), C * sizeof(float)));
  }
};

TEST(Rows, NormaliseAndDifferentiateLongRows) {
  LayerNorm norm(0, host());
  for (auto [rows, columns] : kSizes) norm.check(rows, columns);
  norm.check_threads(300, 211);
}
TEST(Rows, NormaliseAndDifferentiateShortRowsOnTheMiddleLevel) {
  if (host().level == target::Level::x86_64_v2) GTEST_SKIP();
  LayerNorm norm(24, target::targets()[1]);
  for (auto [rows, columns] : kSizes) norm.check(rows, columns);
}
TEST(Rows, NormaliseAndDifferentiateOnTheOldestLevel) {
  LayerNorm norm(0, target::targets()[0]);
  for (auto [rows, columns] : kSizes) norm.check(rows, columns);
}

// Softmax of the visible part of each row (column <= row), and its log-sum-exp in two planes; the
// last row's mask hides everything.
TEST(Rows, ComputeMaskedSoftmaxWithLogSumExp) {
  for (int typical : {0, 32}) {
    ImageParam x(Float(32), 2, "x");
    dense(x);
    Expr rows = x.dim(1).extent();
    const float lowest = -3.4028235e38f;
    RowSpec spec = spec_over(x, typical);
    auto visible = [&](const RowCell& c) { return c.column <= c.row && c.row < rows - 1; };
    RowStage lse = stage(Kind::kRowReduction, [&](const RowCell& c) {
      return select(visible(c), x(c.column, c.row), lowest);
    });
    lse.combine = Combine::logsumexp;
    RowStage p = stage(Kind::kMap, [&](const RowCell& c) {
      return select(visible(c),
                    vector_exp(Halide::strict_float((x(c.column, c.row) - c.high(0)) - c.low(0))),
                    0.0f);
    });
    RowStage most = stage(Kind::kRowReduction, [](const RowCell& c) { return -c.value(1); });
    most.combine = Combine::min;
    most.stored = Float(64);
    spec.stages = {lse, p, most};
    Halide::Pipeline kernel(RowScheduler(spec, host()).schedule());
    kernel.compile_jit(jit_target(host()));
    for (auto [R, C] : kSizes) {
      Guarded<float> xs({C, R}), lses({R, 2}), ps({C, R});
      Guarded<double> mosts({R});
      xs.randomise(1, -60, 60);
      x.set(xs.buffer());
      run_kernel(kernel, lses, ps, mosts);
      for (int r = 0; r < R; ++r) {
        const int seen = r == R - 1 ? 0 : std::min(C, r + 1);
        double top = -1e300, sum = 0, best = 0;
        for (int c = 0; c < seen; ++c) top = std::max<double>(top, xs[r * C + c]);
        for (int c = 0; c < seen; ++c) sum += std::exp(xs[r * C + c] - top);
        if (seen == 0) {
          ASSERT_EQ(lses[r], lowest);
        } else {
          ASSERT_NEAR(lses[r] + lses[R + r], top + std::log(sum), 1e-5);
        }
        for (int c = 0; c < C; ++c) {
          double expected = c < seen ? std::exp(xs[r * C + c] - top) / sum : 0;
          ASSERT_NEAR(ps[r * C + c], expected, 1e-6) << R << "x" << C << " at " << r << " " << c;
          best = std::max(best, expected);
        }
        if (C > 0) {
          ASSERT_NEAR(mosts[r], -best, 1e-6);
        }
      }
    }
  }
}

TEST(Rows, SumColumnsAlone) {
  ImageParam x(Float(32), 2, "x");
  dense(x);
  RowSpec spec = spec_over(x, 0);
  spec.stages = {stage(Kind::kColumnSum, [&](const RowCell& c) { return x(c.column, c.row); })};
  Halide::Pipeline kernel(RowScheduler(spec, host()).schedule());
  for (auto [R, C] : kSizes) {
    Guarded<float> xs({C, R}), sums({C});
    xs.randomise(1);
    x.set(xs.buffer());
    run_kernel(kernel, sums);
    for (int c = 0; c < C; ++c) {
      double expected = 0;
      for (int r = 0; r < R; ++r) expected += xs[r * C + c];
      ASSERT_NEAR(sums[c], expected, 1e-6 * (R + 1));
    }
  }
}

TEST(Rows, ExponentialIsAccurateAndFlushes) {
  Halide::ImageParam x(Float(32), 1);
  Halide::Func f("e");
  Halide::Var i("i");
  f(i) = vector_exp(x(i));
  f.vectorize(i, 16, Halide::TailStrategy::GuardWithIf);
  const int n = 200001;
  Guarded<float> in({n}), out({n});
  for (int k = 0; k < n; ++k) in.data()[k] = -86.5f + 175.0f * k / (n - 1);
  x.set(in.buffer());
  run_kernel(f, out);
  for (int k = 0; k < n; ++k) {
    double expected = std::exp(double(in[k]));
    ASSERT_NEAR(out[k] / expected, 1, 2.5 * 1.2e-7) << in[k];
  }
  const float edges[] = {-86.7f, -1e30f, -3.4028235e38f, 0.0f};
  for (int k = 0; k < 4; ++k) in.data()[k] = edges[k];
  run_kernel(f, out);
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_EQ(out[2], 0.0f);
  EXPECT_EQ(out[3], 1.0f);
}

}  // namespace
}  // namespace attn::lower
