// Random programs of the whole language: simplified graphs mean what was written, gradients are
// derivatives, and kernels give what the evaluator gives, with one instruction set after the other.
// A failure is shrunk to a program that has nothing but what it needs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "judge.h"
#include "seeds.h"
#include "tests/support/shrink.h"

namespace attn::testing {
namespace {

constexpr const char* kSeeds = "ATTN_RANDOM_PROGRAMS";

// What the generator has made is valid, so that a program that is refused is looked at as it is.
template <typename Judge>
void report(uint64_t seed, const RandomProgram& program, const Verdict& verdict,
            const Judge& judge) {
  RandomProgram least = program;
  if (verdict.kind != Verdict::refused)
    least = shrink(
        program, [&](const RandomProgram& p) { return judge(p).kind == verdict.kind; }, 300);
  ADD_FAILURE() << "seed " << seed << ": " << verdict.message << "\n"
                << least.text << judge(least).message;
}

void check_graphs(uint64_t seed) {
  const auto judge_one = [](const RandomProgram& p) { return judge_graphs(p); };
  const RandomProgram program = random_program(seed);
  if (const Verdict v = judge_one(program)) report(seed, program, v, judge_one);
}

// What the graphs show is left to `check_graphs`.
void check_kernels(const std::vector<uint64_t>& seeds, const std::string& target) {
  const auto judge_one = [&](const RandomProgram& p) { return judge(p, target); };
  std::map<uint64_t, RandomProgram> programs;
  std::vector<driver::Compiled> models;
  for (const uint64_t seed : seeds) {
    const RandomProgram program = random_program(seed);
    if (seeds.size() == 1) std::puts(program.text.c_str());  // also where it ends the process
    if (!front(program, models)) programs[seed] = program;
  }
  if (models.empty()) return;
  std::unique_ptr<Library> together;
  try {
    together = std::make_unique<Library>(std::move(models), 2, target);
  } catch (const std::exception&) {
    // One of them: each is judged alone.
  }
  for (const auto& [seed, program] : programs) {
    SCOPED_TRACE(target);
    const Verdict v =
        together ? judge_calls(*together, fmt::format("r{}", seed), program) : judge_one(program);
    if (v) report(seed, program, v, judge_one);
  }
}

TEST(RandomPrograms, MeanTheSameSimplifiedAndHaveTheirDerivatives) {
  const Seeds all = seeds(kSeeds, 150);
  for (uint64_t seed = all.first; seed <= all.last; ++seed) check_graphs(seed);
}

TEST(RandomPrograms, GiveWhatTheEvaluatorGives) {
  const Seeds all = seeds(kSeeds, 4);
  constexpr uint64_t kTogether = 8;
  for (uint64_t start = all.first; start <= all.last; start += kTogether) {
    std::vector<uint64_t> together(std::min(kTogether, all.last + 1 - start));
    std::iota(together.begin(), together.end(), start);
    check_kernels(together, target_in_turn(start / kTogether));
  }
}

// Each failed once.
TEST(RandomPrograms, ThatFailedDoNotFailAgain) {
  const std::vector<uint64_t> failed{431134, 431327, 432352, 433302, 433475, 434701, 435444,
                                     435481, 435732, 439288, 439583, 441260, 441674, 441703,
                                     441867, 442479, 442495, 442744, 442819, 443884};
  for (const uint64_t seed : failed) check_graphs(seed);
  check_kernels(failed, target_in_turn(0));
}

}  // namespace
}  // namespace attn::testing
