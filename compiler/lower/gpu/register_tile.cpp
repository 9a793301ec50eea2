#include "compiler/lower/gpu/register_tile.h"

namespace attn::lower::gpu {

void stage(Func f, int size, bool along_k, const RegisterTile& tile, int summed, int padding) {
  const std::vector<Var> args = f.args();
  const Var m = args[0], k = args[1];
  Var q("q"), s("s"), across("st"), down("sw");
  if (along_k)
    f.reorder(k, m).fuse(k, m, q);
  else
    f.fuse(m, k, q);
  f.split(q, s, q, tile.threads()).split(q, down, across, tile.threads_across);
  f.reorder(s, across, down).unroll(s).gpu_threads(across, down);
  f.store_in(Halide::MemoryType::GPUShared);
  f.bound(m, 0, size).bound(k, 0, summed).bound_storage(m, size + padding);
  for (size_t n = 2; n < args.size(); ++n) f.bound_extent(args[n], 1);
}

}  // namespace attn::lower::gpu
