// Sums whose terms say where they are added, as gradients of tables are, that start from what
// another kernel has left in their place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"

namespace attn::testing {
namespace {

using Sizes = std::map<std::string, int64_t>;

// How many kernels of a model start from something.
int starts_of(const plan::Plan& plan) {
  int starts = 0;
  for (const plan::Function* f : plan::functions(plan))
    for (const plan::Kernel& k : f->kernels)
      if (const auto* loops = std::get_if<plan::LoopsForm>(&k.form)) starts += loops->start ? 1 : 0;
  return starts;
}

// Values and derivatives agree with the evaluator's, and as many kernels start from something.
void expect_agreement(const std::string& text, int starts, const std::vector<Sizes>& all,
                      const CallOptions& options = {}, double tolerance = 2e-5) {
  std::vector<driver::Compiled> models =
      compile_text(text, {}, options.jvp || options.hvp ? Derive::all : Derive::gradients);
  const std::string plan = plan::to_string(*models.at(0).plan);
  EXPECT_EQ(starts_of(*models.at(0).plan), starts) << plan;
  Library library(std::move(models));
  for (const Sizes& sizes : all) {
    std::string at;
    for (const auto& [name, value] : sizes) at += fmt::format("{}={} ", name, value);
    const Arrays given = random_call(library.model(), sizes, 7, sizes.at("V"));
    const Outcome o = library.call(given, options);
    ASSERT_EQ(o.status, ATTN_OK) << o.message << at;
    Arrays reference = library.reference(given, "", options);
    std::erase_if(reference, [&](const auto& of) {
      return !options.wanted.empty() && !o.values.count(of.first);
    });
    EXPECT_EQ(differ(reference, o.values, tolerance), "") << at << plan;
  }
}

std::vector<Sizes> sizes_of_texts() {
  std::vector<Sizes> all;
  for (int64_t t : {0, 1, 3, 17})
    for (int64_t v : {1, 4, 33})
      for (int64_t d : {0, 1, 3, 16}) all.push_back({{"B", 2}, {"T", t}, {"V", v}, {"D", d}});
  return all;
}

// Words are read with the table that scores them: the product is there first.
constexpr const char* kTied = R"(
size B, T, V in 1.., D
train model tied(token: int[B, T], before: int[B, T], seen: bool[B, T]) -> z {
  param table: [V, D]
  x[b,t,d] = table[token[b,t], d]
  y[b,t,d] = if seen[b,t] then table[before[b,t], d] else 0
  z[b,t,v] = sum[d] tanh(x[b,t,d] * 2 + y[b,t,d]) * table[v,d]
}
)";

TEST(AddedScatters, StartFromAProduct) { expect_agreement(kTied, 2, sizes_of_texts()); }

TEST(AddedScatters, AreOfAllDerivatives) {
  const std::string text = std::string(kTied).replace(std::string(kTied).find("-> z"), 4, "-> s");
  expect_agreement(text.substr(0, text.rfind('}')) + "  s = sum[b,t,v] z[b,t,v]^2\n}\n", 4,
                   {{{"B", 2}, {"T", 5}, {"V", 4}, {"D", 16}}}, {.jvp = true, .hvp = true}, 1e-4);
}

// A result that the caller leaves out has memory of its own.
TEST(AddedScatters, AreThereForWhoWantsOthers) {
  const std::string text =
      std::string(kTied).replace(std::string(kTied).find("param"), 5, "param scale: [D]\n  param");
  const std::string scaled =
      std::string(text).replace(text.find("x[b,t,d] * 2"), 12, "x[b,t,d] * scale[d]");
  for (const char* wanted : {"dscale", "dtable"})
    expect_agreement(scaled, 2, {{{"B", 2}, {"T", 5}, {"V", 4}, {"D", 16}}}, {.wanted = {wanted}});
}

// What is added is a map: the gradient of a penalty.
TEST(AddedScatters, StartFromAMap) {
  expect_agreement(R"(
size B, T, V in 1.., D
train model held(token: int[B, T]) -> y, s {
  param table: [V, D]
  y[b,t,d] = exp(table[token[b,t], d])
  s = sum[v,d] table[v,d]^2
}
)",
                   1, sizes_of_texts());
}

// The second starts from the first. Along one dimension, each position is data's.
TEST(AddedScatters, StartFromEachOther) {
  for (const char* shape : {"V", "V, D", "D, V"}) {
    const bool flat = shape[1] == '\0', last = shape[0] == 'D';
    const auto at = [&](const char* index) {
      return flat   ? fmt::format("table[{}]", index)
             : last ? fmt::format("table[d, {}]", index)
                    : fmt::format("table[{}, d]", index);
    };
    expect_agreement(fmt::format(R"(
size B, T, V in 1.., D
train model two(token: int[B, T], other: int[T], w: [T, D]) -> y {{
  param table: [{}]
  y[b: B, t, d: D] = tanh({}) + sum[j: T] w[j,d] * {}
}}
)",
                                 shape, at("token[b,t]"), at("other[j]")),
                     1, sizes_of_texts());
  }
}

// Gradients in half precision are summed in float32, and rounded when all is added.
TEST(AddedScatters, AreOfTheTypeOfWhatTheyStartFrom) {
  expect_agreement(R"(
size B, T, V in 1.., D
train model halves(token: int[B, T], other: int[T]) -> y, s {
  param table: f16[V, D]
  y[b,t,d] = tanh(table[token[b,t], d]) * table[other[t], d]
  s[v,d] = table[v,d]^2
}
)",
                   0, {{{"B", 2}, {"T", 3}, {"V", 5}, {"D", 17}}}, {}, 2e-3);
}

// Its terms are read where they would be written over.
TEST(AddedScatters, AreNotAddedToWhatTheyRead) {
  expect_agreement(R"(
size T, V in 1.., D
model moved(token: int[V], x: [V, D]) -> y {
  a[v,d] = exp(x[v,d] + 1 / (1 + sum[e: D] x[v,e]^2))
  y[v,d] = a[v,d] + sum[w: V where token[w] == v] a[w,d]
}
)",
                   0, {{{"T", 2}, {"V", 1}, {"D", 3}}, {{"T", 2}, {"V", 17}, {"D", 16}}});
}

// Each round reads the table: its terms are added where those of later rounds are.
TEST(AddedScatters, AreThoseOfEachRound) {
  expect_agreement(R"(
size B, T = 600, D, V in 1.., R = 3
train model rounds(token: int[B, T], x: [B, T, D]) -> y {
  param table: [V, D]
  scan r: R {
    h[r, b: B, t: T, d] = tanh(h[r - 1,b,t,d] + table[token[b,t], d] * h[r - 1,b,t,d]) from x[b,t,d]
  }
  y[b,t,d] = h[R - 1,b,t,d]
}
)",
                   1, {{{"B", 2}, {"V", 4}, {"D", 3}}, {{"B", 1}, {"V", 33}, {"D", 16}}});
}

// The gradients of experts are products of matrices, the terms of each expert apart.
TEST(AddedScatters, AreNoProductsOfGroups) {
  expect_agreement(R"(
size T, D, V in 1..
train model experts(x: [T, D], expert: int[T], other: int[T]) -> y {
  param w: [V, D, D]
  h[t,e] = tanh(sum[d] x[t,d] * w[expert[t], e, d])
  y[t,e] = sum[d] h[t,d] * w[other[t], e, d]
}
)",
                   0, {{{"T", 7}, {"V", 3}, {"D", 16}}, {{"T", 40}, {"V", 4}, {"D", 33}}});
}

}  // namespace
}  // namespace attn::testing
