// Memory between kernels: tensors whose lives do not overlap share a slot.
#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/function.h"

namespace attn::plan {

using namespace ir;

std::vector<TensorId> Kernel::arguments() const {
  std::vector<TensorId> all = reads;
  all.insert(all.end(), writes.begin(), writes.end());
  return all;
}

int element_bytes(Storage s) {
  constexpr int kBytes[] = {1, 4, 2, 2, 4, 8};  // by storage
  static_assert(std::size(kBytes) == kStorages);
  return kBytes[static_cast<size_t>(s)];
}

Poly elements(const Graph& g, TensorId t) {
  Poly product = g[t].split ? 2 : 1;
  for (const Poly& extent : g[t].extents) product = product * extent;
  return product;
}

namespace {

// From the first kernel that needs a tensor in the workspace to the last.
struct Life {
  int first, last;
  double bytes;
};

class Lives {
 public:
  Lives(const Function& f, bool with_saved) : f_(f), with_saved_(with_saved) {
    for (const Kernel& k : f.checks)
      for (TensorId t : k.writes) touch(t, 0, 0);
    for (const Loop& loop : f.loops) touch_carried(loop);
    for (size_t n = 0; n < f.kernels.size(); ++n) {
      const int time = static_cast<int>(n) + 1;
      for (TensorId t : f.kernels[n].arguments()) touch(t, time, time);
    }
    for (const Loop& loop : f.loops) widen(loop);
  }

  // Whether two tensors never need memory at the same time.
  bool are_apart(TensorId a, TensorId b) const {
    const Life &x = all.at(a), &y = all.at(b);
    return x.last < y.first || y.last < x.first || takes_place(a, b) || takes_place(b, a);
  }

  std::map<TensorId, Life> all;

 private:
  bool takes_place(TensorId written, TensorId read) const {
    const int time = all.at(written).first;
    return time > 0 && all.at(read).last == time &&
           writes_over(f_.graph, f_.kernels[static_cast<size_t>(time) - 1], written, read);
  }

  void touch(TensorId t, int first, int last) {
    t = whole_of(f_, t);
    const Place place = f_.places[t.value];
    if (place != Place::workspace && (place != Place::saved || !with_saved_)) return;
    auto [it, fresh] = all.try_emplace(t, Life{first, last, 0});
    it->second.first = std::min(it->second.first, first);
    it->second.last = std::max(it->second.last, last);
    if (!fresh) return;
    const Graph& g = f_.graph;
    it->second.bytes = estimate(g, elements(g, t)) * element_bytes(g[t].storage);
  }

  static int first_of(const Loop& loop) { return static_cast<int>(loop.first) + 1; }
  static int last_of(const Loop& loop) { return static_cast<int>(loop.end); }

  // What one step leaves to the next.
  void touch_carried(const Loop& loop) {
    for (size_t n = loop.first; n < loop.end; ++n)
      for (TensorId t : f_.kernels[n].writes)
        if (whole_of(f_, t) != t) touch(t, first_of(loop), last_of(loop));
  }

  // What lives outside a loop lives through all of it: each step may need it.
  void widen(const Loop& loop) {
    const int first = first_of(loop), last = last_of(loop);
    for (auto& [t, life] : all) {
      const bool inside = life.first >= first && life.last <= last;
      if (inside || life.first > last || life.last < first) continue;
      life.first = std::min(life.first, first);
      life.last = std::max(life.last, last);
    }
  }

  const Function& f_;
  bool with_saved_;
};

// Largest first; each goes to the first slot that is free for all its life.
std::vector<Slot> slots_for(const Lives& lives) {
  std::vector<std::pair<TensorId, Life>> order(lives.all.begin(), lives.all.end());
  std::ranges::stable_sort(
      order, [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::vector<Slot> slots;
  for (const auto& [tensor, life] : order) {
    auto free = std::ranges::find_if(slots, [&, tensor = tensor](const Slot& s) {
      return std::ranges::all_of(s.tensors,
                                 [&](TensorId other) { return lives.are_apart(tensor, other); });
    });
    if (free == slots.end()) free = slots.insert(slots.end(), Slot{});
    free->tensors.push_back(tensor);
  }
  return slots;
}

}  // namespace

bool writes_over(const Graph& g, const Kernel& k, TensorId written, TensorId read) {
  const auto* loops = std::get_if<LoopsForm>(&k.form);
  if (!loops || k.definitions.size() != 1 || k.writes != std::vector{written}) return false;
  const Definition& d = k.definitions[0];
  const Tensor &to = g[written], &from = g[read];
  if (d.combine != Combine::set || !d.position.empty() || to.storage != from.storage || to.split ||
      from.split || !std::ranges::equal(to.extents, from.extents))
    return false;
  const std::vector<Expr> sites = read_sites(d, {read});
  return std::ranges::all_of(sites, [&](const Expr& site) {
    return std::ranges::equal(site.args(), d.free,
                              [](const Expr& at, IndexId i) { return at == index_value(i); });
  });
}

TensorId whole_of(const Function& f, TensorId t) {
  const auto slice = std::ranges::find(f.slices, t, &Slice::tensor);
  return slice == f.slices.end() ? t : slice->whole;
}

bool is_rolled(const Function& f, const Slice& s) {
  const auto writes = [&](const Loop& loop) {
    for (size_t n = loop.first; n < loop.end; ++n)
      if (std::ranges::count(f.kernels[n].writes, s.tensor)) return true;
    return false;
  };
  const auto loop = std::ranges::find_if(f.loops, writes);
  return loop != f.loops.end() && f.graph[s.whole].extents[s.dimension] != loop->steps.count;
}

const Loop* loop_of(const Function& f, size_t n) {
  const auto loop =
      std::ranges::find_if(f.loops, [&](const Loop& l) { return l.first <= n && n < l.end; });
  return loop == f.loops.end() ? nullptr : &*loop;
}

std::vector<Slot> assign_slots(const Function& f) { return slots_for(Lives(f, false)); }

std::vector<Slot> assign_unsaved_slots(const Function& f) { return slots_for(Lives(f, true)); }

std::vector<SizeId> sizes_used(const Graph& g, const std::vector<Definition>& definitions,
                               const std::vector<TensorId>& tensors) {
  std::set<SizeId> used;
  auto take_poly = [&](const Poly& p) {
    Poly expanded = g.expand(p);
    for (const auto& [monomial, c] : expanded.terms())
      for (auto [id, power] : monomial) used.insert(id);
  };
  const auto take = [&](const Expr& x) {
    if (x.is(Kind::size)) take_poly(x->size);
    return true;
  };
  for (TensorId t : tensors)
    for (const Poly& extent : g[t].extents) take_poly(extent);
  for (const Definition& d : definitions) {
    visit(d.body, take);
    for (const Expr& c : d.guard) visit(c, take);
    for (const Expr& p : d.position) visit(p, take);
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId i : *list) take_poly(g[i].extent);
  }
  return {used.begin(), used.end()};
}

}  // namespace attn::plan
