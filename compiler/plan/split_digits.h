// Products over an index of which one factor reads a digit alone.
//
// y[n,d,i] = sum[c] x[n, C * (d // D) + c, i] * w[d,c] is a product of matrices for each group:
// part[n,d1,d2,i] = sum[c] x[n, C * d1 + c, i] * w[D * d1 + d2, c], and y[n,d,i] is
// part[n, d // D, d % D, i]. So is the gradient of what a convolution with strides reads, of which
// the terms at each point depend on (i + 1) % 2.
#pragma once

#include "compiler/plan/kinds.h"

namespace attn::plan {

// The sum over the digits and a copy, or nothing where packing as `d` is written takes no longer
// than the copy.
std::vector<ir::Definition> split_digits(ir::Graph& g, const Costs& costs, const ir::Definition& d);

}  // namespace attn::plan
