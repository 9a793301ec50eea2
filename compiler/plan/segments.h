// Divides the definitions of a function into what is planned together: each recurrence on its own,
// what each state becomes, which changes its memory, and what stands between them.
//
// A recurrence is planned as the graph of one step. The step is a size of that graph, which a loop
// around its kernels counts through; a tensor of the recurrence is known by its place at the step:
// h.t[b,n] for h[t,b,n]. What is read one step back is read from the whole tensor; of one that rolls
// there are two steps, in turn: h[(step - 1) % 2,b,n] is the step before, and h[(T - 1) % 2,b,n]
// the last one for what reads it later. What forward saved step by step is known by its place too,
// where each step reads its own alone. A sum over the steps grows with each of them:
//
//   w.term.t[n] = sum[b] h.t[b,n]
//   w.t[n]      = (if step >= 1 then w[n] else 0) + w.term.t[n]    for w[n] = sum[t,b] h[t,b,n]
//
// A sum that is taken in blocks of its terms is such a segment, too: each step has a block of a
// dimension in the place of one element.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/plan/rolling.h"
#include "compiler/plan/term_blocks.h"

namespace attn::plan {

struct Steps {
  ir::SizeId step;  // counts from 0, or down to it
  ir::Poly count;
  bool down = false;
};

// A tensor of a loop at one step.
struct Slice {
  ir::TensorId tensor, whole;
  // Of the whole, of which each step has one element, and the tensor lacks it. None: each step
  // writes all of the whole, a sum over steps.
  std::optional<size_t> dimension = 0;
  // Each step has so many elements of the dimension, which the tensor keeps; 0: one.
  int64_t block = 0;
};

struct Segment {
  std::vector<ir::Definition> definitions;
  std::vector<ir::Output> outputs;  // of these definitions, that anything outside of them reads
  std::optional<Steps> steps;       // of a loop
  std::vector<Slice> slices;        // of what the loop computes
  std::vector<Slice> given;         // of what forward saved; in blocks, of anything else
  std::set<ir::TensorId> apart;  // maps of which each is computed by a kernel of its own
};

// A size of the graph that counts the steps of a loop over an index.
ir::SizeId new_step(ir::Graph& g, ir::IndexId index, const std::string& suffix);

// Steps of a tensor that rolls; which of them is the one before, and after a loop of a known number
// of steps the last one.
constexpr int kRolled = 2;
ir::Expr step_before(const Steps& steps);
ir::Expr step_at_end(const ir::Graph& g, const Steps& steps);
// Whether a step is not the first.
ir::Expr is_later(const Steps& steps);

// The segments in order; `g` gets their sizes and slices, and keeps its definitions; what rolls has
// two steps. Its outputs stay outputs of their segments, a slice in the place of its whole. `apart`:
// sums over steps to which a kernel of its own adds the term of a step. `saved`: by forward.
std::vector<Segment> segments_of(ir::Graph& g, const Rolling& rolling = {},
                                 const std::set<ir::TensorId>& apart = {},
                                 const std::vector<ir::TensorId>& saved = {},
                                 const std::vector<TermBlocks>& blocks = {});

// The graph that computes one of them.
ir::Graph graph_of(ir::Graph g, const Segment& s);

}  // namespace attn::plan
