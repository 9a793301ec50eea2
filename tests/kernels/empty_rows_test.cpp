// A row without points passes nothing on: the gradient of what it would have read is 0, and never
// NaN, whatever the simplifier computes outside of the reduction.
#include <gtest/gtest.h>

#include <cmath>

#include "agreement.h"
#include "compiled.h"

namespace attn::testing {
namespace {

using Sizes = std::map<std::string, int64_t>;

// Kernels and the evaluator agree, and no value is NaN or infinite.
void expect_finite(const std::string& text, const std::vector<Sizes>& calls,
                   Derive derive = Derive::gradients) {
  SCOPED_TRACE(text);
  Library library(compile_text(text, {}, derive));
  for (const Sizes& sizes : calls) {
    const Arrays given = random_call(library.model(), sizes, 1);
    const Outcome result = library.call(given);
    ASSERT_EQ(result.status, ATTN_OK) << result.message;
    const Arrays reference = library.reference(given);
    for (const auto& [name, array] : result.values)
      for (size_t k = 0; k < array.values.size(); ++k) {
        const double wanted = reference.at(name).values[k];
        ASSERT_TRUE(std::isfinite(wanted)) << name << "[" << k << "]";
        EXPECT_NEAR(array.values[k], wanted, 1e-5) << name << "[" << k << "]";
      }
    EXPECT_EQ(differ_from_differences(library.model(), given), "");
  }
}

TEST(EmptyRows, OfASoftmaxThatDoesNotVary) {
  expect_finite(R"(
    size T
    train model m(x: [T]) -> p {
      p[i: T, k: T] = softmax[k where k < i] (x[i])
    })",
                {{{"T", 0}}, {{"T", 1}}, {{"T", 5}}});
}

TEST(EmptyRows, OfASoftmaxOverNothing) {
  expect_finite(R"(
    size T
    train model m(x: [T], w: f32) -> z {
      p[i: T, j: T] = softmax[j] (w)
      z[i: T] = sum[j: T] p[i, j] * x[j]
    })",
                {{{"T", 0}}, {{"T", 3}}});
}

// What does not vary is a map at first, and a scalar when it is inlined.
TEST(EmptyRows, OfASoftmaxOfOneScalar) {
  expect_finite(R"(
    size T
    train model m(w: f32, x: [T]) -> p, q {
      p[i: T] = softmax[i where i > 2] (tanh(w))
      q[i: T, j: T] = softmax[j where j > i] (if i > 1 then w else x[0])
    })",
                {{{"T", 0}}, {{"T", 1}}, {{"T", 2}}, {{"T", 5}}});
}

// Factors that do not vary, all of which are 0.
TEST(EmptyRows, OfAProductOfZeros) {
  expect_finite(R"(
    size B, T, S
    train model m(w: [S], x: [B, T]) -> d {
      k[i: S, j: T] = w[i] * j
      d[i: B, j: T] = prod[s: S] (if 1 < S then k[1, j] else 0)
    })",
                {{{"B", 2}, {"T", 3}, {"S", 2}}, {{"B", 0}, {"T", 1}, {"S", 2}}});
}

// What stands at one place has its gradient there, and nowhere else is there anything to compute.
TEST(EmptyRows, OfAnElementThatIsNotThere) {
  expect_finite(R"(
    size B, T
    train model m(x: [B, T], w: [T]) -> a, h {
      a[i: T] = tanh(if 1 < B and 2 < T then x[1, 2] else 1)
      scan t: T {
        h[i: B, t] = tanh(h[i, t - 1] + (if 1 < T then w[1] else 0)) from 0
      }
    })",
                {{{"B", 2}, {"T", 3}}, {{"B", 1}, {"T", 2}}, {{"B", 0}, {"T", 1}}});
}

TEST(EmptyRows, OfALogsumexpOverTwoIndices) {
  expect_finite(R"(
    size B, T
    train model m(x: [T, 2], y: [B]) -> a {
      a[t: T] = clamp((logsumexp[i: 1, k: 2 where t < i] (if k < B then x[t, k] else 0)), -16, 16)
    })",
                {{{"T", 3}, {"B", 2}}, {{"T", 3}, {"B", 0}}});
}

// An index of one value bounds a row as a number does.
TEST(EmptyRows, BeyondAnIndexOfOneValue) {
  const std::string text = R"(
    size B, T, N = 1
    train model m(length: [B], x: [B, T, N]) -> a {
      param w: f64[N, N]
      a[b: B, t: T] = clamp(logsumexp[k: 1, l where t <= l and t < length[b]]
                              (if b < N then w[b, b] else x[b, t, l]), 1, 16)
    })";
  for (uint64_t n = 0; n < 3; ++n) {
    Library library(compile_text(text), 2, target_in_turn(n));
    for (int64_t t : {0, 1, 4, 17}) {
      SCOPED_TRACE(target_in_turn(n) + " T=" + std::to_string(t));
      Arrays given = random_call(library.model(), {{"B", 2}, {"T", t}}, 1);
      given.at("length").values = {3, 0};
      expect_agreement(library, "m", given);
    }
  }
}

TEST(EmptyRows, OfAMinimumOfMinima) {
  expect_finite(R"(
    size B, T
    train model m(x: [B, T]) -> a {
      least[b: B] = min[t] x[b, t]
      a = clamp(min[b] least[b], -4, 4)
    })",
                {{{"B", 0}, {"T", 2}}, {{"B", 2}, {"T", 0}}, {{"B", 2}, {"T", 3}}});
}

// The read is in range only where the rest of its condition holds.
TEST(EmptyRows, OfAProductWithGuardedDiagonals) {
  const std::string text = R"(
    size B, T
    size N = 2
    train model m(x: [B, T, N]) -> p {
      a[t: T, j: N] = if j < B and t + 2 < T then x[j, t + 2, j] else 0
      p[i: N] = prod[k: N] tanh((if i < T then a[i, i] else 0) +
                                (if i < B and k < T then x[i, k, k] else 0))
    })";
  expect_finite(text, {{{"B", 2}, {"T", 4}}, {{"B", 1}, {"T", 3}}});
}

// Means of the rows before: of the first there is none, and a division by 0 is none of its terms,
// also where it is taken out of the sum.
constexpr const char* kMeans[] = {
    R"(
    train model m(w: [T, T], v: [T, D]) -> y {
      c[i: T] = sum[k: T where k < i] 1
      y[i: T, d] = sum[k where k < i] w[i, k] * v[k, d] / c[i]
    })",
    R"(
    train model m(w: [T, T], v: [T, D]) -> y {
      c[i: T] = sum[k: T where k < i] 1
      inverse[i: T] = 1 / sqrt(c[i])
      y[i: T, d] = sum[k where k < i] w[i, k] * v[k, d] * inverse[i]
    })",
    R"(
    train model m(q: [T, D], k: [T, D], v: [T, D]) -> z {
      c[i: T] = sum[j: T where j < i] 1
      s[i: T, j: T] = sum[d] q[i, d] * k[j, d]
      z[i: T, d] = sum[j where j < i] sigmoid(s[i, j]) * v[j, d] / c[i]
    })",
    R"(
    train model m(x: [T]) -> a, b {
      c[i: T] = sum[k: T where k < i] 1
      a[i: T] = sum[k where k < i] x[k] / c[i]
      b[i: T] = sum[k where k < i] x[k]
    })",
    R"(
    train model m(w: [T, T], v: [T, D], g: [D]) -> y, z {
      c[i: T] = sum[k: T where k < i] 1
      y[i: T, d] = sum[k where k < i] w[i, k] * v[k, d] / c[i] * g[d]
      z[i: T, d] = sum[k where k < i] w[i, k] * v[k, d]
    })",
    R"(
    train model m(v: [T, D], s: [T], g: [D]) -> y, z {
      c[i: T] = sum[k: T where k > 5] 1
      inverse[i: T] = 1 / c[i]
      y[i: T, d] = sum[k where k > 5] v[k, d] * inverse[i] * s[i]
      z[i: T] = sum[d] y[i, d] * g[d]
    })"};

class MeansOfNothing : public ::testing::TestWithParam<const char*> {};

TEST_P(MeansOfNothing, AreZero) {
  expect_finite(std::string("size T, D = 40") + GetParam(), {{{"T", 0}}, {{"T", 1}}, {{"T", 37}}});
}

INSTANTIATE_TEST_SUITE_P(Each, MeansOfNothing, ::testing::ValuesIn(kMeans));

// The condition of a sum reads what a row of the sum says is there.
TEST(EmptyRows, OfAProductWhoseRowsSayWhatIsThere) {
  expect_finite(R"(
    size B, T in 1.., N
    train model m(x: [B, T, N]) -> s {
      s[i: N, j: T] = prod[k: T where j <= i] tanh(if 1 < B and 1 < T then x[1, 1, j] else 0)
    })",
                {{{"B", 2}, {"T", 3}, {"N", 0}}, {{"B", 2}, {"T", 3}, {"N", 2}}});
}

// A condition bounds the steps by an index that has one value.
TEST(EmptyRows, OfConditionsOnAnIndexOfOneValue) {
  Library library(compile_text(R"(
    size B, T, S in 1.., N = 1
    train model m(x1: [B, T, N], x2: [B, S]) -> m5 {
      param scalar: f32
      m5[i: N, t: T] = clamp(max[j: S where t <= i] scalar, 1, 4)
    })"));
  for (int64_t t : {0, 1, 5, 17})
    expect_agreement(library, "m", random_call(library.model(), {{"B", 1}, {"S", 3}, {"T", t}}, 3),
                     1e-5);
}

// The gradient is scattered to a minimum, of which the condition leaves out the first row.
TEST(EmptyRows, OfAScatterToAMinimum) {
  Library library(compile_text(R"(
    size T in 1.., S, N = 2
    train model m(on: bool[S]) -> y {
      param w: [T]
      p[i: N, j: T, k] = k * w[k]
      y[i: S, j] = if on[i] then 1 else p[1, clamp(i - 1, 0, T - 1), j] where not i == 0
    })"));
  for (int64_t t : {1, 4, 17})
    for (int64_t s : {0, 1, 5})
      expect_agreement(library, "m", random_call(library.model(), {{"S", s}, {"T", t}}, 3), 1e-5);
}

// The gradient goes to one row, which N = 1 does not have.
TEST(EmptyRows, OfAScatterToARowThatIsNotThere) {
  expect_finite(R"(
    size T, M = 2, N
    train model m(w: [N, M], x: [T]) -> y {
      k[i: N, j: T] = 1 + w[i, j % 2]
      y[i: M] = if 1 < N and i < T then k[1, i] else 1
    })",
                {{{"T", 5}, {"N", 1}}, {{"T", 5}, {"N", 3}}, {{"T", 0}, {"N", 1}}});
}

// One condition twice, of a softmax and of its gradient, on the index of a row.
TEST(EmptyRows, OfASoftmaxInFewRows) {
  expect_finite(R"(
    size T, N
    train model m(w: [N], x: [T]) -> loss, other {
      p[i: N, j: T] = softmax[j where i == 0 and j < 2] (w[i] * x[j])
      q[i: N, j: T] = softmax[j where i < N - 1] (w[i] * x[j])
      loss = sum[i, j] p[i, j]^2
      other = sum[i, j] tanh(q[i, j])
    })",
                {{{"T", 0}, {"N", 1}}, {{"T", 5}, {"N", 0}}, {{"T", 5}, {"N", 3}}});
}

// A condition that is a part of another; and one of two indices that is met three times.
TEST(EmptyRows, OfASoftmaxInTwoRows) {
  expect_finite(R"(
    size N = 2
    train model m(x: f32) -> loss, p {
      p[i: 2, j: N] = softmax[j where j > 0 or i % 2 == 1] (x)
      loss = sum[i, j] p[i, j]
    })",
                {{}});
  expect_finite(R"(
    size T, N = 2
    train model m(x: f32, w: [N, T, T]) -> loss, p {
      p[i: N, j, k: T] = softmax[k where k - i < 1] (w[i, j, j] * i * x)
      loss = sum[i, j, k] tanh(p[i, j, k])
    })",
                {{{"T", 0}}, {{"T", 1}}, {{"T", 5}}}, Derive::all);
}

// Where i is odd, i - 1 is no less than 0.
TEST(EmptyRows, OfAScatterToAClampThatAConditionMakesSuperfluous) {
  expect_finite(R"(
    size T
    train model m(u: [3], w: [T]) -> c {
      c[i] = w[i] * u[clamp(i - 1, 0, 1)] where i % 2 == 1
    })",
                {{{"T", 0}}, {{"T", 1}}, {{"T", 2}}, {{"T", 5}}});
}

// A gradient over x runs further than the rows that read it.
TEST(EmptyRows, WhereThereAreMoreElementsThanRows) {
  expect_finite(R"(
    size T, N, D = 40
    train model m(q: [T, D], v: [N, D], x: [N]) -> y {
      s[j: T, i: N] = sum[d] q[j, d] * v[i, d]
      y[j: T, d] = sum[i where j <= i] sigmoid(s[j, i]) * v[i, d] * x[j]
    })",
                {{{"T", 3}, {"N", 17}}, {{"T", 17}, {"N", 3}}, {{"T", 2}, {"N", 0}}});
}

// The weight of a row in its gradient is infinite where it has no terms, and does not vary.
TEST(EmptyRows, OfALogsumexpThatDoesNotVary) {
  expect_finite(R"(
    size B, S, N = 8
    train model m(on: bool[B], c: f32, x: [N], w: [N, S]) -> y: [S, N] {
      y[i: S, j: N] = clamp(logsumexp[k: B, l: 2 where k < i]
          ((if w[j, i] < c then w[j, i] else j * 0.0625) +
           (if j + 1 < N then w[j + 1, i] else x[j])), -16, 16)
    })",
                {{{"B", 2}, {"S", 3}}, {{"B", 0}, {"S", 3}}});
}

// The weight does not vary along the whole sum: a product of its size and the weight, which is
// infinite where the size is 0.
TEST(EmptyRows, OfALogsumexpThatCountsItsSize) {
  expect_finite(R"(
    size T in 1.., S
    train model m(x: [T, T], w: [1], s: [S]) -> y, z {
      y[i: T] = clamp(logsumexp[k: S where T > 1] (x[i, i] + w[0]), -4, 4)
      z[i: T] = x[i, i]
    })",
                {{{"T", 3}, {"S", 0}}, {{"T", 3}, {"S", 2}}, {{"T", 1}, {"S", 2}}});
}

// The gradient of a softmax of what it does not run over is 0. It reads one sum at two places, of
// which one is negative.
TEST(EmptyRows, OfASoftmaxOfWhatItDoesNotRunOver) {
  expect_finite(R"(
    size B, T, S, M = 1, N = 2
    train model m(on: bool[S], x: [B, T, N]) -> z {
      param w: [N, T]
      q[i: B, j: T, m: M] = sum[l] x[i, j, l]
      p[i: B, j: T, k: S] = softmax[k where k > 0] (sum[m] q[i, j, m] + clamp(j, 0, 4) * i)
      z[i: B, k: S] = sum[j] p[i, j, k]
    })",
                {{{"B", 1}, {"T", 1}, {"S", 2}}, {{"B", 2}, {"T", 4}, {"S", 8}}});
}

}  // namespace
}  // namespace attn::testing
