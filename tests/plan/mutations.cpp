#include "mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>

namespace attn::testing {

using namespace ir;

namespace {

constexpr const char* kPlaces[] = {"given", "result",    "updated", "forwarded",
                                   "saved", "workspace", "step",    "none"};

template <class T>
bool is_equal(const T& a, const T& b) {
  if constexpr (std::equality_comparable<T>) return a == b;
  return false;
}
template <class T>
bool is_equal(const std::vector<T>& a, const std::vector<T>& b) {
  if constexpr (std::equality_comparable<T>) return a == b;
  return false;
}

class Mutator {
 public:
  Mutator(plan::Function& f, const Visit& visit) : f_(f), visit_(visit) {}

  void run() {
    for (auto* list : {&f_.checks, &f_.kernels})
      for (plan::Kernel& k : *list) {
        kernel_ = &k;
        mutate(k);
      }
    kernel_ = nullptr;
    mutate_function();
  }

 private:
  template <class T>
  void change(const std::string& field, T& at, T value, const std::string& how) {
    if (is_equal(at, value)) return;
    T before = at;
    at = std::move(value);
    visit_(field + ": " + how, kernel_);
    at = std::move(before);
  }

  // ----------------------------------------------------------------------------------- fields

  void mutate(const std::string& field, Expr& e) {
    if (e.type() == Type::boolean) return;
    change<Expr>(field, e, e + Expr(1), "plus one");
    if (!e.is_zero()) change<Expr>(field, e, e * Expr(2), "doubled");
    if (const auto used = indices(e); !used.empty())
      change(field, e, substitute(e, {{*used.begin(), Expr(0)}}), "one index 0");
  }

  void mutate(const std::string& field, Conditions& conditions) {
    for (const Expr& c : Conditions(conditions)) {
      Conditions fewer = conditions;
      fewer.erase(c);
      change(field, conditions, fewer, "one fewer");
    }
    if (indices_.empty()) return;
    Conditions more = conditions;
    more.insert(is_zero(index_value(indices_[0])));
    change(field, conditions, more, "one more");
  }

  template <class T>
  void mutate_list(const std::string& field, std::vector<T>& list) {
    if (list.empty()) return;
    change(field, list, {list.begin(), list.end() - 1}, "last dropped");
    if (list.size() < 2) return;
    change(field, list, {list.rbegin(), list.rend()}, "reversed");
    std::vector<T> twice = list;
    twice.back() = twice.front();
    change(field, list, twice, "first twice");
  }

  void mutate(const std::string& field, std::vector<IndexId>& list) {
    mutate_list(field, list);
    if (indices_.empty()) return;
    std::vector<IndexId> more = list;
    more.push_back(indices_[0]);
    change(field, list, more, "one more");
  }

  // Another of those that the kernel has, of the same extent where there is one.
  void mutate(const std::string& field, IndexId& i) {
    change(field, i, IndexId(), "none");
    for (IndexId other : indices_)
      if (other != i) return change(field, i, other, "another");
  }

  void mutate(const std::string& field, TensorId& t) {
    change(field, t, TensorId(), "none");
    for (const auto* list : {&kernel_->reads, &kernel_->writes})
      for (TensorId other : *list)
        if (other != t) return change(field, t, other, "another");
  }

  void mutate(const std::string& field, Definition& d) {
    for (Combine c : {Combine::set, Combine::sum, Combine::max, Combine::prod})
      if (c != d.combine)
        change(field + ".combine", d.combine, c,
               fmt::format("{} to {}", name_of(d.combine), name_of(c)));
    mutate(field + ".guard", d.guard);
    mutate(field + ".body", d.body);
    mutate(field + ".free", d.free);
    mutate(field + ".reduced", d.reduced);
    mutate(field + ".target", d.target);
    for (Expr& p : d.position) mutate(field + ".position", p);
  }

  void mutate(const std::string& field, plan::Product& p) {
    mutate(field + ".left", p.left);
    mutate(field + ".right", p.right);
    mutate(field + ".left_guard", p.left_guard);
    mutate(field + ".right_guard", p.right_guard);
    mutate(field + ".reduced", p.reduced);
    plan::Product swapped = p;
    std::swap(swapped.left, swapped.right);
    std::swap(swapped.left_guard, swapped.right_guard);
    change(field, p, swapped, "factors swapped");
  }

  void mutate(const std::string& field, std::vector<plan::Product>& products) {
    change(field, products, {products.begin(), products.end() - 1}, "last dropped");
    std::vector<plan::Product> twice = products;
    twice.push_back(twice[0]);
    change(field, products, twice, "one twice");
  }

  // ------------------------------------------------------------------------------------ forms

  void mutate(plan::LoopsForm& form) {
    indices_ = form.definition.free;
    mutate("loops", form.definition);
    if (form.together.valid()) mutate("loops.together", form.together);
    if (form.along.valid()) mutate("loops.along", form.along);
    if (!form.start) return;
    mutate("loops.start", *form.start);
    change<std::optional<Expr>>("loops.start", form.start, std::nullopt, "none");
  }

  void mutate(plan::RowForm& form) {
    indices_ = form.rows;
    indices_.insert(indices_.end(), form.columns.begin(), form.columns.end());
    mutate("row.rows", form.rows);
    mutate("row.columns", form.columns);
    for (Definition& d : form.definitions) mutate("row.definition", d);
    mutate_list("row.definitions", form.definitions);
    change("row.in_place", form.in_place, !form.in_place, form.in_place ? "off" : "on");
  }

  void mutate(plan::ContractionForm& form) {
    indices_ = form.free;
    mutate("contraction.batch", form.batch);
    mutate("contraction.rows", form.rows);
    mutate("contraction.columns", form.columns);
    mutate("contraction.free", form.free);
    std::vector<IndexId> rows = form.rows;
    change("contraction", form.rows, form.columns, "columns as rows");
    for (plan::Product& p : form.products) mutate("contraction.product", p);
    mutate("contraction.products", form.products);
    if (form.groups) {
      mutate("contraction.groups.of", form.groups->of);
      mutate("contraction.groups.index", form.groups->index);
      change("contraction.groups.count", form.groups->count, form.groups->count + Poly(1),
             "plus one");
      change<std::optional<plan::Groups>>("contraction.groups", form.groups, std::nullopt, "none");
    }
    mutate("contraction.sum", form.sum);
    mutate("contraction.target", form.target);
    mutate("contraction.epilogue", form.epilogue);
    mutate("contraction.guard", form.guard);
    if (!form.kept) return;
    mutate("contraction.kept", *form.kept);
    change<std::optional<Expr>>("contraction.kept", form.kept, std::nullopt, "none");
  }

  void mutate(plan::TilesForm& form) {
    indices_ = form.batch;
    indices_.insert(indices_.end(), {form.row, form.column});
    mutate("tiles.batch", form.batch);
    mutate("tiles.row", form.row);
    mutate("tiles.column", form.column);
    plan::TilesForm turned = form;
    std::swap(turned.row, turned.column);
    change("tiles", form, turned, "row and column swapped");
    for (plan::Tile& t : form.tiles) mutate(t);
    mutate_list("tiles.tiles", form.tiles);
    for (plan::TileResult& r : form.results) mutate(r, form.tiles.size());
    mutate_list("tiles.results", form.results);
    if (!form.bounds) return;
    mutate("tiles.bounds.first", form.bounds->first);
    mutate("tiles.bounds.end", form.bounds->end);
    mutate("tiles.bounds.batch", form.bounds->batch);
    change<std::optional<plan::BlockBounds>>("tiles.bounds", form.bounds, std::nullopt, "none");
  }

  void mutate(plan::Tile& t) {
    mutate("tile.tensor", t.tensor);
    mutate("tile.free", t.free);
    for (plan::Product& p : t.dots) mutate("tile.dot", p);
    if (!t.dots.empty()) mutate("tile.dots", t.dots);
    mutate("tile.dot", t.dot);
    mutate("tile.value", t.value);
    mutate("tile.visible", t.visible);
  }

  void mutate(plan::TileResult& r, size_t tiles) {
    using Kind = plan::TileResult::Kind;
    const std::string field = "result";
    for (Kind k : {Kind::logsumexp, Kind::weighted, Kind::rows, Kind::columns, Kind::scatter})
      if (k != r.kind) change(field + ".kind", r.kind, k, "another");
    mutate(field + ".tensor", r.tensor);
    for (size_t n = 0; n <= tiles; ++n)
      if (n != r.tile) change(field + ".tile", r.tile, n, "another");
    if (r.kind == Kind::weighted) {
      mutate(field + ".weight", r.weight);
      mutate(field + ".counted", r.counted);
    }
    mutate(field + ".panel", r.panel);
    mutate(field + ".panel_guard", r.panel_guard);
    mutate(field + ".feature", r.feature);
    mutate(field + ".scale", r.scale);
    mutate(field + ".free", r.free);
    for (Expr& e : r.position) mutate(field + ".position", e);
    mutate_list(field + ".position", r.position);
  }

  // ---------------------------------------------------------------------- kernel and function

  void mutate(plan::Kernel& k) {
    std::visit([&](auto& form) { mutate(form); }, k.form);
    for (Definition& d : k.definitions) {
      indices_ = d.free;
      mutate("kernel.definition", d);
    }
    mutate_list("kernel.definitions", k.definitions);
    mutate_list("kernel.reads", k.reads);
    mutate_list("kernel.writes", k.writes);
    mutate_list("kernel.sizes", k.sizes);
  }

  void mutate_function() {
    for (size_t t = 0; t < f_.places.size(); ++t)
      for (plan::Place p :
           {plan::Place::given, plan::Place::result, plan::Place::updated, plan::Place::forwarded,
            plan::Place::saved, plan::Place::workspace, plan::Place::step, plan::Place::none})
        if (p != f_.places[t])
          change("function.places", f_.places[t], p,
                 fmt::format("{} to {}", kPlaces[static_cast<int>(f_.places[t])],
                             kPlaces[static_cast<int>(p)]));
    mutate_list("function.saved", f_.saved);
    mutate_list("function.checks", f_.checks);
    mutate_list("function.kernels", f_.kernels);
    for (size_t n = 1; n < f_.kernels.size(); ++n) {
      std::vector<plan::Kernel> swapped = f_.kernels;
      std::swap(swapped[n - 1], swapped[n]);
      change("function.kernels", f_.kernels, swapped, "two swapped");
      swapped[n].name = swapped[n - 1].name;
      change("function.kernels", f_.kernels, swapped, "two of one name");
    }
    for (plan::DataCheck& c : f_.data_checks) mutate(c);
    mutate_list("function.data_checks", f_.data_checks);
    for (plan::Loop& loop : f_.loops) mutate(loop);
    mutate_list("function.loops", f_.loops);
    for (plan::Slice& s : f_.slices) {
      change("slice.tensor", s.tensor, s.whole, "the whole");
      change("slice.whole", s.whole, s.tensor, "the step");
      const std::optional<size_t> next = s.dimension ? *s.dimension + 1 : 0;
      change("slice.dimension", s.dimension, next, "the next");
      change("slice.dimension", s.dimension, std::optional<size_t>(), "none");
      change("slice.block", s.block, s.block + 1, "one more");
      if (s.block > 0) change("slice.block", s.block, int64_t{0}, "none");
    }
    mutate_list("function.slices", f_.slices);
    for (plan::Life& life : f_.lives) mutate(life);
    mutate_list("function.lives", f_.lives);
    for (plan::Life& life : f_.unsaved_lives) {
      mutate(life);
      change("life.of_step", life.of_step, !life.of_step, life.of_step ? "the whole" : "a step");
    }
    for (plan::Life& life : f_.lives) {
      change("life.if_saved", life.if_saved, !life.if_saved, life.if_saved ? "always" : "on");
      if (life.in_step == 0) continue;
      change("life.in_step", life.in_step, life.in_step + 1, "plus one");
      change("life.in_step", life.in_step, life.in_step - 1, "less one");
      change("life.in_step", life.in_step, 0, "none");
    }
    mutate_list("function.unsaved_lives", f_.unsaved_lives);
  }

  void mutate(plan::Life& life) {
    change("life.first", life.first, life.first + 1, "plus one");
    change("life.last", life.last, life.last - 1, "less one");
    if (life.over.valid()) change("life.over", life.over, TensorId(), "none");
    for (const plan::Life& other : f_.lives)
      if (other.last == life.first && other.tensor != life.tensor) {
        change("life.over", life.over, other.tensor, "another that ends there");
        break;
      }
  }

  void mutate(plan::DataCheck& c) {
    plan::DataCheck turned = c;
    std::swap(turned.lowest, turned.highest);
    change("data_check", c, turned, "lowest and highest swapped");
    change("data_check.extent", c.extent, c.extent + Poly(1), "plus one");
  }

  void mutate(plan::Loop& loop) {
    change("loop.first", loop.first, loop.first + 1, "plus one");
    change("loop.end", loop.end, loop.end + 1, "plus one");
    if (loop.end > 0) change("loop.end", loop.end, loop.end - 1, "minus one");
    change("loop.down", loop.steps.down, !loop.steps.down, "turned");
    change("loop.count", loop.steps.count, loop.steps.count + Poly(1), "plus one");
  }

  plan::Function& f_;
  const Visit& visit_;
  plan::Kernel* kernel_ = nullptr;
  std::vector<IndexId> indices_;
};

}  // namespace

void each_mutation(plan::Function& f, const Visit& visit) { Mutator(f, visit).run(); }

}  // namespace attn::testing
