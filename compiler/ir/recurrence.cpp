#include "compiler/ir/recurrence.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::ir {
namespace {

// Places in the list of what each definition reads, and the cycles among them.
class Cycles {
 public:
  explicit Cycles(const Graph& g) : reads_(g.definitions.size()), of_(g.definitions.size()) {
    std::map<TensorId, size_t> place;
    for (size_t k = 0; k < g.definitions.size(); ++k) place[g.definitions[k].target] = k;
    for (size_t k = 0; k < g.definitions.size(); ++k)
      for (TensorId t : reads(g.definitions[k]))
        if (auto found = place.find(t); found != place.end()) reads_[k].push_back(found->second);
    find();
  }

  const std::vector<size_t>& reads_of(size_t k) const { return reads_[k]; }
  size_t cycle_of(size_t k) const { return of_[k]; }
  // Members in the order of the list. A definition alone is a cycle where it reads itself.
  const std::vector<std::vector<size_t>>& all() const { return members_; }
  bool is_recurrence(size_t cycle) const {
    const std::vector<size_t>& m = members_[cycle];
    return m.size() > 1 || std::count(reads_[m[0]].begin(), reads_[m[0]].end(), m[0]) > 0;
  }

 private:
  // Those that reach each other along reads: first by the time at which a walk leaves them, then
  // backwards from the last.
  void find() {
    const size_t count = reads_.size();
    std::vector<size_t> left;
    std::vector<bool> seen(count);
    for (size_t k = 0; k < count; ++k) walk(k, reads_, seen, left);
    std::vector<std::vector<size_t>> readers(count);
    for (size_t k = 0; k < count; ++k)
      for (size_t n : reads_[k]) readers[n].push_back(k);
    seen.assign(count, false);
    for (auto k = left.rbegin(); k != left.rend(); ++k) {
      std::vector<size_t> members;
      walk(*k, readers, seen, members);
      if (members.empty()) continue;
      std::sort(members.begin(), members.end());
      for (size_t n : members) of_[n] = members_.size();
      members_.push_back(std::move(members));
    }
  }

  static void walk(size_t from, const std::vector<std::vector<size_t>>& edges,
                   std::vector<bool>& seen, std::vector<size_t>& left) {
    if (seen[from]) return;
    seen[from] = true;
    std::vector<std::pair<size_t, size_t>> open{{from, 0}};
    while (!open.empty()) {
      auto& [k, next] = open.back();
      if (next == edges[k].size()) {
        left.push_back(k);
        open.pop_back();
        continue;
      }
      const size_t n = edges[k][next++];
      if (seen[n]) continue;
      seen[n] = true;
      open.emplace_back(n, 0);
    }
  }

  std::vector<std::vector<size_t>> reads_;
  std::vector<size_t> of_;
  std::vector<std::vector<size_t>> members_;
};

// Finds by which index the definitions of one cycle step, and in which order they run.
class Stepping {
 public:
  Stepping(const Graph& g, const std::vector<size_t>& members) : g_(g), members_(members) {
    for (size_t n = 0; n < members.size(); ++n) number_[g.definitions[members[n]].target] = n;
    for (size_t n = 0; n < members.size(); ++n) collect(n);
  }

  bool run() {
    const size_t dimensions = g_.definitions[members_[0]].free.size();
    for (size_t axis = 0; axis < dimensions; ++axis)
      if (agrees(axis) && order()) return true;
    return false;
  }

  // The read that is farthest from what a recurrence may read.
  Misread misread() const {
    for (const Read& r : reads_) {
      const Definition& d = g_.definitions[members_[r.reader]];
      const bool steps =
          std::any_of(r.read.args().begin(), r.read.args().end(), [&](const Expr& s) {
            return std::any_of(d.free.begin(), d.free.end(),
                               [&](IndexId i) { return offset(s, i).has_value(); });
          });
      if (!steps) return {members_[r.reader], r.read};
    }
    return {members_[reads_.back().reader], reads_.back().read};
  }

  std::vector<size_t> step;    // by member
  std::vector<size_t> sorted;  // members in the order in which they run
  bool down = false;

 private:
  struct Read {
    size_t reader, of;
    Expr read;
  };

  void collect(size_t reader) {
    const Definition& d = g_.definitions[members_[reader]];
    auto look = [&](const Expr& e) {
      visit(e, [&](const Expr& x) {
        if (x.is(Kind::read))
          if (auto found = number_.find(x->tensor); found != number_.end())
            reads_.push_back({reader, found->second, x});
        return true;
      });
    };
    look(d.body);
    for (const Expr& c : d.guard) look(c);
  }

  // -1, 0 or 1 where s is that far from i.
  static std::optional<int> offset(const Expr& s, IndexId i) {
    const Expr rest = s - index_value(i);
    for (int c : {0, -1, 1})
      if (rest.is_literal(c)) return c;
    return std::nullopt;
  }

  IndexId step_of(size_t member) const {
    return g_.definitions[members_[member]].free[step[member]];
  }

  // Steps along `axis` of the first member, and along what follows from it for the others.
  bool agrees(size_t axis) {
    step.assign(members_.size(), SIZE_MAX);
    step[0] = axis;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Read& r : reads_) {
        if (step[r.reader] != SIZE_MAX && step[r.of] == SIZE_MAX) changed |= name_read(r);
        if (step[r.reader] == SIZE_MAX && step[r.of] != SIZE_MAX) changed |= name_reader(r);
      }
    }
    std::set<int> offsets;
    for (const Read& r : reads_) {
      if (step[r.reader] == SIZE_MAX || step[r.of] == SIZE_MAX) return false;
      const auto c = offset(r.read.args()[step[r.of]], step_of(r.reader));
      if (!c || !g_.same(g_[step_of(r.reader)].extent, g_[step_of(r.of)].extent)) return false;
      offsets.insert(*c);
    }
    down = offsets.count(1) > 0;
    return !(down && offsets.count(-1));
  }

  bool name_read(const Read& r) {
    for (size_t k = 0; k < r.read.args().size(); ++k) {
      if (!offset(r.read.args()[k], step_of(r.reader))) continue;
      step[r.of] = k;
      return true;
    }
    return false;
  }

  bool name_reader(const Read& r) {
    const std::vector<IndexId>& free = g_.definitions[members_[r.reader]].free;
    for (size_t k = 0; k < free.size(); ++k) {
      if (!offset(r.read.args()[step[r.of]], free[k])) continue;
      step[r.reader] = k;
      return true;
    }
    return false;
  }

  // Each after what it reads at its own step; false where that is a cycle too.
  bool order() {
    std::vector<std::set<size_t>> needs(members_.size());
    for (const Read& r : reads_)
      if (offset(r.read.args()[step[r.of]], step_of(r.reader)) == 0) needs[r.reader].insert(r.of);
    sorted.clear();
    std::vector<bool> done(members_.size());
    while (sorted.size() < members_.size()) {
      size_t next = 0;
      while (next < members_.size() &&
             (done[next] || std::any_of(needs[next].begin(), needs[next].end(),
                                        [&](size_t n) { return !done[n]; })))
        ++next;
      if (next == members_.size()) return false;
      done[next] = true;
      sorted.push_back(next);
    }
    return true;
  }

  const Graph& g_;
  const std::vector<size_t>& members_;
  std::map<TensorId, size_t> number_;
  std::vector<Read> reads_;
};

}  // namespace

bool has_recurrences(const Graph& g) {
  std::vector<bool> open(g.tensors.size());
  for (const Definition& d : g.definitions) open[d.target.value] = true;
  for (const Definition& d : g.definitions) {
    for (TensorId t : reads(d))
      if (open[t.value]) return true;
    open[d.target.value] = false;
  }
  return false;
}

std::optional<Misread> arrange(Graph& g) {
  if (!has_recurrences(g)) return std::nullopt;
  const Cycles cycles(g);
  std::vector<std::vector<size_t>> members = cycles.all();
  for (size_t c = 0; c < members.size(); ++c) {
    if (!cycles.is_recurrence(c)) continue;
    Stepping stepping(g, cycles.all()[c]);
    if (!stepping.run()) return stepping.misread();
    for (size_t n = 0; n < stepping.sorted.size(); ++n)
      members[c][n] = cycles.all()[c][stepping.sorted[n]];
  }
  // Each cycle when its first member comes, after what it needs. Cycles wait in `open` while
  // what they need is put before them.
  std::vector<Definition> result;
  std::vector<bool> seen(members.size()), done(members.size());
  for (size_t k = 0; k < g.definitions.size(); ++k) {
    std::vector<size_t> open{cycles.cycle_of(k)};
    while (!open.empty()) {
      const size_t c = open.back();
      if (!seen[c]) {
        seen[c] = true;
        std::set<size_t> needed;
        for (size_t m : cycles.all()[c])
          for (size_t n : cycles.reads_of(m)) needed.insert(n);
        for (auto n = needed.rbegin(); n != needed.rend(); ++n)
          if (!seen[cycles.cycle_of(*n)]) open.push_back(cycles.cycle_of(*n));
        continue;
      }
      open.pop_back();
      if (done[c]) continue;
      done[c] = true;
      for (size_t m : members[c]) result.push_back(g.definitions[m]);
    }
  }
  g.definitions = std::move(result);
  return std::nullopt;
}

std::vector<Recurrence> recurrences(const Graph& g) {
  std::vector<Recurrence> result;
  if (!has_recurrences(g)) return result;
  const Cycles cycles(g);
  auto require = [&](bool holds, const std::string& what, size_t at) {
    if (!holds)
      throw InternalError(
          fmt::format("{}: {} in {}", g.name, what, g[g.definitions[at].target].name));
  };
  for (size_t c = 0; c < cycles.all().size(); ++c) {
    const std::vector<size_t>& members = cycles.all()[c];
    if (!cycles.is_recurrence(c)) continue;
    Stepping stepping(g, members);
    require(stepping.run(), "a recurrence that does not step", members[0]);
    require(std::is_sorted(stepping.sorted.begin(), stepping.sorted.end()),
            "a read before its definition", members[0]);
    require(members.back() - members[0] + 1 == members.size(), "a recurrence that is torn",
            members[0]);
    result.push_back({members[0], stepping.step, stepping.down});
  }
  std::sort(result.begin(), result.end(),
            [](const Recurrence& a, const Recurrence& b) { return a.first < b.first; });
  return result;
}

Needs::Needs(const Graph& g) {
  const std::vector<Recurrence> all = recurrences(g);
  for (size_t n = 0; n < all.size(); ++n)
    for (size_t k = all[n].first; k < all[n].end(); ++k)
      of_.emplace(g.definitions[k].target, Member{n, all[n].step[k - all[n].first]});
}

bool Needs::in_one(TensorId a, TensorId b) const {
  const auto x = of_.find(a), y = of_.find(b);
  return x != of_.end() && y != of_.end() && x->second.recurrence == y->second.recurrence;
}

bool Needs::may_read(const Definition& reader, const Expr& read) const {
  if (!in_one(reader.target, read->tensor)) return true;
  const Expr step = index_value(reader.free[of_.at(reader.target).step]);
  return read.args()[of_.at(read->tensor).step] == step;
}

std::optional<size_t> Needs::step_in(const Definition& reader, const Expr& read) const {
  const Expr step = index_value(reader.free[of_.at(reader.target).step]);
  const auto at = std::ranges::find(read.args(), step);
  if (at == read.args().end()) return std::nullopt;
  return static_cast<size_t>(at - read.args().begin());
}

bool Needs::may_hold(const Definition& reader, const Expr& e) const {
  bool all = true;
  visit(e, [&](const Expr& x) {
    if (x.is(Kind::read)) all = all && may_read(reader, x);
    return all;
  });
  return all;
}

std::set<TensorId> carried(const Graph& g) {
  std::set<TensorId> result;
  for (const Recurrence& r : recurrences(g)) {
    std::map<TensorId, size_t> step;
    for (size_t k = r.first; k < r.end(); ++k)
      step.emplace(g.definitions[k].target, r.step[k - r.first]);
    for (size_t k = r.first; k < r.end(); ++k) {
      const Definition& d = g.definitions[k];
      const Expr own = index_value(d.free[r.step[k - r.first]]);
      auto look = [&](const Expr& e) {
        visit(e, [&](const Expr& x) {
          if (x.is(Kind::read))
            if (auto found = step.find(x->tensor);
                found != step.end() && !(x.args()[found->second] == own))
              result.insert(x->tensor);
          return true;
        });
      };
      look(d.body);
      for (const Expr& c : d.guard) look(c);
    }
  }
  return result;
}

}  // namespace attn::ir
