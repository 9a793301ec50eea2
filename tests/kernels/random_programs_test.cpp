// Random programs of the whole language: forward and gradient kernels give what the evaluator
// gives, with one instruction set after the other. A failure is shrunk to a program that has
// nothing but what it needs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "compiled.h"
#include "compiler/base/check.h"
#include "tests/support/random_program.h"
#include "tests/support/shrink.h"

namespace attn::testing {
namespace {

struct Verdict {
  enum Kind {
    fine,
    refused,     // the front end says that the program is wrong
    broken,      // the compiler fails
    simplified,  // the graph means something else after simplification
    call,        // a call is refused
    wrong,       // kernels give other numbers than the evaluator
  } kind = fine;
  std::string message;
};

// The model of the program, or why there is none.
Verdict front(const RandomProgram& program, std::vector<driver::Compiled>& models) {
  try {
    for (driver::Compiled& m : compile_text(program.text)) models.push_back(std::move(m));
    return {};
  } catch (const InternalError& e) {
    return {Verdict::broken, e.what()};
  } catch (const std::exception& e) {
    return {Verdict::refused, e.what()};
  }
}

Verdict judge_call(Library& library, const std::string& name, const RandomProgram& program,
                   const std::map<std::string, int64_t>& sizes) {
  const driver::Compiled& model = library.model(name);
  const Arrays given = random_call(model, sizes, 3, program.integers);
  const Arrays want = library.reference(given, name);
  const Arrays plainly = evaluate::evaluate(model.raw, given);
  for (const ir::Output& o : model.raw.outputs) {
    const std::string difference =
        differ(o.name, plainly.at(model.raw[o.tensor].name), want.at(o.name),
               std::max(1e-8, program.tolerance - 1e-4), 0.05);
    if (!difference.empty()) return {Verdict::simplified, difference};
  }
  const Outcome o = library.call(given, {}, name);
  if (o.status != ATTN_OK) return {Verdict::call, o.message};
  const std::string difference =
      differ_beyond_rounding(library, name, given, o.values, program.tolerance, 0.05);
  return {difference.empty() ? Verdict::fine : Verdict::wrong, difference};
}

Verdict judge_calls(Library& library, const std::string& name, const RandomProgram& program) {
  for (const auto& sizes : program.calls) {
    Verdict v = judge_call(library, name, program, sizes);
    if (v.kind == Verdict::fine) continue;
    for (const auto& [size, value] : sizes) v.message += fmt::format(" {}={}", size, value);
    return v;
  }
  return {};
}

Verdict judge(const RandomProgram& program, const std::string& target) {
  std::vector<driver::Compiled> models;
  Verdict v = front(program, models);
  if (v.kind != Verdict::fine) return v;
  try {
    const std::string name = models.at(0).name;
    Library library(std::move(models), 2, target);
    return judge_calls(library, name, program);
  } catch (const std::exception& e) {
    return {Verdict::broken, e.what()};
  }
}

// What the generator has made is valid, so that a program that is refused is looked at as it is.
void report(uint64_t seed, const RandomProgram& program, const std::string& target,
            const Verdict& verdict) {
  RandomProgram least = program;
  if (verdict.kind != Verdict::refused)
    least = shrink(
        program, [&](const RandomProgram& p) { return judge(p, target).kind == verdict.kind; },
        300);
  ADD_FAILURE() << "seed " << seed << " for " << target << ": " << verdict.message << "\n"
                << least.text << judge(least, target).message;
}

// The first seed and the last; more of them by hand: ATTN_RANDOM_PROGRAMS=100..400.
TEST(RandomPrograms, GiveWhatTheEvaluatorGives) {
  uint64_t first = 1, last = 4;
  if (const char* text = getenv("ATTN_RANDOM_PROGRAMS")) {
    ASSERT_EQ(std::sscanf(text, "%lu..%lu", &first, &last), 2);
  }
  constexpr uint64_t kTogether = 8;
  for (uint64_t start = first; start <= last; start += kTogether) {
    const std::string target = target_in_turn(start / kTogether);
    std::map<uint64_t, RandomProgram> programs;
    std::vector<driver::Compiled> models;
    for (uint64_t seed = start; seed < start + kTogether && seed <= last; ++seed) {
      const RandomProgram program = random_program(seed);
      if (first == last) std::puts(program.text.c_str());  // also where it ends the process
      const Verdict v = front(program, models);
      if (v.kind == Verdict::fine)
        programs[seed] = program;
      else
        report(seed, program, target, v);
    }
    if (models.empty()) continue;
    std::unique_ptr<Library> together;
    try {
      together = std::make_unique<Library>(std::move(models), 2, target);
    } catch (const std::exception&) {
      // One of them: each is judged alone.
    }
    for (const auto& [seed, program] : programs) {
      const Verdict v = together ? judge_calls(*together, fmt::format("r{}", seed), program)
                                 : judge(program, target);
      if (v.kind != Verdict::fine) report(seed, program, target, v);
    }
  }
}

}  // namespace
}  // namespace attn::testing
