// Four times the program takes about four times the time to plan, of the front end's too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "forms.h"

namespace attn::testing {
namespace {

// Each definition reads what all others read, and the sum of the one before.
std::string sums(int count) {
  std::string text = "size N in 1..64\nmodel m(x: [N]) -> y {\n  a0[n] = x[n]\n";
  for (int k = 1; k <= count; ++k)
    text +=
        fmt::format("  s{0} = sum[n] a{1}[n] * x[n]\n  a{0}[n] = tanh(a{1}[n] * s{0})\n", k, k - 1);
  return text + fmt::format("  y[n] = a{}[n]\n}}\n", count);
}

// Maps that have a parameter each.
std::string maps(int count) {
  std::string text = "size N in 1..64\ntrain model m(x: [N]) -> y {\n  a0[n] = x[n]\n";
  for (int k = 1; k <= count; ++k)
    text += fmt::format("  param w{0}: [N]\n  a{0}[n] = tanh(a{1}[n]) * w{0}[n]\n", k, k - 1);
  return text + fmt::format("  y[n] = a{}[n]\n}}\n", count);
}

// Attention over texts of several lengths.
std::string layers(int count) {
  return fmt::format(R"(
size B, T in 1..512, D = 64
train model m(x0: [B, T, D], length: int[B]) -> x {{
  x[b,t,d] = x0[b,t,d]
  repeat l: {} as layers {{
    param wq: [D, D], wk: [D, D], wv: [D, D], gain: [D]
    u[b,t]   = mean[d] x[b,t,d]^2
    n[b,t,d] = gain[d] * x[b,t,d] / sqrt(u[b,t] + 1e-6)
    q[b,t,d] = sum[e] wq[d,e] * n[b,t,e]
    k[b,t,d] = sum[e] wk[d,e] * n[b,t,e]
    v[b,t,d] = sum[e] wv[d,e] * n[b,t,e]
    s[b,i,j] = sum[d] q[b,i,d] * k[b,j,d] / sqrt(D)
    p[b,i,j] = softmax[j where j < length[b]] (s[b,i,j])
    x[b,i,d] = x[b,i,d] + sum[j] p[b,i,j] * v[b,j,d]
  }}
}})",
                     count);
}

// Processor time to plan a program, the least of three.
double seconds(const std::string& text) {
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    planned_text(text);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

struct Growing {
  const char* name;
  std::string (*text)(int count);
  int few;
};

class Growth : public ::testing::TestWithParam<Growing> {};

// Four times the time, six for sorting and a noisy machine, would be sixteen times where every
// definition looks at every other.
TEST_P(Growth, IsThatOfTheProgram) {
  const auto& [name, text, few] = GetParam();
  EXPECT_LT(seconds(text(4 * few)), 9 * seconds(text(few)));
}

INSTANTIATE_TEST_SUITE_P(Of, Growth,
                         ::testing::Values(Growing{"sums", sums, 200}, Growing{"maps", maps, 200},
                                           Growing{"layers", layers, 8}),
                         [](const auto& growing) { return growing.param.name; });

}  // namespace
}  // namespace attn::testing
