// From expressions of a graph to Halide's.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/lower/terms/halide.h"
#include "compiler/lower/terms/vector_math.h"

namespace attn::lower {

Type arithmetic_type(ir::Type t);
Type computed_type(ir::Storage s);
Type storage_type(ir::Storage s);

using Exponential = Expr (*)(const Expr& x);

// Everything that a kernel takes: its buffers and its sizes.
struct Arguments {
  std::map<ir::TensorId, ImageParam> tensors;
  std::map<ir::SizeId, Param<int32_t>> sizes;
  // Subscripts and conditions that are data stand in a call of `attn_data`, which a pass takes away
  // at last: the host cannot read them, and Halide would where their place is known.
  bool hides_data = false;
  Exponential exp = unbounded_exp;  // as the target computes it
};
constexpr const char *kDataCall = "attn_data", *kIndexCall = "attn_index", *kBodyCall = "attn_body";
// Calls whose argument is an element in shared memory, of which they get the address from a pass.
constexpr const char *kMatricesCall = "attn_matrices",
                     *kTurnedMatricesCall = "attn_turned_matrices", *kCopyCall = "attn_copy",
                     *kCopyNumberCall = "attn_copy_number";
// 16 bytes: four words and an index of the thread. Three more arguments: whether all numbers lie
// side by side in memory, the first number there, and whether they are f32 that are rounded to
// bf16.
constexpr const char* kPieceCall = "attn_piece";
// Bytes since the last address that 16 divides, of a number that is not loaded.
constexpr const char* kInLineCall = "attn_address_in_line";

class Translator {
 public:
  using Indices = std::map<ir::IndexId, Expr>;

  // `indices` are in range. `decoded`: they come out of linear indices, which bounds inference
  // cannot see through, so every subscript says its range.
  Translator(const ir::Graph& g, const Arguments& arguments, Indices indices, bool decoded = false)
      : g_(g), arguments_(arguments), indices_(std::move(indices)), decoded_(decoded) {}

  // Conditions bound loops over these indices: where they leave nothing, Halide asks for what they
  // say, inside or not. Likewise for indices that they say are equal.
  void bound_by(const ir::Conditions& c, const std::vector<ir::IndexId>& loops);
  // All choices are `masked`, also those that no data decides: where stages are read in them.
  void choose_by_bits() { chooses_by_bits_ = true; }
  // Reads of this tensor give `value` instead.
  void replace(ir::TensorId tensor, Expr value) { replaced_[tensor] = value; }
  // Where the expression occurs, `value` is it.
  void replace(const ir::Expr& e, Expr value) { done_[e] = value; }
  // Reads of this log-sum-exp give the sum of `high` and `low`.
  void replace(ir::TensorId tensor, Expr high, Expr low) { planes_[tensor] = {high, low}; }

  Expr operator()(const ir::Expr& e);
  Expr condition(const ir::Conditions& c);
  // `value` where the conditions hold, else `otherwise` or 0.
  Expr where(const ir::Conditions& c, const Expr& value, const Expr& otherwise = {});
  // sum * scale in f32, as solve::times_sum has it. Where a condition of the scale hides the sum it
  // gives 0, also if what was summed there is not finite.
  Expr scaled(const Expr& sum, const ir::Expr& scale);
  // As an extent: at least 0.
  Expr extent(const ir::Poly& p);
  Expr poly(const ir::Poly& p, const Type& type = Halide::Int(32));

 private:
  Expr build(const ir::Expr& e);
  Expr as(const Type& type, const ir::Expr& e);
  Type type_of(const ir::Expr& e) const;
  Expr choose(bool affine, const Expr& condition, const Expr& a, const Expr& b);
  Expr add(const ir::Expr& e);
  Expr compared(const ir::Expr& e);
  Expr multiply(const ir::Expr& e);
  Expr power(const ir::Expr& e);
  Expr read(const ir::Expr& e);
  std::pair<Expr, Expr> planes(const ir::Expr& e, const Type& type);
  std::vector<Expr> subscripts(const ir::Expr& e);

  const ir::Graph& g_;
  const Arguments& arguments_;
  Indices indices_;
  bool decoded_;
  bool chooses_by_bits_ = false;
  bool bounded_ = false;       // conditions bound loops
  std::set<ir::IndexId> cut_;  // those that they mention
  bool promoted_ = false;      // real constants in f64
  std::map<ir::TensorId, Expr> replaced_;
  std::map<ir::TensorId, std::pair<Expr, Expr>> planes_;
  std::map<ir::Expr, Expr> done_;
};

// Whether a minimum or a condition chooses a subscript. Halide knows which one it is in a part of a
// loop that runs for some sizes only, and asks for that element whatever the size.
bool chooses(const ir::Expr& e);

// `value` in a call of `attn_data`: nothing is known of what it gives, and it stays where it is.
Expr hidden_data(const Expr& value);
// The same, but it may move: for what is no data.
Expr hidden_place(const Expr& value);

// A call of a primitive; arguments have the types that the operation takes. For every other
// operation the table has an expansion.
Expr primitive(const ir::Operation& op, const std::vector<Expr>& args, Type type, Exponential exp);
bool is_primitive(const ir::Operation& op);

// Of integers, rounded down.
Expr floor_divide(const Expr& a, const Expr& b);
Expr floor_remainder(const Expr& a, const Expr& b);

// The lowest and highest finite f32, which reductions over nothing give in every precision.
constexpr float kLowest = -3.4028235e38f;
constexpr float kHighest = 3.4028235e38f;

// The value over nothing, of a log-sum-exp that of its maximum; and the value of two.
Expr neutral(ir::Combine combine, const Type& type);
Expr combined(ir::Combine combine, const Expr& a, const Expr& b);

// `a` where the condition holds, else `b`, by their bits: for conditions on data, or in rows.
Expr masked(const Expr& condition, const Expr& a, const Expr& b);

// False for infinities and NaN, decided from the bits: comparisons would be folded away.
Expr has_finite_bits(const Expr& value);

// `value` where it is finite, else 0; and the other way about.
Expr finite_or_zero(const Expr& value);
Expr zero_or_not_finite(const Expr& value);

}  // namespace attn::lower
