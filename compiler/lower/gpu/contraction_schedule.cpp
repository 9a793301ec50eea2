// How sums of products are computed on a GPU.
#include "compiler/base/check.h"
#include "compiler/lower/gpu/contraction.h"
#include "compiler/lower/gpu/schedules.h"

namespace attn::lower {

gpu::Funcs gpu::schedule(const plan::ContractionForm& form, const Scope& scope,
                         const target::Target& target) {
  ATTN_CHECK(!form.groups, "groups by data in a kernel of a GPU");
  const ContractionSpec spec = contraction_spec(scope, form);
  return {suits_tiles(spec) ? tiled_contraction(spec, target, scope.precision)
                            : plain_contraction(spec)};
}

}  // namespace attn::lower
