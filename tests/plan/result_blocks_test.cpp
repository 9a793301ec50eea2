// Which gradients are computed in blocks of their results.
#include <gtest/gtest.h>

#include <algorithm>

#include "forms.h"

namespace attn::testing {
namespace {

// What a loop of backward computes in blocks, and after a colon what it reads so: "dv: da".
std::string blocks_of(const std::string& model) {
  const auto file = planned_text("size T, N, D = 384, E = 96, F = 2304, X = 4\n" + model);
  const plan::Function& f = *file->models.at(0).plan->backward;
  std::vector<std::string> results, given;
  for (const plan::Slice& s : f.slices) {
    if (s.block == 0) continue;
    EXPECT_EQ(s.block, 1152);
    const bool is_given = ir::is_argument(f.graph[s.tensor].role);
    (is_given ? given : results).push_back(f.graph[s.whole].name);
  }
  if (results.empty() && given.empty()) return "";
  std::ranges::sort(given);
  std::string text;
  for (const std::string& name : results) text += name;
  text += ":";
  for (const std::string& name : given) text += " " + name;
  return text;
}

struct Case {
  const char *name, *text, *blocks;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Case kCases[] = {
    // The gradients of v, u and w, of which one is the last.
    {"OfTheLastProductOfGroups", R"(
train model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], u: [X, F, D], w: [X, D, F]
  a[t,f] = sum[d] x[t,d] * v[on[t],f,d]
  b[t,f] = sum[d] x[t,d] * u[on[t],f,d]
  h[t,f] = a[t,f] * sigmoid(a[t,f]) * b[t,f]
  y[t,d] = x[t,d] + (sum[f] h[t,f] * w[on[t],d,f])
})",
     "du: db"},
    {"OfTheOnlyProduct", R"(
train model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D]
  y[t,f] = sin(sum[d] x[t,d] * v[on[t],f,d])
})",
     "dv: dy.sum"},
    {"NotOfOtherProducts", R"(
train model m(x: [T, D]) -> y {
  param v: [F, D], w: [D, F]
  h[t,f] = sin(sum[d] x[t,d] * v[f,d])
  y[t,d] = sum[f] h[t,f] * w[d,f]
})",
     ""},
    {"NotOfFewResults", R"(
train model m(x: [T, D], on: int[T]) -> y {
  param v: [X, E, D], w: [X, D, E]
  h[t,e] = sin(sum[d] x[t,d] * v[on[t],e,d])
  y[t,d] = sum[e] h[t,e] * w[on[t],d,e]
})",
     ""},
    {"NotOfAnUnknownNumberOfResults", R"(
train model m(x: [T, D], on: int[T]) -> y {
  param v: [X, N, D], w: [X, D, N]
  h[t,n] = sin(sum[d] x[t,d] * v[on[t],n,d])
  y[t,d] = sum[n] h[t,n] * w[on[t],d,n]
})",
     ""},
};

class ResultBlocks : public ::testing::TestWithParam<Case> {};
TEST_P(ResultBlocks, Are) { EXPECT_EQ(blocks_of(GetParam().text), GetParam().blocks); }
INSTANTIATE_TEST_SUITE_P(Each, ResultBlocks, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace attn::testing
