// What is printed elaborates to the graph that was printed.
#include <gtest/gtest.h>

#include "compiler/derive/derive.h"
#include "tests/elaborate/elaborated.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"

namespace attn::testing {
namespace {

// "" or what is wrong with printing, parsing and elaborating g.
std::string round_trip(const ir::Graph& g) {
  const std::string text = text::to_string(g);
  const auto again = elaborate_text(text);
  if (again->diagnostics.has_errors()) return again->messages() + "in\n" + text;
  std::string difference;
  if (text::same_graph(g, again->graph(), &difference)) return "";
  return difference + "\nin\n" + text;
}

ir::Graph gradient_of(const ir::Graph& g) {
  Diagnostics diagnostics;
  return derive::gradient(g, diagnostics);
}

TEST(RoundTrip, RandomGraphsAndTheirGradients) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 200 && wrong < 3; ++seed) {
    const ir::Graph g = random_graph(seed).graph;
    std::string text = round_trip(g);
    if (text.empty()) text = round_trip(gradient_of(g));
    EXPECT_EQ(text, "") << "seed " << seed;
    wrong += !text.empty();
  }
}

TEST(RoundTrip, EveryExampleOfTheRepositoryAndItsGradient) {
  namespace fs = std::filesystem;
  int models = 0;
  for (const char* folder : {"tests", "examples", "dsl/std"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ATTN_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".attn") continue;
      // Of a published model one layer.
      const std::string text = read_text(entry.path());
      elaborate::Overrides sizes;
      if (text.find(", L = ") != std::string::npos) sizes.emplace("L", 1);
      const auto e = elaborate_text(text, sizes);
      if (e->diagnostics.has_errors()) continue;  // a refusal, or a program of several files
      for (const auto& model : e->program.models) {
        EXPECT_EQ(round_trip(model.graph), "") << entry.path();
        Diagnostics diagnostics;
        const ir::Graph gradient = derive::gradient(ir::without_probes(model.graph), diagnostics);
        if (!diagnostics.has_errors()) {
          EXPECT_EQ(round_trip(gradient), "") << "the gradient of " << entry.path();
        }
        ++models;
      }
    }
  }
  EXPECT_GT(models, 0);
}

TEST(RoundTrip, LinesThatAreHardToWrite) {
  const char* cases[] = {
      // Ranges that subscripts do not give, or give otherwise.
      "size T; input x[T]; y[i: T] = sum[k: 3 where 0 <= i + k - 1 < T] x[i + k - 1]; output y",
      "size P, S; input a[P], b[S]; y[j: P + S] = if j < P then a[j] else b[j - P]; output y",
      "size T; input x[T]; y[i] = sum[k: T] x[i]; output y",
      "size T; input x[T,T]; y[i] = x[i,i] * (i + T); output y",
      // Signs, divisions, powers and roots.
      "size D = 8; input a, b, c; y = -a / (b * c) - 2 / a ^ 3 - (b - c) * (a + 1); output y",
      "input a[3], b[3]; y[i] = -(a[i] + b[i]) * -2 / sqrt(a[i] ^ 2 + 1) ^ 3; output y",
      "size D = 8; input a[D]; y = sum[d] 0.125 * a[d] / sqrt(D) / 3 ^ 0.5; output y",
      "input a, b; y = (a ^ 2) ^ 0.5 + a ^ b ^ 2 + (a + b) ^ -1.5 + 2 ^ a; output y",
      "input a, b; y = 1 / a / (b + 1) / (a + b) + 0.5 / b; output y",
      // Reductions of sums, signs and choices.
      "input a[3], b[3]; y = sum[i] (a[i] - b[i]); z = max[i] (-a[i]); output y, z",
      "input a[3], b[3]; y = sum[i] (if a[i] < b[i] then 1 else a[i] + 2); output y",
      "input a[3], b[3]; y = prod[i where a[i] < b[i] or not b[i] <= 1] (a[i] + 1); output y",
      "input a[3]; y = sum[i] (0 - a[i]); z = logsumexp[i where i != 1] 2 * a[i]; output y, z",
      "input a[3]; w = argmax[i] a[i] ^ 2; y = a[w] * float(w); output y, w",
      // Conditions.
      "size T, W = 3; input x[T]; y[i: T, j: T] = x[i] where 0 <= i - j < W and j < 5; output y",
      "size T; int n[T]; input x[T]; y[i] = sum[j where 1 <= j < n[i]] x[j] where n[i] > 2; output "
      "y",
      "size T; input x[T]; y[i: T, j: T] = x[i] where i + j >= T or i == 2 * j + 1; output y",
      "size T; input x[T]; y[n: 2 * T] = sum[i where n == i // 2 + i] x[i]; output y",
      "size T; bool k[T]; input x[T]; y[i] = if k[i] and not x[i] == 2 then x[i] else 1; output y",
      "size T; input x[T]; y[i, j: T] = x[i] where (i - j) % 2 != 0; output y",
      // Names.
      "size E; input e, x[E]; y[i] = x[i] * e; output y",
      "size T, U = T // 2; input x[2 * T - 1]; y[i: U] = x[2 * i]; output y",
  };
  for (const char* text : cases) EXPECT_EQ(round_trip(build_graph(text)), "") << text;
}

TEST(SameGraph, SeesADifferenceInEveryPart) {
  const std::string base = "size T, E = 2; input x[T,E]; param w[E]; ";
  const ir::Graph g = build_graph(base + "y[i] = sum[e where e <= i] x[i,e] * w[e]; output y");
  for (const char* other : {
           "y[i] = sum[e where e <= i] x[i,e] * w[e] * 2; output y",
           "y[i] = sum[e where e < i] x[i,e] * w[e]; output y",
           "y[i] = max[e where e <= i] x[i,e] * w[e]; output y",
           "y[i] = sum[e: 1 where e <= i] x[i,e] * w[e]; output y",
           "z[i] = sum[e where e <= i] x[i,e] * w[e]; output z",
           "y[i] = sum[e where e <= i] x[i,e] * w[e]; z[i] = y[i]; output y",
           "y[i] = sum[e where e <= i] x[i,e] * w[e]; output y, x",
       }) {
    std::string difference;
    EXPECT_FALSE(text::same_graph(g, build_graph(base + other), &difference)) << other;
    EXPECT_NE(difference, "");
  }
  EXPECT_TRUE(text::same_graph(
      g, build_graph(base + "y[a] = sum[b where b <= a] w[b] * x[a,b]; output y")));
}

}  // namespace
}  // namespace attn::testing
