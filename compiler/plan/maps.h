// Decides which maps never exist in memory, and puts their bodies where they are read.
#pragma once

#include <map>
#include <set>

#include "compiler/ir/graph.h"
#include "compiler/solve/unmaterialised.h"
#include "compiler/target/target.h"

namespace attn::plan {

// The definitions of `g`, in order, with the maps of `gone` substituted into their readers (under
// the conditions known there) and left out.
std::vector<ir::Definition> substitute_maps(const ir::Graph& g, const std::set<ir::TensorId>& gone);

// One definition, with the bodies of `maps` (which read none of each other) in place of their
// reads.
ir::Definition substitute_maps(const ir::Graph& g, ir::Definition d,
                               const std::map<ir::TensorId, ir::Definition>& maps);

// Computes elements of unmaterialised tensors again where they are read at fewer points than they
// have (the score of one target among all): no such read needs the tensor.
std::vector<ir::Definition> compute_gathered(ir::Graph& g,
                                             const solve::Unmaterialised& unmaterialised);

// Interior maps to substitute: those of a few cheap operations, and those with one reader whose
// work does not grow by it. A map that can be the epilogue of a sum stays: the sum goes instead. So
// do one that is compared for equality, where its value might differ between two kernels, and one
// that is less to read than what it is made of, where memory decides.
std::set<ir::TensorId> choose_inlined(const ir::Graph& g, const target::Costs& costs);

// For each map the sums that it can finish: interior sums over the same points, read by nothing
// else, and by the map at its own free indices only. In the order of their tensors.
std::map<ir::TensorId, std::vector<ir::TensorId>> epilogue_operands(const ir::Graph& g,
                                                                    const target::Costs& costs);

}  // namespace attn::plan
