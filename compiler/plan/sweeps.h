// The kernels of one group.
#pragma once

#include <map>
#include <optional>

#include "compiler/plan/grow.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

struct GroupKernels {
  std::vector<Kernel> kernels;
  std::map<ir::TensorId, std::vector<ir::Definition>> replaced;  // of a reader: what computes it
};

// The results of a group are computed in sweeps: a tile that needs a result of one sweep can be
// used in the next only, and is computed again there. `others` are kernels of other groups, whose
// definitions stand together in `g`. Nothing where a reader is no result; `misfit` is then its
// target.
std::optional<GroupKernels> kernels_of(ir::Graph& g, const solve::Unmaterialised& unmaterialised,
                                       const Group& group, const std::vector<Kernel>& others,
                                       ir::TensorId& misfit);

}  // namespace attn::plan
