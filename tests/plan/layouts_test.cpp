// The layout of a model's tensors does not decide its kernels: heads cut out of a matrix, fused
// weights and moved indices stream as separate indices do, and gradients of index maps visit each
// element once.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/solve/points.h"
#include "forms.h"

namespace attn::testing {
namespace {

using ir::TensorId;

constexpr const char* kSizes = "size B, T\nsize D = 384, H = 6, E = 64\n";
constexpr const char* kAttention = R"(
  s[b, h: H, i: T, j: T] = (sum[e: E] q[b, h, i, e] * k[b, h, j, e]) / sqrt(E)
  p[b, h, i, j] = softmax[j where j <= i] (s[b, h, i, j])
)";

// The plan of a model that ends in attention, with its gradient.
class Layout {
 public:
  explicit Layout(const std::string& parameters, const std::string& before,
                  const std::string& after)
      : file_(planned_text(kSizes + ("train model m(x: [B, T, D]) -> y {\n  param " + parameters) +
                           "\n" + before + kAttention + after + "}\n")) {}

  const plan::Plan& plan() const { return *file_->models.at(0).plan; }
  std::string warnings() const {
    std::string all;
    for (const Diagnostic& d : file_->source.diagnostics.all()) all += d.message + "\n";
    return all;
  }

 private:
  std::unique_ptr<PlannedFile> file_;
};

// Nothing that has two sequence axes is in memory.
void expect_no_scores(const plan::Function& f) {
  const ir::Poly T = ir::Poly::size(*f.graph.find_size("T"));
  for (const plan::Kernel& k : f.kernels)
    for (TensorId t : k.writes)
      EXPECT_LE(std::ranges::count(f.graph[t].extents, T), 1) << f.graph[t].name;
}

void expect_streams(const Layout& layout) {
  EXPECT_EQ(layout.warnings(), "");
  for (const plan::Function* f : {&layout.plan().forward, &*layout.plan().backward}) {
    expect_no_scores(*f);
    const auto tiles = std::ranges::count_if(f->kernels, [](const plan::Kernel& k) {
      return std::holds_alternative<plan::TilesForm>(k.form);
    });
    EXPECT_EQ(tiles, 1) << plan::to_string(layout.plan());
  }
}

TEST(Layouts, HeadsOfTheirOwn) {
  expect_streams(Layout("wq: [H, E, D], wk: [H, E, D], wv: [H, E, D], wo: [D, H, E]", R"(
  q[b, h, t, e] = sum[m: D] x[b, t, m] * wq[h, e, m]
  k[b, h, t, e] = sum[m: D] x[b, t, m] * wk[h, e, m]
  v[b, h, t, e] = sum[m: D] x[b, t, m] * wv[h, e, m])",
                        R"(
  z[b, h, i, e] = sum[j] p[b, h, i, j] * v[b, h, j, e]
  y[b, t, o: D] = sum[h, e] z[b, h, t, e] * wo[o, h, e]
)"));
}

TEST(Layouts, HeadsCutOutOfAMatrixAndMergedAgain) {
  expect_streams(Layout("wq: [D, D], wk: [D, D], wv: [D, D], wo: [D, D]", R"(
  qf[b, t, n: D] = sum[m: D] x[b, t, m] * wq[n, m]
  kf[b, t, n: D] = sum[m: D] x[b, t, m] * wk[n, m]
  vf[b, t, n: D] = sum[m: D] x[b, t, m] * wv[n, m]
  q[b, h: H, t, e: E] = qf[b, t, h * E + e]
  k[b, h: H, t, e: E] = kf[b, t, h * E + e]
  v[b, h: H, t, e: E] = vf[b, t, h * E + e])",
                        R"(
  z[b, h, i, e] = sum[j] p[b, h, i, j] * v[b, h, j, e]
  zf[b, t, n: D] = z[b, n // E, t, n % E]
  y[b, t, o: D] = sum[n] zf[b, t, n] * wo[o, n]
)"));
}

TEST(Layouts, OneProductForQueriesKeysAndValues) {
  const Layout layout("w: [D, 3 * D], wo: [D, D]", R"(
  f[b, t, n: 3 * D] = sum[m: D] x[b, t, m] * w[m, n]
  q[b, h: H, t, e: E] = f[b, t, h * E + e]
  k[b, h: H, t, e: E] = f[b, t, D + h * E + e]
  v[b, h: H, t, e: E] = f[b, t, 2 * D + h * E + e])",
                      R"(
  z[b, h, i, e] = sum[j] p[b, h, i, j] * v[b, h, j, e]
  y[b, t, o: D] = sum[n: D] z[b, n // E, t, n % E] * wo[n, o]
)");
  expect_streams(layout);
}

// The gradient of a weight of which three slices are read is three products, of a slice each.
TEST(Layouts, SlicesOfOneWeight) {
  const Layout layout("w: [D, 3 * D], wo: [D, D]", R"(
  q[b, h: H, t, e: E] = sum[m: D] x[b, t, m] * w[m, h * E + e]
  k[b, h: H, t, e: E] = sum[m: D] x[b, t, m] * w[m, D + h * E + e]
  v[b, h: H, t, e: E] = sum[m: D] x[b, t, m] * w[m, 2 * D + h * E + e])",
                      R"(
  z[b, h, i, e] = sum[j] p[b, h, i, j] * v[b, h, j, e]
  y[b, t, o: D] = sum[h, e] z[b, h, t, e] * wo[h * E + e, o]
)");
  expect_streams(layout);
  const plan::Function& f = *layout.plan().backward;
  int slices = 0;
  for (const plan::Kernel& k : f.kernels)
    if (std::holds_alternative<plan::ContractionForm>(k.form))
      slices += f.graph[k.writes[0]].name.starts_with("dw.") &&
                solve::Points(f.graph, 1).of(f.graph[k.writes[0]].extents) == 384 * 384;
  EXPECT_EQ(slices, 3) << plan::to_string(layout.plan());
}

TEST(Layouts, HeadsMergedInTheSumOverKeys) {
  expect_streams(Layout("wq: [H, E, D], wk: [H, E, D], wv: [D, D], wo: [D, D]", R"(
  q[b, h, t, e] = sum[m: D] x[b, t, m] * wq[h, e, m]
  k[b, h, t, e] = sum[m: D] x[b, t, m] * wk[h, e, m]
  v[b, t, n: D] = sum[m: D] x[b, t, m] * wv[n, m])",
                        R"(
  z[b, i, d: D] = sum[j] p[b, d // E, i, j] * v[b, j, d]
  y[b, t, o: D] = sum[n: D] z[b, t, n] * wo[o, n]
)"));
}

// Two softmaxes and their difference: each has a normaliser of its own, and their tiles are shared.
TEST(Layouts, ScoresThatAreStackedAlongAnAxis) {
  const auto file = planned_text(std::string(kSizes) + R"(
train model m(q: [B, 2 * H, T, E], k: [B, 2 * H, T, E], v: [B, H, T, E], mix: [H]) -> z {
  s[b, g, i: T, j: T] = (sum[e] q[b, g, i, e] * k[b, g, j, e]) / sqrt(E)
  p[b, g, i, j] = softmax[j where j <= i] (s[b, g, i, j])
  a[b, h: H, i, j] = p[b, 2 * h, i, j] - mix[h] * p[b, 2 * h + 1, i, j]
  z[b, h, i, e] = sum[j] a[b, h, i, j] * v[b, h, j, e]
})");
  const plan::Plan& plan = *file->models.at(0).plan;
  expect_no_scores(plan.forward);
  expect_no_scores(*plan.backward);
}

// A decay that is the same for the whole batch stays in tiles, too.
TEST(Layouts, DecaysWithoutTheBatch) {
  const auto file = planned_text(std::string(kSizes) + R"(
train model m(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E]) -> z {
  param decay: [H]
  s[b, h, i: T, j: T] = if j <= i then (sum[e] q[b, h, i, e] * k[b, h, j, e]) * exp(-exp(decay[h]) * float(i - j)) else 0
  z[b, h, i, e] = sum[j] s[b, h, i, j] * v[b, h, j, e]
})");
  const plan::Plan& plan = *file->models.at(0).plan;
  expect_no_scores(plan.forward);
  expect_no_scores(*plan.backward);
}

// Points of all definitions that the kernels of a function compute.
double points(const plan::Function& f) {
  const solve::Points count(f.graph, 24);
  double all = 0;
  for (const plan::Kernel& k : f.kernels)
    for (const ir::Definition& d : k.definitions) {
      std::set<ir::IndexId> in(d.free.begin(), d.free.end());
      in.insert(d.reduced.begin(), d.reduced.end());
      all += count.of(f.graph, in);
    }
  return all;
}

class IndexMaps : public ::testing::TestWithParam<const char*> {};

// Elements of x and of y are visited at most twice each.
TEST_P(IndexMaps, GradientsVisitEachElementOnce) {
  const auto file = planned_text(std::string("size A in 1..\nsize P in 1..\ntrain model m(") +
                                 GetParam() + "}\n");
  ASSERT_EQ(file->models.size(), 1u) << render(file->source.map, file->source.diagnostics);
  const plan::Plan& plan = *file->models[0].plan;
  const ir::Graph& g = plan.forward.graph;
  const double elements = solve::Points(g, 24).of(g[*g.find("x")].extents);
  EXPECT_LE(points(*plan.backward), 2 * std::max(points(plan.forward), elements))
      << plan::to_string(plan);
}

INSTANTIATE_TEST_SUITE_P(
    EachForm, IndexMaps,
    ::testing::Values(
        "x: [24]) -> y { y[i: 18] = x[i + 3] ", "x: [24]) -> y { y[i: 10] = x[2 * i + 3] ",
        "x: [24]) -> y { y[i: 24] = x[(i + 5) % 24] ", "x: [24]) -> y { y[i: 24] = x[23 - i] ",
        "x: [24]) -> y { y[i: 24] = x[(30 - i) % 24] ",
        "x: [24]) -> y { y[a: 4, b: 6] = x[6 * a + b] ",
        "x: [4, 6]) -> y { y[i: 24] = x[i // 6, i % 6] ",
        "x: [2, 3, 4]) -> y { y[i: 24] = x[i // 12, i // 4 % 3, i % 4] ",
        "x: [24]) -> y { y[a: 2, b: 3, c: 4] = x[12 * a + 4 * b + c] ",
        "x: [24]) -> y { y[i: 24] = x[i % 6 * 4 + i // 6] ",
        "x: [24]) -> y { y[a: 4, p: 6] = x[(6 * a + p + 3) % 24] ",
        "x: [4, 6]) -> y { y[i: 24] = x[(i + 21) % 24 // 6, (i + 21) % 24 % 6] ",
        "x: [24]) -> y { y[i: 12] = x[(i + 5) % 24] ",
        "x: [24]) -> y { u[i: 24] = x[(i + 5) % 24]\n y[a: 4, b: 6] = u[23 - 6 * a - b] ",
        "x: [12, 8]) -> y { y[t: 6, k: 4, l: 4] = x[4 * (t // 2) + k, 4 * (t % 2) + l] ",
        "x: [24]) -> y { y[i: 16, k: 3] = x[i + 4 * k] ",
        "x: [24]) -> y { y[a: 5, p: 8] = x[4 * a + p] ",
        "x: [24]) -> y { y[i: 9] = if i < 7 then x[(2 * i + 3) % 24] else 0 ",
        "x: [8, 8]) -> y { y[a: 2, c: 2, p: 16] = "
        "x[(4 * a + p // 4 + 2) % 8, (4 * c + p % 4 + 2) % 8] ",
        "x: [4, 16]) -> y { y[i: 8, j: 8] = x[(i + 6) % 8 // 4 * 2 + (j + 6) % 8 // 4, "
        "(i + 6) % 8 % 4 * 4 + (j + 6) % 8 % 4] ",
        "x: [24]) -> y { y[a: 4, p: 6] = x[(6 * a + p + 3) % 12] ",
        "x: [2]) -> y { y[a: 2, p: 16] = x[(4 * a + p // 4 + 2) % 8 // 4] ",
        "x: [A, P]) -> y { y[i: A * P] = x[i // P, i % P] ",
        "x: [A * P], u: [A]) -> y { y[a: A, p: P] = x[P * a + p] ",
        "x: [A * P], u: [A]) -> y { y[a: A, p: P] = x[(P * a + p + 7) % (A * P)] ",
        "x: [A * P, A], u: [P]) -> y { y[t: A * P] = x[t % A * P + t // A, t % A] "));

}  // namespace
}  // namespace attn::testing
