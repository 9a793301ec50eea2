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

}  // namespace
}  // namespace attn::testing
