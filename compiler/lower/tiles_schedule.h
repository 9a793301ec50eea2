// The schedules of kernels of tiles.
#pragma once

#include <Halide.h>

#include <vector>

#include "compiler/lower/target.h"
#include "compiler/lower/tiles.h"

namespace attn::lower {

// What the kernel writes, in order, each over its dimensions innermost first. Rows and columns may
// be run-time Exprs, and 0. Results do not depend on threads.
std::vector<Halide::Func> schedule_tiles(const TilesSpec& spec, const Target& target);

}  // namespace attn::lower
