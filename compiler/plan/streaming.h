// Claims streaming kernels: what reads a wide tensor of scores, without storing it.
#pragma once

#include <optional>

#include "compiler/plan/plan.h"

namespace attn::plan {

// A planned contraction: the sum, and the definition that its epilogue computes (the sum itself
// where there is none).
struct Part {
  const ir::Definition& definition;
  const ir::Definition& sum;
  const Contraction& contraction;
};

// `lse` = logsumexp over a column index of what `scores` computes, and `weighted`, a sum over the
// same columns with the factor exp(argument of lse - lse); nothing where one of them is anything
// else. That nothing else reads the scores is the caller's to see.
std::optional<Streaming> claim_streaming(const ir::Graph& g, const ir::Definition& lse,
                                         const Part& scores, const Part& weighted);

}  // namespace attn::plan
