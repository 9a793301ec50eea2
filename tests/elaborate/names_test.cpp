// Names that mean two things told apart by their use, and sizes that belong to a block.
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

void expect_silence(const std::string& source) {
  const auto e = elaborate_text(source);
  ASSERT_FALSE(e->diagnostics.has_errors()) << e->messages() << "in\n" << source;
  EXPECT_EQ(round_trip(e->graph()), "");
}

// One block for attention to the own sequence, to another, and backwards, in a file with its sizes.
TEST(Names, OfSizesOfABlockAreBoundByEachCall) {
  const auto e = elaborate_text(R"(
size B, T, S, D = 64
block attention(x: [B, T, D], c: [B, S, D]) -> y {
  s[b,i,j] = (sum[d] x[b,i,d] * c[b,j,d]) / sqrt(D)
  p[b,i,j] = softmax[j] (s[b,i,j])
  y[b,i,d] = (sum[j] p[b,i,j] * c[b,j,d]) + 0 * T
}
model decoder(x: [B, T, D], m: [B, S, D], n: [B, S, 16]) -> own, cross, back, narrow {
  own = attention(x, x)
  cross = attention(own, m)
  back = attention(m, cross)
  narrow = attention(n, n)
}
)");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph& g = e->graph();
  const auto extent = [&](const char* tensor, size_t k) {
    return g.known(g[*g.find(tensor)].extents[k]).value_or(-1);
  };
  const auto first = [&](const char* tensor) { return g[*g.find(tensor)].extents[1]; };
  EXPECT_EQ(first("own"), first("x"));
  EXPECT_EQ(first("cross"), first("x"));
  EXPECT_EQ(first("back"), first("m"));
  EXPECT_EQ(extent("own", 2), 64);
  EXPECT_EQ(extent("narrow", 2), 16);
  EXPECT_NE(e->text().find("sum[d] 0.25 * n"), std::string::npos) << e->text();
}

TEST(Names, OfSizesOfABlockAreNeededOnlyWhereTheyDiffer) {
  expect_silence(R"(
size B, T, D = 64, H = 8, E = D / H
block heads(x: [B, T, D]) -> y {
  param w: [H, E, D]
  y[b,h,i,e] = sum[d] x[b,i,d] * w[h,e,d]
}
model f(x: [B, T, 64]) -> y {
  y = heads(x)
}
)");
}

TEST(Names, OfTensorsMayBeThoseOfSizes) {
  expect_silence(R"(
size B, T, D = 4
block twice(T: [B, D]) -> y {
  y[b,d] = 2 * T[b,d] / D
}
model f(T: [B, T, D], B: int[B]) -> D, y {
  param H: [D, D]
  D[b,i,d] = (sum[e] T[b,i,e] * H[d,e]) / T + D
  last[b,d] = D[b, max(0, min(B[b], T - 1)), d] where T > 0
  y = twice(last)
}
)");
}

TEST(Names, OfIndicesMayBeThoseOfTensors) {
  expect_silence(R"(
size B, T, D = 4
model f(q: [B, T, D], k: [B, T, D], t: [T]) -> y {
  s[b,q,k] = sum[d] q[b,q,d] * k[b,k,d]
  p[b,q,k] = softmax[k where k <= q] (s[b,q,k])
  scan t: T {
    h[t] = h[t-1] + t[t] from 0
  }
  y[b,q,d] = (sum[k] p[b,q,k] * k[b,k,d]) + h[q]
}
)");
}

// By their definitions, and not by the values that they have.
TEST(Names, TellSizesApart) {
  const auto refused = [](const std::string& sizes, const std::string& read,
                          const elaborate::Overrides& overrides = {}) {
    const auto e = elaborate_text(sizes + "\nsize B\nmodel m(x: [B, D], w: [" + read +
                                      "]) -> y {\n  y[b] = sum[d] x[b, d] * w[d]\n}\n",
                                  overrides);
    return e->diagnostics.has_errors() ? e->messages() : "";
  };
  EXPECT_EQ(refused("size D = 64\nsize H = 8\nsize E = D / H", "H*E"), "");
  EXPECT_EQ(refused("size D = 64\nsize H = 8\nsize E = D / H", "H*E", {{"E", 8}}), "");
  EXPECT_EQ(refused("size H = 8\nsize E = 8\nsize D = H * E", "E*H"), "");
  EXPECT_EQ(refused("size S = 8\nsize D = S", "S"), "");
  EXPECT_EQ(refused("size S = 8\nsize D = S", "8"), "");
  EXPECT_EQ(refused("size S\nsize F = S - 1\nsize D = F + 1", "S"), "");
  EXPECT_NE(refused("size D = 64\nsize H = 8\nsize E = D / H", "8*H").find("which are both 64"),
            std::string::npos);
  EXPECT_NE(refused("size D = 8\nsize H = 8", "H").find("which are both 8 here"),
            std::string::npos);
  EXPECT_NE(refused("size D = 8\nsize H", "H", {{"H", 8}}).find("which are both 8 here"),
            std::string::npos);
}

// Also sums of sizes, in whatever order those were met.
TEST(Names, TellSumsOfSizesApart) {
  const auto e = elaborate_text(R"(
size A = 1, C = 2, G = 3, F = 4
model m(z: [A, C, G, F], x: [A + F], w: [C + G]) -> y {
  y = (sum[a,c,g,f] z[a,c,g,f]) + (sum[k] x[k] * w[k])
}
)");
  EXPECT_NE(e->messages().find("index `k` runs over A + F and over C + G, which are both 5 here"),
            std::string::npos)
      << e->messages();
}

// Those of a block too, whether a call gives them as numbers or the block computes them.
TEST(Names, TellSizesOfABlockApart) {
  const auto messages = [](const std::string& head, const std::string& local,
                           const std::string& call, const std::string& swapped = "e,h") {
    return elaborate_text("size B, T, D = 64, H = 8, G = 8\nblock heads(x: [..., D], " + head +
                          ") -> y {\n" + local +
                          "  param w: [H, E, D], v: [H, E, D]\n"
                          "  q[..., h, e] = sum[d] x[..., d] * w[h, e, d]\n"
                          "  y[..., d] = sum[h, e] q[..., h, e] * v[" +
                          swapped + ", d]\n}\nmodel m(x: [B, T, D]) -> y {\n  y = heads(x, " +
                          call + ")\n}\n")
        ->messages();
  };
  const std::string head = "size H, size E = D / H";
  for (const char* call : {"H = H", "H = 8", "H = D / 8", "H = H, E = 8"})
    EXPECT_NE(messages(head, "", call).find("index `e` runs over E and over H"), std::string::npos)
        << call << messages(head, "", call);
  EXPECT_NE(messages(head, "", "H = G").find("index `e` runs over E and over G"),
            std::string::npos);
  EXPECT_NE(
      messages("size H, size E", "", "H = 8, E = 8").find("runs over E and over H, which are"),
      std::string::npos);
  EXPECT_NE(messages("size H", "  size E = D / H\n", "H = H").find("runs over E and over H"),
            std::string::npos);
  for (const char* call : {"H = H", "H = 8", "H = G", "H = D / 8", "H = H, E = 8"})
    EXPECT_EQ(messages(head, "", call, "h,e"), "") << call;
}

// A block's result is over what the caller gave: a number is equal to any size of its value.
TEST(Names, OfSizesOfABlockAreItsOwn) {
  expect_silence(R"(
size B, T, D = 64, H = 8, E = D / H
block linear(x: [..., D], size F) -> y {
  param w: [F, D]
  y[..., f] = sum[d] x[..., d] * w[f, d]
}
block product(x: [..., D], z: [..., D], size D) -> y {
  param w: [D]
  y[..., d] = x[..., d] * w[d] + z[..., d]
}
block split(x: [..., D], size H, size E = D / H) -> y {
  param w: [H, E, D]
  y[..., h, e] = sum[d] x[..., d] * w[h, e, d]
}
block join(x: [..., H, E], size D = H * E) -> y {
  param w: [D, H, E]
  y[..., d] = sum[h, e] x[..., h, e] * w[d, h, e]
}
model m(x: [B, T, D], z: [B, T, 64], g: [H, E]) -> y, j {
  f = linear(x, F = 64)
  p = product(x, z, D = 64)
  s = split(x, H = H)
  n = split(f, H = 8)
  a[b,t,h,e] = s[b,t,h,e] * g[h,e] + n[b,t,h,e]
  j = join(a)
  y[b,t,d] = x[b,t,d] + f[b,t,d] * p[b,t,d]
}
)");
}

// The rounds of a `repeat` have one size of each name, and the file's sizes fit a block's numbers.
TEST(Names, OfSizesOfABlockAreThoseOfAllRoundsAndOfTheFile) {
  expect_silence(R"(
size B, T, D = 64, H = 8, E = D / H
block rounds(x: [B, T, D], size H = 8) -> y {
  param w: [H * E, D], u: [D]
  q[b,i,d] = x[b,i,d] * (sum[k] w[k,d] * u[k])
  repeat l: 2 {
    size K = 16
    param v: [K, D], o: [D, K]
    h[b,i,k] = sum[d] q[b,i,d] * v[k,d]
    q[b,i,d] = q[b,i,d] + sum[k] h[b,i,k] * o[d,k]
  }
  y[b,i,d] = q[b,i,d] * u[d]
}
model m(x: [B, T, 64]) -> y {
  y = rounds(x)
}
)");
}

// What compiles and is hardly meant.
TEST(Names, OfHiddenElementsAndEmptySizesAreWarnedOf) {
  const auto messages = [](const std::string& text) { return elaborate_text(text)->messages(); };
  const std::string head = "size T\nmodel m(s: [T, T]) -> p {\n  p[i, j] = ";
  const std::string hidden = "what this number hides from `softmax` is computed all the same";
  for (const char* score :
       {"if j <= i then s[i, j] else -1e9", "s[i, j] + (if j <= i then 0 else -30000)",
        "if j > i then -1e30 else s[i, j]"})
    EXPECT_NE(messages(head + "softmax[j] (" + score + ")\n}\n").find(hidden), std::string::npos)
        << score;
  for (const char* score : {"if j <= i then s[i, j] else -10", "if j <= i then s[i, j] else 1e9"})
    EXPECT_EQ(messages(head + "softmax[j] (" + score + ")\n}\n"), "") << score;
  EXPECT_EQ(messages(head + "softmax[j where j <= i] (s[i, j])\n}\n"), "");
  EXPECT_NE(messages("size D = 0\nmodel m(x: [D]) -> y {\n  y = sum[i] x[i]\n}\n")
                .find("size `D` is 0: all that runs over it is empty"),
            std::string::npos);
}

}  // namespace
}  // namespace attn::testing
