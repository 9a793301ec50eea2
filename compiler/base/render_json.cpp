// Diagnostics for programs: one JSON object a line.
#include <fmt/format.h>

#include "compiler/base/diagnostic.h"
#include "compiler/base/utf8.h"

namespace attn {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    size_t bytes = 1;
    if (c == '"' || c == '\\') {
      out += {'\\', text[at]};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", c);
    } else if (c < 0x80) {
      out += text[at];
    } else if (const size_t length = sequence_length(text, at); length > 0) {
      out += text.substr(at, length);
      bytes = length;
    } else {
      out += "\\ufffd";
    }
    at += bytes;
  }
  return out + '"';
}

std::string place(const SourceMap& sources, Span where) {
  const auto begin = sources.position(where.file, where.begin);
  const auto end = sources.position(where.file, where.end);
  return fmt::format(R"("file":{},"line":{},"column":{},"end_line":{},"end_column":{})",
                     quoted(sources.file(where.file).path), begin.line, begin.column, end.line,
                     end.column);
}

std::string object(const SourceMap& sources, const Diagnostic& d) {
  const char* severity = d.severity == Severity::error     ? "error"
                         : d.severity == Severity::warning ? "warning"
                                                           : "note";
  std::string out = fmt::format(R"({{"severity":"{}")", severity);
  if (!d.category.empty()) out += fmt::format(R"(,"category":{})", quoted(d.category));
  out += fmt::format(R"(,"message":{})", quoted(d.message));
  if (d.primary.where.valid()) out += "," + place(sources, d.primary.where);
  std::string labels;
  for (const Label* label : [&] {
         std::vector<const Label*> all = {&d.primary};
         for (const Label& other : d.others) all.push_back(&other);
         return all;
       }()) {
    if (label->text.empty() || !label->where.valid()) continue;
    labels += fmt::format(R"({}{{"message":{},{}}})", labels.empty() ? "" : ",",
                          quoted(label->text), place(sources, label->where));
  }
  if (!labels.empty()) out += fmt::format(R"(,"labels":[{}])", labels);
  if (!d.help.empty()) out += fmt::format(R"(,"help":{})", quoted(d.help));
  return out + "}\n";
}

}  // namespace

std::string render_json(const SourceMap& sources, const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += object(sources, d);
  return out;
}

}  // namespace attn
