// One level of a layered drawing: boxes in rows, links from row to row.
#pragma once

#include <optional>
#include <vector>

namespace attn::report {

struct Point {
  double x = 0, y = 0;
};

// Lengths are in pixels, y points down.
struct Item {
  enum class Kind {
    box,
    label,  // stands first in the first row
    entry,  // a place on the upper edge, without extent
    exit,   // one on the lower edge
  };
  Kind kind = Kind::box;
  double width = 0, height = 0;
  Point corner;  // upper left; set by arrange
};

// From the lower edge of an item to the upper edge of another.
struct Link {
  int from = 0, to = 0;  // items
  int source = 0;        // links of one source from one item share their way as far as they can
  double leaves = 0;     // from the item's left side
  std::optional<double> arrives;  // the same at the other end; nothing: spread evenly
  std::vector<Point> points;      // set by arrange: upright lines and, between rows, curves
};

struct Level {
  std::vector<Item> items;
  std::vector<Link> links;
  double width = 0, height = 0;  // set by arrange
};

// Places the items so that links point down and stay clear of boxes. False, with nothing changed,
// where links form a cycle.
bool arrange(Level& level);

}  // namespace attn::report
