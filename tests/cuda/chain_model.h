// A model whose call has all that a launch graph must keep: integers that are checked, memory
// between the launches of a kernel, a kernel for each step, tensors that may be empty.
// y[n] = 2 x[n] + 1, then for n from 0: y[n] += x[index[n]].
#pragma once

#include <attn/program.h>

const attn_model* chain_model();
// Tells the fake driver of its kernels; after each fake_cuda::reset().
void set_chain_kernels();
// The blocks that its last call took between launches, as the device knows it.
uint64_t chain_scratch();
