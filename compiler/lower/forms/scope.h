// What the form of a kernel refers to: tensors, and indices with their extents. Groups of indices
// are one linear index, of which the last runs fastest.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/terms/translate.h"
#include "compiler/plan/plan.h"

namespace attn::lower {

using IndexGroup = std::vector<ir::IndexId>;

// What a kernel writes, in the order of its form, every Func over its dimensions innermost first, a
// plane last. A Func is a single-use object: schedule the form again for another target.
using Funcs = std::vector<Func>;

struct Scheduled {
  Funcs results;
  std::string how;  // for GPUs, in words: which schedule was taken, and why no better one
};

constexpr int64_t kWholeRun = int64_t{1} << 40;  // more than any extent

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
  // Where `value` is an element of a tensor: so many that the group walks lie beside each other,
  // from every multiple of this number on. 0 where it is none, or neighbours are elsewhere.
  int64_t run_along(const ir::Expr& value, const IndexGroup& group) const;
  // At indices that come out of linear ones.
  Translator at(Translator::Indices indices) const;
};

}  // namespace attn::lower
