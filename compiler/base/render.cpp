// The text of diagnostics: message, place, source lines with marks under them, help.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/diagnostic.h"
#include "compiler/base/utf8.h"

namespace attn {
namespace {

// Longer source lines are shown in part.
constexpr size_t kShownColumns = 110;

struct Colours {
  const char *error = "", *warning = "", *note = "", *bold = "", *mark = "", *plain = "";
};
constexpr Colours kAnsi = {"\x1b[1;31m", "\x1b[1;35m", "\x1b[1;36m",
                           "\x1b[1m",    "\x1b[1;34m", "\x1b[0m"};

// One source line as it is shown: a tab is four blanks, an unprintable byte is `?`, and
// column_of[byte] says where each byte went.
struct ShownLine {
  std::string text;
  std::vector<size_t> column_of;  // one entry more than bytes
};

// Directional controls would let a line look different from what it is.
bool is_directional(std::string_view sequence) {
  return (sequence >= "\xE2\x80\xAA" && sequence <= "\xE2\x80\xAE") ||
         (sequence >= "\xE2\x81\xA6" && sequence <= "\xE2\x81\xA9");
}

ShownLine show(std::string_view line) {
  ShownLine shown;
  size_t column = 0;
  for (size_t at = 0; at < line.size();) {
    const unsigned char c = static_cast<unsigned char>(line[at]);
    size_t bytes = 1, columns = 1;
    if (c == '\t') {
      columns = 4;
      shown.text += "    ";
    } else if (c >= 0x20 && c < 0x7F) {
      shown.text += line[at];
    } else if (const size_t length = sequence_length(line, at); c >= 0x80 && length > 0) {
      bytes = length;
      const std::string_view sequence = line.substr(at, length);
      if (sequence == "\xEF\xBB\xBF") {
        columns = 0;  // a byte order mark
      } else {
        shown.text += is_directional(sequence) ? "?" : std::string(sequence);
      }
    } else {
      shown.text += '?';
    }
    shown.column_of.insert(shown.column_of.end(), bytes, column);
    column += columns;
    at += bytes;
  }
  shown.column_of.push_back(column);
  return shown;
}

// The bytes of columns [from, from + count).
std::string columns_of(const std::string& text, size_t from, size_t count) {
  std::string part;
  size_t column = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && !is_continuation(text[at])) ++column;
    if (column >= from + count) break;
    if (column >= from) part += text[at];
  }
  return part;
}

struct Mark {
  Span where;
  const std::string* text;
  bool primary;
};

// The mark of one place under its line. A place that goes on over the line's end is marked up to
// it.
std::string mark_row(const Mark& mark, const ShownLine& shown, size_t line_begin, size_t line_bytes,
                     size_t first_column) {
  const auto column = [&](size_t offset) {
    return shown.column_of[std::min(offset - line_begin, line_bytes)];
  };
  const size_t from = std::max(column(mark.where.begin), first_column) - first_column;
  const size_t to = std::max(column(mark.where.end), first_column) - first_column;
  const size_t begin = std::min(from, kShownColumns + 1);
  const size_t length = std::clamp<size_t>(to > begin ? to - begin : 1, 1, kShownColumns);
  std::string row(begin, ' ');
  row.append(length, mark.primary ? '^' : '-');
  if (!mark.text->empty()) row += " " + *mark.text;
  return row;
}

void render_file_part(std::string& out, const SourceMap& sources, int32_t file,
                      std::vector<Mark> marks, size_t gutter, const Colours& colours) {
  const auto line_of = [&](const Mark& mark) {
    return sources.position(file, mark.where.begin).line;
  };
  std::stable_sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
    return std::make_pair(line_of(a), a.where.begin) < std::make_pair(line_of(b), b.where.begin);
  });
  const std::string empty_gutter(gutter, ' ');
  out += fmt::format("{}{} |{}\n", colours.mark, empty_gutter, colours.plain);
  int printed_line = 0;
  ShownLine shown;
  size_t first_column = 0;
  for (const Mark& mark : marks) {
    const int number = line_of(mark);
    const std::string_view line = sources.line(file, number);
    const size_t line_begin = static_cast<size_t>(line.data() - sources.file(file).text.data());
    if (number != printed_line) {
      shown = show(line);
      const size_t at =
          shown.column_of[std::min<size_t>(mark.where.begin - line_begin, line.size())];
      // A window with the mark in its first third, when the line is longer than what is shown.
      first_column = shown.column_of.back() > kShownColumns && at > kShownColumns / 3
                         ? at - kShownColumns / 3
                         : 0;
      std::string text = columns_of(shown.text, first_column, kShownColumns);
      if (first_column > 0) text.replace(0, std::min<size_t>(3, text.size()), "...");
      if (shown.column_of.back() > first_column + kShownColumns) text += "...";
      while (!text.empty() && text.back() == ' ') text.pop_back();
      out += fmt::format("{}{:>{}} |{}{}{}\n", colours.mark, number, gutter, colours.plain,
                         text.empty() ? "" : " ", text);
      printed_line = number;
    }
    out += fmt::format("{}{} |{} {}{}{}\n", colours.mark, empty_gutter, colours.plain,
                       mark.primary ? colours.error : colours.mark,
                       mark_row(mark, shown, line_begin, line.size(), first_column), colours.plain);
  }
}

void render_one(std::string& out, const SourceMap& sources, const Diagnostic& diagnostic,
                const Colours& colours) {
  const bool is_error = diagnostic.severity == Severity::error;
  const bool is_warning = diagnostic.severity == Severity::warning;
  const char* word = is_error ? "error" : is_warning ? "warning" : "note";
  const char* colour = is_error ? colours.error : is_warning ? colours.warning : colours.note;
  const std::string category =
      diagnostic.category.empty() ? "" : fmt::format("[{}]", diagnostic.category);
  out += fmt::format("{}{}{}:{} {}{}{}\n", colour, word, category, colours.plain, colours.bold,
                     diagnostic.message, colours.plain);

  // The file of the primary place comes first, the others in order of appearance.
  std::vector<std::pair<int32_t, std::vector<Mark>>> files;
  int last_line = 1;
  const auto add = [&](const Label& label, bool primary) {
    if (!label.where.valid()) return;
    last_line = std::max(last_line, sources.position(label.where.file, label.where.begin).line);
    auto found = std::find_if(files.begin(), files.end(),
                              [&](const auto& entry) { return entry.first == label.where.file; });
    if (found == files.end()) found = files.insert(found, {label.where.file, {}});
    found->second.push_back({label.where, &label.text, primary});
  };
  add(diagnostic.primary, true);
  for (const Label& label : diagnostic.others) add(label, false);

  const size_t gutter = std::max<size_t>(3, fmt::format("{}", last_line).size() + 1);
  for (const auto& [file, marks] : files) {
    const auto at = sources.position(file, marks.front().where.begin);
    out += fmt::format("{}{}-->{} {}:{}:{}\n", colours.mark, std::string(gutter - 1, ' '),
                       colours.plain, sources.file(file).path, at.line, at.column);
    render_file_part(out, sources, file, marks, gutter, colours);
  }
  // A help of several lines is indented under its first.
  std::string help = diagnostic.help;
  for (size_t at = 0; (at = help.find('\n', at)) != std::string::npos;) {
    help.insert(at + 1, std::string(gutter + 9, ' '));
    at += gutter + 10;
  }
  if (!help.empty()) {
    out += fmt::format("{}{} ={} help: {}\n", colours.mark, std::string(gutter, ' '), colours.plain,
                       help);
  }
}

}  // namespace

std::string render(const SourceMap& sources, const Diagnostics& diagnostics, bool colour,
                   int limit) {
  const Colours colours = colour ? kAnsi : Colours{};
  std::string out;
  int errors = 0;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::error && ++errors > limit) continue;
    if (!out.empty()) out += '\n';
    render_one(out, sources, diagnostic, colours);
  }
  if (errors > limit) out += fmt::format("\nand {} more errors\n", errors - limit);
  return out;
}

}  // namespace attn
