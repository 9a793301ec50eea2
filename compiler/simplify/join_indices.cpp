// Two indices that scores are summed over together are one, as the positions of an image are, and
// so are rows that run over the same positions:
//   p.lse[r,c] = logsumexp[y,x] s[r,c,y,x],   s[r,c,y,x] = sum[e] q[r,c,e] * k[y,x,e]
//   ->   p.lse.joined[rc] = logsumexp[yx] s.joined[rc,yx],
//        s.joined[rc,yx] = sum[e] q[rc // C, rc % C, e] * k[yx // C, yx % C, e]
// So is what unmaterialised tensors are made of and what reads them. A tensor that is stored is
// read at C*r + c elsewhere.
#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/uses.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/points.h"
#include "compiler/solve/prove.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::simplify {

using namespace ir;

namespace {

// Scores have so many times the elements of what is stored in their place. Not measured.
constexpr double kLeastSaving = 4;
constexpr const char* kSuffix = ".joined";

// Two dimensions of a tensor, or indices of a definition, of which the second is the faster one.
template <typename T>
struct Pair {
  T high, low;
  bool operator==(const Pair&) const = default;
};
using Dimensions = Pair<size_t>;
using Indices = Pair<IndexId>;

// Where two indices are one.
struct Joint {
  std::map<TensorId, Dimensions> tensors;  // that these definitions compute
  std::map<size_t, Indices> definitions;   // by their places in the graph
};

// Finds one pair that is joined, with all that reads it or is read at it.
class JointFinder {
 public:
  explicit JointFinder(const Graph& g)
      : g_(g), unmaterialised_(g), needs_(g), uses_(g), points_(g, solve::kTypicalSize) {}

  std::optional<Joint> find() {
    for (const Definition& d : g_.definitions) {
      for (const Expr& site : read_sites(d))
        if (const auto columns = summed_together(d, site))
          if (close(site->tensor, *columns)) return joint_;
      if (const auto rows = rows_of(d))
        if (close(d.target, *rows)) return joint_;
    }
    return {};
  }

 private:
  // The first two dimensions that a definition sums over, where sums over the second alone are none
  // that could be stored.
  std::optional<Dimensions> summed_together(const Definition& d, const Expr& site) const {
    if (!unmaterialised_(site->tensor)) return {};
    std::vector<size_t> summed;
    for (size_t k = 0; k < site.args().size(); ++k)
      if (const Expr& at = site.args()[k];
          at.is(Kind::index) && std::ranges::count(d.reduced, at->index) > 0)
        summed.push_back(k);
    if (summed.size() < 2) return {};
    std::vector<Poly> part = g_.extents(d.free);
    part.push_back(g_[site->tensor].extents[summed[0]]);
    const bool can_be_stored =
        d.combine == Combine::sum && !unmaterialised_.is_unbounded(g_, part) &&
        kLeastSaving * points_.of(part) <= points_.of(g_[site->tensor].extents);
    return can_be_stored ? std::nullopt : std::optional(Dimensions{summed[0], summed[1]});
  }

  // The first two of free indices of a product that have as many points together as an index of
  // another factor, which is read by digits.
  std::optional<Dimensions> rows_of(const Definition& d) const {
    if (!unmaterialised_(d.target) || d.combine != Combine::sum) return {};
    for (IndexId column : d.free) {
      if (!is_read_by_digits(d, column)) continue;
      const std::vector<size_t> apart = apart_from(d, column);
      for (size_t from = 0; from + 1 < apart.size(); ++from) {
        Poly points = g_[d.free[apart[from]]].extent;
        for (size_t to = from + 1; to < apart.size(); ++to) {
          points = points * g_[d.free[apart[to]]].extent;
          if (g_.same(points, g_[column].extent) && are_read_together(d, apart, from, to))
            return Dimensions{apart[from], apart[from + 1]};
        }
      }
    }
    return {};
  }

  static bool is_read_by_digits(const Definition& d, IndexId i) {
    return std::ranges::any_of(read_sites(d), [&](const Expr& site) {
      return std::ranges::any_of(site.args(),
                                 [&](const Expr& at) { return uses(at, i) && has_division(at); });
    });
  }

  // The places of free indices that no read with this one has, without those of one point.
  std::vector<size_t> apart_from(const Definition& d, IndexId column) const {
    const std::vector<Expr> sites = read_sites(d);
    const auto is_apart = [&](IndexId i) {
      return g_.known(g_[i].extent) != 1 && std::ranges::none_of(sites, [&](const Expr& site) {
               return uses(site, column) && uses(site, i);
             });
    };
    std::vector<size_t> apart;
    for (size_t k = 0; k < d.free.size(); ++k)
      if (is_apart(d.free[k])) apart.push_back(k);
    return apart;
  }

  static bool are_read_together(const Definition& d, const std::vector<size_t>& places, size_t from,
                                size_t to) {
    return std::ranges::all_of(read_sites(d), [&](const Expr& site) {
      size_t read = 0;
      for (size_t k = from; k <= to; ++k) read += uses(site, d.free[places[k]]);
      return read == 0 || read == to - from + 1;
    });
  }

  // Whether the dimensions of t can be joined, and so whatever they are joined with.
  bool close(TensorId t, Dimensions at) {
    joint_ = {};
    open_.clear();
    if (!add(t, at)) return false;
    while (!open_.empty()) {
      const TensorId next = open_.back();
      open_.pop_back();
      if (!visit(next)) return false;
    }
    return is_of_one_factor();
  }

  // Whether both are indices of one factor of scores, and not of another one.
  bool is_of_one_factor() const {
    bool has_other = false;
    for (const auto& [n, both] : joint_.definitions) {
      const Definition& d = g_.definitions[n];
      if (!unmaterialised_(d.target) || d.combine != Combine::sum) continue;
      for (const Expr& site : read_sites(d)) {
        if (uses(site, both.high) != uses(site, both.low)) return false;
        has_other = has_other || !uses(site, both.high);
      }
    }
    return has_other;
  }

  bool add(TensorId t, Dimensions at) {
    const auto [known, is_new] = joint_.tensors.emplace(t, at);
    if (!is_new) return known->second == at;
    if (!uses_.definition(t) || needs_.steps(t)) return false;
    open_.push_back(t);
    return true;
  }

  bool visit(TensorId t) {
    const Dimensions at = joint_.tensors.at(t);
    const size_t own = *uses_.definition(t);
    const std::vector<IndexId>& free = g_.definitions[own].free;
    if (!add(own, Indices{free[at.high], free[at.low]})) return false;
    // What is stored can be read anywhere.
    if (!unmaterialised_(t)) return true;
    for (size_t reader : uses_.readers(t))
      for (const Expr& site : read_sites(g_.definitions[reader], {t})) {
        const Expr &high = site.args()[at.high], &low = site.args()[at.low];
        if (!high.is(Kind::index) || !low.is(Kind::index)) return false;
        if (!add(reader, Indices{high->index, low->index})) return false;
      }
    return true;
  }

  bool add(size_t definition, Indices both) {
    const auto [known, is_new] = joint_.definitions.emplace(definition, both);
    if (!is_new) return known->second == both;
    const Definition& d = g_.definitions[definition];
    const auto high = std::ranges::find(d.free, both.high),
               low = std::ranges::find(d.free, both.low);
    if ((high == d.free.end()) != (low == d.free.end()) || both.high == both.low) return false;
    if (d.combine == Combine::argmax || !d.position.empty()) return false;
    for (const Expr& site : read_sites(d))
      if (unmaterialised_(site->tensor) && !add_site(site, both)) return false;
    if (high == d.free.end()) return true;
    return high < low && add(d.target, Dimensions{static_cast<size_t>(high - d.free.begin()),
                                                  static_cast<size_t>(low - d.free.begin())});
  }

  // Of an unmaterialised tensor, that has both indices as they are, or none.
  bool add_site(const Expr& site, Indices both) {
    const auto place = [&](IndexId i) {
      return static_cast<size_t>(std::ranges::find(site.args(), index_value(i)) -
                                 site.args().begin());
    };
    int used = 0;
    for (const Expr& at : site.args()) used += uses(at, both.high) + uses(at, both.low);
    if (used == 0) return true;
    const Dimensions at{place(both.high), place(both.low)};
    return used == 2 && at.high < at.low && at.low < site.args().size() && add(site->tensor, at);
  }

  const Graph& g_;
  const solve::Unmaterialised unmaterialised_;
  const Needs needs_;
  const Uses uses_;
  const solve::Points points_;
  Joint joint_;
  std::vector<TensorId> open_;
};

// Takes the indices of a joint for one.
class Joiner {
 public:
  Joiner(const Graph& g, const Joint& joint) : result_(g), fixed_(fixed_tensors(g)), joint_(joint) {
    for (const auto& [t, at] : joint.tensors) joined_[t] = new_tensor(t, at);
  }

  Graph run() {
    std::vector<Definition> definitions;
    for (size_t n = 0; n < result_.definitions.size(); ++n) {
      const Definition old = result_.definitions[n];
      Definition d = old;
      map_exprs(d, [&](const Expr& e) {
        return rewrite(e, [&](const Expr& x) { return at_joined(x); });
      });
      if (const auto both = joint_.definitions.find(n); both != joint_.definitions.end())
        d = join(std::move(d), both->second);
      definitions.push_back(normal_form(std::move(d)));
      if (joined_.count(old.target) && fixed_[old.target.value]) definitions.push_back(copy(old));
    }
    result_.definitions = std::move(definitions);
    return std::move(result_);
  }

 private:
  TensorId new_tensor(TensorId of, Dimensions at) {
    Tensor t;
    const std::string& name = result_[of].name;
    t.name = name.substr(0, name.find(kSuffix)) + kSuffix;
    t.storage = result_[of].storage;
    t.extents =
        joined(result_[of].extents, at, result_[of].extents[at.high] * result_[of].extents[at.low]);
    t.where = result_[of].where;
    return result_.new_tensor(std::move(t));
  }

  template <typename T>
  static std::vector<T> joined(std::vector<T> list, Dimensions at, T both) {
    list[at.high] = std::move(both);
    list.erase(list.begin() + static_cast<ptrdiff_t>(at.low));
    return list;
  }

  // A read of what is joined, at the element that it reads.
  Expr at_joined(const Expr& x) const {
    const auto found = x.is(Kind::read) ? joined_.find(x->tensor) : joined_.end();
    if (found == joined_.end()) return x;
    const Dimensions at = joint_.tensors.at(x->tensor);
    const Expr element =
        x.args()[at.high] * size_value(result_[x->tensor].extents[at.low]) + x.args()[at.low];
    return read(found->second, x.type(), joined(x.args(), at, element));
  }

  Definition join(Definition d, Indices both) {
    const Poly count = result_[both.low].extent;
    const IndexId one = result_.new_index(name_of(d, both), result_[both.high].extent * count);
    for (auto* list : {&d.free, &d.reduced}) {
      std::ranges::replace(*list, both.high, one);
      std::erase(*list, both.low);
    }
    if (const auto target = joined_.find(d.target); target != joined_.end())
      d.target = target->second;
    const Expr i = index_value(one), c = size_value(count);
    ir::substitute(d, {{both.high, quotient(i, c)}, {both.low, remainder(i, c)}});
    d.guard = conjuncts(solve::assume(result_, all_of(d.guard), {}));
    d.body = solve::assume(result_, d.body, d.guard);
    return d;
  }

  std::string name_of(const Definition& d, Indices both) const {
    std::set<std::string> names;
    for (IndexId i : domain(d)) names.insert(result_[i].name);
    const std::string name = result_[both.high].name + result_[both.low].name;
    std::string free_name = name;
    for (int n = 2; names.count(free_name); ++n) free_name = name + std::to_string(n);
    return free_name;
  }

  // The target that it had, where others than definitions read it.
  Definition copy(const Definition& old) {
    Definition d{.target = old.target, .free = old.free, .where = old.where};
    d.body = at_joined(result_.read(old.target, index_values(old.free)));
    return with_fresh_indices(result_, d).definition;
  }

  Graph result_;
  const std::vector<bool> fixed_;
  const Joint& joint_;
  std::map<TensorId, TensorId> joined_;
};

}  // namespace

Graph join_indices(const Graph& g) {
  Graph result = g;
  while (const auto joint = JointFinder(result).find()) result = Joiner(result, *joint).run();
  return result;
}

}  // namespace attn::simplify
