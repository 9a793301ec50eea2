// Subscripts that are in range, as one writes them: none needs a condition of its own.
#include <fmt/format.h>

#include "compiler/evaluate/evaluate.h"
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

struct Form {
  const char *sizes, *inputs, *body;
};

constexpr Form kForms[] = {
    // Reversals, also of chunks and of reversals.
    {"T, N = 4", "x: [T, N]",
     "r[i: T, j: N] = x[T - 1 - i, N - 1 - j]; "
     "y[i: T, j: N] = r[T - 1 - (T - 1 - i), N - 1 - (N - 1 - j)]"},
    {"K, C = 8", "x: [K * C]", "y[i: K * C] = x[i // C * C + C - 1 - i % C]"},
    {"K, C = 8", "x: [K * C]", "y[k: K, c: C] = x[(K - 1 - k) * C + C - 1 - c]"},
    {"T, C = 4", "x: [T]", "y[i: T // C * C] = x[(T // C - 1 - i // C) * C + (C - 1 - i % C)]"},
    {"T, C = 8", "x: [T]", "y[i: T] = x[min(i // C * C + C - 1 - i % C, T - 1)]"},
    {"K, C in 1..", "x: [K, C]", "y[i: K * C] = x[K - 1 - i // C, C - 1 - i % C]"},
    // Rings.
    {"T, S", "x: [T], z: [S]", "y[i: T, m: S] = x[(m + S) % T] * z[m]"},
    {"T, S", "x: [T], z: [S]", "y[i: S] = if T > 0 then x[(i + S) % T] + z[i] else 0"},
    {"T, S", "x: [T], z: [S]", "y[m: S] = x[m % T] * z[m] where T >= 1"},
    {"T, S", "x: [T], z: [S]", "y[m: S] = if T != 0 then x[(m - S) % T] * z[m] else z[m]"},
    {"T, S", "x: [T], z: [S]", "y[i: T] = x[i] + (sum[m: S] x[m % T] * z[m])"},
    {"T, R = 5", "x: [T], r: [R]",
     "y[i: T] = x[i] * r[(i + R - 1) % R] + r[(i - 1) % R] + r[(R - 1 - i) % R]"},
    {"T", "x: [T]", "y[i: T] = x[abs(i - T // 2) % T] + x[(2 * T - 2 - i) % T]"},
    {"B, T", "x: [T], shift: int[B]", "y[b: B, i: T] = x[(i + shift[b]) % T]"},
    // Windows, paddings, strides.
    {"T, W = 3", "x: [T]", "y[i: T] = sum[k: W where i - k >= 0] x[i - k]"},
    {"T, P = 2", "x: [T]", "y[i: T + 2 * P] = if i >= P and i < T + P then x[i - P] else 0"},
    {"T, P = 2", "x: [T]", "y[i: T] = if T > P then x[T - 1 - abs(T - 1 - abs(i - P))] else 0"},
    {"T, S = 3", "x: [T]", "y[i: (T + S - 1) // S] = x[i * S]"},
    {"T, W = 4", "x: [T]",
     "y[n: (T - W) // (W // 2) + 1, k: W] = if T >= W then x[n * (W // 2) + k] else 0"},
    {"T, W", "x: [T], w: [W]",
     "y[i: T] = if W > 0 then x[i // W] + x[i - i % W] + w[i % W] else x[i]"},
    {"T, S", "x: [T], z: [S]",
     "y[i: S] = if S <= T then x[T - S + i] + x[(T - S) + (S - 1 - i)] else z[i]"},
    {"N", "x: [N]", "y[j: 2 * N] = x[j // 2] + x[(2 * N - 1 - j) // 2] + x[j - N * (j // N)]"},
    {"T", "x: [T]", "y[i: T] = if i % 2 == 0 then x[if i + 1 < T then i + 1 else i] else x[i - 1]"},
    {"T, C = 4", "x: [T]", "y[c: (T + C - 1) // C] = x[min(c * C + C, T) - 1]"},
    {"T, W in 1.., S in 1..", "x: [T], w: [W], s: [S]",
     "y[n: (T - W) // S + 1] = if T >= W then (sum[k] x[n * S + k] * w[k]) + s[0] else 0"},
    {"K, W", "x: [K * W], w: [W]", "y[i: K * W] = x[(i // W) * W + W - 1 - i % W] * w[i % W]"},
    {"H, W", "x: [H * W], r: [H], c: [W]",
     "y[k: H * W] = x[k % W * H + k // W] * r[k // W] * c[k % W]"},
    {"H, W, C = 3, R = 2", "x: [H, W, C * R * R]",
     "y[h: H * R, w: W * R, c: C] = x[h // R, w // R, c * R * R + h % R * R + w % R]"},
    {"N", "x: [N * (N + 1) // 2], u: [N]",
     "y[i: N, j: N] = if j <= i then x[i * (i + 1) // 2 + j] * u[i] else 0"},
    {"N, V in 1..", "x: [N, V], c: bool[N], e: [V]",
     "a[n: N] = argmax[v] x[n, v]; b[n: N] = argmax[v] (-x[n, v]); "
     "k[n: N] = if c[n] then a[n] else b[n]; y[n: N] = e[k[n]]"},
    // Maps that a definition of their own computes, of indices and of data.
    {"T, N = 8", "x: [T, N]",
     "at[i: N] = (i + 3) % N; back[i: T] = T - 1 - i; "
     "y[t: T, n: N] = x[back[back[t]], at[at[n]]]"},
    {"B, N in 1..", "x: [B, N], n: int[B]", "at[b] = clamp(n[b], 0, N - 1); y[b] = x[b,at[b]]"},
};

TEST(Ranges, OfWhatOneWritesAreProved) {
  for (const Form& form : kForms) {
    const std::string source =
        fmt::format("size {}\nmodel f({}) -> y {{\n  {}\n}}\n", form.sizes, form.inputs, form.body);
    const auto e = elaborate_text(source);
    EXPECT_FALSE(e->diagnostics.has_errors()) << e->messages() << "in\n" << source;
  }
}

// What is proved from ranges around a reduction holds where the reduction is computed.
TEST(Ranges, AroundAReductionAreAskedForInIt) {
  const auto e = elaborate_text(
      "size T, S\nmodel f(x: [T], z: [S]) -> y {\n"
      "  y[i: T] = x[i] + (sum[m: S] x[m % T] * z[m])\n}\n");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const evaluate::Arrays out =
      evaluate::evaluate(e->graph(), {{"x", {{0}, {}}}, {"z", {{3}, {1, 2, 3}}}});
  EXPECT_TRUE(out.at("y").values.empty());
}

// With T = 0 nothing keeps `i % T` in range, and a promise of the wrong size does not either.
TEST(Ranges, OfRemaindersNeedADivisor) {
  for (const char* body :
       {"y[i: S] = x[i % T] * z[i]", "y[i: S] = if S > 0 then x[i % T] else z[i]",
        "y[i: S] = if T >= 0 then x[i % T] else z[i]",
        "y = (sum[m: S] x[m % T] * z[m]) + (sum[i] x[i])"}) {
    const auto e =
        elaborate_text(fmt::format("size T, S\nmodel f(x: [T], z: [S]) -> y {{\n  {}\n}}\n", body));
    EXPECT_TRUE(e->diagnostics.has_errors()) << body;
  }
}

}  // namespace
}  // namespace attn::testing
