#include "compiler/plan/segments.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/recurrence.h"
#include "compiler/plan/blocks.h"
#include "compiler/plan/members.h"

namespace attn::plan {

using namespace ir;

namespace {

// What a step leaves of a sum over steps.
Definition added(Graph& g, const Steps& steps, const Definition& term, const Slice& sum) {
  std::vector<IndexId> free;
  for (IndexId i : term.free) free.push_back(g.new_index(g[i].name, g[i].extent));
  const std::vector<Expr> at = index_values(free);
  const Expr before = where({is_later(steps)}, g.read(sum.whole, at));
  return normal_form({.target = sum.tensor,
                      .free = free,
                      .body = before + g.read(term.target, at),
                      .where = term.where});
}

// The definitions of one recurrence, and those that are computed with it, as those of a step.
class OneStep {
 public:
  OneStep(Graph& g, const Recurrence& r, const Rolling& rolling)
      : g_(g),
        members_(members_of(g, r, rolling)),
        down_(r.down),
        index_(g.definitions[r.first].free[r.step[0]]),
        rolling_(rolling) {}

  size_t first() const { return members_.first; }
  size_t end() const { return members_.end(); }

  Segment run(const std::set<TensorId>& apart, const std::vector<TensorId>& saved) {
    Segment s;
    s.steps = Steps{new_step(g_, index_, ".step"), g_[index_].extent, down_};
    step_ = size_value(Poly::size(s.steps->step));
    step_before_ = step_before(*s.steps);
    for (size_t k = first(); k < end(); ++k) s.slices.push_back(slice(k));
    for (TensorId t : saved)
      if (takes_its_own(t)) s.given.push_back(slice_of_saved(t));
    for (const auto* slices : {&s.slices, &s.given})
      for (const Slice& slice : *slices) slices_.emplace(slice.whole, slice);
    for (size_t k = first(); k < end(); ++k) {
      const Definition d = at_step(k);
      if (dimension(k)) {
        s.definitions.push_back(d);
        continue;
      }
      const TensorId whole = g_.definitions[k].target;
      const Definition sum = added(g_, *s.steps, d, slices_.at(whole));
      const auto at = s.definitions.insert(after_operands(s.definitions, d), sum);
      s.definitions.insert(at, d);
      if (apart.count(whole)) s.apart.insert(sum.target);
    }
    for (const Slice& slice : s.slices)
      if (rolling_.rolled.count(slice.whole)) g_[slice.whole].extents[*slice.dimension] = kRolled;
    return s;
  }

 private:
  IndexId step_of(size_t k) const { return members_.step[k - first()]; }
  std::optional<size_t> dimension(size_t k) const { return members_.dimension[k - first()]; }

  std::string suffix(size_t k) const { return "." + g_[step_of(k)].name; }

  Slice slice(size_t k) {
    const TensorId whole = g_.definitions[k].target;
    std::vector<Poly> extents = g_[whole].extents;
    if (const auto step = dimension(k)) extents.erase(extents.begin() + static_cast<long>(*step));
    return {g_.new_part(whole, suffix(k), g_[whole].storage, extents), whole, dimension(k)};
  }

  // Whether each step reads its own of a tensor that has one for each, in front.
  bool takes_its_own(TensorId t) const {
    const Tensor& tensor = g_[t];
    if (tensor.split || tensor.extents.empty() || !g_.same(tensor.extents[0], g_[index_].extent))
      return false;
    bool is_read = false, result = true;
    for (size_t k = first(); k < end(); ++k) {
      for (const Expr& site : read_sites(g_.definitions[k], {t})) {
        is_read = true;
        result = result && site.args()[0] == index_value(step_of(k));
      }
    }
    return is_read && result;
  }

  Slice slice_of_saved(TensorId t) {
    const std::vector<Poly>& extents = g_[t].extents;
    const TensorId step =
        g_.new_part(t, "." + g_[index_].name, g_[t].storage, {extents.begin() + 1, extents.end()});
    g_[step].role = Role::input;
    return {step, t};
  }

  Definition at_step(size_t k) {
    Definition d = g_.definitions[k];
    const IndexId step = step_of(k);
    const std::map<IndexId, Expr> here = {{step, step_}};
    auto sliced = [&](const Expr& e) {
      return rewrite(substitute(e, here), [&](const Expr& x) { return read_slice(x); });
    };
    map_exprs(d, sliced);
    const Slice& own = slices_.at(d.target);
    if (own.dimension) {
      d.target = own.tensor;
      d.free.erase(d.free.begin() + static_cast<long>(*own.dimension));
    } else {
      const Tensor sum = g_[own.whole];
      d.target = g_.new_part(own.whole, ".term" + suffix(k), sum.storage, sum.extents);
      std::erase(d.reduced, step);
      if (d.reduced.empty()) d.combine = Combine::set;
    }
    return normal_form(d);
  }

  // Where a sum joins what else reads the same.
  static std::vector<Definition>::iterator after_operands(std::vector<Definition>& list,
                                                          const Definition& d) {
    const std::set<TensorId> read = reads(d);
    auto at = list.end();
    while (at != list.begin() && !read.count(std::prev(at)->target)) --at;
    return at;
  }

  Expr read_slice(const Expr& x) const {
    if (!x.is(Kind::read)) return x;
    auto found = slices_.find(x->tensor);
    if (found == slices_.end()) return x;
    const Slice& s = found->second;
    ATTN_CHECK(s.dimension, "a sum over steps that is read before it is complete");
    std::vector<Expr> at = x.args();
    if (!(at[*s.dimension] == step_)) {
      if (!rolling_.rolled.count(s.whole)) return x;
      at[*s.dimension] = step_before_;
      return g_.read(s.whole, at);
    }
    at.erase(at.begin() + static_cast<long>(*s.dimension));
    return g_.read(s.tensor, at);
  }

  Graph& g_;
  const Members members_;
  const bool down_;
  const IndexId index_;  // the step
  const Rolling& rolling_;
  Expr step_, step_before_;  // the second of what rolls
  std::map<TensorId, Slice> slices_;
};

// A sum that is taken in blocks of its terms, and what is computed for it alone, as those of a
// block.
class OneBlock {
 public:
  OneBlock(Graph& g, const TermBlocks& blocks) : g_(g), blocks_(blocks) {
    const auto sum = std::ranges::find(g.definitions, blocks.sum, &Definition::target);
    end_ = static_cast<size_t>(sum - g.definitions.begin()) + 1;
  }

  size_t first() const { return end_ - 1 - blocks_.own.size(); }
  size_t end() const { return end_; }

  Segment run(const std::set<TensorId>& apart) {
    Blocks cut(g_, blocks_.terms, blocks_.block);
    for (const auto& [t, dimension] : blocks_.own) cut.add(t, dimension);
    for (const auto& [t, dimension] : blocks_.given) cut.add_given(t, dimension);
    Segment s = cut.segment();
    const std::string name = g_[blocks_.terms].name;
    const Tensor sum = g_[blocks_.sum];
    s.slices.push_back(
        {g_.new_part(blocks_.sum, "." + name, sum.storage, sum.extents), blocks_.sum, {}});
    for (size_t k = first(); k < end(); ++k) {
      const Definition d = g_.definitions[k];
      const auto own = blocks_.own.find(d.target);
      ATTN_CHECK(d.target == blocks_.sum || own != blocks_.own.end(),
                 "a block of terms that is torn");
      Definition part =
          cut.at_block(d, own == blocks_.own.end() ? blocks_.terms : d.free[own->second]);
      if (d.target == blocks_.sum)
        part.target = g_.new_part(d.target, ".term." + name, sum.storage, sum.extents);
      s.definitions.push_back(normal_form(std::move(part)));
    }
    s.definitions.push_back(added(g_, *s.steps, s.definitions.back(), s.slices.back()));
    if (apart.count(blocks_.sum)) s.apart.insert(s.definitions.back().target);
    return s;
  }

 private:
  Graph& g_;
  const TermBlocks& blocks_;
  size_t end_ = 0;
};

// What stands after a recurrence reads the last step of what rolls.
void read_last_steps(const Graph& g, std::vector<Segment>& segments,
                     const std::set<TensorId>& rolled) {
  for (const Segment& of : segments)
    for (const Slice& slice : of.slices) {
      if (!rolled.count(slice.whole)) continue;
      const auto last = [&](const Expr& x) {
        if (!x.is(Kind::read) || x->tensor != slice.whole) return x;
        std::vector<Expr> at = x.args();
        const std::optional<Poly> step = as_size(at[*slice.dimension]);
        ATTN_CHECK(step && g.same(*step, of.steps->down ? Poly() : of.steps->count - 1),
                   "a read of a step that is not kept");
        at[*slice.dimension] = step_at_end(g, *of.steps);
        return read(x->tensor, x.type(), std::move(at));
      };
      for (Segment& s : segments)
        for (Definition& d : s.definitions) {
          if (&s == &of || !reads(d, slice.whole)) continue;
          map_exprs(d, [&](const Expr& e) { return rewrite(e, last); });
          d = normal_form(std::move(d));
        }
    }
}

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
    for (const Slice& slice : s.given) wanted.insert(slice.whole);
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

SizeId new_step(Graph& g, IndexId index, const std::string& suffix) {
  const std::string name = g[index].name + suffix;
  std::string fresh = name;
  for (int n = 1; g.find_size(fresh); ++n) fresh = fmt::format("{}.{}", name, n);
  g.sizes.push_back({.name = fresh});
  return {static_cast<int32_t>(g.sizes.size() - 1)};
}

Expr step_before(const Steps& steps) {
  const Poly before = Poly::size(steps.step) + (steps.down ? 1 : -1);
  return remainder(size_value(before), size_value(kRolled));
}

Expr is_later(const Steps& steps) {
  const Poly step = Poly::size(steps.step);
  return at_least_zero(size_value(steps.down ? steps.count - 2 - step : step - 1));
}

Expr step_at_end(const Graph& g, const Steps& steps) {
  const std::optional<int64_t> count = g.known(steps.count);
  ATTN_CHECK(count && *count > 0, "a last step of none");
  return steps.down ? int64_t{0} : (*count - 1) % kRolled;
}

std::vector<Segment> segments_of(Graph& g, const Rolling& rolling, const std::set<TensorId>& apart,
                                 const std::vector<TensorId>& saved,
                                 const std::vector<TermBlocks>& blocks) {
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
  auto next_block = blocks.begin();
  auto add_blocks = [&](size_t end) {
    for (; next_block != blocks.end(); ++next_block) {
      OneBlock block(g, *next_block);
      if (block.first() >= end) break;
      between(block.first());
      segments.push_back(block.run(apart));
      done = block.end();
    }
    between(end);
  };
  for (const Recurrence& r : recurrences(g)) {
    OneStep recurrence(g, r, rolling);
    add_blocks(recurrence.first());
    segments.push_back(recurrence.run(apart, saved));
    done = recurrence.end();
  }
  add_blocks(all.size());
  read_last_steps(g, segments, rolling.rolled);
  find_outputs(g, segments);
  return segments;
}

Graph graph_of(Graph g, const Segment& s) {
  g.definitions = s.definitions;
  g.outputs = s.outputs;
  return g;
}

}  // namespace attn::plan
