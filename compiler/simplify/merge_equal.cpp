// Merges definitions that compute the same tensor; the first of them stays. Runs after derive,
// which recomputes freely and leaves tidying to this.
#include "compiler/ir/key.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"

namespace attn::simplify {

using namespace ir;

namespace {

struct Candidate {
  const Definition* definition;
  std::optional<Key> key;  // computed when a second one of its quick key comes
};

class Merger {
 public:
  explicit Merger(const Graph& g) : g_(g), replaced_by_(g.tensors.size()) {}

  Graph run() {
    Graph result = g_;
    result.definitions.clear();
    result.definitions.reserve(g_.definitions.size());  // candidates point into it
    std::vector<bool> is_fixed = fixed_tensors(g_);
    for (const Definition& old : g_.definitions) {
      Definition d = renamed(old);
      const Definition* first = equal_before(d);
      bool replaceable = first && g_[first->target].storage == g_[d.target].storage;
      if (replaceable && !is_fixed[d.target.value]) {
        replaced_by_[d.target.value] = first->target;
        continue;
      }
      if (replaceable && !d.reduced.empty()) d = copy_of(*first, d);
      result.definitions.push_back(std::move(d));
      if (!first) learn(result.definitions.back());
    }
    return result;
  }

 private:
  Definition renamed(const Definition& old) const {
    Definition d = old;
    bool touched = false;
    for (TensorId t : reads(old)) touched = touched || replaced_by_[t.value].valid();
    if (!touched) return d;
    auto rename = [&](const Expr& x) {
      if (!x.is(Kind::read) || !replaced_by_[x->tensor.value].valid()) return x;
      return read(replaced_by_[x->tensor.value], x.type(), x.args());
    };
    map_exprs(d, [&](const Expr& e) { return rewrite(e, rename); });
    return normal_form(std::move(d));
  }

  // An earlier definition of the same value; remembers what was computed to compare them.
  const Definition* equal_before(const Definition& d) {
    last_ = {};
    auto found = candidates_.find(quick_key(g_, d));
    if (found == candidates_.end()) return nullptr;
    last_ = key(g_, d);
    for (Candidate& c : found->second) {
      if (!c.key) c.key = key(g_, *c.definition);
      if (*c.key == *last_) return c.definition;
    }
    return nullptr;
  }

  void learn(const Definition& d) { candidates_[quick_key(g_, d)].push_back({&d, last_}); }

  // `d = first`, for an output that is computed a second time.
  Definition copy_of(const Definition& first, const Definition& d) const {
    std::vector<Expr> subscripts = index_values(d.free);
    Definition copy = d;
    copy.combine = Combine::set;
    copy.reduced.clear();
    copy.guard.clear();
    copy.body = g_.read(first.target, std::move(subscripts));
    return copy;
  }

  const Graph& g_;
  std::vector<TensorId> replaced_by_;
  std::map<QuickKey, std::vector<Candidate>> candidates_;
  std::optional<Key> last_;
};

}  // namespace

Graph merge_equal(const Graph& g) { return Merger(g).run(); }

}  // namespace attn::simplify
