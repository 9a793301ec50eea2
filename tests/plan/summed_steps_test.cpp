// Which sums over the steps of a recurrence its loop takes, and what is computed with its steps
// then.
#include <gtest/gtest.h>

#include <algorithm>

#include "forms.h"

namespace attn::testing {
namespace {

// A line for each function that has some: the sums, then after a colon the tensors in memory of
// which only one step is.
std::string sums_of(const std::string& model) {
  std::string lines;
  const auto file = planned_text("size B, S, T, D, N = 512, R = 3\n" + model);
  for (const plan::Function* f : plan::functions(*file->models.at(0).plan)) {
    std::string sums, steps;
    for (const plan::Slice& s : f->slices)
      if (!s.dimension) sums += " " + f->graph[s.whole].name;
    if (sums.empty()) continue;
    for (const plan::Life& life : f->lives) {
      const std::string& name = f->graph[life.tensor].name;
      if (name.ends_with(".r")) steps += " " + name;
    }
    lines += (lines.empty() ? "" : "\n") + f->name + sums + ":" + steps;
  }
  return lines;
}

struct Case {
  const char *name, *text, *sums;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Case kCases[] = {
    {"OfWeights", R"(
train model m(x: [B, N, D]) -> y {
  param w: [D, D], u: [D, D]
  scan r: R {
    h[r,b,n,d] = tanh((sum[e] h[r-1,b,n,e] * w[d,e]) + (sum[e] x[b,n,e] * u[d,e])) from 0
  }
  y[b,n,d] = h[R-1,b,n,d]
})",
     "backward dh.sum.2 dw:"},
    // A step has few terms: it takes longer to read and write the sum.
    {"NotOfShortSteps", R"(
train model m(x: [B, T, D]) -> y {
  param w: [D, D]
  scan r: R { h[r,b,t,d] = tanh(sum[e] h[r-1,b,t,e] * w[d,e]) from x[b,t,d] }
  y[b,t,d] = h[R-1,b,t,d]
})",
     ""},
    // The caller gets all steps of what the sum is of.
    {"NotWhereAllStepsAreNeeded", R"(
model m(x: [B, N, D]) -> y, h {
  param w: [D, D]
  scan r: R { h[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e]) from x[b,n,d] }
  y[b,d] = sum[r,n] h[r,b,n,d]
})",
     ""},
    {"NotOfStepsKnownWhenItRuns", R"(
model m(x: [B, N, D], c: [T]) -> y {
  param w: [D, D]
  scan r: T { h[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e]) + c[r] from x[b,n,d] }
  y[b,d] = sum[r,n] h[r,b,n,d]
})",
     ""},
    {"NotIn16Bits", R"(
model m(x: [B, N, D]) -> y: bf16 {
  param w: [D, D]
  scan r: R { h[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e]) from x[b,n,d] }
  y[b,d] = sum[r,n] h[r,b,n,d]
})",
     ""},
    {"NotOfStepsInAnotherOrder", R"(
model m(x: [B, N, D]) -> y {
  param w: [D, D]
  scan r: R { h[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e]) from x[b,n,d] }
  y[b,d] = sum[r: R, n] h[R-1-r,b,n,d]
})",
     ""},
    {"ThroughAMap", R"(
model m(x: [B, N, D], c: [R, B, N, D]) -> y {
  param w: [D, D]
  u[r,b,n,d] = exp(c[r,b,n,d])
  scan r: R { h[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e]) + u[r,b,n,d] from x[b,n,d] }
  z[r,b,n,d] = sin(h[r,b,n,d]) * u[r,b,n,d]
  y[d,e] = sum[r,b,n] z[r,b,n,d] * z[r,b,n,e]
})",
     "forward y: u.r z.r"},
    // The map is read after the recurrence as well.
    {"NotThroughAMapThatIsNeeded", R"(
model m(x: [B, N, D]) -> y, z {
  param w: [D, D]
  scan r: R { h[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e]) from x[b,n,d] }
  z[r,b,n,d] = sin(h[r,b,n,d])
  y[d,e] = sum[r,b,n] z[r,b,n,d] * z[r,b,n,e]
})",
     ""},
};

class SummedSteps : public ::testing::TestWithParam<Case> {};
TEST_P(SummedSteps, Are) { EXPECT_EQ(sums_of(GetParam().text), GetParam().sums); }
INSTANTIATE_TEST_SUITE_P(Each, SummedSteps, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace attn::testing
