// attnc fmt: files in the canonical layout, printed, written or compared.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/commands.h"
#include "compiler/driver/files.h"
#include "compiler/driver/programs.h"
#include "dsl/print.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;

std::string difference(const std::string& name, const std::string& before,
                       const std::string& after) {
  const Scratch scratch;
  const std::string a = scratch.path() + "/a", b = scratch.path() + "/b";
  write_new_file(a, before);
  write_new_file(b, after);
  std::string said;
  if (run_program({"diff", "-u", "--label", name, "--label", name + " (canonical)", a, b}, said) >
      1)
    throw SystemError("--diff runs the program `diff`: " + said);
  return said;
}

// Formats one file; the status that the command exits with by it.
int format_file(const CommandLine& c, const std::string& path) {
  Source source;
  load(source, path, Input::may_be_standard);
  const SourceFile& file = source.map.file(source.file);
  if (file.text.empty()) {
    say(fmt::format("attnc: {} is empty{}\n", file.path,
                    path == "-" ? std::string()
                                : " (did the shell truncate it? use `attnc fmt -w " + path + "`)"));
    return 1;
  }
  if (report(source)) return source.failure();
  const std::string text = dsl::print(source.tree);
  const bool differs = text != file.text;
  if (!c.check && !c.diff && !c.in_place) print_out(text);
  if (c.diff && differs) print_out(difference(file.path, file.text, text));
  if (c.check && differs)
    say(fmt::format("{}: not in the canonical layout; `attnc fmt` prints it\n", file.path));
  // The file that a link leads to.
  if (c.in_place && differs) write_file(fs::canonical(path).string(), text);
  return differs && (c.check || c.diff) ? 1 : 0;
}

}  // namespace

int format(const CommandLine& c) {
  if (c.in_place && (c.check || c.diff))
    throw UsageError("-w writes the files; --check and --diff leave them alone");
  if (c.in_place && std::count(c.files.begin(), c.files.end(), "-"))
    throw UsageError("-w writes files, and `-` is standard input");
  if (c.files.size() > 1 && !c.in_place && !c.check && !c.diff)
    throw UsageError("one file is printed; -w writes several, --check and --diff compare them");
  int status = 0;
  for (const std::string& path : c.files) status = std::max(status, format_file(c, path));
  return status;
}

}  // namespace attn::driver
