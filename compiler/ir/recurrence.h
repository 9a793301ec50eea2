// Recurrences: definitions that need each other, of which each step needs the one before it only.
//
//   h[b,t,n] = tanh(a[b,t,n] + (if t >= 1 then h[b,t-1,n] else 0))
//
// A graph does not mark them: they are what its reads say. Definitions that need each other in a
// cycle are one recurrence, and stand together in the list. Each has one free index, the step, by
// which all of the cycle read each other: at the step itself what stands before them, and one step
// back (t - 1, or t + 1 in a recurrence that runs down) anything. What depends on no earlier step
// is no part of it, wherever it was written.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::ir {

struct Recurrence {
  size_t first = 0;          // place of the first of its definitions in the graph's list
  std::vector<size_t> step;  // of each of them: which of its free indices is the step
  bool down = false;         // from the last step to the first
  size_t end() const { return first + step.size(); }
};

// A read that makes definitions need each other in a way that no order of steps allows.
struct Misread {
  size_t reader = 0;  // its place in the list
  Expr read;
};

// Puts definitions after what they read, and those of each recurrence side by side; the order stays
// as it is where it may. Returns a read that is in the way, if there is one; `g` is unchanged then.
std::optional<Misread> arrange(Graph& g);

// The recurrences of a graph in that order, first to last. InternalError, naming a read, where it
// is in no such order.
std::vector<Recurrence> recurrences(const Graph& g);

// Whether some definition reads what does not stand before it: a quick test for recurrences.
bool has_recurrences(const Graph& g);

// What each definition of a graph needs, to tell which reads may be added to it.
class Needs {
 public:
  explicit Needs(const Graph& g);
  // Whether `reader` may read so: it stands in no cycle with the definition of what is read, or
  // reads it at its own step. Of tensors made since, anything may be read.
  bool may_read(const Definition& reader, const Expr& read) const;
  // The same for all reads in `e`.
  bool may_hold(const Definition& reader, const Expr& e) const;
  // Whether both are defined in one recurrence.
  bool in_one(TensorId a, TensorId b) const;
  bool steps(TensorId t) const { return of_.count(t) > 0; }
  // Which subscript of a read is the step of its reader, which is part of a recurrence.
  std::optional<size_t> step_in(const Definition& reader, const Expr& read) const;

 private:
  struct Member {
    size_t recurrence, step;
  };
  std::map<TensorId, Member> of_;
};

// Tensors that some definition of their recurrence reads one step back.
std::set<TensorId> carried(const Graph& g);

}  // namespace attn::ir
