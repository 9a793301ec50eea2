#include "compiler/driver/front.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "compiler/driver/library.h"
#include "compiler/plan/verify.h"
#include "compiler/simplify/pass.h"
#include "compiler/simplify/places.h"
#include "dsl/parse.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;

// All that one program may read.
constexpr size_t kMaxProgramBytes = 16 * dsl::kMaxSourceBytes;

// `use "parts/ffn.attn"` is looked up beside the file that says it and may not leave the folder of
// the program's first file. The result is relative to that folder.
std::string used_path(const std::string& root, const std::string& from, const std::string& name,
                      std::string& why_not) {
  fs::path wanted(name);
  if (name.empty() || wanted.is_absolute() || name[0] == '~' ||
      name.find('\\') != std::string::npos || name.find('\0') != std::string::npos) {
    why_not = "write a path relative to this file, with `/`";
    return {};
  }
  fs::path path = (fs::path(from).parent_path() / wanted).lexically_normal();
  fs::path below = path.lexically_relative(fs::path(root).lexically_normal());
  if (below.empty() || *below.begin() == "..") {
    why_not = "it lies outside the folder of the program";
    return {};
  }
  return below.string();
}

// Reads to the end and closes.
std::string read_all(int fd, const std::string& path, size_t limit) {
  std::string text;
  char block[1 << 16];
  ssize_t n;
  while ((n = ::read(fd, block, sizeof block)) > 0) {
    text.append(block, static_cast<size_t>(n));
    if (text.size() > limit) break;
  }
  const int error = errno;
  close(fd);
  if (n < 0) throw SystemError(fmt::format("{}: {}", path, std::strerror(error)));
  if (text.size() > limit) throw LimitError(fmt::format("{}: has more than {} bytes", path, limit));
  return text;
}

// Reads and closes what was opened as `path`; fd < 0: it was not, and errno says why.
std::string read_opened(int fd, const std::string& path, size_t limit) {
  auto fail = [&](const std::string& why) { throw SystemError(fmt::format("{}: {}", path, why)); };
  if (fd < 0) fail(errno == ELOOP ? "is a symbolic link" : std::strerror(errno));
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    fail(S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
  }
  if (static_cast<size_t>(info.st_size) > limit) {
    close(fd);
    throw LimitError(
        fmt::format("{}: has {} bytes; at most {} are read", path, info.st_size, limit));
  }
  return read_all(fd, path, limit);
}

// ": did you mean `model.attn`?", of the .attn files beside it.
std::string neighbour(const std::string& path) {
  const fs::path wanted(path);
  std::error_code error;
  std::vector<std::string> stems;
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  for (const fs::directory_entry& e : fs::directory_iterator(folder, error))
    if (e.path().extension() == ".attn" && e.is_regular_file(error))
      stems.push_back(e.path().stem().string());
  std::sort(stems.begin(), stems.end());
  const std::string near = nearest(wanted.stem().string(), stems);
  if (near.empty()) return {};
  return fmt::format("; did you mean `{}`?", (wanted.parent_path() / (near + ".attn")).string());
}

// O_NONBLOCK: opening a pipe must not wait for a writer.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// A file below `root`, reached without following a symbolic link.
std::string read_beneath(const std::string& root, const std::string& relative, size_t limit) {
  int fd = open(root.c_str(), kOpenFlags | O_DIRECTORY);
  const fs::path path(relative);
  for (auto part = path.begin(); fd >= 0 && part != path.end(); ++part) {
    const int folder = fd;
    const bool last = std::next(part) == path.end();
    fd = openat(folder, part->c_str(), kOpenFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    const int error = errno;
    // With O_DIRECTORY a link is an ENOTDIR.
    struct stat info;
    const bool link = fd < 0 && fstatat(folder, part->c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISLNK(info.st_mode);
    close(folder);
    errno = link ? ELOOP : error;
  }
  return read_opened(fd, (fs::path(root) / path).lexically_normal().string(), limit);
}

// From a model as elaborated to the graphs of its functions.
class Derivation {
 public:
  // `some_loss`: there is a model to take a Hessian of, so that one without a loss is no mistake.
  Derivation(Compiled& c, const Options& options, bool some_loss, Diagnostics& diagnostics)
      : c_(c), options_(options), some_loss_(some_loss), diagnostics_(diagnostics) {}

  void run(const elaborate::Model& m) {
    ir::verify(m.graph, "elaborate");
    c_.raw = simplify::spread_guards(m.graph);
    // Conditions may not travel through what only a probe reads.
    const ir::Graph forward = simplify::spread_guards(ir::without_probes(m.graph));
    trace("forward", "graph", forward);
    c_.forward = simplify::simplify(forward, tracer("forward"));
    for (const ir::Output& o : m.graph.outputs)
      if (o.probe && is_wanted(o.name)) probe(m.graph, o);
    const bool any =
        std::any_of(c_.raw.tensors.begin(), c_.raw.tensors.end(), [&](const ir::Tensor& t) {
          return ir::is_argument(t.role) && ir::is_real(ir::arithmetic_type(t.storage)) &&
                 derive::is_chosen(t, options_.by);
        });
    if (!any) return drop_stops();
    const bool keeps_state = std::any_of(m.graph.outputs.begin(), m.graph.outputs.end(),
                                         [](const ir::Output& o) { return o.updates.valid(); });
    if (keeps_state) {
      if (options_.jvp || options_.hvp || options_.all_gradients)
        diagnostics_.warning(m.where, "derivatives",
                             fmt::format("`{}` keeps a state, and has no derivatives", c_.name));
      return drop_stops();
    }
    // What the first refuses, the others would refuse again.
    if (m.train || options_.all_gradients) gradient();
    if (options_.jvp && !diagnostics_.has_errors()) jvp();
    if (options_.hvp && !diagnostics_.has_errors() && (!some_loss_ || derive::has_loss(c_.forward)))
      hvp();
    drop_stops();
  }

 private:
  void drop_stops() {
    const ir::Graph plain = simplify::drop_stops(c_.forward);
    if (plain.definitions != c_.forward.definitions)
      c_.forward = simplify::simplify(plain, tracer("forward"));
  }

  bool is_wanted(const std::string& probe) const {
    return !options_.probes || std::count(options_.probes->begin(), options_.probes->end(), probe);
  }

  void probe(const ir::Graph& whole, const ir::Output& o) {
    const std::string function = "probe " + o.name;
    const ir::Graph raw =
        simplify::spread_guards(ir::with_outputs(whole, {{.name = o.name, .tensor = o.tensor}}));
    trace(function, "graph", raw);
    c_.probes.push_back({o.name, simplify::simplify(simplify::drop_stops(raw), tracer(function))});
  }

  void gradient() {
    ir::Graph raw = derive::gradient(c_.forward, diagnostics_, options_.by, &c_.origins);
    if (diagnostics_.has_errors()) return;
    std::vector<ir::TensorId> outputs;
    for (const ir::Output& o : c_.forward.outputs) outputs.push_back(o.tensor);
    c_.raw_gradient = simplify::spread_guards(raw);
    c_.shared = c_.forward.tensors.size();
    c_.kept = plan::kept_maps(c_.forward, target::costs(options_.arch));
    c_.gradient = finished("gradient", *c_.raw_gradient, outputs, c_.kept);
  }

  void jvp() {
    ir::Graph raw = derive::jvp(c_.forward, diagnostics_, options_.by);
    if (diagnostics_.has_errors()) return;
    c_.jvp = finished("jvp", simplify::spread_guards(raw), {}, {});
  }

  void hvp() {
    ir::Graph first = derive::loss_gradient(c_.forward, diagnostics_, options_.by);
    if (diagnostics_.has_errors()) return;
    first = simplify::simplify_gradient(simplify::spread_guards(first), {});
    ir::Graph raw = derive::hessian_product(first, diagnostics_, options_.by);
    if (diagnostics_.has_errors()) return;
    c_.hvp = finished("hvp", simplify::spread_guards(raw), {}, {});
  }

  ir::Graph finished(const std::string& function, const ir::Graph& raw,
                     const std::vector<ir::TensorId>& forward_outputs,
                     const std::vector<ir::TensorId>& kept) {
    trace(function, "derive", raw);
    return simplify::simplify_gradient(simplify::drop_stops(raw), forward_outputs, kept,
                                       tracer(function));
  }

  void trace(const std::string& function, const std::string& pass, const ir::Graph& g) const {
    ir::verify(g, pass);
    if (options_.trace) options_.trace(c_.name, function, pass, g);
  }
  simplify::Trace tracer(const std::string& function) const {
    return [this, function](const simplify::Pass& pass, const ir::Graph& g) {
      trace(function, pass.name, g);
    };
  }

  Compiled& c_;
  const Options& options_;
  bool some_loss_;
  Diagnostics& diagnostics_;
};

void make_plan(Compiled& c, const plan::Costs& costs, Diagnostics& diagnostics) {
  std::optional<plan::Gradient> gradient;
  if (c.gradient) gradient.emplace(plan::Gradient{*c.gradient, c.shared, c.kept});
  c.plan = plan::make_plan(c.forward, gradient ? &*gradient : nullptr, costs, diagnostics);
  if (c.jvp)
    c.plan->jvp = plan::plan_derivative(plan::FunctionKind::jvp, *c.jvp, costs, diagnostics);
  if (c.hvp)
    c.plan->hvp = plan::plan_derivative(plan::FunctionKind::hvp, *c.hvp, costs, diagnostics);
  for (const Probe& p : c.probes)
    c.plan->probes.push_back(
        plan::plan_probe(p.graph, c.raw.tensors.size(), *c.plan, costs, diagnostics));
  plan::verify(*c.plan);
  if (c.step) c.step_plan = plan::plan_update(c.name, *c.step, costs, diagnostics);
}

}  // namespace

std::string read_file(const std::string& path, size_t limit) {
  return read_opened(open(path.c_str(), kOpenFlags), path, limit);
}

void load(Source& source, const std::string& path, Input input) {
  const bool is_standard = path == "-";
  if (is_standard && input == Input::file)
    throw SystemError("-: standard input is not read; name a file");
  struct stat info;
  if (!is_standard && stat(path.c_str(), &info) != 0 && errno == ENOENT)
    throw SystemError(fmt::format("{}: {}{}", path, std::strerror(ENOENT), neighbour(path)));
  const std::string name = is_standard ? "<stdin>" : path;
  std::string text =
      is_standard ? read_all(0, name, dsl::kMaxSourceBytes) : read_file(path, dsl::kMaxSourceBytes);
  source.file = source.map.add(name, std::move(text));
  source.tree = dsl::parse(source.map, source.file, source.diagnostics);
}

std::vector<Compiled> compile(Source& source, const Options& options) {
  std::string root = fs::path(source.map.file(source.file).path).parent_path().string();
  if (root.empty()) root = ".";
  elaborate::Loader loader;
  std::map<std::string, int32_t> loaded;
  size_t total = source.map.file(source.file).text.size();
  loader.load = [&](const std::string& name, bool library, int32_t from,
                    std::string& why_not) -> std::optional<int32_t> {
    std::string path = name, relative;
    if (!library) {
      relative = used_path(root, source.map.file(from).path, name, why_not);
      if (relative.empty()) return std::nullopt;
      path = (fs::path(root) / relative).lexically_normal().string();
    }
    if (auto it = loaded.find(path); it != loaded.end()) return it->second;
    std::string text;
    if (library) {
      auto found = library_file(name);
      if (!found) {
        why_not = fmt::format("the library has {}", fmt::join(library_names(), ", "));
        return std::nullopt;
      }
      text = *found;
    } else {
      try {
        text = read_beneath(root, relative, dsl::kMaxSourceBytes);
      } catch (const SystemError& e) {
        why_not = e.what();
        return std::nullopt;
      }
      total += text.size();
      if (total > kMaxProgramBytes)
        throw LimitError(
            fmt::format("{}: with it the program has {} bytes in its files; at most {}"
                        " are read",
                        path, total, kMaxProgramBytes));
    }
    return loaded[path] = source.map.add(path, std::move(text));
  };
  loader.library = library_names();
  elaborate::Program program = elaborate::elaborate(source.map, source.file, source.tree, loader,
                                                    options.sizes, source.diagnostics);
  std::vector<Compiled> result;
  if (source.diagnostics.has_errors()) return result;
  const bool some_loss =
      std::any_of(program.models.begin(), program.models.end(), [&](const elaborate::Model& m) {
        return (options.model.empty() || m.graph.name == options.model) &&
               derive::has_loss(ir::without_probes(m.graph));
      });
  for (elaborate::Model& m : program.models) {
    if (!options.model.empty() && m.graph.name != options.model) continue;
    Compiled c{.name = m.graph.name, .doc = m.doc, .step = std::move(m.step)};
    Derivation(c, options, some_loss, source.diagnostics).run(m);
    if (source.diagnostics.has_errors()) return {};
    if (options.plan) make_plan(c, target::costs(options.arch), source.diagnostics);
    if (source.diagnostics.has_errors()) return {};
    if (c.plan)
      for (plan::Function* f : plan::functions(*c.plan)) f->precision = options.precision;
    result.push_back(std::move(c));
  }
  source.diagnostics.fold_warnings();
  return result;
}

}  // namespace attn::driver
