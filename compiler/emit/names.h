// C names for the things of a model, and sizes as C expressions.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::emit {

// A C identifier: dots and the like become `_`; keywords of C and C++ and names of common macros
// get a `_` behind them.
std::string identifier(std::string_view name);
// Identifiers of several names, all different.
std::vector<std::string> identifiers(const std::vector<std::string>& names);

// The local variable that holds a run-time size.
std::string size_variable(const ir::Graph& g, ir::SizeId id);
// As an int64_t expression over those variables; known sizes are numbers.
std::string c_expression(const ir::Graph& g, const ir::Poly& p);
// The same, 0 where it would be negative.
std::string c_extent(const ir::Graph& g, const ir::Poly& p);
// Lines that declare the variables of sizes and quotients of them, from the array `size`.
std::string size_locals(const ir::Graph& g, const std::vector<ir::SizeId>& sizes);
// A C string literal.
std::string quoted(std::string_view text);

// The sizes that a call determines (neither known nor defined by others), in order.
std::vector<ir::SizeId> run_time_sizes(const ir::Graph& g);

}  // namespace attn::emit
