// Which tensors of recurrences keep two steps, and what is computed with their steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "forms.h"

namespace attn::testing {
namespace {

std::set<ir::TensorId> writes_in(const plan::Function& f, const plan::Loop& loop) {
  std::set<ir::TensorId> result;
  for (size_t n = loop.first; n < loop.end; ++n)
    result.insert(f.kernels[n].writes.begin(), f.kernels[n].writes.end());
  return result;
}

// A tensor a line, `s: z.sum`, for each that rolls: what else its loop computes at each step; with
// the function's name in front where it is not forward. A tensor of a loop that keeps all of its
// steps is left out.
std::string rolled_in(const std::string& model) {
  std::string lines;
  const auto file = planned_text("size B, T, N, M, E\n" + model);
  for (const plan::Function* f : plan::functions(*file->models.at(0).plan)) {
    for (const plan::Slice& s : f->slices) {
      if (!plan::is_rolled(*f, s)) continue;
      if (!lines.empty()) lines += "\n";
      if (f->kind != plan::FunctionKind::forward) lines += f->name + " ";
      lines += f->graph[s.whole].name + ":";
      const plan::Loop& loop = *std::ranges::find_if(
          f->loops, [&](const plan::Loop& l) { return writes_in(*f, l).count(s.tensor) > 0; });
      for (ir::TensorId t : writes_in(*f, loop))
        if (t != s.tensor) lines += " " + f->graph[t].name;
    }
  }
  return lines;
}

struct Case {
  const char *name, *text, *rolled;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Case kCases[] = {
    {"ReadAtItsOwnStep", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
})",
     "s.steps: z.steps.t"},
    {"ReadThroughAMap", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  w[b,t,e,n] = tanh(s[b,t,e,n])
  z[b,t,n]   = sum[e] q[b,t,e] * w[b,t,e,n] + sum[e] q[b,t,e] * w[b,t,e,n] ^ 3
})",
     "s.steps: w.steps.t z.sum.steps.t z.sum.2.steps.t"},
    {"InNeedOfWhatStandsBelow", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T down { s[b,t,e,n] = s[b,t+1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  p[b,t,e] = softmax[e] (q[b,t,e])
  z[b,t,n] = sum[e] p[b,t,e] * s[b,t,e,n]
})",
     "s.steps: z.steps.t"},
    {"OfBothFunctions", R"(
train model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
})",
     "s.steps: z.steps.t\nbackward s.steps: dq.steps.t\nbackward ds.steps: dk.steps.t dv.steps.t"},
    // Its gradient reads the steps in the other order.
    {"NotOfATensorThatBackwardNeeds", R"(
train model m(a: [B, T, E, N], q: [B, T, E]) -> z {
  scan t: T { s[b,t,e,n] = tanh(s[b,t-1,e,n] + a[b,t,e,n]) from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
})",
     ""},
    // What reads both is computed with one of them, of which the other keeps all steps.
    {"OfOneOfTwoThatAreReadTogether", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  scan t: T { u[b,t,e,n] = 0.5 * u[b,t-1,e,n] + q[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] u[b,t,e,n] * s[b,t,e,n]
})",
     "s.steps: z.steps.t"},
    {"OfTwoOfWhichOneNeedsTheOther", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> y, z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
  scan t: T { u[b,t,e,n] = 0.5 * u[b,t-1,e,n] + q[b,t,e] * z[b,t,n] from 0 }
  y[b,t,e] = sum[n] z[b,t,n] * u[b,t,e,n]
})",
     "s.steps: z.steps.t\nu.steps: y.steps.t"},
    // The recurrence reads the state as it was, and what would be joined as it becomes.
    {"NotWhereAStateWouldChangeTooEarly", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  state c: [B, N]
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] * c[b,n] from 0 }
  c'[b,n]  = c[b,n] + 1
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n] * c'[b,n]
})",
     ""},
    {"NotOfAnOutput", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z, s {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
})",
     ""},
    {"NotReadAtAnotherStep", R"(
model m(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b, T - 1 - t, e, n]
})",
     ""},
    // One product over all steps is faster.
    {"NotWithAFactorOfAllSteps", R"(
model m(x: [B, T, N], u: [B, N], w: [M, N]) -> y {
  scan t: T { h[b,t,n] = tanh(h[b,t-1,n] * u[b,n] + x[b,t,n]) from 0 }
  y[b,t,m] = sum[n] w[m,n] * h[b,t,n]
})",
     ""},
    {"NotWhereAReaderIsAsLarge", R"(
model m(x: [B, T, N], u: [B, N]) -> y {
  scan t: T { h[b,t,n] = tanh(h[b,t-1,n] * u[b,n] + x[b,t,n]) from 0 }
  y[b,t,n] = exp(h[b,t,n])
})",
     ""},
    {"OfWhichTheLastStepIsReadLater", R"(
size P = 5
model m(x: [B, N], u: [N, N]) -> y {
  scan t: P { h[b: B,t,n: N] = tanh((sum[m] h[b,t-1,m] * u[n,m]) + x[b,n]) from 0 }
  y[b,n] = exp(h[b, P - 1, n])
})",
     "h.steps:"},
    {"OfWhichTheLastStepIsTheFirst", R"(
size P = 5
model m(x: [B, N], u: [N, N]) -> y {
  scan t: P down { h[b: B,t,n: N] = tanh((sum[m] h[b,t+1,m] * u[n,m]) + x[b,n]) from 0 }
  y[b,n] = exp(h[b, 0, n])
})",
     "h.steps:"},
    {"NotOfWhichAnotherStepIsReadLater", R"(
size P = 5
model m(x: [B, N], u: [N, N]) -> y {
  scan t: P { h[b: B,t,n: N] = tanh((sum[m] h[b,t-1,m] * u[n,m]) + x[b,n]) from 0 }
  y[b,n] = exp(h[b, P - 1, n]) * h[b, P - 2, n]
})",
     ""},
    {"NotOfTwoSteps", R"(
size S = 2
model m(q: [B, S, E], k: [B, S, E], v: [B, S, N]) -> z {
  scan t: S { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
})",
     ""},
    {"NotOfSmallSteps", R"(
size P = 2, Q = 4
model m(q: [P, T, Q], k: [P, T, Q], v: [P, T, Q]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
})",
     ""},
};

class Rolling : public ::testing::TestWithParam<Case> {};
TEST_P(Rolling, IsOf) { EXPECT_EQ(rolled_in(GetParam().text), GetParam().rolled); }
INSTANTIATE_TEST_SUITE_P(Each, Rolling, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace attn::testing
