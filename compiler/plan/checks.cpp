// Integer data that is used in subscripts must be checked when the model is called. The check is
// itself two definitions: the least and the greatest value of the subscript where its conditions
// hold.
#include <fmt/format.h>

#include "compiler/plan/function.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

struct Site {
  Expr subscript;
  Conditions known;
  TensorId read;
  int dimension;
};

bool is_given(const Tensor& t) { return t.role == Role::input || t.role == Role::parameter; }

class Collector {
 public:
  explicit Collector(Graph& g) : g_(g) {}

  void collect(const Definition& d) {
    for (const Expr& c : d.guard) {
      Conditions others = d.guard;
      others.erase(c);
      walk(c, others);
    }
    walk(d.body, d.guard);
  }

  std::vector<Site> sites;

 private:
  void walk(const Expr& e, const Conditions& known) {
    if (e.is(Kind::select)) {
      Conditions then = known, otherwise = known;
      then.merge(conjuncts(e.args()[0]));
      otherwise.merge(conjuncts(negation(e.args()[0])));
      walk(e.args()[0], known);
      walk(e.args()[1], then);
      walk(e.args()[2], otherwise);
      return;
    }
    if (e.is(Kind::read))
      for (size_t k = 0; k < e.args().size(); ++k) site(e, static_cast<int>(k), known);
    for (const Expr& a : e.args()) walk(a, known);
  }

  void site(const Expr& read, int dimension, const Conditions& known) {
    const Expr& s = read.args()[dimension];
    if (tensors(s).empty()) return;
    Expr extent = size_value(g_[read->tensor].extents[dimension]);
    if (solve::proves(g_, known, at_least_zero(s)) && solve::proves(g_, known, less(s, extent)))
      return;
    sites.push_back({s, known, read->tensor, dimension});
  }

  Graph& g_;
};

// The data tensors of an expression are all arguments of the call, so that it can be checked first.
bool from_arguments(const Graph& g, const Expr& e) {
  for (TensorId t : tensors(e))
    if (!is_given(g[t])) return false;
  return true;
}

}  // namespace

Checks data_checks(Graph& g) {
  Collector collector(g);
  for (const Definition& d : g.definitions) collector.collect(d);
  Checks result;
  // Equal checks of several definitions are one: their indices are renamed to common ones.
  std::map<std::pair<std::string, Poly>, IndexId> common;
  std::set<std::tuple<Expr, Expr, Poly>> seen;
  for (const Site& s : collector.sites) {
    ATTN_CHECK(from_arguments(g, s.subscript), "a subscript depends on data that is computed");
    std::set<IndexId> used = indices(s.subscript);
    Conditions known;
    for (const Expr& c : s.known)
      if (from_arguments(g, c)) known.insert(c);
    // Conditions bind further indices where they mention one that is used.
    for (const Expr& c : known)
      for (IndexId i : indices(c)) used.insert(i);
    std::map<IndexId, Expr> names;
    std::vector<IndexId> bound;
    for (IndexId i : used) {
      Index index = g[i];
      auto [it, fresh] = common.try_emplace({index.name, index.extent});
      if (fresh) it->second = g.new_index(index.name, index.extent);
      names.emplace(i, index_value(it->second));
      bound.push_back(it->second);
    }
    Definition d{.reduced = bound,
                 .guard = substitute(known, names),
                 .body = substitute(s.subscript, names)};
    const Poly& extent = g[s.read].extents[s.dimension];
    if (!seen.insert({d.body, all_of(d.guard), extent}).second) continue;
    DataCheck check{
        .extent = extent, .data = g[*tensors(s.subscript).begin()].name, .read = g[s.read].name};
    for (Combine combine : {Combine::min, Combine::max}) {
      d.combine = bound.empty() ? Combine::set : combine;
      d.target = g.new_tensor(
          {.name = fmt::format("{}.{}", check.data, combine == Combine::min ? "least" : "greatest"),
           .storage = Storage::i32});
      (combine == Combine::min ? check.lowest : check.highest) = d.target;
      result.definitions.push_back(d);
    }
    result.checks.push_back(check);
  }
  return result;
}

}  // namespace attn::plan
