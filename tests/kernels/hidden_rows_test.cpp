// Sums of products of which data hides rows, or terms, as the padding of texts, or of which a
// number does: kernels leave them out, and give what the evaluator gives.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "agreement.h"
#include "compiler/lower/forms/shown_members.h"

namespace attn::testing {
namespace {

constexpr const char* kModels = R"(
size B, T, D, F, X in 1..
# Forward by rows; backward rows and terms. What a gradient reads is stored beside a result.
train model texts(x: [B, T, D], length: int[B]) -> loss {
  param up: [F, D], bias: [F], down: [D, F]
  h[b,t,f] = tanh(sum[d] x[b,t,d] * up[f,d] + bias[f])
  y[b,t,d] = x[b,t,d] + sum[f] h[b,t,f] * down[d,f]
  loss = sum[b, t, d where t < length[b]] y[b,t,d]^2
}
# Any of the rows, and a factor of each text's own.
train model masked(x: [B, T, D], own: [B, F, D], keep: int[B, T]) -> y {
  y[b,t,f] = if keep[b,t] != 0 then sum[d] x[b,t,d] * own[b,f,d] else 0
}
# A matrix for each row that is seen.
train model experts(x: [T, D], expert: int[T], keep: int[T]) -> y {
  param each: [X, F, D]
  y[t,f] = if keep[t] != 0 then sum[d] x[t,d] * each[expert[t], f, d] else 0
}
# Rows of which another result is seen everywhere.
train model seen(x: [T, D], keep: int[T]) -> y, z {
  param w: [F, D]
  s[t,f] = sum[d] x[t,d] * w[f,d]
  y[t,f] = if keep[t] != 0 then s[t,f]^2 else 0
  z[t] = max[f] s[t,f]
}
)";

// How many kernels of a model may leave out rows, or terms.
size_t leave_out(const driver::Compiled& m, bool rows) {
  size_t count = 0;
  for (const plan::Function* f : plan::functions(*m.plan))
    for (const plan::Kernel& k : f->kernels)
      if (const auto* c = std::get_if<plan::ContractionForm>(&k.form)) {
        const auto shown = lower::shown_members(f->graph, target::costs(target::Arch::x86_64), *c);
        count += shown && shown->of_rows == rows;
      }
  return count;
}

// Of rows, and of terms.
const std::map<std::string, std::pair<size_t, size_t>> kLeaveOut = {
    {"texts", {4, 2}}, {"masked", {2, 1}}, {"experts", {2, 1}}, {"seen", {0, 0}}};

Library& hidden() {
  static std::vector<driver::Compiled> models = compile_text(kModels);
  static const bool counted = [] {
    for (const driver::Compiled& m : models)
      EXPECT_EQ(std::pair(leave_out(m, true), leave_out(m, false)), kLeaveOut.at(m.name)) << m.name;
    return true;
  }();
  static Library library(std::move(models));
  EXPECT_TRUE(counted);
  return library;
}

enum class Hidden { some, all, none };

// Lengths beyond the texts are no other than whole texts.
Arrays call_of(const std::string& model, const Sizes& sizes, Hidden how) {
  const auto seed = static_cast<uint64_t>(sizes.at("T") + 31 * sizes.at("D"));
  Arrays given = random_call(hidden().model(model), sizes, seed, sizes.at("X"));
  std::mt19937_64 random(seed);
  const auto draw = [&](const std::string& name, int64_t least, int64_t most) {
    if (!given.count(name)) return;
    for (double& v : given.at(name).values)
      v = static_cast<double>(
          how == Hidden::all ? least
          : how == Hidden::none
              ? most
              : least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1)));
  };
  draw("length", 0, sizes.at("T") + 1);
  draw("keep", 0, 1);
  return given;
}

TEST(HiddenRows, AreZeroAndNothingElseChanges) {
  for (const char* name : {"texts", "masked", "experts", "seen"})
    for (int64_t t : {0, 1, 3, 13, 48, 97})
      for (Hidden how : {Hidden::some, Hidden::all, Hidden::none}) {
        const Sizes s = {{"B", 3}, {"T", t}, {"D", 5 + t % 4}, {"F", 17}, {"X", 3}};
        SCOPED_TRACE(std::string(name) + " " + text_of(s));
        expect_agreement(hidden(), name, call_of(name, s, how), 5e-5);
      }
  for (const Sizes& s : std::vector<Sizes>{{{"B", 0}, {"T", 3}, {"D", 4}, {"F", 3}, {"X", 2}},
                                           {{"B", 2}, {"T", 3}, {"D", 2}, {"F", 0}, {"X", 2}},
                                           {{"B", 3}, {"T", 5}, {"D", 0}, {"F", 5}, {"X", 3}}})
    for (const char* name : {"texts", "masked", "experts", "seen"}) {
      SCOPED_TRACE(std::string(name) + " " + text_of(s));
      expect_agreement(hidden(), name, call_of(name, s, Hidden::some), 5e-5);
    }
}

// Longer than blocks: rows and terms that are seen, columns, and sums.
TEST(HiddenRows, AreLeftOutOfBlocks) {
  for (const char* name : {"texts", "masked", "experts"})
    for (const Sizes& s :
         std::vector<Sizes>{{{"B", 1}, {"T", 421}, {"D", 9}, {"F", 19}, {"X", 2}},
                            {{"B", 4}, {"T", 61}, {"D", 290}, {"F", 530}, {"X", 2}}}) {
      SCOPED_TRACE(std::string(name) + " " + text_of(s));
      expect_agreement(hidden(), name, call_of(name, s, Hidden::some), 1e-4);
    }
}

// Right factors that lie along their terms are multiplied where they lie, for some rows.
TEST(HiddenRows, LeaveFewRowsSomeOrMany) {
  const std::string text = R"(
size T, D = 160, F = 144
train model known(x: [T, D], count: int, w: [F, D]) -> y {
  y[t,f] = if t < count then tanh(sum[d] x[t,d] * w[f,d]) else 0
}
)";
  for (uint64_t n = 0; n < 3; ++n) {
    Library library(compile_text(text), 2, target_in_turn(n));
    for (int64_t count : {0, 1, 3, 4, 5, 13, 14, 97, 128, 129, 384, 400}) {
      SCOPED_TRACE(target_in_turn(n) + " count=" + std::to_string(count));
      Arrays given = random_call(library.model(), {{"T", 390}}, n);
      given.at("count").values = {static_cast<double>(count)};
      expect_agreement(library, "known", given, 1e-4);
    }
  }
}

// What nobody sees may be anything, and changes no bit.
TEST(HiddenRows, MayBeAnything) {
  for (const char* name : {"texts", "masked", "experts"}) {
    const Sizes s = {{"B", 3}, {"T", 37}, {"D", 24}, {"F", 40}, {"X", 3}};
    Arrays given = call_of(name, s, Hidden::some);
    const Outcome zero = hidden().call(given, {}, name);
    ASSERT_EQ(zero.status, ATTN_OK) << zero.message;
    ASSERT_FALSE(zero.values.empty());
    Arrays other = given;
    std::vector<double>& x = other.at("x").values;
    for (int64_t r = 0; r < static_cast<int64_t>(x.size()) / s.at("D"); ++r) {
      const bool is_seen = given.count("keep")
                               ? given.at("keep").values[static_cast<size_t>(r)] != 0
                               : static_cast<double>(r % s.at("T")) <
                                     given.at("length").values[static_cast<size_t>(r / s.at("T"))];
      for (int64_t d = 0; !is_seen && d < s.at("D"); ++d)
        x[static_cast<size_t>(r * s.at("D") + d)] = std::numeric_limits<double>::quiet_NaN();
    }
    const Outcome one = hidden().call(other, {}, name);
    ASSERT_EQ(one.status, ATTN_OK) << one.message;
    for (const auto& [tensor, array] : zero.values)
      EXPECT_EQ(one.values.at(tensor).values, array.values) << name << " " << tensor;
  }
}

// Heads cut out of a product, of which a text's last position is read; nothing says how many.
TEST(HiddenRows, OfAttentionBesideTheOneThatDataPicks) {
  Library library(compile_text(R"(
size B, T in 1.., H, E
size D = H * E
model last(x: [B, T, D], scale: [H, E], n: int[B]) -> y {
  param wq: [D, D], wk: [D, D], wv: [D, D]
  u[b,t,d] = x[b,t,d] * (1 + scale[d // E, d % E])
  q[b,t,e] = sum[d] u[b,t,d] * wq[e,d]
  k[b,t,e] = sum[d] u[b,t,d] * wk[e,d]
  v[b,t,e] = sum[d] u[b,t,d] * wv[e,d]
  s[b,h: H,i,j] = (sum[e: E] q[b, i, h*E + e] * k[b, j, h*E + e]) / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e: E] = sum[j] p[b,h,i,j] * v[b, j, h*E + e]
  r[b,t,d: D] = u[b,t,d] + z[b, d // E, t, d % E]
  y[b,d] = r[b, clamp(n[b] - 1, 0, T - 1), d]
}
)",
                               {}, Derive::as_written));
  for (int64_t t : {1, 3, 17, 49}) {
    SCOPED_TRACE(::testing::Message() << "T=" << t);
    const Sizes sizes = {{"B", 3}, {"T", t}, {"H", 2}, {"E", 5}};
    const Arrays given = random_call(library.model(), sizes, 5, t + 1);
    const CallOptions forward{.gradient = false};
    const Outcome o = library.call(given, forward, "last");
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    EXPECT_EQ(differ(library.reference(given, "last", forward), o.values), "");
  }
}

// A number says which rows have anything, of rows that are shorter than a vector.
TEST(HiddenRows, AreAllButOneByANumber) {
  Library library(compile_text(R"(
size M = 3, N = 2, K = 5
train model at(v: [N], u: [K, N]) -> a, b, c, d {
  param w: [N, N]
  a[i: M, j: N] = sum[n] w[n,j] * v[n] where i == 2
  b[i: M, j: N] = max[n: N where i >= 1] (w[n,j])
  c[i: K, j: N] = sum[n: N where i >= 1 and i <= 2] w[n,j] * u[i,n]
  d[i: M, j: N] = sum[n] w[n,j] * v[n] where j == 1
}
)"));
  expect_agreement(library, "at", random_call(library.model(), {}, 3));
}

}  // namespace
}  // namespace attn::testing
