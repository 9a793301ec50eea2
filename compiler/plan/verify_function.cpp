// The checker of whole functions and plans: claims, places, checks.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/plan/function.h"
#include "compiler/plan/verify.h"

namespace attn::plan {
namespace {

using namespace ir;

class FunctionChecker {
 public:
  explicit FunctionChecker(const Function& f) : f_(f) {
    for (const auto* list : {&f.checks, &f.kernels})
      for (const Kernel& k : *list) {
        read_.insert(k.reads.begin(), k.reads.end());
        written_.insert(k.writes.begin(), k.writes.end());
      }
  }

  void run() const {
    require(f_.places.size() == f_.graph.tensors.size(), "tensors without a place");
    check_names();
    check_claims();
    check_slices();
    check_places();
    check_saved();
    verify_loops(f_);
    check_data_checks();
    check_update();
  }

 private:
  void require(bool holds, std::string_view what) const { plan::require(holds, f_, what); }
  void require(bool holds, TensorId t, std::string_view what) const {
    plan::require(holds, f_, t, what);
  }

  bool in_memory(TensorId t) const { return read_.count(t) || written_.count(t); }

  void check_names() const {
    std::set<std::string> names;
    for (const auto* list : {&f_.checks, &f_.kernels})
      for (const Kernel& k : *list)
        require(names.insert(k.name).second, "two kernels named " + k.name);
  }

  // The kernels compute the graph's definitions, each one; those of tiles in several kernels.
  void check_claims() const {
    std::map<TensorId, const Definition*> open;
    for (const Definition& d : f_.graph.definitions)
      require(open.emplace(d.target, &d).second, d.target, "defined twice");
    const auto by_target = open;
    const std::set<TensorId> bounding = bounding_tensors();
    for (const Kernel& k : f_.kernels) {
      for (const Definition& d : k.definitions) {
        const auto it = by_target.find(d.target);
        if (it == by_target.end()) {
          require(bounding.count(d.target), d.target, "computed, though nothing defines it");
          continue;
        }
        require(d == *it->second, d.target, "claimed as another definition");
        const bool again = open.erase(d.target) == 0;
        require(!again || std::holds_alternative<TilesForm>(k.form), d.target, "claimed twice");
      }
    }
    for (const auto& [t, d] : open) require(false, t, "claimed by no kernel");
  }

  // What bounds the columns of tiles, which the graph does not know of.
  std::set<TensorId> bounding_tensors() const {
    std::set<TensorId> found;
    for (size_t n = f_.kernels.size(); n-- > 0;) {
      const Kernel& k = f_.kernels[n];
      if (const auto* tiles = std::get_if<TilesForm>(&k.form); tiles && tiles->bounds)
        found.insert({tiles->bounds->first, tiles->bounds->end});
      const bool bounds =
          std::ranges::all_of(k.writes, [&](TensorId t) { return found.count(t) > 0; });
      if (!bounds) continue;
      for (const Definition& d : k.definitions) found.insert(d.target);
      for (TensorId t : k.reads) found.insert(t);
    }
    return found;
  }

  void check_slices() const {
    std::set<TensorId> seen;
    for (const Slice& s : f_.slices) {
      const std::vector<Poly>& whole = f_.graph[s.whole].extents;
      require(seen.insert(s.tensor).second, s.tensor, "the step of two tensors");
      require(f_.places.at(s.tensor.value) == Place::step, s.tensor,
              "a step that has its own place");
      require(s.tensor != s.whole && (!s.dimension || *s.dimension < whole.size()), s.tensor,
              "a step of itself");
      std::vector<Poly> rest = whole;
      if (s.block > 0 && s.dimension)
        rest[*s.dimension] = s.block;
      else if (s.dimension)
        rest.erase(rest.begin() + static_cast<long>(*s.dimension));
      require(f_.graph[s.tensor].extents == rest && (s.block == 0 || (s.block > 0 && s.dimension)),
              s.tensor, "a step of other extents");
      if (!is_argument(f_.graph[s.tensor].role)) continue;
      require(!written_.count(s.tensor) && lies_by_step(f_, s) &&
                  (s.block > 0 || (f_.places.at(s.whole.value) == Place::saved &&
                                   is_argument(f_.graph[s.whole].role))),
              s.tensor, "a step of what is not saved");
    }
    for (TensorId t : f_.graph.tensor_ids())
      require(f_.places.at(t.value) != Place::step || seen.count(t), t, "a step of nothing");
  }

  void check_places() const {
    std::set<TensorId> wholes;
    for (const Slice& s : f_.slices) wholes.insert(s.whole);
    for (TensorId t : f_.graph.tensor_ids()) {
      const bool is_given = is_argument(f_.graph[t].role);
      switch (f_.places[t.value]) {
        case Place::given:
        case Place::forwarded:
          require(is_given && !written_.count(t), t, "given, though it is computed");
          break;
        case Place::saved:
          require(is_given ? !written_.count(t) : written_.count(t) || wholes.count(t), t,
                  "saved, though nothing computes it");
          break;
        case Place::result:
          require(!is_given && f_.graph.is_output(t), t, "a result that is no output");
          break;
        case Place::updated: {
          const TensorId state = f_.graph.updated_by(t);
          require(!is_given && state.valid() && f_.places.at(state.value) == Place::given, t,
                  "in the place of no state");
          break;
        }
        case Place::step:
          if (is_given) break;  // of what is given too, as check_slices says
          [[fallthrough]];
        case Place::workspace:
          require(!is_given && (in_memory(t) || wholes.count(t)), t,
                  "in memory, though nothing needs it");
          break;
        case Place::none:
          require(!is_given && !in_memory(t) && !wholes.count(t), t, "not in memory");
          break;
      }
    }
    for (const Output& o : f_.graph.outputs)
      require(f_.places.at(o.tensor.value) == (o.updates.valid() ? Place::updated : Place::result),
              o.tensor, "an output that is no result");
  }

  void check_saved() const {
    const std::set<TensorId> saved(f_.saved.begin(), f_.saved.end());
    require(saved.size() == f_.saved.size(), "a tensor saved twice");
    for (TensorId t : f_.graph.tensor_ids())
      require((f_.places[t.value] == Place::saved) == saved.count(t), t,
              "in the saved block and elsewhere");
  }

  // The new values of an update may lie where the old ones were.
  void check_update() const {
    if (f_.kind != FunctionKind::update) return;
    for (const Kernel& k : f_.kernels) {
      const auto* row = std::get_if<RowForm>(&k.form);
      require(row && row->in_place, k.writes[0], "an update that needs the old values");
    }
  }

  // Each check compares the two ends of one range with the extent of what is read there.
  void check_data_checks() const {
    std::map<TensorId, const Definition*> ends;
    std::set<TensorId> read_by_checks;
    for (const Kernel& k : f_.checks) {
      for (const Definition& d : k.definitions) {
        ends.emplace(d.target, &d);
        read_by_checks.merge(reads(d));
      }
    }
    for (const DataCheck& c : f_.data_checks) {
      const Definition *least = take(ends, c.lowest), *greatest = take(ends, c.highest);
      require(least && greatest, "a check of data that no kernel computes");
      require(least->reduced.empty()
                  ? least->combine == Combine::set && greatest->combine == Combine::set
                  : least->combine == Combine::min && greatest->combine == Combine::max,
              c.lowest, "a check of no least and greatest");
      require(least->target < greatest->target, c.lowest, "a check that is turned");
      Definition other = *greatest;
      other.target = least->target;
      other.combine = least->combine;
      other.where = least->where;
      // Where a condition hides it the two differ in what they give for nothing.
      if (!(other == *least) && other.body.is(Kind::select) &&
          other.body.args()[2] == of_nothing(Combine::max))
        other.body = select(other.body.args()[0], other.body.args()[1], of_nothing(Combine::min));
      require(other == *least, c.lowest, "a check of two things");
      const auto read = f_.graph.find(c.read);
      require(read && f_.graph.find(c.data), c.lowest, "a check of no tensor");
      const std::vector<Poly>& extents = f_.graph[*read].extents;
      require(std::ranges::count(extents, c.extent), c.lowest, "a check against another extent");
    }
    std::erase_if(ends, [&](const auto& end) { return read_by_checks.count(end.first) > 0; });
    require(ends.empty(), "a range of data that nothing compares");
  }

  static const Definition* take(std::map<TensorId, const Definition*>& ends, TensorId t) {
    const auto it = ends.find(t);
    if (it == ends.end()) return nullptr;
    const Definition* found = it->second;
    ends.erase(it);
    return found;
  }

  const Function& f_;
  std::set<TensorId> read_, written_;
};

}  // namespace

void require(bool holds, const Function& f, std::string_view what) {
  if (!holds) throw InternalError(fmt::format("plan of {}: {}", f.graph.name, what));
}

void require(bool holds, const Function& f, TensorId t, std::string_view what) {
  if (!holds)
    throw InternalError(
        fmt::format("plan of {}, {}: {}: {}", f.graph.name, f.name, f.graph[t].name, what));
}

void verify(const Function& f) {
  try {
    FunctionChecker(f).run();
    verify_memory(f);
  } catch (const std::out_of_range&) {
    throw InternalError("plan of " + f.graph.name + ": a tensor that does not exist");
  }
}

void verify(const Plan& plan) {
  const Function& forward = plan.forward;
  const auto is_alike = [](const Function& a, TensorId ta, const Function& b, TensorId tb) {
    const Tensor &left = a.graph[ta], &right = b.graph[tb];
    return left.storage == right.storage && left.split == right.split &&
           left.extents == right.extents;
  };
  const auto same = [&](const Function& a, TensorId ta, const Function& b, TensorId tb) {
    return a.graph[ta].name == b.graph[tb].name && is_alike(a, ta, b, tb);
  };
  for (const Function* f : functions(plan)) {
    for (TensorId t : f->graph.tensor_ids()) {
      const Place place = f->places[t.value];
      const bool is_output = std::ranges::any_of(
          forward.graph.outputs, [&](const Output& o) { return same(*f, t, forward, o.tensor); });
      if (place == Place::forwarded)
        require(f != &forward && is_output, *f, t, "no output of forward");
      if (place == Place::given)
        require(f == &forward || !is_output, *f, t, "given again, though forward computes it");
    }
  }
  // Backward wants all of the saved block, a probe some of it, in its order.
  for (const Function* f : functions(plan)) {
    if (f == &forward) continue;
    size_t n = 0;
    for (TensorId t : f->saved) {
      const auto own = f->in_forward.find(t);
      const bool is_known = own != f->in_forward.end();
      while (n < forward.saved.size() && !(is_known && forward.saved[n] == own->second)) ++n;
      require(n < forward.saved.size() && is_alike(forward, forward.saved[n], *f, t), *f, t,
              "not in the saved block of forward, or turned");
      ++n;
    }
  }
  if (plan.backward && plan.backward->saved.size() != forward.saved.size())
    throw InternalError("plan of " + plan.model + ": something is saved that nothing wants");
}

}  // namespace attn::plan
