// The pipelines: which passes run, in which order, how often. Every pass is followed by the
// checker. docs/how-it-works.md, "Simplify", says why the order is this one.
#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/simplify/pass.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"

namespace attn::simplify {

using namespace ir;

namespace {

constexpr Pass kSpreadGuards{"spread-guards", "give conditions to all that they hide",
                             spread_guards};
constexpr Pass kFold{"fold", "drop what conditions and ranges imply", fold};
constexpr Pass kStrengthen{"strengthen", "give sums and maps the guards of their factors",
                           strengthen};
constexpr Pass kInlineTrivial{"inline-trivial", "substitute maps that cost nothing",
                              inline_trivial};
constexpr Pass kSplitIndices{"split-indices", "take an index that stands for two for two",
                             split_indices};
constexpr Pass kJoinIndices{"join-indices", "take two indices that are summed together for one",
                            join_indices};
constexpr Pass kUnstack{"unstack", "compute what is read at fixed positions of an axis there alone",
                        unstack};
constexpr Pass kFind{"find", "read what an earlier map computes already", find};
constexpr Pass kHoist{"hoist", "compute expensive subexpressions over their own indices", hoist};
constexpr Pass kMergeEqual{"merge-equal", "keep one of equal definitions", merge_equal};
constexpr Pass kMergeCopies{"merge-copies", "keep one of what a recurrence carries twice",
                            merge_copies};
constexpr Pass kMergeScaled{"merge-scaled", "keep one of sums that are equal up to a factor",
                            merge_scaled};
constexpr Pass kReBracket{"re-bracket", "reuse a sum that exists, or take the cheaper order",
                          re_bracket};
constexpr Pass kOrder{"order", "sum products of many factors in the cheaper order", order_products};
constexpr Pass kDropUnused{"drop-unused", "drop what no output reads", drop_unused};
constexpr Pass kInlineSingle{"inline-single", "substitute maps into their only reader",
                             inline_single};
constexpr Pass kDemand{"demand", "give tensors the guards of their readers", demand};
constexpr Pass kSpecialise{"specialise", "compute unmaterialised tensors where they are read",
                           specialise};
constexpr Pass kFactor{"factor", "collect the factors that terms share", factor};

// All by name, for `emit --after=NAME` and the help.
constexpr Pass kPipeline[] = {kSpreadGuards, kFold,        kStrengthen,  kInlineTrivial,
                              kSplitIndices, kJoinIndices, kUnstack,     kFind,
                              kHoist,        kMergeEqual,  kMergeCopies, kMergeScaled,
                              kReBracket,    kOrder,       kDropUnused,  kInlineSingle,
                              kSpecialise,   kDemand,      kFactor};

// Derivatives are taken of joined indices, and so have them.
constexpr Pass kForwardRound[] = {kFold,  kInlineTrivial, kSplitIndices, kJoinIndices, kUnstack,
                                  kHoist, kMergeEqual,    kMergeCopies,  kOrder,       kDropUnused};

// Repeated until nothing changes. Forward tensors are still there, for re-bracketing to read.
constexpr Pass kGradientRound[] = {kFold,        kStrengthen, kInlineTrivial, kSplitIndices,
                                   kFind,        kHoist,      kMergeEqual,    kMergeCopies,
                                   kMergeScaled, kReBracket,  kDropUnused};
// Guards taken on early stop other places from matching, and what is inlined early is found again
// for ever; so both come last.
constexpr Pass kGradientEnd[] = {kDropUnused, kSpecialise, kDropUnused, kInlineSingle, kDropUnused,
                                 kDemand,     kFold,       kFactor,     kDropUnused};
constexpr int kMostRounds = 6;

// Runs the passes; true when one of them changed a definition.
bool run(std::span<const Pass> list, Graph& g, const Trace& trace) {
  bool changed = false;
  for (const Pass& pass : list) {
    Graph next = pass.run(g);
    // What a pass has taken out of a recurrence, or put between, goes to its place.
    ATTN_CHECK(!arrange(next), std::string(pass.name) + " has torn a recurrence");
    if (next.definitions == g.definitions) continue;
    verify(next, pass.name);
    g = std::move(next);
    changed = true;
    if (trace) trace(pass, g);
  }
  return changed;
}

void run_rounds(std::span<const Pass> list, Graph& g, const Trace& trace) {
  for (int round = 0; round < kMostRounds && run(list, g, trace); ++round) {
  }
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

Graph simplify(const Graph& g, const Trace& trace) {
  Graph result = g;
  run_rounds(kForwardRound, result, trace);
  return result;
}

Graph simplify_gradient(const Graph& g, const std::vector<TensorId>& forward_outputs,
                        const std::vector<TensorId>& kept, const Trace& trace) {
  Graph result = g;
  // Outputs are never inlined nor dropped, and so is nothing that they read.
  auto protect = [&](const std::vector<TensorId>& tensors, bool (*wanted)(const Graph&, TensorId)) {
    for (TensorId t : tensors) {
      bool given = result.is_output(t);
      if (!given && wanted(result, t)) result.outputs.push_back({g[t].name, t});
    }
  };
  auto is_defined = [](const Graph& r, TensorId t) { return r.definition_of(t) != nullptr; };
  protect(forward_outputs, [](const Graph&, TensorId) { return true; });
  run_rounds(kGradientRound, result, trace);
  // What is read of them stays a read: the caller has it, and need not compute it again.
  result.outputs = g.outputs;
  result = drop_unused(result);
  protect(forward_outputs, is_defined);
  protect(kept, is_defined);
  run(kGradientEnd, result, trace);
  result.outputs = g.outputs;
  run(std::span(&kDropUnused, 1), result, trace);
  return result;
}

}  // namespace attn::simplify
