#include "compiler/plan/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/plan/block_bounds.h"
#include "compiler/plan/function.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/order.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/equalities.h"

namespace attn::plan {
namespace {

using namespace ir;

// Letters, digits and `_` for a C symbol.
std::string symbol(std::string text) {
  for (char& c : text)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

// Asks the kinds of kernels, and applies what they propose.
class Claims {
 public:
  Claims(Graph g, const Costs& costs, const solve::Unmaterialised& unmaterialised,
         std::set<TensorId> wanted)
      : g_(std::move(g)),
        costs_(costs),
        open_{.unmaterialised = unmaterialised, .wanted = std::move(wanted)} {}

  void ask(const KernelKind& kind) {
    if (!kind.claim) return;
    open_.epilogues = epilogue_operands(g_, costs_);
    for (size_t n = 0; n < g_.definitions.size(); ++n) {
      const Definition& d = g_.definitions[n];
      if (open_.claimed.count(d.target)) continue;
      // Other kinds may compute an element twice, or write more than the positions.
      const TensorId state = g_.updated_by(d.target);
      const bool changes = !d.position.empty() || (state.valid() && reads(d).count(state));
      if (changes && kind.claim != claim_loops) continue;
      open_.at = n;
      open_.later = later();
      if (auto proposal = kind.claim(g_, costs_, open_)) apply(std::move(*proposal));
    }
  }

  // The definitions that are left as the other kinds take them: loops removed, long sums split, and
  // nothing that is not read; where conditions exclude each other more is not read than before.
  void settle() {
    std::vector<Definition> definitions;
    for (const Definition& d : std::vector<Definition>(g_.definitions)) {
      if (open_.claimed.count(d.target))
        definitions.push_back(d);
      else
        for (Definition& part : split_sum(g_, costs_, solve::solve_equalities(g_, d)))
          definitions.push_back(std::move(part));
    }
    std::set<TensorId> needed;
    for (const Output& o : g_.outputs) needed.insert(o.tensor);
    for (const Claimed& c : kernels_)
      for (const Definition& d : c.kernel.definitions) needed.merge(reads(d));
    g_.definitions.clear();
    for (size_t k = definitions.size(); k-- > 0;) {
      const Definition& d = definitions[k];
      if (!needed.count(d.target) && !open_.claimed.count(d.target)) continue;
      needed.merge(reads(d));
      g_.definitions.push_back(d);
    }
    std::ranges::reverse(g_.definitions);
  }

  ClaimedGraph take() {
    const std::map<TensorId, size_t> at = positions();
    std::ranges::sort(
        kernels_, [&](const Claimed& a, const Claimed& b) { return at.at(a.at) < at.at(b.at); });
    std::vector<Claimed> ordered = in_order(g_, std::move(kernels_), open_.wanted);
    return {std::move(g_), std::move(ordered), std::move(open_.wanted)};
  }

 private:
  std::map<TensorId, size_t> positions() const {
    std::map<TensorId, size_t> result;
    for (size_t n = 0; n < g_.definitions.size(); ++n) result.emplace(g_.definitions[n].target, n);
    return result;
  }

  // What the kernels compute that do not run before the definition that is asked for.
  std::set<TensorId> later() const {
    const std::map<TensorId, size_t> at = positions();
    std::set<TensorId> result;
    for (const Claimed& c : kernels_)
      if (at.at(c.at) >= open_.at)
        for (const Definition& d : c.kernel.definitions) result.insert(d.target);
    return result;
  }

  void apply(Proposal proposal) {
    if (proposal.graph) g_ = std::move(*proposal.graph);
    for (Claimed& c : proposal.kernels) {
      for (const Definition& d : c.kernel.definitions) open_.claimed.insert(d.target);
      // What a kernel of tiles takes from others is stored.
      if (std::holds_alternative<TilesForm>(c.kernel.form))
        open_.wanted.merge(reads(c.kernel.definitions));
      kernels_.push_back(std::move(c));
    }
  }

  Graph g_;
  const Costs& costs_;
  Open open_;
  std::vector<Claimed> kernels_;
};

// What data lets a kernel of tiles leave out, found by kernels that are added to `f`.
std::optional<BlockBounds> add_bounds(const std::string& model, Function& f, const Costs& costs,
                                      Graph& g, const BoundsQuery& query) {
  std::optional<FoundBounds> found = find_bounds(g, query);
  if (!found) return std::nullopt;
  const Segment bounds{.definitions = std::move(found->definitions),
                       .outputs = {{.name = "first", .tensor = found->bounds.first},
                                   {.name = "end", .tensor = found->bounds.end}}};
  add_plainly(model, f, f.kernels, costs, graph_of(g, bounds));
  return found->bounds;
}

}  // namespace

ClaimedGraph claim_kernels(Graph g, const Costs& costs, const solve::Unmaterialised& unmaterialised,
                           std::set<TensorId> wanted) {
  Claims claims(std::move(g), costs, unmaterialised, std::move(wanted));
  const std::span<const KernelKind> kinds = kernel_kinds();
  claims.ask(kinds[0]);
  claims.settle();
  for (const KernelKind& kind : kinds.subspan(1)) claims.ask(kind);
  return claims.take();
}

void add_kernels(const std::string& model, Function& f, const Costs& costs, ClaimedGraph& claimed) {
  std::map<BoundsQuery, std::optional<BlockBounds>> known;
  const Readers readers(claimed.graph);
  for (Claimed& c : claimed.kernels) {
    if (auto* form = std::get_if<TilesForm>(&c.kernel.form)) {
      const auto [bounds, is_new] = known.try_emplace(bounds_query(*form));
      if (is_new) bounds->second = add_bounds(model, f, costs, claimed.graph, bounds->first);
      form->bounds = bounds->second;
    }
    finish_kernel(model, f, claimed.graph, readers, c.kernel, claimed.wanted);
    f.kernels.push_back(std::move(c.kernel));
  }
}

void add_plainly(const std::string& model, Function& f, std::vector<Kernel>& kernels,
                 const Costs& costs, Graph g) {
  const solve::Unmaterialised unmaterialised(g);
  Claims claims(std::move(g), costs, unmaterialised, {});
  for (const KernelKind& kind : kernel_kinds().subspan(1)) claims.ask(kind);
  ClaimedGraph claimed = claims.take();
  const Readers readers(claimed.graph);
  for (Claimed& c : claimed.kernels) {
    finish_kernel(model, f, claimed.graph, readers, c.kernel, {});
    kernels.push_back(std::move(c.kernel));
  }
}

Readers::Readers(const Graph& g) {
  for (const Definition& d : g.definitions)
    for (TensorId t : reads(d)) of_[t].push_back(d.target);
  for (const Output& o : g.outputs) outputs_.insert(o.tensor);
}

bool Readers::any_outside(const std::set<TensorId>& own, TensorId t) const {
  if (outputs_.count(t)) return true;
  const auto of = of_.find(t);
  return of != of_.end() &&
         std::ranges::any_of(of->second, [&](TensorId reader) { return !own.count(reader); });
}

void finish_kernel(const std::string& model, Function& f, const Graph& g, const Readers& readers,
                   Kernel& kernel, const std::set<TensorId>& wanted) {
  f.places.resize(g.tensors.size(), Place::none);
  std::set<TensorId> own, read = reads(kernel.definitions);
  for (const Definition& d : kernel.definitions) own.insert(d.target);
  if (const auto* tiles = std::get_if<TilesForm>(&kernel.form); tiles && tiles->bounds)
    read.insert({tiles->bounds->first, tiles->bounds->end});
  kernel.reads.assign(read.begin(), read.end());
  const auto is_read = [&](TensorId t) { return readers.any_outside(own, t); };
  const auto is_wanted = [&](TensorId t) { return wanted.count(t) > 0 || is_read(t); };
  // A row kernel stores what this function reads; the others also what a later one would find
  // saved.
  const bool is_row = std::holds_alternative<RowForm>(kernel.form);
  kernel.writes = results_of(kernel.form);
  std::erase_if(kernel.writes, [&](TensorId t) { return is_row ? !is_read(t) : !is_wanted(t); });
  ATTN_CHECK(!kernel.writes.empty(),
             "a kernel that nothing reads, of " + g[kernel.definitions[0].target].name);
  for (TensorId t : kernel.writes)
    if (f.places[t.value] == Place::none) f.places[t.value] = Place::workspace;
  kernel.sizes = sizes_used(g, kernel.definitions, kernel.arguments());
  kernel.name = symbol(fmt::format("{}_{}_{}_{}", model, f.name, f.checks.size() + f.kernels.size(),
                                   g[kernel.writes[0]].name));
  verify(g, kernel);
}

}  // namespace attn::plan
