#include "compiler/lower/forms/tiles.h"

#include <algorithm>

#include "compiler/base/check.h"

namespace attn::lower {

namespace {

Expr real(const Expr& value) { return cast(Halide::Float(32), value); }

bool contains(const std::vector<ir::Expr>& subscripts, ir::IndexId i) {
  return std::ranges::find(subscripts, ir::index_value(i)) != subscripts.end();
}

// Whether the subscripts tell which index it is: by itself, or by both of its digits.
bool is_one_of(const std::vector<ir::Expr>& subscripts, ir::IndexId i) {
  return contains(subscripts, i) || std::ranges::any_of(subscripts, [&](const ir::Expr& e) {
           return e.is(ir::Kind::quotient) && e.args()[0] == ir::index_value(i) &&
                  std::ranges::find(subscripts, ir::remainder(e.args()[0], e.args()[1])) !=
                      subscripts.end();
         });
}

}  // namespace

TilesSpec::TilesSpec(const Scope& scope, const plan::TilesForm& form) : scope_(scope), form_(form) {
  batch_extents = scope_.extents(form_.batch);
  rows = scope_.extent(form_.row);
  columns = scope_.extent(form_.column);
  for (const plan::Tile& tile : form_.tiles) {
    dots.emplace_back();
    for (const plan::Product& p : tile.dots) {
      Dot dot{&p, scope_.count(p.reduced)};
      if (form_.is_apart(p)) {
        dot.left = pack({true, p.left, p.left_guard, p.reduced});
        dot.right = pack({false, p.right, p.right_guard, p.reduced});
      }
      dots.back().push_back(dot);
    }
  }
  for (ir::TensorId t : scope_.writes) {
    auto found = std::ranges::find(form_.results, t, &plan::TileResult::tensor);
    ATTN_CHECK(found != form_.results.end(), "a kernel of tiles writes what it does not sum");
    results.push_back(result(*found, true));
  }
  for (const plan::TileResult& r : form_.results)
    if (std::ranges::find(scope_.writes, r.tensor) == scope_.writes.end())
      results.push_back(result(r, false));
  const ir::Conditions seen = form_.visible_somewhere();
  columns_of_rows = edges(scope_, seen, form_.row, form_.column);
  rows_of_columns = edges(scope_, seen, form_.column, form_.row);
  if (form_.bounds) seen_by_data = lower::seen_by_data(scope_, *form_.bounds, form_.batch);
}

// One for all readers of the same factor. Its features are numbered alike in all of them: as the
// first names them.
int TilesSpec::pack(Pack wanted) {
  for (size_t k = 0; k < packs.size(); ++k) {
    const Pack& p = packs[k];
    if (p.of_rows != wanted.of_rows || p.fallback != wanted.fallback ||
        p.features.size() != wanted.features.size())
      continue;
    std::map<ir::IndexId, ir::Expr> names;
    bool alike = true;
    for (size_t n = 0; n < p.features.size(); ++n) {
      alike = alike &&
              scope_.g.same(scope_.g[wanted.features[n]].extent, scope_.g[p.features[n]].extent);
      names.emplace(wanted.features[n], ir::index_value(p.features[n]));
    }
    if (alike && ir::substitute(wanted.value, names) == p.value &&
        ir::substitute(wanted.guard, names) == p.guard)
      return static_cast<int>(k);
  }
  wanted.length = scope_.count(wanted.features);
  wanted.number = scope_.number_of(wanted.value);
  wanted.is_dense = wanted.guard.empty() &&
                    scope_.run_along(wanted.value, wanted.features) == kWholeRun &&
                    storage_type(scope_.g[wanted.value->tensor].storage) == wanted.number;
  packs.push_back(std::move(wanted));
  return static_cast<int>(packs.size() - 1);
}

TilesSpec::Result TilesSpec::result(const plan::TileResult& r, bool is_written) {
  Result result{&r, static_cast<int>(r.tile), r.of_rows(), is_written};
  result.visible = form_.tiles[r.tile].visible;
  result.visible.insert(r.counted.begin(), r.counted.end());
  if (r.feature.valid()) result.features = scope_.extent(r.feature);
  if (form_.packs_panel(r))
    result.panel =
        pack({!r.of_rows(), r.panel, r.panel_guard, {r.feature}, {}, form_.hides_panel(r)});
  else if (r.kind == Kind::weighted && !r.feature.valid())
    result.panel = pack({false, r.panel, r.panel_guard, {}});
  if (r.kind == Kind::scatter) {
    add_place(result);
    return result;
  }
  const int batches = static_cast<int>(form_.batch.size());
  for (ir::IndexId i : r.free) {
    auto found = std::ranges::find(form_.batch, i);
    const bool kept = i == (r.of_rows() ? form_.row : form_.column);
    result.dimensions.push_back(found != form_.batch.end()
                                    ? static_cast<int>(found - form_.batch.begin())
                                    : batches + (kept ? 0 : 1));
  }
  for (int k = 0; k < batches; ++k)
    if (std::ranges::find(r.free, form_.batch[k]) == r.free.end()) result.summed_batch.insert(k);
  return result;
}

void TilesSpec::add_place(Result& result) const {
  const plan::TileResult& r = *result.form;
  const int batches = static_cast<int>(form_.batch.size());
  for (const ir::Poly& p : scope_.g[r.tensor].extents)
    result.extents.push_back(Translator(scope_.g, scope_.arguments, {}).extent(p));
  for (const ir::Expr& e : r.position) {
    int dimension = batches;
    for (int k = 0; k < batches; ++k)
      if (e == ir::index_value(form_.batch[k])) dimension = k;
    if (r.feature.valid() && e == ir::index_value(r.feature)) dimension = batches + 1;
    result.dimensions.push_back(dimension);
  }
  result.is_dense =
      contains(r.position, form_.row) && r.position.back() == ir::index_value(form_.column);
  result.is_of_one_row = is_one_of(r.position, form_.row);
  if (!r.feature.valid()) result.digits = plan::digits_of(scope_.g, r.position, form_.column);
  if (result.digits)
    result.line_length = max(Translator(scope_.g, scope_.arguments, {})(result.digits->divisor), 1);
  for (int k = 0; k < batches; ++k)
    if (!contains(r.position, form_.batch[k])) result.summed_batch.insert(k);
}

const TilesSpec::Result* TilesSpec::find(Kind kind) const {
  auto found = std::ranges::find(results, kind, &Result::kind);
  return found == results.end() ? nullptr : &*found;
}

Translator TilesSpec::at(Translator::Indices indices, const Expr& batch) const {
  scope_.decode(form_.batch, batch, indices);
  return scope_.at(std::move(indices));
}

Translator::Indices TilesSpec::cell(const Point& point) const {
  return {{form_.row, point.row}, {form_.column, point.column}};
}

void TilesSpec::replace_earlier(Translator& t, const std::set<ir::TensorId>& read, int count,
                                const Values& earlier) const {
  for (int k = 0; k < count; ++k)
    if (const ir::TensorId tile = form_.tiles[k].tensor; tile.valid() && read.count(tile))
      t.replace(tile, earlier(k));
}

Expr TilesSpec::value(int index, const Point& point, const Expr& dot, const Values& earlier) const {
  const plan::Tile& own = form_.tiles[index];
  Translator t = at(cell(point), point.batch);
  if (own.dot.valid()) t.replace(own.dot, dot);
  std::set<ir::TensorId> read = ir::tensors(own.value);
  ir::insert_all(read, ir::tensors(own.visible));
  replace_earlier(t, read, index, earlier);
  const bool is_score = form_.streams() && form_.results[0].tile == static_cast<size_t>(index);
  return t.where(own.visible, real(t(own.value)), is_score ? kLowest : 0.0f);
}

Expr TilesSpec::product(const Dot& dot, const Point& point, const Expr& feature) const {
  const plan::Product& p = *dot.product;
  ir::Conditions guard = p.left_guard;
  guard.insert(p.right_guard.begin(), p.right_guard.end());
  Translator::Indices indices = cell(point);
  scope_.decode(p.reduced, feature, indices);
  Translator t = at(std::move(indices), point.batch);
  return t.where(guard, real(t(ir::multiply({p.left, p.right}))));
}

Expr TilesSpec::factor(int pack, const Expr& batch, const Expr& index, const Expr& feature) const {
  const Pack& p = packs[pack];
  Translator::Indices indices = {{p.of_rows ? form_.row : form_.column, index}};
  scope_.decode(p.features, feature, indices);
  Translator t = at(std::move(indices), batch);
  return t.where(p.guard, real(t(p.value)));
}

Expr TilesSpec::packed(int pack, const Expr& batch, const Expr& index, const Expr& feature) const {
  const Expr value = factor(pack, batch, index, feature);
  return packs[pack].fallback ? finite_or_zero(value) : value;
}

Expr TilesSpec::panel_at(const Result& r, const Point& point, const Expr& feature) const {
  Translator::Indices indices = cell(point);
  indices[r.form->feature] = feature;
  Translator t = at(std::move(indices), point.batch);
  return t.where(r.form->panel_guard, real(t(r.form->panel)));
}

Expr TilesSpec::weight(const Result& r, const Point& point) const {
  Translator t = at(cell(point), point.batch);
  return t.where(r.form->counted, real(t(r.form->weight)));
}

Expr TilesSpec::visible(const Result& r, const Point& point, const Values& tiles) const {
  Translator t = at(cell(point), point.batch);
  replace_earlier(t, ir::tensors(r.visible), static_cast<int>(form_.tiles.size()), tiles);
  return t.condition(r.visible);
}

Expr TilesSpec::scaled(const Result& r, const Expr& batch, const Expr& kept, const Expr& feature,
                       const Expr& sum) const {
  Translator::Indices indices = {{r.of_rows ? form_.row : form_.column, kept}};
  if (r.form->feature.valid()) indices[r.form->feature] = feature;
  return cast(stored(r), at(std::move(indices), batch).scaled(sum, r.form->scale));
}

Type TilesSpec::stored(const Result& r) const {
  return storage_type(scope_.g[r.form->tensor].storage);
}

std::vector<Expr> TilesSpec::position(const Result& r, const Point& point, const Expr& high,
                                      const Expr& low) const {
  Translator t = at(cell(point), point.batch);
  if (high.defined()) {
    t.replace(r.digits->high_of(form_.column), high);
    t.replace(r.digits->low_of(form_.column), low);
  }
  std::vector<Expr> position;
  for (const ir::Expr& e : r.form->position)
    position.push_back(r.form->feature.valid() && e == ir::index_value(r.form->feature) ? Expr()
                                                                                        : t(e));
  return position;
}

Expr TilesSpec::column_at(const Result& r, size_t k, const Expr& place, const Expr& batch,
                          const Expr& row) const {
  const ir::Expr& e = r.form->position[k];
  const auto with = [&](int column) {
    return ir::substitute(e, {{form_.column, ir::Expr(column)}});
  };
  const ir::Expr slope = with(1) - with(0);
  if (!slope.is(ir::Kind::literal) || !(slope * ir::index_value(form_.column) + with(0) == e))
    return {};
  const double s = slope->number.value();
  if (s != 1 && s != -1) return {};
  const Expr rest = at({{form_.row, row}}, batch)(with(0));
  return s > 0 ? place - rest : rest - place;
}

}  // namespace attn::lower
