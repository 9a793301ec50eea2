// Sums over the steps of a recurrence that its loop takes, of which each step finds in memory what
// those before it have left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"
#include "compiler/text/text.h"
#include "seeds.h"

namespace attn::testing {
namespace {

using Sizes = std::map<std::string, int64_t>;

// How many sums over steps the loops of a model take.
int sums_of(const plan::Plan& plan) {
  int sums = 0;
  for (const plan::Function* f : plan::functions(plan))
    for (const plan::Slice& s : f->slices) sums += s.dimension ? 0 : 1;
  return sums;
}

// Values and derivatives agree with the evaluator's, and the loops take `sums`.
void expect_agreement(const std::string& text, int sums, const std::vector<Sizes>& all,
                      const CallOptions& options = {}) {
  const bool all_derivatives = options.jvp || options.hvp;
  std::vector<driver::Compiled> models =
      compile_text(text, {}, all_derivatives ? Derive::all : Derive::gradients);
  const std::string plan = plan::to_string(*models.at(0).plan);
  EXPECT_EQ(sums_of(*models.at(0).plan), sums) << plan;
  Library library(std::move(models));
  for (const Sizes& sizes : all) {
    std::string at;
    for (const auto& [name, value] : sizes) at += fmt::format("{}={} ", name, value);
    const Arrays given = random_call(library.model(), sizes, 7, 4);
    const Outcome o = library.call(given, options);
    EXPECT_EQ(o.status, ATTN_OK) << o.message << at;
    if (o.status != ATTN_OK) continue;
    Arrays reference = library.reference(given, "", options);
    std::erase_if(reference, [&](const auto& of) {
      return !options.wanted.empty() && !o.values.count(of.first);
    });
    const double tolerance = options.hvp ? 1e-4 : 2e-5;
    EXPECT_EQ(differ(reference, o.values, tolerance), "") << at << plan;
  }
}

// The gradients of the weights and of the bias; of three and of two steps, up and down.
std::string layers(int steps, const std::string& down) {
  const std::string before = down.empty() ? "r - 1" : "r + 1";
  return fmt::format(R"(
size B, N = 512, D, R = {0}
train model m(x: [B, N, D]) -> y {{
  param w: [D, D], u: [D, D], bias: [D]
  scan r: R {1} {{
    a[r, b: B, n: N, d] = tanh((sum[e] h[{2},b,n,e] * w[d,e]) + bias[d])
    h[r, b: B, n: N, d] = h[{2},b,n,d] + (sum[e] u[d,e] * a[r,b,n,e]) from x[b,n,d]
  }}
  y[b,n,d] = h[{3},b,n,d]
}}
)",
                     steps, down, before, down.empty() ? "R - 1" : "0");
}

TEST(SummedSteps, AreThoseOfWeights) {
  std::vector<Sizes> all;
  for (int64_t d : {0, 1, 3, 17})
    for (int64_t b : {0, 1, 3}) all.push_back({{"B", b}, {"D", d}});
  expect_agreement(layers(3, ""), 3, all);
  expect_agreement(layers(2, "down"), 3, {{{"B", 2}, {"D", 5}}, {{"B", 1}, {"D", 16}}});
}

// A sum that the caller leaves out has memory of its own.
TEST(SummedSteps, AreThereForWhoWantsOthers) {
  for (const char* wanted : {"dbias", "dx"})
    expect_agreement(layers(3, ""), 3, {{{"B", 1}, {"D", 5}}}, {.wanted = {wanted}});
}

TEST(SummedSteps, AreOfAllDerivatives) {
  std::string text = layers(3, "");
  text.replace(text.find("-> y"), 4, "-> loss");
  text.replace(text.find("y[b,n,d] = h[R - 1,b,n,d]"), 25, "loss = mean[b,n,d] h[R - 1,b,n,d]^2");
  expect_agreement(text, 6, {{{"B", 1}, {"D", 3}}, {{"B", 2}, {"D", 16}}},
                   {.jvp = true, .hvp = true});
}

// Of no step nothing would be written, of one there is nothing to add to.
TEST(SummedSteps, AreOfTwoStepsAtLeast) {
  for (int steps : {0, 1}) {
    const std::string y = steps == 0 ? "x[b,n,d] * w[d,d] * u[d,d] * bias[d]" : "h[R - 1,b,n,d]";
    std::string text = layers(steps, "");
    text.replace(text.find("h[R - 1,b,n,d]"), 14, y);
    expect_agreement(text, 0, {{{"B", 2}, {"D", 3}}});
  }
}

// Keys and values that all rounds share: their gradients are sums of tiles, which are not stored
// where the features are known.
std::string rounds(const std::string& features) {
  return fmt::format(R"(
size B, N = 512, S, {}, R = 3
train model m(x: [B, N, D], k: [B, S, D], v: [B, S, D]) -> y {{
  param w: [D, D]
  scan r: R {{
    q[r, b: B, n: N, d] = sum[e] h[r - 1,b,n,e] * w[d,e]
    s[r, b: B, n: N, j: S] = (sum[d] q[r,b,n,d] * k[b,j,d]) / sqrt(D)
    p[r, b: B, n: N, j: S] = softmax[j] (s[r,b,n,j])
    h[r, b: B, n: N, d] = h[r - 1,b,n,d] + (sum[j] p[r,b,n,j] * v[b,j,d]) from x[b,n,d]
  }}
  y[b,n,d] = h[R - 1,b,n,d]
}}
)",
                     features);
}

TEST(SummedSteps, AreThoseOfKeysAndValues) {
  expect_agreement(rounds("D"), 3,
                   {{{"B", 1}, {"S", 1}, {"D", 3}}, {{"B", 2}, {"S", 37}, {"D", 16}}});
  std::vector<Sizes> all;
  for (int64_t s : {0, 1, 3, 15, 16, 17, 64, 67}) all.push_back({{"B", s == 17 ? 2 : 1}, {"S", s}});
  expect_agreement(rounds("D = 16"), 3, all);
}

// Maps of a step that rows would take together: those that add to a sum have kernels of their own.
TEST(SummedSteps, AreThoseOfMaps) {
  std::vector<Sizes> all;
  for (int64_t d : {0, 1, 3, 16, 17, 67}) all.push_back({{"B", 2}, {"N", 5}, {"D", d}});
  all.push_back({{"B", 0}, {"N", 5}, {"D", 4}});
  expect_agreement(R"(
size B, N, D, R = 3
train model m(x: [B, N, D], start: [B, N, D]) -> y {
  param gain: [D], bias: [D]
  scan r: R down {
    a[r,b,n,d] = tanh(h[r + 1,b,n,d] * gain[d] + x[b,n,d])
    h[r,b,n,d] = h[r + 1,b,n,d] + a[r,b,n,d] + bias[d] from start[b,n,d]
  }
  y[b,n,d] = sin(h[0,b,n,d])
}
)",
                   3, all);
}

// Data deals rows to weights: some get none. What a step adds is stored apart.
TEST(SummedSteps, AreThoseOfExperts) {
  expect_agreement(R"(
size B, N = 512, D, X, R = 3
train model m(x: [B, N, D], expert: int[B, N]) -> y {
  param w: [X, D, D]
  scan r: R {
    h[r, b: B, n: N, d] = h[r - 1,b,n,d] +
        tanh(sum[e] h[r - 1,b,n,e] * w[expert[b,n],d,e]) from x[b,n,d]
  }
  y[b,n,d] = h[R - 1,b,n,d]
}
)",
                   1,
                   {{{"B", 1}, {"D", 3}, {"X", 4}},
                    {{"B", 2}, {"D", 16}, {"X", 7}},
                    {{"B", 0}, {"D", 4}, {"X", 2}}});
}

// Data hides rows, which the products leave out.
TEST(SummedSteps, LeaveOutHiddenRows) {
  expect_agreement(R"(
size B, N = 512, D, R = 3
train model m(x: [B, N, D], length: int[B]) -> y {
  param w: [D, D], bias: [D]
  scan r: R {
    h[r, b: B, n: N, d] = if n < length[b] then h[r - 1,b,n,d] +
        tanh((sum[e] h[r - 1,b,n,e] * w[d,e]) + bias[d]) else 0 from x[b,n,d]
  }
  y[b,d] = sum[n where n < length[b]] h[R - 1,b,n,d]
}
)",
                   2, {{{"B", 1}, {"D", 3}}, {{"B", 3}, {"D", 17}}});
}

// A later definition needs all steps, and a weight is used at some of them.
TEST(SummedSteps, StandBesideWhatNeedsAllSteps) {
  expect_agreement(R"(
size B, N = 512, D, R = 4
train model m(x: [B, N, D]) -> y, z {
  param w: [D, D], u: [D, D]
  scan r: R {
    a[r, b: B, n: N, d] = sum[e] h[r - 1,b,n,e] * w[d,e]
    c[r, b: B, n: N, d] = if r >= 2 then sum[e] tanh(a[r,b,n,e]) * u[d,e] else 0
    h[r, b: B, n: N, d] = a[r,b,n,d] + c[r,b,n,d] from x[b,n,d]
  }
  y[b,n,d] = h[R - 1,b,n,d]
  z[b,d] = sum[r,n] h[r,b,n,d] * h[R - 1 - r,b,n,d]
}
)",
                   2, {{{"B", 1}, {"D", 3}}, {{"B", 2}, {"D", 17}}});
}

// In one call, what forward saved of its last step is gone when the gradient of w is first written,
// and lies where that is. There are the steps of h, two of a, and two of each of their cotangents.
TEST(SummedSteps, LieWhereTheLastStepOfForwardLay) {
  const int64_t step = 512 * 512 * 4;
  for (const char* down : {"", "down"}) {
    Library library(compile_text(layers(3, down)));
    const Outcome o = library.call(random_call(library.model(), {{"B", 1}, {"D", 512}}, 7, 4));
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(o.at_once / step, 3 + 2 + 2 + 2);
    EXPECT_GT(o.apart / step, 3 + 3 + 2 + 2);
  }
}

}  // namespace
}  // namespace attn::testing
