// Kernels that do the same work on arguments of the same shapes are one kernel.
#pragma once

#include <string>

#include "compiler/plan/plan.h"

namespace attn::emit {

// A text that is equal for two kernels exactly when one object can serve both: the definitions of
// the form with tensors, indices and sizes named by position, the storage and extents of every
// argument, and whether a result is a block of another tensor. ir/key.h does not do, which keeps
// ids: these kernels are of several graphs.
std::string signature(const plan::Function& f, const plan::Kernel& kernel);

}  // namespace attn::emit
