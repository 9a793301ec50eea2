// What the parser remembers beside the tree: how far it came and what it would have accepted there,
// how deep it is, and what it found in a place that only the whole statement can judge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "dsl/tokens.h"

namespace attn::dsl {

class ParseState {
 public:
  ParseState(const SourceMap& all_sources, Diagnostics& sink)
      : sources(all_sources), diagnostics(sink) {}

  // Called by every token parser that fails. Keeps what was wanted at the furthest place.
  void expect(const Token* at, std::string_view what);
  // Reports the statement that begins at `first` and ends before `last`, once: not if a token of it
  // was reported by the lexer already, and not after a limit.
  // `what` is wanted if no parser said what it wants.
  void report(const Token* first, const Token* last, std::string_view what);
  // A level of nesting is entered at `at`. False, after a message, when there are too many.
  bool enter(const Token* at);
  void stop_at_limit(const Token* at, std::string message);

  const SourceMap& sources;
  Diagnostics& diagnostics;
  const Token* hidden_at = nullptr;  // a named rule began here: its parts are not listed
  int depth = 0;
  int base_depth = 0;               // of the expression that is being read
  bool stopped = false;             // a limit was exceeded; nothing matches any more
  std::vector<Span> insides;        // `inside` in this statement, outside of any `where`
  bool has_named_argument = false;  // in this statement

 private:
  void add_help(Diagnostic& diagnostic, const Token* statement) const;

  const Token* furthest_ = nullptr;
  std::vector<std::string_view> expected_;
};

}  // namespace attn::dsl
