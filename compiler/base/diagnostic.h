// What the compiler says to its user: errors, warnings, notes, each at places in source text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// Bytes [begin, end) of one file of a SourceMap. file < 0: no place (a command-line option, say).
struct Span {
  int32_t file = -1;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool valid() const { return file >= 0; }
  bool operator==(const Span&) const = default;
};

// The smallest span that covers both; a and b are of one file, or one of them is invalid.
Span cover(Span a, Span b);

struct SourceFile {
  std::string path;  // as the user named it; "std/norm.attn" for the library
  std::string text;
};

// Owns the text of every file that a compilation reads; a Span points into it.
class SourceMap {
 public:
  int32_t add(std::string path, std::string text);
  const SourceFile& file(int32_t id) const { return files_.at(id); }
  int32_t size() const { return static_cast<int32_t>(files_.size()); }
  // One-based line and byte column.
  struct Position {
    int line, column;
  };
  Position position(int32_t file, uint32_t offset) const;
  std::string_view text(Span span) const;
  // The line of that one-based number, without its end.
  std::string_view line(int32_t file, int number) const;

 private:
  std::vector<SourceFile> files_;
  std::vector<std::vector<uint32_t>> line_starts_;
};

enum class Severity { error, warning, note };

struct Label {
  Span where;
  std::string text;  // may be empty for the primary place
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string message;
  Label primary;
  std::vector<Label> others;  // "declared here", "this place says T"
  std::string help;           // the way out; may be empty
  std::string category;       // of a warning: "performance", "names"; else empty
};

// Collects what a phase has to say. A phase goes on after an error where it can.
class Diagnostics {
 public:
  Diagnostic& error(Span where, std::string message);
  Diagnostic& warning(Span where, std::string category, std::string message);
  // An error that names a limit of the compiler; the driver exits with 4 instead of 1.
  Diagnostic& limit(Span where, std::string message);
  // Those of a phase that may have been run again in another way.
  void add(const Diagnostics& more);
  bool exceeded_limit() const { return exceeded_limit_; }
  bool has_errors() const { return errors_ > 0; }
  int error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // Makes one of the warnings that say the same of other names at the same place, as those of the
  // rounds of a `repeat` do.
  void fold_warnings();
  // Puts those from `first` on into the order of their places in the source.
  void sort_from(size_t first);

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
  bool exceeded_limit_ = false;
};

// The text a terminal shows: message, file:line:column, the line with carets, labels, help.
// At most `limit` errors; colour by ANSI sequences when asked.
std::string render(const SourceMap& sources, const Diagnostics& diagnostics, bool colour = false,
                   int limit = 20);

// One JSON object a line for each diagnostic: severity, category (of a warning), message, file,
// line, column, end_line, end_column (one-based, in bytes; the end is exclusive), labels, help.
// What has no place has no file.
std::string render_json(const SourceMap& sources, const Diagnostics& diagnostics);

// The candidate nearest to `word` within a third of its length (edit distance with transpositions),
// or "" when none is near: for "did you mean".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace attn
