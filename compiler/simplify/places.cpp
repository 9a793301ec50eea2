#include "compiler/simplify/places.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/recurrence.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

Conditions with(const Conditions& known, const Expr& condition) {
  Conditions result = known;
  result.merge(conjuncts(condition));
  return result;
}

class Visitor {
 public:
  using Function = std::function<bool(const Expr&, const Conditions&)>;
  explicit Visitor(const Function& f) : f_(f) {}

  void walk(const Expr& e, const Conditions& known) {
    std::unordered_set<const Node*> seen;
    walk(e, known, seen);
  }

 private:
  void walk(const Expr& e, const Conditions& known, std::unordered_set<const Node*>& seen) {
    if (!e.args().empty() && !seen.insert(&e.node()).second) return;
    if (!f_(e, known)) return;
    if (e.is(Kind::select)) {
      walk(e.args()[0], known, seen);
      walk(e.args()[1], with(known, e.args()[0]));
      walk(e.args()[2], with(known, negation(e.args()[0])));
      return;
    }
    for (const Expr& a : e.args()) walk(a, known, seen);
  }

  const Function& f_;
};

class Rewriter {
 public:
  using Function = std::function<Expr(const Expr&, const Conditions&)>;
  explicit Rewriter(const Function& f) : f_(f) {}

  Expr walk(const Expr& e, const Conditions& known) {
    Done done;
    return walk(e, known, done);
  }

 private:
  using Done = std::unordered_map<const Node*, Expr>;  // under one set of conditions

  Expr walk(const Expr& e, const Conditions& known, Done& done) {
    if (e.args().empty()) return f_(e, known);
    if (auto it = done.find(&e.node()); it != done.end()) return it->second;
    std::vector<Expr> args;
    args.reserve(e.args().size());
    if (e.is(Kind::select)) {
      args = {walk(e.args()[0], known, done), walk(e.args()[1], with(known, e.args()[0])),
              walk(e.args()[2], with(known, negation(e.args()[0])))};
    } else {
      for (const Expr& a : e.args()) args.push_back(walk(a, known, done));
    }
    bool changed = false;
    for (size_t k = 0; k < args.size(); ++k)
      changed = changed || &args[k].node() != &e.args()[k].node();
    Expr result = f_(changed ? rebuild(e, std::move(args)) : e, known);
    done.emplace(&e.node(), result);
    return result;
  }

  const Function& f_;
};

}  // namespace

void visit_under(const Expr& e, const Conditions& known, const Visitor::Function& f) {
  Visitor(f).walk(e, known);
}

Expr rewrite_under(const Expr& e, const Conditions& known, const Rewriter::Function& f) {
  return Rewriter(f).walk(e, known);
}

std::optional<std::vector<IndexId>> plain_subscripts(const Expr& read) {
  std::vector<IndexId> result;
  for (const Expr& s : read.args()) {
    if (!s.is(Kind::index)) return std::nullopt;
    for (IndexId i : result)
      if (i == s->index) return std::nullopt;
    result.push_back(s->index);
  }
  return result;
}

std::map<IndexId, Expr> subscript_map(const Definition& d, const Expr& read) {
  std::map<IndexId, Expr> result;
  for (size_t k = 0; k < d.free.size(); ++k) result.emplace(d.free[k], read.args()[k]);
  return result;
}

bool scatters(const Definition& d) {
  for (const Expr& c : d.guard)
    if (c.is(Kind::is_zero))
      for (IndexId r : d.reduced)
        if (uses(c, r)) return true;
  return false;
}

std::set<IndexId> domain(const Definition& d) {
  std::set<IndexId> result(d.free.begin(), d.free.end());
  result.insert(d.reduced.begin(), d.reduced.end());
  return result;
}

std::optional<Conditions> conditions_alone(const Graph& g, const Expr& e, const Conditions& known) {
  bool in_range_anywhere = true;
  visit(e, [&](const Expr& x) {
    if (!x.is(Kind::read)) return true;
    for (size_t k = 0; k < x.args().size(); ++k) {
      const Expr& s = x.args()[k];
      in_range_anywhere = in_range_anywhere && s.is(Kind::index) &&
                          g.same(g[s->index].extent, g[x->tensor].extents[k]);
    }
    return true;
  });
  std::set<IndexId> mine = indices(e);
  Conditions alone;
  for (const Expr& c : known) {
    std::set<IndexId> used = indices(c);
    bool expressible = std::includes(mine.begin(), mine.end(), used.begin(), used.end());
    bool touches = std::any_of(used.begin(), used.end(), [&](IndexId i) { return mine.count(i); });
    if (expressible)
      alone.insert(c);
    else if (touches && !in_range_anywhere)
      return std::nullopt;
  }
  return alone;
}

ByTarget::ByTarget(const Graph& g) : by_target_(g.tensors.size(), nullptr) {
  for (const Definition& d : g.definitions) add(&d);
}

void ByTarget::add(const Definition* d) {
  if (static_cast<size_t>(d->target.value) >= by_target_.size())
    by_target_.resize(d->target.value + 1, nullptr);
  by_target_[d->target.value] = d;
}

std::vector<bool> fixed_tensors(const Graph& g) {
  std::vector<bool> result(g.tensors.size(), false);
  for (const Output& o : g.outputs) result[o.tensor.value] = true;
  for (TensorId t : carried(g)) result[t.value] = true;
  return result;
}

bool stores_exactly(const Graph& g, TensorId t) {
  Storage s = g[t].storage;
  return s != Storage::f16 && s != Storage::bf16;
}

bool holds(const Graph& g, const Conditions& known, const Conditions& a) {
  for (const Expr& c : a)
    if (!known.count(c) && !solve::proves(g, known, c)) return false;
  return true;
}

bool in_range(const Graph& g, const Conditions& known, const Expr& value, const Poly& extent) {
  if (value.is(Kind::index) && g.same(g[value->index].extent, extent)) return true;
  return holds(g, known, conjuncts(at_least_zero(value))) &&
         holds(g, known, conjuncts(less(value, size_value(extent))));
}

}  // namespace attn::simplify
