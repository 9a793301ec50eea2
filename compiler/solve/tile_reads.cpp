#include "compiler/solve/tile_reads.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/recurrence.h"
#include "compiler/solve/points.h"

namespace attn::solve {

using namespace ir;

namespace {

// Elements. What is smaller stays in a cache between two kernels.
constexpr double kLeastElements = 1 << 14;

// Whose index a dimension is: of both factors, or of one.
enum class Axis : uint8_t { common, first, second };

// By the position of a dimension.
using Axes = std::vector<Axis>;
// Those of the indices with which a definition reads such a tensor.
using IndexAxes = std::map<IndexId, Axis>;

template <class Of>
bool has_both(const Of& of, const IndexAxes& axes) {
  bool first = false, second = false;
  for (IndexId i : indices(of)) {
    const auto found = axes.find(i);
    first = first || (found != axes.end() && found->second == Axis::first);
    second = second || (found != axes.end() && found->second == Axis::second);
  }
  return first && second;
}

// Tensors that depend on an input, and not on parameters alone. What a graph of a part of the
// definitions only reads counts as an input.
std::vector<bool> from_data(const Graph& g) {
  std::vector<bool> result(g.tensors.size());
  for (size_t k = 0; k < g.tensors.size(); ++k) result[k] = g.tensors[k].role != Role::parameter;
  for (const Definition& d : g.definitions) result[d.target.value] = false;
  for (const Definition& d : g.definitions)
    for (TensorId t : reads(d)) result[d.target.value] = result[d.target.value] || result[t.value];
  return result;
}

class TileReads {
 public:
  explicit TileReads(const Graph& g)
      : g_(g), points_(g, kTypicalSize), from_data_(from_data(g)), needs_(g) {
    // None of what is not used, and dropped later.
    for (const Definition& d : g.definitions) {
      readers_[d.target];
      for (TensorId t : reads(d)) readers_[t].push_back(&d);
    }
  }

  std::vector<bool> run() {
    std::vector<bool> result(g_.tensors.size());
    for (const Definition& d : g_.definitions) {
      if (result[d.target.value]) continue;
      std::optional<Axes> axes = axes_of_product(d);
      if (!axes || !follow(d.target, *axes)) continue;
      for (const auto& [t, of] : members_) result[t.value] = true;
    }
    return result;
  }

 private:
  // Of a sum of products of two factors with fewer elements.
  std::optional<Axes> axes_of_product(const Definition& d) const {
    if (d.combine != Combine::sum || !is_real(d.body.type()) || g_.is_output(d.target)) return {};
    if (points_.of(g_[d.target].extents) < kLeastElements) return {};
    std::vector<Expr> factors;
    for (const Expr& f : factors_of(d.body))
      if (std::ranges::any_of(d.reduced, [&](IndexId i) { return uses(f, i); }))
        factors.push_back(f);
    // Free indices that only some of the factors have tie these together.
    std::set<IndexId> own;
    for (IndexId i : d.free) {
      const auto users = std::ranges::count_if(factors, [&](const Expr& f) { return uses(f, i); });
      if (users > 0 && users < static_cast<std::ptrdiff_t>(factors.size())) own.insert(i);
    }
    struct Side {
      std::set<IndexId> own, all;
      bool has_data = false;
    };
    std::vector<Side> sides;
    for (const Expr& f : factors) {
      Side side{.own = {}, .all = indices(f)};
      for (IndexId i : side.all)
        if (own.count(i)) side.own.insert(i);
      if (side.own.empty()) continue;
      for (TensorId t : tensors(f)) side.has_data = side.has_data || from_data_[t.value];
      std::erase_if(sides, [&](const Side& other) {
        const bool tied =
            std::ranges::any_of(other.own, [&](IndexId i) { return side.own.count(i) > 0; });
        if (!tied) return false;
        side.own.insert(other.own.begin(), other.own.end());
        side.all.insert(other.all.begin(), other.all.end());
        side.has_data = side.has_data || other.has_data;
        return true;
      });
      sides.push_back(std::move(side));
    }
    if (sides.size() != 2 || !sides[0].has_data || !sides[1].has_data) return {};
    const double read = points_.of(g_, sides[0].all) + points_.of(g_, sides[1].all);
    if (points_.of(g_[d.target].extents) <= read) return {};
    Axes axes;
    for (IndexId i : d.free)
      axes.push_back(sides[0].own.count(i)   ? Axis::first
                     : sides[1].own.count(i) ? Axis::second
                                             : Axis::common);
    return axes;
  }

  // From a sum to all its readers, and from maps among these to theirs; false where one does not
  // fit, or where all only multiply it.
  bool follow(TensorId sum, const Axes& axes) {
    members_ = {{sum, axes}};
    bool is_more = false;
    for (std::vector<TensorId> open = {sum}; !open.empty();) {
      const TensorId t = open.back();
      open.pop_back();
      for (const Definition* d : readers_.at(t))
        for (const Expr& site : read_sites(*d, {t}))
          if (!follow_site(*d, site, open, is_more)) return false;
    }
    return is_more && are_of_steps();
  }

  // Where steps of recurrences read what is followed, whether nothing else does, and each at its
  // own step: the kernels of that step then have it in tiles.
  bool are_of_steps() const {
    bool is_of_step = false, is_of_all = false;
    for (const auto& [t, axes] : members_) {
      for (const Definition* d : readers_.at(t)) {
        if (!needs_.steps(d->target)) {
          is_of_all = is_of_all || needs_.steps(t) || !members_.count(d->target);
          continue;
        }
        is_of_step = true;
        for (const Expr& site : read_sites(*d, {t}))
          if (!needs_.step_in(*d, site)) return false;
      }
    }
    return !is_of_step || !is_of_all;
  }

  bool follow_site(const Definition& d, const Expr& site, std::vector<TensorId>& open,
                   bool& is_more) {
    const std::optional<IndexAxes> of = axes_at(site);
    if (!of) return false;
    is_more = is_more || !only_multiplies(d, site, *of);
    if (d.combine == Combine::set) return join(d, *of, open);
    if (d.combine != Combine::sum && d.combine != Combine::logsumexp) return false;
    return std::ranges::any_of(d.reduced, [&](IndexId i) { return of->count(i) > 0; }) ||
           adds_points(d, site);
  }

  // Whether a sum over the batch alone adds each point at a place of its own.
  static bool adds_points(const Definition& d, const Expr& site) {
    return d.combine == Combine::sum &&
           std::ranges::all_of(d.free, [&](IndexId i) { return uses(site, i); });
  }

  // The indices at which a site reads the dimensions of each factor; nothing where it reads no
  // point, or one at several of their values. Digits of an index read each once, as s[rc // C,
  // rc % C] does, and so does s[C*r + c]: what has as many values as there are points counts as
  // that.
  std::optional<IndexAxes> axes_at(const Expr& site) const {
    const Axes& axes = members_.at(site->tensor);
    IndexAxes result;
    std::map<Axis, Poly> points;  // of the factors that are not read at indices alone
    for (size_t k = 0; k < axes.size(); ++k) {
      if (axes[k] == Axis::common) continue;
      const Expr& at = site.args()[k];
      const std::set<IndexId> used = indices(at);
      if (used.empty() || !tensors(at).empty()) return {};
      bool is_new = at.is(Kind::index);
      for (IndexId i : used) {
        const auto [known, added] = result.emplace(i, axes[k]);
        if (known->second != axes[k]) return {};
        is_new = is_new && added;
      }
      if (!is_new) points.emplace(axes[k], 1);
    }
    for (auto& [axis, all] : points) {
      Poly values = 1;
      for (const auto& [i, of] : result)
        if (of == axis) values = values * g_[i].extent;
      for (size_t k = 0; k < axes.size(); ++k)
        if (axes[k] == axis) all = all * g_[site->tensor].extents[k];
      if (!g_.same(values, all)) return {};
    }
    return result;
  }

  // A map over the same points.
  bool join(const Definition& d, const IndexAxes& of, std::vector<TensorId>& open) {
    if (g_.is_output(d.target) || !d.position.empty()) return false;
    Axes axes;
    size_t used = 0;
    for (IndexId i : d.free) {
      const auto found = of.find(i);
      used += found != of.end();
      axes.push_back(found == of.end() ? Axis::common : found->second);
    }
    const auto [known, is_new] = members_.emplace(d.target, axes);
    if (is_new) open.push_back(d.target);
    return used == of.size() && known->second == axes;
  }

  // Whether what is read is a factor of each term that has it, and no other factor and no condition
  // is of the indices of both.
  static bool only_multiplies(const Definition& d, const Expr& site, const IndexAxes& of) {
    if (d.combine == Combine::logsumexp) return false;
    if (std::ranges::any_of(d.guard, [&](const Expr& c) { return has_both(c, of); })) return false;
    for (const Expr& term : addends_of(d.body)) {
      if (!tensors(term).count(site->tensor)) continue;
      const std::vector<Expr> factors = factors_of(term);
      if (std::ranges::count(factors, site) != 1) return false;
      for (const Expr& f : factors)
        if (!(f == site) && has_both(f, of)) return false;
    }
    return true;
  }

  const Graph& g_;
  const Points points_;
  const std::vector<bool> from_data_;
  const Needs needs_;
  std::map<TensorId, std::vector<const Definition*>> readers_;
  std::map<TensorId, Axes> members_;  // what is followed, with what depends on it at each point
};

}  // namespace

std::vector<bool> read_in_tiles(const Graph& g) { return TileReads(g).run(); }

}  // namespace attn::solve
