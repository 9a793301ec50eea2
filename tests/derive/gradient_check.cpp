#include "gradient_check.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "compiler/derive/derive.h"

namespace attn::testing {
namespace {

using evaluate::Array;
using evaluate::Arrays;

bool is_real(const ir::Tensor& t) { return ir::is_real(ir::arithmetic_type(t.storage)); }

// The same on every machine: the distributions of the standard library are not.
double number(std::mt19937_64& random) {
  return static_cast<double>(static_cast<int64_t>(random() >> 11)) * 0x1p-52 - 1;
}

// A cotangent for every real output.
Arrays cotangents(const ir::Graph& g, const Arrays& results, uint64_t seed) {
  std::mt19937_64 random(seed);
  Arrays made;
  for (const ir::Output& o : g.outputs) {
    if (!is_real(g[o.tensor])) continue;
    Array a = results.at(g[o.tensor].name);
    for (double& v : a.values) v = number(random);
    made["d" + o.name] = std::move(a);
  }
  return made;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

class Check {
 public:
  Check(const ir::Graph& forward, const Arrays& inputs, const CheckOptions& options)
      : g_(forward), inputs_(inputs), options_(options) {}

  std::string run() {
    const Arrays results = evaluate::evaluate(g_, inputs_);
    made_ = cotangents(g_, results, 1);
    const Arrays gradients = gradient_at(g_, inputs_);
    for (const ir::Tensor& t : g_.tensors) {
      if ((t.role != ir::Role::input && t.role != ir::Role::parameter) || !is_real(t)) continue;
      auto found = gradients.find("d" + t.name);
      if (found == gradients.end()) return "no gradient of " + t.name;
      if (found->second.extents != inputs_.at(t.name).extents) return "the shape of d" + t.name;
      std::string text = compare(t.name, found->second.values);
      if (!text.empty()) return text;
    }
    return "";
  }

 private:
  Arrays moved(const std::string& name, const std::vector<double>& direction, double step) const {
    Arrays at = inputs_;
    std::vector<double>& values = at.at(name).values;
    for (size_t k = 0; k < values.size(); ++k) values[k] += step * direction[k];
    return evaluate::evaluate(g_, at);
  }

  // How the outputs, weighed by their cotangents, change along a direction. Differences are taken
  // element by element: a maximum over nothing is -3.4e38, and would swallow the others.
  double slope(const std::string& name, const std::vector<double>& direction, double h) const {
    const Arrays high = moved(name, direction, h), low = moved(name, direction, -h);
    double sum = 0;
    for (const ir::Output& o : g_.outputs) {
      if (!is_real(g_[o.tensor])) continue;
      const std::vector<double>& weight = made_.at("d" + o.name).values;
      const std::vector<double>& a = high.at(g_[o.tensor].name).values;
      const std::vector<double>& b = low.at(g_[o.tensor].name).values;
      for (size_t k = 0; k < weight.size(); ++k) sum += weight[k] * (a[k] - b[k]);
    }
    return sum / (2 * h);
  }

  std::string compare(const std::string& name, const std::vector<double>& gradient) {
    const size_t n = gradient.size();
    const bool dense = static_cast<int64_t>(n) <= options_.dense_up_to;
    double scale = 1;
    for (double v : gradient) scale = std::max(scale, std::abs(v));
    std::mt19937_64 random(7);
    for (size_t k = 0; k < (dense ? n : 8); ++k) {
      std::vector<double> direction(n);
      for (double& v : direction) v = dense ? 0 : number(random);
      if (dense) direction[k] = 1;
      const double h = options_.step, derived = dot(gradient, direction);
      const double once = slope(name, direction, h);
      if (std::abs(derived - once) <= 0.1 * options_.tolerance * scale) continue;
      const double difference = (4 * once - slope(name, direction, 2 * h)) / 3;
      if (!(std::abs(derived - difference) <= options_.tolerance * scale))
        return fmt::format("d{}[{}]: derived {}, by differences {}", name, k, derived, difference);
    }
    return "";
  }

  const ir::Graph& g_;
  const Arrays& inputs_;
  const CheckOptions& options_;
  Arrays made_;
};

}  // namespace

Arrays gradient_at(const ir::Graph& forward, const Arrays& inputs, uint64_t seed) {
  Diagnostics diagnostics;
  const ir::Graph gradient = derive::gradient(forward, diagnostics);
  ATTN_CHECK(!diagnostics.has_errors(), "derive refused: " + diagnostics.all()[0].message);
  Arrays given = inputs;
  given.merge(cotangents(forward, evaluate::evaluate(forward, inputs), seed));
  return evaluate::evaluate(gradient, given);
}

std::string check_gradient(const ir::Graph& forward, const Arrays& inputs,
                           const CheckOptions& options) {
  return Check(forward, inputs, options).run();
}

}  // namespace attn::testing
