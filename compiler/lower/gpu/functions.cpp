#include "compiler/lower/gpu/functions.h"

#include "compiler/lower/terms/vector_math.h"

namespace attn::lower::gpu {
namespace {

Expr instruction(const char* name, const std::vector<Expr>& args) {
  using Halide::Internal::Call;
  return Call::make(Halide::Float(32), name, args, Call::PureExtern);
}

}  // namespace

Expr exponential(const Expr& x, const target::Target& target) {
  return target.device == ATTN_CUDA ? short_cuda_exp(x) : vector_exp(x, -60.0f);
}

// LLVM makes a comparison and a selection of Halide's.
Expr greatest(const Expr& a, const Expr& b, const target::Target& target) {
  if (target.device != ATTN_CUDA) return max(a, b);
  return instruction("llvm.nvvm.fmax.ftz.f", {a, b});
}

Expr of_lane(const Expr& value, int distance) {
  return instruction("llvm.nvvm.shfl.sync.bfly.f32", {-1, value, distance, 31});
}

}  // namespace attn::lower::gpu
