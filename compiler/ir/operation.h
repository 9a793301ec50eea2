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

// The law by which passes recognise an operation, and which its value obeys for all arguments;
// `none` where no pass needs one.
enum class Meaning : uint8_t {
  none,
  exponential,  // e^x, so that exp(a - Y) is a share of a sum whose log-sum-exp is Y
  logarithm,    // the y for which e^y is the argument
  to_real,      // an integer as a real number
  to_integer,   // the argument without its fraction
  minimum,      // the lesser of two; NaN where one is
  maximum,      // the greater of two; NaN where one is
  magnitude,    // max(x, -x)
  sign,         // -1, 0 or 1, so that it times the magnitude is the argument
  stop,         // the argument; only the derivative differs, so it may go once all is derived
  random,       // a number in [0, 1) from any number of integers, which may be written `...`
};

// How formulas write a call: a name before brackets, or what stands around the arguments.
struct Notation {
  std::string_view tex = {};     // of the name: "\\tanh"; empty: \operatorname{name}
  std::string_view symbol = {};  // the same in characters: "σ"; empty: the name
  enum class Shape : uint8_t { call, root, bars, floor } shape = Shape::call;
};

struct Operation {
  std::string_view name;   // as written: "exp"
  std::string_view brief;  // what it is, in a few words, for documents
  int arity = 1;           // -1: one or more
  Typing typing = Typing::real;
  int cost = 1;  // beside + and *; about 8 for a transcendental function
  // Where a value is defined and finite for finite arguments, overflow apart. Null: everywhere.
  Expr (*domain)(std::span<const Expr> x) = nullptr;
  // The value in float64; booleans and integers are exact numbers.
  double (*value)(std::span<const double> x) = nullptr;
  // d(result)/d(x[k]) for every k, from the arguments x and the result y, written with y where
  // that is possible. Null: the derivative is zero everywhere (floor, comparisons, uniform).
  std::vector<Expr> (*derivative)(std::span<const Expr> x, const Expr& y) = nullptr;
  Meaning meaning = Meaning::none;
  // Identities applied when a call is built; returns false where none holds. May be null.
  bool (*identity)(std::span<const Expr> x, Expr& result) = nullptr;
  // The operation written with primitives, for those without a Halide form of their own.
  Expr (*expand)(std::span<const Expr> x) = nullptr;
  Notation notation;
};

inline Meaning meaning(const Expr& e) {
  return e.is(Kind::call) ? e->operation->meaning : Meaning::none;
}

}  // namespace attn::ir
