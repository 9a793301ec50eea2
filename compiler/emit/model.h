// What header and glue say about one model, gathered once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/emit/names.h"

namespace attn::emit {

// One tensor of the interface. `field` is its member in the struct of its group.
struct Argument {
  ir::TensorId tensor;  // of the forward graph
  std::string name, field;
  bool differentiable = false;
};

struct Interface {
  std::string model;  // C prefix
  std::vector<Argument> params, inputs, outputs;
  std::vector<std::string> probes;  // exported functions, behind the prefix: "probe_map"
  std::vector<ir::SizeId> sizes;    // run-time, in the order of size arrays
  bool timed = false;               // as in ModelPlan
};

Interface interface_of(const plan::Plan& plan);

// Tensors that a function takes or fills: an array of them, whose structs are those of `of`.
struct Group {
  std::string name;  // of the C parameter
  enum Of { params, inputs, outputs } of = params;
  const char* kind = "";  // of each, in messages: "gradient"
  bool written = false;
};
const std::vector<Argument>& arguments_of(const Interface& i, Group::Of of);
const char* name_of(Group::Of of);
// What "jvp" or "hvp" takes beside parameters and inputs; any tensor of it may have null data.
std::vector<Group> groups_of(plan::FunctionKind function);
// The parameters of the exported function, by lines of the header.
std::string parameters_of(const Interface& i, plan::FunctionKind function);

// How a parameter starts, in the words of attn/abi.h.
struct Start {
  std::string init;  // "ATTN_INIT_XAVIER"
  double a = 0, b = 0;
  uint64_t fan_in = 0;  // bit k: the first reader sums over extent k
};
Start start_of(const ir::Graph& g, ir::TensorId parameter);

// What may stand in a comment of C; "f32[B, 4*D]".
std::string comment(std::string text);
std::string shape_text(const ir::Graph& g, const ir::Tensor& t);
// "ATTN_F32".
std::string c_type(ir::Storage s);

std::string write_header(const std::string& stem, const std::vector<ModelPlan>& models,
                         const std::vector<Interface>& interfaces);
// The symbol, without the instruction set, of the object that serves a kernel: equal kernels share
// one.
using Symbols = std::map<const plan::Kernel*, std::string>;

// The part of the glue that belongs to one model.
std::string write_glue(const ModelPlan& model, const Interface& interface, const Symbols& symbols,
                       const std::vector<std::string>& targets);
// The exported functions jvp and hvp, which need no other call before.
std::string write_alone(const plan::Function& f, const Interface& interface);
// The same for arrays of tensors, static: what generic callers find in attn_model.
std::string write_any(const Interface& i, plan::FunctionKind function);
// Statements that check a group's tensors, where they are given, against what `wanted` says, and
// that no written tensor overlaps another argument; inputs may share memory.
std::string check_given(const Interface& i, const Group& group, const std::string& wanted);
// `result`: what messages call a further tensor of this C name, which is written; empty: none.
std::string check_overlap(const Interface& i, const std::vector<Group>& groups,
                          const std::string& result = "");
// Statements that begin a call with outputs: they read the sizes and check parameters, inputs,
// outputs and workspace.
std::string begin_call(const Interface& i);
// That the saved block is one of such a call.
std::string check_saved(const Interface& i, uint64_t source_hash);
// The probes: what the header says of them, their exported functions, their table.
std::string probe_header(const plan::Plan& plan, const Interface& i);
std::string write_probes(const ModelPlan& model, const Interface& i);
std::string write_probe_table(const plan::Plan& plan, const Interface& i);
// The step of a model's `using`: what the header says of it, its glue, and the same for arrays of
// tensors.
std::vector<std::string> option_fields(const ir::Step& step);
std::string step_parameters(const Interface& i);
std::string step_header(const ir::Step& step, const Interface& i);
std::string write_step(const plan::StepPlan& plan, const Interface& i, const Symbols& symbols,
                       const std::vector<std::string>& targets);
std::string write_step_any(const Interface& i);
// One function of it: views, workspace and kernel calls in order.
std::string write_function(const plan::Plan& plan, const plan::Function& f,
                           const Interface& interface, const Symbols& symbols,
                           const std::vector<std::string>& targets);

// The elements of a tensor (of one plane of it), and the bytes of all, as C expressions.
std::string element_count(const ir::Graph& g, ir::TensorId t);
std::string byte_size(const ir::Graph& g, ir::TensorId t);

}  // namespace attn::emit
