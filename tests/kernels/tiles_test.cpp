// Tensors that are kept in tiles: where they are, and for whom.
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

// What counts may be decided by scores, by these or others.
TEST(Tiles, AreHiddenByOthers) {
  Library library(compile_text(R"(
size B, T, S, E = 8, F = 5
train model own(q: [B, T, E], k: [B, S, E], v: [B, S, F]) -> z {
  r[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  p[b,i,j] = softmax[j where r[b,i,j] > 0] (r[b,i,j])
  z[b,i,f] = sum[j] p[b,i,j] * v[b,j,f]
}
train model other(q: [B, T, E], k: [B, S, E], u: [B, T, E], v: [B, S, F]) -> z {
  r[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  o[b,i,j] = sum[e] u[b,i,e] * k[b,j,e]
  p[b,i,j] = softmax[j where o[b,i,j] > 0 and j <= i + 2] (r[b,i,j])
  z[b,i,f] = sum[j] p[b,i,j] * v[b,j,f]
}
train model summed(q: [B, T, E], k: [B, S, E], u: [B, T, E], v: [B, S, F]) -> z {
  r[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  o[b,i,j] = sum[e] u[b,i,e] * k[b,j,e]
  p[b,i,j] = softmax[j] (r[b,i,j])
  z[b,i,f] = sum[j where o[b,i,j] > 0] p[b,i,j] * v[b,j,f] * o[b,i,j]
}
)"));
  for (const char* name : {"own", "other", "summed"})
    for (int64_t t : {0, 1, 3, 49}) {
      const Sizes s = {{"B", 2}, {"T", t}, {"S", 17}};
      SCOPED_TRACE(name + (" " + text_of(s)));
      expect_agreement(library, name, random_call(library.model(name), s, 3), 2e-5);
    }
}

// One block of rows and one chunk of columns are more than there is.
TEST(Tiles, OfKnownSizes) {
  Library library(compile_text(R"(
size S = 40, T = 431, D = 1
model square(q: [S, D], k: [S, D]) -> all, some {
  s[i: S,j: S] = sum[d: D] q[i,d] * k[j,d]
  all[i,j] = sin(s[i,j])
  some[i,j] = cos(s[i,j]) where j <= i
}
model low(q: [S, D], k: [T, D], v: [T, D], u: [S, D]) -> rows, columns, all {
  s[i: S,j: T] = sum[d: D] q[i,d] * k[j,d]
  rows[i,d] = sum[j] tanh(s[i,j]) * v[j,d]
  columns[j,d] = sum[i] tanh(s[i,j]) * u[i,d]
  all[i,j] = sin(s[i,j])
}
model high(q: [T, D], k: [S, D], v: [S, D]) -> rows, all {
  s[i: T,j: S] = sum[d: D] q[i,d] * k[j,d]
  rows[i,d] = sum[j] softmax[j] (s[i,j]) * v[j,d]
  all[i,j] = sin(s[i,j]) where j <= i and j > i - 5
}
)"));
  // A weighted mean of one feature cancels to a hundredth of its terms, and is off by as much more.
  for (const char* name : {"square", "low", "high"})
    expect_agreement(library, name, random_call(library.model(name), {}, 3), 5e-5);
}

// All that depends on how they are read is known when compiling.
TEST(Tiles, OfKnownPositions) {
  std::vector<driver::Compiled> models = compile_text(R"(
size B
size P = 131, E = 16, H = 2, D = H * E
train model known(x: [B, P, D]) -> y {
  param w: [3 * D, D], place: [P, D]
  f[b,t,c] = sum[d] (x[b,t,d] + place[t,d]) * w[c,d]
  q[b, h: H, t, e: E] = f[b, t, h*E + e]
  k[b, h: H, t, e: E] = f[b, t, D + h*E + e]
  v[b, h: H, t, e: E] = f[b, t, 2*D + h*E + e]
  p[b,h,i,j] = softmax[j] (sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E))
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
  y[b, t, d: D] = z[b, d // E, t, d % E]
}
train model first(q: [B, P, E], k: [B, P, E], v: [B, P, E]) -> y {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
  p[b,i,j] = sigmoid(s[b,i,j]) where j <= i + 1
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
  y[b,e] = z[b,0,e]
}
# The gradient of a bias of all pairs is a sum over the batch alone.
train model pairs(q: [B, H, P, E], k: [B, H, P, E], v: [B, H, P, E]) -> z {
  param bias: [H, P, P]
  s[b,h,i,j] = (sum[e] q[b,h,i,e] * k[b,h,j,e]) / sqrt(E) + bias[h,i,j]
  p[b,h,i,j] = softmax[j] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
}
)");
  EXPECT_TRUE(std::ranges::any_of(models.back().plan->backward->kernels, [](const plan::Kernel& k) {
    return std::holds_alternative<plan::TilesForm>(k.form);
  }));
  Library library(std::move(models));
  for (const char* name : {"known", "first", "pairs"})
    for (int64_t b : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << name << " B=" << b);
      expect_agreement(library, name, random_call(library.model(name), {{"B", b}}, 5), 2e-5);
    }
}

// The gradient of a long table is added up over the batch where its parts are.
TEST(Tiles, OfATableThatIsSummedOverTheBatch) {
  Library library(compile_text(R"(
size B, T
size V = 5000, D = 5
train model tied(token: int[B, T], next: int[B, T]) -> loss {
  param table: [V, D]
  y[b,t,d] = tanh(table[token[b,t], d])
  s[b,t,v] = sum[d] y[b,t,d] * table[v,d]
  loss = sum[b,t] ((logsumexp[v] s[b,t,v]) - s[b, t, next[b,t]])
}
train model hidden(x: [B, T, D], keep: bool[B, T], late: bool[B]) -> z {
  param left: [V, D], right: [V, D]
  s[b,t,v] = sum[d] x[b,t,d] * left[v,d]
  w[b,t,v] = exp(-s[b,t,v]^2)    where keep[b,t] and (v <= 700 + t or late[b])
  z[b,t,d] = sum[v] w[b,t,v] * right[v,d]
}
)"));
  for (const char* name : {"tied", "hidden"})
    for (int64_t b : {0, 1, 3})
      for (int64_t t : {0, 1, 49}) {
        const Sizes s = {{"B", b}, {"T", t}};
        SCOPED_TRACE(name + (" " + text_of(s)));
        Arrays given = random_call(library.model(name), s, 5);
        expect_agreement(library, name, given, 2e-5);
        if (!given.count("keep") || b * t == 0) continue;
        // What is hidden changes nothing.
        given.at("keep").values[0] = 0;
        for (size_t d = 0; d < 5; ++d) given.at("x").values[d] = d % 2 == 0 ? NAN : INFINITY;
        expect_agreement(library, name, given, 2e-5);
      }
}

// The gradient of what each batch, head and line of an image reads.
TEST(Tiles, OfATableThatIsSummedOverSeveralIndices) {
  Library library(compile_text(R"(
size B, R, C, R2, C2, H = 2, E = 5
train model cross(q: [B,H,R,C,E], k: [B,H,R2,C2,E], cost: [R2,C2]) -> m {
  s[b,h,y,x,y2,x2] = sum[e] q[b,h,y,x,e] * k[b,h,y2,x2,e]
  p[b,h,y,x,y2,x2] = softmax[y2,x2] (s[b,h,y,x,y2,x2])
  m[h,y,x] = sum[b,y2,x2] p[b,h,y,x,y2,x2] * cost[y2,x2]
}
)"));
  for (const Sizes& s :
       std::vector<Sizes>{{{"B", 0}, {"R", 2}, {"C", 3}, {"R2", 2}, {"C2", 3}},
                          {{"B", 2}, {"R", 1}, {"C", 1}, {"R2", 1}, {"C2", 1}},
                          {{"B", 2}, {"R", 3}, {"C", 0}, {"R2", 0}, {"C2", 3}},
                          {{"B", 3}, {"R", 5}, {"C", 7}, {"R2", 11}, {"C2", 13}}}) {
    SCOPED_TRACE(text_of(s));
    expect_agreement(library, "cross", random_call(library.model(), s, 5), 2e-5);
  }
}

// Biases of blocks of five columns, of which the last one may be shorter.
TEST(Tiles, AddToDigitsThatDoNotDivideTheColumns) {
  Library library(compile_text(R"(
size B, T, E = 7
train model blocks(q: [B,T,E], k: [B,T,E], of_block: [B,T,40], in_block: [B,T,5]) -> z {
  s[b,i,j] = (sum[e] q[b,i,e] * k[b,j,e]) + of_block[b, i, min(j // 5, 39)] + in_block[b,i,j % 5]
  p[b,i,j] = softmax[j] (s[b,i,j])
  z[b,i,e] = sum[j] p[b,i,j] * k[b,j,e]
}
)"));
  for (int64_t t : {0, 1, 3, 4, 5, 6, 47, 149})
    expect_agreement(library, "blocks", random_call(library.model(), {{"B", 2}, {"T", t}}, 5),
                     2e-5);
}

// Readers sum over less than all of it, or keep less, and pass gradients back to all.
TEST(Tiles, OfDifferentRanges) {
  Library library(compile_text(R"(
size B, T in 2.., D
train model shorter(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> o, p, z {
  s[b,i,j] = sum[d] q[b,i,d] * k[b,j,d]
  o[b,i: T - 1,d] = sum[j: T - 1] exp(-s[b,i,j]^2) * v[b,j,d]
  p[b,j,d: D] = sum[i: T - 1] tanh(s[b,i,j]) * v[b,j,d]
  z[b,i: T - 1] = logsumexp[j] s[b,i + 1,j]
}
train model kept(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> o, z {
  s[b,i,j] = sum[d] q[b,i,d] * k[b,j,d]
  o[b,i: T - 1,d] = sum[j] softmax[j] (s[b,i,j]) * v[b,j,d]
  z[b,i: T - 1] = sum[j: T - 2] sin(s[b,i,j])
}
train model summed(q: [B, T, D], k: [B, T, D], v: [B, T, D]) -> y, z {
  s[b,i,j] = sum[d] q[b,i,d] * k[b,j,d]
  y[b,i] = sum[j] sin(s[b,i,j])
  z[b,j] = sum[i: T - 1] cos(s[b,i,j])
}
)"));
  for (const char* name : {"shorter", "kept", "summed"})
    for (int64_t t : {2, 3, 49, 97}) {
      const Sizes s = {{"B", 2}, {"T", t}, {"D", 4}};
      SCOPED_TRACE(name + (" " + text_of(s)));
      expect_agreement(library, name, random_call(library.model(name), s, 3), 5e-5);
    }
}

// What has its place beyond the end of a gradient's tensor adds nothing to the last element.
TEST(Tiles, LandWhereThereIsAPlace) {
  Library library(compile_text(R"(
size B, T, S, M = 4
train model shifted(q: [B, T, M], k: [B, S, M], a: [T], c: [T, T]) -> z {
  p[b,i: T,j: S] = sigmoid((sum[m] q[b,i,m] * k[b,j,m]) / 4 +
      (if i + 1 < T then a[i + 1] else a[i]) + (if i >= 2 then c[i - 2,i - 2] else 0))
  z[b,i,m: M] = sum[j] p[b,i,j] * k[b,j,m]
}
)"));
  for (int64_t t : {0, 1, 2, 3, 49})
    expect_agreement(library, "shifted",
                     random_call(library.model(), {{"B", 2}, {"T", t}, {"S", 3}}, 3), 2e-5);
}

// Rows that see nothing have no finite weights, and hidden scores may be any size.
TEST(Tiles, HideWeightsBesideTheirPanel) {
  Library library(compile_text(R"(
size B, T, N = 2
train model few(x: [B, T, N], w: [B, T, N]) -> z {
  p[b,i,j: T] = softmax[j where j > 2 and i <= 0] (sum[m] w[b,i,m] * x[b,j,m])
  z[b,i,n] = sum[j where i <= 0] p[b,i,j] * x[b,j,n]
}
model large(x: [B, T, N], w: [B, T, N]) -> z {
  p[b,i,j: T] = exp(1000 * (sum[m] w[b,i,m] * x[b,j,m]))
  z[b,i,n] = sum[j where j < T - 100] p[b,i,j] * x[b,j,n]
}
)"));
  for (int64_t t : {1, 2, 4, 49}) {
    const Sizes sizes = {{"B", 1}, {"T", t}};
    expect_agreement(library, "few", random_call(library.model("few"), sizes, 3), 2e-5);
    const Arrays given = random_call(library.model("large"), sizes, 3);
    const CallOptions forward = {.gradient = false};
    const Outcome o = library.call(given, forward, "large");
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ(library.reference(given, "large", forward), o.values), "");
  }
}

// Memory of the caller is aligned to an element, and kernels add to it: not even where they know
// its extents may they take it for aligned to a vector.
TEST(Tiles, AddToResultsWhereverTheyLie) {
  Library library(compile_text(R"(
size T, S, N = 33
train model added(x: [N], w: [T], u: [S]) -> y {
  y[i: S,j] = sum[k: T] erf(u[i] * w[k] * x[j])
}
)"),
                  2, "x86-64-v2");
  for (int64_t t : {0, 1, 7})
    expect_agreement(library, "added", random_call(library.model(), {{"T", t}, {"S", 3}}, 3), 2e-5);
}

// Where data says what is seen and there is one row, that does not decide how much is packed.
TEST(Tiles, OfOneRowThatDataBounds) {
  Library library(compile_text(R"(
size B, T, S, E, H = 1, F = 40
train model near(q: [B, H, T, E], k: [B, S, E], g: [T, E], v: [B, S, F], length: int[B]) -> z {
  s[b,h,i,j] = sum[e] q[b,h,i,e] * tanh(k[b,j,e] + g[i,e])
  p[b,h,i,j] = sigmoid(s[b,h,i,j]) where j < 20 * length[b] + 1
  z[b,h,i,f] = sum[j] p[b,h,i,j] * v[b,j,f]
}
)"));
  for (int64_t s : {0, 1, 47, 100})
    for (int64_t e : {0, 3, 64})
      expect_agreement(library, "near",
                       random_call(library.model(), {{"B", 2}, {"T", 5}, {"S", s}, {"E", e}}, 3),
                       2e-5);
}

// A condition on rows alone scales their sums by 0.
TEST(Tiles, OfRowsThatAConditionLeavesOut) {
  Library library(compile_text(R"(
size B, T, N
train model some(x: [B, T, N], q: [B, T, 7]) -> z {
  p[i,j,k: T] = (sum[m] q[i,j,m] * q[i,k,m]) / 4 where i <= j
  z[i,j,l: N] = sum[k] p[i,j,k]^2 * x[i,k,l]
}
)"));
  for (int64_t t : {0, 1, 2, 70})
    expect_agreement(library, "some",
                     random_call(library.model(), {{"B", 2}, {"T", t}, {"N", 5}}, 3), 2e-5);
}

// Fewer than threads have places for.
TEST(Tiles, OfFewFeatures) {
  Library library(compile_text(R"(
size B, T
size E = 3
train model few(q: [B, T, E], k: [B, T, E], v: [T, E]) -> z {
  p[b,i,j] = sigmoid(sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,f] = sum[j] p[b,i,j] * v[j,f]
}
)"));
  for (int64_t t : {1, 70})
    expect_agreement(library, "few", random_call(library.model(), {{"B", 2}, {"T", t}}, 3), 2e-5);
}

}  // namespace
}  // namespace attn::testing
