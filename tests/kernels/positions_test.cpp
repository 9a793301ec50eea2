// Models that read a layer at one position: its first token, its last, the last step.
#include <gtest/gtest.h>

#include <algorithm>

#include "agreement.h"

namespace attn::testing {
namespace {

// The part of a layer that is computed at the position alone; in `cached` attention stays whole.
TEST(Positions, GiveWhatTheEvaluatorGives) {
  std::vector<driver::Compiled> models = compile_text(R"(
size B, T in 1.., S, D = 24, H = 3, E = D / H, K = 10
block layer(x: [B, T, D], length: int[B]) -> y {
  param q: [H, E, D], k: [H, E, D], v: [H, E, D], o: [D, H, E], w1: [40, D], w2: [D, 40]
  square[b,t] = mean[d] x[b,t,d]^2
  n[b,t,d] = x[b,t,d] / sqrt(square[b,t] + 1e-5)
  qs[b,h,t,e] = sum[d] n[b,t,d] * q[h,e,d]
  ks[b,h,t,e] = sum[d] n[b,t,d] * k[h,e,d]
  vs[b,h,t,e] = sum[d] n[b,t,d] * v[h,e,d]
  s[b,h,i,j] = (sum[e] qs[b,h,i,e] * ks[b,h,j,e]) / sqrt(E)
  p[b,h,i,j] = softmax[j where j < length[b]] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * vs[b,h,j,e]
  r[b,t,d] = x[b,t,d] + (sum[h,e] o[d,h,e] * z[b,h,t,e])
  f[b,t,m: 40] = relu(sum[d] r[b,t,d] * w1[m,d])
  y[b,t,d] = r[b,t,d] + (sum[m] f[b,t,m] * w2[d,m])
}
train model first(x: [B, T, D], length: int[B], word: int[B]) -> loss, score {
  param head: [K, D]
  a = layer(x, length) as one
  c = layer(a, length) as two
  score[b,c1: K] = sum[d] c[b,0,d] * head[c1,d]
  loss = mean[b] ((logsumexp[c1] score[b,c1]) - score[b, word[b]])
}
train model last(x: [B, T, D]) -> y {
  param w: [D, D], u: [D, D]
  h[b,t,e] = tanh(sum[d] x[b,t,d] * w[e,d])
  s[b,i,j] = sum[d] h[b,i,d] * h[b,j,d]
  p[b,i,j] = softmax[j where j <= i] (s[b,i,j])
  z[b,i,d] = sum[j] p[b,i,j] * x[b,j,d]
  g[b,t,e] = z[b,t,e] * sigmoid(sum[d] z[b,t,d] * u[e,d])
  y[b,e] = g[b, T - 1, e] + x[b,0,e]
}
train model steps(x: [B, T, D]) -> y {
  param w: [D, D], v: [K, D]
  scan t: T { h[b,t,e] = tanh(x[b,t,e] + 0.3 * (sum[d] h[b,t-1,d] * w[e,d])) from 0 }
  o[b,t,k] = sum[d] h[b,t,d] * v[k,d]
  y[b,k] = softmax[k] (o[b, T - 1, k])
}
train model cached(x: [B, T, D], keys: [B, S, D], length: int[B]) -> y {
  param w: [D, D]
  q[b,t,e] = sum[d] x[b,t,d] * w[e,d]
  s[b,i,j] = sum[d] q[b,i,d] * keys[b,j,d]
  p[b,i,j] = softmax[j where j < length[b]] (s[b,i,j])
  z[b,i,d] = sum[j] p[b,i,j] * keys[b,j,d]
  y[b,d] = tanh(z[b, T - 1, d])
}
)");
  const auto model_named = [&](const std::string& name) -> const driver::Compiled& {
    return *std::ranges::find(models, name, &driver::Compiled::name);
  };
  const auto rank_of = [](const driver::Compiled& m, const std::string& name) {
    const auto t = m.forward.find(name);
    return t ? m.forward[*t].extents.size() : 0;
  };
  EXPECT_EQ(rank_of(model_named("first"), "two.f.0"), 2u);
  EXPECT_EQ(rank_of(model_named("first"), "two.z.0"), 3u);
  EXPECT_EQ(rank_of(model_named("last"), "z.at"), 2u);
  EXPECT_EQ(rank_of(model_named("steps"), "o.at"), 2u);
  EXPECT_EQ(rank_of(model_named("cached"), "z"), 3u);
  Library library(std::move(models));
  for (const std::string model : {"first", "last", "steps", "cached"})
    for (const int64_t t : {1, 2, 17, 37}) {
      SCOPED_TRACE(model + " of " + std::to_string(t));
      Arrays given = random_call(library.model(model), {{"B", 3}, {"T", t}, {"S", 19}}, 5);
      if (given.count("length")) given.at("length").values = {1, double(t), double((t + 1) / 2)};
      if (given.count("word")) given.at("word").values = {0, 9, 4};
      // Parameters of two layers as a model begins with them, about 1 / sqrt(D) large. Of 1, scores
      // are so sharp that a gradient carries no more than four digits of f32.
      if (model == "first")
        for (const ir::Tensor& parameter : library.model(model).forward.tensors)
          if (parameter.role == ir::Role::parameter)
            for (double& v : given.at(parameter.name).values)
              v = as_stored(0.2 * v, ir::Storage::f32);
      expect_agreement(library, model, given, 2e-5);
    }
}

}  // namespace
}  // namespace attn::testing
