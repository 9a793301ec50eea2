// From expressions of a graph to Halide's.
#pragma once

#include <Halide.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::lower {

Halide::Type arithmetic_type(ir::Type t);
Halide::Type storage_type(ir::Storage s);

// Everything that a kernel takes: its buffers and its sizes.
struct Arguments {
  std::map<ir::TensorId, Halide::ImageParam> tensors;
  std::map<ir::SizeId, Halide::Param<int32_t>> sizes;
};

class Translator {
 public:
  using Indices = std::map<ir::IndexId, Halide::Expr>;

  // `indices` are in range. `decoded`: they come out of linear indices, which bounds inference
  // cannot see through, so every subscript says its range.
  Translator(const ir::Graph& g, const Arguments& arguments, Indices indices, bool decoded = false)
      : g_(g), arguments_(arguments), indices_(std::move(indices)), decoded_(decoded) {}

  // Conditions bound loops over these indices: where they leave nothing, Halide asks for what they
  // say, inside or not.
  void bound_by(const ir::Conditions& c, const std::vector<ir::IndexId>& loops);
  // Reads of this tensor give `value` instead.
  void replace(ir::TensorId tensor, Halide::Expr value) { replaced_[tensor] = value; }
  // Reads of this log-sum-exp give the sum of `high` and `low`.
  void replace(ir::TensorId tensor, Halide::Expr high, Halide::Expr low) {
    planes_[tensor] = {high, low};
  }

  Halide::Expr operator()(const ir::Expr& e);
  Halide::Expr condition(const ir::Conditions& c);
  // `value` where the conditions hold, else `otherwise` or 0.
  Halide::Expr where(const ir::Conditions& c, const Halide::Expr& value,
                     const Halide::Expr& otherwise = {});
  // sum * scale in f32. Where a condition of the scale hides the sum it gives 0, also if what was
  // summed there is not finite.
  Halide::Expr scaled(const Halide::Expr& sum, const ir::Expr& scale);
  // As an extent: at least 0.
  Halide::Expr extent(const ir::Poly& p);
  Halide::Expr poly(const ir::Poly& p, const Halide::Type& type = Halide::Int(32));

 private:
  Halide::Expr build(const ir::Expr& e);
  Halide::Expr as(const Halide::Type& type, const ir::Expr& e);
  Halide::Type type_of(const ir::Expr& e) const;
  Halide::Expr choose(bool affine, const Halide::Expr& condition, const Halide::Expr& a,
                      const Halide::Expr& b);
  Halide::Expr add(const ir::Expr& e);
  Halide::Expr compared(const ir::Expr& e);
  Halide::Expr multiply(const ir::Expr& e);
  Halide::Expr power(const ir::Expr& e);
  Halide::Expr read(const ir::Expr& e);
  std::pair<Halide::Expr, Halide::Expr> planes(const ir::Expr& e, const Halide::Type& type);
  std::vector<Halide::Expr> subscripts(const ir::Expr& e);

  const ir::Graph& g_;
  const Arguments& arguments_;
  Indices indices_;
  bool decoded_;
  bool bounded_ = false;       // conditions bound loops
  std::set<ir::IndexId> cut_;  // those that they mention
  bool promoted_ = false;      // real constants in f64
  std::map<ir::TensorId, Halide::Expr> replaced_;
  std::map<ir::TensorId, std::pair<Halide::Expr, Halide::Expr>> planes_;
  std::map<ir::Expr, Halide::Expr> done_;
};

// A call of a primitive; arguments have the types that the operation takes. For every other
// operation the table has an expansion.
Halide::Expr primitive(const ir::Operation& op, const std::vector<Halide::Expr>& args,
                       Halide::Type type);
bool is_primitive(const ir::Operation& op);

// Of integers, rounded down.
Halide::Expr floor_divide(const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr floor_remainder(const Halide::Expr& a, const Halide::Expr& b);

// `a` where the condition holds, else `b`, by their bits: for conditions that data decides. Halide
// would skip the stages that only one side of a select reads, and fails to when the condition, or
// part of it, occurs twice (of such a part, a variable of its own, it takes infinities for bounds).
Halide::Expr masked(const Halide::Expr& condition, const Halide::Expr& a, const Halide::Expr& b);

// False for infinities and NaN, decided from the bits: comparisons would be folded away.
Halide::Expr has_finite_bits(const Halide::Expr& value);

// `value` where it is finite, else 0; and the other way about.
Halide::Expr finite_or_zero(const Halide::Expr& value);
Halide::Expr zero_or_not_finite(const Halide::Expr& value);

}  // namespace attn::lower
