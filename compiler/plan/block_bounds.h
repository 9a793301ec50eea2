// What data says of the columns that rows may see.
#pragma once

#include <optional>
#include <vector>

#include "compiler/plan/form.h"

namespace attn::plan {

// What the bounds of a kernel follow from: kernels that ask the same share them.
struct BoundsQuery {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
  // Conditions that read data and compare an integer of the row with one of the column, or depend
  // on the row or the column alone. A conjunction qualifies if one conjunct does, a disjunction
  // only if every disjunct does.
  ir::Conditions visible;
  auto operator<=>(const BoundsQuery&) const = default;
};
BoundsQuery bounds_query(const TilesForm& form);

struct FoundBounds {
  BlockBounds bounds;
  std::vector<ir::Definition> definitions;  // of the bounds and what they read, in order
};

// The bounds, new tensors in `g`; nothing where no condition reads data. They come from the least
// and the greatest value of each block of rows and of columns: no row of a block sees a column of
// another where these exclude each other.
std::optional<FoundBounds> find_bounds(ir::Graph& g, const BoundsQuery& query);

}  // namespace attn::plan
