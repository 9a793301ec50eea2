// Derivatives of recurrences against central differences, at few steps and at none.
#include <gtest/gtest.h>

#include "forward_check.h"
#include "tests/elaborate/elaborated.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_recurrence.h"
#include "tests/support/with_loss.h"

namespace attn::testing {
namespace {

// Values where the sizes of these names have these values.
evaluate::Arrays values_for(const ir::Graph& g, const std::map<std::string, int64_t>& given) {
  std::vector<int64_t> sizes(g.sizes.size());
  for (size_t k = 0; k < sizes.size(); ++k)
    if (auto it = given.find(g.sizes[k].name); it != given.end()) sizes[k] = it->second;
  g.complete(sizes);
  return random_inputs(g, sizes, 7, 3);
}

void expect_right(const std::string& source) {
  const auto e = elaborate_text(source);
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph& g = e->graph();
  for (const int64_t steps : {0, 1, 2, 4}) {
    SCOPED_TRACE("T = " + std::to_string(steps));
    const evaluate::Arrays values = values_for(g, {{"T", steps}, {"B", 2}, {"S", 3}});
    EXPECT_EQ(check_gradient(g, values), "");
    EXPECT_EQ(check_jvp(g, values), "");
  }
  const evaluate::Arrays values = values_for(g, {{"T", 3}, {"B", 2}, {"S", 3}});
  EXPECT_EQ(check_hvp(with_loss(g), values), "");
}

TEST(Recurrences, SimpleNetworks) {
  expect_right(R"(size B, T, N = 2, M = 3
model m(x: [B, T, N], h0: [B, M]) -> y {
  param w: [M, N], u: [M, M], v: [N, M]
  scan t: T {
    a[b,t,m] = sum[n] x[b,t,n] * w[m,n]
    h[b,t,m] = tanh(a[b,t,m] + (sum[k] h[b,t-1,k] * u[m,k])) from h0[b,m]
    y[b,t,n] = sum[m] h[b,t,m] * v[n,m]
  }
})");
}

// Cotangents and tangents are named, and so typed, before they are defined.
TEST(Recurrences, InFloat64AndBesideIt) {
  expect_right(R"(size B, T
model m(x: [B, T], w: f64[B, T]) -> h, y {
  scan t: T {
    a[b,t] = 0.5 * h[b,t-1] + x[b,t]
    h[b,t] = a[b,t] * w[b,t] from 0.25
    c[b,t] = 0.5 * c[b,t-1] + x[b,t] from 0
  }
  y[b,t] = w[b,t] * c[b,t]
})");
}

TEST(Recurrences, DownwardsWithTheStepInnermostAndConditions) {
  expect_right(R"(size B, T, N = 3
model m(x: [B, T, N]) -> a, z {
  scan t: T down {
    z[b,t] = 0.5 * z[b,t+1] + (mean[n] a[n,b,t+1]^2) from 1
    a[n,b,t] = x[b,t,n] * a[n,b,t+1] + z[b,t] from 0.25 where t > 1
  }
})");
}

TEST(Recurrences, WhatIsReadWithoutAStartAndOutsideAtOtherSteps) {
  expect_right(R"(size B, T
model m(x: [B, T]) -> y, s {
  scan t: T {
    y[b,t] = x[b,t] * (if t >= 1 then exp(y[b,t-1]) else 2) + (if t > 1 then x[b,t-2] else 0)
  }
  s[b, i: T] = sum[j where j <= i] y[b,j] * x[b,i - j]
})");
}

TEST(Recurrences, MaximaAndProducts) {
  expect_right(R"(size B, T, N = 3
model m(x: [B, T, N], k: [N, N]) -> y {
  scan t: T {
    y[b,t,n] = x[b,t,n] + max[m] (0.731 * k[n,m] + y[b,t-1,m]) + (prod[m] (1 + 0.1 * y[b,t-1,m])) from 0
  }
})");
}

TEST(Recurrences, AttentionInside) {
  expect_right(R"(size B, T, S, N = 2
model m(memory: [B, S, N], x: [B, T, N], length: int[B]) -> y {
  param w: [N, N]
  scan t: T {
    p[b,t,j] = softmax[j where j <= length[b]] (sum[n] y[b,t-1,n] * memory[b,j,n])
    c[b,t,n] = sum[j] p[b,t,j] * memory[b,j,n]
    y[b,t,n] = tanh(x[b,t,n] + (sum[m] c[b,t,m] * w[n,m])) from 0.5
  }
})");
}

TEST(Recurrences, LayersOfTheLibrary) {
  expect_right(R"(use std.recurrent
size B, T, N = 2, M = 2
model m(x: [B, T, N], h0: [B, M], c0: [B, M]) -> c, z {
  (h, c) = lstm(x, h0, c0) as lower
  z = gru(h, h0) as upper
})");
}

TEST(Recurrences, OneBehindTheOtherInARepeat) {
  expect_right(R"(size B, T, N = 2
block layer(x: [B, T, N]) -> y {
  param u: [N]
  scan t: T {
    y[b,t,n] = sigmoid(x[b,t,n] + u[n] * y[b,t-1,n]) from 0
  }
}
model m(x: [B, T, N]) -> z {
  repeat l: 2 as layers { x = layer(x) }
  scan t: T down {
    z[b,t,n] = x[b,t,n] * z[b,t+1,n] + x[b,t,n] from 1
  }
})");
}

TEST(Recurrences, AtRandom) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::string source = random_recurrence(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + source);
    const auto e = elaborate_text(source);
    ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
    const evaluate::Arrays values =
        values_for(e->graph(), {{"T", static_cast<int64_t>(seed % 4)}, {"B", 2}});
    ASSERT_EQ(check_gradient(e->graph(), values), "");
    ASSERT_EQ(check_jvp(e->graph(), values), "");
  }
}

}  // namespace
}  // namespace attn::testing
