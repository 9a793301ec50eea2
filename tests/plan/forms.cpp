#include "forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/plan/kinds.h"
#include "dsl/parse.h"
#include "tests/support/form_graph.h"
#include "tests/support/golden.h"
#include "tests/support/random_graph.h"

namespace attn::testing {

using namespace ir;

namespace {

// Sizes that are not known when compiling, small and mostly different; a step of a recurrence is
// one that has steps on both sides.
std::vector<int64_t> small_sizes(const plan::Function& f, uint64_t seed) {
  std::vector<int64_t> sizes(f.graph.sizes.size());
  for (size_t k = 0; k < sizes.size(); ++k) {
    const Size& s = f.graph.sizes[k];
    const auto n = static_cast<int64_t>(k);
    sizes[k] = std::max<int64_t>(s.lower, 3 + (n + static_cast<int64_t>(seed)) % 3);
    if (s.upper) sizes[k] = std::min(sizes[k], *s.upper);
  }
  for (const plan::Loop& loop : f.loops) sizes[loop.steps.step.value] = 1;
  f.graph.complete(sizes);
  return sizes;
}

const plan::Kernel* writer_of(const plan::Function& f, TensorId t) {
  for (const auto* list : {&f.checks, &f.kernels})
    for (const plan::Kernel& k : *list)
      if (std::count(k.writes.begin(), k.writes.end(), t)) return &k;
  return nullptr;
}

// What bounds the columns of tiles follows from data.
void add_bounds(const plan::Function& f, const plan::Kernel& k,
                std::vector<Definition>& definitions) {
  for (TensorId t : k.reads) {
    if (f.graph[t].storage != Storage::i32 || is_argument(f.graph[t].role)) continue;
    const plan::Kernel* writer = writer_of(f, t);
    if (!writer) continue;
    const bool known = std::any_of(definitions.begin(), definitions.end(),
                                   [&](const Definition& d) { return d.target == t; });
    if (known) continue;
    add_bounds(f, *writer, definitions);
    definitions.insert(definitions.end(), writer->definitions.begin(), writer->definitions.end());
  }
}

bool same(double a, double b, double scale) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= 1e-9 * scale;
}

}  // namespace

Graph FormCheck::graph_of(std::vector<Definition> definitions) const {
  Graph g = f_.graph;
  for (size_t k = 0; k < g.sizes.size(); ++k) {
    g.sizes[k] = {.name = g.sizes[k].name, .value = sizes_[k]};
  }
  g.definitions = std::move(definitions);
  std::set<TensorId> defined;
  for (const Definition& d : g.definitions) defined.insert(d.target);
  for (size_t k = 0; k < g.tensors.size(); ++k)
    g.tensors[k].role = defined.count({static_cast<int32_t>(k)}) ? Role::interior : Role::input;
  for (TensorId t : k_.writes) g[t].role = Role::output;
  g.outputs.clear();
  for (TensorId t : k_.writes)
    g.outputs.push_back({.name = g[t].name, .tensor = t, .updates = f_.graph.updated_by(t)});
  return g;
}

FormCheck::FormCheck(const KernelCase& c, uint64_t seed)
    : f_(*c.function), k_(*c.kernel), sizes_(small_sizes(f_, seed)) {
  std::vector<Definition> definitions;
  add_bounds(f_, k_, definitions);
  const size_t before = definitions.size();
  definitions.insert(definitions.end(), k_.definitions.begin(), k_.definitions.end());
  const Graph g = graph_of(definitions);
  given_ = random_inputs(g, sizes_, seed, 1 + static_cast<int64_t>(seed) % 3);
  if (before > 0) {
    Graph bounds = graph_of({definitions.begin(), definitions.begin() + static_cast<long>(before)});
    bounds.outputs.clear();
    for (const Definition& d : bounds.definitions)
      bounds.outputs.push_back({.name = bounds[d.target].name, .tensor = d.target});
    for (auto& [name, array] : evaluate::evaluate(bounds, given_)) given_[name] = array;
  }
  wanted_ = evaluate::evaluate(graph_of(k_.definitions), given_);
}

std::string FormCheck::difference(const plan::Form& form) const {
  const Graph g = form_graph(f_, k_, form, sizes_);
  const evaluate::Arrays got = evaluate::evaluate(g, given_);
  for (TensorId t : k_.writes) {
    const evaluate::Array &a = wanted_.at(g[t].name), &b = got.at(g[t].name);
    double scale = 1;
    for (double v : a.values)  // a log-sum-exp of nothing is the least number of f32
      if (std::abs(v) < 1e30) scale = std::max(scale, std::abs(v));
    for (size_t n = 0; n < a.values.size(); ++n)
      if (!same(a.values[n], b.values.at(n), scale))
        return fmt::format("{}[{}] is {}, its form says {}", g[t].name, n, a.values[n],
                           b.values[n]);
  }
  return {};
}

namespace {

void plan_all(PlannedFile& p, const driver::Options& options) {
  if (!p.source.diagnostics.has_errors()) p.models = driver::compile(p.source, options);
  EXPECT_FALSE(p.source.diagnostics.has_errors()) << render(p.source.map, p.source.diagnostics);
  for (const driver::Compiled& m : p.models) {
    std::vector<const plan::Function*> all = plan::functions(*m.plan);
    if (m.step_plan)
      for (const plan::Function* f : plan::functions(*m.step_plan)) all.push_back(f);
    for (const plan::Function* f : all)
      for (const auto* list : {&f->checks, &f->kernels})
        for (const plan::Kernel& k : *list) p.kernels.push_back({f, &k});
  }
}

}  // namespace

std::unique_ptr<PlannedFile> planned(const std::filesystem::path& path) {
  auto p = std::make_unique<PlannedFile>();
  driver::load(p->source, path.string());
  plan_all(*p, {.all_gradients = true});
  return p;
}

std::unique_ptr<PlannedFile> planned_text(const std::string& text) {
  auto p = std::make_unique<PlannedFile>();
  p->source.file = p->source.map.add("text.attn", text);
  p->source.tree = dsl::parse(p->source.map, p->source.file, p->source.diagnostics);
  plan_all(*p, {});
  return p;
}

std::vector<std::filesystem::path> files_with_plans() {
  const std::filesystem::path tests = std::filesystem::path(ATTN_SOURCE_DIR) / "tests";
  std::vector<std::filesystem::path> files = files_in(tests / "variants", ".attn");
  for (const char* folder : {"stages", "stages/recurrences"})
    for (const auto& file : files_in(tests / folder, ".attn")) files.push_back(file);
  return files;
}

std::string kernels_of(const std::string& model) {
  std::string lines;
  const auto file = planned_text("size B, T, N, M, K, V, D, E\n" + model);
  for (const KernelCase& c : file->kernels) {
    const plan::Function& f = *c.function;
    const plan::Kernel& k = *c.kernel;
    if (!lines.empty()) lines += "\n";
    if (f.kind != plan::FunctionKind::forward) lines += f.name + ": ";
    lines += plan::kind_of(k.form).name;
    for (ir::TensorId t : k.writes) lines += " " + f.graph[t].name;
    lines += " <-";
    for (const ir::Definition& d : k.definitions) lines += " " + f.graph[d.target].name;
    if (!k.why.empty()) lines += "; " + k.why;
  }
  return lines;
}

}  // namespace attn::testing
