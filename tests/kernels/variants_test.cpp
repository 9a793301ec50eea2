// Each variant, forward and backward, gives what the evaluator gives and stores no wide tensor.
#include "variants.h"

#include <gtest/gtest.h>

#include "compiled.h"
#include "compiler/solve/wide.h"

namespace attn::testing {
namespace {

class Variants : public ::testing::TestWithParam<Variant> {};

TEST_P(Variants, StoreNoWideTensor) {
  for (const driver::Compiled& model : compile_text(GetParam().text)) {
    for (const plan::Function* f : {&model.plan->forward, &*model.plan->backward}) {
      const solve::Wide wide(f->graph);
      for (const plan::Kernel& k : f->kernels) {
        for (ir::TensorId t : k.writes)
          EXPECT_FALSE(wide(t) && f->places[t.value] == plan::Place::workspace) << f->graph[t].name;
      }
    }
  }
}

TEST_P(Variants, GiveWhatTheEvaluatorGives) {
  Library library(compile_text(GetParam().text));
  const std::vector<std::pair<int64_t, int64_t>> lengths = {
      {0, 3}, {1, 1}, {2, 0}, {5, 7}, {47, 64}, {48, 48}, {49, 1}, {97, 145}, {1, 300}};
  for (auto [t, s] : lengths) {
    for (int64_t e : {1, 24, 80}) {
      if (e > 1 && t != 49 && t != 97) continue;
      Arrays given = random_call(
          library.model(), {{"B", 2}, {"T", t}, {"S", s}, {"H", 2}, {"E", e}, {"F", e / 2 + 1}},
          static_cast<uint64_t>(t * 1000 + s));
      Outcome o = library.call(given);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      // Gradients of scores are sums of up to 145 numbers that cancel.
      EXPECT_EQ(differ(library.reference(given), o.values, 5e-5), "")
          << " T=" << t << " S=" << s << " E=" << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Variants, ::testing::ValuesIn(kVariants),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace attn::testing
