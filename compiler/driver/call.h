// A model called without a program of its own: arrays in, arrays out, by kernels or by the
// evaluator.
#pragma once

#include <attn/abi.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/build.h"
#include "compiler/driver/trace.h"
#include "compiler/evaluate/evaluate.h"

namespace attn::driver {

// The scalars of an update by name: its options, and `step`.
struct StepCall {
  std::map<std::string, double> scalars;
};

struct Call {
  // Inputs and parameters, cotangents dOUT and tangents tNAME. Of the last two, what is missing is
  // 0.
  evaluate::Arrays given = {};
  bool gradient = false, jvp = false, hvp = false;
  bool probes = false;  // those that the model was compiled with
  // A step of the model's update, by the gradients of this call and those that are given as dNAME.
  std::optional<StepCall> step = {};
  bool calls_model = true;  // false: all gradients of the step are given
  int threads = 0;
  attn_device_id device = {};
  Trace* trace = nullptr;  // told of all kernels, where there is one
};

// The outputs (and probes by their names, gradients as dNAME, tangents as tOUT, products as hNAME;
// of a step NAME and state.NAME.STATE) by name, in float64 by the evaluator.
evaluate::Arrays call_reference(const Compiled& model, const Call& call);

// The same by kernels compiled for the targets of the options. RefusedError with the model's own message.
evaluate::Arrays call_kernels(const Source& source, Compiled& model, const Call& call,
                              const BuildOptions& options);

// States that `given` lacks, of zeros. Throws evaluate::CallError where their sizes are not given.
void begin_states(const Compiled& model, evaluate::Arrays& given);

// Parameters that `given` lacks, as the compiled library would initialise them.
void initialise_missing(const Compiled& model, uint64_t seed, evaluate::Arrays& given);

}  // namespace attn::driver
