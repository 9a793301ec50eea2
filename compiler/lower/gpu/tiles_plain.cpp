// How tiles are computed on a GPU: each thread computes those that its result sums, point by point.
#include "compiler/lower/gpu/tiles.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"
#include "compiler/lower/terms/vector_math.h"

namespace attn::lower::gpu {

// The tiles at the points that one Func visits, and the sums of their products.
struct PlainTiles::Computed {
  std::vector<Func> dots, values;
  void compute_at(const LoopLevel& level) {
    for (Func f : dots) f.compute_at(level);
    for (Func f : values) f.compute_at(level);
  }
  // At a point without promises: Halide sees then that it is one point.
  TilesSpec::Values at(const Point& p) const {
    return [funcs = values, p](int k) -> Expr { return funcs[k](p.column, p.row, p.batch); };
  }
};

namespace {

// Which indices of the batch are summed; the region gets their extents.
std::vector<size_t> add_summed(const TilesSpec& spec, const std::vector<Expr>& batch,
                               Halide::Region& region) {
  std::vector<size_t> summed;
  for (size_t k = 0; k < batch.size(); ++k) {
    if (batch[k].defined()) continue;
    summed.push_back(k);
    region.emplace_back(0, spec.batch_extents[k]);
  }
  return summed;
}

}  // namespace

PlainTiles::Computed PlainTiles::tiles(const std::string& reader) const {
  Computed all;
  Var i("i"), j("j"), h("h");
  const Point here = promised({h, i, j});
  for (int k = 0; k < static_cast<int>(spec_.dots.size()); ++k) {
    const std::string name = reader + "_tile" + std::to_string(k);
    Expr sum = 0.0f;
    if (!spec_.dots[k].empty()) {
      Func dot(name + "_dot");
      dot(j, i, h) = 0.0f;
      for (const TilesSpec::Dot& d : spec_.dots[k]) {
        RDom r(0, d.length, "rd");
        dot(j, i, h) += each_time(r, spec_.product(d, here, in_range(r, d.length)));
      }
      sum = dot(j, i, h);
      all.dots.push_back(dot);
    }
    Func value(name);
    value(j, i, h) = spec_.value(k, here, sum, all.at({h, i, j}));
    all.values.push_back(value);
  }
  return all;
}

// Leaves out of a loop what is hidden at a point by conditions and data.
void PlainTiles::see(RDom& domain, const Point& point) const {
  const auto [batch, row, column] = promised(point);
  const Edges& e = spec_.columns_of_rows;
  if (e.end) domain.where(unsolved(column < e.end(row, row)));
  if (e.first) domain.where(unsolved(column >= e.first(row, row)));
  const SeenByData& data = spec_.seen_by_data;
  if (data)
    domain.where(
        unsolved(column < data.end(batch, row, row) && column >= data.first(batch, row, row)));
}

// Of each row the greatest score, and the sum of the exponentials of the distances to it.
void PlainTiles::add_statistics() {
  if (has_statistics_) return;
  has_statistics_ = true;
  const int last = static_cast<int>(spec_.dots.size()) - 1;
  Var i("i"), h("h");
  RDom rm(0, spec_.columns, "rm"), rs(0, spec_.columns, "rs");
  see(rm, {h, i, rm});
  see(rs, {h, i, rs});
  Computed of_top = tiles("out_top"), of_total = tiles("out_total");
  top_(i, h) = kFloor;
  top_(i, h) = max(top_(i, h), of_top.at({h, i, rm})(last));
  total_(i, h) = 0.0f;
  total_(i, h) += vector_exp(of_total.at({h, i, rs})(last) - top_(i, h), -60.0f);
  for (Func f : {top_, total_}) {
    f.compute_root().bound(i, 0, rows_).bound(h, 0, batches_);
    one_thread_a_point(f);
    one_thread_a_point(f, f.update(), f.args());
  }
  of_top.compute_at(LoopLevel(top_, RVar(rm.x)));
  of_total.compute_at(LoopLevel(total_, RVar(rs.x)));
}

Func PlainTiles::planes(const Result& r) const {
  const Own o = own_of(r);
  const Expr batch = linear(o.batch), row = o.kept;
  const Expr top = top_(row, batch), total = total_(row, batch);
  Func out("out_planes");
  Var plane("plane");
  std::vector<Var> vars = o.vars;
  vars.push_back(plane);
  out(vars) = select(plane == 0, high(top, total), low(total));
  std::vector<VarOrRVar> order(o.vars.begin(), o.vars.end());
  order.insert(order.begin(), plane);
  out.bound(plane, 0, 2).reorder(order).unroll(plane);
  one_thread_a_point(out, out, o.vars);
  return out;
}

// What a point adds to a result.
Expr PlainTiles::addend(const Result& r, const Point& point, const TilesSpec::Values& tiles,
                        const Expr& feature) const {
  const Point here = promised(point);
  Expr value = tiles(r.tile);
  if (r.kind() == Kind::weighted) {
    value = vector_exp(value - top_(point.row, point.batch), -60.0f);
    if (r.has_weight()) value = value * spec_.weight(r, here);
  }
  if (r.has_panel_at())
    value = value * spec_.panel_at(r, here, feature);
  else if (r.panel >= 0)
    value = value * spec_.factor(r.panel, here.batch, r.of_rows ? here.column : here.row, feature);
  return r.visible.empty() ? value : masked(spec_.visible(r, here, tiles), value, 0.0f);
}

Func PlainTiles::sum(const Result& r) const {
  const std::string name = "out" + std::to_string(&r - spec_.results.data());
  const Own o = own_of(r);
  const Expr feature = feature_of(r, o.feature);
  Halide::Region region = {{0, r.of_rows ? spec_.columns : spec_.rows}};
  std::vector<Expr> batch = o.batch;
  const std::vector<size_t> summed = add_summed(spec_, batch, region);
  RDom domain(region, "rj");
  for (size_t n = 0; n < summed.size(); ++n) batch[summed[n]] = domain[static_cast<int>(n) + 1];
  const Expr h = linear(batch), other = domain[0];
  const Point here{h, r.of_rows ? o.kept : other, r.of_rows ? other : o.kept};
  const Expr kept = own(o.kept, r.of_rows ? rows_ : columns_), in_batch = own(h, batches_);
  see(domain, here);
  Computed all = tiles(name);
  Func total(name + "_sum"), out(name);
  total(o.vars) = 0.0f;
  Expr value = addend(r, here, all.at(here), feature);
  if (!summed.empty()) value = spec_.scaled(r, in_batch, kept, feature, value);
  total(o.vars) += each_time(domain, value);
  value = total(o.vars);
  if (r.kind() == Kind::weighted) value = value * inverse(total_(o.kept, h));
  out(o.vars) = summed.empty() ? spec_.scaled(r, in_batch, kept, feature, value)
                               : cast(total.types()[0], value);
  total.compute_at(one_thread_a_point(out));
  all.compute_at(LoopLevel(total, RVar(domain.x)));
  return out;
}

// Each element is one thread's, which visits all that may be added to it: of each row the column
// that a position says, or else all columns.
Func PlainTiles::scatter(const Result& r) const {
  const std::string name = "out" + std::to_string(&r - spec_.results.data());
  const int batches = static_cast<int>(spec_.batch_extents.size());
  std::vector<Expr> batch(spec_.batch_extents.size());
  std::vector<Var> vars;
  Expr feature = 0;
  for (size_t k = r.dimensions.size(); k-- > 0;) {
    Var v("p" + std::to_string(k));
    vars.push_back(v);
    if (r.dimensions[k] < batches) batch[r.dimensions[k]] = v;
    if (r.dimensions[k] == batches + 1) feature = v;
  }
  const auto var_of = [&](size_t k) { return vars[vars.size() - 1 - k]; };
  const auto is_place = [&](size_t k) { return r.dimensions[k] == batches; };
  size_t solved = 0;
  while (solved < r.dimensions.size() &&
         !(is_place(solved) && spec_.column_at(r, solved, 0, 0, 0).defined()))
    ++solved;
  const bool is_solved = solved < r.dimensions.size();
  Halide::Region region = {{0, spec_.rows}};
  const std::vector<size_t> summed = add_summed(spec_, batch, region);
  if (!is_solved) region.insert(region.begin(), {0, spec_.columns});
  RDom domain(region, "rp");
  const int rows = is_solved ? 0 : 1;
  for (size_t n = 0; n < summed.size(); ++n)
    batch[summed[n]] = domain[static_cast<int>(n) + rows + 1];
  const Expr h = linear(batch), row = domain[rows];
  Expr column = domain[0];
  if (is_solved) {
    const Expr place = own(var_of(solved), max(r.extents[solved], 1));
    column = spec_.column_at(r, solved, place, own(h, batches_), own(row, rows_));
    domain.where(unsolved(column >= 0 && column < spec_.columns));
    column = clamp(column, 0, columns_ - 1);
  }
  const Point here{h, row, column};
  const std::vector<Expr> position = spec_.position(r, promised(here));
  see(domain, here);
  for (size_t k = 0; k < position.size(); ++k)
    if (is_place(k) && position[k].defined() && (!is_solved || k != solved))
      domain.where(unsolved(position[k] == var_of(k)));
  Computed all = tiles(name);
  // Of twice the digits: many points may be added to one place.
  const Type kept = Halide::Float(64);
  Func total(name + "_sum"), out(name);
  total(vars) = make_zero(kept);
  total(vars) += each_time(domain, cast(kept, addend(r, here, all.at(here), feature)));
  out(vars) = cast<float>(total(vars));
  total.compute_at(one_thread_a_point(out));
  all.compute_at(LoopLevel(total, RVar(domain.x)));
  return out;
}

Func PlainTiles::schedule(const Result& r) {
  if (r.kind() == Kind::logsumexp || r.kind() == Kind::weighted) add_statistics();
  if (r.kind() == Kind::logsumexp) return planes(r);
  return r.kind() == Kind::scatter ? scatter(r) : sum(r);
}

}  // namespace attn::lower::gpu
