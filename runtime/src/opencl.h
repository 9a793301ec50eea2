// Devices of OpenCL, opened at run time.
#pragma once

#include "context.h"

namespace attn::rt {

// Why contexts of this device cannot be created; null where they can.
const char* opencl_refusal(int32_t ordinal);
// Makes the context one of the device of its options, or says why not.
const char* opencl_open(attn_context* context);

}  // namespace attn::rt
