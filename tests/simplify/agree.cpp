#include "agree.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/derive/derive.h"
#include "compiler/simplify/pass.h"
#include "tests/support/random_graph.h"

namespace attn::testing {

using evaluate::Array;
using evaluate::Arrays;

namespace {

// Every addend is rounded once more or less after a pass: relative to the largest value of a
// tensor.
constexpr double kTolerance = 1e-9;

std::string difference(const ir::Graph& g, const Arrays& expected, const Arrays& actual) {
  for (const ir::Output& o : g.outputs) {
    const std::string& name = g[o.tensor].name;
    const Array &a = expected.at(name), &b = actual.at(name);
    if (a.extents != b.extents) return name + ": other extents";
    double scale = 1;
    for (double v : a.values)
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
    for (size_t k = 0; k < a.values.size(); ++k) {
      double x = a.values[k], y = b.values[k];
      bool same = std::isnan(x) ? std::isnan(y) : x == y || std::abs(x - y) <= kTolerance * scale;
      if (!same) return fmt::format("{}[{}]: {} became {}", name, k, x, y);
    }
  }
  return "";
}

std::vector<ir::TensorId> outputs_of(const ir::Graph& forward, const ir::Graph& gradient) {
  std::vector<ir::TensorId> result;
  for (const ir::Output& o : forward.outputs)
    if (auto t = gradient.find(forward[o.tensor].name)) result.push_back(*t);
  return result;
}

}  // namespace

ir::Graph raw_gradient(const ir::Graph& forward) {
  Diagnostics diagnostics;
  return simplify::spread_guards(derive::gradient(forward, diagnostics));
}

ir::Graph simplified_gradient(const ir::Graph& forward) {
  ir::Graph tidy = simplify::simplify(simplify::spread_guards(forward));
  ir::Graph raw = raw_gradient(tidy);
  return simplify::simplify_gradient(raw, outputs_of(tidy, raw));
}

std::string disagreement(const ir::Graph& forward, const std::vector<int64_t>& sizes,
                         const Arrays& inputs, uint64_t seed) {
  std::string found;
  ir::Graph before = simplify::spread_guards(forward);
  Arrays expected = evaluate::evaluate(before, inputs);
  auto check = [&](const ir::Graph& reference, const Arrays& given) {
    return [&](const simplify::Pass& pass, const ir::Graph& g) {
      if (!found.empty()) return;
      std::string text;
      try {
        text = difference(reference, expected, evaluate::evaluate(g, given));
      } catch (const evaluate::CallError& e) {
        text = e.what();
      }
      if (!text.empty()) found = std::string(pass.name) + ": " + text;
    };
  };
  ir::Graph tidy = simplify::simplify(before, check(before, inputs));
  if (!found.empty()) return "forward, after " + found;

  // The gradient of the graph as it came: more is left for the passes to do.
  for (const ir::Graph* source : {&before, &tidy}) {
    ir::Graph raw = raw_gradient(*source);
    Arrays given = inputs;
    for (auto& [name, values] : random_inputs(raw, sizes, seed)) given.try_emplace(name, values);
    expected = evaluate::evaluate(raw, given);
    simplify::simplify_gradient(raw, outputs_of(*source, raw), {}, check(raw, given));
    if (!found.empty()) return "gradient, after " + found;
  }
  return "";
}

}  // namespace attn::testing
