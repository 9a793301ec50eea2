// From plans to files: kernels compiled side by side in processes of their own, the tables
// compiled where a C compiler is at hand, everything written whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/front.h"
#include "compiler/emit/emit.h"

namespace attn::driver {

struct BuildOptions {
  std::vector<std::string> targets;  // in increasing order
  int jobs = 0;                      // 0: one per processor
  bool cache = true;
  bool progress = true;  // a moving line, where standard error is a terminal
};

// A folder of our own under the system's temporary folder, removed with all in it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The library's objects, compiled (or taken from the cache) into `scratch`.
std::vector<std::string> compile_objects(const emit::Library& library, const Scratch& scratch,
                                         const BuildOptions& options);
// Compiles the tables to an object in `scratch` (or takes it from the cache); empty, with the
// reason, where no C compiler works.
std::string compile_tables(const emit::Library& library, const Scratch& scratch, bool use_cache,
                           std::string& why_not);
// Links the objects, the tables among them, and the runtime to a shared library in `scratch`; its
// path. SystemError where no C compiler links.
std::string link_objects(const emit::Library& library, const std::vector<std::string>& objects,
                         const Scratch& scratch);
// The bytes of an archive of the objects.
std::string make_archive(const std::vector<std::string>& objects, const Scratch& scratch);
// The plans of `models` as a library called `stem`.
emit::Library make_library(const std::string& stem, const Source& source,
                           std::vector<Compiled>& models, std::vector<emit::ModelPlan>& plans,
                           const std::vector<std::string>& targets);

// Writes a file whole: beside it first, then renamed over it.
void write_file(const std::string& path, const std::string& bytes);
// All of them: none is renamed before the last is written, so that a full disk changes nothing.
void write_files(const std::vector<std::pair<std::string, std::string>>& paths_and_bytes);

// The folder of cached objects, or empty where there is none.
std::string cache_folder();
// 32 hexadecimal digits.
std::string content_hash(const std::string& bytes);
// What must change when the compiler itself does.
std::string compiler_identity();
// -I for the runtime's headers, and the path of libattn_rt.a; empty where they are not found.
std::string runtime_include();
std::string runtime_archive();
// Runs a program with arguments, without a shell; its exit status, and what it said.
int run_program(const std::vector<std::string>& command, std::string& said);

}  // namespace attn::driver
