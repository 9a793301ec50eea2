// The library against the formulas it documents, by the evaluator.
#include <cmath>
#include <random>

#include "compiler/evaluate/evaluate.h"
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

using evaluate::Array;
using evaluate::Arrays;

Array random_array(std::vector<int64_t> extents, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Array a{std::move(extents), {}};
  size_t count = 1;
  for (int64_t n : a.extents) count *= static_cast<size_t>(n);
  for (size_t k = 0; k < count; ++k) a.values.push_back(normal(engine));
  return a;
}

Arrays evaluated(const std::string& source, const Arrays& given) {
  const auto e = elaborate_text(source);
  EXPECT_EQ(e->program.models.size(), 1u) << e->messages();
  return evaluate::evaluate(e->graph(), given);
}

TEST(Library, NormalisesLayers) {
  const Array x = random_array({3, 5}, 1), gamma = random_array({5}, 2),
              beta = random_array({5}, 3);
  const Arrays out = evaluated(
      "use std.norm\nsize B\nsize D = 5\nmodel f(x: [B, D]) -> y {\n  y = layer_norm(x) as n\n}\n",
      {{"x", x}, {"n.gamma", gamma}, {"n.beta", beta}});
  for (int b = 0; b < 3; ++b) {
    double mu = 0, var = 0;
    for (int d = 0; d < 5; ++d) mu += x.values[b * 5 + d] / 5;
    for (int d = 0; d < 5; ++d) var += std::pow(x.values[b * 5 + d] - mu, 2) / 5;
    for (int d = 0; d < 5; ++d)
      EXPECT_NEAR(
          out.at("y").values[b * 5 + d],
          gamma.values[d] * (x.values[b * 5 + d] - mu) / std::sqrt(var + 1e-5) + beta.values[d],
          1e-12);
  }
}

TEST(Library, TakesTheMeanCrossEntropy) {
  const Array logits = random_array({4, 3}, 4);
  const Array target{{4}, {2, 0, 1, 1}};
  const Arrays out = evaluated(
      "use std.loss\nsize B\nsize C = 3\n"
      "model f(logits: [B, C], target: int[B]) -> loss {\n  loss = cross_entropy(logits, "
      "target)\n}",
      {{"logits", logits}, {"target", target}});
  double loss = 0;
  for (int b = 0; b < 4; ++b) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(logits.values[b * 3 + c]);
    loss -= (logits.values[b * 3 + static_cast<int>(target.values[b])] - std::log(sum)) / 4;
  }
  EXPECT_NEAR(out.at("loss").values[0], loss, 1e-12);
}

TEST(Library, AttendsCausally) {
  const int t = 4, d = 3;
  const Array q = random_array({t, d}, 5), k = random_array({t, d}, 6), v = random_array({t, d}, 7);
  const Arrays out = evaluated(
      "use std.attention\nsize T\nsize D = 3\n"
      "model f(q: [T, D], k: [T, D], v: [T, D]) -> z {\n  z = attend_causal(q, k, v)\n}\n",
      {{"q", q}, {"k", k}, {"v", v}});
  for (int i = 0; i < t; ++i) {
    std::vector<double> p;
    double sum = 0;
    for (int j = 0; j <= i; ++j) {
      double s = 0;
      for (int e = 0; e < d; ++e) s += q.values[i * d + e] * k.values[j * d + e] / std::sqrt(3.0);
      p.push_back(std::exp(s));
      sum += p.back();
    }
    for (int e = 0; e < d; ++e) {
      double z = 0;
      for (int j = 0; j <= i; ++j) z += p[j] / sum * v.values[j * d + e];
      EXPECT_NEAR(out.at("z").values[i * d + e], z, 1e-12);
    }
  }
}

TEST(Library, SharesKeysAmongGroupsOfHeads) {
  // With one key and value head per query head it is the causal form of several heads.
  const std::string model =
      "use std.attention\nsize T\nsize D = 4\nmodel f(x: [T, D]) -> y {\n  y = ";
  Arrays given{{"x", random_array({3, 4}, 8)},     {"y.wq", random_array({2, 2, 4}, 9)},
               {"y.bq", random_array({2, 2}, 10)}, {"y.wk", random_array({2, 2, 4}, 11)},
               {"y.bk", random_array({2, 2}, 12)}, {"y.wv", random_array({2, 2, 4}, 13)},
               {"y.bv", random_array({2, 2}, 14)}, {"y.wo", random_array({4, 2, 2}, 15)},
               {"y.bo", random_array({4}, 16)}};
  const Arrays grouped = evaluated(model + "grouped_query(x, H = 2, G = 2)\n}\n", given);
  const Arrays heads = evaluated(model + "multi_head_causal(x, H = 2)\n}\n", given);
  ASSERT_EQ(grouped.at("y").values.size(), 12u);
  for (int k = 0; k < 12; ++k)
    EXPECT_NEAR(grouped.at("y").values[k], heads.at("y").values[k], 1e-12);
}

TEST(Library, AddsPositions) {
  const Array x{{3, 4}, std::vector<double>(12, 0.0)};
  const Arrays out = evaluated(
      "use std.position\nsize T\nsize D = 4\nmodel f(x: [T, D]) -> y {\n"
      "  y = sinusoidal_positions(x)\n}\n",
      {{"x", x}});
  for (int t = 0; t < 3; ++t)
    for (int d = 0; d < 4; ++d) {
      const double angle = t / std::pow(10000.0, 2 * (d / 2) / 4.0);
      EXPECT_NEAR(out.at("y").values[t * 4 + d], d % 2 ? std::cos(angle) : std::sin(angle), 1e-12);
    }
}

TEST(Library, ActivatesAsDocumented) {
  const Array x{{5}, {-3, -0.5, 0, 0.5, 3}};
  const Arrays out = evaluated(
      "use std.activations\nsize N\nmodel f(x: [N]) -> a, b, c, d, e, g {\n"
      "  a[i] = gelu(x[i])\n  b[i] = gelu_tanh(x[i])\n  c[i] = silu(x[i])\n"
      "  d[i] = softplus(x[i])\n  e[i] = leaky_relu(x[i], 0.1)\n  g[i] = elu(x[i], 2)\n}\n",
      {{"x", x}});
  for (int k = 0; k < 5; ++k) {
    const double v = x.values[k];
    EXPECT_NEAR(out.at("a").values[k], v * 0.5 * std::erfc(-v / std::sqrt(2.0)), 1e-12);
    EXPECT_NEAR(out.at("b").values[k], out.at("a").values[k], 1e-3);
    EXPECT_NEAR(out.at("c").values[k], v / (1 + std::exp(-v)), 1e-12);
    EXPECT_NEAR(out.at("d").values[k], std::log(1 + std::exp(v)), 1e-12);
    EXPECT_NEAR(out.at("e").values[k], v > 0 ? v : 0.1 * v, 1e-12);
    EXPECT_NEAR(out.at("g").values[k], v > 0 ? v : 2 * (std::exp(v) - 1), 1e-12);
  }
}

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// One layer over three steps of two rows, with two inputs and two states.
struct Layer {
  int gates;
  Array x = random_array({2, 3, 2}, 1), h0 = random_array({2, 2}, 2), c0 = random_array({2, 2}, 3);
  Array w = random_array({gates, 2, 2}, 4), u = random_array({gates, 2, 2}, 5),
        bias = random_array({gates, 2}, 6), inner = random_array({2}, 7);

  double input(int b, int t, int k, int n) const {
    double sum = bias.values[k * 2 + n];
    for (int d = 0; d < 2; ++d)
      sum += x.values[(b * 3 + t) * 2 + d] * w.values[(k * 2 + n) * 2 + d];
    return sum;
  }
  double state(const double* h, int k, int n) const {
    double sum = 0;
    for (int m = 0; m < 2; ++m) sum += h[m] * u.values[(k * 2 + n) * 2 + m];
    return sum;
  }
};

TEST(Library, RemembersAsLongShortTermMemoryDoes) {
  const Layer l{.gates = 4};
  const Arrays out = evaluated(
      "use std.recurrent\nsize B, T\nsize N = 2, M = 2\n"
      "model f(x: [B, T, N], h0: [B, M], c0: [B, M]) -> h, c {\n  (h, c) = lstm(x, h0, c0) as "
      "l\n}\n",
      {{"x", l.x}, {"h0", l.h0}, {"c0", l.c0}, {"l.w", l.w}, {"l.u", l.u}, {"l.bias", l.bias}});
  for (int b = 0; b < 2; ++b) {
    double h[] = {l.h0.values[b * 2], l.h0.values[b * 2 + 1]};
    double c[] = {l.c0.values[b * 2], l.c0.values[b * 2 + 1]};
    for (int t = 0; t < 3; ++t) {
      const double before[] = {h[0], h[1]};
      for (int n = 0; n < 2; ++n) {
        const auto s = [&](int k) { return l.input(b, t, k, n) + l.state(before, k, n); };
        c[n] = sigmoid(s(1)) * c[n] + sigmoid(s(0)) * std::tanh(s(2));
        h[n] = sigmoid(s(3)) * std::tanh(c[n]);
        EXPECT_NEAR(out.at("c").values[(b * 3 + t) * 2 + n], c[n], 1e-12);
        EXPECT_NEAR(out.at("h").values[(b * 3 + t) * 2 + n], h[n], 1e-12);
      }
    }
  }
}

TEST(Library, KeepsWhatGatedRecurrentUnitsKeep) {
  const Layer l{.gates = 3};
  const Arrays out = evaluated(
      "use std.recurrent\nsize B, T\nsize N = 2, M = 2\n"
      "model f(x: [B, T, N], h0: [B, M]) -> h {\n  h = gru(x, h0) as l\n}\n",
      {{"x", l.x},
       {"h0", l.h0},
       {"l.w", l.w},
       {"l.u", l.u},
       {"l.bias", l.bias},
       {"l.inner", l.inner}});
  for (int b = 0; b < 2; ++b) {
    double h[] = {l.h0.values[b * 2], l.h0.values[b * 2 + 1]};
    for (int t = 0; t < 3; ++t) {
      const double before[] = {h[0], h[1]};
      for (int n = 0; n < 2; ++n) {
        const auto gate = [&](int k) {
          return sigmoid(l.input(b, t, k, n) + l.state(before, k, n));
        };
        const double g =
            std::tanh(l.input(b, t, 2, n) + gate(0) * (l.state(before, 2, n) + l.inner.values[n]));
        h[n] = (1 - gate(1)) * g + gate(1) * before[n];
        EXPECT_NEAR(out.at("h").values[(b * 3 + t) * 2 + n], h[n], 1e-12);
      }
    }
  }
}

TEST(Values, StepUpAndDownFromTheirStarts) {
  const std::string source =
      "size T\nmodel f(x: [T], start: f32) -> up, down, last {\n"
      "  scan t: T { up[t] = 2 * up[t-1] + x[t] from start }\n"
      "  scan t: T down { down[t] = 2 * down[t+1] + up[t] from -start }\n"
      "  last[i: T] = if i > 0 then up[i-1] else 0\n}\n";
  const Arrays out = evaluated(source, {{"x", {{3}, {1, 2, 3}}}, {"start", {{}, {10}}}});
  EXPECT_EQ(out.at("up").values, (std::vector<double>{21, 44, 91}));
  EXPECT_EQ(out.at("down").values, (std::vector<double>{21 + 2 * (44 + 2 * 71), 44 + 2 * 71, 71}));
  EXPECT_EQ(out.at("last").values, (std::vector<double>{0, 21, 44}));
  const Arrays none = evaluated(source, {{"x", {{0}, {}}}, {"start", {{}, {10}}}});
  EXPECT_TRUE(none.at("up").values.empty() && none.at("down").values.empty());
  const Arrays one = evaluated(source, {{"x", {{1}, {5}}}, {"start", {{}, {10}}}});
  EXPECT_EQ(one.at("down").values, (std::vector<double>{5}));
}

TEST(Values, CarryEachTensorOfARecurrenceThatIsReadBeforeItIsDefined) {
  const Arrays out = evaluated(
      "size T\nmodel f(x: [T]) -> a, b {\n  scan t: T {\n"
      "    a[t] = x[t] + b[t-1] from 7\n"
      "    b[t] = a[t] * a[t-1] from 1 where t != 1\n  }\n}\n",
      {{"x", {{4}, {1, 2, 3, 4}}}});
  // b[1] is absent, and reads as 0.
  EXPECT_EQ(out.at("a").values, (std::vector<double>{2, 16, 3, 52}));
  EXPECT_EQ(out.at("b").values, (std::vector<double>{14, 0, 48, 156}));
}

TEST(Values, PadAConvolutionWithZeros) {
  const Arrays out = evaluated(
      "size T\nsize K = 3\nmodel f(x: [T], w: [K]) -> y {\n"
      "  y[i: T] = sum[k: K where inside] x[i + k - 1] * w[k]\n}\n",
      {{"x", {{4}, {1, 2, 3, 4}}}, {"w", {{3}, {10, 1, 100}}}});
  EXPECT_EQ(out.at("y").values, (std::vector<double>{201, 312, 423, 34}));
}

TEST(Values, CountTheMeanOverACondition) {
  const Arrays out = evaluated(
      "size B, T\nmodel f(x: [B, T], keep: bool[B, T]) -> y {\n"
      "  y[b] = mean[t where keep[b,t]] x[b,t]\n}\n",
      {{"x", {{2, 3}, {1, 2, 6, 7, 8, 9}}}, {"keep", {{2, 3}, {1, 0, 1, 0, 0, 0}}}});
  EXPECT_EQ(out.at("y").values, (std::vector<double>{3.5, 0}));
}

TEST(Values, KeepNestedReductionsWithinTheirConditions) {
  const Arrays out = evaluated(
      "size T\nmodel f(s: [T, T]) -> y {\n"
      "  y[t: T, u: T] = if u > 0 and t >= u then sum[v] s[t - u, v] * s[u - 1, v] else -1\n}\n",
      {{"s", {{2, 2}, {1, 2, 3, 4}}}});
  EXPECT_EQ(out.at("y").values, (std::vector<double>{-1, -1, -1, 5}));
}

TEST(Values, StackWhatRoundsMake) {
  const Arrays out = evaluated(
      "size B\nsize L = 3\n"
      "model f(x: [B]) -> all, large, number: int {\n"
      "  h[b] = x[b]\n"
      "  repeat l: L {\n"
      "    h[b] = 2 * h[b] + l\n"
      "    all[b,l] = h[b]\n"
      "    large[l,b] = h[b] > 8\n"
      "    number[l] = l * l\n"
      "  }\n}\n",
      {{"x", {{2}, {1, 2}}}});
  EXPECT_EQ(out.at("all").extents, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(out.at("all").values, (std::vector<double>{2, 5, 12, 4, 9, 20}));
  EXPECT_EQ(out.at("large").values, (std::vector<double>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(out.at("number").values, (std::vector<double>{0, 1, 4}));
}

// Nothing in the start says what n runs over, but the definition does.
TEST(Values, OfAStartHaveTheRangesOfTheirDefinition) {
  const Arrays out = evaluated(
      "size S, T\nmodel f(x: [S], y: [T]) -> h {\n  scan t: T {\n"
      "    h[n,t] = y[t] * x[n] + h[n,t-1] from x[clamp(n - 1, 0, S - 1)]\n  }\n}\n",
      {{"x", {{2}, {1, 2}}}, {"y", {{2}, {10, 100}}}});
  EXPECT_EQ(out.at("h").values, (std::vector<double>{11, 111, 21, 221}));
}

}  // namespace
}  // namespace attn::testing
