// What conditions and data say of the columns that a row can see.
#pragma once

#include <functional>

#include "compiler/lower/forms/scope.h"
#include "compiler/plan/form.h"

namespace attn::lower {

// The first index that an index in [from, to] may see, or the end of the indices: a bound, not
// exact. Empty where nothing is known.
using Edge = std::function<Expr(Expr from, Expr to)>;
struct Edges {
  Edge first, end;
  // Whether the edges with `by` and `of` exchanged bound the same points.
  bool both_ways = true;
};

// The indices `of` that some `by` in a range sees under these conditions, [first, end). From
// comparisons of `of`, or of its quotient as in `i // W == j // W`, with `by` or its quotient, which
// read nothing else; all of several hold, or one of several.
Edges edges(const Scope& scope, const ir::Conditions& visible, ir::IndexId by, ir::IndexId of);

// What data says of the columns that the rows [from, to] may see: [first, end), both multiples of
// `block` or beyond the columns. How many rows it is asked about must be known. Bounds inference
// knows nothing of them. Empty: data says nothing.
struct SeenByData {
  using Bound = std::function<Expr(Expr batch, Expr from, Expr to)>;
  Bound first, end;
  int block = 0;
  explicit operator bool() const { return block > 0; }
};
SeenByData seen_by_data(const Scope& scope, const plan::BlockBounds& bounds,
                        const IndexGroup& batch);

}  // namespace attn::lower
