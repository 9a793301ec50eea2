// An unmaterialised tensor that is read at fewer points than it has is computed at those:
//   nll[n] = lse[n] - g[n, target[n]]   with the unmaterialised   g[n,v] = sum[d] h[n,d] * w[v,d]
//   ->   g.at[n] = sum[d] h[n,d] * w[target[n],d],   nll[n] = lse[n] - g.at[n]
// An unmaterialised map is substituted there instead.
#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/under.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::simplify {

using namespace ir;

namespace {

class Specialiser {
 public:
  explicit Specialiser(const Graph& g)
      : result_(g), unmaterialised_(g), definitions_(g), needs_(g), carried_(carried(g)) {
    result_.definitions.clear();
  }

  Graph run(const Graph& g) {
    for (const Definition& old : g.definitions) {
      Definition d = old;
      d.body = specialised(old.body, old.guard, old);
      result_.definitions.push_back(normal_form(std::move(d)));
    }
    return std::move(result_);
  }

 private:
  Expr specialised(const Expr& e, const Conditions& known, const Definition& reader) {
    return rewrite_under(e, known, [&](const Expr& x, const Conditions& here) -> Expr {
      if (!x.is(Kind::read) || !unmaterialised_(x->tensor)) return x;
      const Definition* d = definitions_.find(x->tensor);
      if (!d || plain_subscripts(x) || !stores_exactly(result_, x->tensor)) return x;
      if (indices(x).size() >= d->free.size()) return x;
      // A carried tensor at a step would be computed from the step before it, and that again.
      if (needs_.in_one(reader.target, x->tensor) || carried_.count(x->tensor)) return x;
      std::map<IndexId, Expr> map = subscript_map(*d, x);
      if (d->combine == Combine::set) {
        Conditions guard = substitute(d->guard, map);
        if (holds(result_, here, guard)) guard.clear();
        Conditions inside = here;
        inside.insert(guard.begin(), guard.end());
        return where(guard, specialised(substitute(d->body, map), inside, reader));
      }
      if (d->combine != Combine::sum) return x;
      auto guard = conditions_alone(result_, x, here);
      return guard ? sum_at(*d, x, *guard, reader) : x;
    });
  }

  // The sum d at the subscripts of a read, as a tensor over the indices in them.
  Expr sum_at(const Definition& d, const Expr& read, const Conditions& guard,
              const Definition& reader) {
    std::map<IndexId, Expr> map = subscript_map(d, read);
    Definition at = d;
    at.free.clear();
    std::set<IndexId> used = indices(read);
    for (const std::vector<IndexId>* order : {&reader.free, &reader.reduced})
      for (IndexId i : *order)
        if (used.erase(i)) at.free.push_back(i);
    at.guard = substitute(d.guard, map);
    at.guard.insert(guard.begin(), guard.end());
    at.body = substitute(d.body, map);
    Tensor t;
    t.name = result_[d.target].name + ".at";
    t.storage = result_[d.target].storage;
    std::vector<Expr> subscripts;
    for (IndexId i : at.free) {
      t.extents.push_back(result_[i].extent);
      subscripts.push_back(index_value(i));
    }
    at.target = result_.new_tensor(std::move(t));
    Expr result = result_.read(at.target, std::move(subscripts));
    result_.definitions.push_back(normal_form(with_fresh_indices(result_, at).definition));
    return result;
  }

  Graph result_;
  solve::Unmaterialised unmaterialised_;
  ByTarget definitions_;  // of the graph as it came
  const Needs needs_;
  const std::set<TensorId> carried_;
};

}  // namespace

Graph specialise(const Graph& g) { return Specialiser(g).run(g); }

}  // namespace attn::simplify
