// Sugiyama's method: rows by the longest way, few crossings by barycentres, and then positions that
// keep links straight. A link over several rows has a cell of its own in each, so that no box
// stands in its way.
#include "compiler/report/layers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace attn::report {
namespace {

constexpr double kBesideBox = 22, kBesideLink = 12;  // between neighbours in a row
constexpr double kBetweenRows = 30;
constexpr double kBetweenArrivals = 14;

// A box, or the place in a row that a link passes through.
struct Cell {
  int item = -1;
  int row = 0;
  double width = 0;
  double x = 0;               // left side
  std::vector<int> up, down;  // wires
};

// A piece of links between neighbouring rows, `at` from the left sides of its cells.
struct Wire {
  int from = 0, to = 0;
  double leaves = 0, arrives = 0;
  double weight = 1;
};

class Arranger {
 public:
  explicit Arranger(Level& level) : level_(level) {}

  bool run() {
    if (!find_rows()) return false;
    make_cells();
    order_rows();
    spread_arrivals();
    place_across();
    place_down();
    draw_links();
    return true;
  }

 private:
  bool find_rows() {
    const size_t count = level_.items.size();
    std::vector<int> row(count, 0), open(count, 0);
    bool entries = false, exits = false;
    for (const Item& item : level_.items) {
      entries = entries || item.kind == Item::Kind::entry || item.kind == Item::Kind::label;
      exits = exits || item.kind == Item::Kind::exit;
    }
    std::vector<std::vector<int>> after(count);
    for (const Link& l : level_.links) after[l.from].push_back(l.to), ++open[l.to];
    std::vector<int> ready;
    for (size_t k = 0; k < count; ++k) {
      if (entries && level_.items[k].kind == Item::Kind::box) row[k] = 1;
      if (open[k] == 0) ready.push_back(static_cast<int>(k));
    }
    size_t done = 0;
    for (; done < ready.size(); ++done)
      for (int next : after[ready[done]]) {
        row[next] = std::max(row[next], row[ready[done]] + 1);
        if (--open[next] == 0) ready.push_back(next);
      }
    if (done != count) return false;
    int last = 0;
    for (size_t k = 0; k < count; ++k) {
      const bool on_edge = level_.items[k].kind == Item::Kind::exit;
      last = std::max(last, on_edge ? row[k] : row[k] + (exits ? 1 : 0));
    }
    for (size_t k = 0; k < count; ++k)
      if (level_.items[k].kind == Item::Kind::exit) row[k] = last;
    // What nothing leads to stands near to what it leads to.
    std::vector<bool> has_above(count, false);
    for (const Link& l : level_.links) has_above[l.to] = true;
    for (size_t k = 0; k < count; ++k) {
      if (has_above[k] || level_.items[k].kind != Item::Kind::box || after[k].empty()) continue;
      int nearest = last;
      for (int next : after[k]) nearest = std::min(nearest, row[next] - 1);
      row[k] = std::max(row[k], nearest);
    }
    rows_.resize(static_cast<size_t>(last) + 1);
    row_ = std::move(row);
    return true;
  }

  int new_cell(int item, int row, double width) {
    cells_.push_back({item, row, width, 0, {}, {}});
    rows_[row].push_back(static_cast<int>(cells_.size()) - 1);
    return static_cast<int>(cells_.size()) - 1;
  }

  void make_cells() {
    for (size_t k = 0; k < level_.items.size(); ++k)
      new_cell(static_cast<int>(k), row_[k], level_.items[k].width);
    std::map<std::tuple<int, int, int>, int> passing;  // by item, source and row
    std::map<std::pair<int, int>, int> wires;
    ways_.resize(level_.links.size());
    for (size_t n = 0; n < level_.links.size(); ++n) {
      const Link& l = level_.links[n];
      int at = l.from;
      for (int r = row_[l.from] + 1; r <= row_[l.to]; ++r) {
        int next = l.to;
        if (r < row_[l.to]) {
          const auto [it, fresh] = passing.try_emplace({l.from, l.source, r}, 0);
          if (fresh) it->second = new_cell(-1, r, 0);
          next = it->second;
        }
        const bool last = next == l.to;
        // Two sources may lead from one group to one box, but each has its own way there.
        auto found = last ? wires.end() : wires.find({at, next});
        if (found == wires.end()) {
          const int through = (cells_[at].item < 0) + (cells_[next].item < 0);
          wires_.push_back({at, next, at == l.from ? l.leaves : 0,
                            last ? l.arrives.value_or(cells_[next].width / 2) : 0,
                            through == 0   ? 1.0
                            : through == 1 ? 2.0
                                           : 8.0});
          const int wire = static_cast<int>(wires_.size()) - 1;
          cells_[at].down.push_back(wire);
          cells_[next].up.push_back(wire);
          found = wires.insert_or_assign({at, next}, wire).first;
        }
        ways_[n].push_back(found->second);
        at = next;
      }
    }
  }

  // ---- order within rows

  bool is_label(int cell) const {
    const int item = cells_[cell].item;
    return item >= 0 && level_.items[item].kind == Item::Kind::label;
  }

  void number_places() {
    place_.resize(cells_.size());
    for (const std::vector<int>& row : rows_)
      for (size_t k = 0; k < row.size(); ++k) place_[row[k]] = static_cast<double>(k);
  }

  // Where the wires of a cell lead, on the average; its own place where there is none.
  double barycentre(int cell, bool upwards) const {
    const std::vector<int>& wires = upwards ? cells_[cell].up : cells_[cell].down;
    if (wires.empty()) return place_[cell];
    double sum = 0;
    for (int w : wires) {
      const Wire& wire = wires_[w];
      const int other = upwards ? wire.from : wire.to;
      const double at = upwards ? wire.leaves : wire.arrives;
      // Where it leaves a wide box decides between wires of the same box.
      sum += place_[other] + 0.5 * at / std::max(cells_[other].width, 1.0);
    }
    return sum / static_cast<double>(wires.size());
  }

  void sort_row(std::vector<int>& row, bool upwards) {
    std::vector<std::pair<double, int>> keys;
    for (int c : row)
      keys.emplace_back(
          is_label(c) ? -std::numeric_limits<double>::infinity() : barycentre(c, upwards), c);
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t k = 0; k < row.size(); ++k) {
      row[k] = keys[k].second;
      place_[row[k]] = static_cast<double>(k);
    }
  }

  int crossings() const {
    int count = 0;
    for (const std::vector<int>& row : rows_) {
      std::vector<std::pair<double, double>> ends;
      for (int c : row)
        for (int w : cells_[c].down)
          ends.emplace_back(place_[c] + 0.5 * wires_[w].leaves / std::max(cells_[c].width, 1.0),
                            place_[wires_[w].to] + 0.5 * wires_[w].arrives /
                                                       std::max(cells_[wires_[w].to].width, 1.0));
      for (size_t a = 0; a < ends.size(); ++a)
        for (size_t b = a + 1; b < ends.size(); ++b)
          count += (ends[a].first - ends[b].first) * (ends[a].second - ends[b].second) < 0;
    }
    return count;
  }

  void order_rows() {
    constexpr int kSweeps = 12;
    number_places();
    for (auto& row : rows_) sort_row(row, true);
    std::vector<std::vector<int>> best = rows_;
    int fewest = crossings();
    for (int sweep = 0; sweep < kSweeps && fewest > 0; ++sweep) {
      if (sweep % 2 == 0)
        for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) sort_row(*row, false);
      else
        for (auto& row : rows_) sort_row(row, true);
      const int now = crossings();
      if (now >= fewest) continue;
      fewest = now;
      best = rows_;
    }
    rows_ = best;
    number_places();
  }

  // Wires that may arrive anywhere at a box come side by side, in the order of where they are from.
  void spread_arrivals() {
    std::vector<bool> fixed(wires_.size(), true);
    for (size_t n = 0; n < ways_.size(); ++n)
      if (!level_.links[n].arrives) fixed[ways_[n].back()] = false;
    for (Cell& cell : cells_) {
      std::vector<int> open;
      for (int w : cell.up)
        if (cell.item >= 0 && !fixed[w]) open.push_back(w);
      std::stable_sort(open.begin(), open.end(), [&](int a, int b) {
        const Wire &x = wires_[a], &y = wires_[b];
        return std::pair(place_[x.from], x.leaves) < std::pair(place_[y.from], y.leaves);
      });
      const double count = static_cast<double>(open.size());
      const double apart = std::min(kBetweenArrivals, cell.width / (count + 1));
      for (size_t k = 0; k < open.size(); ++k)
        wires_[open[k]].arrives =
            cell.width / 2 + apart * (static_cast<double>(k) - (count - 1) / 2);
    }
  }

  // ---- positions

  double apart(int left, int right) const {
    const bool boxes = cells_[left].item >= 0 && cells_[right].item >= 0;
    return cells_[left].width + (boxes ? kBesideBox : kBesideLink);
  }

  // The positions in a row nearest to the wanted ones that keep order and distance: the average
  // over each block of neighbours that would overlap (isotonic regression).
  void settle(const std::vector<int>& row, const std::vector<double>& wanted,
              const std::vector<double>& weight) {
    struct Block {
      double sum, weight;
      size_t count;
      double mean() const { return sum / weight; }
    };
    std::vector<double> offset(row.size(), 0);
    for (size_t k = 1; k < row.size(); ++k) offset[k] = offset[k - 1] + apart(row[k - 1], row[k]);
    std::vector<Block> blocks;
    for (size_t k = 0; k < row.size(); ++k) {
      blocks.push_back({(wanted[k] - offset[k]) * weight[k], weight[k], 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back().sum += last.sum;
        blocks.back().weight += last.weight;
        blocks.back().count += last.count;
      }
    }
    size_t k = 0;
    for (const Block& b : blocks)
      for (size_t n = 0; n < b.count; ++n, ++k) cells_[row[k]].x = b.mean() + offset[k];
  }

  void settle_row(const std::vector<int>& row, bool above, bool below) {
    constexpr double kStay = 0.05;
    std::vector<double> wanted, weight;
    for (int c : row) {
      const Cell& cell = cells_[c];
      double sum = kStay * cell.x, all = kStay;
      if (above)
        for (int w : cell.up) {
          const Wire& wire = wires_[w];
          sum += wire.weight * (cells_[wire.from].x + wire.leaves - wire.arrives);
          all += wire.weight;
        }
      if (below)
        for (int w : cell.down) {
          const Wire& wire = wires_[w];
          sum += wire.weight * (cells_[wire.to].x + wire.arrives - wire.leaves);
          all += wire.weight;
        }
      wanted.push_back(sum / all);
      weight.push_back(all);
    }
    settle(row, wanted, weight);
  }

  void place_across() {
    constexpr int kSweeps = 8;
    for (const std::vector<int>& row : rows_)
      settle(row, std::vector<double>(row.size(), 0), std::vector<double>(row.size(), 1));
    for (int sweep = 0; sweep < 2 * kSweeps; ++sweep) {
      const bool both = sweep >= kSweeps;
      for (const auto& row : rows_) settle_row(row, true, both);
      for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) settle_row(*row, both, true);
    }
    straighten();
    double left = std::numeric_limits<double>::infinity(), right = -left;
    for (const Cell& c : cells_) left = std::min(left, c.x), right = std::max(right, c.x + c.width);
    for (Cell& c : cells_) c.x -= left;
    level_.width = cells_.empty() ? 0 : right - left;
  }

  // What passes through a row goes straight down, where its neighbours leave it the place.
  void straighten() {
    for (const std::vector<int>& row : rows_)
      for (size_t k = 0; k < row.size(); ++k) {
        Cell& cell = cells_[row[k]];
        if (cell.item >= 0) continue;
        const Wire& above = wires_[cell.up.at(0)];
        const double wanted = cells_[above.from].x + above.leaves;
        const double left = k == 0 ? wanted : cells_[row[k - 1]].x + apart(row[k - 1], row[k]);
        const double right =
            k + 1 == row.size() ? wanted : cells_[row[k + 1]].x - apart(row[k], row[k + 1]);
        if (left <= wanted && wanted <= right) cell.x = wanted;
      }
  }

  void place_down() {
    top_.resize(rows_.size());
    bottom_.resize(rows_.size());
    double y = 0;
    for (size_t r = 0; r < rows_.size(); ++r) {
      double height = 0;
      for (int c : rows_[r])
        if (cells_[c].item >= 0) height = std::max(height, level_.items[cells_[c].item].height);
      top_[r] = y;
      bottom_[r] = y + height;
      y = bottom_[r] + kBetweenRows;
    }
    level_.height = bottom_.empty() ? 0 : bottom_.back();
    for (const Cell& c : cells_) {
      if (c.item < 0) continue;
      Item& item = level_.items[c.item];
      const double spare = bottom_[c.row] - top_[c.row] - item.height;
      const bool on_edge = item.kind != Item::Kind::box;
      item.corner = {c.x, top_[c.row] + (on_edge ? 0 : spare / 2)};
    }
  }

  void draw_links() {
    for (size_t n = 0; n < ways_.size(); ++n) {
      Link& l = level_.links[n];
      const Item &from = level_.items[l.from], &to = level_.items[l.to];
      double y = from.corner.y + from.height;
      for (int w : ways_[n]) {
        const Wire& wire = wires_[w];
        const double x = cells_[wire.from].x + wire.leaves;
        add_point(l.points, {x, y});
        add_point(l.points, {x, bottom_[cells_[wire.from].row]});
        y = top_[cells_[wire.to].row];
        add_point(l.points, {cells_[wire.to].x + wire.arrives, y});
      }
      add_point(l.points, {l.points.back().x, to.corner.y});
    }
  }

  static void add_point(std::vector<Point>& points, Point p) {
    if (!points.empty() && points.back().x == p.x && points.back().y == p.y) return;
    points.push_back(p);
  }

  Level& level_;
  std::vector<int> row_;                // by item
  std::vector<std::vector<int>> rows_;  // cells from left to right
  std::vector<Cell> cells_;             // those of items come first
  std::vector<Wire> wires_;
  std::vector<std::vector<int>> ways_;  // by link: its wires
  std::vector<double> place_;           // by cell: its number in its row
  std::vector<double> top_, bottom_;    // by row
};

}  // namespace

bool arrange(Level& level) { return Arranger(level).run(); }

}  // namespace attn::report
