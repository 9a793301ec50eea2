// Plans with one field changed.
#pragma once

#include <functional>
#include <string>

#include "compiler/plan/plan.h"

namespace attn::testing {

// Changes one field of `f` at a time, calls `visit` with what was changed ("contraction.rows:
// reversed") and the kernel that it belongs to, null for a field of the function, and changes it
// back.
using Visit = std::function<void(const std::string& what, const plan::Kernel* kernel)>;
void each_mutation(plan::Function& f, const Visit& visit);

}  // namespace attn::testing
