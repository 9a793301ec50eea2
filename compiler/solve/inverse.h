// Inverts integer expressions: which values of an index, or of a sum of indices, give a value.
//
//   e is a + others     a is value - others
//   e is c * a          a is value // c, where c divides the value
//   e is a // c         a is value * c + s, for every s in 0 .. c - 1
//   e is a % c          a is the number of its range that has this remainder, or these numbers
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

// An index that a solution introduces: each of its values gives one solution. `id` is not of the
// graph; the caller replaces it by an index that is.
struct FreshIndex {
  ir::IndexId id;
  ir::Poly extent;
};

// All solutions, each exactly once: `value` where `conditions` hold, for all values of `fresh`.
struct Inverse {
  ir::Expr value;
  ir::Conditions conditions;
  std::vector<FreshIndex> fresh;
};

// Solves `e == value` for the index r, which `value` does not contain; nothing where r occurs more
// than once in e or below something that has no inverse. The range of r is not among the
// conditions. Here and below the indices `nonempty` have a value wherever the solution is used.
std::optional<Inverse> invert(const ir::Graph& g, const ir::Expr& e, const ir::Expr& value,
                              ir::IndexId r, const std::set<ir::IndexId>& nonempty);

// The outermost step of `invert` alone: e, which is a // c or a % c (times 1 or -1, plus what does
// not contain an unknown), is taken off `unknown + others`, where `unknown` holds all terms of a
// that contain one of the `unknowns`. `value` of the result is what `unknown` equals.
struct Unwrapped {
  ir::Expr unknown;
  Inverse inverse;
};
std::optional<Unwrapped> unwrap(const ir::Graph& g, const ir::Expr& e, const ir::Expr& value,
                                const std::vector<ir::IndexId>& unknowns,
                                const std::set<ir::IndexId>& nonempty);

// Numbers in a mixed radix: `upper * c + lower == value`, where all values of `lower` lie within c
// of each other, is one equality of `upper` and one of `lower`. Empty where e has no such form.
ir::Conditions split_radix(const ir::Graph& g, const ir::Expr& e, const ir::Expr& value,
                           const std::set<ir::IndexId>& nonempty);

// coefficient * rest, where the coefficient holds all literals and sizes that are factors.
struct ScaledBySizes {
  ir::Poly coefficient;
  ir::Expr rest;  // 1 where e is a number
};
ScaledBySizes split_sizes(const ir::Expr& e);

}  // namespace attn::solve
