#include "compiler/report/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/text/text.h"

namespace attn::report {

using ir::Graph;
using ir::Poly;
using ir::TensorId;
using text::Math;

namespace {

Math product(const Graph& g, const ir::Monomial& m, int64_t coefficient = 1) {
  std::vector<Math> factors;
  if (coefficient != 1 || m.empty()) factors.push_back(text::number(std::to_string(coefficient)));
  for (auto [size, power] : m) {
    const Math name = text::index_name(g[size].name);
    factors.push_back(power > 1 ? text::above(name, text::number(std::to_string(power))) : name);
  }
  return text::joined(factors, {text::thin_space()});
}

Math formula(const Graph& g, const Poly& p) {
  std::vector<Math> sum;
  for (const auto& [monomial, c] : p.terms()) {
    if (!sum.empty())
      sum.push_back(c.num < 0 ? text::sign("-") : text::sign("+"));
    else if (c.num < 0)
      sum.push_back(text::minus());
    const Math above = product(g, monomial, std::abs(c.num));
    sum.push_back(c.den == 1 ? above : text::fraction(above, text::number(std::to_string(c.den))));
  }
  return sum.empty() ? text::number("0") : text::row(std::move(sum));
}

int degree(const ir::Monomial& m) {
  int sum = 0;
  for (auto [size, power] : m) sum += power;
  return sum;
}

bool divides(const ir::Monomial& a, const ir::Monomial& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& factor) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) {
      return other.first == factor.first && other.second >= factor.second;
    });
  });
}

}  // namespace

Count count(const Graph& g, const Poly& p) {
  Count result{formula(g, p), plan::poly_text(g, p), std::nullopt, {}};
  const Poly known = g.expand(p);
  if (const auto constant = known.constant())
    result.value = constant->value();
  else if (known != p)
    result.partly = formula(g, known);
  return result;
}

Math growth(const Graph& g, const Poly& p) {
  std::vector<ir::Monomial> terms;
  for (const auto& [monomial, c] : p.terms()) {
    const bool exceeded =
        std::any_of(p.terms().begin(), p.terms().end(), [&, m = &monomial](const auto& other) {
          return other.first != *m && divides(*m, other.first);
        });
    if (!exceeded) terms.push_back(monomial);
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto& a, const auto& b) { return degree(a) > degree(b); });
  std::vector<Math> sum;
  for (const ir::Monomial& m : terms) sum.push_back(product(g, m));
  return sum.empty() ? text::number("1") : text::joined(sum, {text::sign("+")});
}

std::string shape(const Graph& g, const ir::Tensor& t) {
  // The printer looks at the whole graph, which is slow where a name will do.
  auto extent = [&](const Poly& p) {
    const auto single = p.single();
    return single ? g[*single].name : text::to_string(g, p);
  };
  std::string extents;
  for (const Poly& p : t.extents) extents += (extents.empty() ? "" : ", ") + extent(p);
  return extents.empty() ? extents : fmt::format("[{}]", extents);
}

std::string number_text(double value) {
  if (value != std::floor(value) || std::abs(value) >= 1e15) return fmt::format("{:.4g}", value);
  std::string digits = fmt::format("{:.0f}", std::abs(value)), result;
  for (size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) result += " ";  // a narrow space
    result += digits[k];
  }
  return (value < 0 ? "-" : "") + result;
}

std::string bytes_text(double value) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} bytes", number_text(value))
                   : fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::vector<Parameter> parameters(const Graph& g) {
  std::vector<Parameter> result;
  for (const ir::Tensor& t : g.tensors) {
    if (t.role != ir::Role::parameter) continue;
    Poly product = 1;
    for (const Poly& p : t.extents) product = product * p;
    result.push_back({t.name, shape(g, t), count(g, product)});
  }
  return result;
}

Poly parameter_count(const Graph& g) {
  Poly sum;
  for (const ir::Tensor& t : g.tensors) {
    if (t.role != ir::Role::parameter) continue;
    Poly product = 1;
    for (const Poly& p : t.extents) product = product * p;
    sum = sum + product;
  }
  return sum;
}

Graph with_sizes(const Graph& g, const std::map<std::string, int64_t>& given) {
  Graph result = g;
  for (ir::Size& s : result.sizes) {
    if (s.value) continue;
    if (const auto it = given.find(s.name); it != given.end()) s.value = it->second;
    if (!s.quotient) continue;
    const auto above = result.known(s.quotient->first), below = result.known(s.quotient->second);
    if (above && below && *above >= 0 && *below > 0) s.value = *above / *below;
  }
  return result;
}

std::vector<SizeLine> sizes(const Graph& g, const std::map<std::string, int64_t>& given) {
  std::vector<SizeLine> result;
  for (const ir::Size& s : g.sizes) {
    SizeLine line{s.name, "any"};
    if (s.quotient)
      line.value = fmt::format("{} // {}", text::to_string(g, s.quotient->first),
                               text::to_string(g, s.quotient->second));
    else if (s.value)
      line.value = std::to_string(*s.value);
    else if (s.definition)
      line.value = text::to_string(g, *s.definition);
    else if (s.upper)
      line.value = fmt::format("{}..{}", s.lower, *s.upper);
    else if (s.lower > 0)
      line.value = fmt::format("{}..", s.lower);
    if (const auto it = given.find(s.name); it != given.end() && !s.value)
      line.value += fmt::format(", here {}", it->second);
    result.push_back(std::move(line));
  }
  return result;
}

}  // namespace attn::report
