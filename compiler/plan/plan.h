// The plan of a function: which kernels compute it, which tensors exist in memory, and where.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/form.h"
#include "compiler/plan/segments.h"
#include "compiler/target/target.h"

namespace attn::plan {

using target::Costs;

// Where a tensor lives while the function runs.
enum class Place : uint8_t {
  given,      // in the caller's memory: inputs, parameters, cotangents
  result,     // an output, in the caller's memory
  updated,    // what a state becomes, in the place of the state
  forwarded,  // an output of forward that backward reads
  saved,      // in the block that forward leaves for backward
  workspace,
  step,  // a step of a whole tensor, which has a place of its own
  none,  // not in memory: a kernel computes it where it is read, or nothing reads it
};

struct Kernel {
  std::string name;  // of its symbol: MODEL_forward_3_q
  Form form;
  // The graph's definitions that it computes, with inlined maps substituted, in order.
  std::vector<ir::Definition> definitions;
  std::vector<ir::TensorId> reads, writes;      // in memory
  std::vector<ir::TensorId> arguments() const;  // both
  std::vector<ir::SizeId> sizes;                // run-time sizes that it takes
  std::string why;                              // for a slow lowering: the reason, else empty
};

// Integer data used in a subscript, checked before anything is written: the least and greatest
// value of the subscript where its conditions hold must lie in [0, extent).
struct DataCheck {
  ir::TensorId lowest, highest;  // int scalars that check kernels write to the workspace
  ir::Poly extent;
  std::string data;         // the tensor that holds the data: "token"
  std::string read;         // the tensor that is read with it: "embedding"
  bool is_written = false;  // a state that is written with it
};

// When a tensor is needed in memory: from one kernel of its function to another, which count from
// 1; 0: the checks. The runtime lays out memory by lives: what is not needed at the same time may
// lie in the same place.
struct Life {
  ir::TensorId tensor;
  int first = 0, last = 0;
  // One that ends as this one begins, and whose memory it may take, as writes_over says. Invalid:
  // none.
  ir::TensorId over;
  bool of_step = false;  // of one step of the tensor, which is all of it that is in memory
  // Of backward, where a loop is part of the life; 0: not known. Of what is saved, of which each
  // step takes its own and no other, and of what is in the workspace until the loop ends, of which
  // each step takes its own block: the kernel of a step that needs it last. Else, where the life
  // begins with the loop: the kernel of a step that needs the tensor first.
  int in_step = 0;
  // Of forward: nothing but the kernel that computes it takes it, for backward, and it does without
  // memory for it where nothing is saved.
  bool if_saved = false;

  bool operator==(const Life&) const = default;
};

// Kernels that compute one step of a recurrence, run for each of its steps in turn.
struct Loop {
  Steps steps;
  size_t first = 0, end = 0;  // of the function's kernels
};

enum class FunctionKind : uint8_t {
  forward,
  backward,
  jvp,
  hvp,
  probe,   // has one output
  update,  // of the elements of one tensor, or the norm of its gradient
};
std::string_view name_of(FunctionKind kind);

// How exact products of f32 must be, which a target may exceed. Sums are in f32 at least. As in
// JAX and PyTorch: exact products; products with the error of f32 and without its infinities, of
// three products of fewer bits each; products of 11 bits.
enum class Precision : uint8_t { highest, high, medium };
std::string_view name_of(Precision precision);

struct Function {
  FunctionKind kind = FunctionKind::forward;
  std::string name;                 // in symbols: "forward", "probe0"
  ir::Graph graph;                  // as planned; tensor ids below are of this graph
  std::vector<Place> places;        // by tensor
  std::vector<ir::TensorId> saved;  // in the order of the saved block
  // Of later functions: what forward calls what they take of it. Names may differ, as those of
  // derivatives are taken.
  std::map<ir::TensorId, ir::TensorId> in_forward;
  std::vector<Kernel> checks;  // run first
  std::vector<DataCheck> data_checks;
  std::vector<Kernel> kernels;  // in order
  std::vector<Loop> loops;      // in order
  std::vector<Slice> slices;    // what has Place::step
  // Of what is in the workspace or the saved block, of results, and of what is given of
  // derivatives.
  std::vector<Life> lives;
  // Of forward, the same tensors in the same order, where nothing is saved and some are in memory
  // for a step only. Empty: as `lives`.
  std::vector<Life> unsaved_lives;
  Precision precision = Precision::high;
};

// Everything that the compiled library holds of one model, for one architecture.
struct Plan {
  std::string model;
  ir::Graph forward_graph;                  // simplified
  std::optional<ir::Graph> gradient_graph;  // simplified
  Function forward;
  std::optional<Function> backward;
  std::optional<Function> jvp, hvp;  // which compute all that they need themselves
  std::vector<Function> probes;      // called after forward; each has one output
};

// What people call it: "backward", "probe map".
std::string title(const Function& f);

// The loop that runs kernel `n`, or null.
const Loop* loop_of(const Function& f, size_t n);
// What has a place of its own: the whole tensor of a step, else the tensor itself.
ir::TensorId whole_of(const Function& f, ir::TensorId t);
// Whether it is a part of another tensor, which has more elements along a dimension.
bool is_block(const Function& f, ir::TensorId t);
// Whether fewer steps of the whole tensor are in memory than its loop has.
bool is_rolled(const Function& f, const Slice& s);
// Whether the steps of a loop take all of the tensor of which `step` is one, each its own part.
bool is_taken_by(const Function& f, ir::TensorId step, const Loop& loop);
// Whether all steps are there, and each can be one piece of memory: not of the two planes of a
// log-sum-exp.
bool lies_by_step(const Function& f, const Slice& s);

// Those that there are, forward first, probes last.
std::vector<const Function*> functions(const Plan& plan);
std::vector<Function*> functions(Plan& plan);

// A model's gradient: the simplified graph, of whose tensors the first `shared` are forward's, and
// the maps that forward keeps for it, as kept_maps chose them before it was simplified.
struct Gradient {
  const ir::Graph& graph;
  size_t shared;
  std::vector<ir::TensorId> kept;
};

// Maps that forward will store, unmaterialised ones left out: a gradient had better read them than
// compute them again.
std::vector<ir::TensorId> kept_maps(const ir::Graph& forward, const Costs& costs);

// Warnings (category performance) name each definition that lowers slowly, its reader and the
// reason. `gradient` may be null.
Plan make_plan(const ir::Graph& forward, const Gradient* gradient, const Costs& costs,
               Diagnostics& diagnostics);

// A derivative that is called on its own: jvp or hvp.
Function plan_derivative(FunctionKind kind, const ir::Graph& g, const Costs& costs,
                         Diagnostics& diagnostics);

// The function that computes a probe, the one output of `probe`, which was elaborated with the
// model of `plan`: the first `shared` tensors are the same. It reads what forward
// of `plan` leaves, outputs and saved block, wherever `probe` would compute the same; nothing is
// saved for it alone. Its name is the number that it gets among the probes of `plan`: "probe0".
Function plan_probe(const ir::Graph& probe, size_t shared, const Plan& plan, const Costs& costs,
                    Diagnostics& diagnostics);

// The printed plan: kernels, loops, what is inlined, stored, saved; workspace and operations as
// formulas in the sizes. `schedule`: what else is known of a kernel, a line; may be null.
using Schedule = std::function<std::string(const Function& f, const Kernel& k)>;
std::string to_string(const Plan& plan, const Schedule& schedule = nullptr);

// Operations of a kernel as a formula in the sizes, an addition or a multiplication being one: what
// a point costs, for all points, also those that a condition hides.
ir::Poly operations(const ir::Graph& g, const Kernel& k);

// A size as people write it: "4*D", "T - 2".
std::string poly_text(const ir::Graph& g, const ir::Poly& p);

// The number of times that kernel `n` runs in a call.
ir::Poly runs(const Function& f, size_t n);

// Bytes of one element as kernels store it; the log-sum-exp of a tensor takes two planes of it.
int element_bytes(ir::Storage s);
// Elements in memory, planes included.
ir::Poly elements(const ir::Graph& g, ir::TensorId t);

}  // namespace attn::plan
