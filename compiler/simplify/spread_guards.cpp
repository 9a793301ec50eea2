// Guards travel. What a condition hides is absent, and so is every product with it: forwards, a sum
// or map takes the guards of its factors; backwards, a tensor takes what all its readers demand.
// This is part of the meaning: without it a hidden NaN would reach a result.
#include <algorithm>
#include <memory>

#include "compiler/ir/operation.h"
#include "compiler/ir/recurrence.h"
#include "compiler/ir/under.h"
#include "compiler/simplify/pass.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

bool is_zero_outside_guard(const Definition& d) {
  return d.position.empty() && (d.combine == Combine::set || d.combine == Combine::sum);
}

// The conditions of d that speak of its free indices only, as they are at a read of it.
Conditions guard_at(const Definition& d, const Expr& read) {
  Conditions free;
  for (const Expr& c : d.guard) {
    std::set<IndexId> used = indices(c);
    if (std::ranges::none_of(d.reduced, [&](IndexId r) { return used.count(r); })) free.insert(c);
  }
  return free.empty() ? free : substitute(free, subscript_map(d, read));
}

// Conditions outside which e is 0: united over factors, shared by all terms.
Conditions zero_outside(const Expr& e, const ByTarget& definitions) {
  switch (e.kind()) {
    case Kind::read: {
      const Definition* d = definitions.find(e->tensor);
      if (!d || d->guard.empty() || !is_zero_outside_guard(*d)) return {};
      return guard_at(*d, e);
    }
    case Kind::multiply: {
      Conditions all;
      for (const Expr& a : e.args()) all.merge(zero_outside(a, definitions));
      return all;
    }
    case Kind::add: {
      Conditions common = zero_outside(e.args()[0], definitions);
      for (size_t k = 1; k < e.args().size() && !common.empty(); ++k) {
        Conditions other = zero_outside(e.args()[k], definitions);
        std::erase_if(common, [&](const Expr& c) { return !other.count(c); });
      }
      return common;
    }
    case Kind::select: {
      if (!e.args()[2].is_zero()) return {};
      Conditions all = zero_outside(e.args()[1], definitions);
      all.merge(conjuncts(e.args()[0]));
      return all;
    }
    case Kind::power:
      if (e.args()[1].is(Kind::literal) && e.args()[1]->number.value() > 0)
        return zero_outside(e.args()[0], definitions);
      return {};
    case Kind::call:
      return meaning(e) == Meaning::stop ? zero_outside(e.args()[0], definitions) : Conditions{};
    default:
      return {};
  }
}

// What one read of a tensor asks of it.
struct Read {
  Expr subscripts;  // the read itself
  std::shared_ptr<const Conditions> known;
};

// The reads of every tensor, filled from the last definition to the first.
class Demands {
 public:
  explicit Demands(const Graph& g)
      : g_(g), reads_(g.tensors.size()), position_(g.tensors.size(), -1) {
    for (size_t k = 0; k < g.definitions.size(); ++k)
      position_[g.definitions[k].target.value] = static_cast<int>(k);
  }

  // A condition decides what exists, so reads in a guard are unconditional.
  void record(const Definition& d) {
    for (const Expr& c : d.guard) record(c, {});
    record(d.body, d.guard);
  }

  // The conditions on d's free indices that every read of it has.
  Conditions common(const Definition& d, int at) const {
    Conditions result;
    bool first = true;
    for (const Read& r : reads_[d.target.value]) {
      // An element is read at these values of the indices, whatever its other subscripts are.
      std::map<IndexId, Expr> to_free;
      for (size_t k = 0; k < d.free.size(); ++k)
        if (const Expr& s = r.subscripts.args()[k]; s.is(Kind::index))
          to_free.emplace(s->index, index_value(d.free[k]));
      Conditions here;
      for (const Expr& c : *r.known)
        if (expressible(c, to_free, at)) here.merge(conjuncts(ir::substitute(c, to_free)));
      if (first)
        result = std::move(here);
      else
        std::erase_if(result, [&](const Expr& c) { return !here.count(c); });
      first = false;
      if (result.empty()) break;
    }
    return result;
  }

 private:
  void record(const Expr& e, const Conditions& known) {
    // Reads under one set of conditions share it.
    const Conditions* last = nullptr;
    std::shared_ptr<const Conditions> shared;
    visit_under(e, known, [&](const Expr& x, const Conditions& here) {
      if (!x.is(Kind::read)) return true;
      if (last != &here || *shared != here) shared = std::make_shared<const Conditions>(here);
      last = &here;
      reads_[x->tensor.value].push_back({x, shared});
      return true;
    });
  }

  bool expressible(const Expr& c, const std::map<IndexId, Expr>& to_free, int at) const {
    for (IndexId i : indices(c))
      if (!to_free.count(i)) return false;
    for (TensorId t : tensors(c))
      if (position_[t.value] >= at) return false;
    return true;
  }

  const Graph& g_;
  std::vector<std::vector<Read>> reads_;
  std::vector<int> position_;
};

// Of conditions that join a guard those whose reads are in range wherever the others hold: a
// definition may have elements that none of its readers has, and readers conditions of their own.
Conditions readable(const Graph& g, const Conditions& guard, Conditions added) {
  Conditions known = guard;
  for (const Expr& c : added)
    if (tensors(c).empty()) known.insert(c);
  const auto is_outside = [&](const Expr& e) {
    if (!e.is(Kind::read)) return false;
    for (size_t k = 0; k < e.args().size(); ++k)
      if (tensors(e.args()[k]).empty() && !in_range(g, known, e.args()[k], g[e->tensor].extents[k]))
        return true;
    return false;
  };
  std::erase_if(added, [&](const Expr& c) { return any_part(c, is_outside); });
  return added;
}

}  // namespace

Graph strengthen(const Graph& g) {
  Graph result = g;
  ByTarget definitions(g.tensors.size());
  const Needs needs(g);
  for (Definition& d : result.definitions) {
    if (is_zero_outside_guard(d)) {
      Conditions guard = zero_outside(d.body, definitions);
      std::erase_if(guard,
                    [&](const Expr& c) { return d.guard.count(c) || !needs.may_hold(d, c); });
      guard = readable(g, d.guard, std::move(guard));
      if (!guard.empty()) {
        guard.insert(d.guard.begin(), d.guard.end());
        d.guard = solve::tidy(g, guard);
        d = normal_form(std::move(d));
      }
    }
    definitions.add(&d);
  }
  return result;
}

Graph demand(const Graph& g) {
  Graph result = g;
  std::vector<bool> is_fixed = fixed_tensors(g);
  Demands demands(g);
  for (int at = static_cast<int>(g.definitions.size()) - 1; at >= 0; --at) {
    Definition& d = result.definitions[at];
    if (!is_fixed[d.target.value]) {
      Conditions guard = demands.common(d, at);
      std::erase_if(guard, [&](const Expr& c) { return d.guard.count(c) > 0; });
      guard = readable(g, d.guard, std::move(guard));
      if (!guard.empty()) {
        guard.insert(d.guard.begin(), d.guard.end());
        d.guard = solve::tidy(g, guard);
        d = normal_form(std::move(d));
      }
    }
    demands.record(d);
  }
  return result;
}

Graph spread_guards(const Graph& g) { return demand(strengthen(g)); }

}  // namespace attn::simplify
