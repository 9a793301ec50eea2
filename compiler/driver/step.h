// A step of a model's update, called without a program: parameters, gradients and states in, the
// first and the last out.
#pragma once

#include "compiler/driver/call.h"
#include "compiler/driver/loaded.h"

namespace attn::driver {

// "state.wq.m".
std::string state_name(const std::string& parameter, const std::string& state);

// What every parameter with a gradient in `given` becomes, as NAME, and its states, as
// state.NAME.STATE. `given` has parameters, gradients as dNAME, and states; those that are missing
// begin.
evaluate::Arrays step_reference(const Compiled& model, const StepCall& call,
                                const evaluate::Arrays& given);
evaluate::Arrays step_kernels(Loaded& library, const attn_model& model, const StepCall& call,
                              const evaluate::Arrays& given);

}  // namespace attn::driver
