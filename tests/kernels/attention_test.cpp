// The three flavours of attention with biases, at every awkward size: the evaluator's gradients
// against central differences, the kernels against the evaluator; masks that hide everything, and
// what they hide.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

#include "compiled.h"

namespace attn::testing {
namespace {

constexpr const char* kModels = R"(
use std.attention

train model self(x: [B, T, D]) -> z {
  z = self_attention(x) as attn
}
train model causal(x: [B, T, D]) -> z {
  z = causal_attention(x) as attn
}
train model cross(x: [B, T, D], memory: [B, S, D]) -> z {
  z = cross_attention(x, memory) as attn
}
)";

std::string text_for(int64_t features) {
  std::string size = features ? " = " + std::to_string(features) : "";
  return "size B, T, S\nsize D" + size + "\n" + kModels;
}

struct Sizes {
  int64_t batch, rows, features;
};

// The keys' sequence is of another length, an empty one and a single one among them.
int64_t columns(int64_t rows) { return rows < 5 ? 2 - rows / 2 * 2 + rows % 2 : rows - 3; }

Arrays attention_call(const driver::Compiled& model, const Sizes& s) {
  Arrays given =
      random_call(model, {{"B", s.batch}, {"T", s.rows}, {"S", columns(s.rows)}, {"D", s.features}},
                  static_cast<uint64_t>(s.batch * 1000 + s.rows * 10 + s.features));
  // Scores of order 1, whatever the number of features.
  for (const char* name : {"attn.wq", "attn.wk", "attn.wv"})
    for (double& v : given.at(name).values)
      v = as_stored(v / std::sqrt(static_cast<double>(s.features)), ir::Storage::f32);
  return given;
}

// A bias is one more column of its weight, and its gradient of that row's scale: that of the keys'
// bias is a sum that cancels to 0.
Arrays with_biases_as_columns(const Arrays& all) {
  Arrays joined = all;
  for (const char* which : {"q", "k", "v"}) {
    std::string w = std::string("dattn.w") + which, b = std::string("dattn.b") + which;
    if (!all.count(w)) continue;
    const Array &weight = all.at(w), &bias = all.at(b);
    Array a{{weight.extents[0], weight.extents[1] + 1}, {}};
    for (int64_t e = 0; e < weight.extents[0]; ++e) {
      auto row = weight.values.begin() + e * weight.extents[1];
      a.values.insert(a.values.end(), row, row + weight.extents[1]);
      a.values.push_back(bias.values[static_cast<size_t>(e)]);
    }
    joined.erase(b);
    joined[w] = a;
  }
  return joined;
}

class Attention : public ::testing::TestWithParam<int64_t> {};

constexpr int64_t kRows[] = {0, 1, 2, 5, 16, 17, 100, 257};
const char* const kFlavours[] = {"self", "causal", "cross"};

// The same function and the same arguments whether the features are compiled in or not, so that the
// evaluator answers once.
const Arrays& evaluated(const Library& library, const std::string& flavour, const Sizes& s,
                        const Arrays& given) {
  static std::map<std::tuple<std::string, int64_t, int64_t, int64_t>, Arrays> answers;
  const auto [at, fresh] = answers.try_emplace({flavour, s.batch, s.rows, s.features});
  if (fresh) at->second = library.reference(given, flavour);
  return at->second;
}

void expect_kernels_agree(Library& library, int64_t features) {
  for (const char* flavour : kFlavours) {
    for (int64_t rows : kRows) {
      for (int64_t batch : {0, 1, 3}) {
        // The evaluator takes its time: large ones once.
        if (batch == 3 && rows * rows * features > 257 * 257 * 8) continue;
        SCOPED_TRACE(::testing::Message()
                     << flavour << " B=" << batch << " T=" << rows << " D=" << features);
        const Sizes sizes{batch, rows, features};
        Arrays given = attention_call(library.model(flavour), sizes);
        Outcome o = library.call(given, {}, flavour);
        ASSERT_EQ(o.status, ATTN_OK) << o.message;
        EXPECT_EQ(differ(with_biases_as_columns(evaluated(library, flavour, sizes, given)),
                         with_biases_as_columns(o.values)),
                  "");
      }
    }
  }
}

TEST_P(Attention, AgreesWithTheEvaluatorAtEverySize) {
  Library library(compile_text(text_for(GetParam())));
  expect_kernels_agree(library, GetParam());
}
INSTANTIATE_TEST_SUITE_P(CompiledIn, Attention, ::testing::Values(1, 3, 8, 40, 64));

TEST(AttentionOfAnyWidth, AgreesWithTheEvaluatorAtEverySize) {
  Library library(compile_text(text_for(0)));
  for (int64_t features : {1, 3, 8, 40, 64}) expect_kernels_agree(library, features);
}

TEST(AttentionGradients, AreTheSlopesOfTheEvaluator) {
  for (const driver::Compiled& model : compile_text(text_for(0))) {
    std::vector<Sizes> cases;
    for (int64_t rows : {0, 1, 2, 5, 16, 17}) cases.push_back({rows % 2 ? 3 : 1, rows, 3});
    for (int64_t features : {1, 8, 40, 64}) cases.push_back({1, 5, features});
    cases.push_back({0, 5, 3});
    // Of more than 500 elements, so along some directions only.
    cases.push_back({3, 100, 3});
    cases.push_back({1, 257, 3});
    for (const Sizes& s : cases) {
      EXPECT_EQ(differ_from_differences(model, attention_call(model, s)), "")
          << model.name << " B=" << s.batch << " T=" << s.rows << " D=" << s.features;
    }
  }
}

// ---- what masks hide

constexpr const char* kMasked = R"(
# Position j of the memory counts where keep[b,j] holds.
train model padded(x: [B, T, D], memory: [B, S, D], keep: bool[B, S]) -> z {
  param attn.wq: [D, D], attn.bq: [D], attn.wk: [D, D], attn.bk: [D], attn.wv: [D, D], attn.bv: [D]
  q[b,i,e] = sum[d] x[b,i,d] * attn.wq[e,d] + attn.bq[e]
  k[b,j,e] = sum[d] memory[b,j,d] * attn.wk[e,d] + attn.bk[e]
  v[b,j,e] = sum[d] memory[b,j,d] * attn.wv[e,d] + attn.bv[e]
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e] / sqrt(D)
  p[b,i,j] = softmax[j where keep[b,j]] (s[b,i,j])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
}
# Row 0 sees nothing; the keys from T - 1 on are seen by no row.
train model earlier(q: [B, T, D], k: [B, S, D], v: [B, S, D]) -> z {
  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e] / sqrt(D)
  p[b,i,j] = softmax[j where j < i] (s[b,i,j])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
}
)";

// With 8 features, compiled in or known when the kernels run: streamed or stored.
class Masks : public ::testing::TestWithParam<bool> {
 protected:
  static Library& library() {
    static std::map<bool, std::unique_ptr<Library>> libraries;
    std::unique_ptr<Library>& own = libraries[GetParam()];
    const std::string sizes = GetParam() ? "size B, T, S\nsize D = 8\n" : "size B, T, S, D\n";
    if (!own) own = std::make_unique<Library>(compile_text(sizes + kMasked));
    return *own;
  }
  static Arrays given(const std::string& model, int64_t b, int64_t t, int64_t s, int64_t d) {
    return random_call(library().model(model), {{"B", b}, {"T", t}, {"S", s}, {"D", d}}, 3);
  }
  static Arrays call(const std::string& model, const Arrays& arguments) {
    Outcome o = library().call(arguments, {}, model);
    EXPECT_EQ(o.status, ATTN_OK) << o.message;
    return o.values;
  }
};
INSTANTIATE_TEST_SUITE_P(Features, Masks, ::testing::Bool(), [](const auto& which) {
  return which.param ? "CompiledIn" : "AtRunTime";
});

// The elements of row `row` of every batch, or of one.
void expect_zero_row(const Arrays& all, const std::string& name, int64_t row, int64_t batch = -1) {
  const Array& a = all.at(name);
  for (int64_t b = 0; b < a.extents[0]; ++b) {
    if (batch >= 0 && b != batch) continue;
    for (int64_t e = 0; e < a.extents[2]; ++e) {
      double v = a.values[static_cast<size_t>((b * a.extents[1] + row) * a.extents[2] + e)];
      EXPECT_TRUE(v == 0) << name << "[" << b << "," << row << "," << e << "] is " << v;
    }
  }
}

void expect_same_bits(const Arrays& a, const Arrays& b) {
  for (const auto& [name, array] : a)
    for (size_t k = 0; k < array.values.size(); ++k)
      ASSERT_EQ(std::memcmp(&array.values[k], &b.at(name).values[k], 8), 0)
          << name << "[" << k << "]: " << array.values[k] << " and " << b.at(name).values[k];
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};

TEST_P(Masks, AgreeWithTheEvaluator) {
  for (int64_t t : {1, 5, 17, 40}) {
    for (int64_t s : {1, 7, 33}) {
      for (const char* model : {"padded", "earlier"}) {
        Arrays a = given(model, 3, t, s, 8);
        EXPECT_EQ(differ(with_biases_as_columns(library().reference(a, model)),
                         with_biases_as_columns(call(model, a))),
                  "")
            << model << " T=" << t << " S=" << s;
      }
    }
  }
}

TEST_P(Masks, GiveExactZerosWhereTheyHideAll) {
  for (int64_t t : {5, 17}) {
    Arrays all = call("earlier", given("earlier", 2, t, t + 6, 8));
    expect_zero_row(all, "z", 0);
    expect_zero_row(all, "dq", 0);
    for (int64_t j = t - 1; j < t + 6; ++j)
      for (const char* name : {"dk", "dv"}) expect_zero_row(all, name, j);
  }
  // One batch hidden, then all of them.
  Arrays a = given("padded", 2, 5, 7, 8);
  std::vector<double>& keep = a.at("keep").values;
  std::fill(keep.begin(), keep.begin() + 7, 0);
  Arrays all = call("padded", a);
  for (int64_t i = 0; i < 5; ++i)
    for (const char* name : {"z", "dx"}) expect_zero_row(all, name, i, 0);
  for (int64_t j = 0; j < 7; ++j) expect_zero_row(all, "dmemory", j, 0);
  EXPECT_EQ(
      differ(with_biases_as_columns(library().reference(a, "padded")), with_biases_as_columns(all)),
      "");
  std::fill(keep.begin(), keep.end(), 0);
  for (const auto& [name, array] : call("padded", a))
    for (double v : array.values) ASSERT_TRUE(v == 0) << name << ": " << v;
}

TEST_P(Masks, LetNothingThroughThatIsNotFinite) {
  for (int64_t t : {5, 17, 40}) {
    int64_t s = t + 6, d = 8;
    Arrays a = given("earlier", 2, t, s, d), hidden = a;
    size_t n = 0;
    for (const char* name : {"k", "v"})
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t e = (b * s + t - 1) * d; e < (b + 1) * s * d; ++e)
          hidden.at(name).values[static_cast<size_t>(e)] = kBad[n++ % 3];
    expect_same_bits(call("earlier", a), call("earlier", hidden));

    a = given("padded", 2, t, s, d);
    hidden = a;
    const std::vector<double>& keep = a.at("keep").values;
    n = 0;
    for (size_t j = 0; j < keep.size(); ++j)
      for (size_t e = 0; !keep[j] && e < static_cast<size_t>(d); ++e)
        hidden.at("memory").values[j * static_cast<size_t>(d) + e] = kBad[n++ % 3];
    ASSERT_GT(n, 0u);
    expect_same_bits(call("padded", a), call("padded", hidden));
  }
}

// One head of several chunks of keys, so that row results are summed in parts.
TEST_P(Masks, GiveTheSameBitsOnAnyNumberOfThreads) {
  const Arrays a = given("earlier", 1, 470, 517, 8);
  const Arrays on_two = call("earlier", a);
  for (int threads : {1, 3}) {
    library().use_threads(threads);
    expect_same_bits(on_two, call("earlier", a));
  }
  library().use_threads(2);
}

// A key that some rows see spoils those rows and no other.
TEST_P(Masks, KeepWhatIsNotFiniteFromTheRowsThatDoNotSeeIt) {
  const int64_t t = 17, s = 20, d = 8, seen_from = 9;
  for (double bad : kBad) {
    Arrays a = given("earlier", 2, t, s, d), partly = a;
    partly.at("v").values[static_cast<size_t>((seen_from - 1) * d + 3)] = bad;
    Arrays clean = call("earlier", a), got = call("earlier", partly);
    const std::vector<double> want = library().reference(partly, "earlier").at("z").values;
    for (size_t k = 0; k < want.size(); ++k) {
      double z = got.at("z").values[k];
      if (std::isfinite(want[k]))
        ASSERT_EQ(z, clean.at("z").values[k]) << k;
      else
        ASSERT_FALSE(std::isfinite(z)) << k;
    }
    ASSERT_FALSE(std::isfinite(got.at("z").values[static_cast<size_t>(seen_from * d + 3)]));
  }
}

// What a mask hides is replaced where it is packed, here after arithmetic.
TEST(HiddenData, StaysOutOfFactorsThatAreComputed) {
  Library library(compile_text(R"(
size B, T
size E = 8
train model computed(q: [B, T, E], k: [T, E], v: [T, E], keep: bool[B, T]) -> z {
  param table: [9, E]
  p[b,i,j] = softmax[j where keep[b,j]] (sum[e] q[b,i,e] * k[j,e])
  z[b,i,e] = sum[j] p[b,i,j] * (v[j,e] + table[clamp(j - i, -4, 4) + 4, e])
}
)"));
  Arrays a = random_call(library.model(), {{"B", 2}, {"T", 19}}, 3);
  std::vector<double>& keep = a.at("keep").values;
  for (size_t j : {3, 7, 18}) keep[j] = keep[19 + j] = 0;
  Arrays hidden = a;
  size_t n = 0;
  for (const char* name : {"k", "v"})
    for (size_t j : {3, 7, 18})
      for (size_t e = 0; e < 8; ++e) hidden.at(name).values[j * 8 + e] = kBad[n++ % 3];
  const Outcome clean = library.call(a), got = library.call(hidden);
  ASSERT_EQ(clean.status, ATTN_OK) << clean.message;
  ASSERT_EQ(got.status, ATTN_OK) << got.message;
  EXPECT_EQ(differ(library.reference(a), clean.values), "");
  expect_same_bits(clean.values, got.values);
}

// What rows may see ends where the last of the alternatives ends, and begins where the first does.
TEST(Bounds, OfConditionsOfWhichOneHolds) {
  Library library(compile_text(R"(
size T, S
size E = 8
train model ended(q: [T, E], k: [S, E], v: [S, E]) -> z {
  p[i,j] = softmax[j where j <= i - 3 or (j < 70 and j <= i + 40)] (sum[e] q[i,e] * k[j,e])
  z[i,e] = sum[j] p[i,j] * v[j,e]
}
train model either(q: [T, E], k: [S, E], v: [S, E]) -> z {
  p[i,j] = softmax[j where (i < 20 or i >= 290) and j < 200] (sum[e] q[i,e] * k[j,e])
  z[i,e] = sum[j] p[i,j] * v[j,e]
}
train model begun(q: [T, E], k: [S, E], v: [S, E]) -> z {
  p[i,j] = softmax[j where (j > i and j < i + 9) or j >= i + 60] (sum[e] q[i,e] * k[j,e])
  z[i,e] = sum[j] p[i,j] * v[j,e]
}
)"));
  const std::pair<int64_t, int64_t> sizes[] = {{1, 1}, {5, 3}, {48, 49}, {100, 457}, {457, 399}};
  for (const char* model : {"ended", "either", "begun"})
    for (const auto& [t, s] : sizes) {
      SCOPED_TRACE(::testing::Message() << model << " T=" << t << " S=" << s);
      const Arrays given = random_call(library.model(model), {{"T", t}, {"S", s}}, 5);
      const Outcome o = library.call(given, {}, model);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      EXPECT_EQ(differ(library.reference(given, model), o.values), "");
    }
}

}  // namespace
}  // namespace attn::testing
