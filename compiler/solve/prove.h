// Decides whether a condition holds at every point of a definition's domain.
#pragma once

#include <optional>

#include "compiler/ir/graph.h"

namespace attn::solve {

class SizeFacts;

// True when `condition` follows from the ranges of its indices (0 <= i < extent, and every extent
// is at least 1 because the point exists), the bounds of sizes, and `known`. `//`, `%`, min, max,
// clamp and abs are seen through, and reads of integer tensors that maps compute. False means "not
// proved", not "false".
bool proves(const ir::Graph& g, const ir::Conditions& known, const ir::Expr& condition);

// The conditions of `c` that neither the ranges, `known`, nor the others of `c` imply.
ir::Conditions tidy(const ir::Graph& g, const ir::Conditions& c, const ir::Conditions& known = {});

// The expression where `known` holds: selects whose condition is decided are replaced by their
// side, conjuncts that are known are dropped, and conditions inside are simplified likewise.
ir::Expr assume(const ir::Graph& g, const ir::Expr& e, const ir::Conditions& known);

// Bounds of an integer expression over the whole domain, as size polynomials, where affine
// reasoning finds them; for messages ("j - i + 3 ranges over -T + 4 .. T + 2").
struct Range {
  std::optional<ir::Poly> lowest, highest;
};
Range range_of(const ir::Graph& g, const ir::Expr& e);
// The same where more is known of the sizes.
Range range_of(const ir::Graph& g, const ir::Expr& e, const SizeFacts& known);

// p >= 0 for all run-time sizes within their bounds; sizes that occur in an extent of `nonempty`
// are such that the extent is at least 1.
bool nonnegative(const ir::Graph& g, const ir::Poly& p, const std::set<ir::IndexId>& nonempty = {});

// p / c where that is a polynomial of integers, if only of what is known of the sizes.
std::optional<ir::Poly> exact_quotient(const ir::Graph& g, const ir::Poly& p, const ir::Poly& c);

}  // namespace attn::solve
