// The kinds of kernels, and how each claims definitions.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "compiler/ir/uses.h"
#include "compiler/plan/plan.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {

// What the kernels of a segment are claimed from: a graph, and what is known of its definitions.
struct Open {
  const solve::Unmaterialised& unmaterialised;
  ir::Uses uses;                  // of the graph
  std::set<ir::TensorId> wanted;  // stored, also where only one kernel reads them
  // What some kernel computes, and the place in the graph where that one runs.
  std::map<ir::TensorId, size_t> claimed;
  size_t at = 0;  // the definition of the graph that is asked for
  std::map<ir::TensorId, std::vector<ir::TensorId>> epilogues;  // as epilogue_operands finds them

  // Whether a kernel computes it that does not run before the definition that is asked for.
  bool is_later(ir::TensorId t) const {
    const auto found = claimed.find(t);
    return found != claimed.end() && found->second >= at;
  }
};

// A kernel with its form, its definitions and the reason why it is slow; it runs where the
// definition of `at` stands.
struct Claimed {
  ir::TensorId at;
  Kernel kernel;
};

// Kernels that a kind would make. They are of `graph` where that is set: the graph that was asked
// about with further tensors, and with other definitions for what the kernels compute.
struct Proposal {
  std::vector<Claimed> kernels;
  std::optional<ir::Graph> graph;
};

struct KernelKind {
  const char *name, *brief;
  int effort;  // to compile one, beside the others: the longest are started first
  // What the kind would make of the definition `open.at` and of others with it. A pure function;
  // null where the claim of another kind makes these too.
  std::optional<Proposal> (*claim)(const ir::Graph& g, const Costs& costs, const Open& open);
};
// In the order in which they are asked: what a kind does not want is left to the next.
std::span<const KernelKind> kernel_kinds();
const KernelKind& kind_of(const Form& form);

std::optional<Proposal> claim_tiles(const ir::Graph& g, const Costs& costs, const Open& open);
std::optional<Proposal> claim_contraction(const ir::Graph& g, const Costs& costs, const Open& open);
std::optional<Proposal> claim_row(const ir::Graph& g, const Costs& costs, const Open& open);
std::optional<Proposal> claim_loops(const ir::Graph& g, const Costs& costs, const Open& open);

// A sum of products of two factors, matrices or, in a batch, each a matrix and a vector of its own
// (one vector for all rows is better read with what else reads the rows), alone or with the map
// that finishes it. `finish` may be null; it reads the sum at its own free indices only. `keep`:
// the sum is stored beside what finishes it.
std::optional<ContractionForm> contraction_of(const ir::Graph& g, const Costs& costs,
                                              const ir::Definition& sum,
                                              const ir::Definition* finish, bool keep = false);

// Of a sum of products of, in a batch, a matrix and a vector each: the index along which memory
// runs, so that vectors along it take both as they lie. It is one of the batch, or, where the
// matrix is a window over what is read, as in a convolution of each channel alone, one of the
// results or of the sum. Invalid: none.
ir::IndexId read_along(const ir::Graph& g, const Costs& costs, const ir::Definition& sum);

// Whether a sum of products mixes few planes to few others, r[b,g,i,j] = sum[h] a[g,h] s[b,h,i,j]:
// packing the planes takes longer than reading them as they lie, along j.
bool mixes_planes(const ir::Graph& g, const Costs& costs, const ir::Definition& sum);

// Of a sum that mixes planes, in whose memory the results may lie: the free index of its planes.
// Invalid: of no such sum.
ir::IndexId mixed_in_place(const ir::Graph& g, const Costs& costs, const ir::Definition& d);

// Whether a sum has few terms that lie along memory as the results do: plain loops are as fast as
// memory.
bool sums_in_registers(const ir::Graph& g, const Costs& costs, const ir::Definition& d);

// Of a running sum, where one term for each result pays: the index along which it runs. Else
// invalid.
ir::IndexId runs_along(const ir::Graph& g, const Costs& costs, const ir::Definition& d);

// Whether its factors are packed, each element once: a matrix times a vector is read where it lies.
bool packs(const ir::Graph& g, const Costs& costs, const ContractionForm& c);

// Takes a reduction over several indices, of which the last runs along memory, in two steps: over
// one index, then over the rest. Where memory runs along a free index that is not the target's
// last, rows are summed to a tensor in the order of memory, which is copied.
std::vector<ir::Definition> split_sum(ir::Graph& g, const Costs& costs, ir::Definition d);

}  // namespace attn::plan
