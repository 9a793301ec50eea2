// The commands of attnc. Each prints its diagnostics to standard error and gives the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/driver/front.h"
#include "compiler/driver/progress.h"

namespace attn::driver {

// The command line is wrong in itself: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The model refused the call: exit status 5.
struct RefusedError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CommandLine {
  std::string file, out, name, stage, after, model, weights, progress = "auto";
  std::string diagnostics = "text";
  std::string device = "cpu";  // of `run` and `bench`
  std::string matmul_precision = "high";
  std::vector<std::string> files;  // of `fmt`
  std::vector<std::string> sizes, run_time_sizes, targets, inputs, cotangents, tangents;
  std::vector<std::string> derive;  // "gradient", "jvp", "hvp"
  std::vector<std::string> by;      // what derivatives are taken by; empty: everything
  std::vector<std::string> steps;   // the parameters that `run` updates
  std::vector<std::string> probes;  // that `run` computes
  int jobs = 0, threads = 0;
  std::optional<uint64_t> seed;
  bool cache = true, gradient = false, jvp = false, hvp = false, reference = false, check = false;
  bool may_miss = false;                // `run` initialises parameters that the weight file lacks
  bool shared = false;                  // `build` also links a shared library
  bool trace = false;                   // `run` prints what each kernel takes
  bool in_place = false, diff = false;  // `fmt`
  bool json = false;                    // `bench`
  std::optional<double> seconds;        // `bench`
};

int build(const CommandLine& c);
int check(const CommandLine& c);
int emit(const CommandLine& c);
int report(const CommandLine& c);
int run(const CommandLine& c);
int bench(const CommandLine& c);
int format(const CommandLine& c);
int doc(const CommandLine& c);

Progress progress_of(const CommandLine& c);
plan::Precision precision_of(const CommandLine& c);
// What the phases are to do; UsageError where the command line is wrong.
Options options_of(const CommandLine& c);
// UsageError for a name in c.by that is none of a real input or parameter of these models.
void require_chosen(const CommandLine& c, const std::vector<Compiled>& models);
// NAME=n, as given with `option`; UsageError on anything else.
elaborate::Overrides size_overrides(const std::vector<std::string>& given,
                                    const std::string& option = "-D");
// The model that a command is about; UsageError where there is none or a choice.
Compiled& only_model(const CommandLine& c, std::vector<Compiled>& models);
// The targets that --target names, in their order; all of the CPU where it names none.
std::vector<std::string> chosen_targets(const std::vector<std::string>& given);
// Prints to standard output; SystemError where that cannot be written.
void print_out(const std::string& text);
// UsageError where there are none, naming the one that was asked for.
void require_model(const CommandLine& c, const std::vector<Compiled>& models);
// Prints what the phases had to say to standard error, as "text" or "json"; true where there were
// errors.
bool report(const Source& source, const std::string& format = "text");

}  // namespace attn::driver
