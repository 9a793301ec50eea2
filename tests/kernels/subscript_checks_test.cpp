// Data in a subscript beside an index is checked over all values of the index.
#include <fmt/format.h>
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

// A stored integer has 32 bits: what does not fit is no place that a proof may rely on.
TEST(SubscriptChecks, SeeWhatIsStored) {
  Library library(compile_text(R"(
size N, K, J
model wide(x: [N]) -> y, at {
  at[i: N] = i * 100000
  y[i] = x[at[i] // 100000]
}
model maps(x: [N], n: int[K], c: int[J, K]) -> y {
  s[k] = sum[j] c[j,k]
  m[k] = n[k] + 1
  y[k] = x[m[s[k]]]
}
)",
                               {}, Derive::as_written));
  constexpr CallOptions kForward{.gradient = false};
  for (int64_t n : {0, 1, 20000, 30000}) {
    const Arrays given = random_call(library.model("wide"), {{"N", n}}, 1);
    const Outcome o = library.call(given, kForward, "wide");
    EXPECT_EQ(o.status, n <= 20000 ? ATTN_OK : ATTN_BAD_DATA);
    if (n <= 20000) {
      EXPECT_EQ(differ(library.reference(given, "wide", kForward), o.values, 1e-6), "") << n;
    }
  }
  Arrays given = random_call(library.model("maps"), {{"N", 5}, {"K", 3}, {"J", 2}}, 2);
  given.at("n").values = {3, -1, 0};
  for (const auto& [sums, good] : {std::pair<std::vector<double>, bool>{{0, 1, 1, 1, 0, 1}, true},
                                   {{0, 1, 1, 1, 1, 2}, false},
                                   {{0, -1, 1, 1, 0, 1}, false}}) {
    given.at("c").values = sums;
    const Outcome o = library.call(given, kForward, "maps");
    EXPECT_EQ(o.status, good ? ATTN_OK : ATTN_BAD_DATA) << o.message;
    if (good) {
      EXPECT_EQ(differ(library.reference(given, "maps", kForward), o.values, 1e-6), "");
    }
  }
}

// Conditions that name an index, so that few points of the checked data are seen.
TEST(SubscriptChecks, SeeWhatConditionsOnOneIndexLeave) {
  Library library(compile_text(R"(
size B, T
model first(x: [B, T], n: int[B, T], g: [3, 3]) -> y {
  y[b,i] = sum[j: T where n[b,i] == n[b,j]] (
    if i == 0 and j <= i then g[n[b,i],n[b,j]] * x[b,j] else 0)
}
model third(x: [B, T], n: int[B, T], g: [3, 3]) -> y {
  y[b,i] = sum[j: T where n[b,i] == n[b,j]] (
    if i == j and i == 2 then g[n[b,i],n[b,j]] * x[b,j] else 0)
}
)",
                               {}, Derive::as_written));
  constexpr CallOptions kForward{.gradient = false};
  for (const auto& [name, seen] : {std::pair<const char*, size_t>{"first", 0}, {"third", 2}})
    for (int64_t t : {0, 1, 3, 15, 16, 17, 33, 100}) {
      const auto steps = static_cast<size_t>(t);
      Arrays given = random_call(library.model(name), {{"B", 2}, {"T", t}}, 1);
      std::vector<double>& n = given.at("n").values;
      for (size_t k = 0; k < n.size(); ++k) n[k] = k % steps == seen ? 2 : 7;
      const Outcome o = library.call(given, kForward, name);
      ASSERT_EQ(o.status, ATTN_OK) << name << " T=" << t << ": " << o.message;
      EXPECT_EQ(differ(library.reference(given, name, kForward), o.values, 1e-6), "");
      if (seen >= steps) continue;
      n[steps + seen] = 3;
      EXPECT_EQ(library.call(given, kForward, name).status, ATTN_BAD_DATA) << name << " T=" << t;
    }
}

// A subscript counts where its definition has an element and its conditions hold.
TEST(SubscriptChecks, SeeNothingWhereNothingIsRead) {
  Library library(compile_text(R"(
size S, T
model plain(x: [S], at: int, w: [T]) -> y { y[i] = w[i] + x[at] }
model under_a_condition(x: [S], at: int, w: [T]) -> y {
  y[i] = w[i] + (if at > 3 then x[at] else 0)
}
model at_one_point(x: [S], at: int, w: [T]) -> y {
  y[i] = w[i] * sum[t: T where t == 1] x[at + T - 1 - t]
}
model at_the_end(x: [S], at: int, w: [T]) -> y, z {
  y = x[if at > 3 then at else -2147483647 - 1]
  z[i] = w[i]
}
model stored(at: int, w: [T]) -> y {
  state seen: [S, S]
  seen'[at + t, at] = w[t]
  y[i, j] = seen'[i, j]
}
)",
                               {}, Derive::as_written));
  constexpr CallOptions kForward{.gradient = false};
  int refused = 0, done = 0;
  for (const char* name : {"plain", "under_a_condition", "at_one_point", "at_the_end", "stored"})
    for (int64_t s : {0, 1, 5})
      for (int64_t t : {0, 1, 2, 17})
        for (int64_t at : {-1, 0, 2, 4, 7}) {
          SCOPED_TRACE(fmt::format("{}: S = {}, T = {}, at = {}", name, s, t, at));
          Arrays given = random_call(library.model(name), {{"S", s}, {"T", t}}, 1);
          given.at("at").values = {static_cast<double>(at)};
          const Outcome o = library.call(given, kForward, name);
          Arrays wanted;
          try {
            wanted = library.reference(given, name, kForward);
          } catch (const evaluate::CallError&) {
            EXPECT_EQ(o.status, ATTN_BAD_DATA);
            ++refused;
            continue;
          }
          ASSERT_EQ(o.status, ATTN_OK) << o.message;
          EXPECT_EQ(differ(wanted, o.values, 1e-5), "");
          ++done;
        }
  EXPECT_GT(refused, 80);
  EXPECT_GT(done, 80);
}

}  // namespace
}  // namespace attn::testing
