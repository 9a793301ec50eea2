// Data in a subscript beside an index is checked over all values of the index.
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

TEST(SubscriptChecks, SeeEveryValueOfAnIndex) {
  Library library(compile_text(R"(
size B, T, S
model at(x: [S], from: int[B], w: [T]) -> y { y[b, t: T] = x[from[b] + t] * w[t] }
model back(x: [S], from: int[B], w: [T]) -> y { y[b, t: T] = x[from[b] - t] * w[t] }
model most(n: int[B], w: [T]) -> y, z {
  y = max[b, t: T] (n[b] + t)
  z = min[b, t: T] (n[b] - t)
  u[t] = w[t]
}
)",
                               {}, Derive::as_written));
  constexpr CallOptions kForward{.gradient = false};
  for (int64_t t : {1, 2, 9, 40})
    for (int64_t from = -3; from < 50; ++from) {
      Arrays given = random_call(library.model("at"), {{"B", 2}, {"T", t}, {"S", 41}}, 1);
      given.at("from").values = {41.0 - static_cast<double>(t), static_cast<double>(from)};
      const bool good = from >= 0 && from + t <= 41;
      EXPECT_EQ(library.call(given, kForward, "at").status, good ? ATTN_OK : ATTN_BAD_DATA)
          << t << " from " << from;
      given = random_call(library.model("back"), {{"B", 2}, {"T", t}, {"S", 41}}, 1);
      given.at("from").values = {40, static_cast<double>(from)};
      EXPECT_EQ(library.call(given, kForward, "back").status,
                from < 41 && from - t + 1 >= 0 ? ATTN_OK : ATTN_BAD_DATA)
          << t << " back from " << from;
      given = random_call(library.model("most"), {{"B", 2}, {"T", t}}, 1);
      given.at("n").values = {-2147483000.0 + static_cast<double>(t), static_cast<double>(-from)};
      const Outcome o = library.call(given, kForward, "most");
      EXPECT_EQ(differ(library.reference(given, "most", kForward), o.values, 0), "");
    }
}

}  // namespace
}  // namespace attn::testing
