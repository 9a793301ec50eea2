// Every expression carries a bound of its size, so that what is built on it stays of order 1.
#include "tests/support/program_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::testing {

Value Expressions::smooth(const Value& x) {
  const double square = x.bound * x.bound;
  const std::string& e = x.text;
  // An exponential of a large number leaves nothing of what is added to it.
  const std::string small = x.bound > 4 ? fmt::format("tanh({})", e) : e;
  const double most = std::min(x.bound, 4.0);
  const std::string above = fmt::format("(1.25 + ({})^2)", e);
  switch (below(18)) {
    case 0:
      return {fmt::format("tanh({})", e), 1};
    case 1:
      return {fmt::format("sigmoid({})", e), 1};
    case 2:
      return {fmt::format("sin({})", e), 1};
    case 3:
      return {fmt::format("cos({})", e), 1};
    case 4:
      return {fmt::format("atan({})", e), 1.6};
    case 5:
      return {fmt::format("erf({})", e), 1};
    case 6:
      return {fmt::format("exp(0.5 * ({}))", small), std::exp(0.5 * most)};
    case 7:
      return {fmt::format("{}{}", chance(50) ? "log" : "log2", above),
              1.5 * std::log(1.25 + square)};
    case 8:
      return {fmt::format("sqrt{}", above), std::sqrt(1.25 + square)};
    case 9:
      return {fmt::format("rsqrt{}", above), 1};
    case 10:
      return {fmt::format("1 / {}", above), 1};
    case 11:
      return {fmt::format("({})^2", e), square};
    case 12:
      return {fmt::format("log1p(({})^2)", e), square};
    case 13:
      return {fmt::format("exp2(0.5 * ({}))", small), std::exp(0.4 * most)};
    case 14:
      return {fmt::format("tan(0.25 * ({}))", e), 1};
    case 15:
      return {fmt::format("stop({})", e), x.bound};
    case 16:
      return {fmt::format("bump({}, {})", e, 0.25 * (1 + below(3))), 1 + x.bound};
    default:
      return {fmt::format("pow({}, {})", above, chance(50) ? "0.75" : "-1.5"), 1.25 + square};
  }
}

// Has a kink or a step, which given values do not come near.
Value Expressions::kinked(const Axes& axes) {
  const std::string a = raw(axes);
  switch (below(4)) {
    case 0:
      return {fmt::format("{}({})", chance(50) ? "abs" : "relu", a), 1};
    case 1:
      return {fmt::format("clamp({}, -0.5, 2)", a), 1};
    default:
      return kinked_pair(axes, a);
  }
}

Value Expressions::kinked_pair(const Axes& axes, const std::string& a) {
  const std::string b = raw(axes);
  switch (below(9)) {
    case 0:
      return {fmt::format("max({}, {})", a, b), 1};
    case 1:
      return {fmt::format("min({}, {})", a, b), 1};
    case 2:
      return {fmt::format("floor({}) * {}", a, b), 1};
    case 3:
      return {fmt::format("(if finite({}) then {} else 3)", a, b), 1};
    case 4:
      return {fmt::format("(float(int({} * 0.5)) + {})", a, b), 1};
    case 5:
    case 7:
      if (axes.empty()) break;
      declare_input("seed", "int");
      return {fmt::format("uniform(seed, {}) * {} * {}", of(axes).index, a, b), 1};
    case 6:
      if (axes.empty()) break;
      return {fmt::format("float({} % 3 - 1) * {} * {}", of(axes).index, a, b), 1};
    default:
      break;
  }
  return {fmt::format("sign({}) * {}", a, b), 1};
}

// A reduction inside an expression.
Value Expressions::reduced(const Axes& axes, int depth) {
  static const std::vector<std::string> kExtents = {"T", "S", "N", "M", "3"};
  Axes all = axes;
  all.push_back(axis(of(kExtents)));
  const Value v = expression(all, depth);
  const std::string where = guard(all, 25);
  const std::string kind = chance(70) ? "sum" : "mean";
  return scaled(
      {fmt::format("({}[{}{}] ({}))", kind, bound(all.back()), where, v.text), v.bound * 4});
}

Value Expressions::expression(const Axes& axes, int depth) {
  if (depth == 0 || chance(15)) return leaf(axes);
  const int kind = below(100);
  if (kind < 30) return scaled(smooth(expression(axes, depth - 1)));
  if (kind < 40) return kinked(axes);
  if (kind < 46) return reduced(axes, depth - 1);
  if (kind < 54) return shifted(axes);
  const Value a = expression(axes, depth - 1), b = expression(axes, depth - 1);
  if (kind < 60)
    return {fmt::format("(if {} then {} else {})", condition(axes), a.text, b.text),
            std::max(a.bound, b.bound)};
  if (kind < 80) return scaled({fmt::format("({}) * ({})", a.text, b.text), a.bound * b.bound});
  return scaled(
      {fmt::format("({} {} ({}))", a.text, chance(50) ? "+" : "-", b.text), a.bound + b.bound});
}

}  // namespace attn::testing
