// The passes of pass.h's pipelines. Each takes a legal graph and returns a legal graph in which
// every output has the same value at every call; each stands in a file of its name.
#pragma once

#include "compiler/ir/graph.h"

namespace attn::simplify {

// ---- guards (spread_guards.cpp)
// A sum or map is absent where one of its factors is: `z = sum[j] p*v` takes p's guard.
ir::Graph strengthen(const ir::Graph& g);
// A tensor takes the conditions that all its readers have.
ir::Graph demand(const ir::Graph& g);

// ---- within one definition
// Drops conditions that are implied, turns bounds of a reduced index into its range, and simplifies
// bodies under their guards. A sum that reduces nothing is a map.
ir::Graph fold(const ir::Graph& g);
// a*p + b*p  ->  (a + b)*p
ir::Graph factor(const ir::Graph& g);

// ---- between definitions
// Maps that cost nothing go into their readers: a literal, one read times scalars; and
// `log(p[i])` where p is an exponential becomes the exponent.
ir::Graph inline_trivial(const ir::Graph& g);
// An index of a reduction that is read as i // c and i % c becomes two.
ir::Graph split_indices(const ir::Graph& g);
// Two indices that unmaterialised tensors are summed over together become one, and so do rows that
// run over the same positions.
ir::Graph join_indices(const ir::Graph& g);
// A tensor that is read at one position of an axis has no such axis; an unmaterialised one that is
// read at several fixed ones is a tensor for each of them.
ir::Graph unstack(const ir::Graph& g);
// A map with one reader goes into it where no element would be computed twice.
ir::Graph inline_single(const ir::Graph& g);
// A subexpression that an earlier map computes, under conditions that imply the map's, is read.
ir::Graph find(const ir::Graph& g);
// An expensive subexpression over fewer indices than its definition becomes a map of its own.
ir::Graph hoist(const ir::Graph& g);
// One of equal definitions stays.
ir::Graph merge_equal(const ir::Graph& g);
// A carried tensor that is a copy of another of its recurrence is that one (copies.cpp).
ir::Graph merge_copies(const ir::Graph& g);
// Sums that are equal up to factors without a reduced index: one sum, the others maps of it.
ir::Graph merge_scaled(const ir::Graph& g);
// Sums of products are bracketed anew where that takes fewer points or passes; see brackets.h.
ir::Graph re_bracket(const ir::Graph& g);
// The same for sums of three or more factors and over unmaterialised tensors only: what a model
// says of two stays as it is.
ir::Graph order_products(const ir::Graph& g);
// An unmaterialised tensor read at fewer points than it has, `s[i,i]` or `g[b,target[b]]`, is
// computed there.
ir::Graph specialise(const ir::Graph& g);

}  // namespace attn::simplify
