// Memory of a contraction's factors that is fetched before it is read.
#pragma once

#include <optional>
#include <vector>

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// A tensor's element, as its place.
struct Element {
  Halide::Parameter tensor;
  std::vector<Expr> at;
};

// The element that a value is, if it is one. A call of a parameter is one of the function that
// stands for it.
std::optional<Element> stored_element(const Expr& value);

// Calls the runtime to fetch `bytes` bytes into the second-level cache, from so many after the
// element on. The value is 0, which Halide does not know: it drops a store whose value it knows.
Expr fetch(const Element& element, const Expr& after, const Expr& bytes);

}  // namespace attn::lower
