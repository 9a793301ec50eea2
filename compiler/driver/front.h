// The phases from a source file to plans, in order, as every command uses them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/derive/derive.h"
#include "compiler/elaborate/elaborate.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/update.h"
#include "dsl/ast.h"

namespace attn::driver {

// A file or the system is to blame: exit status 3.
struct SystemError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The bytes of a regular file of at most `limit` bytes.
std::string read_file(const std::string& path, size_t limit);

struct Source {
  SourceMap map;
  Diagnostics diagnostics;
  int32_t file = -1;
  dsl::File tree;

  // What a command that fails by its source exits with: 4 where a limit was exceeded, else 1.
  int failure() const { return diagnostics.exceeded_limit() ? 4 : 1; }
};

// Whether `-` is standard input, which is called <stdin>.
enum class Input { file, may_be_standard };
// Reads and parses; errors stand in the diagnostics.
void load(Source& source, const std::string& path, Input input = Input::file);

// What one probe of a model takes, as a graph of its own with that output.
struct Probe {
  std::string name;
  ir::Graph graph;  // simplified
};

// One model after the phases that ran.
struct Compiled {
  std::string name;
  std::string doc;
  ir::Graph raw;                          // elaborated, guards spread, with all probes
  ir::Graph forward;                      // simplified
  std::vector<Probe> probes;              // those that were asked for
  std::optional<ir::Graph> raw_gradient;  // derived, guards spread
  std::optional<ir::Graph> gradient;      // simplified
  size_t shared = 0;                      // its first tensors, which are forward's
  std::vector<ir::TensorId> kept;         // that forward keeps for it
  std::vector<derive::Origin> origins;    // of raw_gradient
  std::optional<ir::Graph> jvp, hvp;      // derived and simplified
  std::optional<plan::Plan> plan;
  std::optional<ir::Step> step;  // of `using`
  std::optional<plan::UpdatePlan> step_plan;
};

struct Options {
  elaborate::Overrides sizes;
  std::string model;           // only this one; empty: all
  bool all_gradients = false;  // also of models that do not say `train`
  bool jvp = false, hvp = false;
  derive::Names by;                                // derivatives by these only; empty: by all
  std::optional<std::vector<std::string>> probes;  // only these; nothing: all
  bool plan = true;
  target::Arch arch = target::Arch::x86_64;  // that plans are made for
  plan::Precision precision = plan::Precision::high;
  // Called with every pass that changed a graph, the first of which are "graph" and "derive", and
  // with the function that the graph is to become: "forward", "gradient", "jvp", "hvp" or
  // "probe NAME".
  std::function<void(const std::string& model, const std::string& function, const std::string& pass,
                     const ir::Graph&)>
      trace;
};

// Everything after the parser. On errors the result is empty.
std::vector<Compiled> compile(Source& source, const Options& options);

}  // namespace attn::driver
