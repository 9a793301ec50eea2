// The checker of plans, as ir::verify is of graphs.
#pragma once

#include "compiler/plan/plan.h"

namespace attn::plan {

// Throws InternalError, naming the kernel, where a kernel breaks a promise: its form is no graph of
// definitions that reads what the kernel reads only and computes what it writes; a group of
// indices, a factor, a tile or a result has an index that it must not have; the form computes what
// the kernel's definitions do not, or takes a size that the kernel does not.
void verify(const ir::Graph& g, const Kernel& k);

// The same for all kernels of a function, and where a tensor is read before anything writes it, or
// is written twice; a result is not written; a kernel writes what is not its function's to write;
// tensors that live at the same time share a slot; loops are not one behind the other.
void verify(const Function& f);

}  // namespace attn::plan
