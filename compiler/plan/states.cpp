#include "compiler/plan/states.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::plan {

using namespace ir;

namespace {

class Orderer {
 public:
  Orderer(Graph g, Diagnostics& diagnostics) : g_(std::move(g)), diagnostics_(diagnostics) {}

  Graph run() {
    for (const Output& o : std::vector<Output>(g_.outputs))
      if (o.updates.valid() && !is_in_place(g_, *g_.definition_of(o.tensor)))
        copy(o.updates, {o.tensor});
    left_ = g_.definitions;
    while (!left_.empty()) take(next_update());
    g_.definitions = std::move(copies_);
    g_.definitions.insert(g_.definitions.end(), done_.begin(), done_.end());
    return std::move(g_);
  }

 private:
  bool is_update(const Definition& d) const { return g_.updated_by(d.target).valid(); }

  // All that these need, themselves included, of what is left. Recurrences read what stands below.
  std::set<TensorId> needed_for(std::set<TensorId> result) const {
    for (size_t before = 0; before != result.size();) {
      before = result.size();
      for (size_t k = left_.size(); k-- > 0;)
        if (result.count(left_[k].target)) result.merge(reads(left_[k]));
    }
    return result;
  }

  // What depends on `t`, of what is left.
  std::set<TensorId> dependent_on(TensorId t) const {
    std::set<TensorId> result{t};
    for (size_t before = 0; before != result.size();) {
      before = result.size();
      for (const Definition& d : left_) {
        const std::set<TensorId> read = reads(d);
        if (std::ranges::any_of(read, [&](TensorId r) { return result.count(r) > 0; }))
          result.insert(d.target);
      }
    }
    return result;
  }

  // What reads the state of an update and can be computed before it, with all that follows from it
  // alone: its readers may keep it in tiles.
  std::set<TensorId> readers_before(const Definition& update) const {
    const TensorId state = g_.updated_by(update.target);
    const std::set<TensorId> after = dependent_on(update.target);
    std::set<TensorId> readers;
    for (const Definition& d : left_)
      if (reads(d, state) && !after.count(d.target)) readers.merge(dependent_on(d.target));
    std::erase_if(readers, [&](TensorId t) { return after.count(t) > 0; });
    return readers;
  }

  // Whether these need what another update gives.
  bool needs_another(const std::set<TensorId>& all, TensorId update) const {
    const std::set<TensorId> needed = needed_for(all);
    return std::ranges::any_of(left_, [&](const Definition& other) {
      return is_update(other) && !(other.target == update) && needed.count(other.target);
    });
  }

  // Null when there is none.
  const Definition* next_update() const {
    const Definition* first = nullptr;
    for (const Definition& d : left_) {
      if (!is_update(d)) continue;
      if (!first) first = &d;
      std::set<TensorId> all = readers_before(d);
      all.insert(d.target);
      if (!needs_another(all, d.target)) return &d;
    }
    return first;
  }

  void take(const Definition* update) {
    if (!update) {
      done_.insert(done_.end(), left_.begin(), left_.end());
      left_.clear();
      return;
    }
    const TensorId next = update->target, state = g_.updated_by(next);
    std::set<TensorId> before{next};
    for (TensorId t : readers_before(*update))
      if (!needs_another({t}, next)) before.insert(t);
    before = needed_for(before);
    std::vector<Definition> later;
    for (const Definition& d : left_)
      if (!(d.target == next)) (before.count(d.target) ? done_ : later).push_back(d);
    done_.push_back(*update);
    left_ = std::move(later);
    std::set<TensorId> misread;
    for (const Definition& d : left_)
      if (reads(d, state)) misread.insert(d.target);
    if (!misread.empty()) copy(state, misread);
  }

  // `readers` read a copy of the state, which is made before all else.
  void copy(TensorId state, const std::set<TensorId>& readers) {
    const TensorId kept = g_.new_part(state, ".before", g_[state].storage, g_[state].extents);
    auto redirect = [&](std::vector<Definition>& list) {
      for (Definition& d : list) {
        if (!readers.count(d.target)) continue;
        map_exprs(d, [&](const Expr& e) {
          return rewrite(e, [&](const Expr& x) {
            return x.is(Kind::read) && x->tensor == state ? read(kept, x.type(), x.args()) : x;
          });
        });
        d = normal_form(std::move(d));
      }
    };
    redirect(g_.definitions);
    redirect(left_);
    copies_.push_back(copying(g_, state, kept));
    Diagnostic& d = diagnostics_.warning(
        g_[state].where, "performance",
        fmt::format("the state `{}` is copied as a whole: `{}` reads what it was", g_[state].name,
                    g_[*readers.begin()].name));
    d.help = "read what it becomes, or read each element only where it is computed anew";
  }

  Graph g_;
  Diagnostics& diagnostics_;
  std::vector<Definition> left_, done_, copies_;
};

}  // namespace

bool is_in_place(const Graph& g, const Definition& d) {
  const TensorId state = g.updated_by(d.target);
  const std::vector<Expr> own = index_values(d.free);
  const std::vector<Expr> sites = read_sites(d, {state});
  // A value at a position may be read where another one has been stored.
  return sites.empty() ||
         (d.combine == Combine::set && d.position.empty() &&
          std::ranges::all_of(sites, [&](const Expr& read) { return read.args() == own; }));
}

Graph order_states(Graph g, Diagnostics& diagnostics) {
  const bool any =
      std::ranges::any_of(g.outputs, [](const Output& o) { return o.updates.valid(); });
  return any ? Orderer(std::move(g), diagnostics).run() : g;
}

}  // namespace attn::plan
