// Attention whose scores are never stored, in the variants that people write: each is one streaming
// kernel (and a careful twin where a mask hides data), and gives what the evaluator gives.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiled.h"

namespace attn::testing {
namespace {

// z of every model is over [B, T, H, E], as a projection behind it reads it best.
constexpr const char* kModels = R"(
size B, T, S, V
size H = 2, E = 33, F = 80

model window(q: [B, T, H, E], k: [B, S, H, E], v: [B, S, H, F]) -> z {
  s[b,h,i,j] = sum[e] q[b,i,h,e] * k[b,j,h,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i and j > i - 60] (s[b,h,i,j])
  z[b,i,h,f] = sum[j] p[b,h,i,j] * v[b,j,h,f]
}
model capped(q: [B, T, H, E], k: [B, S, E], v: [B, S, F], bias: [H, T, S], slope: [H]) -> z {
  s[b,h,i,j] = sum[e] q[b,i,h,e] * k[b,j,e]
  c[b,h,i,j] = 5 * tanh(s[b,h,i,j] / 5) + bias[h,i,j] + slope[h] * (j - i) / 64
  p[b,h,i,j] = softmax[j] (c[b,h,i,j])
  z[b,i,h,f] = sum[j] p[b,h,i,j] * v[b,j,f]
}
model documents(q: [B, T, H, E], k: [B, T, H, E], v: [B, T, H, E], document: int[B, T]) -> z, y {
  s[b,h,i,j] = sum[e] q[b,i,h,e] * k[b,j,h,e] / sqrt(E)
  y[b,h,i] = logsumexp[j where j <= i and document[b,i] == document[b,j]] s[b,h,i,j]
  p[b,h,i,j] = exp(s[b,h,i,j] - y[b,h,i]) where j <= i and document[b,i] == document[b,j]
  z[b,i,h,e] = sum[j] p[b,h,i,j] * v[b,j,h,e]
}
model parts(q: [B, T, H, E], k: [B, T, H, E], v: [B, T, H, E], part: int[T]) -> z {
  s[b,h,i,j] = sum[e] q[b,i,h,e] * k[b,j,h,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i and part[i] == part[j]] (s[b,h,i,j])
  z[b,i,h,e] = sum[j] p[b,h,i,j] * v[b,j,h,e]
}
model weighed(q: [B, T, H, E], k: [B, S, H, E], v: [B, S, H, E], keep: [T, S]) -> z {
  s[b,h,i,j] = sum[e] q[b,i,h,e] * (k[b,j,h,e] + 1)
  p[b,h,i,j] = softmax[j] (s[b,h,i,j])
  z[b,i,h,e] = sum[j] keep[i,j] * p[b,h,i,j] * v[b,j,h,e] * 2
}
)";

class StreamVariants : public ::testing::TestWithParam<const char*> {
 protected:
  static Library& library() {
    static Library all(compile_text(kModels));
    return all;
  }
};

// What the window's gradient reads is in tiles too; the others' wide tensors have other readers.
TEST(Streams, KeepTheGradientOfTheirScoresInTiles) {
  const std::vector<driver::Compiled> models = compile_text(kModels);
  const plan::Function& f = *models[0].plan->backward;
  EXPECT_TRUE(std::any_of(f.kernels.begin(), f.kernels.end(),
                          [](const plan::Kernel& k) { return k.tile_sums.has_value(); }));
  for (const plan::Kernel& k : f.kernels)
    for (ir::TensorId t : k.writes) {
      EXPECT_NE(f.graph[t].name, "p");
      EXPECT_NE(f.graph[t].name, "ds");
    }
}

TEST(Streams, KeepTheirScoresInTiles) {
  for (const driver::Compiled& model : compile_text(kModels)) {
    const plan::Function& f = model.plan->forward;
    EXPECT_TRUE(std::any_of(f.kernels.begin(), f.kernels.end(), [](const plan::Kernel& k) {
      return k.streaming.has_value();
    })) << model.name;
    for (const plan::Kernel& k : f.kernels)
      for (ir::TensorId t : k.writes) EXPECT_NE(f.graph[t].name, "s") << model.name;
  }
}

TEST_P(StreamVariants, GiveWhatTheEvaluatorGives) {
  const std::string name = GetParam();
  for (int64_t t : {0, 1, 5, 47, 48, 97}) {
    for (int64_t s : {0, 1, 16, 63, 64, 65, 530}) {
      if (s > 65 && t != 97 && t != 1) continue;
      Arrays given = random_call(library().model(name), {{"B", 2}, {"T", t}, {"S", s}, {"V", 3}},
                                 static_cast<uint64_t>(t * 1000 + s));
      Outcome o = library().call(given, {}, name);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      // Rows of up to 113 products that cancel: dp - dp.lse.
      EXPECT_EQ(differ(library().reference(given, name), o.values, 5e-5), "")
          << name << " T=" << t << " S=" << s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, StreamVariants,
                         ::testing::Values("window", "capped", "documents", "parts", "weighed"));

}  // namespace
}  // namespace attn::testing
