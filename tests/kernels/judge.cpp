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

// "" or how the tangents of outputs and the gradients disagree: both give the slope along the
// tangents, one weighted by what is given for the outputs.
std::string differ_from_gradient(const driver::Compiled& model, const Arrays& given,
                                 const Arrays& results) {
  double of_tangents = 0, of_gradients = 0, scale = 0;
  const auto add = [&](double& sum, const std::string& computed, const std::string& weight) {
    const auto x = results.find(computed), y = given.find(weight);
    if (x == results.end() || y == given.end()) return;
    for (size_t k = 0; k < x->second.values.size(); ++k) {
      const double product = x->second.values[k] * y->second.values[k];
      sum += product;
      scale += std::abs(product);
    }
  };
  for (const ir::Output& o : model.forward.outputs) add(of_tangents, "t" + o.name, "d" + o.name);
  for (const ir::Tensor& t : model.forward.tensors)
    if (ir::is_argument(t.role)) add(of_gradients, "d" + t.name, "t" + t.name);
  if (std::abs(of_tangents - of_gradients) <= 1e-7 * (1 + scale)) return "";
  return fmt::format("tangents say {}, gradients {}", of_tangents, of_gradients);
}

Verdict judge_graphs_at(const driver::Compiled& model, const RandomProgram& program,
                        const Sizes& sizes) {
  const Arrays given = random_call(model, sizes, 3, program.integers);
  const Arrays want =
      driver::call_reference(model, {.given = given, .gradient = true, .jvp = true, .hvp = true});
  const double tolerance = std::max(1e-8, program.tolerance - 1e-4);
  if (std::string text = differ_as_graphs(model.raw, given, want, tolerance); !text.empty())
    return {Verdict::simplified, text};
  if (std::string text = not_finite(want); !text.empty()) return {Verdict::not_finite, text};
  if (!model.raw_gradient) return {};
  if (std::string text = differ_as_graphs(*model.raw_gradient, given, want, 1e-7 + tolerance);
      !text.empty())
    return {Verdict::simplified, text};
  if (model.jvp)
    if (std::string text = differ_from_gradient(model, given, want); !text.empty())
      return {Verdict::slope, text};
  // A stop is a constant for derivatives alone.
  if (program.text.find("stop(") != std::string::npos) return {};
  if (std::string text = differ_from_slope(model, given); !text.empty())
    return {Verdict::slope, text};
  return {};
}

}  // namespace

Verdict front(const RandomProgram& program, std::vector<driver::Compiled>& models) {
  try {
    const Derive derive = program.has_tangents ? Derive::all : Derive::gradients;
    for (driver::Compiled& m : compile_text(program.text, {}, derive))
      models.push_back(std::move(m));
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
    const driver::Compiled& model = library.model(name);
    const CallOptions options{.jvp = model.jvp.has_value(), .hvp = model.hvp.has_value()};
    const Outcome o = library.call(given, options, name);
    if (o.status != ATTN_OK) return {Verdict::call, o.message};
    const std::string text =
        differ_beyond_rounding(library, name, given, options, o.values, program.tolerance, 0.05);
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
