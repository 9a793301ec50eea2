// From trees to graphs: names, blocks, sizes, index ranges, types, proofs that reads are in range.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/step.h"
#include "dsl/ast.h"

namespace attn::elaborate {

struct Model {
  ir::Graph graph;  // raw: before spread_guards
  bool train = false;
  std::string doc;
  Span where;
  std::optional<ir::Step> step;  // of `using`
};

struct Program {
  std::vector<Model> models;  // in the order of the file
};

// Finds the text of `use std.norm` (name "std/norm.attn") or `use "ffn.attn"`; nothing when there
// is no such file. The loader refuses what lies outside the project's root.
struct Loader {
  std::function<std::optional<int32_t>(const std::string& name, bool library, int32_t from_file,
                                       std::string& why_not)>
      load;                          // gives a file of the SourceMap
  std::vector<std::string> library;  // what `use` may name: "std.norm", …
};

// Sizes given on the command line: -D D=256.
using Overrides = std::map<std::string, int64_t>;

Program elaborate(SourceMap& sources, int32_t file, const dsl::File& tree, const Loader& loader,
                  const Overrides& overrides, Diagnostics& diagnostics);

}  // namespace attn::elaborate
