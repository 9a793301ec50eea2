#include "compiler/emit/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/base/check.h"
#include "compiler/emit/names.h"
#include "compiler/solve/prove.h"

namespace attn::emit {

using namespace ir;

Values::Values(const Graph& forward) {
  for (SizeId s : run_time_sizes(forward)) names_.push_back(forward[s].name);
}

int Values::intern(const std::string& expression) {
  auto [it, is_new] = known_.try_emplace(expression, count());
  if (is_new) {
    assignments_.push_back(fmt::format("v[{}] = {};", count(), expression));
    names_.emplace_back();
  }
  return it->second;
}

std::string Values::write(const std::string& name) const {
  if (assignments_.empty()) return {};
  return fmt::format("static void {}(int64_t* v) {{\n{}}}\n", name,
                     wrapped(assignments_, "  ", kTableWidth));
}

std::string Values::write_operations(const std::string& name) const {
  std::vector<std::string> statements = operations_;
  statements.push_back("(void)v, (void)n;");
  return fmt::format("static void {}(const int64_t* v, double* n) {{\n{}}}\n", name,
                     wrapped(statements, "  ", kTableWidth));
}

int GraphValues::of(SizeId size) {
  if (auto it = known_.find(size); it != known_.end()) return it->second;
  int value;
  if (const auto& quotient = g_[size].quotient) {
    value = all_.intern(fmt::format("attn_quotient({}, {})", expression(quotient->first),
                                    expression(quotient->second)));
  } else {
    const auto at = std::find(all_.names_.begin(), all_.names_.end(), g_[size].name);
    ATTN_CHECK(at != all_.names_.end(), "a size that no argument determines: " + g_[size].name);
    value = static_cast<int>(at - all_.names_.begin());
  }
  known_[size] = value;
  return value;
}

int GraphValues::new_step(SizeId step) {
  all_.names_.emplace_back();
  return known_[step] = all_.count() - 1;
}

std::string GraphValues::variable(SizeId size) { return fmt::format("v[{}]", of(size)); }

std::string GraphValues::expression(const Poly& p) {
  const Poly expanded = g_.expand(p);
  int64_t common = 1;
  for (const auto& [monomial, c] : expanded.terms()) common = std::lcm(common, c.den);
  std::string sum;
  for (const auto& [monomial, c] : expanded.terms()) {
    const int64_t factor = c.num * (common / c.den), positive = factor < 0 ? -factor : factor;
    std::string product = positive == 1 && !monomial.empty() ? "" : std::to_string(positive);
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k) product += (product.empty() ? "" : " * ") + variable(size);
    sum += sum.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    sum += product;
  }
  if (sum.empty()) return "0";
  return common == 1 ? sum : fmt::format("({}) / {}", sum, common);
}

int GraphValues::index(const Poly& p) {
  if (auto size = g_.expand(p).single()) return of(*size);
  return all_.intern(expression(p));
}

std::string GraphValues::entry(const Poly& p) {
  if (auto n = g_.known(p); n && *n >= 0) return std::to_string(*n);
  return fmt::format("V({})", index(p));
}

std::string GraphValues::extent(const Poly& p) {
  if (auto n = g_.known(p)) return std::to_string(std::max<int64_t>(*n, 0));
  if (solve::nonnegative(g_, p)) return entry(p);
  return fmt::format("V({})", all_.intern(fmt::format("attn_extent({})", expression(p))));
}

int GraphValues::operations(const Poly& p) {
  const Poly expanded = g_.expand(p);
  std::string sum;
  for (const auto& [monomial, c] : expanded.terms()) {
    sum += fmt::format("{}{}{}", sum.empty() ? "" : " + ", c.value(), c.is_integer() ? ".0" : "");
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k) sum += " * (double)" + variable(size);
  }
  if (sum.empty()) sum = "0";
  auto [it, is_new] = all_.known_operations_.try_emplace(sum, all_.operations_count());
  if (is_new) all_.operations_.push_back(fmt::format("n[{}] = {};", it->second, sum));
  return it->second;
}

}  // namespace attn::emit
