// Sums of products with a thread for each result.
#include <algorithm>
#include <map>

#include "compiler/lower/gpu/contraction.h"
#include "compiler/lower/gpu/threads.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

using Group = OutputDim::Group;

Expr product(const ContractionTerm& term, const Expr& batch, const Expr& row, const Expr& column,
             const Expr& k) {
  const Expr value = term.left.at(batch, row, k) * term.right.at(batch, column, k);
  if (!term.left.fallback && !term.right.fallback) return value;
  Expr counts = const_true();
  if (term.left.visible) counts = counts && term.left.visible(batch, row, k);
  if (term.right.visible) counts = counts && term.right.visible(batch, column, k);
  return masked(counts, value, make_zero(value.type()));
}

Func plain_contraction(const ContractionSpec& spec) {
  std::vector<Var> vars;
  std::map<Group, Expr> linear, extents;
  for (Group g : {Group::kBatch, Group::kRow, Group::kColumn, Group::kDealt}) {
    linear[g] = 0;
    extents[g] = 1;
  }
  for (const OutputDim& dim : spec.output) {
    vars.emplace_back("d" + std::to_string(vars.size()));
    linear[dim.group] = linear[dim.group] * dim.extent + vars.back();
    extents[dim.group] = extents[dim.group] * dim.extent;
  }
  std::vector<Expr> at;
  for (size_t k = 0; k < vars.size(); ++k) at.push_back(own(vars[k], spec.output[k].extent));
  std::reverse(vars.begin(), vars.end());
  for (auto& [group, index] : linear) index = own(index, extents[group]);

  // The matrix of the batch, or of a group in it: that of the row, or of the result.
  Expr matrix = linear[Group::kBatch];
  if (spec.groups) {
    const Expr count = spec.groups->count;
    const Expr group = spec.groups->of_rows ? clamp(spec.groups->of(matrix, linear[Group::kRow]), 0,
                                                    max(count - 1, 0))
                                            : linear[Group::kDealt];
    matrix = matrix * count + group;
  }

  // Of twice the digits: what rounding costs does not grow with the sum's length.
  const Type kept = spec.type == Halide::Float(32) ? Halide::Float(64) : spec.type;
  Func sum("out_sum"), out("out");
  sum(vars) = make_zero(kept);
  for (const ContractionTerm& term : spec.terms) {
    RDom k(0, term.reduced, "k");
    const Expr at_k = in_range(k, term.reduced);
    Expr value = product(term, matrix, linear[Group::kRow], linear[Group::kColumn], at_k);
    if (spec.groups && !spec.groups->of_rows)
      value = masked(spec.groups->of(linear[Group::kBatch], at_k) == linear[Group::kDealt], value,
                     make_zero(value.type()));
    sum(vars) += cast(kept, each_time(k, value));
  }
  out(vars) = Tuple(spec.epilogue(at, cast(spec.type, sum(vars))));
  sum.compute_at(one_thread_a_point(out));
  return out;
}

}  // namespace attn::lower::gpu
