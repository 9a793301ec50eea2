// The three flavours of attention with biases, at every awkward size: the evaluator's gradients
// against central differences, the kernels against the evaluator; masks that hide everything, and
// what they hide.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

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

void expect_kernels_agree(Library& library, int64_t features) {
  for (const char* flavour : kFlavours) {
    for (int64_t rows : kRows) {
      for (int64_t batch : {0, 1, 3}) {
        // The evaluator takes its time: large ones once.
        if (batch == 3 && rows * rows * features > 257 * 257 * 8) continue;
        SCOPED_TRACE(::testing::Message()
                     << flavour << " B=" << batch << " T=" << rows << " D=" << features);
        Arrays given = attention_call(library.model(flavour), {batch, rows, features});
        Outcome o = library.call(given, {}, flavour);
        ASSERT_EQ(o.status, ATTN_OK) << o.message;
        EXPECT_EQ(differ(with_biases_as_columns(library.reference(given, flavour)),
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
    cases.push_back({1, 100, 3});
    cases.push_back({1, 257, 1});
    for (const Sizes& s : cases) {
      EXPECT_EQ(differ_from_differences(model, attention_call(model, s)), "")
          << model.name << " B=" << s.batch << " T=" << s.rows << " D=" << s.features;
    }
  }
}

}  // namespace
}  // namespace attn::testing
