// Kernels that do the same work on arguments of the same shapes are one kernel.
#pragma once

#include <string>

#include "compiler/plan/plan.h"

namespace attn::emit {

// A text that is equal for two kernels exactly when one object can serve both: definitions with
// their tensors, indices and sizes renamed by position, and the storage and extents of every
// argument.
std::string signature(const plan::Function& f, const plan::Kernel& kernel);

}  // namespace attn::emit
