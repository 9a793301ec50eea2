// Definitions that are equal up to the names of their indices have one key.
#include "compiler/ir/key.h"

#include <gtest/gtest.h>

#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

// Keys of the definitions of a text, whose last is compared with those before.
std::vector<ir::Key> keys(const std::string& definitions) {
  const ir::Graph g = build_graph("size T, E; input x[T,E], w[E,E], u[T]; " + definitions);
  std::vector<ir::Key> result;
  for (const ir::Definition& d : g.definitions) result.push_back(ir::key(g, d));
  return result;
}

TEST(Key, LeavesOutNamesAndTheOrderOfReducedIndices) {
  const auto k = keys(
      "a[i] = sum[d, e where d <= e] x[i,d] * w[d,e]; "
      "b[t] = sum[n, m where m <= n] w[m,n] * x[t,m]; output a, b");
  EXPECT_EQ(k.at(0), k.at(1));
}

TEST(Key, KeepsWhatIsComputed) {
  const auto k = keys(
      "a[i] = sum[d, e where d <= e] x[i,d] * w[d,e]; "
      "b[i] = sum[d, e where e <= d] x[i,d] * w[d,e]; "
      "c[i] = max[d, e where d <= e] x[i,d] * w[d,e]; "
      "d[i] = sum[d, e where d <= e] x[i,e] * w[d,e]; "
      "e[i] = sum[d, e where d <= e] u[i] * w[d,e]; "
      "f[i,d] = sum[e where d <= e] x[i,d] * w[d,e]; output a, b, c, d, e, f");
  for (size_t a = 0; a < k.size(); ++a)
    for (size_t b = 0; b < a; ++b) EXPECT_NE(k[a], k[b]) << a << " and " << b;
}

TEST(Key, KeepsTheOrderOfFreeIndices) {
  const auto k = keys("a[i,j] = u[i] - u[j]; b[i,j] = u[j] - u[i]; output a, b");
  EXPECT_NE(k.at(0), k.at(1));
}

TEST(Definition, IsTheSameWhereverItWasWritten) {
  const ir::Graph g = build_graph("size T; input u[T]; a[i] = 2 * u[i]; output a");
  ir::Definition d = g.definitions.at(0);
  d.where.begin += 7;
  EXPECT_EQ(d, g.definitions[0]);
  d.body = d.body + 1;
  EXPECT_NE(d, g.definitions[0]);
}

}  // namespace
}  // namespace attn::testing
