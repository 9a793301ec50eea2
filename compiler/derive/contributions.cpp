#include "compiler/derive/contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/derive/combine_vjp.h"
#include "compiler/derive/moves.h"
#include "compiler/solve/prove.h"

namespace attn::derive {
namespace {

using ir::Definition;
using ir::Expr;
using ir::IndexId;

// For each axis the index of the domain that becomes it.
using Match = std::vector<std::optional<IndexId>>;

Match match(const Contribution& c) {
  Match result(c.at.size());
  std::vector<IndexId> open = c.domain;
  auto take = [&](size_t k) {
    if (!c.at[k].is(ir::Kind::index)) return;
    auto it = std::ranges::find(open, c.at[k]->index);
    if (it == open.end()) return;
    result[k] = *it;
    open.erase(it);
  };
  if (c.step) take(*c.step);
  for (size_t k = 0; k < c.at.size(); ++k)
    if (k != c.step) take(k);
  return result;
}

bool reduces(const Contribution& c, const Match& m) {
  const auto matched = std::ranges::count_if(m, [](const auto& i) { return i.has_value(); });
  return static_cast<size_t>(matched) < c.domain.size();
}

// The contribution over the indices `free` of the left side, with what is left of its domain.
Definition scattered(ir::Graph& g, const Contribution& c, const Match& m,
                     const std::vector<IndexId>& free) {
  std::map<IndexId, Expr> renamed;
  ir::Conditions ranges;
  for (size_t k = 0; k < m.size(); ++k) {
    if (!m[k]) continue;
    const Expr n = ir::index_value(free[k]);
    renamed.emplace(*m[k], n);
    if (!g.same(g[*m[k]].extent, g[free[k]].extent))
      ranges.insert(ir::less(n, ir::size_value(g[*m[k]].extent)));
  }
  Definition d;
  d.free = free;
  for (IndexId i : c.domain) {
    if (renamed.count(i)) continue;
    const ir::Index old = g[i];
    d.reduced.push_back(g.new_index(old.name, old.extent));
    renamed.emplace(i, ir::index_value(d.reduced.back()));
  }
  d.combine = d.reduced.empty() ? ir::Combine::set : ir::Combine::sum;
  d.guard = ir::substitute(c.guard, renamed);
  d.guard.merge(ranges);
  for (size_t k = 0; k < m.size(); ++k)
    if (!m[k])
      d.guard.merge(
          ir::conjuncts(ir::equal(ir::index_value(free[k]), ir::substitute(c.at[k], renamed))));
  d.guard = solve::tidy(g, ir::conjuncts(ir::all_of(d.guard)));
  d.body = solve::assume(g, ir::substitute(c.value, renamed), d.guard);
  d.where = c.where;
  return ir::normal_form(std::move(d));
}

std::vector<IndexId> left_side(ir::Graph& g, const std::vector<ir::Poly>& extents,
                               const std::vector<std::string>& names) {
  std::vector<IndexId> result;
  for (size_t k = 0; k < extents.size(); ++k) result.push_back(g.new_index(names[k], extents[k]));
  return result;
}

// The given names, save where a reduced index has the same one and the contribution's own is free.
std::vector<std::string> names_beside(const ir::Graph& g, const Contribution& c, const Match& m,
                                      const std::vector<std::string>& names) {
  std::set<std::string> used(names.begin(), names.end());
  std::set<std::string> reduced;
  for (IndexId i : c.domain)
    if (std::ranges::find(m, std::optional(i)) == m.end()) reduced.insert(g[i].name);
  std::vector<std::string> result = names;
  for (size_t k = 0; k < m.size(); ++k) {
    if (!m[k] || !reduced.count(names[k])) continue;
    const std::string& own = g[*m[k]].name;
    if (!reduced.count(own) && used.insert(own).second) result[k] = own;
  }
  return result;
}

}  // namespace

std::vector<ir::TensorId> add_up(ir::Graph& g, ir::TensorId target,
                                 const std::vector<std::string>& names,
                                 const std::vector<Contribution>& contributions,
                                 const solve::Unmaterialised& unmaterialised) {
  std::vector<ir::TensorId> places(contributions.size(), target);
  const ir::Tensor of = g[target];
  auto finish = [&](Definition d, ir::TensorId to) {
    d.target = to;
    // What was named as f64 before it is defined has been read as that.
    if (g[to].role == ir::Role::interior && g[to].storage != ir::Storage::f64)
      g[to].storage = storage_of(d.body);
    g.definitions.push_back(std::move(d));
  };
  std::vector<Expr> addends;
  Definition total;
  total.free = left_side(g, of.extents, names);
  total.where = of.where;
  int parts = 0;
  auto new_part = [&](const std::vector<ir::Poly>& extents, Span where) {
    return g.new_tensor(
        tensor(fmt::format("{}.{}", of.name, ++parts), ir::Storage::f32, extents, where));
  };
  for (size_t k = 0; k < contributions.size(); ++k) {
    const Contribution& c = contributions[k];
    if (auto moved = move_to_elements(g, c, target, total.free, unmaterialised)) {
      if (moved->sum) {
        places[k] = new_part(g.extents(moved->sum->free), c.where);
        finish(std::move(*moved->sum), places[k]);
        moved->value = g.read(places[k], moved->value.args());
      }
      if (moved->several.empty()) {
        addends.push_back(ir::where(moved->guard, moved->value));
        continue;
      }
      const Definition of_several{.free = total.free,
                                  .combine = ir::Combine::sum,
                                  .reduced = moved->several,
                                  .guard = moved->guard,
                                  .body = moved->value,
                                  .where = c.where};
      const ir::TensorId part = new_part(of.extents, c.where);
      finish(ir::with_fresh_indices(g, of_several).definition, part);
      addends.push_back(g.read(part, ir::index_values(total.free)));
      continue;
    }
    const Match m = match(c);
    if (!reduces(c, m)) {
      const Definition d = scattered(g, c, m, total.free);
      addends.push_back(ir::where(d.guard, d.body));
      continue;
    }
    Definition d = scattered(g, c, m, left_side(g, of.extents, names_beside(g, c, m, names)));
    if (contributions.size() == 1 && !d.body.is_zero()) {
      finish(std::move(d), target);
      return places;
    }
    if (d.body.is_zero()) continue;
    const ir::TensorId part = new_part(of.extents, c.where);
    finish(std::move(d), part);
    places[k] = part;
    addends.push_back(g.read(part, ir::index_values(total.free)));
  }
  total.body = ir::add(std::move(addends));
  total = ir::normal_form(std::move(total));
  finish(std::move(total), target);
  return places;
}

}  // namespace attn::derive
