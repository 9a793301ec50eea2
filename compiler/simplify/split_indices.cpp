// An index that stands for two is two, where reads become plainer:
//   z[i,d] = sum[j] p[d // E, i, j] * v[j,d]
//   ->   z.split[i,h,e] = sum[j] p[h,i,j] * v[j, E*h + e],   z[i,d] = z.split[i, d // E, d % E]
//   y[o] = sum[n] z[n // E, n % E] * w[o,n]   ->   y[o] = sum[h,e] z[h,e] * w[o, E*h + e]
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/recurrence.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::simplify {

using namespace ir;

namespace {

// index = divisor * high + low.
struct Split {
  IndexId index;
  Poly divisor, count;  // count * divisor is the extent of the index
};

class IndexSplitter {
 public:
  explicit IndexSplitter(const Graph& g)
      : result_(g), unmaterialised_(g), needs_(g), points_(g, solve::kTypicalSize) {
    result_.definitions.clear();
  }

  Graph run(const Graph& g) {
    for (const Definition& old : g.definitions) {
      Definition d = old;
      std::optional<Definition> moved;  // to the target of d, from what took its place
      while (!d.reduced.empty() &&
             (split_one(d, d.reduced, moved) || split_one(d, d.free, moved))) {
      }
      result_.definitions.push_back(std::move(d));
      if (moved) result_.definitions.push_back(std::move(*moved));
    }
    return std::move(result_);
  }

 private:
  // Splits the first of the indices, which are those of d, for which that pays.
  bool split_one(Definition& d, const std::vector<IndexId>& indices,
                 std::optional<Definition>& moved) {
    const bool free = &indices == &d.free;
    if (free && (needs_.steps(d.target) || moved)) return false;
    for (IndexId i : indices) {
      const auto split = split_of(d, i);
      if (!split || (are_scores(d.target) && counts_elements(d, i))) continue;
      Definition next = d;
      const std::vector<Expr> parts = apply(next, *split);
      if (!is_plainer(next, d)) continue;
      if (free) moved = move(next, d, *split, parts);
      d = normal_form(std::move(next));
      return true;
    }
    return false;
  }

  // By the least of the divisors of i in subscripts that divide its extent.
  std::optional<Split> split_of(const Definition& d, IndexId i) const {
    std::optional<Split> found;
    visit(d.body, [&](const Expr& e) {
      if ((!e.is(Kind::quotient) && !e.is(Kind::remainder)) || !(e.args()[0] == index_value(i)))
        return true;
      const auto c = as_size(e.args()[1]);
      const auto count = c ? solve::exact_quotient(result_, result_[i].extent, *c) : c;
      if (count && points_.of(*count) > 1 &&
          (!found || points_.of(*c) < points_.of(found->divisor)))
        found = Split{i, *c, *count};
      return true;
    });
    return found;
  }

  // Also where they are compared, and stored for that.
  bool are_scores(TensorId t) const {
    return unmaterialised_(t) || unmaterialised_.is_unbounded(result_, result_[t].extents);
  }

  // Whether the subscripts with the index are that alone, or all its digits, each beside what does
  // not depend on it: it counts elements of what is read, and scores stream along it.
  bool counts_elements(const Definition& d, IndexId i) const {
    return std::ranges::all_of(read_sites(d), [&](const Expr& site) {
      Expr count = size_value(0);
      for (size_t k = 0; k < site.args().size(); ++k) {
        if (!uses(site.args()[k], i)) continue;
        const Expr digit = part_with(site.args()[k], i);
        const bool is_bounded = digit.is(Kind::remainder);
        const Expr values =
            is_bounded ? digit.args()[1] : size_value(result_[site->tensor].extents[k]);
        count = count * values + digit;
      }
      return count.is_zero() || solve::proves(result_, {}, equal(count, index_value(i)));
    });
  }

  // The terms of a subscript that use the index.
  static Expr part_with(const Expr& subscript, IndexId i) {
    Expr sum = size_value(0);
    for (const Expr& term : addends_of(subscript))
      if (uses(term, i)) sum = sum + term;
    return sum;
  }

  // The two indices, as values.
  std::vector<Expr> apply(Definition& d, const Split& s) {
    std::set<std::string> names;
    for (IndexId i : domain(d)) names.insert(result_[i].name);
    std::vector<IndexId> both;
    for (int n = 1; both.size() < 2; ++n) {
      const std::string name = fmt::format("{}{}", result_[s.index].name, n);
      if (names.insert(name).second)
        both.push_back(result_.new_index(name, both.empty() ? s.count : s.divisor));
    }
    for (std::vector<IndexId>* list : {&d.free, &d.reduced}) {
      const auto at = std::ranges::find(*list, s.index);
      if (at == list->end()) continue;
      list->insert(list->erase(at), both.begin(), both.end());
      break;
    }
    const std::vector<Expr> values = index_values(both);
    const std::map<IndexId, Expr> by{{s.index, size_value(s.divisor) * values[0] + values[1]}};
    d.guard = conjuncts(solve::assume(result_, all_of(substitute(d.guard, by)), {}));
    d.body = solve::assume(result_, substitute(d.body, by), d.guard);
    return values;
  }

  // Whether fewer subscripts are not an index alone, those of unmaterialised tensors before others.
  bool is_plainer(const Definition& a, const Definition& b) const {
    return moved_subscripts(a) < moved_subscripts(b);
  }
  std::pair<int, int> moved_subscripts(const Definition& d) const {
    std::pair<int, int> count{0, 0};
    for (const Expr& e : read_sites(d))
      for (const Expr& s : e.args())
        if (!s.is(Kind::index) && !ir::indices(s).empty())
          ++(unmaterialised_(e->tensor) ? count.first : count.second);
    return count;
  }

  // d takes a target of its own, without what its value does not depend on; the definition of the
  // target that it had.
  Definition move(Definition& d, const Definition& old, const Split& s,
                  const std::vector<Expr>& parts) {
    const Expr i = index_value(s.index), c = size_value(s.divisor);
    const std::map<IndexId, Expr> digit{{parts[0]->index, quotient(i, c)},
                                        {parts[1]->index, remainder(i, c)}};
    std::erase_if(d.free, [&](IndexId k) {
      return digit.count(k) && !uses(d.body, k) && !ir::indices(d.guard).count(k);
    });
    Tensor t;
    t.name = result_[old.target].name + ".split";
    t.storage = result_[old.target].storage;
    t.extents = result_.extents(d.free);
    t.where = old.where;
    d.target = result_.new_tensor(std::move(t));
    Definition moved{.target = old.target, .free = old.free, .where = old.where};
    std::vector<Expr> subscripts;
    for (IndexId k : d.free) subscripts.push_back(substitute(index_value(k), digit));
    moved.body = result_.read(d.target, std::move(subscripts));
    return with_fresh_indices(result_, moved).definition;
  }

  Graph result_;
  const solve::Unmaterialised unmaterialised_;
  const Needs needs_;
  const solve::Points points_;
};

}  // namespace

Graph split_indices(const Graph& g) { return IndexSplitter(g).run(g); }

}  // namespace attn::simplify
