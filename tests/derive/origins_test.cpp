// What derive records of where each line of a gradient comes from.
#include <gtest/gtest.h>

#include "compiler/derive/derive.h"
#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

// "held_by: of through", one line each.
std::string origins_of(const std::string& text) {
  Diagnostics diagnostics;
  std::vector<derive::Origin> origins;
  const ir::Graph g = derive::gradient(build_graph(text), diagnostics, {}, &origins);
  EXPECT_FALSE(diagnostics.has_errors());
  std::string result;
  for (const derive::Origin& o : origins) {
    EXPECT_NE(g.definition_of(o.held_by), nullptr);
    result += g[o.held_by].name + ": " + g[o.of].name + " " +
              (o.through.valid() ? g[o.through].name : "given") + "\n";
  }
  return result;
}

TEST(Origins, NameTheDefinitionThatHandsDownAndTheOneThatHolds) {
  EXPECT_EQ(origins_of("size T; input x[T]; param w; s[i] = x[i] * w; y = sum[i] s[i]; output y"),
            "ds: s y\n"
            "dx: x s\n"
            "dw: w s\n");
}

TEST(Origins, ReductionsOfOneCotangentAreHeldByItsParts) {
  EXPECT_EQ(origins_of("size T, U; input x[T]; param a[T,U], b[T,U]; y[j] = sum[i] x[i] * a[i,j]; "
                       "z[j] = sum[i] x[i] * b[i,j]; w[i] = 2 * x[i]; output y, z, w"),
            "dx: x w\n"
            "dx.1: x z\n"
            "dx.2: x y\n"
            "da: a y\n"
            "db: b z\n");
}

TEST(Origins, AnOutputThatIsReadIsGivenToo) {
  EXPECT_EQ(origins_of("size T; input x[T]; y[i] = x[i]^2; z = sum[i] y[i]; output y, z"),
            "dy.total: y given\n"
            "dy.total: y z\n"
            "dx: x y\n");
}

}  // namespace
}  // namespace attn::testing
