#include "compiler/driver/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "compiler/driver/build.h"
#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;

// What a name that is none of a target may mean; empty where that is not known.
std::string meaning(const std::string& name) {
  if (const std::string_view known = target::also_known(name); !known.empty())
    return fmt::format("; `{}` is {}", name, known);
  if (target::is_foreign(name)) return "; kernels are for x86-64, OpenCL and CUDA so far";
  std::vector<std::string> names = target::names();
  names.emplace_back("host");
  names.emplace_back(target::device_name(ATTN_CUDA));
  const std::string near = nearest(name, names);
  return near.empty() ? near : fmt::format("; did you mean `{}`?", near);
}

// The stem of the results' names. What a C `#include` or a shell would stumble over becomes `_`.
std::string stem_of(const CommandLine& c) {
  auto plain = [](char x) {
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_' ||
           x == '-' || x == '.';
  };
  if (!c.name.empty()) {
    if (!std::all_of(c.name.begin(), c.name.end(), plain) || c.name[0] == '.' || c.name[0] == '-')
      throw UsageError(fmt::format(
          "--name takes letters, digits, `_`, `-` and `.`, and begins with none of the last two, "
          "not `{}`",
          c.name));
    return c.name;
  }
  std::string stem = fs::path(c.file).stem().string();
  for (char& x : stem)
    if (!plain(x)) x = '_';
  if (stem[0] == '.' || stem[0] == '-') stem[0] = '_';
  return stem;
}

}  // namespace

std::vector<std::string> chosen_targets(const std::vector<std::string>& given) {
  if (given.empty()) return target::names_for(ATTN_CPU);
  std::vector<std::string> wanted;
  for (const std::string& t : given) {
    const std::optional<attn_device_type> device = target::device_called(t);
    if (t == "host")
      wanted.push_back(lower::host_target());
    else if (device && *device != ATTN_CPU)
      for (const std::string& each : target::names_for(*device)) wanted.push_back(each);
    else if (target::find(t))
      wanted.push_back(t);
    else
      throw UsageError(fmt::format("no target `{}`: there are host, cuda, {}{}", t,
                                   fmt::join(target::names(), ", "), meaning(t)));
  }
  std::vector<std::string> chosen;
  for (const std::string& known : target::names())
    if (std::find(wanted.begin(), wanted.end(), known) != wanted.end()) chosen.push_back(known);
  return chosen;
}

void print_out(const std::string& text) {
  if (fwrite(text.data(), 1, text.size(), stdout) != text.size() || fflush(stdout) != 0)
    throw SystemError("standard output cannot be written");
}

void require_model(const CommandLine& c, const std::vector<Compiled>& models) {
  if (models.empty())
    throw UsageError(c.model.empty() ? c.file + " has no model"
                                     : fmt::format("{} has no model `{}`", c.file, c.model));
}

Compiled& only_model(const CommandLine& c, std::vector<Compiled>& models) {
  if (models.size() == 1) return models[0];
  require_model(c, models);
  std::string names;
  for (const Compiled& m : models) names += (names.empty() ? "" : ", ") + m.name;
  throw UsageError(fmt::format("{} has the models {}: choose one with --model", c.file, names));
}

Progress progress_of(const CommandLine& c) {
  return c.progress == "off"  ? Progress::off
         : c.progress == "on" ? Progress::on
                              : Progress::automatic;
}

plan::Precision precision_of(const CommandLine& c) {
  for (plan::Precision p : {plan::Precision::highest, plan::Precision::medium})
    if (name_of(p) == c.matmul_precision) return p;
  return plan::Precision::high;
}

Options options_of(const CommandLine& c) {
  auto wanted = [&](const char* name) {
    return std::find(c.derive.begin(), c.derive.end(), name) != c.derive.end();
  };
  return {.sizes = size_overrides(c.sizes),
          .model = c.model,
          .all_gradients = c.gradient || wanted("gradient"),
          .jvp = c.jvp || wanted("jvp"),
          .hvp = c.hvp || wanted("hvp"),
          .by = c.by,
          .precision = precision_of(c)};
}

void require_chosen(const CommandLine& c, const std::vector<Compiled>& models) {
  for (const std::string& name : c.by) {
    bool found = false;
    std::vector<std::string> names;
    for (const Compiled& m : models)
      for (const ir::Tensor& t : m.forward.tensors) {
        if (!ir::is_argument(t.role) || !ir::is_real(ir::arithmetic_type(t.storage))) continue;
        found = found || derive::is_chosen(t, {name});
        names.push_back(t.name);
      }
    if (found) continue;
    const std::string near = nearest(name, names);
    throw UsageError(fmt::format("--wrt {}: no real input or parameter is called so{}", name,
                                 near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
  }
}

elaborate::Overrides size_overrides(const std::vector<std::string>& given,
                                    const std::string& option) {
  elaborate::Overrides sizes;
  for (const std::string& text : given) {
    size_t at = text.find('=');
    char* end = nullptr;
    errno = 0;
    long long n = at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 1, &end, 10);
    if (at == std::string::npos || at == 0 || *end != 0 || end == text.c_str() + at + 1 ||
        errno != 0 || n < 0 || n > INT32_MAX)
      throw UsageError(fmt::format("{} takes SIZE=n with an integer from 0 to 2147483647, not `{}`",
                                   option, text));
    if (!sizes.emplace(text.substr(0, at), n).second)
      throw UsageError(fmt::format("{} {} is given twice", option, text.substr(0, at)));
  }
  return sizes;
}

bool report(const Source& source, const std::string& format) {
  const char* none = getenv("NO_COLOR");
  if (format == "json") {
    say(render_json(source.map, source.diagnostics));
    return source.diagnostics.has_errors();
  }
  std::string text = render(source.map, source.diagnostics, has_terminal() && !(none && *none));
  say(text);
  return source.diagnostics.has_errors();
}

int check(const CommandLine& c) {
  Source source;
  load(source, c.file, Input::may_be_standard);
  std::vector<Compiled> models;
  if (!source.diagnostics.has_errors()) models = compile(source, options_of(c));
  if (report(source, c.diagnostics)) return source.failure();
  if (!c.model.empty()) require_model(c, models);
  require_chosen(c, models);
  return 0;
}

namespace {

// A word about a build that went well, in the form of its diagnostics.
void announce(const CommandLine& c, Severity severity, const std::string& text) {
  if (c.diagnostics != "json") {
    say(severity == Severity::warning ? fmt::format("warning: {}\n", text) : text + "\n");
    return;
  }
  Diagnostics one;
  one.warning({}, "", text).severity = severity;
  say(render_json({}, one));
}

}  // namespace

int build(const CommandLine& c) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> targets = chosen_targets(c.targets);
  Source source;
  load(source, c.file);
  std::vector<Compiled> models;
  if (!source.diagnostics.has_errors()) models = compile(source, options_of(c));
  if (report(source, c.diagnostics)) return source.failure();
  require_model(c, models);
  require_chosen(c, models);
  std::string stem = stem_of(c);
  std::string folder = c.out.empty() ? "generated" : c.out;
  std::string base = (fs::path(folder) / stem).string();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw SystemError(fmt::format("{}: {}", folder, error.message()));
  for (const char* kind : {".h", ".c", ".a", ".so"})
    if (fs::equivalent(base + kind, c.file, error))
      throw UsageError(
          fmt::format("{} would be written over by the result; name another folder "
                      "with -o",
                      c.file));

  std::vector<emit::ModelPlan> plans;
  emit::Library library = make_library(stem, source, models, plans, targets);
  Scratch scratch;
  std::string why_not;
  BuildOptions options{
      .targets = targets, .jobs = c.jobs, .cache = c.cache, .progress = progress_of(c)};
  Cache cache(options.cache);
  std::vector<std::string> objects = compile_objects(library, scratch, options, cache);
  std::string tables = compile_tables(library, scratch, cache, why_not);
  if (!tables.empty()) objects.push_back(tables);
  std::vector<std::pair<std::string, std::string>> files = {
      {base + ".h", library.header},
      {base + ".c", library.tables},
      {base + ".a", make_archive(objects, scratch)}};
  if (c.shared) {
    if (tables.empty())
      throw SystemError(fmt::format(
          "a shared library is linked by a C compiler ({}): install one, name it in CC, "
          "or take a library that was built elsewhere",
          why_not));
    files.emplace_back(base + ".so",
                       read_file(link_objects(library, objects, scratch), size_t{1} << 32));
  }
  write_files(files);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (tables.empty())
    announce(
        c, Severity::warning,
        fmt::format("{0}, so {1}.a has the kernels only and does not link alone: compile "
                    "{1}.c and link its object too, or name a C compiler: CC=gcc attnc build …",
                    why_not, base));
  auto count = [](size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  announce(c, Severity::note,
           fmt::format("wrote {0}.h, {0}.c, {0}.a{1}{2}: {3} for {4} in {5:.1f} s", base,
                       tables.empty() ? " (kernels only)" : "",
                       c.shared ? fmt::format(", {}.so", base) : "",
                       count(library.objects.size() / targets.size(), "kernel"),
                       count(targets.size(), "instruction set"), seconds));
  return 0;
}

}  // namespace attn::driver
