#include "compiler/plan/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/function.h"

namespace attn::plan {
namespace {

using namespace ir;

using Indices = std::set<IndexId>;

Indices set_of(const std::vector<IndexId>& list) { return {list.begin(), list.end()}; }

Indices joined(Indices a, const std::vector<IndexId>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

bool within(const Indices& used, const Indices& allowed) {
  return std::includes(allowed.begin(), allowed.end(), used.begin(), used.end());
}

class Checker {
 public:
  Checker(const Graph& g, const Kernel& k) : g_(g), k_(k) {}

  void run() {
    std::visit([&](const auto& form) { check(form); }, k_.form);
    check_definitions();
  }

 private:
  void require(bool holds, std::string_view what) const {
    if (!holds) throw InternalError(fmt::format("kernel {}: {}", k_.name, what));
  }

  // The form as a graph that takes what the kernel reads and gives what it writes.
  void check_definitions() {
    Graph form = definitions_of(g_, k_.form);
    for (Tensor& t : form.tensors) t.role = Role::interior;
    for (TensorId t : k_.reads) form[t].role = Role::input;
    for (TensorId t : k_.writes) form.outputs.push_back({.name = form[t].name, .tensor = t});
    std::set<TensorId> claimed;
    for (const Definition& d : k_.definitions) claimed.insert(d.target);
    for (TensorId t : k_.writes) require(claimed.count(t), "a result that was not claimed");
    std::set<TensorId> later;
    for (size_t k = form.definitions.size(); k-- > 0;) {
      const Definition& d = form.definitions[k];
      require(claimed.count(d.target) || !is_named(d.target), "a definition that was not claimed");
      later.insert(d.target);
      for (TensorId t : ir::reads(d)) require(!later.count(t), "a read of what comes later");
    }
    ir::verify(form, "planning " + k_.name);
    for (SizeId s : sizes_used(form, form.definitions, {}))
      require(std::count(k_.sizes.begin(), k_.sizes.end(), s), "a size that it does not take");
  }

  // A tensor of the graph, not one that the form gave a name.
  bool is_named(TensorId t) const { return t.value < static_cast<int32_t>(g_.tensors.size()); }

  void check_factor(const Expr& e, const Conditions& guard, const Indices& allowed) const {
    require(within(indices(e), allowed) && within(indices(guard), allowed),
            "a factor over an index of the other");
  }

  void check(const LoopsForm& form) const {
    require(k_.definitions.size() == 1 && k_.definitions[0] == form.definition,
            "another definition than was claimed");
  }

  void check(const RowForm& form) const {
    const Indices rows = set_of(form.rows), columns = set_of(form.columns);
    require(rows.size() == form.rows.size() && columns.size() == form.columns.size(),
            "an index twice among rows or columns");
    const Indices all = joined(rows, form.columns);
    require(all.size() == rows.size() + columns.size(), "a column among the rows");
    std::set<TensorId> sums_of_columns;
    for (const Definition& d : form.definitions) {
      const Indices free = set_of(d.free), reduced = set_of(d.reduced);
      const bool map = reduced.empty() && (free == rows || free == all);
      const bool down = d.combine == Combine::sum && free == columns && reduced == rows;
      const bool along = free == rows && reduced == columns;
      require(map || down || along, "a definition over other indices than rows and columns");
      for (TensorId t : reads(d))
        require(!sums_of_columns.count(t), "a sum of columns that is read");
      if (down && !along) sums_of_columns.insert(d.target);
    }
    for (const Definition& d : form.definitions) check_places(form, d);
  }

  // What a row kernel computes is read at its own place.
  void check_places(const RowForm& form, const Definition& d) const {
    for (const Definition& other : form.definitions) {
      std::vector<Expr> own;
      for (IndexId i : other.free) own.push_back(index_value(i));
      auto look = [&](const Expr& e) {
        visit(e, [&](const Expr& x) {
          if (x.is(Kind::read) && x->tensor == other.target)
            require(x.args() == own, "a read of another row");
          return true;
        });
      };
      look(d.body);
      for (const Expr& c : d.guard) look(c);
    }
  }

  void check(const ContractionForm& form) const {
    const Indices batch = set_of(form.batch), rows = joined(batch, form.rows),
                  columns = joined(batch, form.columns);
    require(form.batch.size() + form.rows.size() + form.columns.size() == form.free.size() &&
                joined(rows, form.columns) == set_of(form.free) &&
                set_of(form.free).size() == form.free.size(),
            "free indices that are not divided into batch, rows and columns");
    for (const auto* group : {&form.batch, &form.rows, &form.columns})
      require(std::is_sorted(group->begin(), group->end(),
                             [&](IndexId a, IndexId b) {
                               return std::find(form.free.begin(), form.free.end(), a) <
                                      std::find(form.free.begin(), form.free.end(), b);
                             }),
              "a group of indices in another order than the target's");
    require(!form.products.empty(), "no product");
    for (const Product& p : form.products) {
      check_factor(p.left, p.left_guard, joined(rows, p.reduced));
      check_factor(p.right, p.right_guard, joined(columns, p.reduced));
    }
    require(k_.writes.size() == (form.kept ? 2 : 1) && k_.writes[0] == form.target &&
                (!form.kept || k_.writes[1] == form.sum),
            "other results than the target and what is kept");
  }

  void check(const TilesForm& form) const {
    const Indices batch = set_of(form.batch);
    Indices all = batch;
    all.insert({form.row, form.column});
    require(batch.size() == form.batch.size() && all.size() == batch.size() + 2,
            "an index twice among batch, row and column");
    for (const Tile& t : form.tiles) {
      require(!t.tensor.valid() || (set_of(t.free) == all && t.free.size() == all.size()),
              "a tile over other indices");
      require(t.dots.empty() == !t.dot.valid(), "a tile without its sum of products");
      require(!t.dot.valid() || tensors(t.value).count(t.dot),
              "a sum of products that is not read");
      for (const Product& p : t.dots) {
        check_factor(p.left, p.left_guard, joined(all, p.reduced));
        check_factor(p.right, p.right_guard, joined(all, p.reduced));
      }
    }
    require(!form.results.empty(), "no result");
    for (size_t k = 0; k < form.results.size(); ++k) check(form, form.results[k], k);
    if (form.bounds)
      for (TensorId t : {form.bounds->first, form.bounds->end})
        require(g_[t].storage == Storage::i32 &&
                    g_[t].extents.size() == form.bounds->batch.size() + 1 &&
                    within(set_of(form.bounds->batch), batch),
                "bounds of other blocks");
  }

  void check(const TilesForm& form, const TileResult& r, size_t place) const {
    using Kind = TileResult::Kind;
    require((r.kind == Kind::logsumexp) == (place == 0 && form.streams()) &&
                (r.kind == Kind::weighted) == (place == 1 && form.streams()) &&
                (!form.streams() || form.results.size() <= 2),
            "results that do not stand together");
    require(r.tile < form.tiles.size(), "a result of no tile");
    require(!form.streams() || r.tile + 1 == form.tiles.size(), "a result of an inner tile");
    Indices kept = set_of(form.batch), all = kept;
    all.insert({form.row, form.column});
    kept.insert(r.kind == Kind::columns ? form.column : form.row);
    if (r.feature.valid()) {
      kept.insert(r.feature);
      all.insert(r.feature);
    }
    if (r.kind == Kind::scatter) {
      require(r.free.empty() && r.place.size() == g_[r.tensor].extents.size(),
              "places of another number");
      for (const Expr& e : r.place) require(within(indices(e), all), "a place of another index");
    } else {
      require(r.place.empty() && set_of(r.free) == kept, "a result over other indices");
    }
    require(within(indices(r.scale), kept), "a scale over what is summed");
    require(within(indices(r.panel), all) && within(indices(r.panel_guard), all),
            "a panel over other indices");
    if (r.kind == Kind::logsumexp)
      require(r.panel.is_one() && r.scale.is_one() && !r.feature.valid(), "a scaled log-sum-exp");
  }

  const Graph& g_;
  const Kernel& k_;
};

// Runs the kernels on names: what each place in memory holds.
class Run {
 public:
  explicit Run(const Function& f) : f_(f) {
    for (const Slice& s : f.slices)
      if (f.places[s.tensor.value] == Place::step) wholes_.emplace(s.tensor, s.whole);
    for (size_t n = 0; n < f.workspace.size(); ++n)
      for (TensorId t : f.workspace[n].tensors) {
        require(f.places[t.value] == Place::workspace, t, "in a slot though it lives elsewhere");
        require(slots_.emplace(t, n).second, t, "in two slots");
      }
  }

  void run() {
    for (const Kernel& k : f_.checks) call(k);
    size_t end = 0;
    for (const Loop& loop : f_.loops) {
      ATTN_CHECK(loop.first >= end && loop.end >= loop.first && loop.end <= f_.kernels.size(),
                 "loops that are not one behind the other");
      for (; end < loop.first; ++end) call(f_.kernels[end]);
      // The second step finds what the first leaves.
      for (int step = 0; step < 2; ++step) {
        step_ = step;
        for (size_t n = loop.first; n < loop.end; ++n) call(f_.kernels[n]);
      }
      step_ = -1;
      end = loop.end;
    }
    for (; end < f_.kernels.size(); ++end) call(f_.kernels[end]);
    for (const Output& o : f_.graph.outputs)
      require(f_.places[o.tensor.value] != Place::result || written_.count(o.tensor), o.tensor,
              "a result that no kernel writes");
  }

 private:
  void require(bool holds, TensorId t, std::string_view what) const {
    if (!holds)
      throw InternalError(
          fmt::format("plan of {}, {}: {}: {}", f_.graph.name, f_.name, f_.graph[t].name, what));
  }

  TensorId whole_of(TensorId t) const {
    auto whole = wholes_.find(t);
    return whole == wholes_.end() ? t : whole->second;
  }

  void call(const Kernel& k) {
    for (TensorId t : k.reads) read(t);
    for (TensorId t : k.writes) write(t);
  }

  void read(TensorId t) {
    const Place place = f_.places[t.value];
    if (place == Place::given || place == Place::forwarded) return;
    // Forward saves what backward finds saved; the first step reads nothing of the one before.
    const bool is_argument = f_.graph[t].role == Role::input;
    const TensorId in_memory = whole_of(t);
    if (place == Place::saved && is_argument) return;
    if (step_ == 0 && !wholes_.count(t) && is_whole(t)) return;
    require(written_.count(in_memory), t, "a read before it is written");
    if (auto slot = slots_.find(in_memory); slot != slots_.end())
      require(holds_[slot->second] == in_memory, t, "a read after its slot went to another");
  }

  bool is_whole(TensorId t) const {
    return std::any_of(wholes_.begin(), wholes_.end(),
                       [&](const auto& slice) { return slice.second == t; });
  }

  void write(TensorId t) {
    const TensorId in_memory = whole_of(t);
    const Place place = f_.places[in_memory.value];
    require(place == Place::result || place == Place::workspace || place == Place::saved, t,
            "written where it has no place");
    require(written_.insert(in_memory).second || step_ == 1, t, "written twice");
    if (place != Place::workspace) return;
    auto slot = slots_.find(in_memory);
    require(slot != slots_.end(), t, "in the workspace without a slot");
    holds_[slot->second] = in_memory;
  }

  const Function& f_;
  std::map<TensorId, TensorId> wholes_;
  std::map<TensorId, size_t> slots_;
  std::map<size_t, TensorId> holds_;
  std::set<TensorId> written_;
  int step_ = -1;  // of the loop that runs: 0, 1
};

}  // namespace

void verify(const Graph& g, const Kernel& k) { Checker(g, k).run(); }

void verify(const Function& f) {
  std::set<std::string> names;
  for (const auto* list : {&f.checks, &f.kernels})
    for (const Kernel& k : *list) {
      verify(f.graph, k);
      ATTN_CHECK(names.insert(k.name).second, "two kernels named " + k.name);
    }
  Run(f).run();
}

}  // namespace attn::plan
