// Random programs of the whole language: simplified graphs mean what was written, gradients are
// derivatives, and kernels give what the evaluator gives, with one instruction set after the other.
// A failure is shrunk to a program that has nothing but what it needs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>

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

TEST(RandomPrograms, MeanTheSameSimplifiedAndHaveTheirDerivatives) {
  const auto judge_one = [](const RandomProgram& p) { return judge_graphs(p); };
  const Seeds all = seeds(kSeeds, 150);
  for (uint64_t seed = all.first; seed <= all.last; ++seed) {
    const RandomProgram program = random_program(seed);
    if (const Verdict v = judge_one(program)) report(seed, program, v, judge_one);
  }
}

TEST(RandomPrograms, GiveWhatTheEvaluatorGives) {
  const Seeds all = seeds(kSeeds, 4);
  constexpr uint64_t kTogether = 8;
  for (uint64_t start = all.first; start <= all.last; start += kTogether) {
    const std::string target = target_in_turn(start / kTogether);
    const auto judge_one = [&](const RandomProgram& p) { return judge(p, target); };
    std::map<uint64_t, RandomProgram> programs;
    std::vector<driver::Compiled> models;
    for (uint64_t seed = start; seed < start + kTogether && seed <= all.last; ++seed) {
      const RandomProgram program = random_program(seed);
      if (all.first == all.last) std::puts(program.text.c_str());  // also where it ends the process
      // What the graphs show is reported by the other test.
      if (!front(program, models)) programs[seed] = program;
    }
    if (models.empty()) continue;
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
}

}  // namespace
}  // namespace attn::testing
