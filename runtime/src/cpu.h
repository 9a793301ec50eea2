// The CPU as a device: its functions, and what it can run.
#pragma once

#include <attn/device.h>
#include <attn/program.h>

namespace attn::rt {

// What a context without another device calls.
attn_device cpu_device();
// The floating point state that kernels are compiled for: to nearest, traps masked, subnormals
// flushed. Returns the state before.
uint32_t enter_kernel_state();
// The words of this processor's features, by attn_cpu_word.
void read_cpu_features(uint32_t* words);

}  // namespace attn::rt
