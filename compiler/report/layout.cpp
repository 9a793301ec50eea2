// Every group is a level of its own, laid out first and then a box of the level around it. An edge
// that crosses a frame does so at a place on its upper or lower edge, which both levels know.
#include "compiler/report/layout.h"

#include <map>
#include <set>

#include "compiler/base/check.h"

namespace attn::report {
namespace {

constexpr double kPadding = 12;  // between a frame and what it holds

// One group's level, and what its items are.
struct Frame {
  Level level;
  std::map<int, int> nodes, groups;                         // to items
  std::map<int, int> entries, exits;                        // of an edge's source, to items
  std::map<std::pair<int, int>, std::map<int, int>> links;  // (from, to) items and source
  int label = -1;
};

class Placer {
 public:
  explicit Placer(Layout& layout) : l_(layout), frames_(layout.groups.size() + 1) {}

  bool run() {
    if (!place(-1)) return false;
    const Frame& root = frames_[0];
    l_.width = root.level.width + 2 * kPadding;
    l_.height = root.level.height + 2 * kPadding;
    settle(-1, {kPadding, kPadding});
    for (Edge& e : l_.edges) route(e);
    return true;
  }

 private:
  Frame& frame(int group) { return frames_[static_cast<size_t>(group + 1)]; }

  // Whether the node is in the group or in a group of it.
  bool holds(int group, int node) const {
    int g = l_.nodes[node].group;
    while (g != group && g >= 0) g = l_.groups[g].parent;
    return g == group;
  }

  // The child of `group` that the node is, or is in.
  int item_of(int group, int node) {
    int g = l_.nodes[node].group;
    if (g == group) return frame(group).nodes.at(node);
    while (l_.groups[g].parent != group) g = l_.groups[g].parent;
    return frame(group).groups.at(g);
  }

  int add_item(Frame& f, Item item) {
    f.level.items.push_back(item);
    return static_cast<int>(f.level.items.size()) - 1;
  }

  bool place(int group) {
    Frame& f = frame(group);
    if (group >= 0)
      f.label = add_item(f, {Item::Kind::label, l_.groups[group].label_width, kGroupTitle, {}});
    for (size_t n = 0; n < l_.nodes.size(); ++n)
      if (l_.nodes[n].group == group)
        f.nodes[static_cast<int>(n)] =
            add_item(f, {Item::Kind::box, l_.nodes[n].width, l_.nodes[n].height, {}});
    for (size_t k = 0; k < l_.groups.size(); ++k) {
      if (l_.groups[k].parent != group) continue;
      const int child = static_cast<int>(k);
      if (!place(child)) return false;
      f.groups[child] = add_item(f, {Item::Kind::box, l_.groups[k].width, l_.groups[k].height, {}});
    }
    for (const Edge& e : l_.edges) add_link(group, e);
    if (!arrange(f.level)) return false;
    if (group < 0) return true;
    l_.groups[group].width = f.level.width + 2 * kPadding;
    l_.groups[group].height = f.level.height + (f.exits.empty() ? kPadding : 0);
    return true;
  }

  void add_link(int group, const Edge& e) {
    const bool from_here = holds(group, e.from), to_here = holds(group, e.to);
    if (!from_here && !to_here) return;
    Frame& f = frame(group);
    auto port = [&](std::map<int, int>& ports, Item::Kind kind) {
      const auto [it, fresh] = ports.try_emplace(e.from, 0);
      if (fresh) it->second = add_item(f, {kind, 0, 0, {}});
      return it->second;
    };
    const int from = from_here ? item_of(group, e.from) : port(f.entries, Item::Kind::entry);
    const int to = to_here ? item_of(group, e.to) : port(f.exits, Item::Kind::exit);
    if (from == to) return;  // inside one child
    const auto [it, fresh] = f.links[{from, to}].try_emplace(e.from, 0);
    if (!fresh) return;
    it->second = static_cast<int>(f.level.links.size());
    Link link{from, to, e.from, f.level.items[from].width / 2, std::nullopt, {}};
    if (const int child = child_at(f, from); child >= 0)
      link.leaves = port_x(child, frame(child).exits.at(e.from));
    if (const int child = child_at(f, to); child >= 0)
      link.arrives = port_x(child, frame(child).entries.at(e.from));
    f.level.links.push_back(std::move(link));
  }

  static int child_at(const Frame& f, int item) {
    for (const auto& [group, of] : f.groups)
      if (of == item) return group;
    return -1;
  }

  double port_x(int group, int item) { return kPadding + frame(group).level.items[item].corner.x; }

  // From places within a level to places in the drawing.
  void settle(int group, Point corner) {
    Frame& f = frame(group);
    origin_[group] = corner;
    auto at = [&](int item) {
      const Point p = f.level.items[item].corner;
      return Point{corner.x + p.x, corner.y + p.y};
    };
    for (const auto& [node, item] : f.nodes) l_.nodes[node].corner = at(item);
    for (const auto& [child, item] : f.groups) {
      l_.groups[child].corner = at(item);
      settle(child, {at(item).x + kPadding, at(item).y});
    }
  }

  void append(Edge& e, int group, int from, int to) {
    const Frame& f = frame(group);
    const Link& link = f.level.links[f.links.at({from, to}).at(e.from)];
    const Point origin = origin_.at(group);
    for (const Point& p : link.points) {
      const Point moved{origin.x + p.x, origin.y + p.y};
      if (e.points.empty() || e.points.back().x != moved.x || e.points.back().y != moved.y)
        e.points.push_back(moved);
    }
  }

  // Out of the groups that hold only its beginning, and into those that hold only its end.
  void route(Edge& e) {
    int g = l_.nodes[e.from].group;
    for (; !holds(g, e.to); g = l_.groups[g].parent)
      append(e, g, item_of(g, e.from), frame(g).exits.at(e.from));
    append(e, g, item_of(g, e.from), item_of(g, e.to));
    std::vector<int> inwards;
    for (int in = l_.nodes[e.to].group; in != g; in = l_.groups[in].parent) inwards.push_back(in);
    for (auto in = inwards.rbegin(); in != inwards.rend(); ++in)
      append(e, *in, frame(*in).entries.at(e.from), item_of(*in, e.to));
  }

  Layout& l_;
  std::vector<Frame> frames_;  // of no group, and of every one
  std::map<int, Point> origin_;
};

}  // namespace

namespace {

// The nodes that edges lead to from a group, or from which they lead to it.
std::vector<bool> reached(const Layout& l, const std::vector<bool>& from, bool backwards) {
  std::vector<bool> result = from;
  for (bool more = true; more;) {
    more = false;
    for (const Edge& e : l.edges) {
      const int a = backwards ? e.to : e.from, b = backwards ? e.from : e.to;
      if (!result[a] || result[b]) continue;
      result[b] = more = true;
    }
  }
  return result;
}

// What stands between two nodes of a group comes into it from the group around: a result that the
// block's caller named, say.
void close_groups(Layout& l) {
  for (size_t g = 0; g < l.groups.size(); ++g) {
    const int group = static_cast<int>(g);
    std::vector<bool> inside(l.nodes.size());
    for (size_t n = 0; n < l.nodes.size(); ++n)
      for (int at = l.nodes[n].group; at >= 0; at = l.groups[at].parent)
        if (at == group) inside[n] = true;
    const std::vector<bool> after = reached(l, inside, false), before = reached(l, inside, true);
    for (size_t n = 0; n < l.nodes.size(); ++n)
      if (!inside[n] && after[n] && before[n] && l.nodes[n].group == l.groups[g].parent)
        l.nodes[n].group = group;
  }
}

}  // namespace

void lay_out(Layout& layout) {
  close_groups(layout);
  if (Placer(layout).run()) return;
  layout.groups.clear();
  for (Node& n : layout.nodes) n.group = -1;
  ATTN_CHECK(Placer(layout).run(), "a drawing whose edges form a cycle");
}

}  // namespace attn::report
