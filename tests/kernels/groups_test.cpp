// Sums of products whose rows or terms data deals out to groups, each against the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "agreement.h"

namespace attn::testing {
namespace {

constexpr const char* kExperts = R"(
# One matrix for each row, forward and backward.
train model one(x: [B, T, D], expert: int[B, T]) -> y {
  param up: [X, F, D], bias: [X, F], down: [X, D, F]
  h[b,t,f] = relu(sum[d] x[b,t,d] * up[expert[b,t], f, d] + bias[expert[b,t], f])
  y[b,t,d] = sum[f] h[b,t,f] * down[expert[b,t], d, f]
}
# The gathered index last, or in the middle; the row index first, or last.
train model axes(x: [D, T], u: [T, D], expert: int[T]) -> y, z {
  param last: [F, D, X], middle: [F, X, D]
  y[f,t] = sum[d] x[d,t] * last[f, d, expert[t]]
  z[t,f] = sum[d] u[t,d] * middle[f, expert[t], d]
}
# Matrices of a batch's own; several factors of a group, and conditions on either side.
train model heads(x: [B, T, D], c: [T], expert: int[B, T]) -> y {
  param own: [B, X, F, D], gain: [X, D]
  y[b,t,f] = sum[d where c[t] > 0] x[b,t,d] * own[b, expert[b,t], f, d] * gain[expert[b,t], d] * c[t]
}
# Two of them for each row, summed.
train model two(x: [T, D], gate: [T, 2], expert: int[T, 2]) -> y {
  param pair: [X, F, D]
  h[t, k: 2, f] = sum[d] x[t,d] * pair[expert[t,k], f, d]
  y[t,f] = sum[k] gate[t,k] * h[t,k,f]^2
}
# The two are computed, what they multiply is the same for both, and their results are summed.
train model choices(x: [T, D], router: [X, D]) -> y {
  param of_choice: [X, F, D]
  score[t, k: X] = sum[d] x[t,d] * router[k,d]
  best[t] = argmax[k] score[t,k]
  least[t] = argmax[k] (-score[t,k])
  choice[t, c: 2] = if c == 0 then best[t] else least[t]
  h[t,c,f] = tanh(sum[d] x[t,d] * of_choice[choice[t,c], f, d])
  y[t,f] = sum[c] score[t, choice[t,c]] * h[t,c,f]
}
# The group is computed, and from data alone.
train model chosen(x: [T, D], router: [X, D]) -> y {
  param of_best: [X, F, D]
  score[t, k: X] = sum[d] x[t,d] * router[k,d]
  best[t] = argmax[k] score[t,k]
  y[t,f] = tanh(sum[d] x[t,d] * of_best[best[t], f, d]) * score[t, best[t]]
}
)";

size_t grouped(const driver::Compiled& m) {
  size_t count = 0;
  for (const plan::Function* f : plan::functions(*m.plan))
    for (const plan::Kernel& k : f->kernels)
      if (const auto* c = std::get_if<plan::ContractionForm>(&k.form))
        count += c->groups.has_value();
  return count;
}

// Groups in no order, of which some have no row: about half of the numbers are one of them.
void deal(Arrays& given, const std::string& name, int64_t groups, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (double& v : given.at(name).values) {
    const auto n = static_cast<int64_t>(random() % (2 * groups));
    v = static_cast<double>(n < groups ? n : groups / 3);
  }
}

Arrays call_of(Library& library, const std::string& model, const Sizes& sizes) {
  const auto seed = static_cast<uint64_t>(sizes.at("T") * 7 + sizes.at("D"));
  Arrays given = random_call(library.model(model), sizes, seed, sizes.at("X"));
  if (given.count("expert")) deal(given, "expert", sizes.at("X"), seed);
  return given;
}

const std::string kNames[] = {"one", "axes", "heads", "two", "choices", "chosen"};

// How many of a model's contractions have groups, forward and backward.
const std::map<std::string, size_t> kGrouped = {{"one", 6}, {"axes", 6},    {"heads", 4},
                                                {"two", 3}, {"choices", 3}, {"chosen", 3}};

Library& experts() {
  static std::vector<driver::Compiled> models =
      compile_text(std::string("size B, T, D, F, X in 1..\n") + kExperts);
  static const bool counted = [] {
    for (const driver::Compiled& m : models) EXPECT_EQ(grouped(m), kGrouped.at(m.name)) << m.name;
    return true;
  }();
  static Library library(std::move(models));
  EXPECT_TRUE(counted);
  return library;
}

TEST(Groups, OfRowsAndOfTermsAreProducts) {
  Library& library = experts();
  for (const std::string& name : kNames)
    for (int64_t t : {0, 1, 3, 13, 48, 97})
      for (int64_t x : {1, 3, 40}) {
        const Sizes s = {{"B", 2}, {"T", t}, {"D", 5 + t % 4}, {"F", 17}, {"X", x}};
        SCOPED_TRACE(name + " " + text_of(s));
        expect_agreement(library, name, call_of(library, name, s), 5e-5);
      }
  for (const Sizes& s : std::vector<Sizes>{{{"B", 0}, {"T", 3}, {"D", 4}, {"F", 3}, {"X", 2}},
                                           {{"B", 1}, {"T", 3}, {"D", 2}, {"F", 0}, {"X", 2}},
                                           {{"B", 3}, {"T", 2}, {"D", 0}, {"F", 5}, {"X", 3}}})
    for (const std::string& name : kNames) {
      SCOPED_TRACE(name + " " + text_of(s));
      expect_agreement(library, name, call_of(library, name, s), 5e-5);
    }
}

// Longer than a block in each direction: rows and terms of one group, columns, and sums.
TEST(Groups, AreLongerThanBlocks) {
  Library& library = experts();
  for (const std::string& name : kNames)
    for (const Sizes& s :
         std::vector<Sizes>{{{"B", 1}, {"T", 421}, {"D", 9}, {"F", 19}, {"X", 3}},
                            {{"B", 1}, {"T", 31}, {"D", 530}, {"F", 290}, {"X", 3}}}) {
      SCOPED_TRACE(name + " " + text_of(s));
      expect_agreement(library, name, call_of(library, name, s), 1e-4);
    }
}

// Matrices whose terms lie beside each other are multiplied where they lie, by groups of some rows.
TEST(Groups, OfFewRowsSomeAndMany) {
  const std::string text = R"(
size T, D = 160, F = 144, X = 3
train model known(x: [T, D], expert: int[T], w: [X, F, D]) -> y {
  y[t,f] = tanh(sum[d] x[t,d] * w[expert[t], f, d])
}
)";
  for (uint64_t n = 0; n < 3; ++n) {
    Library library(compile_text(text), 2, target_in_turn(n));
    for (int64_t t : {0, 1, 3, 13, 14, 97, 384, 500}) {
      SCOPED_TRACE(target_in_turn(n) + " T=" + std::to_string(t));
      Arrays given = random_call(library.model(), {{"T", t}}, n, 3);
      deal(given, "expert", 3, static_cast<uint64_t>(t));
      expect_agreement(library, "known", given, 1e-4);
    }
  }
}

TEST(Groups, OfKnownSizes) {
  Library library(compile_text(R"(
size T = 50, D = 16, F = 32, X = 4
train model known(x: [T, D], expert: int[T], w: [X, F, D]) -> y {
  y[t,f] = relu(sum[d] x[t,d] * w[expert[t], f, d])
}
)"));
  const Sizes s = {{"T", 50}, {"D", 16}, {"F", 32}, {"X", 4}};
  expect_agreement(library, "known", call_of(library, "known", s), 5e-5);
}

// The fewer of rows and columns are the rows of registers, where both are known.
TEST(Groups, OfFewKnownColumnsAndRows) {
  for (const auto& [columns, rows] : {std::pair{4, 5}, {4, 33}, {2, 7}, {1, 9}, {5, 4}, {17, 4}}) {
    const std::string text = fmt::format(R"(
size T, A = 3, D = {}, F = {}, X = 7
train model known(x: [T, A, D], expert: int[T, A], w: [X, F, D]) -> y {{
  y[t,a,f] = sum[d] x[t,a,d] * w[expert[t,a], f, d]
}}
)",
                                         columns, rows);
    Library library(compile_text(text));
    for (int64_t t : {1, 8, 45}) {
      const Sizes s = {{"T", t}, {"A", 3}, {"D", columns}, {"F", rows}, {"X", 7}};
      SCOPED_TRACE(text_of(s));
      expect_agreement(library, "known", call_of(library, "known", s), 5e-5);
    }
  }
}

TEST(Groups, OfOtherTypes) {
  Library library(compile_text(R"(
size T, D, F, X = 3
train model exact(x: f64[T, D], expert: int[T]) -> y: f64 {
  param w64: f64[X, F, D]
  y[t,f] = sum[d] x[t,d] * w64[expert[t], f, d]
}
train model short(x: bf16[T, D], expert: int[T]) -> y: f16 {
  param w16: bf16[X, F, D]
  y[t,f] = sum[d] x[t,d] * w16[expert[t], f, d]
}
)"));
  for (int64_t t : {1, 67}) {
    const Sizes s = {{"T", t}, {"D", 33}, {"F", 18}, {"X", 3}};
    expect_agreement(library, "exact", call_of(library, "exact", s), 1e-13);
    expect_agreement(library, "short", call_of(library, "short", s), 1e-2);
  }
}

// A term whose number is none of the groups counts nowhere; a row that is hidden need have none.
TEST(Groups, ThatAreNone) {
  std::vector<driver::Compiled> models = compile_text(R"(
size T, X, D = 9, F = 6
train model terms(a: [T, F], b: [T, D], c: [X], group: int[T]) -> y {
  y[x: X, f, d] = c[x] + sum[t where group[t] == x] a[t,f] * b[t,d]
}
train model rows(x: [T, D], group: int[T], w: [X, F, D]) -> y {
  y[t,f] = sum[d where group[t] >= 0] x[t,d] * w[group[t], f, d]
}
)");
  EXPECT_EQ(grouped(models.at(0)), 3u);
  EXPECT_EQ(grouped(models.at(1)), 3u);
  Library library(std::move(models));
  for (int64_t t : {1, 2, 30, 61}) {
    const Sizes s = {{"T", t}, {"D", 9}, {"F", 6}, {"X", 4}};
    Arrays given = random_call(library.model("terms"), s, 3);
    for (size_t k = 0; k < given.at("group").values.size(); ++k)
      given["group"].values[k] = k % 5 == 0 ? -7 : k % 3 == 0 ? 4 : static_cast<double>(k % 4);
    expect_agreement(library, "terms", given, 2e-5);
    given = random_call(library.model("rows"), s, 3);
    for (size_t k = 0; k < given.at("group").values.size(); ++k)
      given["group"].values[k] = k % 3 == 0 ? -2 : static_cast<double>(k % 4);
    expect_agreement(library, "rows", given, 2e-5);
  }
  Arrays given = random_call(library.model("rows"), {{"T", 7}, {"D", 9}, {"F", 6}, {"X", 0}}, 3);
  for (double& v : given.at("group").values) v = -1;
  expect_agreement(library, "rows", given);
  given = random_call(library.model("rows"), {{"T", 3}, {"D", 9}, {"F", 6}, {"X", 4}}, 3);
  given["group"].values = {1, 4, 0};
  EXPECT_NE(library.call(given, {}, "rows").status, ATTN_OK);
}

// What no row of the group sees changes nothing, and what one sees is there.
TEST(Groups, ThatHideWhatIsNotFinite) {
  Library library(compile_text(R"(
size T, D = 20, F = 24, X = 3
train model picked(x: [T, D], c: [T, D], group: int[T], w: [X, F, D]) -> y {
  y[t,f] = sum[d where c[t,d] > 0] x[t,d] * w[group[t], f, d]
}
)"));
  for (int64_t t : {1, 5, 40, 130})
    for (double bad : {std::numeric_limits<double>::infinity(), std::nan(""), 0.0}) {
      Arrays given = random_call(library.model(), {{"T", t}}, static_cast<uint64_t>(t), 3);
      deal(given, "group", 3, 5);
      given.at("w").values[2 * 24 * 20 + 3 * 20 + 7] = bad;
      given.at("w").values[8] = bad;
      given.at("x").values[static_cast<size_t>(t / 2 * 20 + 3)] = bad;
      const Outcome o = library.call(given);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      EXPECT_EQ(differ(library.reference(given), o.values, 2e-5), "") << t << " " << bad;
    }
}

// Results do not depend on the threads.
TEST(Groups, AreInOneOrder) {
  Library& library = experts();
  const Sizes s = {{"B", 2}, {"T", 133}, {"D", 24}, {"F", 40}, {"X", 5}};
  for (const std::string& name : kNames) {
    const Arrays given = call_of(library, name, s);
    library.use_threads(1);
    const Outcome one = library.call(given, {}, name);
    library.use_threads(3);
    EXPECT_EQ(differ(one.values, library.call(given, {}, name).values, 0), "") << name;
  }
}

// A batch that fills no whole block of a GPU's threads, each with a table of its own.
TEST(Tables, AreOthersForEachBatch) {
  Library library(compile_text(R"(
size B, T, V, D = 3
train model m(row: int[B, T], x: [B, V, D]) -> u { u[b,t,d] = x[b, row[b,t], d] }
)"));
  for (const int64_t b : {0, 1, 3, 4, 5, 9}) {
    const Sizes s = {{"B", b}, {"T", 7}, {"V", 4}};
    SCOPED_TRACE(text_of(s));
    expect_agreement(library, "m", random_call(library.model("m"), s, 5, 4));
  }
}

}  // namespace
}  // namespace attn::testing
