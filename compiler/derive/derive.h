// Symbolic derivatives of a graph, as graphs.
#pragma once

#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"

namespace attn::derive {

// What derivatives are taken by: parameters and real inputs. A name stands for itself and for all
// whose first parts it is, `attn` for `attn.wq`; no names stand for everything.
using Names = std::vector<std::string>;
bool is_chosen(const ir::Tensor& t, const Names& by);

// All of these refuse, with an error, a model whose own names are those that the caller of the
// derivative sees, and a derivative that is infinite everywhere. Definitions of helpers and of the
// original graph are recomputed freely, and left for simplify to tidy.

// Where a line of a gradient comes from: what the definition of `through` hands down to its read of
// `of`, as a contribution to the cotangent of `of`, which the definition of `held_by` holds.
struct Origin {
  ir::TensorId held_by;  // the cotangent, or a part of it
  ir::TensorId of;
  ir::TensorId through;  // invalid: the caller gives it
};

// The vector-Jacobian product: the definitions of `g` (a forward graph whose outputs are its
// results) followed by those of the cotangents. New inputs (role cotangent) `dOUT`, one per real
// output, of its shape; the outputs of the result are `dNAME` for all that is chosen. A gradient
// that is zero everywhere is a definition 0; where that is so for a parameter only because of the
// derivative of floor, comparisons or the like, a warning is recorded. `origins`, if given, gets
// those of every definition that sums contributions, in order.
ir::Graph gradient(const ir::Graph& g, Diagnostics& diagnostics, const Names& by = {},
                   std::vector<Origin>* origins = nullptr);

// The Jacobian-vector product: the definitions of `g` followed by those of the tangents. New inputs
// (role tangent) `tNAME` for all that is chosen; the outputs of the result are those of `g`, and
// `tOUT` for every real one.
ir::Graph jvp(const ir::Graph& g, Diagnostics& diagnostics, const Names& by = {});

// Whether a real output is a scalar: the first such is the loss.
bool has_loss(const ir::Graph& g);

// The Hessian-vector product of the loss, in two steps, so that
// the first can be simplified before the second. loss_gradient is `gradient` without cotangents: 1
// for the loss, 0 for other outputs; it is an error where there is no scalar. hessian_product takes
// that graph; its result has the inputs `tNAME`, and for outputs `hNAME`.
ir::Graph loss_gradient(const ir::Graph& g, Diagnostics& diagnostics, const Names& by = {});
ir::Graph hessian_product(const ir::Graph& loss_gradient, Diagnostics& diagnostics,
                          const Names& by = {});

}  // namespace attn::derive
