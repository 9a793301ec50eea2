// Elaborates a text as the driver would, with the library of this tree.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "compiler/elaborate/elaborate.h"
#include "compiler/text/text.h"
#include "dsl/parse.h"
#include "tests/support/golden.h"

namespace attn::testing {

struct Elaborated {
  SourceMap sources;
  Diagnostics diagnostics;
  dsl::File tree;
  elaborate::Program program;

  // Everything that was said, as a terminal shows it.
  std::string messages() const { return render(sources, diagnostics); }
  const ir::Graph& graph(size_t model = 0) const { return program.models.at(model).graph; }
  std::string text(size_t model = 0) const { return text::to_string(graph(model)); }
};

// Files beside the main one, by name.
using Beside = std::map<std::string, std::string>;

inline std::vector<std::string> library_of_this_tree() {
  std::vector<std::string> names;
  for (const auto& file : files_in(std::filesystem::path(ATTN_SOURCE_DIR) / "dsl" / "std", ".attn"))
    names.push_back("std." + file.stem().string());
  return names;
}

inline elaborate::Loader loader_for(SourceMap& sources, Beside beside) {
  const auto load = [&sources, beside = std::move(beside),
                     loaded = std::map<std::string, int32_t>()](
                        const std::string& name, bool library, int32_t,
                        std::string& why_not) mutable -> std::optional<int32_t> {
    if (auto it = loaded.find(name); it != loaded.end()) return it->second;
    std::string content;
    if (library) {
      const std::filesystem::path path = std::filesystem::path(ATTN_SOURCE_DIR) / "dsl" / name;
      if (!std::filesystem::exists(path)) {
        why_not = "there is no such file";
        return std::nullopt;
      }
      content = read_text(path);
    } else {
      auto it = beside.find(name);
      if (it == beside.end()) {
        why_not = "there is no such file";
        return std::nullopt;
      }
      content = it->second;
    }
    return loaded[name] = sources.add(name, content);
  };
  return {load, library_of_this_tree()};
}

inline std::unique_ptr<Elaborated> elaborate_text(const std::string& source,
                                                  const elaborate::Overrides& overrides = {},
                                                  const Beside& beside = {},
                                                  const std::string& name = "model.attn") {
  auto e = std::make_unique<Elaborated>();
  const int32_t file = e->sources.add(name, source);
  e->tree = dsl::parse(e->sources, file, e->diagnostics);
  if (e->diagnostics.has_errors()) return e;
  const elaborate::Loader loader = loader_for(e->sources, beside);
  e->program = elaborate::elaborate(e->sources, file, e->tree, loader, overrides, e->diagnostics);
  return e;
}

// "" or what is wrong with printing, parsing and elaborating g.
inline std::string round_trip(const ir::Graph& g) {
  const std::string text = text::to_string(g);
  const auto again = elaborate_text(text);
  if (again->diagnostics.has_errors()) return again->messages() + "in\n" + text;
  std::string difference;
  if (text::same_graph(g, again->graph(), &difference)) return "";
  return difference + "\nin\n" + text;
}

}  // namespace attn::testing
