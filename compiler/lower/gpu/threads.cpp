#include "compiler/lower/gpu/threads.h"

namespace attn::lower::gpu {

LoopLevel one_thread_a_point(const Func& f, Stage stage, const std::vector<Var>& vars) {
  constexpr int kAcross = 32;
  Var block("gpu_block"), thread("gpu_thread"), next_block("gpu_next_block"),
      next_thread("gpu_next_thread");
  if (vars.empty()) {
    stage.split(Var::outermost(), Var::outermost(), thread, 1)
        .split(Var::outermost(), Var::outermost(), block, 1)
        .gpu_blocks(block)
        .gpu_threads(thread);
    return LoopLevel(f, thread);
  }
  // Blocks are fused and indices are not: of a guarded index that is fused with others Halide no
  // longer sees that it is one.
  stage.split(vars[0], block, thread, vars.size() > 1 ? kAcross : kBlockThreads,
              TailStrategy::GuardWithIf);
  if (vars.size() > 1)
    stage
        .split(vars[1], next_block, next_thread, kBlockThreads / kAcross, TailStrategy::GuardWithIf)
        .reorder(thread, next_thread, block, next_block);
  Var all = block;
  for (size_t k = 1; k < vars.size(); ++k) {
    Var fused("gpu_fused" + std::to_string(k));
    stage.fuse(all, k == 1 ? next_block : vars[k], fused);
    all = fused;
  }
  stage.gpu_blocks(all).never_partition(all);
  if (vars.size() > 1)
    stage.gpu_threads(thread, next_thread);
  else
    stage.gpu_threads(thread);
  return LoopLevel(f, thread);
}

}  // namespace attn::lower::gpu
