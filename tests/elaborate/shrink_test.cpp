// Shrinking leaves what a failure needs, and nothing else.
#include "tests/support/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "elaborated.h"

namespace attn::testing {
namespace {

constexpr const char* kProgram = R"(
use std.norm

size B, T, N = 8
fn bump(x, c) = x * exp(-(x - c)^2)

block layer(x: [..., N]) -> y {
  param w: [N, N]
  y[..., n] = tanh(sum[m] x[..., m] * w[n,m])
}

train model big(x: bf16[B, T, N], keep: bool[T]) -> y, product, total {
  param w: [N], c: [N]
  a = layer(x)
  b[b0: B, t, n] = (if t > 1 then a[b0,t,n] else 0.5) + bump(w[n], 0.25) * x[b0,t,n]
  product[t] = 1 + 2 * (prod[n where keep[t] and n > t] (c[n] + w[n]))
  y[b0,t,n] = softmax[n where n < 3] (b[b0,t,n])
  total = sum[b0: B, t, n] y[b0,t,n]^2
}
)";

// A product under a condition, in a program whose result `product` is.
bool has_conditional_product(const RandomProgram& program) {
  const auto e = elaborate_text(program.text);
  if (e->diagnostics.has_errors() || e->program.models.empty()) return false;
  const ir::Graph& g = e->graph();
  const auto is_product = [](const ir::Definition& d) {
    return d.combine == ir::Combine::prod && !d.guard.empty();
  };
  return std::any_of(g.definitions.begin(), g.definitions.end(), is_product) &&
         std::any_of(g.outputs.begin(), g.outputs.end(),
                     [](const ir::Output& o) { return o.name == "product"; });
}

TEST(Shrink, LeavesWhatTheFailureNeeds) {
  const RandomProgram small =
      shrink({.text = kProgram, .calls = {{{"B", 2}, {"T", 5}}}}, has_conditional_product);
  EXPECT_EQ(small.text, R"(size T, N = 1

train model big(keep: bool[T]) -> product {
  param c: [N]
  product[t] = prod[n where keep[t]] c[n]
}
)");
  EXPECT_EQ(small.calls[0], (std::map<std::string, int64_t>{{"B", 0}, {"T", 0}}));
}

// A failure of one call at its sizes, whatever the program says.
TEST(Shrink, LowersSizesAndKeepsOneCall) {
  const RandomProgram small =
      shrink({.text = kProgram, .calls = {{{"B", 1}, {"T", 2}}, {{"B", 9}, {"T", 40}}}},
             [](const RandomProgram& program) {
               if (elaborate_text(program.text)->diagnostics.has_errors()) return false;
               return std::any_of(program.calls.begin(), program.calls.end(),
                                  [](const auto& call) { return call.at("T") > 16; });
             });
  ASSERT_EQ(small.calls.size(), 1u);
  EXPECT_EQ(small.calls[0], (std::map<std::string, int64_t>{{"B", 0}, {"T", 17}}));
}

// Of many programs that are tried, no more than are asked for.
TEST(Shrink, StopsAfterSoManyTries) {
  int tries = 0;
  shrink(
      {.text = kProgram},
      [&](const RandomProgram&) {
        ++tries;
        return false;
      },
      7);
  EXPECT_EQ(tries, 8);  // the printed program itself, and seven smaller ones
}

}  // namespace
}  // namespace attn::testing
