// The checker of plans, as ir::verify is of graphs.
#pragma once

#include <span>

#include "compiler/plan/plan.h"

namespace attn::plan {

// Throws InternalError, naming the kernel, where one breaks a promise: its form is no graph of
// definitions that reads what the kernel reads only and computes what it writes; a group of
// indices, a factor, a tile or a result has an index that it must not have; the form computes what
// the kernel's definitions do not, or takes a size that the kernel does not.
void verify(const ir::Graph& g, std::span<const Kernel> kernels);
inline void verify(const ir::Graph& g, const Kernel& k) { verify(g, std::span(&k, 1)); }

// The same where, in a function whose kernels are each verified, a definition of the graph is
// claimed by no kernel, or by two; a place is not what the kernels make of it; a tensor is read
// before anything writes it, or is written twice; memory may go to another while something in it is
// needed; a loop does not hold the kernels of its step; a check of data compares nothing.
void verify(const Function& f);

// Throws InternalError, naming the function and the tensor, where something does not hold.
void require(bool holds, const Function& f, std::string_view what);
void require(bool holds, const Function& f, ir::TensorId t, std::string_view what);

// The part of it that is about loops, and the one that runs the kernels on the names of tensors:
// what memory holds when.
void verify_loops(const Function& f);
void verify_memory(const Function& f);

// Where functions, each of which is verified, do not agree on what forward leaves.
void verify(const Plan& plan);

}  // namespace attn::plan
