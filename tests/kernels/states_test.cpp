// What a model remembers from call to call: kernels change it in place as the evaluator says, and
// the calls of a sequence give what one call of the whole does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "agreement.h"
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

constexpr CallOptions kForward{.gradient = false};

constexpr const char* kModels = R"(
size B, T, S
size H = 2, G = 1, E = 5, D = 6

block head(x: [B, T, D], at: int[B]) -> y {
  param wq: [H, E, D], wk: [G, E, D], wv: [G, E, D]
  state keys: [B, G, S, E], values: [B, G, S, E]
  q[b,h,t,e] = sum[d] x[b,t,d] * wq[h,e,d]
  keys'[b, g, at[b] + t, e]   = sum[d] x[b,t,d] * wk[g,e,d]
  values'[b, g, at[b] + t, e] = sum[d] x[b,t,d] * wv[g,e,d]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * keys'[b, h // 2, j, e]
  p[b,h,i,j] = softmax[j where j <= at[b] + i] (s[b,h,i,j])
  y[b,i,h,e] = sum[j] p[b,h,i,j] * values'[b, h // 2, j, e]
}
model decode(x: [B, T, D], at: int[B]) -> y {
  y = head(x, at) as head
}
model whole(x: [B, T, D]) -> y {
  param head.wq: [H, E, D], head.wk: [G, E, D], head.wv: [G, E, D]
  q[b,h,t,e] = sum[d] x[b,t,d] * head.wq[h,e,d]
  k[b,g,t,e] = sum[d] x[b,t,d] * head.wk[g,e,d]
  v[b,g,t,e] = sum[d] x[b,t,d] * head.wv[g,e,d]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b, h // 2, j, e]
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  y[b,i,h,e] = sum[j] p[b,h,i,j] * v[b, h // 2, j, e]
}

# All of a state, from what it was.
model sums(x: [B, E], scale: f32) -> y {
  state m: [B, E, E], count: int
  m'[b,i,j] = 0.5 * m[b,i,j] + scale * x[b,i] * x[b,j]
  count' = count + 1
  y[b,i] = (sum[j] m'[b,i,j] * x[b,j]) + float(count)
}
# Read before it changes; written backwards, at some places only, and at one.
model window(x: [B, T], at: int, keep: bool[T]) -> y {
  state past: [B, S], marks: f64[S], last: [B, 4]
  y[b,t] = x[b,t] + (sum[s where s < at] past[b,s])
  past'[b, at + T - 1 - t] = tanh(x[b,t]) where keep[t]
  marks'[at] = 1
  last'[b, 2] = sum[t] x[b,t]
}
# Moved along: each place takes what another was.
model shift(x: [B, E]) -> y {
  state row: [B, 4, E]
  row'[b,n,e] = if n + 1 < 4 then row[b, n + 1, e] else x[b,e]
  y[b,e] = sum[n] row'[b,n,e] * (n + 1)
}
# Both states are read after they change and before.
model difference(x: [B, E]) -> y {
  state a: [B, E], c: [B, E]
  a'[b,e] = x[b,e] + c[b,e]
  c'[b,e] = x[b,e] - a[b,e]
  y[b,e] = a'[b,e] - a[b,e] + c'[b,e] * c[b,e]
}
model half(x: [B, E]) -> y {
  state h: bf16[B, 3, E]
  h'[b,1,e] = x[b,e]
  y[b,e] = h'[b,1,e] - h'[b,2,e]
}
# Counts for itself where it is.
model own(x: [B, T]) -> y {
  state seen: [B, S], length: int[B]
  seen'[b, length[b] + t] = x[b,t]
  length'[b] = length[b] + T
  y[b] = sum[s where s < length'[b]] seen'[b,s]
}

# Conditions of what is stored say nothing of what stays.
model guarded(x: [B, T], at: int[B], keep: bool[B, T], w: [B, S]) -> y, z {
  state seen: [B, S], kept: [B, S]
  seen'[b, at[b] + t] = x[b,t] where keep[b,t] and t < 2
  u[b,t] = exp(x[b,t]) where keep[b,t]
  kept'[b, at[b] + t] = u[b,t]
  y[b,s] = exp(w[b,s]) * seen'[b,s]
  z[b,s] = exp(w[b,s]) * kept'[b,s]
}
# A row that conditions fix, which need not be there.
model one_row(x: [B, T], at: int[B]) -> y, z {
  state seen: [B, S], turned: [S, B]
  seen'[b, at[b] + t]   = x[b,t] where b == 1
  turned'[at[b] + t, b] = x[b,t] where 2 <= b and b <= 2
  y[b,s] = seen'[b,s]
  z[b,s] = turned'[s,b]
}
# A state without a type is f32, whatever is stored in it.
model narrow(x: f64[B, T]) -> y {
  state total: [B], n: [B]
  total'[b] = total[b] + sum[t] x[b,t]
  n'[b] = T
  y[b] = total'[b] / (1 + n'[b])
}
# What stays is a subscript too.
model lookup(letter: int[B, T], at: int[B], table: [4]) -> y, z {
  state letters: int[B, S], first: int[B, 3], known: bool[B, S]
  letters'[b, at[b] + t] = letter[b,t]
  known'[b, at[b] + t] = letter[b,t] > 0
  first'[b, 1] = 2
  y[b,s] = table[letters'[b,s]] + (if known'[b,s] then table[first'[b, s % 3]] else 0)
  z[b,n: 3] = table[first'[b,n]]
}
)";

Library& library() {
  static Library made(compile_text(kModels, {}, Derive::as_written));
  return made;
}

// Positions below the capacity.
void place(Arrays& given, const char* name, int64_t capacity, int64_t length) {
  for (size_t k = 0; k < given.at(name).values.size(); ++k)
    given.at(name).values[k] =
        static_cast<double>((static_cast<int64_t>(k) * 3 + 1) % (capacity - length + 1));
}

// What the model says as it was written, before any pass.
Arrays as_written(const std::string& model, const Arrays& given) {
  static const std::unique_ptr<Elaborated> all = elaborate_text(kModels);
  Arrays results;
  for (const elaborate::Model& m : all->program.models) {
    if (m.graph.name != model) continue;
    const Arrays values = evaluate::evaluate(m.graph, given);
    for (const ir::Output& o : m.graph.outputs) results[o.name] = values.at(m.graph[o.tensor].name);
  }
  return results;
}

void expect_same(const std::string& model, const Arrays& given, double tolerance = 1e-5) {
  const Outcome o = library().call(given, kForward, model);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  EXPECT_EQ(differ(as_written(model, given), o.values, tolerance), "") << model;
}

TEST(States, ChangeInPlace) {
  for (int64_t b : {0, 1, 3})
    for (int64_t t : {0, 1, 3, 17, 67})
      for (int64_t more : {0, 1, 40}) {
        SCOPED_TRACE(fmt::format("B = {}, T = {}, S = {}", b, t, t + more));
        const Sizes sizes = {{"B", b}, {"T", t}, {"S", t + more}};
        Arrays given = random_call(library().model("decode"), sizes, 1);
        place(given, "at", t + more, t);
        expect_same("decode", given);
        given = random_call(library().model("own"), sizes, 2);
        place(given, "length", t + more, t);
        expect_same("own", given);
        given = random_call(library().model("guarded"), sizes, 8);
        place(given, "at", t + more, t);
        expect_same("guarded", given);
        expect_same("narrow", random_call(library().model("narrow"), sizes, 11));
        given = random_call(library().model("one_row"), sizes, 10);
        place(given, "at", t + more, t);
        expect_same("one_row", given);
        given = random_call(library().model("lookup"), sizes, 9, 4);
        place(given, "at", t + more, t);
        expect_same("lookup", given);
        if (t + more == 0) continue;
        given = random_call(library().model("window"), sizes, 3);
        given.at("at").values[0] = static_cast<double>(more > 0 && t > 0 ? 1 : 0);
        expect_same("window", given);
      }
  for (int64_t b : {0, 1, 3, 17}) {
    for (const char* model : {"sums", "shift", "difference"})
      expect_same(model, random_call(library().model(model), {{"B", b}}, 4));
    expect_same("half", random_call(library().model("half"), {{"B", b}}, 4), 8e-3);
  }
}

// A prompt at once and then letter by letter, each sequence at its own length: as the whole.
TEST(States, OfASequenceOfCallsGiveTheWhole) {
  constexpr int64_t kBatch = 2, kLength = 23, kCapacity = 40, kDone = 11;
  const Arrays all = random_call(library().model("whole"), {{"B", kBatch}, {"T", kLength}}, 5);
  const Array wanted = library().reference(all, "whole", kForward).at("y");
  Arrays given =
      random_call(library().model("decode"), {{"B", kBatch}, {"T", kLength}, {"S", kCapacity}}, 6);
  for (const char* name : {"head.wq", "head.wk", "head.wv"}) given[name] = all.at(name);
  const int64_t row = wanted.values.size() / (kBatch * kLength), width = 6;
  std::vector<int64_t> done(kBatch, 0);
  // The second sequence is behind by one: its first call repeats a place.
  for (int64_t step = 0; done[0] < kLength; ++step) {
    const int64_t n = step == 0 ? kDone : 1;
    Array x{{kBatch, n, width}, {}}, at{{kBatch}, {}};
    for (int64_t b = 0; b < kBatch; ++b) {
      const int64_t from = done[b];
      at.values.push_back(static_cast<double>(from));
      for (int64_t k = 0; k < n * width; ++k)
        x.values.push_back(all.at("x").values[(b * kLength + from) * width + k]);
      done[b] = from + n - (step == 0 ? b : 0);
    }
    given["x"] = x, given["at"] = at;
    const Outcome o = library().call(given, kForward, "decode");
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    for (int64_t b = 0; b < kBatch; ++b) {
      const int64_t from = static_cast<int64_t>(at.values[b]);
      for (int64_t k = 0; k < n * row; ++k)
        EXPECT_NEAR(o.values.at("y").values[b * n * row + k],
                    wanted.values[(b * kLength + from) * row + k], 1e-5);
    }
    for (const char* name : {"head.keys", "head.values"})
      given[name] = o.values.at(std::string(name) + "'");
  }
}

TEST(States, BeyondTheirCapacityAreRefusedBeforeAnythingChanges) {
  const Sizes sizes = {{"B", 2}, {"T", 3}, {"S", 5}};
  Arrays given = random_call(library().model("decode"), sizes, 7);
  for (const auto& [first, second] : {std::pair(0, 3), {-1, 0}, {1 << 30, 0}}) {
    given.at("at").values = {static_cast<double>(first), static_cast<double>(second)};
    const Outcome o = library().call(given, kForward, "decode");
    EXPECT_EQ(o.status, ATTN_BAD_DATA);
    EXPECT_NE(o.message.find("at: "), std::string::npos) << o.message;
    EXPECT_TRUE(o.untouched);
    EXPECT_THROW(library().reference(given, "decode", kForward), evaluate::CallError);
  }
}

// Old places of a state may be subscripts; those that are overwritten need not be.
TEST(States, AreCheckedWhereTheyAreSubscripts) {
  const Sizes sizes = {{"B", 1}, {"T", 2}, {"S", 5}};
  Arrays given = random_call(library().model("lookup"), sizes, 10);
  given.at("at").values = {1};
  given.at("letter").values = {0, 3};
  for (const auto& [letters, good] : {std::pair<std::vector<double>, bool>{{1, 9, -9, 2, 3}, true},
                                      {{1, 0, 0, 4, 0}, false},
                                      {{-1, 0, 0, 0, 0}, false}}) {
    given.at("letters").values = letters;
    const Outcome o = library().call(given, kForward, "lookup");
    EXPECT_EQ(o.status, good ? ATTN_OK : ATTN_BAD_DATA) << o.message;
    if (good) expect_same("lookup", given);
  }
  given.at("letters").values = {0, 0, 0, 0, 0};
  given.at("first").values = {0, 77, 5};
  EXPECT_EQ(library().call(given, kForward, "lookup").status, ATTN_BAD_DATA);
  given.at("first").values = {0, 77, 3};
  expect_same("lookup", given);
}

}  // namespace
}  // namespace attn::testing
