#include "judge.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/base/check.h"
#include "compiler/driver/call.h"

namespace attn::testing {
namespace {

using Sizes = std::map<std::string, int64_t>;

std::string at_sizes(const Sizes& sizes) {
  std::string text;
  for (const auto& [size, value] : sizes) text += fmt::format(" {}={}", size, value);
  return text;
}

// The verdict of the first call that is not fine.
template <typename Judge>
Verdict judge_each(const RandomProgram& program, const Judge& judge) {
  for (const Sizes& sizes : program.calls)
    if (Verdict v = judge(sizes)) return {v.kind, v.message + at_sizes(sizes)};
  return {};
}

std::string differ_as_graphs(const ir::Graph& raw, const Arrays& given, const Arrays& want,
                             double tolerance) {
  const Arrays plainly = evaluate::evaluate(raw, given);
  for (const ir::Output& o : raw.outputs) {
    const std::string text =
        differ(o.name, plainly.at(raw[o.tensor].name), want.at(o.name), tolerance, 0.05);
    if (!text.empty()) return text;
  }
  return "";
}

// Programs keep their values small; what is as large as a maximum over nothing came from one.
std::string not_finite(const Arrays& results) {
  constexpr double kLarge = 1e30;
  for (const auto& [name, array] : results)
    for (size_t k = 0; k < array.values.size(); ++k)
      if (!(std::abs(array.values[k]) < kLarge))
        return fmt::format("{}[{}] is {}", name, k, array.values[k]);
  return "";
}

Verdict judge_graphs_at(const driver::Compiled& model, const RandomProgram& program,
                        const Sizes& sizes) {
  const Arrays given = random_call(model, sizes, 3, program.integers);
  const Arrays want = driver::call_reference(model, {.given = given, .gradient = true});
  const double tolerance = std::max(1e-8, program.tolerance - 1e-4);
  if (std::string text = differ_as_graphs(model.raw, given, want, tolerance); !text.empty())
    return {Verdict::simplified, text};
  if (std::string text = not_finite(want); !text.empty()) return {Verdict::not_finite, text};
  if (!model.raw_gradient) return {};
  if (std::string text = differ_as_graphs(*model.raw_gradient, given, want, 1e-7 + tolerance);
      !text.empty())
    return {Verdict::simplified, text};
  // A stop is a constant for derivatives alone.
  if (program.text.find("stop(") != std::string::npos) return {};
  if (std::string text = differ_from_slope(model, given); !text.empty())
    return {Verdict::slope, text};
  return {};
}

}  // namespace

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

Verdict judge_graphs(const driver::Compiled& model, const RandomProgram& program) {
  try {
    return judge_each(program,
                      [&](const Sizes& sizes) { return judge_graphs_at(model, program, sizes); });
  } catch (const evaluate::CallError& e) {
    return {Verdict::refused, e.what()};
  } catch (const std::exception& e) {
    return {Verdict::broken, e.what()};
  }
}

Verdict judge_graphs(const RandomProgram& program) {
  std::vector<driver::Compiled> models;
  if (Verdict v = front(program, models)) return v;
  return judge_graphs(models.at(0), program);
}

Verdict judge_calls(Library& library, const std::string& name, const RandomProgram& program) {
  return judge_each(program, [&](const Sizes& sizes) -> Verdict {
    const Arrays given = random_call(library.model(name), sizes, 3, program.integers);
    const Outcome o = library.call(given, {}, name);
    if (o.status != ATTN_OK) return {Verdict::call, o.message};
    const std::string text =
        differ_beyond_rounding(library, name, given, o.values, program.tolerance, 0.05);
    return {text.empty() ? Verdict::fine : Verdict::wrong, text};
  });
}

Verdict judge(const RandomProgram& program, const std::string& target) {
  std::vector<driver::Compiled> models;
  if (Verdict v = front(program, models)) return v;
  if (Verdict v = judge_graphs(models.at(0), program)) return v;
  try {
    const std::string name = models.at(0).name;
    Library library(std::move(models), 2, target);
    return judge_calls(library, name, program);
  } catch (const std::exception& e) {
    return {Verdict::broken, e.what()};
  }
}

}  // namespace attn::testing
