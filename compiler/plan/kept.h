// What forward keeps for backward.
#pragma once

#include <map>
#include <set>

#include "compiler/plan/function.h"
#include "compiler/plan/step_major.h"

namespace attn::plan {

// The tensors of the gradient that forward has in memory and backward need not compute, with what
// forward calls them. Not among them: what would be too large to keep, unless backward stores it
// (`stored`); an extreme that is compared with what is computed again; and a map of a few
// operations that backward computes where it reads it.
std::map<ir::TensorId, ir::TensorId> kept_by(const Function& forward, const Shared& shared,
                                             const Costs& costs,
                                             const std::set<ir::TensorId>& stored = {});

// What a plan of backward computes and stores as a whole though forward has it in memory, too: it
// would be too large to keep, but for that. A map of a few operations is computed again, unless
// of something of the kind.
std::set<ir::TensorId> stored_again(const Function& forward, const Function& backward,
                                    const Shared& shared, const Costs& costs);

}  // namespace attn::plan
