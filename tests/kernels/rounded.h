// The evaluator, with factors of products rounded to bf16 as matrix units take them in medium
// precision, so that kernels are compared with what they are to compute.
#pragma once

#include "compiled.h"

namespace attn::testing {

// Outputs and gradients of a model that was planned for medium precision and has no recurrences.
// Weights exp(score - maximum) of a softmax are exact here: which maximum a kernel knows when it
// rounds one is its own affair.
Arrays reference_of_rounded_factors(const driver::Compiled& model, const Arrays& given);

}  // namespace attn::testing
