#include "compiler/plan/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/base/check.h"
#include "compiler/ir/recurrence.h"
#include "compiler/plan/kernels.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/preceding.h"
#include "compiler/plan/reshaped.h"
#include "compiler/plan/result_blocks.h"
#include "compiler/plan/states.h"
#include "compiler/plan/stored.h"
#include "compiler/plan/summed_steps.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/equalities.h"
#include "compiler/solve/points.h"
#include "compiler/solve/tile_reads.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::plan {
namespace {

using namespace ir;

// An output that a log-sum-exp defines is stored as its value; others read its two planes. Who
// wants it wants the value.
void copy_split_outputs(Graph& g, std::set<TensorId>& wanted) {
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
    o.tensor = g.new_tensor(value);
    if (wanted.erase(planes)) wanted.insert(o.tensor);
    g.definitions.push_back(copying(g, planes, o.tensor));
  }
}

// Kernels count elements with 32 bits: the extents after the first are at most 2^31 - 1 together.
// The runtime refuses others at a call; of what is known here, the compiler says so.
void refuse_unaddressable(const Function& f, Diagnostics& diagnostics) {
  constexpr __int128 kMost = std::numeric_limits<int32_t>::max();
  for (TensorId t : f.graph.tensor_ids()) {
    if (f.places[t.value] == Place::none) continue;
    __int128 stride = 1;
    for (size_t d = f.graph[t].extents.size(); d-- > 0 && stride > 0;) {
      const auto n = f.graph.known(f.graph[t].extents[d]);
      if (stride > kMost && (!n || *n > 1)) {
        const Definition* of = f.graph.definition_of(t);
        diagnostics
            .error(of ? of->where : f.graph[t].where,
                   fmt::format("`{}` of {} is too large for its kernels", shape_text(f.graph, t),
                               title(f)))
            .help =
            "in memory, the elements at one place of the first dimension are at most 2^31 - 1";
        break;
      }
      stride = std::min(stride * (n ? std::max<int64_t>(*n, 0) : 1), __int128{1} << 62);
    }
  }
}

// A large tensor is stored until a kernel can keep it in tiles: say so, with its size.
void warn_of_stored(const Function& f, const Costs& costs, const std::set<TensorId>& large,
                    Diagnostics& diagnostics) {
  const Excess is_excessive(f, costs, large);
  for (const Kernel& k : f.kernels) {
    for (TensorId written : k.writes) {
      if (!is_excessive(written)) continue;
      const TensorId t = whole_of(f, written);
      std::string readers;
      for (const Kernel& reader : f.kernels)
        if (std::ranges::count(reader.reads, t) || std::ranges::count(reader.reads, written))
          readers +=
              fmt::format("{}`{}`", readers.empty() ? "" : ", ", f.graph[reader.writes[0]].name);
      Diagnostic& d = diagnostics.warning(
          k.definitions.back().where, "performance",
          fmt::format("`{}` of {} is stored in memory as a whole, for {}", shape_text(f.graph, t),
                      title(f), readers.empty() ? "nothing" : readers));
      d.help =
          "no input or output is as large; it stays in tiles where every reader sums it over one "
          "of its sequence axes, or scatters each point to a position of its own, and where it is "
          "no sum of what is stored";
    }
  }
}

void warn_of_slow(const Function& f, Diagnostics& diagnostics) {
  for (const Kernel& k : f.kernels) {
    if (k.why.empty()) continue;
    const Definition& d = k.definitions.back();
    diagnostics.warning(d.where, "performance",
                        fmt::format("`{}` lowers slowly: {}", f.graph[d.target].name, k.why));
  }
}

bool reduces_unmaterialised(const Definition& d, const solve::Unmaterialised& unmaterialised) {
  const std::set<TensorId> read = reads(d);
  return d.combine != Combine::set &&
         std::ranges::any_of(read, [&](TensorId t) { return unmaterialised(t); });
}

// The definitions as kinds are asked about them: what is solved and inlined first.
Graph prepared(Graph g, const Costs& costs, const solve::Unmaterialised& unmaterialised) {
  g.definitions = compute_gathered(g, unmaterialised);
  for (Definition& d : g.definitions)
    if (!reduces_unmaterialised(d, unmaterialised)) d = solve::solve_equalities(g, Definition(d));
  g.definitions = substitute_maps(g, choose_inlined(g, costs));
  return g;
}

// A step is in memory with all others where anything but its own kernels wants it.
void place_slices(Function& f, const Segment& segment, std::set<TensorId>& wanted) {
  std::set<TensorId> outputs;
  for (const Output& o : segment.outputs) outputs.insert(o.tensor);
  for (const Slice& slice : segment.slices) {
    const bool later = wanted.count(slice.whole) > 0;
    if (later) wanted.insert(slice.tensor);
    if (later || outputs.count(slice.tensor)) f.places[slice.tensor.value] = Place::step;
  }
  for (const Slice& slice : segment.given) f.places[slice.tensor.value] = Place::step;
}

void place_wholes(Function& f, const Segment& segment) {
  std::set<TensorId> written;
  for (const Kernel& k : f.kernels) written.insert(k.writes.begin(), k.writes.end());
  for (const Slice& slice : segment.slices) {
    Place& place = f.places[slice.tensor.value];
    if (place != Place::step) continue;
    Place& whole = f.places[slice.whole.value];
    if (!written.count(slice.tensor))
      place = Place::none;
    else if (whole == Place::none)
      whole = Place::workspace;
  }
}

// Within a step a tensor is kept in tiles where the definitions of the step read it so; or where
// all steps of it would be, unless something as large is stored of each step anyway.
void keep_steps_in_tiles(solve::Unmaterialised& unmaterialised, const Graph& step,
                         const Segment& segment) {
  if (segment.slices.empty()) return;
  const solve::Points points(step, solve::kTypicalSize);
  const auto size = [&](TensorId t) { return points.of(step[t].extents); };
  double stored = 0;
  for (const Output& o : segment.outputs) stored = std::max(stored, size(o.tensor));
  const std::vector<bool> in_tiles = solve::read_in_tiles(step);
  for (const Slice& slice : segment.slices) {
    if (slice.block > 0) continue;
    const bool is_large = unmaterialised(slice.whole) && size(slice.tensor) > stored;
    unmaterialised.set(slice.tensor, is_large || in_tiles[slice.tensor.value]);
  }
}

// What is planned, in the order that recurrences ask for.
struct Ordered {
  Graph graph;
  Rolling rolling;
  solve::Unmaterialised unmaterialised;
  Checks checks;
  std::vector<TermBlocks> blocks;
};

// The segments of `g`. What only a recurrence reads is computed with each of its steps, where it is
// in tiles then, and where no later function would find it stored. `apart` and `saved`: as
// segments_of has them.
std::vector<Segment> divided(Graph& g, const Ordered& of, const std::set<TensorId>& wanted,
                             const std::set<TensorId>& apart, const std::vector<TensorId>& saved) {
  for (std::set<TensorId> others = wanted;;) {
    Graph joined = g;
    const std::map<TensorId, size_t> tiled =
        join_tiles(joined, of.rolling, of.unmaterialised, others);
    Rolling all = of.rolling;
    all.before.insert(tiled.begin(), tiled.end());
    std::vector<Segment> segments = segments_of(joined, all, apart, saved, of.blocks);
    const size_t before = others.size();
    for (const Segment& s : segments) {
      if (!s.steps) continue;
      solve::Unmaterialised of_step = of.unmaterialised;
      keep_steps_in_tiles(of_step, graph_of(joined, s), s);
      for (const Slice& slice : s.slices)
        if (tiled.count(slice.whole) && !of_step(slice.tensor)) others.insert(slice.whole);
    }
    if (others.size() > before) continue;
    g = std::move(joined);
    return segments;
  }
}

// Puts kernels that do the same at every step, as those of block bounds may, or a map that is the
// same at all of them, before those of the loop: the first of the loop.
size_t put_before_loop(Function& f, size_t first, const Segment& segment) {
  std::set<TensorId> of_steps;
  for (const Slice& s : segment.slices) {
    of_steps.insert(s.whole);
    if (f.places[s.tensor.value] == Place::step) of_steps.insert(s.tensor);
  }
  for (const Slice& s : segment.given) of_steps.insert(s.tensor);
  const auto is_of_steps = [&](TensorId t) { return of_steps.count(t) > 0; };
  std::vector<Kernel> before, within;
  for (size_t n = first; n < f.kernels.size(); ++n) {
    Kernel& k = f.kernels[n];
    const bool is_within = std::ranges::count(k.sizes, segment.steps->step) > 0 ||
                           std::ranges::any_of(k.arguments(), is_of_steps);
    if (is_within) of_steps.insert(k.writes.begin(), k.writes.end());
    (is_within ? within : before).push_back(std::move(k));
  }
  const auto end = std::ranges::move(before, f.kernels.begin() + static_cast<long>(first)).out;
  std::ranges::move(within, end);
  return first + before.size();
}

// Adds the kernels of one segment of `g`; the graph that they are of, with what planning has added.
Graph plan_segment(const std::string& model, Function& f, const Graph& g, const Segment& segment,
                   const Costs& costs, solve::Unmaterialised unmaterialised,
                   std::set<TensorId> wanted) {
  keep_steps_in_tiles(unmaterialised, graph_of(g, segment), segment);
  // What another segment reads is stored, however large it is.
  for (const Output& o : segment.outputs) unmaterialised.set(o.tensor, false);
  place_slices(f, segment, wanted);
  std::set<TensorId> saved(f.saved.begin(), f.saved.end());
  for (const Slice& slice : segment.given)
    if (saved.count(slice.whole)) saved.insert(slice.tensor);
  ClaimedGraph claimed = claim_kernels(prepared(graph_of(g, segment), costs, unmaterialised), costs,
                                       unmaterialised, wanted, saved, segment.apart);
  const size_t first = f.kernels.size();
  add_kernels(model, f, costs, claimed);
  place_wholes(f, segment);
  if (segment.steps) {
    const size_t begin = put_before_loop(f, first, segment);
    f.loops.push_back({*segment.steps, begin, f.kernels.size()});
  }
  for (const auto* slices : {&segment.slices, &segment.given})
    for (const Slice& slice : *slices)
      if (f.places[slice.tensor.value] == Place::step) f.slices.push_back(slice);
  return std::move(claimed.graph);
}

}  // namespace

void place_arguments(Function& f, const Graph& g) {
  f.places.assign(g.tensors.size(), Place::none);
  for (TensorId t : g.tensor_ids())
    if (is_argument(g[t].role)) f.places[t.value] = Place::given;
  for (const Output& o : g.outputs)
    f.places[o.tensor.value] = o.updates.valid() ? Place::updated : Place::result;
}

Request cut_given(const Function& forward, Graph graph, const std::map<TensorId, TensorId>& given) {
  std::erase_if(graph.definitions, [&](const Definition& d) { return given.count(d.target) > 0; });
  Request request{.graph = drop_unused(graph)};
  // What stood within a recurrence may be no part of what is left of it.
  ATTN_CHECK(!arrange(request.graph), "a gradient that has torn a recurrence");
  std::set<TensorId> used;
  for (const Definition& d : request.graph.definitions) used.merge(reads(d));
  for (const auto& [t, in_forward] : given) {
    Tensor& tensor = request.graph[t];
    tensor.split = forward.graph[in_forward].split;
    tensor.role = used.count(t) ? Role::input : Role::interior;
    if (!used.count(t)) continue;
    const bool is_output = forward.places[in_forward.value] == Place::result;
    (is_output ? request.forwarded : request.saved).push_back(t);
    request.in_forward.emplace(t, in_forward);
  }
  return request;
}

namespace {

Ordered ordered(Graph g, const std::set<TensorId>& wanted, const Costs& costs) {
  const solve::Unmaterialised unmaterialised(g);
  Checks checks = data_checks(g);
  Rolling rolling = roll(g, wanted, costs);
  sum_in_loops(g, wanted, costs, rolling);
  std::vector<TermBlocks> blocks = block_terms(g, unmaterialised, rolling, costs);
  return {std::move(g), std::move(rolling), unmaterialised, std::move(checks), std::move(blocks)};
}

// `apart`: as segments_of has it.
Function planned(const std::string& model, const Request& request, const Ordered& of,
                 const Costs& costs, const std::set<TensorId>& apart) {
  Graph g = of.graph;
  const std::vector<Segment> segments = divided(g, of, request.wanted, apart, request.saved);
  Function f{.kind = request.kind,
             .name = request.name,
             .saved = request.saved,
             .in_forward = request.in_forward};
  place_arguments(f, g);
  for (TensorId t : request.forwarded) f.places[t.value] = Place::forwarded;
  for (TensorId t : request.saved) f.places[t.value] = Place::saved;
  // What they read is there before the call.
  Segment of_checks{.definitions = of.checks.definitions};
  for (const DataCheck& c : of.checks.checks)
    for (TensorId t : {c.lowest, c.highest})
      of_checks.outputs.push_back({.name = g[t].name, .tensor = t});
  add_plainly(model, f, f.checks, costs, graph_of(g, of_checks));
  f.data_checks = of.checks.checks;
  const std::vector<Output> outputs = g.outputs;
  std::vector<Definition> planned;
  for (const Segment& segment : segments) {
    g = plan_segment(model, f, g, segment, costs, of.unmaterialised, request.wanted);
    planned.insert(planned.end(), g.definitions.begin(), g.definitions.end());
  }
  g.definitions = std::move(planned);
  g.outputs = outputs;
  f.places.resize(g.tensors.size(), Place::none);
  f.graph = std::move(g);
  return f;
}

// Puts a loop over blocks of its results in the place of the last product of groups.
void block_result(const std::string& model, Function& f, const Costs& costs) {
  const std::optional<ResultBlocks> blocks = block_last_result(f, costs);
  if (!blocks) return;
  const auto at = [&](size_t n) { return f.kernels.begin() + static_cast<long>(n); };
  std::vector<Definition> all = f.graph.definitions;
  const std::vector<Output> outputs = f.graph.outputs;
  const auto place = std::ranges::find(all, at(blocks->kernel)->writes[0], &Definition::target);
  f.kernels.erase(at(blocks->kernel));
  const size_t others = f.kernels.size();
  f.graph = plan_segment(model, f, f.graph, blocks->segment, costs,
                         solve::Unmaterialised(graph_of(f.graph, blocks->segment)), {});
  const size_t added = f.kernels.size() - others;
  std::rotate(at(blocks->kernel), at(others), f.kernels.end());
  Loop loop = f.loops.back();
  f.loops.pop_back();
  for (Loop& later : f.loops)
    if (later.first > blocks->kernel) {
      later.first += added - 1;
      later.end += added - 1;
    }
  loop.first -= others - blocks->kernel;
  loop.end -= others - blocks->kernel;
  f.loops.insert(std::ranges::upper_bound(f.loops, loop.first, {}, &Loop::first), loop);
  all.insert(all.erase(place), f.graph.definitions.begin(), f.graph.definitions.end());
  f.graph.definitions = std::move(all);
  f.graph.outputs = outputs;
  f.places.resize(f.graph.tensors.size(), Place::none);
}

// Sums over steps that a kernel writes that needs what it has written over.
std::set<TensorId> misread_sums(const Function& f) {
  std::set<TensorId> result;
  for (const Kernel& k : f.kernels)
    for (const Slice& s : f.slices)
      if (!s.dimension && std::ranges::count(k.writes, s.tensor) &&
          !writes_over(f.graph, k.form, k.writes, s.tensor, s.whole))
        result.insert(s.whole);
  return result;
}

}  // namespace

Function plan_function(const std::string& model, Request request, const Costs& costs,
                       Diagnostics& diagnostics) {
  Graph g = std::move(request.graph);
  copy_split_outputs(g, request.wanted);
  g = reshape_outputs(std::move(g));
  const Ordered in_order = ordered(order_states(std::move(g), diagnostics), request.wanted, costs);
  std::set<TensorId> apart;
  Function f = planned(model, request, in_order, costs, apart);
  for (std::set<TensorId> misread = misread_sums(f); !misread.empty(); misread = misread_sums(f)) {
    const size_t before = apart.size();
    apart.merge(misread);
    ATTN_CHECK(apart.size() > before, "a sum over steps that its own kernel misreads");
    f = planned(model, request, in_order, costs, apart);
  }
  block_result(model, f, costs);
  f.lives = lives_of(f);
  verify(f);
  refuse_unaddressable(f, diagnostics);
  warn_of_stored(f, costs, request.large, diagnostics);
  warn_of_slow(f, diagnostics);
  return f;
}

}  // namespace attn::plan
