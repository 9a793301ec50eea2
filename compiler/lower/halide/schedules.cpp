#include "compiler/lower/halide/schedules.h"

#include "compiler/lower/cpu/schedules.h"

namespace attn::lower {

const Schedules& schedules(target::Arch arch) {
  static constexpr Schedules kByArch[] = {
      {schedule_loops, schedule_rows, schedule_contraction, schedule_tiles},
  };
  return kByArch[static_cast<size_t>(arch)];
}

}  // namespace attn::lower
