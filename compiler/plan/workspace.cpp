// Memory between kernels: when each tensor is needed.
#include <algorithm>
#include <map>
#include <set>

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

// What forward saves, and only the kernels of one loop take, each step its own.
std::set<TensorId> saved_by_step(const Function& f) {
  std::set<TensorId> result, others;
  std::map<TensorId, const Loop*> loops;
  for (const Slice& s : f.slices) {
    if (f.places[s.whole.value] == Place::saved && lies_by_step(f, s)) result.insert(s.whole);
  }
  for (size_t n = 0; n < f.kernels.size(); ++n) {
    const Loop* loop = loop_of(f, n);
    for (TensorId t : f.kernels[n].arguments()) {
      const TensorId whole = whole_of(f, t);
      if (!result.count(whole)) continue;
      const auto [it, is_first] = loops.try_emplace(whole, loop);
      const bool is_own = loop && whole != t && it->second == loop && is_taken_by(f, t, *loop);
      if (!is_own) others.insert(whole);
    }
  }
  for (const Kernel& k : f.checks)
    for (TensorId t : k.arguments()) others.insert(t);
  std::erase_if(result, [&](TensorId t) { return others.count(t) > 0; });
  return result;
}

// The kernels that need each tensor. `by_step`: of which one step is in memory.
class Lives {
 public:
  explicit Lives(const Function& f, const std::set<TensorId>& by_step = {})
      : f_(f), by_step_(by_step) {
    for (const Kernel& k : f.checks)
      for (TensorId t : k.arguments()) touch(t, 0, 0);
    for (const Loop& loop : f.loops) touch_carried(loop);
    for (size_t n = 0; n < f.kernels.size(); ++n) {
      const int time = static_cast<int>(n) + 1;
      for (TensorId t : f.kernels[n].arguments()) touch(t, time, time);
    }
    for (const Loop& loop : f.loops) widen(loop);
    // A derivative that is not given is zeroed first.
    for (auto& [t, life] : all_)
      if (f.places[t.value] == Place::given) life.first = 0;
    if (f.kind == FunctionKind::backward) find_in_step();
    if (f.kind == FunctionKind::forward) find_if_saved();
  }

  std::vector<Life> run() {
    std::vector<Life> result;
    for (auto& [t, life] : all_) {
      life.over = taken_by(life);
      result.push_back(life);
    }
    std::ranges::stable_sort(result, [](const Life& a, const Life& b) {
      return a.first != b.first ? a.first < b.first : a.last < b.last;
    });
    return result;
  }

 private:
  bool is_own(TensorId t) const {
    return f_.places[t.value] == Place::workspace || f_.places[t.value] == Place::saved;
  }

  TensorId in_memory(TensorId t) const {
    const TensorId whole = whole_of(f_, t);
    return by_step_.count(whole) ? whole : t;
  }

  // What the kernel that begins a life reads for the last time, and writes over: of several, what
  // was there first.
  TensorId taken_by(const Life& life) const {
    const Place place = f_.places[life.tensor.value];
    if (life.first == 0 || !(is_own(life.tensor) || place == Place::result)) return {};
    const size_t n = static_cast<size_t>(life.first) - 1;
    const Loop* loop = loop_of(f_, n);
    const TensorId written = life.of_step ? taken_of(f_, f_.kernels[n], life.tensor) : life.tensor;
    const Life* first = nullptr;
    for (TensorId t : f_.kernels[n].reads) {
      const auto read = all_.find(in_memory(t));
      if (read == all_.end() || !is_own(read->first) || read->second.last != life.first) continue;
      // Every step reads what comes from before a loop.
      if (loop && (read->second.first < first_of(*loop) || life.last > last_of(*loop))) continue;
      if (first && first->first <= read->second.first) continue;
      if (writes_over(f_.graph, f_.kernels[n].form, f_.kernels[n].writes, written, t))
        first = &read->second;
    }
    return first ? first->tensor : TensorId{};
  }

  void touch(TensorId t, int first, int last) {
    t = whole_of(f_, t);
    const Place place = f_.places[t.value];
    // An update may write over what it reads, where its caller wants that.
    const bool is_result = place == Place::result && f_.kind != FunctionKind::update;
    if (!is_own(t) && !is_result && !is_derivative(f_.graph[t].role)) return;
    auto [it, fresh] = all_.try_emplace(t, Life{t, first, last, {}, by_step_.count(t) > 0});
    it->second.first = std::min(it->second.first, first);
    it->second.last = std::max(it->second.last, last);
  }

  static int first_of(const Loop& loop) { return static_cast<int>(loop.first) + 1; }
  static int last_of(const Loop& loop) { return static_cast<int>(loop.end); }

  // What one step leaves to the next.
  void touch_carried(const Loop& loop) {
    for (size_t n = loop.first; n < loop.end; ++n)
      for (TensorId t : f_.kernels[n].writes)
        if (whole_of(f_, t) != t && in_memory(t) == t) touch(t, first_of(loop), last_of(loop));
  }

  // What lives outside a loop, as arguments do, lives through all of it: each step may need it.
  void widen(const Loop& loop) {
    const int first = first_of(loop), last = last_of(loop);
    for (auto& [t, life] : all_) {
      const bool inside =
          life.first >= first && life.last <= last && !is_argument(f_.graph[t].role);
      if (inside || life.first > last || life.last < first) continue;
      life.first = std::min(life.first, first);
      life.last = std::max(life.last, last);
    }
  }

  void find_in_step() {
    const std::set<TensorId> saved = saved_by_step(f_);
    for (auto& [t, life] : all_) {
      if (is_argument(f_.graph[t].role)) {
        if (saved.count(t)) life.in_step = taken_in(life).second;
        continue;
      }
      const int first = life.first > 0 && loop_of(f_, life.first - 1) ? taken_in(life).first : 0;
      if (first > life.first)
        life.in_step = first;
      else if (ends_by_blocks(life))
        life.in_step = taken_in(life).second;
    }
  }

  // Whether a life that began before a loop ends with it, and each step takes its own block alone.
  bool ends_by_blocks(const Life& life) const {
    const Loop* loop = life.last > 0 ? loop_of(f_, static_cast<size_t>(life.last) - 1) : nullptr;
    if (!loop || life.first >= first_of(*loop) || f_.places[life.tensor.value] != Place::workspace)
      return false;
    for (size_t n = loop->first; n < loop->end; ++n)
      for (TensorId t : f_.kernels[n].arguments())
        if (whole_of(f_, t) == life.tensor && !(is_block(f_, t) && is_taken_by(f_, t, *loop)))
          return false;
    return true;
  }

  void find_if_saved() {
    std::map<TensorId, int> takes;
    for (const auto* list : {&f_.checks, &f_.kernels})
      for (const Kernel& k : *list)
        for (TensorId t : k.arguments()) ++takes[whole_of(f_, t)];
    for (const Kernel& k : f_.kernels) {
      const TensorId kept = kept_of(k.form);
      if (!kept.valid() || !std::ranges::count(k.writes, kept)) continue;
      const TensorId t = whole_of(f_, kept);
      if (f_.places[t.value] == Place::saved && takes[t] == 1) all_.at(t).if_saved = true;
    }
  }

  // The first and the last kernel that takes a tensor during its life.
  std::pair<int, int> taken_in(const Life& life) const {
    std::pair<int, int> result = {0, 0};
    for (int n = std::max(life.first, 1); n <= life.last; ++n)
      for (TensorId t : f_.kernels[static_cast<size_t>(n) - 1].arguments()) {
        if (whole_of(f_, t) != life.tensor) continue;
        if (result.first == 0) result.first = n;
        result.second = n;
      }
    return result;
  }

  const Function& f_;
  const std::set<TensorId> by_step_;
  std::map<TensorId, Life> all_;
};

// What forward saves for backward alone, and takes step by step itself.
std::set<TensorId> needed_by_step(const Function& f) {
  std::set<TensorId> result = saved_by_step(f);
  std::erase_if(result,
                [&](TensorId t) { return is_argument(f.graph[t].role) || f.graph.is_output(t); });
  return result;
}

// Whether what a kernel reads of a tensor for one of its results is that at the same point.
bool is_at(const Expr& e, TensorId t, const std::vector<IndexId>& point) {
  bool result = true;
  visit(e, [&](const Expr& x) {
    if (x.is(Kind::read) && x->tensor == t)
      result = result && std::ranges::equal(x.args(), point, [](const Expr& at, IndexId i) {
                 return at == index_value(i);
               });
    return true;
  });
  return result;
}

bool is_at(const Definition& d, TensorId t, const std::vector<IndexId>& point) {
  return is_at(d.body, t, point) &&
         std::ranges::all_of(d.guard, [&](const Expr& c) { return is_at(c, t, point); });
}

bool reads_only_at(const LoopsForm& form, TensorId t) {
  const Definition& d = form.definition;
  if (form.start) return is_at(*form.start, t, d.free) && !reads(d).count(t);
  if (form.together.valid()) return is_at(d, t, mixed_point(d, form.together));
  return d.combine == Combine::set && d.position.empty() && is_at(d, t, d.free);
}

// The reductions of a row are complete before its map is written.
bool reads_only_at(const RowForm& form, TensorId written, TensorId t) {
  const Definition& map = *std::ranges::find(form.definitions, written, &Definition::target);
  return map.combine == Combine::set && map.free.size() == form.rows.size() + form.columns.size() &&
         std::ranges::all_of(form.definitions,
                             [&](const Definition& d) { return is_at(d, t, map.free); });
}

// Of a contraction the map that finishes the sum. A fallback would finish some of them twice.
bool reads_only_at(const ContractionForm& form, TensorId written, TensorId t) {
  if (form.groups && tensors(form.groups->of).count(t)) return false;
  if (written != form.target || (form.kept && tensors(*form.kept).count(t))) return false;
  for (const Product& p : form.products) {
    if (p.hides_left() || p.hides_right()) return false;
    for (const Expr& factor : {p.left, p.right})
      if (tensors(factor).count(t)) return false;
    for (const Conditions* guard : {&p.left_guard, &p.right_guard})
      for (const Expr& c : *guard)
        if (tensors(c).count(t)) return false;
  }
  return is_at(form.epilogue, t, form.free) &&
         std::ranges::all_of(form.guard, [&](const Expr& c) { return is_at(c, t, form.free); });
}

}  // namespace

bool writes_over(const Graph& g, const Form& form, const std::vector<TensorId>& stored,
                 TensorId written, TensorId read) {
  const Tensor &to = g[written], &from = g[read];
  const auto* contraction = std::get_if<ContractionForm>(&form);
  const std::vector<TensorId> results = results_of(form);
  const bool is_alone = stored == std::vector{written} && std::ranges::count(results, written);
  if (!(is_alone || (contraction && stored == results)) || to.storage != from.storage || to.split ||
      from.split || !std::ranges::equal(to.extents, from.extents))
    return false;
  if (const auto* loops = std::get_if<LoopsForm>(&form)) return reads_only_at(*loops, read);
  if (const auto* row = std::get_if<RowForm>(&form)) return reads_only_at(*row, written, read);
  return contraction && reads_only_at(*contraction, written, read);
}

TensorId kept_of(const Form& form) {
  const auto* contraction = std::get_if<ContractionForm>(&form);
  return contraction && contraction->kept ? contraction->sum : TensorId();
}

TensorId whole_of(const Function& f, TensorId t) {
  const auto slice = std::ranges::find(f.slices, t, &Slice::tensor);
  return slice == f.slices.end() ? t : slice->whole;
}

bool is_block(const Function& f, TensorId t) {
  const auto slice = std::ranges::find(f.slices, t, &Slice::tensor);
  return slice != f.slices.end() && slice->block > 0;
}

bool is_taken_by(const Function& f, TensorId step, const Loop& loop) {
  const auto s = std::ranges::find(f.slices, step, &Slice::tensor);
  return s != f.slices.end() && s->dimension &&
         f.graph.same(f.graph[s->whole].extents[*s->dimension],
                      loop.steps.count * Poly(std::max<int64_t>(s->block, 1)));
}

bool is_rolled(const Function& f, const Slice& s) {
  if (s.block > 0) return false;
  const auto writes = [&](const Loop& loop) {
    for (size_t n = loop.first; n < loop.end; ++n)
      if (std::ranges::count(f.kernels[n].writes, s.tensor)) return true;
    return false;
  };
  const auto loop = std::ranges::find_if(f.loops, writes);
  return s.dimension && loop != f.loops.end() &&
         f.graph[s.whole].extents[*s.dimension] != loop->steps.count;
}

bool lies_by_step(const Function& f, const Slice& s) {
  if (f.graph[s.whole].split) return false;
  return s.block > 0 || (s.dimension == size_t{0} && !is_rolled(f, s));
}

const Loop* loop_of(const Function& f, size_t n) {
  const auto loop =
      std::ranges::find_if(f.loops, [&](const Loop& l) { return l.first <= n && n < l.end; });
  return loop == f.loops.end() ? nullptr : &*loop;
}

TensorId taken_of(const Function& f, const Kernel& k, TensorId t) {
  for (TensorId argument : k.arguments())
    if (whole_of(f, argument) == t) return argument;
  return t;
}

std::vector<Life> lives_of(const Function& f) { return Lives(f).run(); }

std::vector<Life> unsaved_lives_of(const Function& f) {
  const std::set<TensorId> by_step = needed_by_step(f);
  if (by_step.empty()) return {};
  std::vector<Life> result;
  const std::vector<Life> unsaved = Lives(f, by_step).run();
  for (const Life& life : f.lives)
    result.push_back(*std::ranges::find(unsaved, life.tensor, &Life::tensor));
  return result;
}

Poly workspace_bytes(const Graph& g, const Function& f) {
  Poly most;
  double size = -1;
  for (int now = 0; now <= static_cast<int>(f.kernels.size()); ++now) {
    Poly sum;
    std::set<TensorId> taken;  // the memory of which is another's
    for (const Life& life : f.lives)
      if (life.first == now && life.over.valid() && f.places[life.tensor.value] != Place::result)
        taken.insert(life.over);
    for (const Life& life : f.lives) {
      const bool is_here = life.first <= now && now <= life.last && !taken.count(life.tensor);
      if (!is_here || f.places[life.tensor.value] != Place::workspace) continue;
      sum = sum + elements(g, life.tensor) * Poly(element_bytes(g[life.tensor].storage));
    }
    if (estimate(g, sum) <= size) continue;
    size = estimate(g, sum);
    most = sum;
  }
  return most;
}

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
