// Memory between kernels: tensors whose lives do not overlap share a slot.
#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/function.h"

namespace attn::plan {

using namespace ir;

int element_bytes(Storage s) {
  switch (s) {
    case Storage::boolean:
      return 1;
    case Storage::f16:
    case Storage::bf16:
      return 2;
    case Storage::f64:
      return 8;
    default:
      return 4;
  }
}

bool is_split(const Graph& g, TensorId t) { return g[t].split; }

Poly elements(const Graph& g, TensorId t) {
  Poly product = is_split(g, t) ? 2 : 1;
  for (const Poly& extent : g[t].extents) product = product * extent;
  return product;
}

std::vector<Slot> assign_slots(const Function& f) {
  struct Life {
    int first, last;
    double bytes;
  };
  std::map<TensorId, Life> lives;
  int time = 0;
  auto touch = [&](TensorId t) {
    if (f.places[t.value] != Place::workspace) return;
    auto [it, fresh] = lives.try_emplace(t, Life{time, time, 0});
    it->second.last = time;
    if (fresh) {
      const Graph& g = f.graph;
      it->second.bytes = estimate(g, elements(g, t)) * element_bytes(g[t].storage);
    }
  };
  for (const Kernel& k : f.checks)
    for (TensorId t : k.writes) touch(t);
  for (const Kernel& k : f.kernels) {
    ++time;
    for (TensorId t : k.writes) touch(t);
    for (TensorId t : k.reads) touch(t);
  }
  // Largest first; each goes to the first slot that is free for all its life.
  std::vector<std::pair<TensorId, Life>> order(lives.begin(), lives.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  std::vector<Slot> slots;
  for (const auto& [tensor, life] : order) {
    auto free = std::find_if(slots.begin(), slots.end(), [&, life = life](const Slot& s) {
      return std::none_of(s.tensors.begin(), s.tensors.end(), [&](TensorId other) {
        const Life& o = lives.at(other);
        return o.first <= life.last && life.first <= o.last;
      });
    });
    if (free == slots.end()) free = slots.insert(slots.end(), Slot{});
    free->tensors.push_back(tensor);
  }
  return slots;
}

std::vector<SizeId> sizes_used(const Graph& g, const Kernel& k) {
  std::set<SizeId> used;
  auto take_poly = [&](const Poly& p) {
    Poly expanded = g.expand(p);
    for (const auto& [monomial, c] : expanded.terms())
      for (auto [id, power] : monomial) used.insert(id);
  };
  auto take = [&](const Expr& e) {
    visit(e, [&](const Expr& x) {
      if (x.is(Kind::size)) take_poly(x->size);
      return true;
    });
  };
  for (const auto* list : {&k.reads, &k.writes})
    for (TensorId t : *list)
      for (const Poly& extent : g[t].extents) take_poly(extent);
  for (const Definition& d : k.definitions) {
    take(d.body);
    for (const Expr& c : d.guard) take(c);
    for (const auto* list : {&d.free, &d.reduced})
      for (IndexId i : *list) take_poly(g[i].extent);
  }
  return {used.begin(), used.end()};
}

}  // namespace attn::plan
