#include "compiler/report/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "dsl/print.h"

namespace attn::report {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A line with blanks before it is a formula on a line of its own.
bool is_displayed(const std::string& line) { return line.rfind("  ", 0) == 0; }

// Characters that Markdown takes for marks; what stands between backticks is taken as it is.
std::string escaped(const std::string& text) {
  std::string out;
  bool is_code = false;
  for (const char c : text) {
    if (c == '`') is_code = !is_code;
    if (!is_code && std::string_view("*|[]").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Prose as it is, and displayed lines as blocks.
std::string to_markdown(const std::string& text) {
  std::string out;
  bool in_block = false;
  for (const std::string& line : lines_of(text)) {
    if (is_displayed(line) != in_block) {
      out += in_block ? "```\n\n" : "\n```text\n";
      in_block = !in_block;
    }
    out += (in_block ? line.substr(2) : escaped(line)) + "\n";
  }
  return out + (in_block ? "```\n" : "");
}

// The first sentence, in one line: it ends at a stop before a capital letter or code, or where a
// displayed line begins.
std::string first_sentence(const std::string& text) {
  std::string line;
  for (const std::string& next : lines_of(text)) {
    if (is_displayed(next)) break;
    line += (line.empty() ? "" : " ") + next;
  }
  for (size_t at = line.find(". "); at != std::string::npos; at = line.find(". ", at + 1))
    if (const char next = line[at + 2]; next == '`' || (next >= 'A' && next <= 'Z'))
      line.resize(at + 1);
  if (!line.empty() && line.back() == ':') line.back() = '.';
  return escaped(line);
}

// What stands at the head of a file: the comments before its first `##` or blank line.
std::string head_of(const dsl::File& tree) {
  std::string text;
  if (tree.items.empty()) return text;
  for (const std::string& line : tree.items.front().comments.above) {
    if (line.rfind("# ", 0) != 0) break;
    text += line.substr(2) + "\n";
  }
  return text;
}

// The statements that a caller must know: sizes, parameters and states, also within a `repeat`.
std::vector<dsl::Statement> interface_of(const std::vector<dsl::Statement>& body) {
  std::vector<dsl::Statement> kept;
  for (const dsl::Statement& s : body) {
    dsl::Statement copy = s;
    if (auto* repeat = std::get_if<dsl::Repeat>(&copy.node)) {
      repeat->body = interface_of(repeat->body);
      if (!repeat->body.empty()) kept.push_back(std::move(copy));
    } else if (std::holds_alternative<dsl::SizeStatement>(s.node) ||
               std::holds_alternative<dsl::ParamStatement>(s.node) ||
               std::holds_alternative<dsl::StateStatement>(s.node)) {
      kept.push_back(std::move(copy));
    }
  }
  for (dsl::Statement& s : kept)
    std::erase_if(s.comments.above,
                  [](const std::string& line) { return !line.starts_with("##"); });
  return kept;
}

struct Entry {
  std::string name, doc, declaration;
};

// The names that an item declares; none for `use`.
std::string names_of(const dsl::Item& item) {
  struct Names {
    std::string operator()(const dsl::Use&) { return ""; }
    std::string operator()(const dsl::SizeStatement& s) {
      std::string names;
      for (const dsl::Size& size : s.sizes) names += (names.empty() ? "" : ", ") + size.name.text;
      return names;
    }
    std::string operator()(const dsl::Function& f) { return f.name.text; }
    std::string operator()(const dsl::Block& b) { return b.name.text; }
    std::string operator()(const dsl::Update& u) { return u.name.text; }
  };
  return std::visit(Names{}, item.node);
}

// The item without its comments and without what its body computes.
std::string declaration_of(dsl::Item item) {
  item.comments.above.clear();
  const auto strip = [](auto& braced) {
    braced.body = interface_of(braced.body);
    braced.last_comments.clear();
  };
  if (auto* block = std::get_if<dsl::Block>(&item.node)) strip(*block);
  if (auto* update = std::get_if<dsl::Update>(&item.node)) strip(*update);
  std::string text = dsl::print(dsl::File{.items = {std::move(item)}});
  constexpr std::string_view kNothing = " {\n}\n";
  if (text.ends_with(kNothing)) text.replace(text.size() - kNothing.size(), kNothing.size(), "\n");
  return text;
}

std::vector<Entry> entries_of(const dsl::File& tree) {
  std::vector<Entry> entries;
  for (const dsl::Item& item : tree.items) {
    const std::string names = names_of(item);
    if (!names.empty())
      entries.push_back({names, dsl::documentation(item.comments), declaration_of(item)});
  }
  return entries;
}

// The name by which GitHub, and what follows it, links to a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return anchor;
}

std::string uses_of(const dsl::File& tree) {
  std::string names;
  for (const dsl::Item& item : tree.items)
    if (const auto* use = std::get_if<dsl::Use>(&item.node))
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", use->path);
  return names.empty() ? "" : "\nUses " + names + ".\n";
}

}  // namespace

std::string to_reference(const std::string& title, const std::vector<Module>& modules) {
  std::string contents, sections;
  for (const Module& m : modules) {
    const std::string head = head_of(m.tree);
    contents +=
        fmt::format("| [{}](#{}) | {} |\n", m.name, anchor_of(m.name), first_sentence(head));
    sections += fmt::format("\n## {}\n\nIn `{}`.\n", m.name, m.file);
    if (!head.empty()) sections += "\n" + to_markdown(head);
    sections += uses_of(m.tree);
    for (const Entry& e : entries_of(m.tree)) {
      contents += fmt::format("| &emsp;[{}](#{}) | {} |\n", e.name, anchor_of(e.name),
                              first_sentence(e.doc));
      sections += fmt::format("\n### {}\n\n```attn\n{}```\n", e.name, e.declaration);
      if (!e.doc.empty()) sections += "\n" + to_markdown(e.doc);
    }
  }
  return fmt::format("# {}\n\n| name | what it is |\n|---|---|\n{}{}", title, contents, sections);
}

}  // namespace attn::report
