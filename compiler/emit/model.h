// What header and tables say about one model, gathered once.
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
  bool is_state = false;  // an input that forward changes in place; they stand after the others
};

struct Interface {
  std::string model;  // C prefix
  std::vector<Argument> params, inputs, outputs;
  std::vector<std::string> probes;  // exported functions, without the prefix: "probe_map"
  std::vector<ir::SizeId> sizes;    // run-time, in the order of size arrays
};

Interface interface_of(const plan::Plan& plan);

// How a parameter starts.
struct Start {
  ir::Initialiser::Kind kind;  // not automatic
  double a = 0, b = 0;
  uint64_t fan_in = 0;  // bit k: the first reader sums over extent k
};
Start start_of(const ir::Graph& g, ir::TensorId parameter);

// "f32[B, 4*D]".
std::string shape_text(const ir::Graph& g, const ir::Tensor& t);
// "F32", as attn/tables.h has it.
std::string c_type(ir::Storage s);
// "XAVIER", as attn/abi.h has it after ATTN_INIT_.
std::string c_start(ir::Initialiser::Kind kind);
// NAN where there is no value.
std::string c_number(const std::optional<double>& value);

// The symbol by which a header and an archive show that they are of one source, so that of two models
// of one name both are linked, which fails: MODEL_archive_of_HASH.
std::string archive_symbol(const ModelPlan& m, const Interface& i);

// A function that the library exports, which calls one of attn/model.h.
struct Exported {
  std::string doc;                           // a comment without its marks
  std::string prototype;                     // "attn_status MODEL_forward"
  std::vector<std::string> parameters = {};  // "void* saved"
  std::string function;                      // "attn_forward"
  std::vector<std::string> arguments = {};
};
// "name(first, second)", in lines of at most `width` characters.
std::string called(const std::string& name, std::vector<std::string> list, size_t width);
std::vector<Exported> exported_functions(const ModelPlan& m, const Interface& i);
// Their definitions.
std::string write_exported(const ModelPlan& m, const Interface& i);

std::string write_header(const std::string& stem, const std::vector<ModelPlan>& models,
                         const std::vector<Interface>& interfaces);
// The members of a model's struct of options.
std::vector<std::string> option_fields(const ir::Step& step);

// Ends the symbol of a kernel's code for few rows.
inline constexpr const char* kFewRowsTail = "_few";

// The code of a kernel: of several equal kernels the first.
using Symbols = std::map<const plan::Kernel*, std::string>;

// The tables of one model, and those of its update (null: none): MODEL_description.
std::string write_tables(const plan::Plan& plan, const plan::UpdatePlan* step, uint64_t source_hash,
                         const Interface& i, const Symbols& symbols);
// Those of an update: MODEL_step_program.
std::string write_update(const plan::UpdatePlan& plan, const Interface& i, const Symbols& symbols);

// The member `field` of a struct with these rows, and their count: "ROWS(attn_local, saved, …),";
// empty where there are none. Rows stand one a line, or as many as fit.
std::string rows(const std::string& type, const std::string& field,
                 const std::vector<std::string>& list, bool one_a_line = false);
// The struct MODEL_NAME of a type, with these members.
std::string table(const std::string& type, const std::string& name,
                  const std::vector<std::string>& members);

}  // namespace attn::emit
