// The shape of a row in the table of scalar operations; the rows stand in compiler/ops/table.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/expr.h"

namespace attn::ir {

// The type of a call from those of its arguments.
enum class Typing {
  real,     // real; integer arguments count as numbers
  common,   // the widest of the arguments
  integer,  // integer
  truth,    // boolean
};

struct Operation {
  std::string_view name;  // as written: "exp"
  int arity = 1;          // -1: one or more
  Typing typing = Typing::real;
  int cost = 1;  // beside + and *; about 8 for a transcendental function
  // The value in float64; booleans and integers are exact numbers.
  double (*value)(std::span<const double> x) = nullptr;
  // d(result)/d(x[k]) for every k, from the arguments x and the result y, written with y where
  // that is possible. Null: the derivative is zero everywhere (floor, comparisons, uniform).
  std::vector<Expr> (*derivative)(std::span<const Expr> x, const Expr& y) = nullptr;
  // The value is the argument's; only the derivative differs, so that it may go once all is
  // derived.
  bool transparent = false;
  // exp(a - Y) for a log-sum-exp Y of a is a share of the sum: it turns a sum of logarithms into
  // factors, and log undoes it.
  bool exponential = false;
  bool logarithm = false;
  // The argument, a whole number, as a real one.
  bool conversion = false;
  // Identities applied when a call is built; returns false where none holds. May be null.
  bool (*identity)(std::span<const Expr> x, Expr& result) = nullptr;
  // The operation written with primitives, for those without a Halide form of their own.
  Expr (*expand)(std::span<const Expr> x) = nullptr;
  // "\\tanh", or with the arguments' places, "\\sqrt{#}"; empty: \operatorname{name}.
  std::string_view tex = {};
};

inline bool is_exponential(const Expr& e) { return e.is(Kind::call) && e->operation->exponential; }
inline bool is_logarithm(const Expr& e) { return e.is(Kind::call) && e->operation->logarithm; }

inline bool is_conversion(const Expr& e) { return e.is(Kind::call) && e->operation->conversion; }

}  // namespace attn::ir
