// Infinities and NaN: what a condition hides changes no bit of a result, and what is visible gives
// what the evaluator gives, in every kind of kernel that multiplies packed factors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "agreement.h"

namespace attn::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();
const CallOptions kForward{.gradient = false};

// As the evaluator's: infinities of the same sign, NaN where it has NaN, else close.
void expect_alike(Library& library, const std::string& model, const Arrays& given) {
  const Outcome o = library.call(given, kForward, model);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  const Arrays reference = library.reference(given, model, kForward);
  for (const auto& [name, want] : reference) {
    const Array& got = o.values.at(name);
    for (size_t k = 0; k < want.values.size(); ++k) {
      SCOPED_TRACE(model + " " + name + "[" + std::to_string(k) + "]");
      const double w = want.values[k], g = got.values[k];
      if (std::isnan(w))
        EXPECT_TRUE(std::isnan(g)) << g;
      else if (std::isinf(w))
        EXPECT_EQ(g, w);
      else
        EXPECT_NEAR(g, w, 1e-4 * (1 + std::abs(w)));
    }
  }
}

Library& products() {
  static Library library(compile_text(R"(
size B, T in 1.., C = 5
model padded(x: [B, T, C], w: [11, C, 3]) -> y {
  y[b,t: T,o] = sum[c,k where t + k >= 1 and t + k <= T] x[b, t + k - 1, c] * w[o,c,k]
}
model finished(x: [B, T, C], w: [11, C, 3], u: [11, C, 3]) -> y {
  y[b,t: T,o] = tanh((sum[c,k where t + k >= 1 and t + k <= T] x[b, t + k - 1, c] * w[o,c,k]) +
                     (sum[c,k where t + k >= 1 and t + k <= T] x[b, t + k - 1, c] * u[o,c,k]))
}
model computed(x: [B, T, C], w: [11, C, 3]) -> y {
  y[b,t: T,o] = sum[c,k where t + k >= 1 and t + k <= T] x[b, t + k - 1, c] / w[o,c,k]
}
)",
                                      {}, Derive::as_written));
  return library;
}

Arrays call_of(Library& library, const std::string& model, int64_t b, int64_t t) {
  Arrays given = random_call(library.model(model), {{"B", b}, {"T", t}}, 3);
  for (auto& [name, array] : given)
    if (name != "x")
      for (double& v : array.values) v = std::abs(v);
  return given;
}

// The first tap, k = 0, sees every row but the first of each sequence.
TEST(NotFinite, WhatAProductHidesChangesNoBit) {
  for (const char* model : {"padded", "finished", "computed"})
    for (int64_t t : {1, 2, 17}) {
      SCOPED_TRACE(model + (" T=" + std::to_string(t)));
      Arrays given = call_of(products(), model, 2, t);
      const Outcome clean = products().call(given, kForward, model);
      for (double bad : {kInfinity, -kInfinity, kNaN}) {
        for (size_t o = 0; o < 11; ++o) given.at("w").values[o * 15] = bad;
        const Outcome hidden = products().call(given, kForward, model);
        ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
        for (size_t b : {0, 1})
          for (size_t o = 0; o < 11; ++o) {
            const size_t first = b * static_cast<size_t>(t) * 11 + o;
            const double got = hidden.values.at("y").values[first],
                         want = clean.values.at("y").values[first];
            // Where factors have fewer bits, these sums alone are of exact products.
            EXPECT_NEAR(got, want, (slack_of_products() - 1) * 1e-6 * (1 + std::abs(want)));
          }
      }
    }
}

TEST(NotFinite, WhatAProductSeesIsThere) {
  for (const char* model : {"padded", "finished", "computed"})
    for (int64_t t : {1, 2, 17, 200})
      for (double bad : {kInfinity, kNaN, 0.0}) {
        Arrays given = call_of(products(), model, 2, t);
        given.at("w").values[3 * 15 + 4] = bad;
        expect_alike(products(), model, given);
      }
}

// Elements pick what is summed: one factor of the product is the condition.
TEST(NotFinite, WhatElementsDoNotPickChangesNoBit) {
  Library library(compile_text(R"(
size T, D
model picked(x: [T, D], keep: bool[T, T]) -> y {
  y[i,d] = sum[j where keep[i,j]] x[j,d]
}
)",
                               {}, Derive::as_written));
  for (int64_t t : {3, 17, 130}) {
    Arrays given = random_call(library.model("picked"), {{"T", t}, {"D", 33}}, 3);
    const auto rows = static_cast<size_t>(t);
    for (size_t i = 0; i < rows; ++i) given.at("keep").values[i * rows + rows / 2] = 0;
    expect_alike(library, "picked", given);
    const Outcome clean = library.call(given, kForward, "picked");
    for (double bad : {kInfinity, -kInfinity, kNaN}) {
      for (size_t d = 0; d < 33; ++d) given.at("x").values[rows / 2 * 33 + d] = bad;
      const Outcome hidden = library.call(given, kForward, "picked");
      ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
      for (size_t k = 0; k < rows * 33; ++k) {
        const double want = clean.values.at("y").values[k];
        EXPECT_NEAR(hidden.values.at("y").values[k], want,
                    (slack_of_products() - 1) * 1e-6 * (1 + std::abs(want)));
      }
    }
  }
}

// Rows and columns of tiles, also where the weight at what is not finite is 0.
TEST(NotFinite, WhatTilesSeeIsThere) {
  Library library(compile_text(R"(
size B, T, D = 6
model rows(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> z {
  z[b,i,d] = sum[j where j <= i] sigmoid(sum[e] q[b,i,e] * k[b,j,e]) * v[b,j,d]
}
model columns(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> y, z {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  y[b,j,d] = sum[i where j <= i] sin(s[b,i,j]) * v[b,i,d]
  z[b,i,d] = sum[j where j <= i] cos(s[b,i,j]) * v[b,j,d]
}
model weighted(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> z {
  p[b,i,j] = softmax[j where j <= i] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,d] = sum[j] p[b,i,j] * v[b,j,d]
}
)",
                               {}, Derive::as_written));
  for (const char* model : {"rows", "columns", "weighted"})
    for (int64_t t : {1, 5, 97, 300})
      for (double bad : {kInfinity, -kInfinity, kNaN}) {
        Arrays given = random_call(library.model(model), {{"B", 2}, {"T", t}}, 3);
        const size_t place = static_cast<size_t>(t / 2 * 6 + 1);
        given.at("v").values[place] = bad;
        expect_alike(library, model, given);
      }
}

// Weights of points, beside exponentials of 0: all factors of a sum that has no feature, and some
// of a sum that has one.
TEST(NotFinite, WhatAWeightHidesChangesNoBit) {
  Library library(compile_text(R"(
size B, T, D = 6
model column(q: [B, T, D], k: [B, T, D], v: [B, T]) -> z {
  p[b,i,j] = softmax[j where j <= i and j % 3 != 1] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i] = sum[j] p[b,i,j] * v[b,j]
}
model point(q: [B, T, D], k: [B, T, D], v: [B, T], u: [B, T]) -> z {
  p[b,i,j] = softmax[j where j <= i and j % 3 != 1] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i] = sum[j] p[b,i,j] * (v[b,j] + u[b,i])
}
model features(q: [B, T, D], k: [B, T, D], v: [B, T], w: [B, T, D]) -> z {
  p[b,i,j] = softmax[j where j <= i and j % 3 != 1] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,d] = sum[j] p[b,i,j] * v[b,j] * w[b,j,d]
}
model by_data(q: [B, T, D], k: [B, T, D], v: [B, T], keep: bool[B, T]) -> z {
  p[b,i,j] = softmax[j where j <= i and keep[b,j]] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i] = sum[j] p[b,i,j] * v[b,j]
}
)",
                               {}, Derive::as_written));
  for (const char* model : {"column", "point", "features", "by_data"})
    for (int64_t t : {2, 17, 97, 300}) {
      SCOPED_TRACE(model + (" T=" + std::to_string(t)));
      Arrays given = random_call(library.model(model), {{"B", 2}, {"T", t}}, 3);
      std::vector<size_t> hidden_columns;
      for (size_t k = 0; k < static_cast<size_t>(2 * t); ++k)
        if (k % static_cast<size_t>(t) % 3 == 1) hidden_columns.push_back(k);
      if (given.count("keep"))
        for (size_t k : hidden_columns) given.at("keep").values[k] = 0;
      const Outcome clean = library.call(given, kForward, model);
      for (double bad : {kInfinity, -kInfinity, kNaN}) {
        for (size_t k : hidden_columns) given.at("v").values[k] = bad;
        const Outcome hidden = library.call(given, kForward, model);
        ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
        EXPECT_TRUE(same_bits(hidden.values.at("z").values, clean.values.at("z").values));
      }
    }
}

}  // namespace
}  // namespace attn::testing
