// Custom passes over the lowered code of a kernel; WORKAROUNDS.md says why.
#pragma once

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// Checks of arguments that follow one another fail as one.
void join_argument_checks(Halide::Pipeline& pipeline);

// The second result of the first output is written where the caller has memory for it. (Before the
// checks are joined.)
void leave_out_kept(Halide::Pipeline& pipeline);

// Loads of results expect the alignment of an element only. (Of stores Halide knows better.)
void unalign_result_loads(Halide::Pipeline& pipeline);

// Where everything that a loop, or the scope of an allocation, stores for others is under a
// condition that reads a Func, the condition is tested before it, and not again inside.
void hoist_conditions(Halide::Pipeline& pipeline);

// Takes the calls away behind which subscripts (Arguments::hides_data) and indices (gpu::own) were
// hidden.
void show_data(Halide::Pipeline& pipeline);

// Where the condition of gpu::of_whole_body does not hold, the body of the loop is skipped.
void skip_bodies(Halide::Pipeline& pipeline);

// What blocks of threads keep in registers is each thread's own part of it.
void keep_registers_private(Halide::Pipeline& pipeline);

// Threads of a block do not meet twice where nothing that others see was touched in between.
void join_barriers(Halide::Pipeline& pipeline);

// Of CUDA: pieces that lie in memory as they shall lie in shared memory are copied by an
// instruction, where they are aligned; those of f32 that become halves are loaded by two. Single
// numbers of f32 are copied by an instruction.
void copy_pieces(Halide::Pipeline& pipeline);

// Copies of a loop's next round overlap with the work of this round.
void overlap_copies(Halide::Pipeline& pipeline);

// The calls that take addresses in shared memory get them in place of the elements there.
void write_shared_addresses(Halide::Pipeline& pipeline);

// Launches of more than `most` blocks down or deep become several, each of a part of the blocks.
void split_launches(Halide::Pipeline& pipeline, int most);

// Halves in memory are read and written as words of 16 bits: OpenCL's devices need not have a type
// for them, and LLVM's PTX has no casts of bf16.
void store_halves_as_words(Halide::Pipeline& pipeline);

// Numbers of 64 bits that no float is are written by their bits: Halide rounds them in OpenCL C.
void write_doubles_as_bits(Halide::Pipeline& pipeline);

// Calls that stand for instructions of CUDA's matrix units (gpu/matrix_units.h) become those, in
// the PTX of a module.
Halide::Module with_instructions(const Halide::Module& module);
// The same of a text. InternalError for a call that no instruction stands for.
std::string with_instructions(const std::string& ptx);

// Of an object (ELF): what it defines is for the program or shared library that it is linked into.
void hide_symbols(std::string& object);

}  // namespace attn::lower
