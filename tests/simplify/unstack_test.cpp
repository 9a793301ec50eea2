// Tensors that are read at fixed positions of an axis.
#include "compiler/simplify/passes.h"
#include "lines.h"
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

using simplify::unstack;

// The graph of the text, whose size T is at least `least`.
ir::Graph graph_of(const char* text, int64_t least) {
  ir::Graph g = build_graph(text);
  g[*g.find_size("T")].lower = least;
  return g;
}

TEST(Unstack, TakesScoresApartThatAreReadAtFixedPlaces) {
  expect_pass(unstack, R"(
    size T, H
    input q[2 * H,T,4], v[T], m[H]
    s[g,i,j] = sum[e] q[g,i,e] * q[g,j,e]
    l[g,i] = logsumexp[j] s[g,i,j]
    z[h: H,i] = sum[j] (exp(s[2*h,i,j] - l[2*h,i]) - m[h] * exp(s[2*h + 1,i,j] - l[2*h + 1,i])) * v[j]
    output z)",
              {"s.0[h: H,i,j] = sum[e] q[2*h,i,e] * q[2*h,j,e]",
               "s.1[h: H,i,j] = sum[e] q[2*h + 1,i,e] * q[2*h + 1,j,e]",
               "l.0[h,i] = logsumexp[j] s.0[h,i,j]", "l.1[h,i] = logsumexp[j] s.1[h,i,j]",
               "z[h,i] = sum[j] (exp(s.0[h,i,j] - l.0[h,i]) - "
               "m[h] * exp(s.1[h,i,j] - l.1[h,i])) * v[j]"});
}

TEST(Unstack, LeavesWhatIsReadAsAWhole) {
  const ir::Graph g = build_graph(R"(
    size T
    input q[2,T,4], v[T]
    s[g,i,j] = sum[e] q[g,i,e] * q[g,j,e]
    z[i] = sum[j] s[1,i,j] * v[j]
    y[g,j] = sum[i] s[g,i,j]
    output z, y)");
  EXPECT_EQ(unstack(g).definitions.size(), g.definitions.size());
}

void expect_unstacked(const char* text, const Lines& after) {
  SCOPED_TRACE(text);
  const ir::Graph g = unstack(graph_of(text, 1));
  ir::verify(g, "the pass under test");
  expect_lines(g, after);
}

void expect_unchanged(const char* text, int64_t least = 2) {
  SCOPED_TRACE(text);
  const ir::Graph g = graph_of(text, least);
  const ir::Graph after = unstack(g);
  EXPECT_TRUE(after.definitions == g.definitions) << listing(after);
}

// What is read at one position has no axis there, and so has what it alone reads.
TEST(Unstack, ComputesOnePositionWhereOneIsRead) {
  expect_unstacked(R"(
    size B, T, D
    input x[B,T,D], w[D,D]
    h[b,t,e] = sum[d] x[b,t,d] * w[d,e]
    r[b,t,d] = x[b,t,d] + tanh(h[b,t,d])
    m[b,t] = sum[d] r[b,t,d]
    y[b,d] = r[b,0,d] - m[b,0]
    output y)",
                   {"h.0[b,e] = sum[d] x[b,0,d] * w[d,e]", "r.0[b,d] = x[b,0,d] + tanh(h.0[b,d])",
                    "m.0[b] = sum[d] r.0[b,d]", "y[b,d] = r.0[b,d] - m.0[b]"});
  expect_unstacked(R"(
    size T, D
    input x[T,D], w[D,D]
    h[t,e] = sum[d] x[t,d] * w[d,e] where t > 0
    y[e] = h[T - 1, e]
    output y)",
                   {"h.at[e] = sum[d] x[T - 1, d] * w[d,e] where T > 1", "y[e] = h.at[e]"});
}

// The first of T rows of attention, over as many columns as `columns` says.
std::string first_row_of_attention(const std::string& columns) {
  return "size T, S\ninput q[T,4], k[" + columns + ",4], v[" + columns + R"(,4]
    int length[]
    s[i,j] = sum[e] q[i,e] * k[j,e]
    l[i] = logsumexp[j where j < length] s[i,j]
    p[i,j] = exp(s[i,j] - l[i]) where j < length
    z[i,e] = sum[j where j < length] p[i,j] * v[j,e]
    y[e] = z[0,e]
    output y)";
}

// One row of attention is no tile, and sums over all columns. As many as it has rows is less than
// all rows; the columns of a cache are many beside one row.
TEST(Unstack, ComputesOneRowOfAttention) {
  expect_unstacked(first_row_of_attention("T").c_str(),
                   {"s.0[j] = sum[e] q[0,e] * k[j,e]", "l.0 = logsumexp[j where j < length] s.0[j]",
                    "p.0[j] = exp(s.0[j] - l.0) where j < length",
                    "z.0[e] = sum[j where j < length] p.0[j] * v[j,e]", "y[e] = z.0[e]"});
  expect_unchanged(first_row_of_attention("S").c_str());
}

TEST(Unstack, LeavesPositionsThatMayNotBeThereOrAreSeveral) {
  // There may be no first.
  expect_unchanged(R"(
    size T, D
    input x[T,D], n[D]
    r[t,d] = x[t,d] * n[d]
    y[d] = r[0,d] where T > 0
    output y)",
                   0);
  expect_unchanged(R"(
    size T, D
    input x[T,D], n[D]
    r[t,d] = x[t,d] * n[d]
    y[d] = r[0,d] + r[1,d]
    output y)");
  // An output, and what it is made of, is asked for as a whole.
  expect_unchanged(R"(
    size T, D
    input x[T,D], n[D]
    r[t,d] = x[t,d] * n[d]
    y[d] = r[0,d]
    output y, r)");
  // The position that data says is another for each row.
  expect_unchanged(R"(
    size B, T
    input x[B,T], n[T]
    int last[B]
    r[b,t] = x[b,t] * n[t]
    y[b] = r[b, last[b]]
    output y)");
}

// A recurrence goes through all of its steps; what is made of the last alone is made once.
TEST(Unstack, LeavesRecurrences) {
  const auto e = elaborate_text(R"(
size B, T in 1.., N = 4
model m(x: [B, T, N]) -> y {
  param w: [N, N], v: [N, N]
  scan t: T {
    h[b,t,m] = tanh(x[b,t,m] + (sum[k] h[b,t-1,k] * w[m,k])) from 0
  }
  o[b,t,n] = sum[m] h[b,t,m] * v[n,m]
  y[b,n] = o[b, T - 1, n]
})");
  ASSERT_EQ(e->program.models.size(), 1u) << e->messages();
  const ir::Graph g = unstack(e->graph());
  ir::verify(g, "the pass under test");
  EXPECT_EQ(g[*g.find("h")].extents.size(), 3u);
  expect_line(g, "o.at[b,n] = sum[m] h[b, T - 1, m] * v[n,m]");
}

}  // namespace
}  // namespace attn::testing
