// Probes: the kernels against the evaluator at every awkward size, what they read instead of
// computing it again, and that nobody else pays for them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compiled.h"

namespace attn::testing {
namespace {

// Two layers of attention; probes of a map in tiles, of a sum over it, of a log-sum-exp, of whole
// numbers, of what is an interior tensor, of a bf16 copy and of what no output reads.
constexpr const char* kLayers = R"(
size B, T, D

block layer(x: [B, T, D]) -> y, p {
  param wq: [D, D], wk: [D, D]
  q[b,i,e] = sum[d] x[b,i,d] * wq[e,d]
  k[b,j,e] = sum[d] x[b,j,d] * wk[e,d]
  p[b,i,j] = softmax[j where j <= i] (sum[e] q[b,i,e] * k[b,j,e])
  y[b,i,d] = x[b,i,d] + sum[j] p[b,i,j] * x[b,j,d]
}

train model layers(x: [B, T, D]) -> y, probe map, probe entropy, probe lse, loss, probe most,
                                    probe h, probe rough: bf16, probe shares {
  (h, first) = layer(x) as first
  (y, map) = layer(h) as second
  loss = sum[b,i,d] y[b,i,d]^2
  entropy[b,i] = -(sum[j] map[b,i,j] * log(max(map[b,i,j], 1e-9)))
  lse[b,i] = logsumexp[d] (y[b,i,d])
  most[b,i] = argmax[d] y[b,i,d]
  rough[b,i,d] = h[b,i,d]
  shares[b,i,j] = first[b,i,j] * map[b,i,j]
}
)";

// The same without probes.
std::string without_probes() {
  std::string text = kLayers;
  const size_t begin = text.find(", probe map"), end = text.find(" {\n  (h, first)");
  return text.replace(begin, end - begin, ", loss");
}

const plan::Function& probe(const driver::Compiled& model, const std::string& name) {
  for (const plan::Function& f : model.plan->probes)
    if (f.graph.outputs.at(0).name == name) return f;
  throw std::runtime_error("no probe " + name);
}

std::vector<std::string> computed(const plan::Function& f) {
  std::vector<std::string> names;
  for (const plan::Kernel& k : f.kernels)
    for (const ir::Definition& d : k.definitions) names.push_back(f.graph[d.target].name);
  return names;
}

// A tensor of the model that is saved has the name that backward gives the gradient of x.
TEST(Probes, OfWhatIsCalledAsAGradientIs) {
  Library library(compile_text(R"(
size B, D
train model m(x: [B, D]) -> y, probe most {
  param w: [D, D]
  dx[b,d] = tanh(sum[e] w[d,e] * x[b,e])
  y[b,d]  = sum[e] w[d,e] * dx[b,e]
  most[b] = max[d] dx[b,d]
}
)"));
  for (int64_t rows : {0, 3}) {
    const Arrays given = random_call(library.model(), {{"B", rows}, {"D", 17}}, 1);
    const CallOptions options{.probes = true};
    const Outcome got = library.call(given, options);
    ASSERT_EQ(got.status, ATTN_OK) << got.message;
    EXPECT_EQ(differ(library.reference(given, "", options), got.values, 2e-5), "");
  }
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) > 0;
}

TEST(Probes, AgreeWithTheEvaluatorAtEverySize) {
  Library library(compile_text(kLayers));
  const CallOptions options{.probes = true};
  for (int64_t rows : {0, 1, 2, 5, 16, 17, 33}) {
    for (int64_t features : {1, 4, 7}) {
      SCOPED_TRACE(fmt::format("T = {}, D = {}", rows, features));
      const Arrays given = random_call(library.model(), {{"B", 2}, {"T", rows}, {"D", features}},
                                       static_cast<uint64_t>(rows));
      const Outcome got = library.call(given, options);
      ASSERT_EQ(got.status, ATTN_OK) << got.message;
      Arrays want = library.reference(given, "", options);
      Array& rough = want.at("rough");
      Array rounded = got.values.at("rough");
      EXPECT_EQ(differ("rough", rough, rounded, 1e-2), "");
      want.erase("rough");
      EXPECT_EQ(differ(want, got.values, 2e-5), "");
    }
  }
}

TEST(Probes, ReadWhatForwardHasLeftBehind) {
  const std::vector<driver::Compiled> models = compile_text(kLayers);
  const plan::Function& map = probe(models[0], "map");
  EXPECT_FALSE(map.saved.empty());
  // Nothing of the first layer, and no log-sum-exp, is computed again.
  for (const std::string& name : computed(map)) {
    EXPECT_FALSE(name.starts_with("first.")) << name;
    EXPECT_EQ(name.find("lse"), std::string::npos) << name;
  }
  EXPECT_TRUE(probe(models[0], "most").saved.empty());
  EXPECT_EQ(computed(probe(models[0], "most")), std::vector<std::string>{"most"});
}

TEST(Probes, CostNothingWhereNobodyAsks) {
  const std::vector<driver::Compiled> with = compile_text(kLayers);
  const std::vector<driver::Compiled> plain = compile_text(without_probes());
  ASSERT_EQ(with[0].plan->probes.size(), 7u);
  ASSERT_TRUE(plain[0].plan->probes.empty());
  plan::Plan without = *with[0].plan;
  without.probes.clear();
  EXPECT_EQ(plan::to_string(without), plan::to_string(*plain[0].plan));
  EXPECT_TRUE(has(computed(probe(with[0], "entropy")), "entropy"));
}

// Forward leaves two steps of s only, in another layout than that of the probes.
TEST(Probes, OfAStateThatForwardDoesNotKeep) {
  Library library(compile_text(R"(
size B, T, E, N
train model state(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z, probe u, probe s {
  scan t: T { s[b,t,e,n] = 0.5 * s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
  u[b,t,n] = sum[e] k[b,t,e] * s[b,t,e,n]
}
)"));
  const CallOptions options{.gradient = true, .probes = true};
  for (int64_t t : {0, 1, 2, 5}) {
    const Arrays given = random_call(library.model(), {{"B", 3}, {"T", t}, {"E", 4}, {"N", 6}}, 5);
    const Outcome got = library.call(given, options);
    ASSERT_EQ(got.status, ATTN_OK) << got.message;
    EXPECT_EQ(differ(library.reference(given, "", options), got.values, 2e-5), "");
  }
}

TEST(Probes, AreNotSeenThroughTheConditionsOfOthers) {
  // y reads s below the diagonal only; the probe is all of it.
  Library library(compile_text(R"(
size T, D
train model m(x: [T, D]) -> y, probe s {
  s[i,j] = sum[d] x[i,d] * x[j,d]
  y[i] = sum[j where j <= i] s[i,j]
}
)"));
  for (int64_t rows : {1, 3, 20}) {
    const Arrays given = random_call(library.model(), {{"T", rows}, {"D", 3}}, 1);
    const CallOptions options{.probes = true};
    const Outcome got = library.call(given, options);
    ASSERT_EQ(got.status, ATTN_OK) << got.message;
    EXPECT_EQ(differ(library.reference(given, "", options), got.values), "");
    const Array& s = got.values.at("s");
    if (rows > 1) {
      EXPECT_NE(s.values[1], 0);
    }
  }
}

// What a mask hides changes no bit of a probe either.
TEST(Probes, AreBlindToWhatAMaskHides) {
  Library library(compile_text(R"(
size T, D
train model m(x: [T, D], keep: bool[T]) -> y, probe p, probe z {
  s[i,j] = sum[d] x[i,d] * x[j,d]
  p[i,j] = softmax[j where keep[i] and keep[j]] (s[i,j])
  z[i,d] = sum[j] p[i,j] * x[j,d]
  y = sum[i,d] z[i,d]
}
)"));
  Arrays given = random_call(library.model(), {{"T", 9}, {"D", 4}}, 3);
  for (int k = 0; k < 9; ++k) given.at("keep").values[k] = k != 5;
  const CallOptions options{.gradient = false, .probes = true};
  const Outcome before = library.call(given, options);
  ASSERT_EQ(before.status, ATTN_OK) << before.message;
  for (int d = 0; d < 4; ++d)
    given.at("x").values[5 * 4 + d] = std::numeric_limits<double>::quiet_NaN();
  const Outcome after = library.call(given, options);
  ASSERT_EQ(after.status, ATTN_OK) << after.message;
  for (const char* name : {"p", "z"})
    EXPECT_EQ(before.values.at(name).values, after.values.at(name).values) << name;
}

TEST(Probes, CheckTheIntegersThatTheyReadWith) {
  Library library(compile_text(R"(
size T, V = 5
model m(token: int[T]) -> y, probe row {
  param table: [V] = normal(0, 1), w: [T]
  y = sum[i] w[i]
  row[i] = table[token[i]]
}
)"));
  Arrays given = random_call(library.model(), {{"T", 4}}, 3);
  given.at("token").values = {0, 4, 2, 1};
  const CallOptions options{.gradient = false, .probes = true};
  EXPECT_EQ(library.call(given, options).status, ATTN_OK);
  given.at("token").values[2] = 5;
  EXPECT_EQ(library.call(given, {.gradient = false}).status, ATTN_OK);
  const Outcome got = library.call(given, options);
  EXPECT_EQ(got.status, ATTN_BAD_DATA);
  EXPECT_NE(got.message.find("token: reads table at 0..5"), std::string::npos) << got.message;
}

}  // namespace
}  // namespace attn::testing
