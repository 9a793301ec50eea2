// Unmaterialised tensors in the terms of a group: over (batch, row, column), in tiles only.
#include "compiler/plan/tiles/tiles.h"

#include <algorithm>

#include "compiler/solve/prove.h"

namespace attn::plan {

using namespace ir;

namespace {

// The factor of the rows, and that of the columns, of one product; all of it on the left where a
// factor or a condition needs both.
Product product_of(const Expr& product, const Conditions& guard,
                   const std::vector<IndexId>& reduced, const Axes& axes) {
  Product t{.left = {}, .right = {}, .left_guard = {}, .right_guard = {}, .reduced = reduced};
  std::vector<Expr> left, right;
  bool apart = true;
  auto side = [&](const std::set<IndexId>& used) {
    apart = apart && !(used.count(axes.row) && used.count(axes.column));
    return used.count(axes.column) > 0;
  };
  for (const Expr& f : factors_of(product)) (side(indices(f)) ? right : left).push_back(f);
  for (const Expr& c : guard) (side(indices(c)) ? t.right_guard : t.left_guard).insert(c);
  if (!apart) {
    t.left_guard = guard;
    t.right_guard.clear();
    t.left = product;
    t.right = Expr(1.0);
    return t;
  }
  t.left = real_product(left);
  t.right = real_product(right);
  return t;
}

}  // namespace

Tile tile_of(const Graph& g, const Group& group, TensorId t) {
  const Definition& d = *g.definition_of(t);
  const Names& names = group.names.at(t);
  const std::map<IndexId, Expr> values = values_of(names);
  Tile tile{.tensor = d.target, .free = {}, .dots = {}, .dot = {}, .value = {}, .visible = {}};
  for (IndexId i : d.free) tile.free.push_back(names.at(i));
  const Expr body = substitute(d.body, values);
  const Conditions guard = substitute(d.guard, values);
  if (d.combine == Combine::set) {
    tile.value = body;
    tile.visible = guard;
    return tile;
  }
  Conditions of_terms;
  for (const Expr& c : guard) (has_any(indices(c), d.reduced) ? of_terms : tile.visible).insert(c);
  const std::vector<Expr> products = addends_of(body);
  std::vector<Expr> outer;
  for (const Expr& product : products) {
    std::vector<Expr> inner;
    for (const Expr& f : factors_of(product)) {
      const bool factored = products.size() == 1 && !has_any(indices(f), d.reduced);
      (factored ? outer : inner).push_back(f);
    }
    Expr rest = real_product(inner);
    tile.dots.push_back(product_of(rest, of_terms, d.reduced, group.axes));
  }
  tile.dot = d.target;
  std::vector<Expr> at = index_values(tile.free);
  outer.push_back(g.read(d.target, at));
  tile.value = multiply(std::move(outer));
  return tile;
}

size_t weight_tile(std::vector<Tile>& tiles, const Expr& weight, const Conditions& counted) {
  for (size_t k = 0; k < tiles.size(); ++k) {
    const Tile& t = tiles[k];
    const bool read = weight.is(Kind::read) && t.tensor.valid() && weight->tensor == t.tensor;
    bool same = read || (!t.tensor.valid() && t.value == weight && t.visible == counted);
    if (read)
      for (const Expr& c : counted) same = same && t.visible.count(c);
    if (same) return k;
  }
  tiles.push_back({.value = weight, .visible = counted});
  return tiles.size() - 1;
}

void fuse_tiles(const Graph& g, std::vector<Tile>& tiles, std::vector<TileResult>& results) {
  for (size_t k = 0; k < tiles.size();) {
    const Tile& t = tiles[k];
    std::vector<size_t> users;
    for (size_t n = k + 1; n < tiles.size() && t.tensor.valid(); ++n)
      if (tensors(tiles[n].value).count(t.tensor) || tensors(tiles[n].visible).count(t.tensor))
        users.push_back(n);
    const bool summed =
        std::ranges::any_of(results, [&](const TileResult& r) { return r.tile == k; });
    if (t.dots.empty() || summed || users.size() != 1 || !tiles[users[0]].dots.empty() ||
        tensors(tiles[users[0]].visible).count(t.tensor)) {
      ++k;
      continue;
    }
    Tile& user = tiles[users[0]];
    const Expr value = where(t.visible, t.value);
    user.value = solve::assume(g, replace_reads(user.value, t.tensor, value), user.visible);
    // Conditions that exclude each other leave nothing of the product.
    if (tensors(user.value).count(t.dot)) {
      user.dots = t.dots;
      user.dot = t.dot;
    }
    tiles.erase(tiles.begin() + static_cast<std::ptrdiff_t>(k));
    for (TileResult& r : results)
      if (r.tile > k) --r.tile;
    k = 0;
  }
}

}  // namespace attn::plan
