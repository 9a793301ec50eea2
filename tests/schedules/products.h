// Products of matrices as contractions, checked against plain loops in double.
#pragma once

#include <Halide.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/halide/target.h"
#include "compiler/target/target.h"
#include "guarded.h"

namespace attn::lower {

using Halide::Float;
using Along = Factor::Along;
using Group = OutputDim::Group;

inline void expect_near(double value, double expected, double scale, const std::string& where) {
  // The negated form also catches NaN.
  if (!(std::abs(value - expected) <= 1e-6 * scale + 1e-30)) {
    ADD_FAILURE() << where << ": " << value << " instead of " << expected;
  }
}

inline void dense(ImageParam& image) {
  Expr stride = 1;
  for (int i = 0; i < image.dimensions(); ++i) {
    image.dim(i).set_min(0).set_stride(stride);
    stride = stride * image.dim(i).extent();
  }
}

// out[b, m, n] = sum_k left * right in the four layouts of the operands.
struct Product {
  ImageParam left{Float(32), 3, "left"}, right{Float(32), 3, "right"};
  bool left_transposed, right_transposed;
  Halide::Func out;

  Product(bool lt, bool rt, const Target& level, int typical_rows = 0, int typical_columns = 0,
          int known_columns = 0)
      : left_transposed(lt), right_transposed(rt) {
    dense(left);
    dense(right);
    Expr rows = left.dim(lt ? 0 : 1).extent(), reduced = left.dim(lt ? 1 : 0).extent();
    Expr columns = known_columns > 0 ? Expr(known_columns) : right.dim(rt ? 1 : 0).extent();
    ContractionSpec spec;
    Factor a{[this](Expr b, Expr m, Expr k) {
               return left_transposed ? Expr(left(m, k, b)) : Expr(left(k, m, b));
             },
             lt ? Along::kOuter : Along::kReduced};
    Factor c{[this](Expr b, Expr n, Expr k) {
               return right_transposed ? Expr(right(k, n, b)) : Expr(right(n, k, b));
             },
             rt ? Along::kReduced : Along::kOuter};
    c.run = kWholeRun;
    spec.terms = {{a, c, reduced}};
    spec.output = {
        {Group::kBatch, left.dim(2).extent()}, {Group::kRow, rows}, {Group::kColumn, columns}};
    spec.typical_rows = typical_rows;
    spec.typical_columns = typical_columns;
    out = ContractionScheduler(spec, level).schedule();
    out.compile_jit(jit_target(level));
  }

  void check(int batch, int rows, int columns, int reduced) {
    auto extents = [&](bool swapped, int outer, int inner) {
      return swapped ? std::vector<int>{outer, inner, batch}
                     : std::vector<int>{inner, outer, batch};
    };
    Guarded<float> a(extents(left_transposed, rows, reduced));
    Guarded<float> c(extents(right_transposed, reduced, columns));
    Guarded<float> result({columns, rows, batch});
    a.randomise(1);
    c.randomise(2);
    left.set(a.buffer());
    right.set(c.buffer());
    run_kernel(out, result);
    auto at = [&](auto& array, bool swapped, int64_t b, int64_t outer, int64_t inner,
                  int64_t outers, int64_t inners) {
      return double(
          array[b * outers * inners + (swapped ? inner * outers + outer : outer * inners + inner)]);
    };
    for (int b = 0; b < batch; ++b) {
      for (int m = 0; m < rows; ++m) {
        for (int n = 0; n < columns; ++n) {
          double sum = 0, scale = 0;
          for (int k = 0; k < reduced; ++k) {
            double p = at(a, left_transposed, b, m, k, rows, reduced) *
                       at(c, right_transposed, b, k, n, reduced, columns);
            sum += p;
            scale += std::abs(p);
          }
          // A few rows are summed serially along k.
          expect_near(result[(int64_t(b) * rows + m) * columns + n], sum,
                      scale * (1 + reduced / 4000.0),
                      std::to_string(b) + " " + std::to_string(m) + " " + std::to_string(n));
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
};

}  // namespace attn::lower
