// A contraction in Halide's terms: factors, epilogue and output.
//
//   C[batch, m, n] = epilogue(sum over terms t, k < K_t:  left_t(batch, m, k) * right_t(batch, k,
//   n))
//
// batch, m, n and k are linear indices, each of a group of dimensions in row-major order (the last
// dimension of the group runs fastest). Every extent may be a run-time Expr, and may be 0.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/lower/forms/scope.h"
#include "compiler/lower/forms/shown_members.h"
#include "compiler/plan/form.h"

namespace attn::lower {

// One factor's value at (batch, row or column, k). The indices it is given are always in range, so
// it needs no tail handling; what its own guard hides (padding of a convolution) it gives as 0.
// Reads of tensors should pass each subscript through `in_range`, since Halide cannot see through
// decoded indices. The value is converted to the accumulation type.
struct Factor {
  using At = std::function<Expr(Expr batch, Expr outer, Expr k)>;
  At at;

  // Which index walks through neighbours in memory. Only speed depends on it.
  enum class Along { kOuter, kReduced, kNeither };
  Along contiguous = Along::kNeither;
  // Where the value is an element as it is stored, and nothing hides it: so many lie beside each
  // other along that index, from every multiple of this number on (Scope::run_along).
  int64_t run = 0;
  // A half where all of its values are such halves; else f32.
  Type number = Halide::Float(32);
  // Where it may be other than 0; empty: everywhere.
  At visible = {};
  // The other factor's conditions hide elements of this one, whatever lies there: what is not
  // finite is multiplied as 0, and a fallback adds its products where both are visible.
  bool fallback = false;
};

struct ContractionTerm {
  Factor left;   // over (batch, m, k)
  Factor right;  // over (batch, n, k): the same order of arguments, n instead of m
  Expr reduced;  // K of this term
};

// One dimension of the output. The dimensions of a group make up its linear index.
struct OutputDim {
  enum class Group {
    kBatch,
    kRow,
    kColumn,
    kDealt
  };  // batch, m, n, the group of ContractionGroups
  Group group;
  Expr extent;
};

// Rows, or terms of the sums, that data deals out to groups. There is a matrix for each group: the
// index of one, where a factor takes the batch, is batch * count + group. Rows and terms of other
// groups have no part in it.
struct ContractionGroups {
  bool of_rows;
  Expr count;
  // The group of a row or of a term. Another number: it is in none.
  std::function<Expr(Expr batch, Expr member)> of;
  // Whether results of rows in no group are 0; else they are what the epilogue makes of such a sum.
  bool hides_results = false;
};

struct ContractionSpec {
  std::vector<ContractionTerm> terms;
  std::optional<ContractionGroups> groups;
  std::vector<OutputDim> output;  // outermost first, any order of groups; the buffer is row-major
  Type type = Halide::Float(32);  // of the sums
  // The stored values, one a buffer; `at` are the coordinates, outermost first, in range. The
  // types are those of the buffers.
  std::function<std::vector<Expr>(const std::vector<Expr>& at, Expr sum)> epilogue =
      [](const std::vector<Expr>&, const Expr& sum) { return std::vector{sum}; };

  // Typical sizes where an extent is not constant, 0 for unknown. They drop strategies whose case
  // does not come up (with nothing known two are compiled, and the kernel chooses at run time; a
  // long reduction is split only where rows and columns are known or typical to be few). The result
  // is right for all sizes.
  int typical_batch = 0, typical_rows = 0, typical_columns = 0, typical_reduced = 0;
  // Where the rows are unknown, they are not often so few that packing does not pay.
  bool rarely_thin = false;
};

// With `shown`, of the form of what is shown, hidden members are in no group.
ContractionSpec contraction_spec(const Scope& scope, const plan::ContractionForm& form,
                                 const ShownMembers* shown = nullptr);

}  // namespace attn::lower
