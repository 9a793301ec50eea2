// The indices of a kernel: their extents, and groups of them as one linear index, of which the last
// runs fastest.
#pragma once

#include <Halide.h>

#include <vector>

#include "compiler/lower/terms/translate.h"

namespace attn::lower {

using IndexGroup = std::vector<ir::IndexId>;

struct Scope {
  const ir::Graph& g;
  const Arguments& arguments;

  Halide::Expr extent(ir::IndexId i) const;
  std::vector<Halide::Expr> extents(const IndexGroup& group) const;
  // Their product.
  Halide::Expr count(const IndexGroup& group) const;
  // The same where every size is known or bounded; else 0 for unknown.
  int typical_count(const IndexGroup& group) const;
  // Gives each index of the group its coordinate.
  void decode(const IndexGroup& group, const Halide::Expr& linear,
              Translator::Indices& indices) const;
  // At indices that come out of linear ones.
  Translator at(Translator::Indices indices) const;
};

}  // namespace attn::lower
