// A group grows from one wide tensor along its readers and what else they read. Wide members are
// tiles, over one row and one column index beside the batch's; the others are sums over rows or
// columns of one factor that reads tiles, and another, the panel, that reads none.
#include "compiler/plan/tile_sums.h"

#include <algorithm>

namespace attn::plan {
namespace {

using namespace ir;

constexpr int64_t kMostFeatures = 512;

using Names = std::map<IndexId, IndexId>;  // of a definition's indices among the kernel's

std::map<IndexId, Expr> values_of(const Names& names) {
  std::map<IndexId, Expr> values;
  for (auto [own, kernel] : names) values.emplace(own, index_value(kernel));
  return values;
}

// Every expression of a contraction over the sum's free indices.
std::vector<Expr> parts_of(const Contraction& c) {
  std::vector<Expr> parts = {c.epilogue};
  for (const Term& t : c.terms) {
    parts.push_back(t.left);
    parts.push_back(t.right);
    for (const auto* guard : {&t.left_guard, &t.right_guard})
      parts.insert(parts.end(), guard->begin(), guard->end());
  }
  parts.insert(parts.end(), c.guard.begin(), c.guard.end());
  return parts;
}

class Claim {
 public:
  Claim(const Graph& g, const std::map<size_t, Whole>& all,
        const std::map<TensorId, std::set<size_t>>& readers, const std::set<TensorId>& wide)
      : g_(g), all_(all), readers_(readers), wide_(wide) {}

  std::optional<TileClaim> find(size_t seed) {
    const Whole& first = all_.at(seed);
    const Contraction& c = first.contraction;
    if (c.rows.size() != 1 || c.columns.size() != 1) return {};
    TileSums& s = result_.sums;
    s.batch = c.batch;
    s.row = c.rows[0];
    s.column = c.columns[0];
    for (IndexId i : first.sum.free) names_[seed].emplace(i, i);
    std::vector<size_t> open = {seed};
    result_.members = {seed};
    while (!open.empty()) {
      size_t at = open.back();
      open.pop_back();
      if (!visit_member(at, open)) return {};
    }
    for (size_t at : result_.members)
      if (is_tile(at) && !add_tile(at)) return {};
    for (size_t at : result_.members)
      if (!is_tile(at) && !add_result(at)) return {};
    if (s.results.empty() || reads_results()) return {};
    return result_;
  }

 private:
  bool is_tile(size_t at) const { return wide_.count(all_.at(at).definition.target) > 0; }

  // Names the member's neighbours: what it reads that is wide, and, of a tile, its readers.
  bool visit_member(size_t at, std::vector<size_t>& open) {
    const Whole& w = all_.at(at);
    if (!w.alone) return false;
    for (const Expr& part : parts_of(w.contraction)) {
      bool fits = true;
      visit(part, [&](const Expr& e) {
        if (!e.is(Kind::read) || !wide_.count(e->tensor)) return true;
        if (e->tensor == w.contraction.sum) return true;
        auto producer = std::find_if(all_.begin(), all_.end(), [&](const auto& entry) {
          return entry.second.definition.target == e->tensor;
        });
        if (producer == all_.end()) return fits = false;
        // The producer's indices in terms of the kernel's.
        Names names;
        const std::vector<IndexId>& free = producer->second.sum.free;
        for (size_t k = 0; k < free.size(); ++k) {
          const Expr& subscript = e.args()[k];
          if (!subscript.is(Kind::index) || !names_[at].count(subscript->index)) {
            return fits = false;
          }
          names.emplace(free[k], names_[at].at(subscript->index));
        }
        fits = fits && join(producer->first, names, open);
        return fits;
      });
      if (!fits) return false;
    }
    if (!is_tile(at)) return true;
    auto found = readers_.find(w.definition.target);
    if (found == readers_.end()) return false;
    for (size_t reader : found->second) {
      if (!all_.count(reader)) return false;
      std::optional<Names> names = names_of_reader(reader, at);
      if (!names || !join(reader, *names, open)) return false;
    }
    return true;
  }

  // From the first plain read of tile `at` in the reader.
  std::optional<Names> names_of_reader(size_t reader, size_t at) {
    const Whole& tile = all_.at(at);
    std::optional<Names> found;
    for (const Expr& part : parts_of(all_.at(reader).contraction)) {
      visit(part, [&](const Expr& e) {
        if (found || !e.is(Kind::read) || !(e->tensor == tile.definition.target)) return !found;
        Names names;
        for (size_t k = 0; k < e.args().size(); ++k) {
          if (!e.args()[k].is(Kind::index)) return false;
          names.emplace(e.args()[k]->index, names_[at].at(tile.sum.free[k]));
        }
        if (names.size() == e.args().size()) found = names;
        return false;
      });
    }
    return found;
  }

  bool join(size_t at, const Names& names, std::vector<size_t>& open) {
    auto known = names_.find(at);
    if (known != names_.end()) return known->second == names;
    names_[at] = names;
    result_.members.insert(at);
    open.push_back(at);
    return true;
  }

  bool in_f32(const Whole& w) const { return g_[w.definition.target].storage == Storage::f32; }

  bool add_tile(size_t at) {
    const Whole& w = all_.at(at);
    const Contraction& c = w.contraction;
    const Names& names = names_[at];
    TileSums& s = result_.sums;
    if (!in_f32(w) || c.rows.size() != 1 || c.columns.size() != 1) return false;
    if (c.batch.size() != s.batch.size()) return false;
    IndexId row = names.at(c.rows[0]), column = names.at(c.columns[0]);
    const bool swapped = row == s.column && column == s.row;
    if (!swapped && !(row == s.row && column == s.column)) return false;
    std::map<IndexId, Expr> values = values_of(names);
    TileSums::Tile tile{.tensor = w.definition.target, .dots = {}, .dot = c.sum};
    for (Term t : c.terms) {
      for (Expr* e : {&t.left, &t.right}) {
        *e = substitute(*e, values);
        for (TensorId read : tensors(*e))
          if (wide_.count(read)) return false;
      }
      t.left_guard = substitute(t.left_guard, values);
      t.right_guard = substitute(t.right_guard, values);
      if (swapped) {
        std::swap(t.left, t.right);
        std::swap(t.left_guard, t.right_guard);
      }
      tile.dots.push_back(std::move(t));
    }
    tile.visible = substitute(c.guard, values);
    tile.value = substitute(c.epilogue, values);
    tile_of_[w.definition.target] = s.tiles.size();
    s.tiles.push_back(std::move(tile));
    return true;
  }

  bool reads_tiles(const Expr& e) const {
    std::set<TensorId> read = tensors(e);
    return std::any_of(read.begin(), read.end(), [&](TensorId t) { return tile_of_.count(t) > 0; });
  }

  // A sum over a whole row or column is not known yet where a tile of it is computed.
  bool reads_results() const {
    std::set<TensorId> results;
    for (const TileSums::Result& r : result_.sums.results) results.insert(r.tensor);
    auto is_read = [&](const Expr& e) {
      std::set<TensorId> read = tensors(e);
      return std::any_of(read.begin(), read.end(),
                         [&](TensorId t) { return results.count(t) > 0; });
    };
    for (const TileSums::Tile& tile : result_.sums.tiles)
      if (is_read(tile.value)) return true;
    for (const TileSums::Result& r : result_.sums.results)
      if (is_read(r.panel) || is_read(r.scale)) return true;
    return false;
  }

  bool add_result(size_t at) {
    const Whole& w = all_.at(at);
    const Contraction& c = w.contraction;
    TileSums& s = result_.sums;
    if (!in_f32(w) || !c.guard.empty() || c.terms.size() != 1) return false;
    const Term& t = c.terms[0];
    if (t.reduced.size() != 1 || !names_[at].count(t.reduced[0])) return false;
    const bool left = reads_tiles(t.left);
    if (left == reads_tiles(t.right)) return false;
    const std::vector<IndexId>& features = left ? c.columns : c.rows;
    if (features.size() > 1) return false;
    Names names = names_[at];
    if (!features.empty()) {
      std::optional<int64_t> count = g_.known(g_[features[0]].extent);
      if (!count || *count < 1 || *count > kMostFeatures) return false;
      if (!names.emplace(features[0], features[0]).second) return false;
    }
    std::map<IndexId, Expr> values = values_of(names);
    TileSums::Result r{.tensor = w.definition.target};
    if (!features.empty()) r.feature = features[0];
    IndexId summed = names.at(t.reduced[0]);
    if (!(summed == s.row) && !(summed == s.column)) return false;
    r.of_rows = summed == s.column;
    const IndexId kept = r.of_rows ? s.row : s.column;
    std::set<IndexId> covered;
    for (IndexId i : w.sum.free) {
      if (!names.count(i)) return false;
      r.free.push_back(names.at(i));
      covered.insert(names.at(i));
    }
    if (covered.size() != s.batch.size() + 1 + features.size() || !covered.count(kept) ||
        covered.count(summed))
      return false;
    const Conditions guard = substitute(left ? t.left_guard : t.right_guard, values);
    r.panel = substitute(left ? t.right : t.left, values);
    r.panel_guard = substitute(left ? t.right_guard : t.left_guard, values);
    r.panel_leaks = left ? t.right_leaks : t.left_leaks;
    if (uses(r.panel, kept) || (features.empty() && !r.panel.is_one())) return false;
    for (const Expr& condition : r.panel_guard)
      if (uses(condition, kept) || reads_tiles(condition)) return false;
    std::optional<Expr> scale = scale_of(substitute(c.epilogue, values), c.sum);
    if (!scale || uses(*scale, summed) || reads_tiles(*scale)) return false;
    r.scale = *scale;
    r.tile = weight_tile(substitute(left ? t.left : t.right, values), guard, r.feature);
    if (r.tile == SIZE_MAX) return false;
    s.results.push_back(std::move(r));
    return true;
  }

  // c where e is c times the sum.
  static std::optional<Expr> scale_of(const Expr& e, TensorId sum) {
    auto is_sum = [&](const Expr& x) { return x.is(Kind::read) && x->tensor == sum; };
    if (is_sum(e)) return Expr(1);
    if (!e.is(Kind::multiply)) return std::nullopt;
    std::vector<Expr> rest;
    int found = 0;
    for (const Expr& f : e.args()) {
      if (is_sum(f))
        ++found;
      else if (tensors(f).count(sum))
        return std::nullopt;
      else
        rest.push_back(f);
    }
    if (found != 1) return std::nullopt;
    return multiply(std::move(rest));
  }

  // The tile that is the factor, under its conditions; a new one where none is.
  size_t weight_tile(const Expr& factor, const Conditions& guard, IndexId feature) {
    std::vector<TileSums::Tile>& tiles = result_.sums.tiles;
    if (feature.valid() && uses(factor, feature)) return SIZE_MAX;
    for (size_t k = 0; k < tiles.size(); ++k) {
      const bool is_read =
          factor.is(Kind::read) && tiles[k].tensor.valid() && factor->tensor == tiles[k].tensor;
      const bool same = !tiles[k].tensor.valid() && tiles[k].value == factor;
      bool hidden = same ? tiles[k].visible == guard : is_read;
      if (is_read)
        for (const Expr& condition : guard) hidden = hidden && tiles[k].visible.count(condition);
      if (hidden) return k;
    }
    tiles.push_back({.tensor = {}, .dots = {}, .dot = {}, .value = factor, .visible = guard});
    return tiles.size() - 1;
  }

  const Graph& g_;
  const std::map<size_t, Whole>& all_;
  const std::map<TensorId, std::set<size_t>>& readers_;
  const std::set<TensorId>& wide_;
  std::map<size_t, Names> names_;
  std::map<TensorId, size_t> tile_of_;
  TileClaim result_;
};

}  // namespace

std::optional<TileClaim> claim_tiles(const Graph& g, size_t seed,
                                     const std::map<size_t, Whole>& all,
                                     const std::map<TensorId, std::set<size_t>>& readers,
                                     const std::set<TensorId>& wide) {
  return Claim(g, all, readers, wide).find(seed);
}

}  // namespace attn::plan
