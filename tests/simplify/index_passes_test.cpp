// Indices that stand for two, and two that are one.
#include "compiler/simplify/passes.h"
#include "lines.h"

namespace attn::testing {
namespace {

using namespace simplify;

TEST(SplitIndices, MakesTwoIndicesOfOneThatIsReadAsTwo) {
  expect_pass(split_indices, R"(
    size T
    input q[3,T,4], k[3,T,4], v[T,12]
    p[h,i,j] = sum[e] q[h,i,e] * k[h,j,e]
    z[i,d: 12] = sum[j] p[d // 4,i,j] * v[j,d]
    output z)",
              {"p[h,i,j] = sum[e] q[h,i,e] * k[h,j,e]",
               "z.split[i,h: 3,e: 4] = sum[j] p[h,i,j] * v[j,4*h + e]",
               "z[i,d] = z.split[i,d // 4,d % 4]"});
  expect_pass(split_indices, R"(
    size T
    input z[3,4,T], w[12]
    y[t] = sum[n: 12] z[n // 4,n % 4,t] * w[n]
    output y)",
              {"y[t] = sum[h: 3,e: 4] z[h,e,t] * w[4*h + e]"});
}

TEST(SplitIndices, LeavesOutWhatTheValueDoesNotDependOn) {
  expect_pass(split_indices, R"(
    size T
    input a[3,T]
    y[d: 12] = sum[j] a[d // 4,j]
    output y)",
              {"y.split[h: 3] = sum[j] a[h,j]", "y[d: 12] = y.split[d // 4]"});
}

TEST(SplitIndices, KeepsAnIndexThatMoreReadsHaveAsOne) {
  expect_pass(split_indices, R"(
    size T
    input q[12,T], k[12,T], bias[6]
    y[t] = sum[n: 12] q[n,t] * k[n,t] * bias[n // 2]
    output y)",
              {"y[t] = sum[n: 12] q[n,t] * k[n,t] * bias[n // 2]"});
}

TEST(SplitIndices, KeepsAnIndexThatCountsElements) {
  expect_pass(split_indices, R"(
    size R, C, T
    input q[R,C,4], k[T,4], v[T]
    s[n: R*C,j] = sum[e] q[n // C,n % C,e] * k[j,e]
    z[n] = sum[j] s[n,j] * v[j]
    output z)",
              {"s[n: R * C,j] = sum[e] q[n // C,n % C,e] * k[j,e]", "z[n] = sum[j] s[n,j] * v[j]"});
  // Of a stripe of an image.
  expect_pass(split_indices, R"(
    size R, N, T
    input q[R,7*N,4], k[N,T,4], v[T]
    s[w: N,n: 7*R,j] = sum[e] q[n // 7,7*w + n % 7,e] * k[w,j,e]
    z[w,n] = sum[j] s[w,n,j] * v[j]
    output z)",
              {"s[w,n: 7 * R,j] = sum[e] q[n // 7,7*w + n % 7,e] * k[w,j,e]",
               "z[w,n] = sum[j] s[w,n,j] * v[j]"});
}

TEST(JoinIndices, TakesPositionsThatAreSummedTogetherForOne) {
  expect_pass(join_indices, R"(
    size B, R, C
    input q[B,R,C,4], k[B,R,C,4], v[B,R,C]
    s[b,r,c,y,x] = sum[e] q[b,r,c,e] * k[b,y,x,e]
    l[b,r,c] = logsumexp[y,x where y <= r] s[b,r,c,y,x]
    z[b,r,c] = sum[y,x where y <= r] exp(s[b,r,c,y,x] - l[b,r,c]) * v[b,y,x] / (1 + y)
    y[b,r,c] = z[b,r,R - 1 - c] + l[b,r,c]
    output y, l)",
              {"s.joined.2[b,rc: R * C,yx: R * C] = "
               "sum[e] q[b,rc // C,rc % C,e] * k[b,yx // C,yx % C,e]",
               "l.joined[b,rc] = logsumexp[yx where yx // C <= rc // C] s.joined.2[b,rc,yx]",
               "l[b,r: R,c: C] = l.joined[b,C*r + c]",
               "z.joined[b,rc] = sum[yx where yx // C <= rc // C] v[b,yx // C,yx % C] * "
               "exp(s.joined.2[b,rc,yx] - l.joined[b,rc]) / (yx // C + 1)",
               "y[b,r: R,c: C] = l.joined[b,C*r + c] + z.joined[b,C*r - c + R - 1]"});
}

TEST(JoinIndices, GivesTheJoinedIndexANameOfItsOwn) {
  expect_pass(join_indices, R"(
    size T, R, C
    input q[T,4], k[R,C,4]
    s[i,y,x] = sum[yx] q[i,yx] * k[y,x,yx]
    l[i] = logsumexp[y,x] s[i,y,x]
    output l)",
              {"s.joined[i,yx2: R * C] = sum[yx] q[i,yx] * k[yx2 // C,yx2 % C,yx]",
               "l[i] = logsumexp[yx] s.joined[i,yx]"});
}

// Sums over heads can be stored for each head; and a softmax over batch and positions is of indices
// of both factors.
TEST(JoinIndices, KeepsIndicesThatStreamApart) {
  for (const char* text : {R"(
    size B, H, T
    input q[B,H,T,4], k[B,T,4], v[B,T,4]
    s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,j,e]
    l[b,h,i] = logsumexp[j] s[b,h,i,j]
    z[b,h,i,e] = sum[j] exp(s[b,h,i,j] - l[b,h,i]) * v[b,j,e]
    used[b,j] = sum[h,i] exp(s[b,h,i,j] - l[b,h,i])
    total = sum[b,h,i,j] s[b,h,i,j]^2
    output z, used, total)",
                           R"(
    size B, T
    input q[B,T,4], k[B,T,4]
    s[i,b,j] = sum[e] q[b,i,e] * k[b,j,e]
    l[i] = logsumexp[b,j] s[i,b,j]
    output l)"}) {
    const ir::Graph g = build_graph(text);
    EXPECT_TRUE(join_indices(g).definitions == g.definitions) << text;
  }
}

}  // namespace
}  // namespace attn::testing
