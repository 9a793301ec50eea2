#include "forward_check.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <random>

#include "compiler/derive/derive.h"
#include "compiler/simplify/pass.h"

namespace attn::testing {
namespace {

using evaluate::Array;
using evaluate::Arrays;

bool is_real(const ir::Tensor& t) { return ir::is_real(ir::arithmetic_type(t.storage)); }
bool is_given(const ir::Tensor& t) {
  return t.role == ir::Role::input || t.role == ir::Role::parameter;
}

Arrays moved(Arrays inputs, const Arrays& tangents, double step) {
  for (auto& [name, array] : inputs) {
    auto found = tangents.find("t" + name);
    if (found == tangents.end()) continue;
    for (size_t k = 0; k < array.values.size(); ++k)
      array.values[k] += step * found->second.values[k];
  }
  return inputs;
}

// How the results of `f` change along the tangents, by five points.
Arrays differences(const std::function<Arrays(const Arrays&)>& f, const Arrays& inputs,
                   const Arrays& tangents, double h) {
  const Arrays a = f(moved(inputs, tangents, h)), b = f(moved(inputs, tangents, -h)),
               c = f(moved(inputs, tangents, 2 * h)), d = f(moved(inputs, tangents, -2 * h));
  Arrays result = a;
  for (auto& [name, array] : result)
    for (size_t k = 0; k < array.values.size(); ++k)
      array.values[k] = (8 * (array.values[k] - b.at(name).values[k]) -
                         (c.at(name).values[k] - d.at(name).values[k])) /
                        (12 * h);
  return result;
}

Arrays outputs_at(const ir::Graph& g, const Arrays& given) {
  const Arrays all = evaluate::evaluate(g, given);
  Arrays result;
  for (const ir::Output& o : g.outputs)
    if (is_real(g[o.tensor])) result[o.name] = all.at(g[o.tensor].name);
  return result;
}

std::string differ(const Arrays& want, const Arrays& got, double tolerance,
                   const std::string& of_want, const std::string& of_got) {
  for (const auto& [name, array] : want) {
    const Array& other = got.at(of_got + name.substr(of_want.size()));
    if (array.extents != other.extents) return "the shape of " + name;
    double scale = 1;
    for (double v : array.values) scale = std::max(scale, std::abs(v));
    for (size_t k = 0; k < array.values.size(); ++k)
      if (!(std::abs(array.values[k] - other.values[k]) <= tolerance * scale))
        return fmt::format("{}[{}]: {} instead of {}", of_got + name, k, other.values[k],
                           array.values[k]);
  }
  return "";
}

Arrays together(Arrays a, const Arrays& b) {
  a.insert(b.begin(), b.end());
  return a;
}

void accept(const Diagnostics& diagnostics) {
  ATTN_CHECK(!diagnostics.has_errors(), "derive refused: " + diagnostics.all()[0].message);
}

ir::Graph simplified(const ir::Graph& raw) {
  return simplify::simplify_gradient(simplify::spread_guards(raw), {});
}

// The inner products of `a` and `b`, whose names begin with these prefixes; and the sum of the
// terms' magnitudes.
std::pair<double, double> inner(const Arrays& a, const std::string& of_a, const Arrays& b,
                                const std::string& of_b) {
  double sum = 0, size = 1;
  for (const auto& [name, array] : a) {
    if (!name.starts_with(of_a)) continue;
    auto found = b.find(of_b + name.substr(of_a.size()));
    if (found == b.end()) continue;
    for (size_t k = 0; k < array.values.size(); ++k) {
      const double term = array.values[k] * found->second.values[k];
      sum += term;
      size += std::abs(term);
    }
  }
  return {sum, size};
}

}  // namespace

Arrays random_tangents(const ir::Graph& g, const Arrays& inputs, uint64_t seed) {
  std::mt19937_64 random(seed);
  Arrays made;
  for (const ir::Tensor& t : g.tensors) {
    if (!is_given(t) || !is_real(t)) continue;
    Array a = inputs.at(t.name);
    for (double& v : a.values)
      v = static_cast<double>(static_cast<int64_t>(random() >> 11)) * 0x1p-52 - 1;
    made["t" + t.name] = std::move(a);
  }
  return made;
}

std::string check_jvp(const ir::Graph& forward, const Arrays& inputs, const CheckOptions& options) {
  Diagnostics diagnostics;
  const ir::Graph raw = derive::jvp(forward, diagnostics);
  const ir::Graph gradient = derive::gradient(forward, diagnostics);
  accept(diagnostics);
  const Arrays tangents = random_tangents(forward, inputs, 11), v = together(inputs, tangents);
  const Arrays changes = outputs_at(raw, v);
  const Arrays want = differences([&](const Arrays& x) { return outputs_at(forward, x); }, inputs,
                                  tangents, options.step);
  if (std::string text = differ(want, changes, options.tolerance, "", "t"); !text.empty())
    return text;
  if (std::string text = differ(changes, outputs_at(simplified(raw), v), 1e-9, "", "");
      !text.empty())
    return "simplified " + text;

  Arrays u;
  std::mt19937_64 random(13);
  for (const auto& [name, array] : want) {
    Array a = array;
    for (double& x : a.values) x = static_cast<double>(random() % 2001) / 1000 - 1;
    u["d" + name] = std::move(a);
  }
  const auto [left, size] = inner(u, "d", changes, "t");
  const auto [right, other] = inner(outputs_at(gradient, together(inputs, u)), "d", tangents, "t");
  if (std::abs(left - right) <= 1e-10 * std::max(size, other)) return "";
  return fmt::format("<u, J v> is {}, <J' u, v> is {}", left, right);
}

std::string check_hvp(const ir::Graph& forward, const Arrays& inputs, const CheckOptions& options) {
  Diagnostics diagnostics;
  const ir::Graph first = derive::loss_gradient(forward, diagnostics);
  accept(diagnostics);
  const ir::Graph raw = derive::hessian_product(first, diagnostics);
  const ir::Graph short_way = derive::hessian_product(simplified(first), diagnostics);
  const ir::Graph gradient = derive::gradient(forward, diagnostics);
  accept(diagnostics);
  const Arrays tangents = random_tangents(forward, inputs, 14), v = together(inputs, tangents);
  const Arrays products = outputs_at(raw, v);
  auto gradient_at = [&](Arrays x) {
    x["dloss"] = {{}, {1}};
    return outputs_at(gradient, x);
  };
  const Arrays want = differences(gradient_at, inputs, tangents, options.step);
  if (std::string text = differ(want, products, options.tolerance, "d", "h"); !text.empty())
    return text;
  if (std::string text = differ(products, outputs_at(simplified(short_way), v), 1e-8, "", "");
      !text.empty())
    return "simplified " + text;
  return "";
}

}  // namespace attn::testing
