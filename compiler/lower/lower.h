// From a planned kernel to machine code. Halide is seen by this folder alone.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::lower {

// The name of the best target that this machine runs.
std::string host_target();

// The object file (ELF) of one kernel, whose symbols are hidden. They begin with `symbol`:
//   int symbol(void* context, attn_buffer* reads..., int32_t sizes..., attn_buffer* writes...)
//   int symbol_argv(void** arguments)
// It refers to the runtime by attn_k_* names. Throws InternalError with Halide's text when
// Halide refuses, which is a defect of ours. `scratch`: a file to use on the way, and to remove.
// LLVM ends the process where it cannot write that. `few_rows`: by the schedule for few rows, which
// takes the same arguments (plan::few_rows_of).
std::string compile_object(const plan::Function& f, const plan::Kernel& kernel,
                           const std::string& target, const std::string& symbol,
                           const std::string& scratch, bool few_rows = false);

// The lowered statement as text, for people.
std::string statement(const plan::Function& f, const plan::Kernel& kernel,
                      const std::string& target, bool few_rows = false);

// How a kernel runs on the target of a GPU, in words: which schedule it gets, and why no better one.
std::string schedule(const plan::Function& f, const plan::Kernel& kernel,
                     const std::string& target);

// What a kernel for a device gives to its driver: PTX or OpenCL C.
std::string device_program(const plan::Function& f, const plan::Kernel& kernel,
                           const std::string& target);

// Joins objects into a static library at `path`, the same bytes for the same objects.
void write_archive(const std::vector<std::string>& object_paths, const std::string& path);

}  // namespace attn::lower
