// Sums of products: in which order, over nothing, scaled and hidden by this and that; each against
// the evaluator.
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

// A factor that leaves a sum is not infinite where there is nothing to sum.
TEST(Sums, OverNothingAreZeroWhateverDividesThem) {
  const std::string models = R"(
size M = 16
train model product(x: [T, N], w: [N, K]) -> z {
  z[j,k] = sum[n] x[j,n] * w[n,k] / N
}
train model sums(x: [T, N]) -> z, y {
  z[j] = sum[n] x[j,n] / N
  y = sum[j,n] x[j,n] / N / T
}
train model weights(q: [T, K], k: [N, K]) -> z {
  p[i,j] = exp(sum[e] q[i,e] * k[j,e] / K)
  z[i,e] = sum[j] p[i,j] * k[j,e] / N
}
train model softened(q: [T, K], k: [N, K]) -> z {
  s[i,j] = sum[e] q[i,e] * k[j,e] / K
  p[i,j] = softmax[j] (s[i,j] / N)
  z[i,e] = sum[j] p[i,j] * k[j,e] / N / T
}
train model apart(q: [T, K], k: [N, K], v: [N, M]) -> z {
  p[i,j] = sigmoid(sum[e] q[i,e] * k[j,e]) where j <= i + 1
  z[i,f] = sum[j] p[i,j] * v[j,f]
}
train model aside(q: [T, M], k: [N, M], v: [N, K]) -> l, z {
  s[i,j] = sum[e] q[i,e] * k[j,e]
  l[i] = logsumexp[j] s[i,j]
  p[i,j] = exp(s[i,j] - l[i]) / (2 + tanh(l[i]))
  z[i,f] = sum[j] p[i,j] * v[j,f]
}
train model means(x: [T, N]) -> z, y {
  z[j] = mean[n] x[j,n]
  y = mean[j,n] x[j,n]
}
)";
  const std::vector<std::string> names = {"product", "sums",  "weights", "softened",
                                          "apart",   "aside", "means"};
  Library library(compile_text("size T, N, K" + models));
  for (const std::string& name : names)
    for (int64_t n : {0, 1, 3})
      for (int64_t t : {0, 1, 3})
        for (int64_t k : {0, 3}) {
          const Sizes s = {{"T", t}, {"N", n}, {"K", k}};
          SCOPED_TRACE(name + " " + text_of(s));
          expect_agreement(library, name, random_call(library.model(name), s, 3), 2e-5);
        }
  for (const std::string empty : {"T", "N", "K"}) {
    std::string sizes;
    for (const std::string size : {"T", "N", "K"})
      sizes += "size " + size + (size == empty ? " = 0\n" : "\n");
    Library compiled_in(compile_text(sizes + models));
    for (const std::string& name : names) {
      Sizes s = {{"T", 2}, {"N", 3}, {"K", 4}};
      s[empty] = 0;
      SCOPED_TRACE(name + " " + text_of(s));
      expect_agreement(compiled_in, name, random_call(compiled_in.model(name), s, 3), 2e-5);
    }
  }
}

// Nor where there is nothing to be seen.
TEST(Sums, OfNothingThatIsVisibleAreZeroWhateverDividesThem) {
  Library library(compile_text(R"(
size B, T, D = 48
train model pooled(x: [B, T, D], len: int[B], w: [D, D]) -> y, z {
  y[b,e] = sum[t,d where t < len[b]] x[b,t,d] * w[d,e] / float(len[b])
  part[b,d] = sum[t where t < len[b]] x[b,t,d] / float(len[b])
  z[b,e] = sum[d] part[b,d] * w[e,d] + sum[t where t < len[b]] x[b,t,e]
}
train model attended(q: [B, T, D], k: [B, T, D], len: int[B]) -> z {
  p[b,i,j] = sigmoid(sum[e] q[b,i,e] * k[b,j,e]) where j < len[b] and j >= i
  z[b,i,e] = sum[j] p[b,i,j] * k[b,j,e] / float(len[b] - i)
}
)"));
  for (int64_t t : {1, 3, 50}) {
    for (const std::string name : {"pooled", "attended"}) {
      Arrays given = random_call(library.model(name), {{"B", 4}, {"T", t}}, 3);
      given.at("len").values = {0, static_cast<double>(t), 1, 0};
      SCOPED_TRACE(name + " " + std::to_string(t));
      expect_agreement(library, name, given, 2e-5);
    }
  }
}

TEST(Products, ComeInTheOrderThatTakesLeast) {
  Library library(compile_file(ATTN_SOURCE_DIR "/tests/stages/products.attn"));
  for (int64_t b : {0, 1, 3, 17, 67})
    expect_agreement(library, "products", random_call(library.model(), {{"B", b}}, 3), 2e-5);
  Library wide(compile_file(ATTN_SOURCE_DIR "/tests/stages/causal_products.attn"));
  for (int64_t t : {0, 1, 3, 47, 65})
    expect_agreement(wide, "causal_products", random_call(wide.model(), {{"B", 2}, {"T", t}}, 3),
                     2e-5);
}

// What ends with the map after a sum lies in the memory of the result: in the workspace, in that of
// an output, in that of the gradient of a table that was added up before.
TEST(Products, LieInTheMemoryOfWhatTheyAreAddedTo) {
  Library library(compile_text(R"(
size B, T, D = 40, H = 3, E = 14, N = 5
train model residual(x: [B, T, D]) -> y, z {
  param w1: [D, D], w2: [D, D], w3: [D, D], w4: [D, D]
  a[b,t,d] = tanh(sum[e] w1[d,e] * x[b,t,e])
  h[b,t,d] = tanh(sum[e] w2[e,d] * a[b,t,e])
  c[b,t,d] = a[b,t,d] * (1 + a[b,t,d]) + sum[e] w3[d,e] * h[b,t,e]
  g[b,t,d] = tanh(sum[e] w2[e,d] * c[b,t,e])
  y[b,t,d] = c[b,t,d] + sum[e] w4[d,e] * g[b,t,e] where t > 0
  z[b] = sum[t,d] y[b,t,d] * g[b,t,d]
}
model heads(x: [B, T, D]) -> y {
  param u: [H, E, D], v: [H, E, D]
  a[b,h,t,e] = tanh(sum[d] u[h,e,d] * x[b,t,d])
  y[b,h,t,e] = a[b,h,t,e] + sum[d] v[h,e,d] * tanh(x[b,t,d])
}
model long(x: [T, N], k: [T, D]) -> y {
  a[n,d] = sum[t] exp(-x[t,n] ^ 2) * k[t,d]
  y[n,d] = tanh(a[n,d]) + sum[t] sin(x[t,n]) * tanh(k[t,d])
}
train model tied(token: int[B, T]) -> y {
  param table: [N, D]
  y[b,t,n] = sum[d] table[token[b,t], d] * table[n,d]
}
)"));
  for (const std::string model : {"residual", "heads", "long", "tied"})
    for (const auto& [b, t] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 3}, {1, 0}, {1, 1}, {1, 3}, {3, 11}, {1, 63}, {5, 13}, {2, 64}, {3, 97}}) {
      const Sizes s = {{"B", b}, {"T", t}};
      SCOPED_TRACE(model + " " + text_of(s));
      Arrays given = random_call(library.model(model), s, 3);
      if (given.count("token"))
        for (double& token : given.at("token").values)
          token = static_cast<int>(std::abs(token)) % 5;
      expect_agreement(library, model, given, 5e-5);
    }
}

// Up to 128 rows the weights are read where they lie, if they are stored as they are multiplied.
TEST(Products, OfSomeRowsWithWeightsAsTheyLie) {
  Library library(compile_text(R"(
use std.activations
size B, T, S = 65, I = 131, H = 3, E = 50, F = 48, O = 29, L = 2
model dense(x: [B, T, I], token: int[B, T], heads: [B, H, T, F]) -> y, z, a, n {
  param w: [L, O, I], b: [O], u: [O, H, E], table: [7, H*E], v: [O, H*F], narrow: bf16[O, I]
  y[b,t,o: O] = gelu(sum[i] x[b,t,i] * w[1,o,i] + b[o])
  z[b,t,o: O] = sum[h,e] tanh(table[token[b,t], h*E + e]) * u[o,h,e] where t > 0
  a[b,t,o: O] = sum[h,f] heads[b,h,t,f] * v[o, h*F + f]
  n[b,t,o: O] = sum[i] x[b,t,i] * narrow[o,i]
}
model known(x: [S, I], w: [O, I]) -> y { y[s,o: O] = sum[i] x[s,i] * w[o,i] / (1 + s) }
model unknown(x: [B, T], w: [S, T], length: int) -> y {
  y[b,s] = sum[t where t < length] x[b,t] * w[s,t]
}
)"));
  for (const auto& [b, t] : std::vector<std::pair<int64_t, int64_t>>{{0, 3},
                                                                     {1, 1},
                                                                     {1, 3},
                                                                     {1, 4},
                                                                     {1, 5},
                                                                     {3, 11},
                                                                     {1, 63},
                                                                     {1, 64},
                                                                     {5, 13},
                                                                     {1, 127},
                                                                     {2, 64},
                                                                     {3, 43}}) {
    const Sizes s = {{"B", b}, {"T", t}};
    SCOPED_TRACE(text_of(s));
    Arrays given = random_call(library.model("dense"), s, 3);
    for (double& token : given.at("token").values) token = static_cast<int>(std::abs(token)) % 7;
    expect_agreement(library, "dense", given, 2e-5);
  }
  expect_agreement(library, "known", random_call(library.model("known"), {}, 3), 2e-5);
  for (const int64_t t : {0, 1, 127, 128, 131, 300}) {
    Arrays given = random_call(library.model("unknown"), {{"B", 9}, {"T", t}}, 3);
    given.at("length").values = {static_cast<double>(t - 2)};
    SCOPED_TRACE(t);
    expect_agreement(library, "unknown", given, 2e-5);
  }
}

TEST(Products, OfFewPlanes) {
  Library library(compile_text(R"(
size B, T, H = 5, G = 4
train model mixed(s: [B, H, T, T], u: [T, H]) -> r, t, v {
  param a: [H, G], c: [G, H]
  r[b,g,i,j] = sum[h] s[b,h,i,j] * a[h,g]    where j <= i
  t[g,b,i,j] = relu(sum[h] s[b,h,i,j] * c[g,h])
  v[g,i] = sum[h] c[g,h] * u[i,h]
}
)"));
  for (const Sizes& s : std::vector<Sizes>{
           {{"B", 2}, {"T", 17}}, {{"B", 1}, {"T", 1}}, {{"B", 0}, {"T", 3}}, {{"B", 3}, {"T", 0}}})
    expect_agreement(library, "mixed", random_call(library.model(), s, 3), 2e-5);
}

// Heads mix their scores and weights: all sums of a tile of planes are computed together.
TEST(Products, OfMixedHeads) {
  uint64_t turn = 0;
  for (const int64_t heads : {1, 2, 3, 12, 13, 16, 17}) {
    const std::string target = target_in_turn(turn++);
    Library library(compile_text(R"(
size B, T, S, H
train model mixed(q: [B, H, T, 3], k: [B, H, S, 3], v: [B, H, S, 5]) -> z {
  param before: [H, H], after: [H, H]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e]
  m[b,g,i,j] = sum[h] s[b,h,i,j] * before[h,g]
  p[b,g,i,j] = softmax[j] (m[b,g,i,j])
  w[b,h,i,j] = sum[g] p[b,g,i,j] * after[g,h]
  z[b,h,i,e] = sum[j] w[b,h,i,j] * v[b,h,j,e]
}
)",
                                 {{"H", heads}}),
                    2, target);
    for (const Sizes& s : std::vector<Sizes>{{{"B", 1}, {"T", 0}, {"S", 5}},
                                             {{"B", 1}, {"T", 2}, {"S", 0}},
                                             {{"B", 2}, {"T", 1}, {"S", 1}},
                                             {{"B", 1}, {"T", 3}, {"S", 31}},
                                             {{"B", 2}, {"T", 5}, {"S", 32}},
                                             {{"B", 1}, {"T", 2}, {"S", 33}},
                                             {{"B", 1}, {"T", 37}, {"S", 53}}}) {
      SCOPED_TRACE(target + " H=" + std::to_string(heads) + " " + text_of(s));
      expect_agreement(library, "mixed", random_call(library.model(), s, 3), 2e-5);
    }
  }
}

// Planes of one row each, so that tasks are of columns; in halves; where something holds.
TEST(Products, OfMixedRows) {
  for (const uint64_t turn : {0, 1, 2}) {
    Library library(compile_text(R"(
size N, H = 6, G = 4
model mixed(s: [H, N], u: bf16[H, N], keep: bool[G]) -> r, t, v {
  param a: [H, G], c: [G, H]
  r[g,i] = sum[h] s[h,i] * a[h,g]
  t[g,i] = sum[h] u[h,i] * c[g,h]
  v[g,i] = sum[h where keep[g]] s[h,i] * c[g,h]
}
)"),
                    2, target_in_turn(turn));
    for (const int64_t n : {0, 1, 3, 31, 32, 33, 9001}) {
      SCOPED_TRACE(target_in_turn(turn) + " N=" + std::to_string(n));
      expect_agreement(library, "mixed", random_call(library.model(), {{"N", n}}, 3), 2e-5);
    }
  }
}

// A factor of the whole sum that is one thing or another, by the row, the column or data.
TEST(Scales, OfTwoCases) {
  Library library(compile_text(R"(
size B, T, S, E = 8, F = 5
train model softened(q: [B, T, E], k: [B, S, E], v: [B, S, F], w: [B, T]) -> z, y {
  p[b,i,j] = softmax[j] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,f] = sum[j] p[b,i,j] * v[b,j,f] * (if i == 0 then 1 else 0.25)
  y[b,i,f] = sum[j] p[b,i,j] * v[b,j,f] * (if w[b,i] > 0 then 3 else 0.5) * (if i > 1 then 1 else 0)
}
train model weighted(q: [B, T, E], k: [B, S, E], v: [B, S, F], w: [B, S]) -> z, columns, n {
  p[b,i,j] = relu(sum[e] q[b,i,e] * k[b,j,e]) where j <= i + 3
  z[b,i,f] = sum[j] p[b,i,j] * v[b,j,f] * (if i % 2 == 0 then 2 else 0.5)
  columns[b,j] = sum[i] p[b,i,j] * (if w[b,j] > 0 then 1 else 0.25)
  n[i: T] = sum[b,j] p[b,i,j] * (if i == 0 then 1 else 0.25)
}
)"));
  for (const char* name : {"softened", "weighted"})
    for (int64_t t : {0, 1, 3, 49})
      expect_agreement(library, name,
                       random_call(library.model(name), {{"B", 2}, {"T", t}, {"S", 17}}, 3), 2e-5);
}

TEST(Conditions, ThatExcludeEachOther) {
  Library library(compile_text(R"(
size T, N = 16
train model none(x: [T, N], y: [T], u: [N]) -> h, z {
  a[i: N,t: T] = tanh((sum[j where not (i > 1)] u[j] * 0.5) * 0.25) where t % 2 == 0 and t % 2 == 1
  c[t,i: N] = tanh(a[1,t] + y[t])
  h[t,j] = tanh((mean[k: N] (x[t,j] + c[t,k])) * 0.25)
  z[t] = sum[j where j < 3 and j > 5] x[t,j] * u[j]
}
)"));
  for (int64_t t : {0, 1, 19})
    expect_agreement(library, "none", random_call(library.model(), {{"T", t}}, 3), 2e-5);
}

// What a program says, before any pass has changed it.
void expect_meaning(Library& library, const std::string& name, const Arrays& given,
                    double tolerance = 2e-5) {
  const driver::Compiled& model = library.model(name);
  Outcome o = library.call(given, {}, name);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  Arrays want;
  for (const ir::Graph* g : {&model.raw, &*model.raw_gradient}) {
    const Arrays all = evaluate::evaluate(*g, given);
    for (const ir::Output& result : g->outputs)
      want[result.name] = all.at((*g)[result.tensor].name);
  }
  EXPECT_EQ(differ(want, o.values, tolerance), "") << name;
}

// Blocks of rows share packed columns, 1536 rows at a time; columns are of several blocks.
TEST(Products, OfMoreRowsThanShareColumns) {
  Library library(compile_text(R"(
size T, D, F = 519
train model m(x: [T, D], w: [D, F]) -> y { y[t,f] = sum[d] x[t,d] * w[d,f] })"));
  for (int64_t t : {1536, 1537, 3079})
    expect_agreement(library, "m", random_call(library.model(), {{"T", t}, {"D", 19}}, 3));
}

// Sizes that divide and are 0, and those that only count.
TEST(Products, OfSizes) {
  Library library(compile_text(R"(
size A, T, D, E
train model counted(x: [A, D], w: [D, E], v: [E], p: [T]) -> y, z, s {
  y[a] = sum[j: T,d,e] x[a,d] * w[d,e] * v[e] / T
  z[a] = sum[i: T,j: T,k: T,d,e] x[a,d] * w[d,e] * v[e]
  s = sum[t] p[t]
}
train model left(x: [A, T, D], w: [D, E], v: [E, A], u1: [D], u2: [D]) -> y, z {
  y[a,f: A] = sum[j,d,e] x[a,j,d] * w[d,e] * v[e,f] / T
  z[a,i] = (sum[d] x[a,i,d] * u1[d]) / T + (sum[d] x[a,i,d] * u2[d])
}
)"));
  for (int64_t t : {0, 1, 3})
    for (const char* name : {"counted", "left"})
      expect_meaning(
          library, name,
          random_call(library.model(name), {{"A", 3}, {"T", t}, {"D", 5}, {"E", 33}}, 3));
  // More times than an int counts; the evaluator would take all of them one by one.
  expect_agreement(
      library, "counted",
      random_call(library.model("counted"), {{"A", 2}, {"T", 2000}, {"D", 3}, {"E", 4}}, 3), 2e-5);
}

// A sum that was divided by nothing is no other sum any more.
TEST(Products, AreNotMultipliedBack) {
  Library library(compile_text(R"(
size A, T, D, E
train model same(x: [A, D], w: [D, E], v: [E], p: [T]) -> z, s {
  y[a] = sum[d,e] x[a,d] * w[d,e] * v[e] / T
  z[a] = sum[d,e] x[a,d] * w[d,e] * v[e]
  s = sum[a,t] (if T > 0 then y[a] else 0) * p[t]
}
)"));
  for (int64_t t : {0, 3})
    expect_meaning(library, "same",
                   random_call(library.model(), {{"A", 2}, {"T", t}, {"D", 3}, {"E", 4}}, 3));
}

// Tables are read where the conditions say, in whatever order, and vectors where a term is.
TEST(Products, ReadNothingThatIsHidden) {
  Library library(compile_text(R"(
size B, T, V
size D = 64, E = 16, F = 64
train model rows(tok: int[B, T], table: [V, D], w: [D, E], v: [E, F]) -> y, z {
  y[b,i,f] = sum[d,e where tok[b,i] >= 0] table[tok[b,i],d] * w[d,e] * v[e,f]
  z[b,f] = sum[i,d,e where tok[b,i] >= 0] table[tok[b,i],d] * w[d,e] * v[e,f]
}
train model shifted(u: [T], x: [T, D], w: [D, E], v: [E, F]) -> y {
  y[i: T,f] = sum[j,d,e where j >= i + 1] u[i + 1] * x[j,d] * w[d,e] * v[e,f]
}
)"));
  for (int64_t t : {1, 4}) {
    Arrays given = random_call(library.model("rows"), {{"B", 2}, {"T", t}, {"V", 5}}, 3);
    for (size_t k = 0; k < given.at("tok").values.size(); k += 2) given["tok"].values[k] = -1;
    expect_meaning(library, "rows", given);
    expect_meaning(library, "shifted", random_call(library.model("shifted"), {{"T", t}}, 3));
  }
}

// One operand in f64 and the sum is.
TEST(Products, OfDoublesAreExact) {
  Library library(compile_text(R"(
size B, T
size D = 64
train model exact(x: [B, T, D], w: [D, D], v: f64[D, D]) -> y: f64, z: f64 {
  y[b,f] = sum[j,d,e] x[b,j,d] * w[d,e] * v[e,f]
  a[b,e] = sum[j,d] x[b,j,d] * w[d,e]
  z[b,f] = sum[j,d,e] x[b,j,d] * w[d,e] * v[e,f] + a[b,f] * 0
}
)"));
  const Arrays given = random_call(library.model(), {{"B", 2}, {"T", 50}}, 3);
  const Arrays all = evaluate::evaluate(library.model().raw, given);
  const Outcome o = library.call(given);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  for (const char* name : {"y", "z"})
    EXPECT_EQ(differ(name, all.at(name), o.values.at(name), 1e-12), "");
}

}  // namespace
}  // namespace attn::testing
