// What rounding costs a sum does not grow with its length; a NaN is found by max, min and argmax.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiled.h"

namespace attn::testing {
namespace {

Library& library() {
  static Library made(compile_text(R"(
size B, T
model whole(x: [T]) -> a { a = sum[i] x[i] }
model product(x: [B, T], w: [T]) -> a { a[b] = sum[i] x[b, i] * w[i] }
model down(x: [B, T, 3]) -> a { a[n] = sum[b, t] x[b, t, n] }
model both(x: [B, T]) -> a { a = mean[b, t] x[b, t]^2 }
model most(x: [B, T]) -> a, b, c, d {
  a[i] = max[t] x[i, t]
  b[i] = min[t] x[i, t]
  c[i] = argmax[t] x[i, t]
  d = max[i, t] x[i, t]
}
)",
                                   {}, Derive::as_written));
  return made;
}

TEST(LongSums, AreRoundedAsShortOnesAre) {
  constexpr int64_t kLength = 1 << 20;
  for (const char* model : {"whole", "product", "down", "both"}) {
    Arrays given = random_call(library().model(model), {{"B", 1}, {"T", kLength}}, 1);
    for (auto& [name, array] : given) std::fill(array.values.begin(), array.values.end(), 0.1f);
    const CallOptions forward{.gradient = false};
    const Outcome o = library().call(given, forward, model);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    const double wanted = library().reference(given, model, forward).at("a").values[0];
    EXPECT_NEAR(o.values.at("a").values[0] / wanted, 1, 4e-6) << model;
  }
}

TEST(LongSums, OfAllLengthsAgree) {
  for (const char* model : {"whole", "product", "down", "both"})
    for (int64_t length : {0, 1, 3, 31, 64, 65, 4095, 4096, 4097, 8192, 12289}) {
      const Arrays given = random_call(library().model(model), {{"B", 2}, {"T", length}}, 2);
      const CallOptions forward{.gradient = false};
      const Outcome o = library().call(given, forward, model);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      EXPECT_EQ(differ(library().reference(given, model, forward), o.values, 1e-5, 0.05), "")
          << model << " of " << length;
    }
}

// Most pairs of positions are further apart than the table knows, and share its first place.
TEST(LongSums, OfPairsAtOnePlaceOfATable) {
  Library table(compile_text(R"(
size T
train model clipped(q: [T, 8], k: [T, 8], v: [T]) -> z {
  param r: [15]
  s[i,j] = (sum[e] q[i,e] * k[j,e]) / 20 + r[clamp(j - i, -7, 7) + 7]
  p[i,j] = softmax[j where j <= i] (s[i,j])
  z[i] = sum[j] p[i,j] * v[j]
}
)"));
  Arrays given = random_call(table.model(), {{"T", 1023}}, 3);
  for (auto& [name, array] : given)
    if (name == "dz")
      for (double& d : array.values) d = std::abs(d);
  const Outcome o = table.call(given);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  const double wanted = table.reference(given).at("dr").values[0];
  EXPECT_NEAR(o.values.at("dr").values[0], wanted, 2e-5 * std::abs(wanted));
}

TEST(Extremes, FindWhatIsNotANumber) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> rows = {{kNaN},
                                                 {kNaN, 1, 2, 3, 4},
                                                 {0, 1, 2, 3, kNaN},
                                                 {0, -kNaN, 2, kNaN, 4},
                                                 {-0.0, 0, -1},
                                                 {kInfinity, 3, kNaN},
                                                 {-kInfinity, -3, -1e38, 2},
                                                 {-2, -1, -3},
                                                 {5, 5, 1},
                                                 {}};
  for (std::vector<double> row : rows)
    for (size_t length : {row.size(), size_t{41}, size_t{300}}) {
      row.resize(std::max(row.size(), length), row.empty() ? 0 : row[0]);
      const auto T = static_cast<int64_t>(row.size());
      const Arrays given = {{"x", {{1, T}, row}}};
      const CallOptions forward{.gradient = false};
      const Outcome o = library().call(given, forward, "most");
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      for (const auto& [name, want] : library().reference(given, "most", forward)) {
        const double w = want.values[0], got = o.values.at(name).values[0];
        EXPECT_TRUE(std::isnan(w) ? std::isnan(got) : w == got)
            << name << " of " << T << ": " << got << " instead of " << w;
      }
    }
}

}  // namespace
}  // namespace attn::testing
