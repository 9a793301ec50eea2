// attnc doc: what a file, or the library, declares.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/commands.h"
#include "compiler/driver/library.h"
#include "compiler/report/reference.h"
#include "dsl/parse.h"

namespace attn::driver {
namespace {

// The modules of the library that `name` stands for: "std" for all, "std.norm" for one.
std::vector<std::string> library_modules(const std::string& name) {
  std::vector<std::string> names = library_names();
  if (name != "std") std::erase_if(names, [&](const std::string& n) { return n != name; });
  return names;
}

// Of a name that begins as those of the library do and is none of them, and of no file.
void check_name(const std::string& name) {
  if (!name.starts_with("std.") || std::filesystem::exists(name)) return;
  const std::string near = nearest(name, library_names());
  throw UsageError(near.empty()
                       ? fmt::format("the library has no `{}`: it has {}", name,
                                     fmt::join(library_names(), ", "))
                       : fmt::format("the library has no `{}`; did you mean `{}`?", name, near));
}

report::Module parsed(const std::string& module) {
  const std::string file = "std/" + module.substr(4) + ".attn";
  Source source;
  source.file = source.map.add(file, std::string(*library_file(file)));
  return {module, "dsl/" + file, dsl::parse(source.map, source.file, source.diagnostics)};
}

}  // namespace

int doc(const CommandLine& c) {
  std::vector<report::Module> modules;
  for (const std::string& module : library_modules(c.file)) modules.push_back(parsed(module));
  if (modules.empty()) {
    check_name(c.file);
    Source source;
    load(source, c.file);
    if (report(source)) return source.failure();
    const std::string name = std::filesystem::path(c.file).filename().string();
    modules.push_back({name, c.file, std::move(source.tree)});
  }
  print_out(
      report::to_reference(c.file == "std" ? "The standard library" : modules[0].name, modules));
  return 0;
}

}  // namespace attn::driver
