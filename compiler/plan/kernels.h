// The kernels of prepared definitions: which kind computes what, and what finishes what.
#pragma once

#include "compiler/plan/groups.h"

namespace attn::plan {

// Adds kernels for all definitions of f.graph in order: the groups' own, contractions with what
// finishes them, rows, and loops for the rest. `wanted` as in plan_function.
void add_kernels(const std::string& model, Function& f, Groups groups,
                 const std::set<std::string>& wanted);

// Adds kernels to `kernels`, of `f`, for definitions that are not the graph's: rows, and loops for
// the rest. `wanted` as in plan_function.
void add_plainly(const std::string& model, Function& f, std::vector<Kernel>& kernels,
                 std::vector<ir::Definition> definitions, const std::set<std::string>& wanted);

// Fills name, reads, writes and sizes of a kernel that has its definitions, and places what it
// writes. `wanted` as in plan_function.
void finish_kernel(const std::string& model, Function& f, Kernel& kernel,
                   const std::set<std::string>& wanted);

}  // namespace attn::plan
