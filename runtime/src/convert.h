// Reals of one type written as another, on the threads of a context.
#pragma once

#include "context.h"

namespace attn::rt {

// Rounds to the nearest; what the type does not hold becomes infinite. Sources need not be aligned.
void convert_reals(attn_context* context, int64_t count, attn_type from, const void* source,
                   attn_type to, void* destination);
// The first finite element that would become infinite; `count` where there is none.
int64_t first_overflow(attn_context* context, int64_t count, attn_type from, const void* source,
                       attn_type to);

}  // namespace attn::rt
