// Definitions written as lines of the language, for tests "before -> after".
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/key.h"
#include "compiler/text/text.h"
#include "tests/support/build_graph.h"

namespace attn::testing {

using Lines = std::vector<std::string>;

// Whether d is what the line says, up to names of indices and the order of factors.
inline bool is_line(const ir::Graph& g, const ir::Definition& d, const std::string& line) {
  std::string name = line.substr(0, line.find_first_of("[ "));
  auto target = g.find(name);
  if (!target || *target != d.target) return false;
  ir::Graph scratch = g;
  ir::Definition wanted = parse_definition(scratch, line);
  return ir::key(scratch, wanted) == ir::key(scratch, d);
}

inline std::string listing(const ir::Graph& g) {
  std::string all;
  for (const ir::Definition& d : g.definitions) all += text::to_string(g, d) + "\n";
  return all;
}

inline void expect_lines(const ir::Graph& g, const Lines& lines) {
  EXPECT_EQ(g.definitions.size(), lines.size()) << listing(g);
  for (size_t k = 0; k < std::min(lines.size(), g.definitions.size()); ++k)
    EXPECT_TRUE(is_line(g, g.definitions[k], lines[k]))
        << "expected\n"
        << lines[k] << "\nas definition " << k << " of\n"
        << listing(g);
}

inline void expect_line(const ir::Graph& g, const std::string& line) {
  for (const ir::Definition& d : g.definitions)
    if (is_line(g, d, line)) return;
  ADD_FAILURE() << "no definition\n" << line << "\namong\n" << listing(g);
}

// `run` turns the graph of `text` into one whose definitions are these lines.
template <class Pass>
void expect_pass(Pass run, const char* text, const Lines& after) {
  SCOPED_TRACE(text);
  ir::Graph g = run(build_graph(text));
  ir::verify(g, "the pass under test");
  expect_lines(g, after);
}

}  // namespace attn::testing
