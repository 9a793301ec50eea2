// C names for the things of a model, and pieces of C.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::emit {

// A C identifier: dots and the like become `_`; keywords of C and C++ and names of common macros
// get a `_` after them.
std::string identifier(std::string_view name);
// Identifiers of several names, all different.
std::vector<std::string> identifiers(const std::vector<std::string>& names);

// A C string literal.
std::string quoted(std::string_view text);
// What may stand in a comment of C.
std::string comment(std::string text);
// The items with a space between two, in indented lines of `width` characters where they can be
// cut.
std::string wrapped(const std::vector<std::string>& items, const std::string& indent,
                    size_t width = 100);

// Rows of tables are data: their lines are longer than those of code.
inline constexpr size_t kTableWidth = 180;

// The sizes that a call determines (neither known nor defined by others), in order.
std::vector<ir::SizeId> run_time_sizes(const ir::Graph& g);

}  // namespace attn::emit
