#include "compiler/plan/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "compiler/base/check.h"
#include "compiler/plan/block_bounds.h"
#include "compiler/plan/function.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/verify.h"

namespace attn::plan {
namespace {

using namespace ir;

// Letters, digits and `_` for a C symbol.
std::string symbol(std::string text) {
  for (char& c : text)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

bool read_outside(const Graph& g, const std::set<TensorId>& own, TensorId t) {
  for (const Output& o : g.outputs)
    if (o.tensor == t) return true;
  return std::any_of(g.definitions.begin(), g.definitions.end(), [&](const Definition& d) {
    return !own.count(d.target) && reads(d).count(t);
  });
}

class Planner {
 public:
  Planner(std::string model, Function& f, Groups groups, const std::set<std::string>& wanted)
      : model_(std::move(model)), f_(f), groups_(std::move(groups)), wanted_(wanted) {
    // What kernels of groups take from one another is stored.
    for (const auto& [first, kernel] : groups_.kernels) {
      std::set<TensorId> own, read;
      for (const Definition& d : kernel.definitions) {
        own.insert(d.target);
        read.merge(reads(d));
      }
      for (TensorId t : read)
        if (!own.count(t)) wanted_.insert(f_.graph[t].name);
    }
  }

  void run() {
    Graph& g = f_.graph;
    std::vector<bool> taken;
    for (const Definition& d : g.definitions) taken.push_back(is_member(d.target));
    find_epilogues(taken);
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      if (auto group = groups_.kernels.find(g.definitions[k].target);
          group != groups_.kernels.end()) {
        add_bounds(group->second);
        add(std::move(group->second));
      } else if (taken[k]) {
        continue;
      } else if (auto it = finished_.find(k); it != finished_.end()) {
        add_contraction(g.definitions[k], std::move(it->second.contraction), it->second.sums);
      } else if (!add_rows(k, taken)) {
        add_loops(g.definitions[k]);
      }
    }
  }

  // What is planned already for a kernel of its own comes later.
  bool add_rows(size_t first, std::vector<bool>& taken) {
    const Graph& g = f_.graph;
    std::vector<Definition> run;
    std::vector<size_t> places;
    std::set<TensorId> later;
    for (size_t n = first; n < g.definitions.size(); ++n) {
      const TensorId target = g.definitions[n].target;
      if (finished_.count(n) || sums_.count(n) || is_member(target)) {
        later.insert(target);
      } else if (!taken[n]) {
        run.push_back(g.definitions[n]);
        places.push_back(n);
      }
    }
    RowClaim claim = claim_row(g, run, later);
    if (claim.taken.empty()) return false;
    for (size_t n : claim.taken) taken[places[n]] = true;
    Kernel kernel{.form = std::move(claim.form)};
    for (size_t n : claim.taken) kernel.definitions.push_back(run[n]);
    add(std::move(kernel));
    return true;
  }

 private:
  struct Finished {
    ContractionForm contraction;
    std::vector<Definition> sums;  // that the definition finishes, itself included if it is a sum
  };

  bool is_member(TensorId t) const { return groups_.members.count(t) > 0; }

  // Sums that are contractions, each with the map that finishes it where there is one.
  void find_epilogues(std::vector<bool>& taken) {
    Graph& g = f_.graph;
    const std::map<TensorId, std::vector<TensorId>> epilogues = epilogue_operands(g);
    std::map<TensorId, size_t> position;
    for (size_t k = 0; k < g.definitions.size(); ++k) position[g.definitions[k].target] = k;
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      const Definition d = g.definitions[k];
      if (is_member(d.target) || !epilogues.count(d.target)) continue;
      std::vector<TensorId> operands = epilogues.at(d.target);
      std::erase_if(operands, [&](TensorId t) { return is_member(t); });
      // The last is finished here; the others join it where they are added to it. What a gradient
      // reads is stored too, alone.
      auto is_wanted = [&](TensorId t) { return wanted_.count(g[t].name) > 0; };
      if (operands.size() > 1) std::erase_if(operands, is_wanted);
      std::vector<Definition> sums;
      std::optional<ContractionForm> c;
      for (size_t n = operands.size(); n-- > 0;) {
        const Definition sum = g.definitions[position.at(operands[n])];
        if (c) {
          if (!join_sum(g, *c, sums[0], sum)) continue;
        } else {
          c = claim_contraction(g, sum, &d, is_wanted(sum.target));
          if (!c) continue;
        }
        sums.push_back(sum);
      }
      for (const Definition& sum : sums) {
        taken[position.at(sum.target)] = true;
        sums_.insert(position.at(sum.target));
      }
      if (c) finished_[k] = {std::move(*c), std::move(sums)};
    }
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      if (taken[k] || finished_.count(k)) continue;
      const Definition d = g.definitions[k];
      if (auto c = claim_contraction(g, d, nullptr)) finished_[k] = {std::move(*c), {d}};
    }
  }

  // The kernels that find what data lets a kernel of tiles leave out.
  void add_bounds(Kernel& kernel) {
    TilesForm& form = std::get<TilesForm>(kernel.form);
    auto [known, is_new] = bounds_.try_emplace(bounds_query(form));
    if (is_new) {
      if (std::optional<FoundBounds> found = find_bounds(f_.graph, known->first)) {
        known->second = std::move(found->bounds);
        f_.places.resize(f_.graph.tensors.size(), Place::none);
        add_plainly(model_, f_, f_.kernels, std::move(found->definitions), wanted_);
      }
    }
    form.bounds = known->second;
  }

  void add_contraction(const Definition& d, ContractionForm c, std::vector<Definition> sums) {
    if (d.target != sums[0].target) sums.push_back(d);
    add({.form = std::move(c), .definitions = std::move(sums)});
  }

  void add_loops(const Definition& d) {
    add({.form = LoopsForm{d}, .definitions = {d}, .why = why_slow(f_.graph, d)});
  }

  void add(Kernel kernel) {
    finish_kernel(model_, f_, kernel, wanted_);
    f_.kernels.push_back(std::move(kernel));
  }

  std::string model_;
  Function& f_;
  Groups groups_;
  std::set<std::string> wanted_;
  std::map<size_t, Finished> finished_;
  std::set<size_t> sums_;  // definitions that another one finishes
  std::map<BoundsQuery, std::optional<BlockBounds>> bounds_;
};

// What a kernel of some form has in memory.
struct Written {
  const Graph& g;
  std::function<bool(TensorId)> is_read, is_wanted;  // by other kernels; by a later function too

  std::vector<TensorId> operator()(const LoopsForm& form) const { return {form.definition.target}; }
  std::vector<TensorId> operator()(const RowForm& form) const {
    std::vector<TensorId> result;
    // The definitions of checks and bounds are not the graph's.
    for (const Definition& d : form.definitions)
      if (is_read(d.target) || !g.definition_of(d.target)) result.push_back(d.target);
    return result;
  }
  std::vector<TensorId> operator()(const ContractionForm& form) const {
    std::vector<TensorId> result = {form.target};
    if (form.kept) result.push_back(form.sum);
    return result;
  }
  std::vector<TensorId> operator()(const TilesForm& form) const {
    std::vector<TensorId> result;
    // A log-sum-exp of which nothing but the weighted sum beside it is wanted is not stored.
    for (const TileResult& r : form.results)
      if (r.kind != TileResult::Kind::logsumexp || form.results.size() == 1 || is_wanted(r.tensor))
        result.push_back(r.tensor);
    return result;
  }
};

}  // namespace

void add_kernels(const std::string& model, Function& f, Groups groups,
                 const std::set<std::string>& wanted) {
  Planner(model, f, std::move(groups), wanted).run();
}

void add_plainly(const std::string& model, Function& f, std::vector<Kernel>& kernels,
                 std::vector<Definition> rest, const std::set<std::string>& wanted) {
  while (!rest.empty()) {
    Kernel kernel{.form = LoopsForm{rest[0]}};
    RowClaim claim = claim_row(f.graph, rest, {});
    if (!claim.taken.empty())
      kernel.form = std::move(claim.form);
    else
      claim.taken = {0};
    for (size_t n : claim.taken) kernel.definitions.push_back(rest[n]);
    finish_kernel(model, f, kernel, wanted);
    kernels.push_back(std::move(kernel));
    for (size_t n = claim.taken.size(); n-- > 0;) rest.erase(rest.begin() + claim.taken[n]);
  }
}

void finish_kernel(const std::string& model, Function& f, Kernel& kernel,
                   const std::set<std::string>& wanted) {
  const Graph& g = f.graph;
  std::set<TensorId> own, read;
  for (const Definition& d : kernel.definitions) own.insert(d.target);
  for (const Definition& d : kernel.definitions)
    for (TensorId t : reads(d))
      if (!own.count(t)) read.insert(t);
  if (const auto* tiles = std::get_if<TilesForm>(&kernel.form); tiles && tiles->bounds)
    read.insert({tiles->bounds->first, tiles->bounds->end});
  kernel.reads.assign(read.begin(), read.end());
  const auto is_read = [&](TensorId t) { return read_outside(g, own, t); };
  const auto is_wanted = [&](TensorId t) { return wanted.count(g[t].name) > 0 || is_read(t); };
  kernel.writes = std::visit(Written{g, is_read, is_wanted}, kernel.form);
  ATTN_CHECK(!kernel.writes.empty(),
             "a kernel that nothing reads, of " + g[kernel.definitions[0].target].name);
  for (TensorId t : kernel.writes)
    if (f.places[t.value] == Place::none) f.places[t.value] = Place::workspace;
  std::vector<TensorId> arguments = kernel.reads;
  arguments.insert(arguments.end(), kernel.writes.begin(), kernel.writes.end());
  kernel.sizes = sizes_used(g, kernel.definitions, arguments);
  kernel.name = symbol(fmt::format("{}_{}_{}_{}", model, f.name, f.checks.size() + f.kernels.size(),
                                   g[kernel.writes[0]].name));
  verify(g, kernel);
}

}  // namespace attn::plan
