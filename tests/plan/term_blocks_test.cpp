// Which sums are taken in blocks of their terms.
#include <gtest/gtest.h>

#include <algorithm>

#include "forms.h"

namespace attn::testing {
namespace {

// For each function but backward that has some, its loops of blocks: their number, what is computed
// in blocks, and after a colon what else is taken in blocks.
std::string blocks_of(const std::string& model) {
  std::string lines;
  const auto file = planned_text("size T, N, D = 384, E = 96, F = 2304, X = 4, R = 3\n" + model);
  for (const plan::Function* f : plan::functions(*file->models.at(0).plan)) {
    std::vector<std::string> own, given;
    std::string counts;
    for (const plan::Loop& loop : f->loops)
      if (f->graph[loop.steps.step].name.find(".block") != std::string::npos)
        counts += " " + plan::poly_text(f->graph, loop.steps.count);
    if (counts.empty() || f->kind == plan::FunctionKind::backward) continue;
    for (const plan::Slice& s : f->slices) {
      if (s.block == 0) continue;
      EXPECT_EQ(s.block, 768);
      const bool is_given = ir::is_argument(f->graph[s.tensor].role);
      (is_given ? given : own).push_back(" " + f->graph[s.whole].name);
    }
    std::ranges::sort(own);
    std::ranges::sort(given);
    lines += (lines.empty() ? "" : "\n") + f->name + counts;
    for (const std::string& name : own) lines += name;
    lines += ":";
    for (const std::string& name : given) lines += name;
  }
  return lines;
}

struct Case {
  const char *name, *text, *blocks;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Case kCases[] = {
    {"OfExperts", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
})",
     "forward 3: v w"},
    // Backward reads the terms, so that each block is a part of what is saved.
    {"OfExpertsThatTrain", R"(
train model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], u: [X, F, D], w: [X, D, F], bias: [X, F]
  a[t,f] = bias[on[t],f] + (sum[d] x[t,d] * v[on[t],f,d])
  b[t,f] = sum[d] x[t,d] * u[on[t],f,d]
  h[t,f] = a[t,f] * sigmoid(a[t,f]) * b[t,f]
  y[t,d] = x[t,d] + (sum[f] h[t,f] * w[on[t],d,f])
})",
     "forward 3 a b h: bias u v w"},
    // What is computed apart is read in blocks.
    {"OfWhatOthersRead", R"(
model m(x: [T, D], on: int[T]) -> y, s {
  param v: [X, F, D], w: [X, D, F], c: [F, D]
  g[f] = sum[d] c[f,d]
  h[t,f] = g[f] * (sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
  s = sum[f] g[f]
})",
     "forward 3: g v w"},
    {"NotOfOtherLayers", R"(
model m(x: [T, D]) -> y {
  param v: [F, D], w: [D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[f,d])
  y[t,d] = sum[f] h[t,f] * w[d,f]
})",
     ""},
    {"NotOfResults", R"(
model m(x: [T, D], on: int[T]) -> y, h {
  param v: [X, F, D], w: [X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
})",
     ""},
    // A block would read another.
    {"NotOfTermsThatReadOthers", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * h[t,F-1-f] * w[on[t],d,f]
})",
     ""},
    {"NotByTheNumberOfATerm", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f] * f
})",
     ""},
    {"NotOfAnUnknownNumberOfTerms", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [X, N, D], w: [X, D, N]
  h[t,f] = relu(sum[d] x[t,d] * v[on[t],f,d])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
})",
     ""},
    // The steps of a recurrence are a loop of their own.
    {"NotInARecurrence", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  scan r: R {
    h[r,t,f] = relu(sum[d] z[r-1,t,d] * v[on[t],f,d])
    z[r,t,d] = (sum[f] h[r,t,f] * w[on[t],d,f]) from x[t,d]
  }
  y[t,d] = z[R-1,t,d]
})",
     ""},
    // Later the state is another.
    {"NotOfWhatReadsAState", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  state c: [F]
  h[t,f] = c[f] * (sum[d] x[t,d] * v[on[t],f,d])
  c'[f] = c[f] + (sum[t] x[t,0])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
})",
     ""},
    // A hidden layer of which data picks the weights is not in tiles, however large it is.
    {"OfNarrowLayers", R"(
train model m(x: [T, E], on: int[T]) -> y {
  param v: [X, F, E], w: [X, E, F]
  h[t,f] = relu(sum[e] x[t,e] * v[on[t],f,e])
  y[t,e] = sum[f] h[t,f] * w[on[t],e,f]
})",
     "forward 3 h: v w"},
    {"OfTwoLayers", R"(
model m(x: [T, D], on: int[T]) -> y {
  param v: [2, X, F, D], w: [2, X, D, F]
  h[t,f] = relu(sum[d] x[t,d] * v[0,on[t],f,d])
  z[t,d] = x[t,d] + (sum[f] h[t,f] * w[0,on[t],d,f])
  k[t,f] = relu(sum[d] z[t,d] * v[1,on[t],f,d])
  y[t,d] = z[t,d] + (sum[f] k[t,f] * w[1,on[t],d,f])
})",
     "forward 3 3: v v w w"},
};

class TermBlocks : public ::testing::TestWithParam<Case> {};
TEST_P(TermBlocks, Are) { EXPECT_EQ(blocks_of(GetParam().text), GetParam().blocks); }
INSTANTIATE_TEST_SUITE_P(Each, TermBlocks, ::testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

// Of scores data picks a factor for each point, which tiles compute there; of a hidden layer one
// for each row.
TEST(TermBlocks, AreOfRowsOfWhichDataPicksAFactor) {
  const auto has_tiles = [](const std::string& model) {
    const auto file = planned_text("size T, E = 96, F = 2304, X = 4\n" + model);
    return std::ranges::any_of(file->models.at(0).plan->forward.kernels, [](const plan::Kernel& k) {
      return std::holds_alternative<plan::TilesForm>(k.form);
    });
  };
  EXPECT_TRUE(has_tiles(R"(
model m(q: [2, F, E], at: int[F], v: [F, E]) -> z {
  param near: [X, 2, E]
  s[h,i,j] = sum[e] q[h,i,e] * near[clamp(at[i] - at[j], 0, X - 1), h, e]
  z[h,i,e] = sum[j] s[h,i,j] * v[j,e]
})"));
  EXPECT_FALSE(has_tiles(R"(
model m(x: [T, E], on: int[T]) -> y {
  param v: [X, F, E], w: [X, E, F]
  h[t,f] = relu(sum[e] x[t,e] * v[on[t],f,e])
  y[t,e] = sum[f] h[t,f] * w[on[t],e,f]
})"));
}

}  // namespace
}  // namespace attn::testing
