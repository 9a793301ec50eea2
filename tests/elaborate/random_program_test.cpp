// Random programs are valid, the same for the same seed, and hold every kind of statement.
#include "tests/support/random_program.h"

#include <gtest/gtest.h>

#include <map>

#include "compiler/ir/recurrence.h"
#include "elaborated.h"

namespace attn::testing {
namespace {

constexpr uint64_t kSeeds = 600;

TEST(RandomPrograms, AreValid) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string text = random_program(seed).text;
    ASSERT_EQ(text, random_program(seed).text);
    const auto e = elaborate_text(text);
    ASSERT_FALSE(e->diagnostics.has_errors()) << "seed " << seed << "\n" << e->messages() << text;
  }
}

TEST(RandomPrograms, HoldEveryKindOfStatement) {
  std::map<ir::Combine, int> combines;
  std::map<ir::Storage, int> storages;
  std::map<std::string, int> words;
  int guards = 0, recurrences = 0, downwards = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string text = random_program(seed).text;
    const auto e = elaborate_text(text);
    const ir::Graph& g = e->graph();
    for (const ir::Definition& d : g.definitions) ++combines[d.combine], guards += !d.guard.empty();
    for (const ir::Tensor& t : g.tensors) ++storages[t.storage];
    for (const ir::Recurrence& r : ir::recurrences(g)) ++recurrences, downwards += r.down;
    for (const char* word :
         {"softmax[", "inside",    "kind[",    "block ", "repeat ", "layer_norm", "T + S", "T // 2",
          "N * M",    "2 * T - 1", "uniform(", "stop(",  " in 1..", "2 < 1",      "N < 3", "T // 8",
          "% T",      "on[",       "tok[",     "sign(",  "= -1",    "[0,",        "3 - 1"})
      words[word] += text.find(word) != std::string::npos;
  }
  EXPECT_EQ(combines.size(), 7u);
  EXPECT_EQ(storages.size(), 6u);
  for (const auto& [combine, n] : combines) EXPECT_GT(n, 10) << name_of(combine);
  for (const auto& [word, n] : words) EXPECT_GT(n, 10) << word;
  EXPECT_GT(guards, 100);
  EXPECT_GT(recurrences, 20);
  EXPECT_GT(downwards, 5);
}

}  // namespace
}  // namespace attn::testing
