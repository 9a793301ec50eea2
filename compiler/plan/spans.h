// What data says of the columns that rows may see.
#pragma once

#include <optional>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::plan {

// The conditions under which a kernel of tiles computes anything.
ir::Conditions visible_somewhere(const Streaming& s);
ir::Conditions visible_somewhere(const TileSums& s);

// What the spans of a kernel follow from: kernels that ask the same share them.
struct SpanQuery {
  std::vector<ir::IndexId> batch;
  ir::IndexId row, column;
  // That read data, and compare an integer of the row with one of the column, or are of the row or
  // the column alone; of several that all hold, some do, and of several of which one holds, all.
  ir::Conditions visible;
  auto operator<=>(const SpanQuery&) const = default;
};
SpanQuery span_query(const Kernel& kernel);

struct FoundSpans {
  Spans spans;
  std::vector<ir::Definition> definitions;  // of the spans and what they read, in order
};

// The spans, new tensors in `g`; nothing where data has no say. They come from the least and the
// greatest value of each group of rows and of columns: a pair of groups is out of sight where these
// exclude each other.
std::optional<FoundSpans> find_spans(ir::Graph& g, const SpanQuery& query);

}  // namespace attn::plan
