// The plan of a function: which kernels compute it, which tensors exist in memory, and where.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/segments.h"

namespace attn::plan {

// Where a tensor lives while the function runs.
enum class Place : uint8_t {
  given,      // in the caller's memory: inputs, parameters, cotangents
  result,     // an output, in the caller's memory
  forwarded,  // an output of forward that backward reads
  saved,      // in the block that forward leaves for backward
  workspace,
  step,  // a step of a whole tensor, which has a place of its own
  none,  // not in memory: a kernel computes it where it is read, or nothing reads it
};

// A sum of products of two factors. Index groups are in the order of the target's dimensions;
// every free index is in exactly one of batch, rows, columns.
struct Term {
  ir::Expr left, right;  // over (batch, rows, reduced) and (batch, columns, reduced)
  ir::Conditions left_guard, right_guard;  // outside them the factor counts as 0
  std::vector<ir::IndexId> reduced;
  // Data that a guard of the other factor hides is multiplied by 0. A factor so marked is packed
  // with non-finite values replaced by 0, and a fallback adds what may see them.
  bool left_leaks = false, right_leaks = false;
};

struct Contraction {
  std::vector<ir::IndexId> batch, rows, columns;
  std::vector<Term> terms;
  // The stored value: `sum` stands for the accumulated sum, everything else is over the free
  // indices.
  ir::TensorId sum;  // a tensor that does not exist, read in the epilogue at the free indices
  ir::Expr epilogue;
  ir::Conditions guard;          // of the target: 0 outside
  std::optional<ir::Expr> kept;  // the value of the sum, where that is stored too
};

// Definitions over common row indices and one group of column indices. A definition is a map over
// (row, column), a map over row, a reduction over columns to row, or over rows to column.
struct Row {
  std::vector<ir::IndexId> rows,
      columns;  // of the kernel; stage k renames its own indices to these
  // Definitions rewritten over `rows` and `columns`, in order.
  // Results may be written over what is read at the same place: all of a row is read before.
  bool in_place = false;
};

// A tensor over (batch, row, column) that exists in tiles only, or, without a name, the weight of a
// sum. A dot whose left factor is not of the batch and the rows only, or whose right one is not of
// the batch and the columns, is computed at each point on its own.
struct Tile {
  ir::TensorId tensor;
  std::vector<Term> dots;  // over (batch, row, reduced) and (batch, column, reduced); may be empty
  ir::TensorId dot;        // read in `value` for their sum
  ir::Expr value;          // reads earlier tiles at this place
  ir::Conditions visible;  // 0 elsewhere
};

// The log-sum-exp of each row of a tile, and the sum over the columns of exp(tile - lse) * weight *
// panel where there is one.
struct Streaming {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
  std::vector<Tile> tiles;  // the last is the argument of the log-sum-exp; `visible` is what counts
  ir::TensorId lse;
  std::vector<ir::IndexId> lse_free;
  bool lse_is_read = false;  // by tiles of other kernels
  struct Sum {
    ir::TensorId tensor;
    ir::Expr weight;         // over (batch, row, column)
    ir::Conditions counted;  // where it is not 0, beside what is visible
    ir::Expr panel;          // over (batch, column, feature)
    ir::Conditions panel_guard;
    bool panel_leaks = false;  // as in Term
    ir::IndexId feature;       // invalid for none
    ir::Expr scale;            // of the sum, over (batch, row, feature)
    std::vector<ir::IndexId> free;
  };
  std::optional<Sum> sum;
};

// Sums of products of a tile with a panel: over the columns to (batch, row, feature), over the rows
// to (batch, column, feature), or to a place of its own for each point.
struct TileSums {
  struct Result {
    ir::TensorId tensor;
    bool of_rows = true;  // else of columns
    size_t tile = 0;      // that weighs the panel
    ir::Expr panel;       // over (batch, the summed index, feature); 1 without a feature
    ir::Conditions panel_guard;
    bool panel_leaks = false;
    ir::IndexId feature;            // invalid for none
    ir::Expr scale;                 // of the sum, over (batch, the kept index, feature)
    std::vector<ir::IndexId> free;  // the dimensions, where there is no place
    // Over (batch, row, column), and the feature itself, one a dimension; empty: none. The panel is
    // over all of them then.
    std::vector<ir::Expr> place;
  };
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
  std::vector<Tile> tiles;  // in order
  std::vector<Result> results;
};

// Which columns the rows of a kernel of tiles may see, as far as data says: element [batch.., n] of
// `first` and `end` bounds, for all of the rows from n * kSpanRows on, as many, the columns
// [first, end) that some of them may see; none where first >= end.
struct Spans {
  ir::TensorId first, end;
  std::vector<ir::IndexId> batch;  // of the kernel, in its order
};
constexpr int kSpanRows = 16;

struct Kernel;

// A kind of kernel. The table in kinds.cpp lists them in the order in which they are asked.
struct KernelKind {
  const char* name;
  const char* brief;
  int effort;  // to compile one, beside the others: the dearest are started first
};

struct Kernel {
  const KernelKind* kind = nullptr;
  std::string name;  // of its symbol: MODEL_forward_3_q
  std::vector<ir::Definition>
      definitions;  // what it computes, with inlined maps substituted, in order
  std::vector<ir::TensorId> reads, writes;  // in memory
  std::vector<ir::SizeId> sizes;            // run-time sizes that it takes
  std::optional<Contraction> contraction;
  std::optional<Row> row;
  std::optional<Streaming> streaming;
  std::optional<TileSums> tile_sums;
  std::optional<Spans> spans;  // that a kernel of tiles reads
  std::string why;             // for a slow lowering: the reason, else empty
};

// Integer data used in a subscript, checked before anything is written: the least and greatest
// value of the subscript where its conditions hold must lie in [0, extent).
struct DataCheck {
  ir::TensorId lowest, highest;  // int scalars that check kernels write to the workspace
  ir::Poly extent;
  std::string data;  // the tensor that holds the data: "token"
  std::string read;  // the tensor that is read with it: "embedding"
};

// Tensors whose lives do not overlap share a slot; a slot is as large as its largest tensor.
struct Slot {
  std::vector<ir::TensorId> tensors;
};

// Kernels that compute one step of a recurrence, run for each of its steps in turn.
struct Loop {
  Steps steps;
  size_t first = 0, end = 0;  // of the function's kernels
};

struct Function {
  std::string name;                 // "forward", "backward", "jvp", "hvp", "probe0"
  ir::Graph graph;                  // as planned; tensor ids below are of this graph
  std::vector<Place> places;        // by tensor
  std::vector<ir::TensorId> saved;  // in the order of the saved block
  std::vector<Kernel> checks;       // run first
  std::vector<DataCheck> data_checks;
  std::vector<Kernel> kernels;  // in order
  std::vector<Loop> loops;      // in order
  std::vector<Slice> slices;    // of which some have Place::step
  std::vector<Slot> workspace;
};

// Everything that the compiled library holds of one model.
struct Plan {
  std::string model;
  ir::Graph forward_graph;                  // simplified
  std::optional<ir::Graph> gradient_graph;  // simplified
  Function forward;
  std::optional<Function> backward;
  std::optional<Function> jvp, hvp;  // which compute all that they need themselves
  std::vector<Function> probes;      // called after forward; each has one output
};

// Whether its graph has one output, a probe, which its name begins to say.
bool is_probe(const Function& f);
// What people call it: "backward", "probe map".
std::string title(const Function& f);

// Those that there are, forward first, probes last.
std::vector<const Function*> functions(const Plan& plan);

// `gradient`: the simplified gradient graph of `forward`, whose tensors of equal names are the
// same. Warnings (category performance) name each definition that lowers slowly, its reader and the
// reason.
Plan make_plan(const ir::Graph& forward, const ir::Graph* gradient, Diagnostics& diagnostics);

// Maps that forward will store, wide ones left out that no recurrence holds: a gradient had better
// read them than compute them again.
std::vector<ir::TensorId> kept_maps(const ir::Graph& forward);

// A derivative that is called on its own; `name` is "jvp" or "hvp".
Function plan_derivative(const std::string& name, const ir::Graph& g, Diagnostics& diagnostics);

// The function that computes a probe, the one output of `probe`, which was elaborated with the
// model of `plan`. It reads what `plan` has forward leave behind, outputs and saved block, wherever
// `probe` would compute the same; for it alone nothing is saved. Its name is the number that it
// gets among the probes of `plan`: "probe0".
Function plan_probe(const ir::Graph& probe, const Plan& plan, Diagnostics& diagnostics);

// The printed plan: kernels, loops, what is inlined, stored, saved; workspace and operations as
// formulas in the sizes.
std::string to_string(const Plan& plan);

// Operations of a kernel as a formula in the sizes, an addition or a multiplication being one: what
// a point costs, for all points, also those that a condition hides.
ir::Poly operations(const ir::Graph& g, const Kernel& k);

// A size as people write it: "4*D", "T - 2".
std::string poly_text(const ir::Graph& g, const ir::Poly& p);

// The number of times that kernel `n` runs in a call.
ir::Poly runs(const Function& f, size_t n);

// Bytes of one element as kernels store it; the log-sum-exp of a tensor takes two planes of it.
int element_bytes(ir::Storage s);
// True for tensors that a log-sum-exp defines: they are stored as two planes, the maximum and the
// logarithm of the rest, along a new outermost dimension of extent 2.
bool is_split(const ir::Graph& g, ir::TensorId t);
// Elements in memory, planes included.
ir::Poly elements(const ir::Graph& g, ir::TensorId t);

}  // namespace attn::plan
