// Drawings that a reader can follow: nothing overlaps, and arrows go from box to box.
#include "compiler/report/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace attn::report {
namespace {

struct Rectangle {
  double left, top, right, bottom;
};

Rectangle of(const Node& n) {
  return {n.corner.x, n.corner.y, n.corner.x + n.width, n.corner.y + n.height};
}
Rectangle of(const Group& g) {
  return {g.corner.x, g.corner.y, g.corner.x + g.width, g.corner.y + g.height};
}
Rectangle title_of(const Group& g) {
  return {g.corner.x, g.corner.y, g.corner.x + g.label_width, g.corner.y + kGroupTitle};
}
bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
bool holds(const Rectangle& a, const Rectangle& b) {
  return a.left <= b.left && b.right <= a.right && a.top <= b.top && b.bottom <= a.bottom;
}
bool holds(const Layout& l, int group, int inner) {
  while (inner != group && inner >= 0) inner = l.groups[inner].parent;
  return inner == group;
}

// Points along an edge as it is drawn.
std::vector<Point> sampled(const Edge& e) {
  std::vector<Point> result;
  for (size_t k = 1; k < e.points.size(); ++k) {
    const Point a = e.points[k - 1], b = e.points[k];
    constexpr int kSteps = 24;
    for (int n = 0; n <= kSteps; ++n) {
      const double t = static_cast<double>(n) / kSteps, u = 1 - t;
      const double middle = (a.y + b.y) / 2;
      const double x = (u * u * u + 3 * u * u * t) * a.x + (3 * u * t * t + t * t * t) * b.x;
      const double y = u * u * u * a.y + 3 * u * t * middle + t * t * t * b.y;
      result.push_back({x, a.x == b.x ? u * a.y + t * b.y : y});
    }
  }
  return result;
}

void expect_readable(const Layout& l) {
  const Rectangle all{0, 0, l.width, l.height};
  for (size_t a = 0; a < l.nodes.size(); ++a) {
    EXPECT_TRUE(holds(all, of(l.nodes[a]))) << a;
    for (size_t b = a + 1; b < l.nodes.size(); ++b)
      EXPECT_FALSE(overlap(of(l.nodes[a]), of(l.nodes[b]))) << a << " and " << b;
    for (size_t g = 0; g < l.groups.size(); ++g) {
      const bool inside = holds(l, static_cast<int>(g), l.nodes[a].group);
      EXPECT_EQ(holds(of(l.groups[g]), of(l.nodes[a])), inside) << a << " in " << g;
      EXPECT_EQ(overlap(of(l.groups[g]), of(l.nodes[a])), inside) << a << " and " << g;
      EXPECT_FALSE(overlap(title_of(l.groups[g]), of(l.nodes[a]))) << a << " and title " << g;
    }
  }
  for (size_t a = 0; a < l.groups.size(); ++a)
    for (size_t b = 0; b < l.groups.size(); ++b) {
      if (a == b) continue;
      const int first = static_cast<int>(a), second = static_cast<int>(b);
      const bool around = holds(l, first, second), within = holds(l, second, first);
      EXPECT_EQ(holds(of(l.groups[a]), of(l.groups[b])), around) << a << " around " << b;
      EXPECT_EQ(overlap(of(l.groups[a]), of(l.groups[b])), around || within) << a << ", " << b;
    }
  for (const Edge& e : l.edges) {
    ASSERT_GE(e.points.size(), 2u);
    const Rectangle from = of(l.nodes[e.from]), to = of(l.nodes[e.to]);
    const Point begin = e.points.front(), end = e.points.back();
    EXPECT_NEAR(begin.y, from.bottom, 1e-6);
    EXPECT_TRUE(from.left <= begin.x && begin.x <= from.right);
    EXPECT_NEAR(end.y, to.top, 1e-6);
    EXPECT_TRUE(to.left <= end.x && end.x <= to.right);
    for (size_t k = 1; k < e.points.size(); ++k) EXPECT_GE(e.points[k].y, e.points[k - 1].y);
    for (const Point& p : sampled(e)) {
      const Rectangle dot{p.x - 0.01, p.y - 0.01, p.x + 0.01, p.y + 0.01};
      for (size_t n = 0; n < l.nodes.size(); ++n)
        EXPECT_FALSE(static_cast<int>(n) != e.from && static_cast<int>(n) != e.to &&
                     overlap(dot, of(l.nodes[n])))
            << e.from << " -> " << e.to << " over " << n;
      for (size_t g = 0; g < l.groups.size(); ++g)
        EXPECT_FALSE(overlap(dot, title_of(l.groups[g]))) << e.from << "->" << e.to << " title";
    }
  }
}

Node box(double width, int group = -1) { return {width, 30, group, {}}; }

TEST(Layout, OfNothingIsEmpty) {
  Layout l;
  lay_out(l);
  EXPECT_TRUE(l.edges.empty());
  EXPECT_GE(l.width, 0);
}

TEST(Layout, AChainGoesStraightDown) {
  Layout l{.nodes = {box(40), box(100), box(60)}, .edges = {{0, 1, {}}, {1, 2, {}}}};
  lay_out(l);
  expect_readable(l);
  for (const Edge& e : l.edges)
    for (const Point& p : e.points) EXPECT_NEAR(p.x, l.edges[0].points[0].x, 0.5);
}

TEST(Layout, AnEdgeOverSeveralRowsGoesRoundWhatIsBetween) {
  Layout l{.nodes = {box(40), box(90), box(90), box(40)},
           .edges = {{0, 1, {}}, {1, 2, {}}, {2, 3, {}}, {0, 3, {}}}};
  lay_out(l);
  expect_readable(l);
}

TEST(Layout, AGroupHasAFrameAndEdgesCrossItBetweenItsBoxes) {
  Layout l{.nodes = {box(50), box(60, 0), box(60, 0), box(60, 0), box(50), box(50)},
           .groups = {{80, -1, 0, 0, {}}},
           .edges = {
               {0, 1, {}}, {0, 2, {}}, {1, 3, {}}, {2, 3, {}}, {3, 4, {}}, {0, 4, {}}, {5, 3, {}}}};
  lay_out(l);
  ASSERT_EQ(l.groups.size(), 1u);
  expect_readable(l);
}

TEST(Layout, WhatStandsBetweenTwoOfAGroupComesIntoIt) {
  Layout l{.nodes = {box(50, 0), box(60), box(60, 0)},
           .groups = {{30, -1, 0, 0, {}}},
           .edges = {{0, 1, {}}, {1, 2, {}}}};
  lay_out(l);
  ASSERT_EQ(l.groups.size(), 1u);
  EXPECT_EQ(l.nodes[1].group, 0);
  expect_readable(l);
}

TEST(Layout, GroupsThatFormACycleAreDropped) {
  Layout l{.nodes = {box(50, 0), box(60, 1), box(60, 1), box(50, 0)},
           .groups = {{30, -1, 0, 0, {}}, {30, -1, 0, 0, {}}},
           .edges = {{0, 1, {}}, {2, 3, {}}}};
  lay_out(l);
  EXPECT_TRUE(l.groups.empty());
  expect_readable(l);
}

// Nodes in an order that edges follow; groups, some inside others, are stretches of it.
Layout random_layout(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t n) { return static_cast<int>(random() % n); };
  Layout l;
  const int count = 1 + below(24);
  for (int k = 0; k < count; ++k) l.nodes.push_back({20.0 + below(140), 20.0 + below(40), -1, {}});
  for (int b = 0; b < count; ++b)
    for (int tries = below(4); tries > 0 && b > 0; --tries) {
      const int a = below(static_cast<uint64_t>(b));
      const bool known = std::any_of(l.edges.begin(), l.edges.end(),
                                     [&](const Edge& e) { return e.from == a && e.to == b; });
      if (!known) l.edges.push_back({a, b, {}});
    }
  for (int begin = 0; begin < count;) {
    const int end = std::min(count, begin + 1 + below(8));
    if (below(2) == 0) {
      const int outer = static_cast<int>(l.groups.size());
      l.groups.push_back({30.0 + below(120), -1, 0, 0, {}});
      for (int k = begin; k < end; ++k) l.nodes[k].group = outer;
      if (end - begin > 3) {
        l.groups.push_back({30.0 + below(60), outer, 0, 0, {}});
        for (int k = begin + 1; k < end - 1; ++k) l.nodes[k].group = outer + 1;
      }
    }
    begin = end;
  }
  return l;
}

TEST(Layout, RandomGraphsInGroupsAreReadable) {
  size_t groups = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Layout l = random_layout(seed);
    const size_t wanted = l.groups.size();
    lay_out(l);
    EXPECT_EQ(l.groups.size(), wanted);
    groups += wanted;
    expect_readable(l);
    if (HasFailure()) return;
  }
  EXPECT_GT(groups, 100u);
}

}  // namespace
}  // namespace attn::report
