#include "compiler/plan/function.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/plan/estimate.h"
#include "compiler/plan/kinds.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/streaming.h"
#include "compiler/plan/tile_sums.h"
#include "compiler/solve/equalities.h"
#include "compiler/solve/wide.h"

namespace attn::plan {
namespace {

using namespace ir;

// Letters, digits and `_` for a C symbol.
std::string symbol(std::string text) {
  for (char& c : text)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

// An output that a log-sum-exp defines is stored as its value; others read its two planes.
void copy_split_outputs(Graph& g) {
  for (Definition& d : g.definitions)
    if (d.combine == Combine::logsumexp) g[d.target].split = true;
  for (Output& o : g.outputs) {
    if (!g[o.tensor].split) continue;
    // The planes take another name; the value keeps the one that the caller knows.
    TensorId planes = o.tensor;
    Tensor value = g[planes];
    g[planes].name += ".planes";
    g[planes].role = Role::interior;
    value.split = false;
    TensorId copy = g.new_tensor(value);
    Definition d{.target = copy};
    std::vector<Expr> at;
    for (const Poly& extent : value.extents) {
      d.free.push_back(g.new_index("i", extent));
      at.push_back(index_value(d.free.back()));
    }
    d.body = g.read(planes, at);
    g.definitions.push_back(d);
    o.tensor = copy;
  }
}

class Planner {
 public:
  Planner(std::string model, Function& f, const solve::Wide& wide,
          const std::set<std::string>& wanted)
      : model_(std::move(model)), f_(f), wide_(wide), wanted_(wanted) {}

  void run() {
    Graph& g = f_.graph;
    std::vector<bool> taken(g.definitions.size());
    find_epilogues(taken);
    find_streams(taken);
    find_tile_sums(taken);
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      if (taken[k]) continue;
      if (auto s = streams_.find(k); s != streams_.end()) {
        for (const Definition& d : s->second.definitions) {
          pending_.erase(d.target);
          computed_.insert(d.target);
        }
        add_with_twin(std::move(s->second));
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
    std::set<TensorId> later = pending_;
    for (size_t n = first; n < g.definitions.size(); ++n) {
      const TensorId target = g.definitions[n].target;
      if (computed_.count(target)) continue;
      if (finished_.count(n) || sums_.count(n)) {
        later.insert(target);
      } else if (!taken[n]) {
        run.push_back(g.definitions[n]);
        places.push_back(n);
      }
    }
    RowClaim claim = claim_row(g, run, later);
    if (claim.taken.empty()) return false;
    for (size_t n : claim.taken) taken[places[n]] = true;
    add({.kind = &kRow, .definitions = claim.definitions, .row = claim.row});
    return true;
  }

 private:
  struct Finished {
    Contraction contraction;
    std::vector<Definition> sums;  // that the definition finishes, itself included if it is a sum
  };

  // Sums that are contractions, each with the map that finishes it where there is one.
  void find_epilogues(std::vector<bool>& taken) {
    Graph& g = f_.graph;
    std::map<TensorId, size_t> position;
    for (size_t k = 0; k < g.definitions.size(); ++k) position[g.definitions[k].target] = k;
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      const Definition d = g.definitions[k];
      std::vector<TensorId> operands = epilogue_operands(g, d);
      // The last is finished here; the others join it where they are added to it.
      std::vector<Definition> sums;
      std::optional<Contraction> c;
      for (size_t n = operands.size(); n-- > 0;) {
        const Definition sum = g.definitions[position.at(operands[n])];
        if (c ? !join_sum(g, *c, sums[0], sum) : !(c = claim_contraction(g, sum, &d))) continue;
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

  // Sums that scores weigh, each at the place of its last definition. Everything that reads the
  // scores must be part of it, and the log-sum-exp must not be wanted before.
  void find_streams(std::vector<bool>& taken) {
    const Graph& g = f_.graph;
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      const Definition& lse = g.definitions[k];
      if (taken[k] || lse.combine != Combine::logsumexp) continue;
      for (const auto& [at, scores] : finished_) {
        const TensorId t = g.definitions[at].target;
        if (at > k || !wide_(t) || is_output(t) || !reads(lse).count(t)) continue;
        std::optional<size_t> last = only_reader_besides(t, k);
        if (!last || streams_.count(*last) || !wanted_last_by(lse.target, k, *last)) continue;
        const Finished& weighted = finished_.at(*last);
        if (scores.sums.size() != 1 || weighted.sums.size() != 1) continue;
        std::optional<Streaming> s =
            claim_streaming(g, lse, {g.definitions[at], scores.sums[0], scores.contraction},
                            {g.definitions[*last], weighted.sums[0], weighted.contraction});
        if (!s) continue;
        Kernel kernel{.kind = &kStreaming, .streaming = std::move(s)};
        for (size_t n : {at, *last}) {
          const Definition& d = g.definitions[n];
          const Definition& sum = finished_.at(n).sums[0];
          if (!(sum.target == d.target)) kernel.definitions.push_back(sum);
          kernel.definitions.push_back(d);
          if (n == at) kernel.definitions.push_back(lse);
        }
        taken[at] = taken[k] = true;
        add_stream(*last, std::move(kernel));
        break;
      }
    }
  }

  bool is_output(TensorId t) const {
    return std::any_of(f_.graph.outputs.begin(), f_.graph.outputs.end(),
                       [&](const Output& o) { return o.tensor == t; });
  }

  // The place where the contraction is finished that, beside definition k, alone reads `t`.
  std::optional<size_t> only_reader_besides(TensorId t, size_t k) const {
    std::optional<size_t> found;
    for (const auto& [at, f] : finished_) {
      bool reads_it = reads(f_.graph.definitions[at]).count(t) > 0;
      for (const Definition& sum : f.sums) reads_it = reads_it || reads(sum).count(t) > 0;
      if (!reads_it) continue;
      if (found) return std::nullopt;
      found = at;
    }
    if (!found) return std::nullopt;
    const Finished& f = finished_.at(*found);
    for (size_t n = 0; n < f_.graph.definitions.size(); ++n) {
      const Definition& d = f_.graph.definitions[n];
      const bool inside = n == k || n == *found ||
                          std::any_of(f.sums.begin(), f.sums.end(), [&](const Definition& sum) {
                            return sum.target == d.target;
                          });
      if (!inside && reads(d).count(t)) return std::nullopt;
    }
    return found;
  }

  // Whether no definition from place k up to `last` reads `t`, but what is finished there.
  bool wanted_last_by(TensorId t, size_t k, size_t last) const {
    for (size_t n = k + 1; n < last; ++n) {
      const Definition& d = f_.graph.definitions[n];
      const auto& sums = finished_.at(last).sums;
      if (std::none_of(sums.begin(), sums.end(),
                       [&](const Definition& sum) { return sum.target == d.target; }) &&
          reads(d).count(t))
        return false;
    }
    return true;
  }

  void add_stream(size_t at, Kernel kernel) {
    for (const Definition& d : kernel.definitions) pending_.insert(d.target);
    streams_.emplace(at, std::move(kernel));
  }

  // A sum over one index as the contraction that it is with a panel of ones.
  static Contraction as_contraction(const Graph& g, const Definition& d) {
    Contraction c;
    c.terms = {{.left = d.body,
                .right = Expr(1.0),
                .left_guard = d.guard,
                .right_guard = {},
                .reduced = d.reduced}};
    c.sum = d.target;
    c.epilogue = g.target(d);
    return c;
  }

  // Groups of wide tensors whose every reader is in the group.
  void find_tile_sums(std::vector<bool>& taken) {
    const Graph& g = f_.graph;
    std::map<size_t, Whole> all;
    std::map<TensorId, size_t> finished_at;
    std::set<TensorId> wide;
    for (const Definition& d : g.definitions)
      if (wide_(d.target)) wide.insert(d.target);
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      const Definition& d = g.definitions[k];
      if (taken[k] || streams_.count(k)) continue;
      if (auto f = finished_.find(k); f != finished_.end()) {
        const std::vector<Definition>& sums = f->second.sums;
        all.emplace(k, Whole{f->second.contraction, sums[0], d, sums.size() == 1});
        for (const Definition& sum : sums) finished_at[sum.target] = k;
        continue;
      }
      const std::set<TensorId> read = reads(d);
      const bool sums_wide =
          d.combine == Combine::sum && d.reduced.size() == 1 && is_real(d.body.type()) &&
          std::any_of(read.begin(), read.end(), [&](TensorId t) { return wide.count(t) > 0; });
      if (sums_wide) all.emplace(k, Whole{as_contraction(g, d), d, d, true});
    }
    std::map<TensorId, std::set<size_t>> readers;
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      auto inside = finished_at.find(g.definitions[k].target);
      for (TensorId t : reads(g.definitions[k]))
        readers[t].insert(inside == finished_at.end() ? k : inside->second);
    }
    for (const Output& o : g.outputs) readers[o.tensor].insert(SIZE_MAX);
    std::set<size_t> done;
    for (const auto& [seed, whole] : all) {
      if (done.count(seed) || !wide.count(whole.definition.target)) continue;
      std::optional<TileClaim> claim = claim_tiles(g, seed, all, readers, wide);
      if (!claim) continue;
      Kernel kernel{.kind = &kTileSums};
      for (size_t at : claim->members) {
        const Whole& member = all.at(at);
        if (!(member.sum.target == member.definition.target))
          kernel.definitions.push_back(member.sum);
        kernel.definitions.push_back(member.definition);
      }
      std::optional<size_t> place = place_for(kernel.definitions, claim->members);
      if (!place) continue;
      for (size_t at : claim->members) {
        taken[at] = at != *place;
        done.insert(at);
      }
      kernel.tile_sums = std::move(claim->sums);
      add_stream(*place, std::move(kernel));
    }
  }

  // The first member's place at which all that the group reads is computed, if nothing else wants
  // its results before.
  std::optional<size_t> place_for(const std::vector<Definition>& group,
                                  const std::set<size_t>& members) const {
    const Graph& g = f_.graph;
    std::set<TensorId> own, operands;
    for (const Definition& d : group) own.insert(d.target);
    for (const Definition& d : group) operands.merge(reads(d));
    for (size_t place : members) {
      bool fits = true;
      for (size_t n = 0; n < g.definitions.size() && fits; ++n) {
        const Definition& d = g.definitions[n];
        if (own.count(d.target)) continue;
        if (n > place && operands.count(d.target)) fits = false;
        for (TensorId t : reads(d)) fits = fits && !(n < place && own.count(t));
      }
      if (fits) return place;
    }
    return std::nullopt;
  }

  // The kernel, and where masks hide data of its panels a careful one behind it.
  void add_with_twin(Kernel kernel) {
    std::set<TensorId> scanned;
    if (kernel.streaming && kernel.streaming->panel_leaks)
      scanned = real_reads(kernel.streaming->panel);
    if (kernel.tile_sums)
      for (const TileSums::Result& r : kernel.tile_sums->results)
        if (r.panel_leaks) scanned.merge(real_reads(r.panel));
    Kernel twin = kernel;
    add(std::move(kernel));
    if (scanned.empty()) return;
    twin.repairs_if_non_finite.assign(scanned.begin(), scanned.end());
    add(std::move(twin));
  }

  void add_contraction(const Definition& d, Contraction c, std::vector<Definition> sums) {
    Kernel kernel{.kind = &kContraction, .contraction = std::move(c)};
    if (d.target != sums[0].target) {
      kernel.definitions = sums;
      kernel.definitions.push_back(d);
    } else {
      kernel.definitions = sums;
    }
    std::set<TensorId> scanned;
    for (const Term& t : kernel.contraction->terms) {
      if (t.left_leaks) scanned.merge(real_reads(t.left));
      if (t.right_leaks) scanned.merge(real_reads(t.right));
    }
    std::vector<Definition> plain = kernel.definitions;
    add(std::move(kernel));
    if (scanned.empty()) return;
    Kernel twin{.kind = &kLoops, .definitions = plain};
    twin.repairs_if_non_finite.assign(scanned.begin(), scanned.end());
    add(std::move(twin));
  }

  void add_loops(const Definition& d) {
    Kernel kernel{.kind = &kLoops, .definitions = {d}, .why = why_slow(f_.graph, d)};
    add(std::move(kernel));
  }

  std::set<TensorId> real_reads(const Expr& e) {
    std::set<TensorId> result;
    for (TensorId t : tensors(e))
      if (is_real(arithmetic_type(f_.graph[t].storage))) result.insert(t);
    return result;
  }

  void add(Kernel kernel) {
    finish_kernel(model_, f_, kernel, wanted_);
    f_.kernels.push_back(std::move(kernel));
  }

  std::string model_;
  Function& f_;
  const solve::Wide& wide_;
  const std::set<std::string>& wanted_;
  std::map<size_t, Finished> finished_;
  std::map<size_t, Kernel> streams_;       // by the place where they run
  std::set<TensorId> pending_, computed_;  // of what streams compute
  std::set<size_t> sums_;                  // definitions that another one finishes

 public:
  // Fills name, reads, writes and sizes, and places what the kernel writes.
  static void finish_kernel(const std::string& model, Function& f, Kernel& kernel,
                            const std::set<std::string>& wanted) {
    const Graph& g = f.graph;
    std::set<TensorId> own, read;
    for (const Definition& d : kernel.definitions) own.insert(d.target);
    for (const Definition& d : kernel.definitions)
      for (TensorId t : reads(d))
        if (!own.count(t)) read.insert(t);
    kernel.reads.assign(read.begin(), read.end());
    const bool repairs = !kernel.repairs_if_non_finite.empty();
    if (kernel.kind == &kRow || kernel.tile_sums || (kernel.streaming && !repairs)) {
      // A target of the kernel is in memory when something outside reads it.
      std::set<TensorId> needed;
      for (const Output& o : g.outputs) needed.insert(o.tensor);
      std::set<TensorId> inside = own;
      for (const Definition& d : g.definitions) {
        if (inside.count(d.target)) continue;
        for (TensorId t : reads(d)) needed.insert(t);
      }
      // A row of scores is as well summed again, but for backward its sum is at hand here.
      if (kernel.streaming && wanted.count(g[kernel.streaming->lse].name))
        needed.insert(kernel.streaming->lse);
      // The definitions of checks are not the graph's.
      for (const Definition& d : kernel.definitions)
        if (needed.count(d.target) || !g.definition_of(d.target)) kernel.writes.push_back(d.target);
    } else {
      kernel.writes = {kernel.definitions.back().target};
    }
    for (TensorId t : kernel.writes)
      if (f.places[t.value] == Place::none) f.places[t.value] = Place::workspace;
    kernel.sizes = sizes_used(g, kernel);
    kernel.name =
        symbol(fmt::format("{}_{}_{}_{}{}", model, f.name, f.checks.size() + f.kernels.size(),
                           g[kernel.writes[0]].name, repairs ? "_plain" : ""));
  }
};

// A tensor over two sequence axes is stored until a kernel can keep it in tiles: say so, with its
// size.
void warn_of_wide(const Function& f, const solve::Wide& wide, Diagnostics& diagnostics) {
  for (const Kernel& k : f.kernels) {
    for (TensorId t : k.writes) {
      if (!wide(t) || f.places[t.value] != Place::workspace) continue;
      const Tensor& tensor = f.graph[t];
      std::string readers;
      for (const Kernel& reader : f.kernels)
        if (reader.repairs_if_non_finite.empty() &&
            std::count(reader.reads.begin(), reader.reads.end(), t))
          readers +=
              fmt::format("{}`{}`", readers.empty() ? "" : ", ", f.graph[reader.writes[0]].name);
      std::string extents;
      for (const Poly& p : tensor.extents)
        extents += (extents.empty() ? "" : ", ") + poly_text(f.graph, p);
      Diagnostic& d = diagnostics.warning(
          k.definitions.back().where, "performance",
          fmt::format("`{}[{}]` of {} is stored in memory as a whole, for {}", tensor.name, extents,
                      f.name, readers.empty() ? "nothing" : readers));
      d.help =
          "no input or output is as large; it stays in tiles where every reader sums it over one "
          "of "
          "its sequence axes, with features known when compiling";
    }
  }
}

}  // namespace

Function plan_function(std::string model, std::string name, Graph g,
                       const std::vector<TensorId>& forwarded, const std::vector<TensorId>& saved,
                       const std::set<std::string>& wanted, Diagnostics& diagnostics) {
  copy_split_outputs(g);
  const solve::Wide wide(g);
  Checks checks = data_checks(g);
  Function f{.name = std::move(name), .graph = std::move(g), .saved = saved};
  Graph& graph = f.graph;
  std::vector<Definition> solved;
  for (const Definition& d : std::vector<Definition>(graph.definitions))
    solved.push_back(solve::solve_equalities(graph, d));
  graph.definitions = std::move(solved);
  graph.definitions = split_sums(graph, substitute_maps(graph, choose_inlined(graph)));

  f.places.assign(graph.tensors.size(), Place::none);
  for (size_t k = 0; k < graph.tensors.size(); ++k)
    if (is_argument(graph.tensors[k].role)) f.places[k] = Place::given;
  for (TensorId t : forwarded) f.places[t.value] = Place::forwarded;
  for (TensorId t : saved) f.places[t.value] = Place::saved;
  for (const Output& o : graph.outputs) f.places[o.tensor.value] = Place::result;
  for (std::vector<Definition> rest = checks.definitions; !rest.empty();) {
    Kernel kernel{.kind = &kLoops, .definitions = {rest[0]}};
    RowClaim claim = claim_row(graph, rest, {});
    if (!claim.taken.empty())
      kernel = {.kind = &kRow, .definitions = claim.definitions, .row = claim.row};
    else
      claim.taken = {0};
    Planner::finish_kernel(model, f, kernel, wanted);
    f.checks.push_back(std::move(kernel));
    for (size_t n = claim.taken.size(); n-- > 0;) rest.erase(rest.begin() + claim.taken[n]);
  }
  f.data_checks = checks.checks;
  Planner(model, f, wide, wanted).run();
  f.workspace = assign_slots(f);
  warn_of_wide(f, wide, diagnostics);
  for (const Kernel& k : f.kernels) {
    if (k.why.empty()) continue;
    const Definition& d = k.definitions.back();
    diagnostics.warning(d.where, "performance",
                        fmt::format("`{}` lowers slowly: {}", graph[d.target].name, k.why));
  }
  return f;
}

}  // namespace attn::plan
