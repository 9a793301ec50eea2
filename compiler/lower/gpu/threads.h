// How points are dealt out to the threads of a GPU.
#pragma once

#include <vector>

#include "compiler/lower/terms/halide.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower::gpu {

// Threads of a block where nothing else decides.
constexpr int kBlockThreads = 128;

// A thread for each point of `vars`, innermost first: all loops of the stage but those of its
// reductions, which run in order. Gives the level at which a thread computes what its point needs.
LoopLevel one_thread_a_point(const Func& f, Stage stage, const std::vector<Var>& vars);
inline LoopLevel one_thread_a_point(Func f) { return one_thread_a_point(f, f, f.args()); }

// An index of a thread: nothing in it is an index of loops to Halide, which would bound those loops
// by conditions of it and keep more than one point for them. The pass show_data takes the call away.
inline Expr hidden_index(const Expr& index) {
  using Halide::Internal::Call;
  return Call::make(index.type(), kIndexCall, {index}, Call::PureExtern);
}

// The same, below the extent, for what is read there.
inline Expr own(const Expr& index, const Expr& extent) {
  return in_range(hidden_index(index), extent);
}

// A condition on an update that decides for the whole body of one of its loops: all that is there
// is for that update. The pass skip_bodies tests it before.
inline Expr of_whole_body(const RVar& loop, const Expr& condition) {
  using Halide::Internal::Call;
  return unsolved(Call::make(Halide::Bool(), kBodyCall, {condition, loop}, Call::PureExtern));
}

// The value in terms of the domain even where it is the same at all of its points; WORKAROUNDS.md.
inline Expr each_time(const RDom& domain, const Expr& value) {
  return select(domain[0] >= 0, value, value);
}

}  // namespace attn::lower::gpu
