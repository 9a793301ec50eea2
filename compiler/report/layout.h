// A drawing of boxes and arrows from top to bottom, with boxes grouped in frames.
#pragma once

#include <vector>

#include "compiler/report/layers.h"

namespace attn::report {

// Lengths are in pixels, y points down; places are set by lay_out.
struct Node {
  double width = 0, height = 0;
  int group = -1;  // -1: none
  Point corner;    // upper left
};

struct Group {
  double label_width = 0;  // of its title, in the upper left corner
  int parent = -1;
  double width = 0, height = 0;
  Point corner;
};

struct Edge {
  int from = 0, to = 0;  // nodes
  // From the lower edge of one to the upper edge of the other: between points above one another an
  // upright line, else a curve that is upright at both ends.
  std::vector<Point> points;
};

struct Layout {
  std::vector<Node> nodes;
  std::vector<Group> groups;
  std::vector<Edge> edges;
  double width = 0, height = 0;
};

inline constexpr double kGroupTitle = 22;  // height of the strip with the title

// Boxes do not overlap, a group's frame holds its own and what stands between them and no others,
// and edges run through no box and no title. Edges must not form a cycle; where groups do, they
// are dropped.
void lay_out(Layout& layout);

}  // namespace attn::report
