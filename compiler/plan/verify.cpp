#include "compiler/plan/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/key.h"
#include "compiler/plan/function.h"
#include "compiler/plan/groups.h"
#include "compiler/plan/states.h"
#include "compiler/solve/running.h"

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
  // `copy`: the tensors, indices and sizes of `g`, for the definitions of the form.
  Checker(const Graph& g, Graph& copy, const Kernel& k) : g_(g), copy_(copy), k_(k) {}

  void run() {
    std::visit([&](const auto& form) { check(form); }, k_.form);
    check_definitions();
    copy_.tensors.resize(g_.tensors.size());
    copy_.indices.resize(g_.indices.size());
  }

 private:
  void require(bool holds, std::string_view what) const {
    if (!holds) throw InternalError(fmt::format("kernel {}: {}", k_.name, what));
  }

  // The form as a graph that takes what the kernel reads and gives what it writes.
  void check_definitions() {
    Graph& form = copy_;
    form.definitions = add_definitions(form, k_.form);
    form.outputs.clear();
    std::set<TensorId> given(k_.reads.begin(), k_.reads.end());
    for (TensorId t : k_.writes) {
      const TensorId state = g_.updated_by(t);
      form.outputs.push_back({.name = form[t].name, .tensor = t, .updates = state});
      if (state.valid()) given.insert(state);
    }
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
    ir::verify_part(form, given, "planning " + k_.name);
    check_arguments(form);
  }

  void check_arguments(const Graph& form) const {
    require(!k_.writes.empty(), "a kernel without results");
    const std::vector<TensorId> arguments = k_.arguments();
    require(
        std::is_sorted(arguments.begin(), arguments.begin() + static_cast<long>(k_.reads.size())) &&
            std::set(arguments.begin(), arguments.end()).size() == arguments.size(),
        "an argument twice, or reads out of order");
    // Who lowers a form takes its results in the form's order.
    const std::vector<TensorId> results = results_of(k_.form);
    size_t n = 0;
    for (TensorId t : results)
      if (n < k_.writes.size() && t == k_.writes[n]) ++n;
    require(n == k_.writes.size(), "results in another order than the form's");
    std::set<SizeId> taken(k_.sizes.begin(), k_.sizes.end());
    require(taken.size() == k_.sizes.size(), "a size twice");
    for (SizeId s : sizes_used(form, form.definitions, arguments))
      require(taken.count(s), "a size that it does not take");
  }

  // A tensor of the graph, not one that the form gave a name.
  bool is_named(TensorId t) const { return t.value < static_cast<int32_t>(g_.tensors.size()); }

  void check_factor(const Expr& e, const Conditions& guard, const Indices& allowed) const {
    require(within(indices(e), allowed) && within(indices(guard), allowed),
            "a factor over an index of the other");
  }

  // Whether `e` reads `t`, and only with subscripts that are `right`.
  static bool reads_only(const Expr& e, TensorId t,
                         const std::function<bool(const std::vector<Expr>&)>& right) {
    bool found = false, elsewhere = false;
    for (const Expr& read : read_sites(e)) {
      if (read->tensor != t) continue;
      found = true;
      elsewhere |= !right(read.args());
    }
    return found && !elsewhere;
  }

  static bool reads_at(const Expr& e, TensorId t, const std::vector<IndexId>& at) {
    return reads_only(e, t, [&](const auto& args) { return args == index_values(at); });
  }

  // The same where any order of the indices will do.
  static bool reads_over(const Expr& e, TensorId t, const Indices& all) {
    return reads_only(e, t, [&](const auto& args) {
      Indices at;
      for (const Expr& a : args)
        if (a.is(Kind::index)) at.insert(a->index);
      return at == all && args.size() == all.size();
    });
  }

  void check(const LoopsForm& form) const {
    require(k_.definitions.size() == (form.start ? 2 : 1),
            "another number of definitions than was claimed");
    if (form.together.valid()) check_together(form);
    if (form.along.valid()) check_running(form);
    if (form.start) return check_start(form);
    check_claimed(form.definition);
    check_in_place(form.definition);
  }

  void check_together(const LoopsForm& form) const {
    const Definition& d = form.definition;
    require(d.combine == Combine::sum && d.reduced.size() == 1 && d.guard.empty() && !form.start &&
                std::ranges::count(d.free, form.together) && g_.known(g_[form.together].extent),
            "results together that are no planes of a sum");
  }

  void check_running(const LoopsForm& form) const {
    const auto running = solve::find_running(g_, form.definition);
    require(running && running->along == form.along && !form.start && !form.together.valid(),
            "a running sum along an index that it is not summed along");
  }

  // What was claimed are the terms, and the map that adds their sum.
  void check_start(const LoopsForm& form) const {
    Definition terms = form.definition;
    require(terms.combine == Combine::sum && terms.position.empty() &&
                !g_.updated_by(terms.target).valid(),
            "a start of something else than a sum");
    terms.target = k_.definitions[0].target;
    check_claimed(terms);
    check_claimed({.target = form.definition.target,
                   .free = terms.free,
                   .body = add({*form.start, g_.target(terms)})});
  }

  // A value may lie where the old one was if no other value needs that one.
  void check_in_place(const Definition& d) const {
    if (g_.updated_by(d.target).valid())
      require(is_in_place(g_, d), "a state that changes where it is still read");
  }

  // A definition that stands in the form as it was claimed.
  void check_claimed(const Definition& d) const {
    const auto claimed = std::ranges::find_if(
        k_.definitions, [&](const Definition& c) { return c.target == d.target; });
    require(claimed != k_.definitions.end() && key(g_, *claimed) == key(g_, d),
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
    require(k_.definitions.size() == form.definitions.size(),
            "another number of definitions than was claimed");
    for (const Definition& d : form.definitions) {
      check_claimed(d);
      check_places(form, d);
    }
  }

  // What a row kernel computes is read at its own place.
  void check_places(const RowForm& form, const Definition& d) const {
    for (const Definition& other : form.definitions)
      for (const Expr& read : read_sites(d))
        require(read->tensor != other.target || read.args() == index_values(other.free),
                "a read of another row");
  }

  void check(const ContractionForm& form) const {
    const Indices batch = set_of(form.batch), rows = joined(batch, form.rows),
                  columns = joined(batch, form.columns);
    std::vector<IndexId> over_groups;
    if (form.groups && !form.groups->of_rows()) over_groups.push_back(form.groups->index);
    require(form.batch.size() + form.rows.size() + form.columns.size() + over_groups.size() ==
                    form.free.size() &&
                joined(joined(rows, form.columns), over_groups) == set_of(form.free) &&
                set_of(form.free).size() == form.free.size(),
            "free indices that are not divided into batch, rows and columns");
    for (const auto* group : {&form.batch, &form.rows, &form.columns})
      require(std::is_sorted(group->begin(), group->end(),
                             [&](IndexId a, IndexId b) {
                               return std::ranges::find(form.free, a) <
                                      std::ranges::find(form.free, b);
                             }),
              "a group of indices in another order than the target's");
    require(!form.products.empty(), "no product");
    for (const Product& p : form.products) {
      if (form.groups) check_groups(*form.groups, form, p);
      check_factor(p.left, p.left_guard, joined(rows, p.reduced));
      const Expr right =
          form.groups && form.groups->of_rows() ? form.groups->at_one_group(p.right) : p.right;
      check_factor(right, p.right_guard, joined(columns, p.reduced));
    }
    require(k_.writes.size() == (form.kept ? 2 : 1) && k_.writes[0] == form.target &&
                (!form.kept || k_.writes[1] == form.sum),
            "other results than the target and what is kept");
    require(reads_at(form.epilogue, form.sum, form.free) &&
                (!form.kept || reads_at(*form.kept, form.sum, form.free)),
            "an epilogue that does not read the sum at its point");
  }

  void check_groups(const Groups& groups, const ContractionForm& form, const Product& p) const {
    require(groups.of.type() == Type::integer, "a group that is no integer");
    require(within(indices(groups.of),
                   joined(set_of(form.batch), groups.of_rows() ? form.rows : p.reduced)),
            "a group of something else than rows or terms");
    require(groups.of_rows() ? have_groups(g_, p.right, groups)
                             : g_.same(groups.count, g_[groups.index].extent),
            "another number of groups than there are");
  }

  // Whether a value that another kernel may compute with another last bit decides anything.
  static bool compares(const Tile& t, TensorId tile) {
    const auto is_comparison = [&](const Expr& x) {
      return x.is(Kind::equal) && tensors(x).count(tile) > 0;
    };
    return any_part(t.value, is_comparison) || std::ranges::any_of(t.visible, [&](const Expr& c) {
             return any_part(c, is_comparison);
           });
  }

  void check(const TilesForm& form) const {
    const Indices batch = set_of(form.batch);
    Indices all = batch;
    all.insert({form.row, form.column});
    require(batch.size() == form.batch.size() && all.size() == batch.size() + 2,
            "an index twice among batch, row and column");
    std::map<TensorId, std::vector<IndexId>> earlier;
    for (const Tile& t : form.tiles) {
      if (t.tensor.valid())
        require(set_of(t.free) == all && t.free.size() == all.size(), "a tile over other indices");
      else
        require(t.free.empty(), "a tile without a name that has dimensions");
      for (const auto& [tensor, free] : earlier)
        require(!tensors(t.value).count(tensor) || reads_at(t.value, tensor, free),
                "a read of another point of a tile");
      for (const auto& [tensor, free] : earlier)
        require(!compares(t, tensor), "a tile that is compared for equality");
      if (t.tensor.valid()) earlier.emplace(t.tensor, t.free);
      require(t.dots.empty() == !t.dot.valid(), "a tile without its sum of products");
      require(!t.dot.valid() || reads_over(t.value, t.dot, all),
              "a sum of products that is not read at its point");
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

  void check(const TilesForm& form, const TileResult& r, size_t number) const {
    using Kind = TileResult::Kind;
    require((r.kind == Kind::logsumexp) == (number == 0 && form.streams()) &&
                (r.kind == Kind::weighted) == (number == 1 && form.streams()) &&
                (!form.streams() || form.results.size() <= 2),
            "results that do not stand together");
    require(r.tile < form.tiles.size(), "a result of no tile");
    require(!form.streams() || r.tile + 1 == form.tiles.size(), "a result of an inner tile");
    Indices kept = set_of(form.batch), all = kept;
    all.insert({form.row, form.column});
    kept.insert(r.kind == Kind::columns ? form.column : form.row);
    if (r.feature.valid()) {
      require(!all.count(r.feature), "a feature that is a row, a column or of the batch");
      kept.insert(r.feature);
      all.insert(r.feature);
    }
    if (r.kind == Kind::scatter) {
      require(r.scale.is_one(), "a scaled scatter");
      require(r.free.empty() && r.position.size() == g_[r.tensor].extents.size(),
              "positions of another number");
      for (const Expr& e : r.position)
        require(within(indices(e), all), "a position of another index");
    } else {
      const std::vector<IndexId> summed_batch = form.summed_batch(r);
      require(r.position.empty() && set_of(r.free).size() == r.free.size() &&
                  joined(set_of(r.free), summed_batch) == kept,
              "a result over other indices");
      require(summed_batch.empty() || r.kind == Kind::rows || r.kind == Kind::columns,
              "a log-sum-exp, or what it weighs, that is summed over the batch");
    }
    require(within(indices(r.scale), kept), "a scale over what is summed");
    require(within(indices(r.panel), all) && within(indices(r.panel_guard), all),
            "a panel over other indices");
    if (r.kind == Kind::logsumexp)
      require(r.panel.is_one() && r.panel_guard.empty() && r.scale.is_one() && !r.feature.valid(),
              "a scaled log-sum-exp");
    require(r.kind == Kind::weighted || (r.counted.empty() && r.weight.is_zero()),
            "a weight of another kind of sum");
  }

  const Graph& g_;
  Graph& copy_;
  const Kernel& k_;
};

}  // namespace

void verify(const Graph& g, std::span<const Kernel> kernels) {
  Graph copy = without_definitions(g);
  for (const Kernel& k : kernels) try {
      Checker(g, copy, k).run();
    } catch (const std::out_of_range&) {
      throw InternalError("kernel " + k.name +
                          ": a tensor, an index or a size that does not exist");
    }
}

}  // namespace attn::plan
