#include "compiler/plan/form.h"

#include <algorithm>

#include "compiler/ops/table.h"
#include "compiler/plan/sets.h"
#include "compiler/solve/out_of_sum.h"

namespace attn::plan {

using namespace ir;

namespace {

bool lacks(const Conditions& some, const Conditions& all) {
  return std::ranges::any_of(all, [&](const Expr& c) { return !some.count(c); });
}

// Of `if condition then e else 0`.
Conditions conditions_of(const Expr& e) {
  return e.is(Kind::select) && e.args()[2].is_zero() ? conjuncts(e.args()[0]) : Conditions();
}

}  // namespace

bool Product::hides_left() const { return lacks(left_guard, right_guard); }
bool Product::hides_right() const { return lacks(right_guard, left_guard); }

const TileResult* TilesForm::find(TileResult::Kind kind) const {
  for (const TileResult& r : results)
    if (r.kind == kind) return &r;
  return nullptr;
}

std::vector<IndexId> TilesForm::summed_batch(const TileResult& r) const {
  std::vector<IndexId> summed;
  for (IndexId i : batch)
    if (r.kind != TileResult::Kind::scatter && !contains(r.free, i)) summed.push_back(i);
  return summed;
}

Conditions TilesForm::visible_somewhere() const {
  Conditions everywhere = tiles.at(results.at(0).tile).visible;
  for (const TileResult& r : results)
    std::erase_if(everywhere, [&](const Expr& c) { return !tiles.at(r.tile).visible.count(c); });
  return everywhere;
}

bool TilesForm::is_apart(const Product& p) const {
  return !uses(p.left, column) && !uses(p.right, row) && !indices(p.left_guard).count(column) &&
         !indices(p.right_guard).count(row) && !p.hides_left() && !p.hides_right();
}

bool TilesForm::packs_panel(const TileResult& r) const {
  return r.feature.valid() && r.kind != TileResult::Kind::scatter &&
         !uses(r.panel, r.of_rows() ? row : column);
}

bool TilesForm::hides_panel(const TileResult& r) const {
  if (!packs_panel(r)) return false;
  Conditions known = r.panel_guard;
  known.merge(conditions_of(r.scale));
  return lacks(known, tiles.at(r.tile).visible) || lacks(known, r.counted);
}

Expr Groups::at_one_group(const Expr& factor) const {
  return rewrite(factor, [&](const Expr& e) { return e == of ? Expr(0) : e; });
}

Conditions Groups::condition() const {
  if (of_rows()) return {};
  return {is_zero(index_value(index) - of)};
}

std::vector<IndexId> mixed_point(const Definition& d, IndexId plane) {
  std::vector<IndexId> result = d.free;
  std::ranges::replace(result, plane, d.reduced.at(0));
  return result;
}

std::optional<Poly> few_rows_of(const Graph& g, const Form& form) {
  const auto* tiles = std::get_if<TilesForm>(&form);
  if (!tiles || !tiles->streams()) return std::nullopt;
  const Poly rows = g[tiles->row].extent;
  const auto known = g.known(rows);
  return known && *known > kFewRows ? std::nullopt : std::optional(rows);
}

std::optional<Poly> places_of(const Graph& g, const Form& form) {
  const auto* loops = std::get_if<LoopsForm>(&form);
  if (!loops || loops->definition.position.empty()) return std::nullopt;
  Poly count = 1;
  for (IndexId i : loops->definition.free) count = count * g[i].extent;
  return count;
}

namespace {

// Writes definitions, each with indices of its own.
class Definer {
 public:
  explicit Definer(Graph& g) : g_(g) {}

  void add(const LoopsForm& form) {
    if (!form.start) return define(form.definition);
    Definition sum = form.definition;
    const TensorId target = sum.target;
    sum.target = tensor(g_[target].name + ".sum", g_[target], sum.free);
    define(sum);
    map(target, sum.free, {}, ir::add({*form.start, at(sum.target, sum.free)}));
  }

  void add(const RowForm& form) {
    for (const Definition& d : form.definitions) define(d);
  }

  void add(const ContractionForm& form) {
    std::vector<Expr> sums;
    const Conditions guard = form.groups ? form.groups->condition() : Conditions();
    for (const Product& p : form.products)
      sums.push_back(sum_of(p, form.free, guard, g_[form.sum]));
    const Expr sum = ir::add(std::move(sums));
    if (form.kept) map(form.sum, form.free, {}, replace_reads(*form.kept, form.sum, sum));
    map(form.target, form.free, form.guard, replace_reads(form.epilogue, form.sum, sum));
  }

  void add(const TilesForm& form) {
    for (const Tile& tile : form.tiles) add_tile(form, tile);
    for (const TileResult& r : form.results) add_result(form, r);
  }

  std::vector<Definition> take() { return std::move(definitions_); }

 private:
  void define(const Definition& d) {
    definitions_.push_back(normal_form(with_fresh_indices(g_, d).definition));
  }

  void map(TensorId target, const std::vector<IndexId>& free, Conditions guard, Expr body) {
    define({.target = target, .free = free, .guard = std::move(guard), .body = std::move(body)});
  }

  Expr at(TensorId t, const std::vector<IndexId>& indices) const {
    return g_.read(t, index_values(indices));
  }

  // An interior tensor of the type of `like`.
  TensorId tensor(const std::string& name, const Tensor& like, const std::vector<IndexId>& over) {
    return g_.new_tensor({.name = name, .storage = like.storage, .extents = g_.extents(over)});
  }

  // Where `guard` holds, which is all that is needed.
  Expr sum_of(const Product& p, const std::vector<IndexId>& free, Conditions guard,
              const Tensor& like) {
    const TensorId t = tensor(like.name + ".product", like, free);
    guard.insert(p.left_guard.begin(), p.left_guard.end());
    guard.insert(p.right_guard.begin(), p.right_guard.end());
    define({.target = t,
            .free = free,
            .combine = Combine::sum,
            .reduced = p.reduced,
            .guard = guard,
            .body = multiply({p.left, p.right})});
    return at(t, free);
  }

  void add_tile(const TilesForm& form, const Tile& tile) {
    const Tensor plain{.name = "tile", .storage = Storage::f32};
    const Tensor like = tile.tensor.valid() ? g_[tile.tensor] : plain;
    Expr value = tile.value;
    if (!tile.dots.empty()) {
      std::vector<Expr> sums;
      for (const Product& p : tile.dots)
        sums.push_back(sum_of(p, points(form), tile.visible, like));
      value = replace_reads(value, tile.dot, ir::add(std::move(sums)));
    }
    const std::vector<IndexId> free = tile.tensor.valid() ? tile.free : points(form);
    const TensorId t = tile.tensor.valid() ? tile.tensor : tensor(like.name, like, free);
    tiles_.push_back(at(t, free));
    map(t, free, tile.visible, value);
  }

  static std::vector<IndexId> points(const TilesForm& form) {
    std::vector<IndexId> all = form.batch;
    all.push_back(form.row);
    all.push_back(form.column);
    return all;
  }

  void add_result(const TilesForm& form, const TileResult& r) {
    const Expr& tile = tiles_.at(r.tile);
    Conditions guard = form.tiles.at(r.tile).visible;
    if (form.bounds) add_bounds(form, guard);
    if (r.kind == TileResult::Kind::logsumexp) {
      define({.target = r.tensor,
              .free = r.free,
              .combine = Combine::logsumexp,
              .reduced = {form.column},
              .guard = guard,
              .body = tile});
      lse_ = at(r.tensor, r.free);
      return;
    }
    Expr product = multiply({tile, r.panel});
    if (r.kind == TileResult::Kind::weighted) {
      const Operation& exp = *ops::find("exp");
      product = multiply({call(exp, {tile - lse_}), r.weight, r.panel});
      guard.insert(r.counted.begin(), r.counted.end());
    }
    guard.insert(r.panel_guard.begin(), r.panel_guard.end());
    if (r.kind == TileResult::Kind::scatter) return scatter(form, r, guard, product);
    const std::vector<IndexId> summed_batch = form.summed_batch(r);
    std::vector<IndexId> free = r.free;
    free.insert(free.end(), summed_batch.begin(), summed_batch.end());
    const TensorId sum = tensor(g_[r.tensor].name + ".sum", g_[r.tensor], free);
    define({.target = sum,
            .free = free,
            .combine = Combine::sum,
            .reduced = {r.of_rows() ? form.column : form.row},
            .guard = guard,
            .body = product});
    const Expr scaled = solve::times_sum(g_, r.scale, at(sum, free));
    if (summed_batch.empty()) return map(r.tensor, r.free, {}, scaled);
    define({.target = r.tensor,
            .free = r.free,
            .combine = Combine::sum,
            .reduced = summed_batch,
            .body = scaled});
  }

  // A row sees the columns within the bounds of its block only.
  void add_bounds(const TilesForm& form, Conditions& guard) const {
    std::vector<Expr> block = index_values(form.bounds->batch);
    block.push_back(quotient(index_value(form.row), Expr(kBoundRows)));
    const Expr column = index_value(form.column);
    guard.insert(at_least_zero(column - g_.read(form.bounds->first, block)));
    guard.insert(less(column, g_.read(form.bounds->end, block)));
  }

  // Adds each point at its position; an index that is a position alone, and runs as far, is a
  // dimension.
  void scatter(const TilesForm& form, const TileResult& r, Conditions guard, const Expr& value) {
    Definition d{.target = r.tensor, .combine = Combine::sum, .body = value};
    for (size_t k = 0; k < r.position.size(); ++k) {
      const Expr& position = r.position[k];
      const bool alone = position.is(Kind::index) && !contains(d.free, position->index) &&
                         g_.same(g_[position->index].extent, g_[r.tensor].extents.at(k));
      if (alone) {
        d.free.push_back(position->index);
        continue;
      }
      d.free.push_back(g_.new_index("n", g_[r.tensor].extents.at(k)));
      guard.insert(is_zero(index_value(d.free.back()) - position));
    }
    for (IndexId i : points(form))
      if (!contains(d.free, i)) d.reduced.push_back(i);
    if (d.reduced.empty()) d.combine = Combine::set;
    d.guard = guard;
    define(d);
  }

  Graph& g_;
  std::vector<Definition> definitions_;
  std::vector<Expr> tiles_;  // each as it is read at a point
  Expr lse_;
};

}  // namespace

std::vector<TensorId> results_of(const Form& form) {
  struct Results {
    std::vector<TensorId> operator()(const LoopsForm& f) const { return {f.definition.target}; }
    std::vector<TensorId> operator()(const RowForm& f) const {
      std::vector<TensorId> all;
      for (const Definition& d : f.definitions) all.push_back(d.target);
      return all;
    }
    std::vector<TensorId> operator()(const ContractionForm& f) const {
      return f.kept ? std::vector{f.target, f.sum} : std::vector{f.target};
    }
    std::vector<TensorId> operator()(const TilesForm& f) const {
      std::vector<TensorId> all;
      for (const TileResult& r : f.results) all.push_back(r.tensor);
      return all;
    }
  };
  return std::visit(Results{}, form);
}

std::vector<Definition> add_definitions(Graph& g, const Form& form) {
  Definer definer(g);
  std::visit([&](const auto& own) { definer.add(own); }, form);
  return definer.take();
}

Graph definitions_of(const Graph& g, const Form& form) {
  Graph result = without_definitions(g);
  result.definitions = add_definitions(result, form);
  return result;
}

}  // namespace attn::plan
