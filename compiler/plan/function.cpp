#include "compiler/plan/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/plan/kernels.h"
#include "compiler/plan/maps.h"
#include "compiler/plan/reshaped.h"
#include "compiler/plan/states.h"
#include "compiler/plan/stored.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/equalities.h"
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
void warn_of_stored(const Function& f, const Costs& costs, Diagnostics& diagnostics) {
  const Excess is_excessive(f, costs);
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

bool sums_unmaterialised(const Definition& d, const solve::Unmaterialised& unmaterialised) {
  const std::set<TensorId> read = reads(d);
  return d.combine == Combine::sum &&
         std::ranges::any_of(read, [&](TensorId t) { return unmaterialised(t); });
}

// The definitions as kinds are asked about them: what is solved and inlined first.
Graph prepared(Graph g, const Costs& costs, const solve::Unmaterialised& unmaterialised) {
  g.definitions = compute_gathered(g, unmaterialised);
  for (Definition& d : g.definitions)
    if (!sums_unmaterialised(d, unmaterialised)) d = solve::solve_equalities(g, Definition(d));
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

// Adds the kernels of one segment of `g`; the graph that they are of, with what planning has added.
Graph plan_segment(const std::string& model, Function& f, const Graph& g, const Segment& segment,
                   const Costs& costs, solve::Unmaterialised unmaterialised,
                   std::set<TensorId> wanted) {
  // What another segment reads is stored, however large it is.
  for (const Output& o : segment.outputs) unmaterialised.set(o.tensor, false);
  place_slices(f, segment, wanted);
  ClaimedGraph claimed = claim_kernels(prepared(graph_of(g, segment), costs, unmaterialised), costs,
                                       unmaterialised, wanted, {f.saved.begin(), f.saved.end()});
  const size_t first = f.kernels.size();
  add_kernels(model, f, costs, claimed);
  place_wholes(f, segment);
  if (segment.steps) f.loops.push_back({*segment.steps, first, f.kernels.size()});
  for (const Slice& slice : segment.slices)
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

Function plan_function(const std::string& model, Request request, const Costs& costs,
                       Diagnostics& diagnostics) {
  Graph g = std::move(request.graph);
  copy_split_outputs(g, request.wanted);
  g = reshape_outputs(std::move(g));
  g = order_states(std::move(g), diagnostics);
  const solve::Unmaterialised unmaterialised(g);
  Checks checks = data_checks(g);
  const Rolling rolling = roll(g, request.wanted, costs);
  const std::vector<Segment> segments = segments_of(g, rolling);
  Function f{.kind = request.kind,
             .name = std::move(request.name),
             .saved = request.saved,
             .in_forward = std::move(request.in_forward)};
  place_arguments(f, g);
  for (TensorId t : request.forwarded) f.places[t.value] = Place::forwarded;
  for (TensorId t : request.saved) f.places[t.value] = Place::saved;
  // What they read is there before the call.
  Segment of_checks{.definitions = checks.definitions};
  for (const DataCheck& c : checks.checks)
    for (TensorId t : {c.lowest, c.highest})
      of_checks.outputs.push_back({.name = g[t].name, .tensor = t});
  add_plainly(model, f, f.checks, costs, graph_of(g, of_checks));
  f.data_checks = checks.checks;
  const std::vector<Output> outputs = g.outputs;
  std::vector<Definition> planned;
  for (const Segment& segment : segments) {
    g = plan_segment(model, f, g, segment, costs, unmaterialised, request.wanted);
    planned.insert(planned.end(), g.definitions.begin(), g.definitions.end());
  }
  g.definitions = std::move(planned);
  g.outputs = outputs;
  f.places.resize(g.tensors.size(), Place::none);
  f.graph = std::move(g);
  f.lives = lives_of(f);
  verify(f);
  refuse_unaddressable(f, diagnostics);
  warn_of_stored(f, costs, diagnostics);
  warn_of_slow(f, diagnostics);
  return f;
}

}  // namespace attn::plan