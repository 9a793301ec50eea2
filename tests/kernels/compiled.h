// Models compiled once to a library in this process and called many times, by a caller who gives
// guarded memory that starts as NaN; and the evaluator's answers to the same calls.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/front.h"
#include "compiler/driver/loaded.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/lower/lower.h"
#include "differences.h"

namespace attn::testing {

// What kernels are tested on: $ATTN_TEST_TARGET, else this machine.
std::string tested_target();
// That of the environment, ATTN_TEST_PRECISION, or high.
plan::Precision tested_precision();
// How much further off results may be on the tested target than those of exact products.
double slack_of_products();
// The tested target, in turn with the other instruction sets that this machine can run.
std::string target_in_turn(uint64_t seed);

// Gradients as the text says, with Jacobian-vector products, of every model, or of every model with
// Jacobian- and Hessian-vector products too.
enum class Derive { as_written, tangents, gradients, all };

// The models of a text in the language, or of a file; throws with all diagnostics.
std::vector<driver::Compiled> compile_text(const std::string& text,
                                           const elaborate::Overrides& sizes = {},
                                           Derive derive = Derive::gradients,
                                           plan::Precision precision = tested_precision());
std::vector<driver::Compiled> compile_file(const std::string& path,
                                           const elaborate::Overrides& sizes = {},
                                           Derive derive = Derive::gradients,
                                           plan::Precision precision = tested_precision());
// A model that is a graph already, with its gradient; `derived`: with products too, of a graph that
// has a scalar output.
driver::Compiled compile_graph(const std::string& name, ir::Graph graph, bool derived = false);

struct Outcome {
  attn_status status = ATTN_OK;
  std::string message;
  Arrays values;  // outputs and probes, gradients as dNAME, tangents as tOUT, products as hNAME
  // No byte of results and saved block was written.
  bool untouched = true;
  // What calls took in memory beside arguments and results: a forward call that saves nothing;
  // backward after forward; both in one call.
  int64_t unsaved = 0, apart = 0, at_once = 0;
};

struct CallOptions {
  bool gradient = true, jvp = false, hvp = false, probes = false;
  // Only these gradients (dNAME); empty: all.
  std::vector<std::string> wanted;
};

class Library {
 public:
  explicit Library(std::vector<driver::Compiled> models, int threads = 2,
                   const std::string& target = tested_target());

  void use_threads(int threads) { loaded_->open(threads, device_); }
  const driver::Compiled& model(const std::string& name = "") const;
  const attn_model& interface(const std::string& name = "") const;
  // `given`: inputs, parameters, cotangents and tangents; of the last two, what is not given is
  // null.
  Outcome call(const Arrays& given, const CallOptions& options = {}, const std::string& name = "");
  // The evaluator's values of the simplified graphs.
  Arrays reference(const Arrays& given, const std::string& name = "",
                   const CallOptions& options = {}) const;

 private:
  std::map<std::string, driver::Compiled> models_;
  std::string only_;
  driver::Scratch scratch_;
  std::unique_ptr<driver::Loaded> loaded_;
  attn_device_id device_;
};

// Values in +-[0.2, 1] for every input and parameter, and cotangents and tangents, as their storage
// holds them. `sizes` by name; the rest follows.
Arrays random_call(const driver::Compiled& model, const std::map<std::string, int64_t>& sizes,
                   uint64_t seed, int64_t integers = 2);
// What is left of a value in a storage type.
double as_stored(double value, ir::Storage storage);

// "" or the first entry of dNAME that is not the derivative of the outputs, weighted by their
// cotangents, by central differences of the evaluator: every entry of a tensor of at most 500, else
// along 8 random directions.
std::string differ_from_differences(const driver::Compiled& model, const Arrays& given,
                                    double tolerance = 1e-6);
// The same along one direction of all inputs and parameters at once, which takes four evaluations.
// At values beside the given ones, which may be equal or at a step, and in steps that are smaller
// than what is between them. Where the outputs jump beside these, too, at others.
std::string differ_from_slope(const driver::Compiled& model, const Arrays& given,
                              double tolerance = 1e-5);

}  // namespace attn::testing
