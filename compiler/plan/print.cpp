// The printed plan: what a golden file holds, so that a lost fusion shows as a difference.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/function.h"
#include "compiler/plan/kinds.h"
#include "compiler/solve/equalities.h"
#include "compiler/text/text.h"

namespace attn::plan {
namespace {

using namespace ir;

std::string names_text(const Graph& g, const std::vector<IndexId>& group) {
  std::string text;
  for (IndexId i : group) text += (text.empty() ? "" : ",") + g[i].name;
  return text;
}

// `T[b,i,j]` of a tensor at the kernel's indices.
std::string place_text(const Graph& g, TensorId t, const std::vector<IndexId>& free) {
  return free.empty() ? g[t].name : fmt::format("{}[{}]", g[t].name, names_text(g, free));
}

// A graph with a tensor more, `sum`: that of the products before an expression.
struct Printed {
  explicit Printed(const Graph& graph) : g(graph), sum(g.new_tensor({.name = "sum"})), text(g) {}
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  Graph g;
  TensorId sum;
  text::Printer text;
};

// The lines of a kernel's form, one property a line.
class FormPrinter {
 public:
  FormPrinter(const Printed& printed, const Kernel& k)
      : printed_(printed), g_(printed.g), kernel_(k) {}

  // Of a form that says no more than the definitions that were claimed.
  template <class F>
  void operator()(const F&) {
    for (const Definition& d : kernel_.definitions) line("{}", printed_.text(d));
  }

  void operator()(const LoopsForm& form) {
    if (form.start) line("starts as {}", printed_.text(*form.start));
    if (form.together.valid()) line("together {}", g_[form.together].name);
    if (form.along.valid()) line("running along {}", g_[form.along].name);
    line("{}", printed_.text(form.definition));
  }

  void operator()(const RowForm& form) {
    axes("", {}, form.rows, form.columns);
    if (form.in_place) line("in place");
    for (const Definition& d : form.definitions) line("{}", printed_.text(d));
  }

  void operator()(const ContractionForm& form) {
    axes("", form.batch, form.rows, form.columns);
    if (form.groups) groups(*form.groups);
    for (const Product& p : form.products) product("", p, true);
    if (form.kept)
      line("{} = {}", place_text(g_, form.sum, form.free), of_sum(*form.kept, form.sum));
    line("{} = {}{}", place_text(g_, form.target, form.free), of_sum(form.epilogue, form.sum),
         where_text(form.guard));
  }

  void operator()(const TilesForm& form) {
    axes("", form.batch, {form.row}, {form.column});
    if (form.bounds)
      line("columns from {} to {} of each {} rows", g_[form.bounds->first].name,
           g_[form.bounds->end].name, kBoundRows);
    for (size_t k = 0; k < form.tiles.size(); ++k) tile(form, k);
    for (const TileResult& r : form.results) result(form, r);
  }

  std::string text;

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += "      " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::string where_text(const Conditions& c) const {
    return c.empty() ? std::string() : " where " + printed_.text(c);
  }

  void axes(const char* head, const std::vector<IndexId>& batch, const std::vector<IndexId>& rows,
            const std::vector<IndexId>& columns) {
    std::string all = head;
    for (const auto& [label, group] :
         {std::pair("batch", &batch), {"rows", &rows}, {"columns", &columns}})
      if (!group->empty())
        all += fmt::format("{}{} {}", all.empty() ? "" : "  ", label, names_text(g_, *group));
    if (!all.empty()) line("{}", all);
  }

  void groups(const Groups& all) {
    const std::string of = printed_.text(all.of);
    if (all.of_rows())
      line("groups of rows, {}: {}", poly_text(g_, all.count), of);
    else
      line("groups of terms, {}: {} = {}", poly_text(g_, all.count), g_[all.index].name, of);
  }

  // An expression in which `sum` is the sum of the products before it.
  std::string of_sum(const Expr& e, TensorId sum) {
    return printed_.text(replace_reads(e, sum, g_.read(printed_.sum, {})));
  }

  // Factors that are packed, or what is computed at each point.
  void product(const char* indent, const Product& p, bool packed) {
    line("{}sum {}", indent, names_text(g_, p.reduced));
    if (packed) {
      factor(indent, "left", p.left, p.left_guard, p.hides_left());
      factor(indent, "right", p.right, p.right_guard, p.hides_right());
      return;
    }
    Conditions guard = p.left_guard;
    guard.insert(p.right_guard.begin(), p.right_guard.end());
    factor(indent, "point", multiply({p.left, p.right}), guard, false);
  }

  void factor(const char* indent, const char* label, const Expr& e, const Conditions& guard,
              bool fallback) {
    line("{}  {:<7}{}{}{}", indent, label, printed_.text(e), where_text(guard),
         fallback ? "; fallback where not finite" : "");
  }

  std::string tile_name(const TilesForm& form, size_t k) const {
    const Tile& t = form.tiles[k];
    return t.tensor.valid() ? place_text(g_, t.tensor, t.free) : fmt::format("tile {}", k);
  }

  void tile(const TilesForm& form, size_t k) {
    const Tile& t = form.tiles[k];
    line("{} = {}{}", tile_name(form, k), of_sum(t.value, t.dot), where_text(t.visible));
    for (const Product& p : t.dots) product("  ", p, form.is_apart(p));
  }

  void result(const TilesForm& form, const TileResult& r) {
    const std::string tile = tile_name(form, r.tile);
    std::string target = place_text(g_, r.tensor, r.free) + " ", value;
    switch (r.kind) {
      case TileResult::Kind::logsumexp:
        value = fmt::format("logsumexp[{}] {}", g_[form.column].name, tile);
        break;
      case TileResult::Kind::weighted:
        value = fmt::format("sum[{}] exp({} - {})", g_[form.column].name, tile,
                            g_[form.results[0].tensor].name);
        break;
      case TileResult::Kind::scatter: {
        std::string position;
        for (const Expr& e : r.position)
          position += (position.empty() ? "" : ", ") + printed_.text(e);
        target = fmt::format("{}[{}] +", g_[r.tensor].name, position);
        value = tile;
        break;
      }
      case TileResult::Kind::rows:
      case TileResult::Kind::columns: {
        std::vector<IndexId> summed = form.summed_batch(r);
        summed.push_back(r.of_rows() ? form.column : form.row);
        value = fmt::format("sum[{}] {}", names_text(g_, summed), tile);
        break;
      }
    }
    line("{}= {}", target, value);
    if (r.kind == TileResult::Kind::weighted && !(r.weight.is_one() && r.counted.empty()))
      factor("", "weight", r.weight, r.counted, false);
    if (r.feature.valid()) line("  over   {}", g_[r.feature].name);
    if (!r.panel.is_one() || !r.panel_guard.empty())
      factor("", form.packs_panel(r) ? "panel" : "point", r.panel, r.panel_guard,
             form.hides_panel(r));
    if (!r.scale.is_one()) line("  scale  {}", printed_.text(r.scale));
  }

  const Printed& printed_;
  const Graph& g_;
  const Kernel& kernel_;
};

Poly points(const Graph& g, const std::vector<IndexId>& indices) {
  Poly product = 1;
  for (IndexId i : indices) product = product * g[i].extent;
  return product;
}

// The operations of a kernel, each point counted once.
struct Operations {
  const Graph& g;
  const Kernel& kernel;

  // Of a form that computes its definitions as they were claimed.
  template <class F>
  Poly operator()(const F&) const {
    Poly sum;
    for (const Definition& d : kernel.definitions) sum = sum + of(d);
    return sum;
  }

  // A running sum adds one term to each result.
  Poly operator()(const LoopsForm& form) const {
    if (!form.along.valid())
      return of(kernel.definitions[0]) + (form.start ? of(kernel.definitions[1]) : Poly());
    return points(g, form.definition.free) * Poly(cost(form.definition.body) + 1);
  }

  // The products and their sums; each factor is computed once, when it is packed, and the epilogue
  // once for each element. A row is in one group, and so is a term.
  Poly operator()(const ContractionForm& c) const {
    const Poly rows = points(g, c.rows), columns = points(g, c.columns);
    const Poly groups = c.groups ? c.groups->count : Poly(1);
    const bool of_rows = c.groups && c.groups->of_rows();
    Poly sum = rows * columns * Poly(cost(c.epilogue)) * (of_rows ? Poly(1) : groups);
    for (const Product& p : c.products)
      sum = sum +
            points(g, p.reduced) * (rows * columns * Poly(2) + rows * Poly(cost(p.left)) +
                                    columns * Poly(cost(p.right)) * (of_rows ? groups : Poly(1)));
    return points(g, c.batch) * sum;
  }

  // Tiles once for each row and column, and their products with the features.
  Poly operator()(const TilesForm& form) const {
    constexpr int kExponential = 9;
    Poly each;
    for (const Tile& tile : form.tiles) {
      each = each + Poly(cost(tile.value));
      for (const Product& p : tile.dots) each = each + points(g, p.reduced) * Poly(2);
    }
    for (const TileResult& r : form.results) {
      if (r.kind == TileResult::Kind::logsumexp) {
        each = each + Poly(kExponential);
        continue;
      }
      if (r.kind == TileResult::Kind::weighted) each = each + Poly(cost(r.weight));
      each = each + (r.feature.valid() ? g[r.feature].extent : Poly(1)) * Poly(2);
    }
    return points(g, form.batch) * points(g, {form.row, form.column}) * each;
  }

  Poly of(const Definition& d) const {
    Poly count = 1;
    const auto scatters = solve::find_scatters(d);
    for (size_t n = 0; n < d.free.size(); ++n)
      if (std::ranges::none_of(scatters, [&](const auto& s) { return s.dimension == n; }))
        count = count * g[d.free[n]].extent;
    for (IndexId i : d.reduced) count = count * g[i].extent;
    return count * Poly(cost(d.body) + (d.reduced.empty() ? 0 : 1));
  }
};

std::string kernel_text(const Printed& printed, const Kernel& k) {
  const Graph& g = printed.g;
  std::string text = fmt::format("    {:<12}", kind_of(k.form).name);
  for (size_t n = 0; n < k.writes.size(); ++n) text += (n ? ", " : "") + shape_text(g, k.writes[n]);
  text += " <-";
  for (TensorId t : k.reads) text += " " + g[t].name;
  FormPrinter printer(printed, k);
  std::visit(printer, k.form);
  return text + fmt::format("  ({} operations)\n", poly_text(g, operations(g, k))) + printer.text;
}

std::string loop_text(const Function& f, const Graph& g, const Loop& loop) {
  std::string blocks;
  int64_t block = 0;
  for (const Slice& s : f.slices) {
    const auto takes = [&](const Kernel& k) {
      return std::ranges::count(k.reads, s.tensor) || std::ranges::count(k.writes, s.tensor);
    };
    if (s.block == 0 || !std::any_of(f.kernels.begin() + static_cast<long>(loop.first),
                                     f.kernels.begin() + static_cast<long>(loop.end), takes))
      continue;
    block = s.block;
    blocks += " " + g[s.whole].name;
  }
  const Steps& s = loop.steps;
  return fmt::format("    for each {} below {}{}{}\n", g[s.step].name, poly_text(g, s.count),
                     s.down ? ", the last first" : "",
                     blocks.empty() ? "" : fmt::format(", blocks of {} of{}", block, blocks));
}

std::string lives_text(const Function& f, const Graph& g, const std::vector<Life>& lives,
                       const char* title) {
  std::string text;
  for (const Life& life : lives) {
    text += fmt::format("      {:<8}{}", fmt::format("{}..{}", life.first, life.last),
                        shape_text(g, life.tensor));
    if (life.of_step) text += ", a step of it";
    if (life.if_saved) text += ", if it is saved";
    if (life.in_step) {
      const Loop* loop = loop_of(f, static_cast<size_t>(life.in_step) - 1);
      const bool begins = loop && life.first == static_cast<int>(loop->first) + 1 &&
                          !is_argument(g[life.tensor].role);
      text += fmt::format(", in a step {} {}", begins ? "from" : "to", life.in_step);
    }
    text += life.over.valid() ? fmt::format(" over {}\n", g[life.over].name) : "\n";
  }
  return text.empty() ? text : fmt::format("    {}:\n{}", title, text);
}

std::string function_text(const Function& f, const Schedule& schedule) {
  const Printed printed(f.graph);
  const Graph& g = printed.g;
  std::string text = "  " + title(f) + "\n";
  for (const DataCheck& c : f.data_checks)
    text += fmt::format("    check       {} {} {} in 0..{} - 1\n", c.data,
                        c.is_written ? "writes" : "reads", c.read, poly_text(g, c.extent));
  for (size_t n = 0; n < f.kernels.size(); ++n) {
    for (const Loop& loop : f.loops)
      if (loop.first == n) text += loop_text(f, g, loop);
    text += (loop_of(f, n) ? "  " : "") + kernel_text(printed, f.kernels[n]);
    if (schedule) text += fmt::format("      {}\n", schedule(f, f.kernels[n]));
  }
  std::string saved;
  for (TensorId t : f.saved) saved += " " + shape_text(g, t);
  if (!saved.empty()) text += "    saved:" + saved + "\n";
  text += lives_text(f, g, f.lives, "in memory, from kernel to kernel");
  std::vector<Life> others;
  for (size_t k = 0; k < f.unsaved_lives.size(); ++k)
    if (f.unsaved_lives[k] != f.lives[k]) others.push_back(f.unsaved_lives[k]);
  text += lives_text(f, g, others, "where nothing is saved");
  return text;
}

}  // namespace

std::string shape_text(const Graph& g, TensorId t) {
  std::string text = g[t].name;
  if (g[t].extents.empty()) return text;
  text += "[";
  for (size_t k = 0; k < g[t].extents.size(); ++k)
    text += (k ? ", " : "") + poly_text(g, g[t].extents[k]);
  return text + "]";
}

Poly operations(const Graph& g, const Kernel& k) { return std::visit(Operations{g, k}, k.form); }

Poly runs(const Function& f, size_t n) {
  const Loop* loop = loop_of(f, n);
  return loop ? loop->steps.count : 1;
}

std::string poly_text(const Graph& g, const Poly& p) {
  std::string sum;
  for (const auto& [monomial, c] : p.terms()) {
    std::string product;
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k) product += (product.empty() ? "" : "*") + g[size].name;
    Rational positive{c.num < 0 ? -c.num : c.num, c.den};
    if (product.empty() || positive.num != 1)
      product = product.empty() ? std::to_string(positive.num)
                                : fmt::format("{}*{}", positive.num, product);
    if (positive.den != 1) product += fmt::format("/{}", positive.den);
    sum += sum.empty() ? (c.num < 0 ? "-" : "") : (c.num < 0 ? " - " : " + ");
    sum += product;
  }
  return sum.empty() ? "0" : sum;
}

std::string to_string(const Plan& plan, const Schedule& schedule) {
  std::string text = "plan " + plan.model + "\n";
  if (plan.forward.precision != Precision::high)
    text += fmt::format("  products of {} precision\n", name_of(plan.forward.precision));
  for (const Function* f : functions(plan)) text += function_text(*f, schedule);
  return text;
}

}  // namespace attn::plan
