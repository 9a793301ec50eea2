// The scalar operations, a row each. What is a primitive for kernels stands in
// lower/primitives.cpp; every other row says how it is written with those.
#include "compiler/ops/table.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/base/check.h"
#include "compiler/ops/philox.h"

namespace attn::ops {
namespace {

using namespace ir;
using Args = std::span<const Expr>;
using Values = std::span<const double>;
using Partials = std::vector<Expr>;

Expr exp(const Expr& x) { return apply("exp", {x}); }
Expr half_at_tie(const Expr& a, const Expr& b) {  // of max(a, b) by a
  return select(less(b, a), 1, select(less(a, b), 0, 0.5));
}

// See ops/philox.h for how the arguments give the word.
double counter_random(Values x) {
  std::vector<uint64_t> words;
  for (double v : x) words.push_back(static_cast<uint64_t>(static_cast<int64_t>(v)));
  return static_cast<double>(random_word(words) >> kDroppedBits) * kUniformStep;
}

const Operation kTable[] = {
    {.name = "exp",
     .brief = "e to the power x",
     .cost = 8,
     .value = [](Values x) { return std::exp(x[0]); },
     .derivative = [](Args, const Expr& y) { return Partials{y}; },
     .meaning = Meaning::exponential,
     .identity = [](Args x, Expr& r) { return x[0].is_zero() ? (r = 1, true) : false; },
     .notation = {"\\exp"}},
    {.name = "exp2",
     .brief = "2 to the power x",
     .cost = 8,
     .value = [](Values x) { return std::exp2(x[0]); },
     .derivative = [](Args, const Expr& y) { return Partials{y * std::numbers::ln2}; },
     .identity = [](Args x, Expr& r) { return x[0].is_zero() ? (r = 1, true) : false; },
     .expand = [](Args x) { return exp(x[0] * std::numbers::ln2); }},
    {.name = "log",
     .brief = "the natural logarithm",
     .cost = 8,
     .domain = [](Args x) { return less(0, x[0]); },
     .value = [](Values x) { return std::log(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{1 / x[0]}; },
     .meaning = Meaning::logarithm,
     .identity =
         [](Args x, Expr& r) {
           return meaning(x[0]) == Meaning::exponential ? (r = x[0].args()[0], true) : false;
         },
     .notation = {"\\log"}},
    {.name = "log2",
     .brief = "the logarithm to base 2",
     .cost = 8,
     .domain = [](Args x) { return less(0, x[0]); },
     .value = [](Values x) { return std::log2(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{1 / (x[0] * std::numbers::ln2)}; },
     .expand = [](Args x) { return apply("log", {x[0]}) * (1 / std::numbers::ln2); },
     .notation = {"\\log_2", "log₂"}},
    // log(1 + x) without losing small x: the rounding error of u = 1 + x is divided out again.
    {.name = "log1p",
     .brief = "log(1 + x), exact also for small x",
     .cost = 10,
     .domain = [](Args x) { return less(-1, x[0]); },
     .value = [](Values x) { return std::log1p(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{1 / (1 + x[0])}; }},
    {.name = "sqrt",
     .brief = "the square root",
     .cost = 2,
     .domain = [](Args x) { return at_most(0, x[0]); },
     .value = [](Values x) { return std::sqrt(x[0]); },
     .derivative = [](Args, const Expr& y) { return Partials{0.5 / y}; },
     .identity = [](Args x, Expr& r) { return r = power(x[0], 0.5), true; },
     .notation = {.shape = Notation::Shape::root}},
    {.name = "rsqrt",
     .brief = "1 / sqrt(x)",
     .cost = 2,
     .domain = [](Args x) { return less(0, x[0]); },
     .value = [](Values x) { return 1 / std::sqrt(x[0]); },
     .derivative = [](Args, const Expr& y) { return Partials{-0.5 * power(y, 3)}; },
     .identity = [](Args x, Expr& r) { return r = power(x[0], -0.5), true; }},
    {.name = "pow",
     .brief = "x1 ^ x2",
     .arity = 2,
     .cost = 16,
     .domain =
         [](Args x) {
           const Expr whole = equal(x[1], apply("floor", {x[1]}));
           return any_of({less(0, x[0]), all_of({equal(x[0], 0), at_most(0, x[1])}),
                          all_of({less(x[0], 0), whole})});
         },
     .value = [](Values x) { return power_value(x[0], x[1]); },
     .derivative =
         [](Args x, const Expr& y) {
           return Partials{x[1] * power(x[0], x[1] - 1), y * apply("log", {x[0]})};
         },
     .identity = [](Args x, Expr& r) { return r = power(x[0], x[1]), true; }},
    {.name = "tanh",
     .brief = "the hyperbolic tangent",
     .cost = 10,
     .value = [](Values x) { return std::tanh(x[0]); },
     .derivative = [](Args, const Expr& y) { return Partials{1 - power(y, 2)}; },
     .notation = {"\\tanh"}},
    {.name = "sigmoid",
     .brief = "1 / (1 + exp(-x))",
     .cost = 10,
     .value =
         [](Values x) {
           return x[0] >= 0 ? 1 / (1 + std::exp(-x[0])) : std::exp(x[0]) / (1 + std::exp(x[0]));
         },
     .derivative = [](Args, const Expr& y) { return Partials{y * (1 - y)}; },
     .notation = {"\\sigma", "σ"}},
    {.name = "erf",
     .brief = "the error function",
     .cost = 12,
     .value = [](Values x) { return std::erf(x[0]); },
     .derivative =
         [](Args x, const Expr&) {
           return Partials{(2 / std::sqrt(std::numbers::pi)) * exp(-power(x[0], 2))};
         }},
    {.name = "sin",
     .brief = "the sine",
     .cost = 12,
     .value = [](Values x) { return std::sin(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{apply("cos", {x[0]})}; },
     .notation = {"\\sin"}},
    {.name = "cos",
     .brief = "the cosine",
     .cost = 12,
     .value = [](Values x) { return std::cos(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{-apply("sin", {x[0]})}; },
     .notation = {"\\cos"}},
    {.name = "tan",
     .brief = "the tangent",
     .cost = 24,
     .value = [](Values x) { return std::tan(x[0]); },
     .derivative = [](Args, const Expr& y) { return Partials{1 + power(y, 2)}; },
     .expand = [](Args x) { return apply("sin", {x[0]}) / apply("cos", {x[0]}); },
     .notation = {"\\tan"}},
    {.name = "atan",
     .brief = "the inverse of the tangent",
     .cost = 16,
     .value = [](Values x) { return std::atan(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{1 / (1 + power(x[0], 2))}; },
     .notation = {"\\arctan", "arctan"}},
    {.name = "abs",
     .brief = "the magnitude",
     .typing = Typing::common,
     .value = [](Values x) { return std::abs(x[0]); },
     .derivative = [](Args x, const Expr&) { return Partials{apply("sign", {x[0]})}; },
     .meaning = Meaning::magnitude,
     .notation = {.shape = Notation::Shape::bars}},
    {.name = "sign",
     .brief = "-1, 0 or 1",
     .typing = Typing::common,
     .cost = 2,
     .value = [](Values x) { return static_cast<double>((x[0] > 0) - (x[0] < 0)); },
     .meaning = Meaning::sign,
     .expand = [](Args x) { return select(less(0, x[0]), 1, select(less(x[0], 0), -1, 0)); }},
    {.name = "min",
     .brief = "the lesser of two",
     .arity = 2,
     .typing = Typing::common,
     .value = [](Values x) { return x[1] < x[0] || std::isnan(x[1]) ? x[1] : x[0]; },
     .derivative =
         [](Args x, const Expr&) {
           return Partials{half_at_tie(x[1], x[0]), half_at_tie(x[0], x[1])};
         },
     .meaning = Meaning::minimum,
     .identity = [](Args x, Expr& r) { return x[0] == x[1] ? (r = x[0], true) : false; },
     .notation = {"\\min"}},
    {.name = "max",
     .brief = "the greater of two",
     .arity = 2,
     .typing = Typing::common,
     .value = [](Values x) { return x[1] > x[0] || std::isnan(x[1]) ? x[1] : x[0]; },
     .derivative =
         [](Args x, const Expr&) {
           return Partials{half_at_tie(x[0], x[1]), half_at_tie(x[1], x[0])};
         },
     .meaning = Meaning::maximum,
     .identity = [](Args x, Expr& r) { return x[0] == x[1] ? (r = x[0], true) : false; },
     .notation = {"\\max"}},
    {.name = "clamp",
     .brief = "min(max(x1, x2), x3)",
     .arity = 3,
     .typing = Typing::common,
     .cost = 2,
     .value = [](Values x) { return std::min(std::max(x[0], x[1]), x[2]); },
     .identity =
         [](Args x, Expr& r) {
           return r = apply("min", {apply("max", {x[0], x[1]}), x[2]}), true;
         }},
    {.name = "relu",
     .brief = "max(x, 0)",
     .value = [](Values x) { return x[0] < 0 ? 0 : x[0]; },
     .derivative = [](Args, const Expr& y) { return Partials{select(less(0, y), 1, 0)}; },
     .expand =
         [](Args x) {
           return apply("max", {x[0], Expr(0)});
         }},
    {.name = "floor",
     .brief = "the greatest integer up to x, as a real number",
     .value = [](Values x) { return std::floor(x[0]); },
     .notation = {.shape = Notation::Shape::floor}},
    {.name = "float",
     .brief = "an integer or bool as a real number",
     .value = [](Values x) { return x[0]; },
     .derivative = [](Args, const Expr&) { return Partials{1}; },
     .meaning = Meaning::to_real,
     .identity = [](Args x, Expr& r) { return is_real(x[0].type()) ? (r = x[0], true) : false; }},
    {.name = "int",
     .brief = "x without its fraction, as an integer",
     .typing = Typing::integer,
     .value = [](Values x) { return std::trunc(x[0]); },
     .meaning = Meaning::to_integer,
     .identity = [](Args x,
                    Expr& r) { return x[0].type() == Type::integer ? (r = x[0], true) : false; }},
    {.name = "finite",
     .brief = "whether x is neither infinite nor NaN",
     .typing = Typing::truth,
     .value = [](Values x) { return std::isfinite(x[0]) ? 1. : 0.; }},
    {.name = "stop",
     .brief = "x, which derivatives take for a constant",
     .typing = Typing::common,
     .cost = 0,
     .value = [](Values x) { return x[0]; },
     .meaning = Meaning::stop,
     .identity = [](Args x, Expr& r) { return is_real(x[0].type()) ? false : (r = x[0], true); },
     .expand = [](Args x) { return x[0]; }},
    // The first argument is the seed: the upper 24 bits of a word of Philox4x32-10 as a number in
    // [0, 1).
    {.name = "uniform",
     .brief = "a random number in [0, 1) of a seed and further integers",
     .arity = -1,
     .typing = Typing::real,
     .cost = 40,
     .value = counter_random,
     .meaning = Meaning::random},
};

}  // namespace

std::span<const Operation> table() { return kTable; }

const Operation* find(std::string_view name) {
  for (const Operation& row : kTable)
    if (row.name == name) return &row;
  return nullptr;
}

Expr apply(std::string_view name, std::vector<Expr> args) {
  const Operation* row = find(name);
  ATTN_CHECK(row, "no operation of the name " + std::string(name));
  return call(*row, std::move(args));
}

}  // namespace attn::ops
