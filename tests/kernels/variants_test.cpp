// Variants of attention that people write, tests/variants/NAME.attn: none stores a tensor over two
// sequence axes, forward or backward, their plans are goldens, and their kernels give what the
// evaluator gives.
#include <gtest/gtest.h>

#include "compiled.h"
#include "compiler/solve/unmaterialised.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

class Variants : public ::testing::TestWithParam<fs::path> {};

TEST_P(Variants, StoreNoUnmaterialisedTensor) {
  const driver::Compiled model = compile_file(GetParam().string()).at(0);
  for (const plan::Function* f : {&model.plan->forward, &*model.plan->backward}) {
    const solve::Unmaterialised unmaterialised(f->graph);
    for (const plan::Kernel& k : f->kernels)
      for (ir::TensorId t : k.writes)
        EXPECT_FALSE(unmaterialised(t) && f->places[t.value] == plan::Place::workspace)
            << f->graph[t].name;
  }
  expect_golden(fs::path(GetParam()).replace_extension(".plan"), plan::to_string(*model.plan));
}

TEST_P(Variants, GiveWhatTheEvaluatorGives) {
  Library library(compile_file(GetParam().string()));
  const std::vector<std::pair<int64_t, int64_t>> lengths = {
      {0, 3}, {1, 1}, {2, 0}, {5, 7}, {47, 64}, {48, 48}, {49, 1}, {97, 145}, {1, 300}};
  for (auto [t, s] : lengths) {
    for (int64_t e : {1, 24, 80}) {
      if (e > 1 && t != 49 && t != 97) continue;
      const std::map<std::string, int64_t> sizes = {{"B", 2}, {"T", t},    {"S", s},
                                                    {"H", 2}, {"E", e},    {"F", e / 2 + 1},
                                                    {"N", t}, {"V", s + 2}};
      Arrays given = random_call(library.model(), sizes, static_cast<uint64_t>(t * 1000 + s));
      Outcome o = library.call(given);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      // Gradients of scores are sums of up to 145 numbers that cancel.
      EXPECT_EQ(differ(library.reference(given), o.values, 5e-5), "")
          << " T=" << t << " S=" << s << " E=" << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, Variants,
    ::testing::ValuesIn(files_in(fs::path(ATTN_SOURCE_DIR) / "tests" / "variants", ".attn")),
    [](const auto& which) { return which.param.stem().string(); });

}  // namespace
}  // namespace attn::testing
