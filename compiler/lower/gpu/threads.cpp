#include "compiler/lower/gpu/threads.h"

namespace attn::lower::gpu {

LoopLevel one_thread_a_point(const Func& f, Stage stage, const std::vector<Var>& vars) {
  Var block("block"), thread("thread");
  if (vars.empty()) {
    stage.split(Var::outermost(), Var::outermost(), thread, 1)
        .split(Var::outermost(), Var::outermost(), block, 1)
        .gpu_blocks(block)
        .gpu_threads(thread);
    return LoopLevel(f, thread);
  }
  Var all = vars[0];
  for (size_t k = 1; k < vars.size(); ++k) {
    Var next("all" + std::to_string(k));
    stage.fuse(all, vars[k], next);
    all = next;
  }
  stage.split(all, block, thread, kBlockThreads, TailStrategy::GuardWithIf)
      .gpu_blocks(block)
      .gpu_threads(thread)
      .never_partition(block);
  return LoopLevel(f, thread);
}

}  // namespace attn::lower::gpu
