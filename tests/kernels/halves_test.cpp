// Factors that are halves in memory: matrix units multiply them as they are.
#include <gtest/gtest.h>

#include <array>

#include "agreement.h"

namespace attn::testing {
namespace {

// The text with a type for HALF.
std::string of_type(std::string text, const std::string& type) {
  const std::string half = "HALF";
  for (size_t at = text.find(half); at != text.npos; at = text.find(half, at))
    text.replace(at, half.size(), type);
  return text;
}

// Neighbours lie along what is summed, or along rows and columns; both factors in halves, or one.
constexpr const char* kProducts = R"(
size B, M, N, K, L = 48
train model plain(a: HALF[M, K], b: HALF[K, N]) -> y {
  y[i,j] = sum[k] a[i,k] * b[k,j]
}
train model turned(a: HALF[K, M], b: HALF[N, K]) -> y, z {
  y[i,j] = sum[k] a[k,i] * b[j,k]
  z[i,j] = tanh(y[i,j])
}
train model known(a: HALF[B, M, L], b: HALF[B, N, L], c: HALF[L, N]) -> y, z {
  y[h,i,j] = sum[k] a[h,i,k] * b[h,j,k]
  z[h,i,j] = sum[k] a[h,i,k] * c[k,j]
}
train model mixed(a: HALF[M, K], b: [K, N], c: f16[M, K], d: bf16[N, K]) -> y, z {
  y[i,j] = sum[k] a[i,k] * b[k,j]
  z[i,j] = sum[k] c[i,k] * d[j,k]
}
train model hidden(a: HALF[M, K], b: HALF[K, N], n: int[M]) -> y {
  y[i,j] = sum[k where k < n[i]] relu(a[i,k]) * b[k,j]
}
)";

using Case = std::pair<std::string, std::string>;  // a model, a type
class Halves : public ::testing::TestWithParam<Case> {};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return info.param.first + "_" + info.param.second;
}

TEST_P(Halves, AreMultipliedAsTheyLie) {
  const auto& [name, type] = GetParam();
  std::vector<driver::Compiled> models;
  for (driver::Compiled& m : compile_text(of_type(kProducts, type)))
    if (m.name == name) models.push_back(std::move(m));
  Library library(std::move(models));
  for (const Sizes& s : std::vector<Sizes>{{{"B", 2}, {"M", 67}, {"N", 61}, {"K", 70}},
                                           {{"B", 1}, {"M", 131}, {"N", 137}, {"K", 34}},
                                           {{"B", 1}, {"M", 1}, {"N", 17}, {"K", 64}},
                                           {{"B", 3}, {"M", 17}, {"N", 1}, {"K", 3}},
                                           {{"B", 0}, {"M", 3}, {"N", 1}, {"K", 1}},
                                           {{"B", 1}, {"M", 5}, {"N", 0}, {"K", 7}},
                                           {{"B", 1}, {"M", 5}, {"N", 7}, {"K", 0}}}) {
    SCOPED_TRACE(text_of(s));
    expect_agreement(library, name, random_call(library.model(name), s, 3), 2e-5);
  }
}
INSTANTIATE_TEST_SUITE_P(Products, Halves,
                         ::testing::Values(Case{"plain", "bf16"}, Case{"plain", "f16"},
                                           Case{"turned", "bf16"}, Case{"known", "f16"},
                                           Case{"mixed", "bf16"}, Case{"hidden", "bf16"}),
                         name_of);

// Queries share keys, whose gradients sum over what they share; scores without a log-sum-exp, whose
// weights are not positive.
constexpr const char* kAttended = R"(
train model softened(q: HALF[B, H, T, E], k: HALF[B, S, E], v: HALF[B, S, F]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,j,e] / 8
  p[b,h,i,j] = softmax[j where j <= i + 1] (s[b,h,i,j])
  z[b,h,i,f] = sum[j] p[b,h,i,j] * v[b,j,f]
}
train model bent(q: HALF[B, T, E], k: HALF[B, S, E], v: HALF[B, S, F], n: int[B]) -> z {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e] / 8    where j < n[b]
  z[b,i,f] = sum[j] (s[b,i,j] - tanh(s[b,i,j])) * v[b,j,f]
}
)";

struct Widths {
  const char *sizes, *type;
  int64_t e, f;
};
class HalvesInTiles : public ::testing::TestWithParam<Widths> {};

TEST_P(HalvesInTiles, AreMultipliedAsTheyLie) {
  const Widths& w = GetParam();
  Library library(compile_text(
      of_type("size B, T, S, " + std::string(w.sizes) + "\nsize H = 2" + kAttended, w.type)));
  for (const std::string name : {"softened", "bent"})
    for (const auto& [b, t, s] : std::vector<std::array<int64_t, 3>>{
             {1, 65, 67}, {2, 16, 64}, {1, 1, 3}, {1, 17, 1}, {0, 3, 3}, {1, 0, 5}, {1, 5, 0}}) {
      const Sizes sizes = {{"B", b}, {"T", t}, {"S", s}, {"E", w.e}, {"F", w.f}};
      Arrays given = random_call(library.model(name), sizes, 3);
      if (name == "bent")
        for (double& n : given.at("n").values) n = static_cast<double>(s / 2);
      SCOPED_TRACE(name + " " + text_of(sizes));
      expect_agreement(library, name, given, 2e-5);
    }
}
INSTANTIATE_TEST_SUITE_P(OfWidths, HalvesInTiles,
                         ::testing::Values(Widths{"E = 64, F = 64", "bf16", 64, 64},
                                           Widths{"E = 40, F = 24", "f16", 40, 24},
                                           Widths{"E = 160, F = 3", "bf16", 160, 3},
                                           Widths{"E, F", "bf16", 37, 70},
                                           Widths{"E = 0, F = 3", "bf16", 0, 3}));

}  // namespace
}  // namespace attn::testing
