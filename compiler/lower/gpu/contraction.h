// The two ways in which a GPU computes sums of products.
#pragma once

#include <string>

#include "compiler/lower/forms/contraction.h"
#include "compiler/target/target.h"

namespace attn::lower::gpu {

// At a point, in range. What a factor hides is 0, whatever the other factor holds there.
Expr product(const ContractionTerm& term, const Expr& batch, const Expr& row, const Expr& column,
             const Expr& k);

// A thread for each result. Takes anything.
Func plain_contraction(const ContractionSpec& spec);

// Why tiles do not suit; empty: they do.
std::string unsuited_to_tiles(const ContractionSpec& spec);

// A block of threads for each tile of results, which are registers; chunks of both factors are
// staged in shared memory.
Func tiled_contraction(const ContractionSpec& spec, const target::Target& target,
                       plan::Precision precision);

}  // namespace attn::lower::gpu
