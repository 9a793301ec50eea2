#include "compiler/plan/maps.h"

#include <algorithm>
#include <map>

#include "compiler/plan/kinds.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

// Definitions that read a tensor, by their places in the graph.
using Readers = std::map<TensorId, std::vector<size_t>>;

Readers readers_of(const Graph& g) {
  Readers readers;
  for (size_t k = 0; k < g.definitions.size(); ++k)
    for (TensorId t : reads(g.definitions[k])) readers[t].push_back(k);
  return readers;
}

std::set<TensorId> outputs_of(const Graph& g) {
  std::set<TensorId> result;
  for (const Output& o : g.outputs) result.insert(o.tensor);
  return result;
}

// All reads of `t` in `d`.
std::vector<Expr> sites(const Definition& d, TensorId t) {
  std::vector<Expr> result;
  auto collect = [&](const Expr& e) {
    visit(e, [&](const Expr& x) {
      if (x.is(Kind::read) && x->tensor == t) result.push_back(x);
      return true;
    });
  };
  collect(d.body);
  for (const Expr& c : d.guard) collect(c);
  return result;
}

bool is_read_in_condition(const Definition& d, TensorId t) {
  if (tensors(d.guard).count(t)) return true;
  bool found = false;
  visit(d.body, [&](const Expr& x) {
    if (x.is(Kind::select)) found = found || tensors(x.args()[0]).count(t);
    if (x.is(Kind::read))
      for (const Expr& s : x.args()) found = found || tensors(s).count(t);
    return true;
  });
  return found;
}

// The work of a reader does not grow: each of its points reads another element, up to indices
// of known small extent.
bool same_work(const Definition& reader, const std::vector<Expr>& read_sites) {
  if (read_sites.size() != 1) return false;
  std::set<IndexId> used;
  for (const Expr& s : read_sites[0].args()) used.merge(indices(s));
  for (IndexId i : reader.free)
    if (!used.count(i)) return false;
  return std::all_of(reader.reduced.begin(), reader.reduced.end(),
                     [&](IndexId i) { return used.count(i); });
}

bool is_sum_of_products(const Definition& reader) {
  return reader.combine == Combine::sum && reader.body.is(Kind::multiply);
}

// A contraction packs each factor on its own, so a factor may be computed anew: the other indices
// of the reader do not multiply its work much. Of another sum of products they do.
bool is_packed(const Graph& g, const Costs& costs, const Definition& reader) {
  if (!is_sum_of_products(reader)) return false;
  const std::optional<ContractionForm> c = contraction_of(g, costs, reader, nullptr);
  return c && packs(g, costs, *c);
}

class Substitution {
 public:
  Substitution(Graph& g, const std::map<TensorId, Definition>& gone) : g_(g), gone_(gone) {}

  Definition apply(Definition d) {
    Conditions guard;
    for (const Expr& c : d.guard) guard.merge(conjuncts(walk(c, {})));
    d.guard = guard;
    d.body = solve::assume(g_, walk(d.body, d.guard), d.guard);
    return normal_form(d);
  }

 private:
  Expr walk(const Expr& e, const Conditions& known) {
    if (e.is(Kind::select)) {
      Conditions then = known, otherwise = known;
      then.merge(conjuncts(e.args()[0]));
      otherwise.merge(conjuncts(negation(e.args()[0])));
      return select(walk(e.args()[0], known), walk(e.args()[1], then),
                    walk(e.args()[2], otherwise));
    }
    if (e.args().empty() && !e.is(Kind::read)) return e;
    std::vector<Expr> args;
    for (const Expr& a : e.args()) args.push_back(walk(a, known));
    if (!e.is(Kind::read) || !gone_.count(e->tensor)) return rebuild(e, std::move(args));
    const Definition& d = gone_.at(e->tensor);
    std::map<IndexId, Expr> values;
    for (size_t k = 0; k < d.free.size(); ++k) values.emplace(d.free[k], args[k]);
    Conditions guard;
    for (const Expr& c : substitute(d.guard, values))
      if (!known.count(c)) guard.insert(c);
    return where(guard, solve::assume(g_, substitute(d.body, values), known));
  }

  Graph& g_;
  const std::map<TensorId, Definition>& gone_;
};

// Whether a map computes much from other elements of every place: after a register tile they would
// be fetched from memory a few at a time, each waiting for the one before.
bool is_expensive_elsewhere(const Costs& costs, const Definition& map, TensorId sum) {
  if (cost(map.body) < costs.expensive_epilogue) return false;
  bool elsewhere = false;
  visit(map.body, [&](const Expr& x) {
    if (x.is(Kind::read) && !(x->tensor == sum)) {
      std::set<IndexId> used = indices(x);
      elsewhere = elsewhere || used.size() == map.free.size();
    }
    return true;
  });
  return elsewhere;
}

// The sums that `map` can finish, as the header says.
std::vector<TensorId> operands_of(const Graph& g, const Costs& costs, const Readers& readers,
                                  const std::set<TensorId>& outputs, const Definition& map) {
  if (map.combine != Combine::set) return {};
  std::vector<TensorId> result;
  for (TensorId t : reads(map)) {
    const Definition* sum = g.definition_of(t);
    if (!sum || sum->combine != Combine::sum || outputs.count(t)) continue;
    if (!is_sum_of_products(*sum) || readers.at(t).size() != 1 || is_read_in_condition(map, t))
      continue;
    std::vector<Expr> here = sites(map, t);
    bool own = !here.empty() && here[0].args().size() == map.free.size();
    for (const Expr& site : here)
      for (size_t k = 0; own && k < map.free.size(); ++k)
        own = site.args()[k] == index_value(map.free[k]) &&
              g.same(g[t].extents[k], g[map.target].extents[k]);
    if (own && !is_expensive_elsewhere(costs, map, t)) result.push_back(t);
  }
  return result;
}

bool is_inlined(const Graph& g, const Costs& costs, const Readers& readers,
                const std::set<TensorId>& outputs, const Definition& d) {
  const std::vector<size_t>& own = readers.at(d.target);
  const Definition& first = g.definitions[own[0]];
  const bool one_reader = own.size() == 1;
  const bool in_map =
      one_reader && first.combine == Combine::set && same_work(first, sites(first, d.target));
  if (!operands_of(g, costs, readers, outputs, d).empty() && !in_map) return false;
  const int64_t total = cost(d.body) + static_cast<int64_t>(d.guard.size());
  const bool whole = !is_real(arithmetic_type(g[d.target].storage));
  const bool cheap = total <= costs.cheap_map || (whole && total <= 4 * costs.cheap_map);
  return cheap || in_map ||
         (one_reader && sites(first, d.target).size() == 1 &&
          (is_packed(g, costs, first) || same_work(first, sites(first, d.target))));
}

}  // namespace

std::vector<Definition> substitute_maps(Graph& g, const std::set<TensorId>& gone) {
  std::map<TensorId, Definition> bodies;
  std::vector<Definition> result;
  Substitution substitution(g, bodies);
  for (const Definition& d : std::vector<Definition>(g.definitions)) {
    Definition done = substitution.apply(d);
    if (gone.count(d.target))
      bodies.emplace(d.target, done);
    else
      result.push_back(done);
  }
  return result;
}

Definition substitute_maps(Graph& g, const Definition& d,
                           const std::map<TensorId, Definition>& maps) {
  return Substitution(g, maps).apply(d);
}

std::map<TensorId, std::vector<TensorId>> epilogue_operands(const Graph& g, const Costs& costs) {
  const Readers readers = readers_of(g);
  const std::set<TensorId> outputs = outputs_of(g);
  std::map<TensorId, std::vector<TensorId>> result;
  for (const Definition& d : g.definitions)
    if (auto operands = operands_of(g, costs, readers, outputs, d); !operands.empty())
      result.emplace(d.target, std::move(operands));
  return result;
}

std::set<TensorId> choose_inlined(const Graph& given, const Costs& costs) {
  // Its definitions take in what is chosen: a map that reads a sum through others may finish it.
  Graph g = given;
  const std::set<TensorId> outputs = outputs_of(g);
  Readers readers = readers_of(g);
  std::set<TensorId> gone;
  std::map<TensorId, Definition> bodies;
  Substitution substitution(g, bodies);
  for (size_t k = 0; k < g.definitions.size(); ++k) {
    const Definition d = g.definitions[k];
    if (d.combine != Combine::set || outputs.count(d.target)) continue;
    if (g[d.target].role != Role::interior || readers[d.target].empty()) continue;
    if (!is_inlined(g, costs, readers, outputs, d)) continue;
    gone.insert(d.target);
    bodies = {{d.target, d}};
    for (TensorId t : reads(d)) std::erase(readers[t], k);
    for (size_t n : std::vector<size_t>(readers[d.target])) {
      Definition& reader = g.definitions[n];
      for (TensorId t : reads(reader)) std::erase(readers[t], n);
      reader = substitution.apply(reader);
      for (TensorId t : reads(reader)) readers[t].push_back(n);
    }
  }
  return gone;
}

}  // namespace attn::plan
