// How the four forms are computed on an architecture.
#pragma once

#include <Halide.h>

#include <vector>

#include "compiler/lower/forms/contraction.h"
#include "compiler/lower/forms/loops.h"
#include "compiler/lower/forms/row.h"
#include "compiler/lower/forms/tiles.h"
#include "compiler/target/target.h"

namespace attn::lower {

// Each gives what the kernel writes, in order, every Func over its dimensions innermost first, a
// plane last. They hold for all extents, run-time ones and 0 among them.
struct Schedules {
  std::vector<Halide::Func> (*loops)(const LoopsSpec&, const target::Target&);
  std::vector<Halide::Func> (*rows)(const RowSpec&, const target::Target&);
  std::vector<Halide::Func> (*contraction)(const ContractionSpec&, const target::Target&);
  std::vector<Halide::Func> (*tiles)(const TilesSpec&, const target::Target&);
};

const Schedules& schedules(target::Arch arch);

}  // namespace attn::lower
