#include "compiler/driver/build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <thread>

#include "compiler/driver/programs.h"
#include "compiler/driver/workers.h"
#include "compiler/emit/signature.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/kinds.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;

// A kernel as text, with everything that its object depends on: the same work of arguments of the
// same shapes, and the names that stand in its code and its messages.
std::string describe(const emit::Object& o) {
  const ir::Graph& g = o.function->graph;
  const plan::Kernel& k = *o.kernel;
  std::string text = fmt::format("{}\n{} {}{}{}\n", compiler_identity(), o.symbol, o.target,
                                 name_of(o.function->precision), o.few_rows ? " few rows" : "");
  for (const auto* list : {&k.reads, &k.writes})
    for (ir::TensorId t : *list) text += g[t].name + " ";
  for (ir::SizeId s : k.sizes) text += g[s].name + " ";
  return text + "\n" + emit::signature(*o.function, k);
}

// The tables, with everything that its object depends on: the C compiler and the runtime's headers.
std::string describe_tables(const emit::Library& library, const std::vector<std::string>& compiler,
                            const std::string& version, const std::string& include) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", compiler_identity(), fmt::join(compiler, " "), library.stem);
  text += version + library.header + library.tables;
  std::vector<std::string> headers;
  for (const fs::directory_entry& e : fs::directory_iterator(include + "/attn"))
    headers.push_back(e.path().string());
  std::sort(headers.begin(), headers.end());
  for (const std::string& header : headers) text += header + "\n" + bytes_of(header);
  return text;
}

void say_complaint(Cache& cache) {
  const std::string text = cache.take_complaint();
  if (!text.empty()) say(fmt::format("note: {}\n", text));
}

// The C compiler does not take what attnc has written: one that the user has named may be no C
// compiler, or have a wrong option.
[[noreturn]] void fail_compiling(const std::string& what, int status, const std::string& said) {
  if (!names_c_compiler()) throw InternalError(fmt::format("{}:\n{}", what, said));
  const std::string line = said.substr(0, said.find('\n'));
  throw SystemError(fmt::format("{} by the C compiler that CC names, `{}`: {}", what,
                                fmt::join(c_compiler(), " "),
                                line.empty() ? fmt::format("exit status {}", status) : line));
}

struct Job {
  const emit::Object* object;
  std::string path, description;
};

Worker start(const Job& job) {
  return Worker([&job] {
    const emit::Object& o = *job.object;
    const std::string object = lower::compile_object(*o.function, *o.kernel, o.target, o.symbol,
                                                     job.path + ".halide", o.few_rows);
    write_new_file(job.path, object);
  });
}

// Two FNV-1a sums with different starts: 128 bits against accidents, not against attackers.
std::string fingerprint(const std::string& bytes) {
  uint64_t a = 0xcbf29ce484222325u, b = 0x6c62272e07bb0142u;
  for (unsigned char c : bytes) {
    a = (a ^ c) * 0x100000001b3u;
    b = (b ^ c) * 0x100000001b3u + (a >> 41);
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

// Processes side by side, at most `limit`.
class Workers {
 public:
  Workers(std::vector<Job> jobs, size_t limit, std::string folder)
      : jobs_(std::move(jobs)), limit_(limit), folder_(std::move(folder)) {}
  ~Workers() {
    for (const auto& [worker, job] : running_) worker.stop();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool all_done() const { return done_ == jobs_.size(); }

  // Waits for the next that ends. Throws why it failed.
  const Job& next() {
    while (started_ < jobs_.size() && running_.size() < limit_) {
      try {
        running_.emplace_back(start(jobs_[started_]), &jobs_[started_]);
      } catch (const SystemError&) {
        if (running_.empty()) throw;
        break;
      }
      ++started_;
    }
    for (;;) {
      int status = 0;
      const pid_t ended = wait(&status);
      const auto it = std::find_if(running_.begin(), running_.end(), [&](const auto& running) {
        return running.first.process() == ended;
      });
      if (it == running_.end()) continue;
      const Worker worker = std::move(it->first);
      const Job& job = *it->second;
      running_.erase(it);
      ++done_;
      worker.check(status, fmt::format("{} for {}", job.object->symbol, job.object->target),
                   folder_);
      return job;
    }
  }

 private:
  const std::vector<Job> jobs_;
  size_t limit_;
  std::string folder_;
  std::list<std::pair<Worker, const Job*>> running_;
  size_t started_ = 0, done_ = 0;
};

}  // namespace

std::vector<std::string> compile_objects(const emit::Library& library, const Scratch& scratch,
                                         const BuildOptions& options, Cache& cache) {
  say_complaint(cache);
  std::vector<std::string> paths;
  std::vector<Job> jobs;
  for (const emit::Object& o : library.objects) {
    paths.push_back(fmt::format("{}/{}.o", scratch.path(), o.symbol));
    Job job{&o, paths.back(), describe(o)};
    if (!cache.take(job.description, job.path)) jobs.push_back(std::move(job));
  }
  auto effort = [](const Job& job) { return plan::kind_of(job.object->kernel->form).effort; };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return effort(a) > effort(b); });
  ProgressLine progress(options.progress, jobs.size(), paths.size() - jobs.size());
  const bool keeps = !jobs.empty();
  Workers workers(
      std::move(jobs),
      options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency()),
      scratch.path());
  while (!workers.all_done()) {
    const Job& job = workers.next();
    cache.keep(job.description, job.path);
    progress.finished(job.object->symbol);
  }
  if (keeps) cache.trim();
  progress.end();
  say_complaint(cache);
  return paths;
}

std::string compile_tables(const emit::Library& library, const Scratch& scratch, Cache& cache,
                           std::string& why_not) {
  const std::string include = runtime_include();
  if (include.empty()) {
    why_not = "the runtime's headers are not beside attnc";
    return {};
  }
  const std::vector<std::string> compiler = c_compiler();
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), compiler.begin(), compiler.end());
    return arguments;
  };
  const std::string called = fmt::format("{}", fmt::join(compiler, " "));
  std::string version, said;
  if (const int status = run_program(with({"--version"}), version, scratch.path()); status != 0) {
    why_not = fmt::format("the C compiler `{}` does not run: {}", called,
                          status == 127 ? version : fmt::format("exit status {}", status));
    return {};
  }
  const std::string c = fmt::format("{}/{}.c", scratch.path(), library.stem);
  const std::string o = fmt::format("{}/{}_tables.o", scratch.path(), library.stem);
  const std::string description = describe_tables(library, compiler, version, include);
  if (cache.take(description, o)) return o;
  write_new_file(c, library.tables);
  write_new_file(fmt::format("{}/{}.h", scratch.path(), library.stem), library.header);
  const int status = run_program(
      with({"-std=c11", "-O1", "-fPIC", "-c", c, "-o", o, "-I" + include, "-I" + scratch.path()}),
      said, scratch.path());
  if (said.find(std::strerror(ENOSPC)) != std::string::npos)
    throw SystemError(fmt::format("{}: {}", scratch.path(), std::strerror(ENOSPC)));
  if (status != 0) fail_compiling("the generated tables are not compiled", status, said);
  if (!fs::exists(o)) {
    why_not = fmt::format("the C compiler `{}` writes no object", called);
    return {};
  }
  cache.keep(description, o);
  cache.trim();
  say_complaint(cache);
  return o;
}

std::string link_objects(const emit::Library& library, const std::vector<std::string>& objects,
                         const Scratch& scratch) {
  const std::string runtime = runtime_archive();
  if (runtime.empty()) throw SystemError("libattn_rt.a is not beside the compiler");
  const std::string base = scratch.path() + "/" + library.stem;
  write_new_file(base + "_index.c", library.index);
  if (!fs::exists(base + ".h")) write_new_file(base + ".h", library.header);
  std::vector<std::string> command = c_compiler();
  const auto add = [&](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  add({"-std=c11", "-O1", "-fPIC", "-shared", "-o", base + ".so", "-I" + runtime_include(),
       base + "_index.c"});
  add(objects);
  // The name is the same wherever it was linked.
  add({"-Wl,--whole-archive", runtime, "-Wl,--no-whole-archive", "-Wl,-Bsymbolic",
       "-Wl,-soname," + library.stem + ".so", "-lm", "-lpthread"});
#ifdef __SANITIZE_ADDRESS__
  add({"-fsanitize=address,undefined"});
#endif
  std::string said;
  const int status = run_program(command, said, scratch.path());
  if (status == 127) throw SystemError("linking needs a C compiler: " + said);
  if (status != 0 || !fs::exists(base + ".so"))
    fail_compiling("the kernels are not linked", status, said);
  return base + ".so";
}

std::string make_archive(const std::vector<std::string>& objects, const Scratch& scratch) {
  const std::string path = scratch.path() + "/archive.a";
  const Worker worker([&] { lower::write_archive(objects, path); });
  int status = 0;
  waitpid(worker.process(), &status, 0);
  worker.check(status, "the archive", scratch.path());
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
        std::stoull(fingerprint(everything + m.name + sizes).substr(0, 16), nullptr, 16);
    plans.push_back(std::move(p));
  }
  return emit::emit_library(stem, plans, targets);
}

}  // namespace attn::driver
