#include "compiler/plan/segments.h"

#include <fmt/format.h>

#include "compiler/ir/recurrence.h"

namespace attn::plan {

using namespace ir;

namespace {

SizeId new_size(Graph& g, const std::string& name) {
  std::string fresh = name;
  for (int n = 1; g.find_size(fresh); ++n) fresh = fmt::format("{}.{}", name, n);
  g.sizes.push_back({.name = fresh});
  return {static_cast<int32_t>(g.sizes.size() - 1)};
}

// The definitions of one recurrence, and those that are computed with it, as those of a step.
class OneStep {
 public:
  OneStep(Graph& g, const Recurrence& r, const Rolling& rolling)
      : g_(g),
        first_(r.first),
        down_(r.down),
        index_(g.definitions[r.first].free[r.step[0]]),
        dimension_(r.step),
        rolled_(rolling.rolled) {
    for (; first_ > 0; --first_) {
      const auto tiled = rolling.tiled.find(g.definitions[first_ - 1].target);
      if (tiled == rolling.tiled.end()) break;
      dimension_.insert(dimension_.begin(), tiled->second);
    }
    for (size_t k = r.end(); k < g.definitions.size(); ++k) {
      const auto joined = rolling.joined.find(g.definitions[k].target);
      if (joined == rolling.joined.end()) break;
      dimension_.push_back(joined->second);
    }
  }

  size_t first() const { return first_; }
  size_t end() const { return first_ + dimension_.size(); }

  Segment run() {
    Segment s;
    s.steps = Steps{new_size(g_, g_[index_].name + ".step"), g_[index_].extent, down_};
    step_ = size_value(Poly::size(s.steps->step));
    step_before_ = step_before(*s.steps);
    for (size_t k = first_; k < end(); ++k) s.slices.push_back(slice(k));
    for (const Slice& slice : s.slices) slices_.emplace(slice.whole, slice);
    for (size_t k = first_; k < end(); ++k) s.definitions.push_back(at_step(k));
    for (const Slice& slice : s.slices)
      if (rolled_.count(slice.whole)) g_[slice.whole].extents[slice.dimension] = kRolled;
    return s;
  }

 private:
  IndexId step_of(size_t k) const { return g_.definitions[k].free[dimension_[k - first_]]; }

  Slice slice(size_t k) {
    const size_t dimension = dimension_[k - first_];
    const TensorId whole = g_.definitions[k].target;
    std::vector<Poly> extents = g_[whole].extents;
    extents.erase(extents.begin() + dimension);
    const std::string suffix = "." + g_[step_of(k)].name;
    return {g_.new_part(whole, suffix, g_[whole].storage, extents), whole, dimension};
  }

  Definition at_step(size_t k) {
    Definition d = g_.definitions[k];
    const std::map<IndexId, Expr> here = {{step_of(k), step_}};
    auto sliced = [&](const Expr& e) {
      return rewrite(substitute(e, here), [&](const Expr& x) { return read_slice(x); });
    };
    map_exprs(d, sliced);
    const Slice& own = slices_.at(d.target);
    d.target = own.tensor;
    d.free.erase(d.free.begin() + own.dimension);
    return normal_form(d);
  }

  Expr read_slice(const Expr& x) const {
    if (!x.is(Kind::read)) return x;
    auto found = slices_.find(x->tensor);
    if (found == slices_.end()) return x;
    const Slice& s = found->second;
    std::vector<Expr> at = x.args();
    if (!(at[s.dimension] == step_)) {
      if (!rolled_.count(s.whole)) return x;
      at[s.dimension] = step_before_;
      return g_.read(s.whole, at);
    }
    at.erase(at.begin() + s.dimension);
    return g_.read(s.tensor, at);
  }

  Graph& g_;
  size_t first_;
  const bool down_;
  const IndexId index_;            // the step
  std::vector<size_t> dimension_;  // by definition: which of its free indices is the step
  const std::set<TensorId>& rolled_;
  Expr step_, step_before_;  // the second of what rolls
  std::map<TensorId, Slice> slices_;
};

// What is read of each segment's tensors from outside, and in a recurrence one step back.
void find_outputs(const Graph& g, std::vector<Segment>& segments) {
  std::map<TensorId, std::pair<Segment*, TensorId>> from;  // the tensor of the segment
  for (Segment& s : segments) {
    for (const Definition& d : s.definitions) from[d.target] = {&s, d.target};
    for (const Slice& slice : s.slices) from[slice.whole] = {&s, slice.tensor};
  }
  std::set<TensorId> wanted;
  for (const Output& o : g.outputs) wanted.insert(o.tensor);
  for (const Segment& s : segments) {
    for (const Definition& d : s.definitions)
      for (TensorId t : reads(d))
        if (auto found = from.find(t);
            found != from.end() && (found->second.first != &s || found->second.second != t))
          wanted.insert(t);
  }
  for (TensorId t : wanted) {
    auto found = from.find(t);
    if (found == from.end()) continue;
    const TensorId own = found->second.second;
    found->second.first->outputs.push_back(
        {.name = g[own].name, .tensor = own, .updates = g.updated_by(own)});
  }
}

}  // namespace

Expr step_before(const Steps& steps) {
  const Poly before = Poly::size(steps.step) + (steps.down ? 1 : -1);
  return remainder(size_value(before), size_value(kRolled));
}

std::vector<Segment> segments_of(Graph& g, const Rolling& rolling) {
  std::vector<Segment> segments;
  const std::vector<Definition> all = g.definitions;
  size_t done = 0;
  auto add = [&](size_t end) {
    segments.push_back({.definitions = {all.begin() + done, all.begin() + end}});
    done = end;
  };
  auto between = [&](size_t end) {
    for (size_t k = done; k < end; ++k) {
      if (!g.updated_by(all[k].target).valid()) continue;
      if (done < k) add(k);
      add(k + 1);
    }
    if (done < end || end == all.size()) add(end);
  };
  for (const Recurrence& r : recurrences(g)) {
    OneStep recurrence(g, r, rolling);
    between(recurrence.first());
    segments.push_back(recurrence.run());
    done = recurrence.end();
  }
  between(all.size());
  find_outputs(g, segments);
  return segments;
}

Graph graph_of(Graph g, const Segment& s) {
  g.definitions = s.definitions;
  g.outputs = s.outputs;
  return g;
}

}  // namespace attn::plan
