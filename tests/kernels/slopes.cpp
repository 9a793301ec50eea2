// Gradients and products along tangents beside differences of the evaluator's results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiled.h"
#include "compiler/driver/call.h"

namespace attn::testing {
namespace {

// The outputs weighted by their cotangents.
double weighted(const ir::Graph& g, const Arrays& given) {
  Arrays all = evaluate::evaluate(g, given);
  double sum = 0;
  for (const ir::Output& o : g.outputs) {
    auto weight = given.find("d" + o.name);
    if (weight == given.end()) continue;
    const Array& y = all.at(g[o.tensor].name);
    for (size_t k = 0; k < y.values.size(); ++k) sum += y.values[k] * weight->second.values[k];
  }
  return sum;
}

// How `given` changes along a direction: what is added to some arrays for a step of 1.
using Direction = Arrays;

// By five points: the error is of the fourth order in the step.
double slope(const ir::Graph& g, const Arrays& given, const Direction& direction, double size) {
  auto at = [&](double step) {
    Arrays moved = given;
    for (const auto& [name, along] : direction) {
      std::vector<double>& values = moved.at(name).values;
      for (size_t k = 0; k < values.size(); ++k) values[k] += step * along.values[k];
    }
    return weighted(g, moved);
  };
  return (8 * (at(size) - at(-size)) - (at(2 * size) - at(-2 * size))) / (12 * size);
}

// Compares the gradient with differences along one direction, at a point drawn near `given`.
std::string differ_near(const driver::Compiled& model, Arrays given, double tolerance,
                        std::mt19937_64& random) {
  auto drawn = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  // Values as they are stored may be equal, or at a step.
  for (const ir::Tensor& t : model.raw.tensors)
    if (ir::is_argument(t.role) && ir::is_real(ir::arithmetic_type(t.storage)))
      for (double& v : given.at(t.name).values) v += 1e-4 * drawn();
  const Arrays gradients = driver::call_reference(model, {.given = given, .gradient = true});
  Direction direction;
  double got = 0, scale = 1;
  for (const ir::Tensor& t : model.raw.tensors) {
    const auto gradient = gradients.find("d" + t.name);
    if (!ir::is_argument(t.role) || gradient == gradients.end()) continue;
    Array along = gradient->second;
    for (double& v : along.values) {
      const double moved = drawn();
      got += moved * v;
      scale += std::abs(moved * v);
      v = moved;
    }
    direction[t.name] = std::move(along);
  }
  const double want = slope(model.raw, given, direction, 2e-6);
  if (std::abs(want - got) <= tolerance * scale) return "";
  return fmt::format("along a direction the outputs change by {}, and by the gradient {}", want,
                     got);
}

}  // namespace

std::string differ_from_differences(const driver::Compiled& model, const Arrays& given,
                                    double tolerance) {
  const ir::Graph& g = model.raw;
  Arrays gradients = driver::call_reference(model, {.given = given, .gradient = true});
  std::mt19937_64 random(5);
  for (const ir::Tensor& t : g.tensors) {
    if (t.role != ir::Role::input && t.role != ir::Role::parameter) continue;
    if (!ir::is_real(ir::arithmetic_type(t.storage))) continue;
    auto it = gradients.find("d" + t.name);
    if (it == gradients.end()) return "no gradient of " + t.name;
    const std::vector<double>& got = it->second.values;
    double scale = 1;
    for (double v : got) scale = std::max(scale, std::abs(v));
    bool dense = got.size() <= 500;
    for (size_t k = 0; k < (dense ? got.size() : 8); ++k) {
      std::vector<double> direction(got.size());
      double along = 0;
      for (size_t n = 0; n < got.size(); ++n) {
        direction[n] = dense ? (n == k) : static_cast<double>(random() % 2001) / 1000 - 1;
        along += direction[n] * got[n];
      }
      double want = slope(g, given, {{t.name, {it->second.extents, direction}}}, 1e-3);
      double size = dense ? scale : std::max(scale, std::abs(want));
      if (!(std::abs(want - along) <= tolerance * size))
        return fmt::format("d{} along {}: {} instead of {}", t.name, k, along, want);
    }
  }
  return "";
}

std::string differ_from_slope(const driver::Compiled& model, const Arrays& given,
                              double tolerance) {
  std::mt19937_64 random(5);
  // Differences may cross a jump, as that of an argmax, which three points do not all lie beside.
  std::string differs;
  for (int point = 0; point < 3; ++point) {
    differs = differ_near(model, given, tolerance, random);
    if (differs.empty()) break;
  }
  return differs;
}

}  // namespace attn::testing
