#include "compiler/plan/block_bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/table.h"

namespace attn::plan {
namespace {

using namespace ir;

bool is_comparison(const Expr& c) { return c.is(Kind::at_least_zero) || c.is(Kind::is_zero); }

std::vector<Expr> terms_of(const Expr& comparison) { return addends_of(comparison.args()[0]); }

// Whether the least and the greatest values of groups decide where it holds for none of a pair.
bool decides(const Expr& c, IndexId row, IndexId column) {
  auto part_decides = [&](const Expr& part) { return decides(part, row, column); };
  if (c.is(Kind::both)) return std::ranges::any_of(c.args(), part_decides);
  if (c.is(Kind::either)) return std::ranges::all_of(c.args(), part_decides);
  if (!is_comparison(c)) return !uses(c, row) || !uses(c, column);
  const std::vector<Expr> terms = terms_of(c);
  return std::ranges::none_of(
      terms, [&](const Expr& term) { return uses(term, row) && uses(term, column); });
}

// Along one of the two axes.
struct Axis {
  IndexId place;  // of the kernel
  SizeId groups;  // how many
  IndexId group;  // in the definitions of bounds
  IndexId within;
};

class Finder {
 public:
  Finder(Graph& g, const BoundsQuery& query)
      : g_(g), visible_(query.visible), batch_(query.batch), row_(axis(query.row)) {
    // Bounds that rows and columns share are computed once.
    const bool alike = g.same(g[query.row].extent, g[query.column].extent);
    column_ = alike ? row_ : axis(query.column);
    column_.place = query.column;
  }

  FoundBounds find() {
    const std::set<IndexId> used = indices(visible_);
    std::erase_if(batch_, [&](IndexId i) { return !used.count(i); });
    own_ = fresh(batch_);
    row_group_ = g_.new_index("g", Poly::size(row_.groups));
    column_group_ = g_.new_index("n", Poly::size(column_.groups));
    add_bounds(seen(all_of(visible_)));
    return std::move(found_);
  }

 private:
  Axis axis(IndexId place) {
    const Poly groups_of = g_[place].extent + Poly(kBoundRows - 1);
    const std::pair<Poly, Poly> quotient{groups_of, Poly(kBoundRows)};
    Axis a{.place = place};
    for (size_t k = 0; k < g_.sizes.size() && !a.groups.valid(); ++k)
      if (g_.sizes[k].quotient == quotient) a.groups = {static_cast<int32_t>(k)};
    if (!a.groups.valid()) {
      const auto single = g_[place].extent.single();
      const std::string of = single ? g_[*single].name : g_[place].name;
      Size groups{.name = of + ".groups", .quotient = quotient};
      for (int n = 2; g_.find_size(groups.name); ++n)
        groups.name = fmt::format("{}.groups.{}", of, n);
      if (const auto known = g_.known(groups_of)) {
        groups.value = std::max<int64_t>(*known, 0) / kBoundRows;
        groups.quotient.reset();
      }
      g_.sizes.push_back(groups);
      a.groups = {static_cast<int32_t>(g_.sizes.size() - 1)};
    }
    a.group = g_.new_index("g", Poly::size(a.groups));
    a.within = g_.new_index("r", kBoundRows);
    return a;
  }

  std::map<IndexId, Expr> fresh(const std::vector<IndexId>& some) {
    std::map<IndexId, Expr> names;
    for (IndexId i : some) {
      const Index index = g_[i];
      names.emplace(i, index_value(g_.new_index(index.name, index.extent)));
    }
    return names;
  }

  // The batch's indices among `used`, then `last`.
  std::vector<IndexId> free_with(const std::set<IndexId>& used, IndexId last) const {
    std::vector<IndexId> free;
    for (IndexId i : batch_)
      if (used.count(i)) free.push_back(own_.at(i)->index);
    free.push_back(last);
    return free;
  }

  TensorId define(const std::string& name, Definition d) {
    d.target =
        g_.new_tensor({.name = name, .storage = Storage::i32, .extents = g_.extents(d.free)});
    found_.definitions.push_back(d);
    return d.target;
  }

  // The least or the greatest value in each group of an axis, at one of its groups, or a bound.
  Expr bound(Combine combine, const Expr& value, const Axis& axis, IndexId group) {
    std::map<IndexId, Expr> names = own_;
    if (!uses(value, axis.place)) return substitute(value, names);
    if (const auto slope = slope_of(value, axis.place)) {
      const bool at_end = (combine == Combine::max) == (*slope > 0);
      names.emplace(axis.place, first_of(group) + Expr(at_end ? kBoundRows - 1 : 0));
      return substitute(value, names);
    }
    const Expr place = first_of(axis.group) + index_value(axis.within);
    names.emplace(axis.place, place);
    const std::set<IndexId> used = indices(value);
    Definition d{.free = free_with(used, axis.group),
                 .combine = combine,
                 .reduced = {axis.within},
                 .guard = {less(place, size_value(g_[axis.place].extent))},
                 .body = substitute(value, names)};
    auto [known, is_new] = bounds_.try_emplace({combine, d.body, axis.group});
    if (is_new) {
      const std::set<TensorId> of = tensors(value);
      known->second = define((of.empty() ? g_[axis.place].name : g_[*of.begin()].name) +
                                 (combine == Combine::min ? ".least" : ".greatest"),
                             d);
    }
    return g_.read(known->second, index_values(free_with(used, group)));
  }

  static Expr first_of(IndexId group) { return Expr(kBoundRows) * index_value(group); }

  // Of a value that reads no data and is linear in a place.
  static std::optional<double> slope_of(const Expr& value, IndexId place) {
    auto at = [&](int n) { return substitute(value, {{place, Expr(n)}}); };
    const Expr slope = at(1) - at(0);
    if (!tensors(value).empty() || !slope.is(Kind::literal)) return std::nullopt;
    if (!(value == slope * index_value(place) + at(0))) return std::nullopt;
    return slope->number.value();
  }

  Expr row_bound(Combine combine, const Expr& value) {
    return bound(combine, value, row_, row_group_);
  }

  Expr column_bound(Combine combine, const Expr& value) {
    return bound(combine, value, column_, column_group_);
  }

  // As real numbers, whose rounding keeps the order: a difference of integers may overflow.
  static Expr not_above(const Expr& a, const Expr& b) {
    const Operation& real = *ops::find("float");
    return at_most(call(real, {a}), call(real, {b}));
  }

  // Where a condition may hold for some pair of two groups.
  Expr seen(const Expr& c) {
    if (c.is(Kind::both) || c.is(Kind::either)) {
      std::vector<Expr> parts;
      for (const Expr& part : c.args())
        if (decides(part, row_.place, column_.place)) parts.push_back(seen(part));
      return c.is(Kind::both) ? all_of(parts) : any_of(parts);
    }
    if (is_comparison(c)) return comparison_seen(c);
    if (!uses(c, row_.place) && !uses(c, column_.place)) return substitute(c, own_);
    const Expr holds = select(c, Expr(1), Expr(0));
    const Expr some =
        uses(c, row_.place) ? row_bound(Combine::max, holds) : column_bound(Combine::max, holds);
    return at_least_zero(some - Expr(1));
  }

  // Of u - w >= 0 or u - w == 0, u of the row and w of the column.
  Expr comparison_seen(const Expr& c) {
    std::vector<Expr> of_row, of_column;
    bool negative = false;
    for (const Expr& term : terms_of(c)) {
      if (uses(term, column_.place)) {
        of_column.push_back(negate(term));
        continue;
      }
      of_row.push_back(term);
      if (uses(term, row_.place) && !tensors(term).empty())
        negative = split_coefficient(term).coefficient.value() < 0;
    }
    Expr u = ir::add(of_row), w = ir::add(of_column);
    if (negative) {
      u = negate(u);
      w = negate(w);
    }
    std::vector<Expr> both;
    // The bounds are new definitions: one after the other.
    if (c.is(Kind::is_zero) || !negative) {
      const Expr greatest = row_bound(Combine::max, u), least = column_bound(Combine::min, w);
      both.push_back(not_above(least, greatest));
    }
    if (c.is(Kind::is_zero) || negative) {
      const Expr greatest = column_bound(Combine::max, w), least = row_bound(Combine::min, u);
      both.push_back(not_above(least, greatest));
    }
    return all_of(both);
  }

  void add_bounds(const Expr& some_seen) {
    const Expr start = first_of(column_group_);
    Definition d{.free = free_with({batch_.begin(), batch_.end()}, row_group_),
                 .reduced = {column_group_}};
    d.combine = Combine::min;
    d.body = select(some_seen, start, size_value(g_[column_.place].extent));
    found_.bounds.first = define("seen.first", d);
    d.combine = Combine::max;
    d.body = select(some_seen, start + Expr(kBoundRows), Expr(0));
    found_.bounds.end = define("seen.end", d);
    found_.bounds.batch = batch_;
  }

  Graph& g_;
  const Conditions& visible_;
  std::vector<IndexId> batch_;
  Axis row_, column_;
  std::map<IndexId, Expr> own_;  // the batch's indices in the definitions
  IndexId row_group_, column_group_;
  std::map<std::tuple<Combine, Expr, IndexId>, TensorId> bounds_;
  FoundBounds found_;
};

}  // namespace

BoundsQuery bounds_query(const TilesForm& form) {
  BoundsQuery q{form.batch, form.row, form.column, form.visible_somewhere()};
  std::erase_if(q.visible, [&](const Expr& c) {
    return tensors(c).empty() || !decides(c, form.row, form.column);
  });
  return q;
}

std::optional<FoundBounds> find_bounds(Graph& g, const BoundsQuery& query) {
  if (query.visible.empty()) return std::nullopt;
  return Finder(g, query).find();
}

}  // namespace attn::plan
