#include "compiler/plan/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/plan/block_bounds.h"
#include "compiler/plan/function.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/order.h"
#include "compiler/plan/scatters.h"
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
        open_{.unmaterialised = unmaterialised, .uses = Uses(g_), .wanted = std::move(wanted)} {}

  void ask(const KernelKind& kind) {
    if (!kind.claim) return;
    open_.epilogues = epilogue_operands(g_, costs_);
    for (size_t n = 0; n < g_.definitions.size(); ++n) {
      const Definition& d = g_.definitions[n];
      if (open_.claimed.count(d.target)) continue;
      // Other kinds may compute an element twice, or write more than the positions.
      const TensorId state = g_.updated_by(d.target);
      const bool changes = !d.position.empty() || (state.valid() && reads(d, state));
      if (changes && kind.claim != claim_loops) continue;
      open_.at = n;
      if (auto proposal = kind.claim(g_, costs_, open_)) apply(std::move(*proposal));
    }
  }

  void take_apart(const std::set<TensorId>& maps) {
    for (size_t n = 0; n < g_.definitions.size(); ++n) {
      open_.at = n;
      if (maps.count(g_.definitions[n].target)) apply(*claim_loops(g_, costs_, open_));
    }
  }

  // The definitions that are left as the other kinds take them: loops removed, long sums split, and
  // nothing that is not read; where conditions exclude each other more is not read than before.
  // Scatters are added in turn.
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
    look();
    open_.epilogues = epilogue_operands(g_, costs_);
    g_ = add_in_turn(std::move(g_), costs_, open_);
    look();
  }

  // `wanted`: by others than these kernels.
  ClaimedGraph take(const std::set<TensorId>& wanted, const std::set<TensorId>& saved) {
    std::ranges::sort(kernels_, [&](const Claimed& a, const Claimed& b) {
      return open_.uses.definition(a.at) < open_.uses.definition(b.at);
    });
    std::vector<Claimed> ordered = in_order(g_, costs_, std::move(kernels_), wanted, saved);
    return {std::move(g_), std::move(ordered), std::move(open_.wanted)};
  }

 private:
  // What is known of a graph whose definitions are others.
  void look() {
    open_.uses = Uses(g_);
    open_.claimed.clear();
    for (const Claimed& c : kernels_) claim(c);
  }

  void claim(const Claimed& c) {
    const size_t place = open_.uses.definition(c.at).value();
    for (const Definition& d : c.kernel.definitions) {
      size_t& last = open_.claimed.emplace(d.target, place).first->second;
      last = std::max(last, place);
    }
  }

  void apply(Proposal proposal) {
    for (const Claimed& c : proposal.kernels) {
      if (!proposal.graph) claim(c);
      // What a kernel of tiles takes from others is stored.
      if (std::holds_alternative<TilesForm>(c.kernel.form))
        open_.wanted.merge(reads(c.kernel.definitions));
    }
    std::ranges::move(proposal.kernels, std::back_inserter(kernels_));
    if (!proposal.graph) return;
    g_ = std::move(*proposal.graph);
    look();
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
                           const std::set<TensorId>& wanted, const std::set<TensorId>& saved,
                           const std::set<TensorId>& apart) {
  Claims claims(std::move(g), costs, unmaterialised, wanted);
  claims.take_apart(apart);
  const std::span<const KernelKind> kinds = kernel_kinds();
  claims.ask(kinds[0]);
  claims.settle();
  for (const KernelKind& kind : kinds.subspan(1)) claims.ask(kind);
  return claims.take(wanted, saved);
}

void add_kernels(const std::string& model, Function& f, const Costs& costs, ClaimedGraph& claimed) {
  std::map<BoundsQuery, std::optional<BlockBounds>> known;
  const Uses uses(claimed.graph);
  const size_t first = f.kernels.size();
  for (Claimed& c : claimed.kernels) {
    if (auto* form = std::get_if<TilesForm>(&c.kernel.form)) {
      const auto [bounds, is_new] = known.try_emplace(bounds_query(*form));
      if (is_new) bounds->second = add_bounds(model, f, costs, claimed.graph, bounds->first);
      form->bounds = bounds->second;
    }
    finish_kernel(model, f, claimed.graph, uses, c.kernel, claimed.wanted);
    f.kernels.push_back(std::move(c.kernel));
  }
  verify(claimed.graph, std::span(f.kernels).subspan(first));
}

void add_plainly(const std::string& model, Function& f, std::vector<Kernel>& kernels,
                 const Costs& costs, Graph g) {
  const solve::Unmaterialised none{Graph()};
  Claims claims(std::move(g), costs, none, {});
  for (const KernelKind& kind : kernel_kinds().subspan(1)) claims.ask(kind);
  ClaimedGraph claimed = claims.take({}, {});
  const Uses uses(claimed.graph);
  const size_t first = kernels.size();
  for (Claimed& c : claimed.kernels) {
    finish_kernel(model, f, claimed.graph, uses, c.kernel, {});
    kernels.push_back(std::move(c.kernel));
  }
  verify(claimed.graph, std::span(kernels).subspan(first));
}

void finish_kernel(const std::string& model, Function& f, const Graph& g, const Uses& uses,
                   Kernel& kernel, const std::set<TensorId>& wanted) {
  f.places.resize(g.tensors.size(), Place::none);
  std::set<TensorId> own, read = reads(kernel.definitions);
  for (const Definition& d : kernel.definitions) own.insert(d.target);
  if (const auto* tiles = std::get_if<TilesForm>(&kernel.form); tiles && tiles->bounds)
    read.insert({tiles->bounds->first, tiles->bounds->end});
  kernel.reads.assign(read.begin(), read.end());
  const auto is_read = [&](TensorId t) {
    return g.is_output(t) || std::ranges::any_of(uses.readers(t), [&](size_t n) {
             return !own.count(g.definitions[n].target);
           });
  };
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
}

}  // namespace attn::plan
