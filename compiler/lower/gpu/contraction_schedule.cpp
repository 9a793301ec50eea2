// How sums of products are computed on a GPU.
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/gpu/contraction.h"
#include "compiler/lower/gpu/register_tile.h"

namespace attn::lower {

Scheduled gpu::schedule(const plan::ContractionForm& form, const Scope& scope,
                        const target::Target& target) {
  const ContractionSpec spec = contraction_spec(scope, form);
  if (const std::string why = unsuited_to_tiles(spec); !why.empty())
    return {{plain_contraction(spec)}, "a thread for each result: " + why};
  return {{tiled_contraction(spec, target, scope.precision)},
          "tiles of results" + units_text(target, scope.precision)};
}

}  // namespace attn::lower
