// Attention over positions of several indices, as those of an image or a film: scores are in tiles,
// as those of one index are.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "agreement.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::testing {
namespace {

constexpr const char* kGrids = R"(
size B, R, C, K, H = 3, E = 20, W = 2
train model grid(q: [B,H,R,C,E], k: [B,H,R,C,E], v: [B,H,R,C,E]) -> z {
  s[b,h,r,c,y,x] = sum[e] q[b,h,r,c,e] * k[b,h,y,x,e] / sqrt(E)
  p[b,h,r,c,y,x] = softmax[y,x] (s[b,h,r,c,y,x])
  z[b,h,r,c,e] = sum[y,x] p[b,h,r,c,y,x] * v[b,h,y,x,e]
}
# A window, a bias of the distance, and features beside each other.
train model window(x: [B,R,C,H*E]) -> y {
  param w: [3, H*E, H*E], o: [H*E, H*E], bias: [H, 2*W+1, 2*W+1]
  f[s,b,r,c,n] = sum[d] x[b,r,c,d] * w[s,n,d]
  s[b, h: H, r, c, y1, x1] = 0.05 * (sum[e: E] f[0,b,r,c,h*E+e] * f[1,b,y1,x1,h*E+e])
  p[b,h,r,c,y1,x1] = softmax[y1, x1 where -W <= y1 - r <= W and -W <= x1 - c <= W] (
    s[b,h,r,c,y1,x1] + bias[h, y1 - r + W, x1 - c + W])
  z[b,r,c,h,e: E] = sum[y1,x1] p[b,h,r,c,y1,x1] * f[2,b,y1,x1,h*E+e]
  y[b,r,c,d] = x[b,r,c,d] + 0.1 * (sum[n: H*E] z[b,r,c,n // E, n % E] * o[d,n])
}
# In the order of reading; rows are one index and columns two.
train model causal(q: [B,R*C,E], x: [B,R,C,E]) -> z {
  param wk: [E,E]
  k[b,y,x1,e] = sum[d] x[b,y,x1,d] * wk[e,d]
  s[b,n,y,x1] = sum[e] q[b,n,e] * k[b,y,x1,e]
  p[b,n,y,x1] = softmax[y, x1 where y < n // C or y == n // C and x1 <= n % C] (s[b,n,y,x1])
  z[b,n,e] = sum[y,x1] p[b,n,y,x1] * x[b,y,x1,e]
}
train model film(q: [K,R,C,E], v: [K,R,C,E]) -> z {
  s[i,r,c,j,y,x] = sum[e] q[i,r,c,e] * v[j,y,x,e]
  p[i,r,c,j,y,x] = softmax[j, y, x where j <= i] (s[i,r,c,j,y,x])
  z[i,r,c,e] = sum[j,y,x] p[i,r,c,j,y,x] * v[j,y,x,e]
}
train model most(q: [R,C,E], k: [R,C,E]) -> m {
  s[r,c,y,x] = sum[e] q[r,c,e] * k[y,x,e]
  m[r,c] = max[y,x] (s[r,c,y,x])
}
train model gated(q: [R,C,E], k: [R,C,E], v: [R,C,E]) -> z {
  s[r,c,y,x] = relu(sum[e] q[r,c,e] * k[y,x,e])^2
  z[r,c,e] = sum[y,x where y <= r] s[r,c,y,x] * v[y,x,e]
}
train model flat(q: [B,R,C,E], k: [B,R,C,E], v: [B,R,C,E]) -> z {
  s[b, n: R*C, m: R*C] = sum[e] q[b, n // C, n % C, e] * k[b, m // C, m % C, e]
  p[b,n,m] = softmax[m] (s[b,n,m])
  z[b,n,e] = sum[m] p[b,n,m] * v[b, m // C, m % C, e]
}
)";

// What is in memory and too large for it.
std::string stored_scores(const plan::Function& f) {
  const solve::Unmaterialised unmaterialised(f.graph);
  std::string names;
  for (const ir::TensorId t : f.graph.tensor_ids())
    if (unmaterialised(t) && f.places[t.value] != plan::Place::none) names += f.graph[t].name + " ";
  return names;
}

// What is in memory and has so many elements, or more, for each element of the batch.
std::string stored_with_elements(const plan::Function& f, int64_t least) {
  std::string names;
  for (const ir::TensorId t : f.graph.tensor_ids()) {
    int64_t elements = 1;
    for (const ir::Poly& p : f.graph[t].extents) elements *= f.graph.known(p).value_or(1);
    if (elements >= least && f.places[t.value] != plan::Place::none) names += f.graph[t].name + " ";
  }
  return names;
}

void expect_agreement(Library& library, const std::string& name, const Arrays& given,
                      const CallOptions& options) {
  const Outcome o = library.call(given, options, name);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  EXPECT_EQ(differ(library.reference(given, name, options), o.values, 1e-4), "");
}

std::vector<std::string> names_of(const std::vector<driver::Compiled>& models) {
  std::vector<std::string> names;
  for (const driver::Compiled& m : models) names.push_back(m.name);
  return names;
}

TEST(JoinedIndices, GiveWhatTheEvaluatorGives) {
  std::vector<driver::Compiled> models = compile_text(kGrids, {}, Derive::as_written);
  for (const driver::Compiled& m : models) {
    if (m.name == "most") continue;  // what is compared is stored
    EXPECT_EQ(stored_scores(m.plan->forward), "") << m.name;
    EXPECT_EQ(stored_scores(*m.plan->backward), "") << m.name;
  }
  const Sizes few{{"B", 1}, {"R", 2}, {"C", 3}, {"K", 2}};
  for (const driver::Compiled& m : models)
    EXPECT_EQ(differ_from_differences(m, random_call(m, few, 4), 5e-5), "") << m.name;
  const std::vector<std::string> names = names_of(models);
  Library library(std::move(models));
  for (const std::string& name : names)
    for (const Sizes& sizes : std::vector<Sizes>{{{"B", 0}, {"R", 2}, {"C", 3}, {"K", 2}},
                                                 {{"B", 2}, {"R", 0}, {"C", 3}, {"K", 2}},
                                                 {{"B", 2}, {"R", 3}, {"C", 0}, {"K", 0}},
                                                 {{"B", 1}, {"R", 1}, {"C", 1}, {"K", 1}},
                                                 {{"B", 2}, {"R", 1}, {"C", 5}, {"K", 3}},
                                                 {{"B", 1}, {"R", 7}, {"C", 1}, {"K", 2}},
                                                 {{"B", 2}, {"R", 5}, {"C", 7}, {"K", 3}},
                                                 {{"B", 1}, {"R", 11}, {"C", 13}, {"K", 2}}}) {
      SCOPED_TRACE(name + " of " + text_of(sizes));
      expect_agreement(library, name, random_call(library.model(name), sizes, 5), CallOptions());
    }
}

// Biases of lines and of columns, as those of "Segment Anything": gradients are added up where the
// digits of a key say, all of a line in one place, along it, or against it.
constexpr const char* kBiased = R"(
size B, R, C, E = 12
train model biased(q: [B,R,C,E], v: [B,R,C,E], lines: [B,R,C,R], columns: [B,R,C,C]) -> z {
  param up: [2*R], across: [2*C], back: [2*C], few: [3, 3]
  s[b,r,c,y,x] = (sum[e] q[b,r,c,e] * v[b,y,x,e]) + lines[b,r,c,y] + columns[b,r,c,x] +
    up[y - r + R - 1] + across[x - c + C - 1] + back[c - x + C - 1] +
    few[clamp(y - r, -1, 1) + 1, clamp(x - c, -1, 1) + 1]
  p[b,r,c,y,x] = softmax[y,x] (s[b,r,c,y,x])
  z[b,r,c,e] = sum[y,x] p[b,r,c,y,x] * v[b,y,x,e]
}
train model causal(q: [B,R,C,E], v: [B,R,C,E], keep: bool[B,R,C]) -> z, by_line {
  param across: [2*C], pairs: [R, R]
  s[b,r,c,y,x] = (sum[e] q[b,r,c,e] * v[b,y,x,e]) + across[x - c + C - 1] + pairs[r,y]
  p[b,r,c,y,x] = softmax[y,x where y <= r and keep[b,y,x]] (s[b,r,c,y,x])
  z[b,r,c,e] = sum[y,x] p[b,r,c,y,x] * v[b,y,x,e]
  by_line[b, n: R] = sum[r,c,y,x where n == r - y] p[b,r,c,y,x]
}
train model given(q: [B,R,C,E], v: [B,R,C,E], up: [2*R], pairs: [R,R]) -> z {
  s[b,r,c,y,x] = (sum[e] q[b,r,c,e] * v[b,y,x,e]) + up[y - r + R - 1] + pairs[r,y]
  p[b,r,c,y,x] = softmax[y,x] (s[b,r,c,y,x])
  z[b,r,c,e] = sum[y,x] p[b,r,c,y,x] * v[b,y,x,e]
}
)";

TEST(JoinedIndices, AddToLinesAndColumns) {
  std::vector<driver::Compiled> models = compile_text(kBiased, {}, Derive::as_written);
  for (const driver::Compiled& m : models)
    EXPECT_EQ(stored_scores(*m.plan->backward), "") << m.name;
  Library library(std::move(models));
  for (const Sizes& sizes : std::vector<Sizes>{{{"B", 0}, {"R", 2}, {"C", 3}},
                                               {{"B", 2}, {"R", 0}, {"C", 3}},
                                               {{"B", 2}, {"R", 3}, {"C", 0}},
                                               {{"B", 1}, {"R", 1}, {"C", 1}},
                                               {{"B", 1}, {"R", 1}, {"C", 150}},
                                               {{"B", 1}, {"R", 150}, {"C", 1}},
                                               {{"B", 2}, {"R", 11}, {"C", 8}},
                                               {{"B", 2}, {"R", 7}, {"C", 23}},
                                               {{"B", 1}, {"R", 4}, {"C", 48}}})
    for (const char* name : {"biased", "causal", "given"}) {
      SCOPED_TRACE(name + (" of " + text_of(sizes)));
      expect_agreement(library, name, random_call(library.model(name), sizes, 5), 1e-4);
    }
}

// Heads beside each other in memory, as published models have them.
constexpr const char* kPublished = R"(
size B, R, C, H = 2, E = 6, D = H * E
train model published(x: [B,R,C,D]) -> y {
  param wq: [D,D], wk: [D,D], wv: [D,D], wo: [D,D], up: [H, 2*R-1], across: [H, 2*C-1]
  q[b,r,c,f] = sum[d] x[b,r,c,d] * wq[d,f]
  k[b,r,c,f] = sum[d] x[b,r,c,d] * wk[d,f]
  v[b,r,c,f] = sum[d] x[b,r,c,d] * wv[d,f]
  s[b,h,r,c,y,x] = (sum[e: E] q[b,r,c,h*E+e] * k[b,y,x,h*E+e]) / sqrt(E) +
    up[h, y - r + R - 1] + across[h, x - c + C - 1]
  p[b,h,r,c,y,x] = softmax[y,x where y == r or x <= c] (s[b,h,r,c,y,x])
  z[b,r,c,d] = sum[y,x] p[b,d//E,r,c,y,x] * v[b,y,x,d]
  y[b,r,c,d] = sum[f] z[b,r,c,f] * wo[d,f]
}
# Blocks of M x M points look P points beyond their borders: a key is seen by several of them.
size M = 4, P = 1, W = M + 2 * P, N = (R + M - 1) // M, O = (C + M - 1) // M
train model halo(q: [B,N,O,M,M,E], k: [B,R,C,E], v: [B,R,C,E]) -> z {
  param t: [M + W, M + W]
  s[b,n,o,r,c,y: W,x: W] = sum[e] q[b,n,o,r,c,e] * k[b,n*M+y-P,o*M+x-P,e] where inside
  p[b,n,o,r,c,y,x] = softmax[y,x where 0 <= n*M+y-P < R and 0 <= o*M+x-P < C] (
    s[b,n,o,r,c,y,x] + t[y-r+M-1,x-c+M-1])
  z[b,n,o,r,c,e] = sum[y,x where 0 <= n*M+y-P < R and 0 <= o*M+x-P < C] (
    p[b,n,o,r,c,y,x] * v[b,n*M+y-P,o*M+x-P,e])
}
)";

// Known extents are no reason to store scores, whatever is added to them.
TEST(JoinedIndices, StayInTilesWithKnownExtents) {
  constexpr int64_t kRows = 13, kColumns = 11;
  std::vector<driver::Compiled> models;
  for (const char* text : {kBiased, kPublished})
    std::ranges::move(compile_text(text, {{"R", kRows}, {"C", kColumns}}, Derive::as_written),
                      std::back_inserter(models));
  for (const driver::Compiled& m : models) {
    // N * O blocks of M * M rows and W * W columns.
    constexpr int64_t kOfBlocks = 4 * 3 * 4 * 4 * 6 * 6;
    const int64_t scores = m.name == "halo" ? kOfBlocks : kRows * kColumns * kRows * kColumns;
    for (const plan::Function* f : {&m.plan->forward, &*m.plan->backward})
      EXPECT_EQ(stored_with_elements(*f, scores), "") << m.name;
  }
  const std::vector<std::string> names = names_of(models);
  Library library(std::move(models));
  for (const std::string& name : names)
    for (int64_t b : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << name << " B=" << b);
      expect_agreement(library, name, random_call(library.model(name), {{"B", b}}, 5), 1e-4);
    }
}

// Of so few that scores are stored.
TEST(JoinedIndices, MayHaveKnownExtents) {
  std::vector<driver::Compiled> models =
      compile_text(kGrids, {{"R", 7}, {"C", 5}}, Derive::as_written);
  const std::vector<std::string> names = names_of(models);
  Library library(std::move(models));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    expect_agreement(library, name, random_call(library.model(name), {{"B", 2}, {"K", 3}}, 5),
                     1e-4);
  }
}

// A softmax of what is given, along memory and across it, of nothing in places, and of numbers
// whose exponentials are no numbers.
TEST(JoinedIndices, OfALogSumExpAreReducedInTurn) {
  Library library(compile_text(R"(
size B, R, C, E
train model points(a: [B,R,C], n: int[B]) -> p, at {
  p[b,y,x] = softmax[y, x where y < n[b]] (a[b,y,x])
  at[b] = sum[y,x] p[b,y,x] * x
}
train model pairs(q: [R,C,E], k: [R,C,E]) -> z {
  s[r,c,y,x] = sum[e] q[r,c,e] * k[y,x,e]
  p[r,c,y,x] = softmax[y,x] (s[r,c,y,x])
  z[r,c,e] = sum[y,x] p[r,c,y,x] * k[y,x,e]
}
train model across(a: [R,E,C,E]) -> lse { lse[e] = logsumexp[y,d,x] a[y,d,x,e] }
)",
                               {}, Derive::tangents));
  for (const Sizes& sizes : std::vector<Sizes>{{{"B", 0}, {"R", 2}, {"C", 3}, {"E", 2}},
                                               {{"B", 1}, {"R", 0}, {"C", 3}, {"E", 0}},
                                               {{"B", 2}, {"R", 3}, {"C", 0}, {"E", 1}},
                                               {{"B", 3}, {"R", 1}, {"C", 1}, {"E", 1}},
                                               {{"B", 4}, {"R", 5}, {"C", 17}, {"E", 3}},
                                               {{"B", 3}, {"R", 13}, {"C", 31}, {"E", 8}}}) {
    SCOPED_TRACE(text_of(sizes));
    Arrays points = random_call(library.model("points"), sizes, 5);
    for (size_t b = 0; b < points.at("n").values.size(); ++b)
      points.at("n").values[b] = static_cast<double>(b * 2 % 5);
    Arrays across = random_call(library.model("across"), sizes, 6);
    const CallOptions derivatives{.jvp = true}, values{.gradient = false};
    expect_agreement(library, "points", points, derivatives);
    expect_agreement(library, "across", across, derivatives);
    expect_agreement(library, "pairs", random_call(library.model("pairs"), sizes, 7), derivatives);
    for (Arrays* a : {&points, &across})
      for (double& x : a->at("a").values) x *= 3000;
    expect_agreement(library, "points", points, values);
    expect_agreement(library, "across", across, values);
  }
}

}  // namespace
}  // namespace attn::testing
