#include "differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "compiled.h"
#include "compiler/driver/call.h"
#include "compiler/ops/table.h"

namespace attn::testing {

std::string differ(const std::string& name, const Array& want, const Array& got, double tolerance,
                   double least) {
  if (want.extents != got.extents) return name + ": the shapes differ";
  size_t row = want.extents.empty() ? 1 : static_cast<size_t>(want.extents.back());
  for (size_t start = 0; start < want.values.size(); start += row) {
    double scale = least;
    for (size_t k = start; k < start + row; ++k)
      if (std::isfinite(want.values[k])) scale = std::max(scale, std::abs(want.values[k]));
    for (size_t k = start; k < start + row; ++k) {
      double a = want.values[k], b = got.values[k];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      if (std::abs(a - b) <= tolerance * slack_of_products() * scale) continue;
      return fmt::format("{}[{}]: {} instead of {}, {:.2g} of the row's {:.3g}", name, k, b, a,
                         std::abs(a - b) / scale, scale);
    }
  }
  return "";
}

std::string differ(const Arrays& want, const Arrays& got, double tolerance, double least) {
  // 'd' for gradients; 't' and 'h' where what they belong to is there; 0 for outputs.
  auto kind = [&](const std::string& name) {
    const std::string of = name.substr(1);
    const bool tangent = name[0] == 't' && want.count(of);
    const bool product = name[0] == 'h' && want.count("d" + of);
    return name[0] == 'd' || tangent || product ? name[0] : '\0';
  };
  auto largest_of = [](const Array& array) {
    double largest = 0;
    for (double v : array.values)
      if (std::abs(v) < 1e30) largest = std::max(largest, std::abs(v));
    return largest;
  };
  std::map<char, double> largest;
  for (const auto& [name, array] : want)
    largest[kind(name)] = std::max(largest[kind(name)], largest_of(array));
  for (const auto& [name, array] : want) {
    auto it = got.find(name);
    if (it == got.end()) return "no " + name;
    const bool short_rows = !array.extents.empty() && array.extents.back() < 4;
    const double scale = kind(name) ? largest[kind(name)] * (array.values.size() < 4 ? 2 : 0.05)
                                    : largest_of(array) / (short_rows ? 100 : 1000);
    std::string text = differ(name, array, it->second, tolerance, std::max(scale, least));
    if (!text.empty()) return text;
  }
  return "";
}

namespace {

// What is off by more than so many times the tolerance is explained by roundings that it is
// proportional to, but by no step, as of an argmax, that lies within the nudges.
constexpr double kMostAmplified = 20;
constexpr double kSmall = 1.0 / 16;  // the size of the smaller nudges, which tell the two apart

// The largest relative error of one rounding.
double rounding_of(ir::Storage storage) {
  switch (storage) {
    case ir::Storage::bf16:
      return std::ldexp(1, -8);
    case ir::Storage::f16:
      return std::ldexp(1, -11);
    case ir::Storage::f64:
      return std::ldexp(1, -53);
    default:
      return std::ldexp(1, -24);
  }
}

// Whether kernels round the value of a call, which is exact for abs, floor, max and their like.
bool is_rounded(const ir::Expr& e) {
  if (!e.is(ir::Kind::call) || !ir::is_real(e.type())) return false;
  const bool is_known = ir::meaning(e) == ir::Meaning::none ||
                        ir::meaning(e) == ir::Meaning::exponential ||
                        ir::meaning(e) == ir::Meaning::logarithm;
  return is_known && e->operation->derivative && e->operation->arity == 1;
}

bool chooses(ir::Combine combine) {
  return combine == ir::Combine::max || combine == ir::Combine::min ||
         combine == ir::Combine::argmax;
}

// 1 + e, with an e of at most four roundings that `counters` draw.
ir::Expr one_and_e(const std::vector<ir::Expr>& counters, double rounding) {
  return (ops::apply("uniform", counters) * 2.0 - 1.0) * (4 * rounding) + 1.0;
}

// The values of functions in `body` times 1 + e, with one e for each function: it rounds equal
// arguments alike.
ir::Expr with_nudged_calls(const ir::Expr& body, const std::vector<ir::Expr>& counters,
                           double size) {
  int64_t calls = 0;
  return ir::rewrite(body, [&](const ir::Expr& e) {
    if (!is_rounded(e)) return e;
    std::vector<ir::Expr> of_call = counters;
    of_call.push_back(ir::Expr(++calls));
    const bool is_f64 = e.type() == ir::Type::f64;
    return e * one_and_e(of_call, size * rounding_of(is_f64 ? ir::Storage::f64 : ir::Storage::f32));
  });
}

// Every definition times 1 + e, with an e of at most `size` times four roundings that is another at
// each point, and so the functions in it, but not what a maximum chooses: equal terms stay equal.
// `forward` says which are outputs of fewer bits, that a gradient reads.
ir::Graph nudged(ir::Graph g, const ir::Graph& forward, uint64_t seed, double size) {
  for (ir::Definition& d : g.definitions) {
    if (!ir::is_real(d.body.type()) || chooses(d.combine)) continue;
    std::vector<ir::Expr> counters = {ir::Expr(static_cast<int64_t>(seed)),
                                      ir::Expr(static_cast<int64_t>(d.target.value))};
    d.body = with_nudged_calls(d.body, counters, size);
    for (ir::IndexId i : d.free) counters.push_back(ir::index_value(i));
    for (ir::IndexId i : d.reduced) counters.push_back(ir::index_value(i));
    double rounding = rounding_of(g[d.target].storage);
    for (const ir::Output& o : forward.outputs)
      if (forward[o.tensor].name == g[d.target].name)
        rounding = std::max(rounding, rounding_of(forward[o.tensor].storage));
    d.body = d.body * one_and_e(counters, size * rounding);
  }
  return g;
}

// Equal numbers of one input stay equal, so that what a maximum takes of them stays what it was.
Arrays nudged(const driver::Compiled& model, Arrays given, uint64_t seed, double size) {
  const auto nudge = [&](const std::string& name, double v) {
    std::mt19937_64 random(seed + std::hash<std::string>()(name) + std::bit_cast<uint64_t>(v));
    return std::uniform_real_distribution<double>(-1, 1)(random);
  };
  for (auto& [name, array] : given) {
    const bool whole =
        std::any_of(model.raw.tensors.begin(), model.raw.tensors.end(), [&](const ir::Tensor& t) {
          return t.name == name && !ir::is_real(ir::arithmetic_type(t.storage));
        });
    if (whole) continue;
    for (double& v : array.values) v *= 1 + size * std::ldexp(nudge(name, v), -22);
  }
  return given;
}

// What the model gives with inputs, and all that it computes, a little off.
Arrays nudged_reference(const driver::Compiled& model, const Arrays& given,
                        const CallOptions& options, uint64_t seed, double size) {
  driver::Compiled off;
  off.name = model.name;
  off.raw = model.raw;
  off.forward = nudged(model.forward, model.forward, seed, size);
  if (model.gradient) off.gradient = nudged(*model.gradient, model.forward, seed, size);
  if (model.jvp) off.jvp = nudged(*model.jvp, model.forward, seed, size);
  if (model.hvp) off.hvp = nudged(*model.hvp, model.forward, seed, size);
  return driver::call_reference(off, {.given = nudged(model, given, seed, size),
                                      .gradient = options.gradient,
                                      .jvp = options.jvp,
                                      .hvp = options.hvp});
}

// How far nudges of a size move the elements of each result.
std::map<std::string, double> moved_by(const driver::Compiled& model, const Arrays& given,
                                       const CallOptions& options, const Arrays& exact,
                                       double size) {
  std::map<std::string, double> moved;
  constexpr int kDraws = 3;
  for (uint64_t seed = 1; seed <= kDraws; ++seed)
    for (const auto& [name, array] : nudged_reference(model, given, options, seed, size))
      for (size_t k = 0; k < array.values.size(); ++k)
        moved[name] = std::max(moved[name], std::abs(array.values[k] - exact.at(name).values[k]));
  return moved;
}

// The results with exact elements in place of those that are within four times the move of their
// result, where `is_explained` takes the result's name.
template <class IsExplained>
Arrays without(Arrays got, const Arrays& exact, std::map<std::string, double> moved,
               IsExplained is_explained) {
  for (auto& [name, array] : got) {
    const auto want = exact.find(name);
    if (want == exact.end() || want->second.extents != array.extents || !is_explained(name))
      continue;
    for (size_t k = 0; k < array.values.size(); ++k)
      if (std::abs(array.values[k] - want->second.values[k]) <= 4 * moved[name])
        array.values[k] = want->second.values[k];
  }
  return got;
}

}  // namespace

std::string differ_beyond_rounding(const Library& library, const std::string& model,
                                   const Arrays& given, const Arrays& got, double tolerance,
                                   double least) {
  return differ_beyond_rounding(library, model, given, {}, got, tolerance, least);
}

std::string differ_beyond_rounding(const Library& library, const std::string& model,
                                   const Arrays& given, const CallOptions& options,
                                   const Arrays& got, double tolerance, double least) {
  const Arrays want = library.reference(given, model, options);
  const std::string text = differ(want, got, tolerance, least);
  if (text.empty()) return text;
  auto moved = moved_by(library.model(model), given, options, want, 1);
  auto moved_less = moved_by(library.model(model), given, options, want, kSmall);
  const auto is_proportional = [&](const std::string& name) {
    return moved_less[name] <= 2 * kSmall * moved[name];
  };
  const Arrays steps = without(got, want, moved, is_proportional);
  if (!differ(want, steps, kMostAmplified * tolerance, least).empty()) return text;
  return differ(want, without(steps, want, moved, [](const std::string&) { return true; }),
                tolerance, least);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0; });
}

}  // namespace attn::testing
