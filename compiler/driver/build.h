// From plans to files: kernels compiled side by side in processes of their own, the tables
// compiled where a C compiler is at hand, everything written whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/cache.h"
#include "compiler/driver/files.h"
#include "compiler/driver/front.h"
#include "compiler/driver/progress.h"
#include "compiler/emit/emit.h"

namespace attn::driver {

struct BuildOptions {
  std::vector<std::string> targets;  // in increasing order
  int jobs = 0;                      // 0: one per processor
  bool cache = true;
  Progress progress = Progress::automatic;
};

// The library's objects, compiled (or taken from the cache) into `scratch`.
std::vector<std::string> compile_objects(const emit::Library& library, const Scratch& scratch,
                                         const BuildOptions& options, Cache& cache);
// Compiles the tables to an object in `scratch` (or takes it from the cache); empty, with the
// reason, where no C compiler runs.
std::string compile_tables(const emit::Library& library, const Scratch& scratch, Cache& cache,
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

}  // namespace attn::driver
