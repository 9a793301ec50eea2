// What files declare, as a page of Markdown: each block, model, function, update and size with the
// text of its `##` lines.
#pragma once

#include <string>
#include <vector>

#include "dsl/ast.h"

namespace attn::report {

struct Module {
  std::string name;  // "std.norm", "model.attn"
  std::string file;  // where it stands
  dsl::File tree;
};

// A title, a table of all that is declared where there are several modules, and a section for each
// module.
std::string to_reference(const std::string& title, const std::vector<Module>& modules);

}  // namespace attn::report
