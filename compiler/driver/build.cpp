#include "compiler/driver/build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "compiler/emit/signature.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/kinds.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A kernel as text, with everything that its object depends on: the same work of arguments of the
// same shapes, and the names that stand in its code and its messages.
std::string describe(const emit::Object& o) {
  const ir::Graph& g = o.function->graph;
  const plan::Kernel& k = *o.kernel;
  std::string text = fmt::format("{}\n{} {}{}\n", compiler_identity(), o.symbol, o.target,
                                 o.few_rows ? " few rows" : "");
  for (const auto* list : {&k.reads, &k.writes})
    for (ir::TensorId t : *list) text += g[t].name + " ";
  for (ir::SizeId s : k.sizes) text += g[s].name + " ";
  return text + "\n" + emit::signature(*o.function, k);
}

// The tables, with everything that its object depends on: the C compiler and the runtime's headers.
std::string describe_tables(const emit::Library& library, const std::string& compiler,
                            const std::string& include) {
  std::string text = fmt::format("{}\n{}\n{}\n", compiler_identity(), compiler, library.stem), said;
  if (run_program({compiler, "--version"}, said) != 0) return {};
  text += said + library.header + library.tables;
  std::vector<std::string> headers;
  for (const fs::directory_entry& e : fs::directory_iterator(include + "/attn"))
    headers.push_back(e.path().string());
  std::sort(headers.begin(), headers.end());
  for (const std::string& header : headers) text += header + "\n" + bytes_of(header);
  return text;
}

std::string c_compiler() {
  const char* named = getenv("CC");
  return named && *named ? named : "cc";
}

std::string no_compiler() { return "no C compiler `" + c_compiler() + "`"; }

// Where an object that depends on `description` is kept; empty where nothing is.
std::string cached_path(const std::string& cache, const std::string& description) {
  return cache.empty() || description.empty() ? std::string()
                                              : cache + "/" + content_hash(description) + ".o";
}

bool take(const std::string& cached, const std::string& path) {
  std::error_code error;
  return !cached.empty() && fs::copy_file(cached, path, error) && !error;
}

void keep(const std::string& path, const std::string& cached) {
  if (cached.empty()) return;
  try {
    write_file(cached, bytes_of(path));
  } catch (const SystemError&) {
    // A cache that cannot be written is only slow.
  }
}

// The moving line of a long build.
class Progress {
 public:
  Progress(bool wanted, size_t total) : shown_(wanted && isatty(2)), total_(total) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void step(size_t done, const std::string& what) {
    if (!shown_) return;
    int width = 24, full = total_ ? static_cast<int>(width * done / total_) : width;
    fmt::print(stderr, "\r\033[K[{}{}] {}/{} kernels  {}", std::string(full, '#'),
               std::string(width - full, '.'), done, total_, what);
    fflush(stderr);
  }

 private:
  bool shown_;
  size_t total_;
};

struct Job {
  const emit::Object* object;
  std::string path, cached;
};

// In a process of its own: names that Halide counts up start anew, so equal kernels give equal
// bytes, and a crash is only this kernel's.
pid_t start(const Job& job) {
  fflush(nullptr);
  pid_t child = fork();
  if (child != 0) return child;
  int status = 0;
  std::string said;
  try {
    std::string object =
        lower::compile_object(*job.object->function, *job.object->kernel, job.object->target,
                              job.object->symbol, job.object->few_rows);
    std::ofstream out(job.path, std::ios::binary);
    if (!(out << object) || !out.flush()) {
      said = std::strerror(errno);
      status = 3;
    }
  } catch (const std::exception& e) {
    said = e.what();
    status = 70;
  }
  if (status) std::ofstream(job.path + ".why") << said;
  _exit(status);
}

[[noreturn]] void give_up(const Job& job, int status) {
  std::string why = bytes_of(job.path + ".why");
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
    throw SystemError(fmt::format("{}: {}", job.path, why));
  if (WIFSIGNALED(status))
    why = fmt::format("the kernel compiler crashed (signal {})", WTERMSIG(status));
  throw InternalError(fmt::format("{} for {}: {}", job.object->symbol, job.object->target, why));
}

}  // namespace

std::vector<std::string> compile_objects(const emit::Library& library, const Scratch& scratch,
                                         const BuildOptions& options) {
  std::string cache = options.cache ? cache_folder() : std::string();
  std::vector<std::string> paths;
  std::vector<Job> jobs;
  for (const emit::Object& o : library.objects) {
    std::string path = fmt::format("{}/{}.o", scratch.path(), o.symbol);
    paths.push_back(path);
    const std::string cached = cached_path(cache, cache.empty() ? "" : describe(o));
    if (take(cached, path)) continue;
    jobs.push_back({&o, path, cached});
  }
  auto effort = [](const Job& job) { return plan::kind_of(job.object->kernel->form).effort; };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return effort(a) > effort(b); });
  size_t limit =
      options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  Progress progress(options.progress, jobs.size());
  std::map<pid_t, const Job*> running;
  size_t started = 0, done = 0;
  while (done < jobs.size()) {
    while (started < jobs.size() && running.size() < limit) {
      pid_t child = start(jobs[started]);
      if (child < 0) {
        if (running.empty()) throw SystemError("cannot start a process to compile kernels");
        break;
      }
      progress.step(done, jobs[started].object->symbol);
      running[child] = &jobs[started++];
    }
    int status = 0;
    pid_t child = wait(&status);
    auto it = running.find(child);
    if (it == running.end()) continue;
    const Job& job = *it->second;
    running.erase(it);
    ++done;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      for (const auto& [other, unused] : running) waitpid(other, nullptr, 0);
      give_up(job, status);
    }
    keep(job.path, job.cached);
  }
  return paths;
}

std::string compile_tables(const emit::Library& library, const Scratch& scratch, bool use_cache,
                           std::string& why_not) {
  std::string include = runtime_include();
  if (include.empty()) {
    why_not = "the runtime's headers are not beside the compiler";
    return {};
  }
  std::string c = fmt::format("{}/{}.c", scratch.path(), library.stem);
  std::string o = fmt::format("{}/{}_tables.o", scratch.path(), library.stem);
  write_file(c, library.tables);
  write_file(fmt::format("{}/{}.h", scratch.path(), library.stem), library.header);
  const std::string compiler = c_compiler();
  const std::string cache = use_cache ? cache_folder() : std::string();
  const std::string cached =
      cached_path(cache, cache.empty() ? "" : describe_tables(library, compiler, include));
  if (take(cached, o)) return o;
  std::vector<std::string> command = {
      compiler, "-std=c11", "-O1", "-fPIC",        "-c",
      c,        "-o",       o,     "-I" + include, "-I" + scratch.path()};
  std::string said;
  int status = run_program(command, said);
  if (status == 127) {
    why_not = no_compiler();
    return {};
  }
  if (status != 0)
    throw InternalError(fmt::format("the generated tables do not compile:\n{}", said));
  keep(o, cached);
  return o;
}

std::string link_objects(const emit::Library& library, const std::vector<std::string>& objects,
                         const Scratch& scratch) {
  const std::string runtime = runtime_archive();
  if (runtime.empty()) throw SystemError("libattn_rt.a is not beside the compiler");
  const std::string base = scratch.path() + "/" + library.stem;
  write_file(base + "_index.c", library.index);
  std::vector<std::string> command = {
      c_compiler(),     "-std=c11", "-O1",        "-fPIC",
      "-shared",        "-o",       base + ".so", "-I" + runtime_include(),
      base + "_index.c"};
  command.insert(command.end(), objects.begin(), objects.end());
  command.push_back("-Wl,--whole-archive");
  command.push_back(runtime);
  // The name is the same wherever it was linked.
  for (const std::string& flag :
       {std::string("-Wl,--no-whole-archive"), std::string("-Wl,-Bsymbolic"),
        "-Wl,-soname," + library.stem + ".so", std::string("-lm"), std::string("-lpthread")})
    command.push_back(flag);
#ifdef __SANITIZE_ADDRESS__
  command.push_back("-fsanitize=address,undefined");
#endif
  std::string said;
  const int status = run_program(command, said);
  if (status == 127) throw SystemError("linking needs a C compiler: " + no_compiler());
  if (status != 0) throw InternalError(fmt::format("the kernels do not link:\n{}", said));
  return base + ".so";
}

std::string make_archive(const std::vector<std::string>& objects, const Scratch& scratch) {
  const std::string path = scratch.path() + "/archive.a";
  // LLVM ends the process that cannot write, so it has one of its own.
  fflush(nullptr);
  pid_t child = fork();
  if (child < 0) throw SystemError("cannot start a process to write the archive");
  if (child == 0) {
    // What it says of that is not for the user.
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, 2);
    try {
      lower::write_archive(objects, path);
    } catch (...) {
      _exit(70);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw SystemError(fmt::format("{}: the archive cannot be written", path));
  return read_file(path, size_t{1} << 32);
}

emit::Library make_library(const std::string& stem, const Source& source,
                           std::vector<Compiled>& models, std::vector<emit::ModelPlan>& plans,
                           const std::vector<std::string>& targets) {
  std::string everything;
  for (int32_t k = 0; k < source.map.size(); ++k) everything += source.map.file(k).text + '\0';
  for (Compiled& m : models) {
    emit::ModelPlan p{.plan = std::move(*m.plan), .step = std::move(m.step_plan), .doc = m.doc};
    std::string sizes;
    for (const ir::Size& s : p.plan.forward_graph.sizes)
      if (s.value) sizes += fmt::format("{}={};", s.name, *s.value);
    p.source_hash =
        std::stoull(content_hash(everything + m.name + sizes).substr(0, 16), nullptr, 16);
    plans.push_back(std::move(p));
  }
  return emit::emit_library(stem, plans, targets);
}

}  // namespace attn::driver
