// The arrows between the folders of the source, and what breaks them. Sources are given as texts,
// so that the rules themselves can be tested on small made-up trees.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace attn::layering {

// Paths from the root of the checkout, with `/`, to texts.
using Sources = std::map<std::string, std::string>;

struct Include {
  std::string name;
  int line = 0;
  bool quoted = false;  // "name" rather than <name>
};

std::vector<Include> includes_of(const std::string& text);

// The layer that a file belongs to: "dsl", "ir", …, "driver", "runtime", "generated", "examples",
// of a folder that arrows divide "lower/terms"; "" for a file that no arrow speaks of.
std::string layer_of(const std::string& path);

// What each layer includes directly.
const std::map<std::string, std::vector<std::string>>& arrows();

// The layers that `layer` may include, itself among them, with the arrows followed to their ends.
// Throws std::out_of_range for a layer that the table does not have.
std::vector<std::string> may_include(const std::string& layer);

// Every include that an arrow does not allow, and every way by which a file outside of the one
// place for it sees Boost.Spirit or Halide, as "path:line: what is wrong".
std::vector<std::string> broken_arrows(const Sources& sources);

// All files below the root of the checkout that belong to the project: no build folders, no fetched
// dependencies, nothing of git. With `text_only`, files that hold a zero byte are left out.
Sources read_tree(const std::string& root, bool text_only = true);

}  // namespace attn::layering
