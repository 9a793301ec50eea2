#include "includes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace attn::layering {
namespace {

// What each layer includes directly; docs/how-it-works.md draws it. The rest follows by taking the
// arrows to their ends, but for the runtime, whose users do not hand it on.
const std::map<std::string, std::vector<std::string>> kArrows = {
    {"base", {}},
    {"dsl", {"base"}},
    {"ir", {"base"}},
    {"ops", {"ir"}},
    {"elaborate", {"dsl", "solve"}},  // it proves every read in range
    {"text", {"dsl", "ops"}},
    {"solve", {"ops"}},
    {"derive", {"solve"}},
    {"simplify", {"solve"}},
    {"evaluate", {"solve"}},
    {"target", {"base", "runtime"}},  // the words of a processor's features
    {"plan", {"solve", "target", "text"}},
    {"plan/tiles", {"plan"}},
    {"lower", {"plan", "target"}},  // what it offers; the work is in its folders
    {"lower/terms", {"solve"}},
    {"lower/forms", {"lower/terms", "plan"}},
    {"lower/cpu", {"lower/forms", "target"}},
    {"lower/gpu", {"lower/forms", "target"}},
    {"lower/halide", {"lower", "lower/cpu", "lower/gpu"}},
    {"emit", {"lower", "runtime", "text"}},
    {"report", {"derive", "plan", "text"}},  // it says what they made
    {"driver", {"elaborate", "simplify", "evaluate", "text", "emit", "report", "runtime"}},
    {"runtime", {}},
    {"generated", {"runtime"}},
    {"examples", {"runtime", "generated"}},
};

bool starts_with(const std::string& text, const std::string& head) {
  return text.compare(0, head.size(), head) == 0;
}

bool is_source(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".h" || extension == ".hpp" || extension == ".c" || extension == ".cpp";
}

// The file of the project that an include names, "" when it is a foreign one.
std::string resolve(const Sources& sources, const std::string& from, const Include& include) {
  const std::string beside = (std::filesystem::path(from).parent_path() / include.name)
                                 .lexically_normal()
                                 .generic_string();
  const std::string own_runtime = "runtime/src/" + include.name;
  if (include.quoted && sources.contains(beside)) return beside;
  if (sources.contains(include.name)) return include.name;
  if (sources.contains("runtime/include/" + include.name)) return "runtime/include/" + include.name;
  if (include.quoted && sources.contains(own_runtime)) return own_runtime;
  return "";
}

// A library that few files may see. A header beside its home may bring it, for that home alone:
// whoever else includes the header is found out.
struct Fenced {
  std::string name;
  std::vector<std::string> headers;  // how its includes begin
  std::string home;                  // sources that begin like this may see it
  std::string header_home;           // and headers that begin like this
};
const Fenced kFenced[] = {
    {"Boost.Spirit", {"boost/spirit", "boost/fusion", "boost/phoenix"}, "dsl/parse.cpp", "dsl/"},
    {"Halide", {"Halide"}, "compiler/lower/", "compiler/lower/"},
};

bool brings(const Fenced& fenced, const std::string& name) {
  for (const std::string& header : fenced.headers) {
    if (starts_with(name, header)) return true;
  }
  return false;
}

// The chain of includes by which `path` comes to see the library; empty when it does not.
std::vector<std::string> way_to(const Sources& sources, const Fenced& fenced,
                                const std::string& path, std::set<std::string>& seen) {
  if (!seen.insert(path).second) return {};
  for (const Include& include : includes_of(sources.at(path))) {
    if (brings(fenced, include.name)) return {fmt::format("{}:{}", path, include.line)};
    const std::string target = resolve(sources, path, include);
    if (target.empty()) continue;
    std::vector<std::string> way = way_to(sources, fenced, target, seen);
    if (way.empty()) continue;
    way.insert(way.begin(), fmt::format("{}:{}", path, include.line));
    return way;
  }
  return {};
}

void check_fences(const Sources& sources, const std::string& path,
                  std::vector<std::string>& problems) {
  for (const Fenced& fenced : kFenced) {
    const bool header = path.ends_with(".h") || path.ends_with(".hpp");
    if (starts_with(path, header ? fenced.header_home : fenced.home)) continue;
    std::set<std::string> seen;
    const std::vector<std::string> way = way_to(sources, fenced, path, seen);
    if (way.empty()) continue;
    problems.push_back(fmt::format("{}: sees {}, which only {} may", fmt::join(way, " -> "),
                                   fenced.name, fenced.home));
  }
}

void check_arrows(const Sources& sources, const std::string& path,
                  std::vector<std::string>& problems) {
  const std::string layer = layer_of(path);
  if (layer.empty()) return;
  if (!kArrows.contains(layer)) {
    problems.push_back(fmt::format("{}: no arrow speaks of the folder {}", path, layer));
    return;
  }
  const std::vector<std::string> allowed = may_include(layer);
  for (const Include& include : includes_of(sources.at(path))) {
    const std::string target = resolve(sources, path, include);
    // A program's own generated header does not exist before the program is built.
    const bool must_exist = include.quoted && layer != "examples" && layer != "generated";
    if (target.empty() && must_exist) {
      problems.push_back(
          fmt::format("{}:{}: there is no \"{}\"", path, include.line, include.name));
    }
    const std::string other = target.empty() ? "" : layer_of(target);
    if (other.empty() || std::find(allowed.begin(), allowed.end(), other) != allowed.end())
      continue;
    problems.push_back(fmt::format("{}:{}: {} may not include {} ({})", path, include.line, layer,
                                   other, include.name));
  }
}

}  // namespace

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> result;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) continue;
    at = line.find_first_not_of(" \t", at + 7);
    if (at == std::string::npos || (line[at] != '"' && line[at] != '<')) continue;
    const bool quoted = line[at] == '"';
    const size_t end = line.find(quoted ? '"' : '>', at + 1);
    if (end == std::string::npos) continue;
    result.push_back({line.substr(at + 1, end - at - 1), number, quoted});
  }
  return result;
}

std::string layer_of(const std::string& path) {
  const size_t first = path.find('/');
  if (first == std::string::npos) return "";
  const std::string folder = path.substr(0, first);
  if (folder == "compiler") {
    const size_t second = path.find('/', first + 1);
    if (second == std::string::npos) return "";
    const std::string outer = path.substr(first + 1, second - first - 1);
    const size_t third = path.find('/', second + 1);
    const auto divided = kArrows.lower_bound(outer + "/");
    if (third == std::string::npos || divided == kArrows.end() ||
        !starts_with(divided->first, outer + "/"))
      return outer;
    return path.substr(first + 1, third - first - 1);
  }
  const bool known =
      folder == "dsl" || folder == "runtime" || folder == "generated" || folder == "examples";
  return known ? folder : "";
}

const std::map<std::string, std::vector<std::string>>& arrows() { return kArrows; }

std::vector<std::string> may_include(const std::string& layer) {
  std::set<std::string> seen = {layer};
  std::vector<std::string> open = {layer};
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    for (const std::string& below : kArrows.at(next)) {
      if (seen.insert(below).second) open.push_back(below);
    }
  }
  return {seen.begin(), seen.end()};
}

std::vector<std::string> broken_arrows(const Sources& sources) {
  std::vector<std::string> problems;
  for (const auto& [path, text] : sources) {
    if (!is_source(path) || layer_of(path).empty()) continue;
    check_arrows(sources, path, problems);
    check_fences(sources, path, problems);
  }
  return problems;
}

Sources read_tree(const std::string& root, bool text_only) {
  namespace fs = std::filesystem;
  Sources result;
  fs::recursive_directory_iterator entry(root), end;
  for (; entry != end; ++entry) {
    const std::string name = entry->path().filename().string();
    const bool hidden = name[0] == '.' && name != ".ci" && name != ".clang-format";
    const bool built = entry.depth() == 0 && (starts_with(name, "build") || name == "shared");
    if (entry->is_directory() && (hidden || built || name == "__pycache__")) {
      entry.disable_recursion_pending();
      continue;
    }
    if (!entry->is_regular_file() || hidden || built) continue;
    std::ifstream file(entry->path(), std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text_only && text.find('\0') != std::string::npos) continue;
    result[fs::relative(entry->path(), root).generic_string()] = std::move(text);
  }
  return result;
}

}  // namespace attn::layering
