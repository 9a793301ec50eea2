// Compares Jacobian- and Hessian-vector products with central differences of the evaluator.
#pragma once

#include "gradient_check.h"

namespace attn::testing {

// Random tangents tNAME of every real input and parameter.
evaluate::Arrays random_tangents(const ir::Graph& g, const evaluate::Arrays& inputs, uint64_t seed);

// "" or what is wrong with the Jacobian-vector product of `forward` along random tangents: against
// differences of the outputs, simplified against raw, and <u, J v> against <J' u, v>, which must
// agree to 1e-10 of the terms.
std::string check_jvp(const ir::Graph& forward, const evaluate::Arrays& inputs,
                      const CheckOptions& options = {});

// "" or what is wrong with the Hessian-vector product of `forward`, which has a scalar output:
// against differences of its gradient, and simplified against raw.
std::string check_hvp(const ir::Graph& forward, const evaluate::Arrays& inputs,
                      const CheckOptions& options = {});

}  // namespace attn::testing
