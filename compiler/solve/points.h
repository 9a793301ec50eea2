// How many points a domain has, where run-time sizes count as some typical number.
#pragma once

#include <set>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::solve {

// What a run-time size counts as where no bound is known and only a number decides: the length of a
// common sequence. Not measured.
constexpr int64_t kTypicalSize = 1024;
// The same for the order in which a product is summed, which matters where sequences are long.
constexpr int64_t kLongSize = 4096;

class Points {
 public:
  Points(const ir::Graph& g, int64_t unknown);
  double of(const ir::Poly& extent) const;  // at least 1
  double of(const std::vector<ir::Poly>& extents) const;
  // Of indices of `g`, which may be newer than this object.
  double of(const ir::Graph& g, const std::set<ir::IndexId>& indices) const;

 private:
  std::vector<double> sizes_;
};

}  // namespace attn::solve
