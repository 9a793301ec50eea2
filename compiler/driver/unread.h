// How much of what kernels take is read by none of their points.
#pragma once

#include <vector>

#include "compiler/plan/plan.h"

namespace attn::driver {

// As a trace counts them: checks first.
std::vector<const plan::Kernel*> kernels_of(const plan::Function& f);

// By kernel, as kernels_of has them: bytes that no point of it can read for want of points, such as
// the rest of a table of which few rows are looked up. The trace of a call counts every tensor as a
// whole.
std::vector<double> unread_bytes(const plan::Function& f, const std::vector<int64_t>& sizes);

}  // namespace attn::driver
