// What the form of a kernel refers to: tensors, and indices with their extents. Groups of indices
// are one linear index, of which the last runs fastest.
#pragma once

#include <vector>

#include "compiler/lower/terms/translate.h"
#include "compiler/plan/plan.h"

namespace attn::lower {

using IndexGroup = std::vector<ir::IndexId>;

struct Scope {
  const ir::Graph& g;
  const Arguments& arguments;
  const std::vector<ir::TensorId>& writes;
  plan::Precision precision;

  Expr extent(ir::IndexId i) const;
  std::vector<Expr> extents(const IndexGroup& group) const;
  // Their product.
  Expr count(const IndexGroup& group) const;
  // The same where every size is known or bounded; else 0 for unknown.
  int typical_count(const IndexGroup& group) const;
  // Gives each index of the group its coordinate.
  void decode(const IndexGroup& group, const Expr& linear, Translator::Indices& indices) const;
  // A half where `value` is read as it is stored, in such halves; else f32.
  Type number_of(const ir::Expr& value) const;
  // Whether `value` is read as it is stored, from elements that along the index lie side by side.
  bool lies_along(const ir::Expr& value, const IndexGroup& index) const;
  // At indices that come out of linear ones.
  Translator at(Translator::Indices indices) const;
};

}  // namespace attn::lower
