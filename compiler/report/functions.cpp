// What a plan says of one function: its kernels in order, and where each tensor is.
#include <set>

#include "compiler/plan/function.h"
#include "compiler/plan/kinds.h"
#include "compiler/report/counts.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::report {
namespace {

using ir::Graph;
using ir::Poly;
using ir::TensorId;
using plan::Place;

std::vector<std::string> names(const Graph& g, const std::vector<TensorId>& tensors) {
  std::vector<std::string> result;
  for (TensorId t : tensors) result.push_back(g[t].name);
  return result;
}

std::vector<std::string> tiles_of(const Graph& g, const plan::Kernel& k) {
  std::vector<std::string> result;
  if (const auto* form = std::get_if<plan::TilesForm>(&k.form))
    for (const plan::Tile& t : form->tiles)
      if (t.tensor.valid()) result.push_back(g[t.tensor].name);
  return result;
}

// The graph has the values that sizes are to have in numbers.
KernelLine kernel_line(const Graph& g, const plan::Kernel& k, const Poly& work) {
  return {.kind = plan::kind_of(k.form).name,
          .brief = plan::kind_of(k.form).brief,
          .writes = names(g, k.writes),
          .reads = names(g, k.reads),
          .tiles = tiles_of(g, k),
          .operations = count(g, work),
          .order = growth(g, work)};
}

Poly bytes(const Graph& g, TensorId t) {
  return plan::elements(g, t) * Poly(plan::element_bytes(g[t].storage));
}

// A tensor whose bits exist nowhere as a whole, where `unmaterialised`.
const char* place_text(Place place, bool unmaterialised) {
  switch (place) {
    case Place::given:
      return "given by the caller";
    case Place::result:
      return "result";
    case Place::updated:
      return "in the place of the state";
    case Place::forwarded:
      return "result of forward";
    case Place::saved:
      return "saved for backward";
    case Place::workspace:
      return "workspace";
    case Place::step:
      return "a step of another tensor";
    case Place::none:
      return unmaterialised ? "in tiles only, never stored" : "computed where it is read";
  }
  throw InternalError("a place without a name");
}

std::vector<Stored> stored(const plan::Function& f, const Graph& g) {
  std::set<TensorId> used;
  for (const ir::Definition& d : g.definitions) {
    used.insert(d.target);
    used.merge(ir::reads(d));
  }
  for (const plan::Slice& s : f.slices)
    if (f.places[s.tensor.value] == Place::step && used.erase(s.tensor)) used.insert(s.whole);
  const solve::Unmaterialised unmaterialised(f.graph);
  std::vector<Stored> result;
  for (TensorId t : used) {
    const Place place = f.places.at(static_cast<size_t>(t.value));
    result.push_back({.name = g[t].name,
                      .shape = shape(g, g[t]),
                      .place = place_text(place, unmaterialised(t)),
                      .bytes = count(g, bytes(g, t)),
                      .in_memory = place != Place::none,
                      .unmaterialised = unmaterialised(t)});
  }
  return result;
}

}  // namespace

FunctionReport function_report(const plan::Function& f,
                               const std::map<std::string, int64_t>& given) {
  const Graph g = with_sizes(f.graph, given);
  FunctionReport result{.kind = f.kind, .name = plan::title(f)};
  Poly work, saved;
  for (size_t n = 0; n < f.kernels.size(); ++n) {
    const Poly own = plan::runs(f, n) * plan::operations(g, f.kernels[n]);
    result.kernels.push_back(kernel_line(g, f.kernels[n], own));
    work = work + own;
  }
  for (TensorId t : f.saved) saved = saved + bytes(g, t);
  result.tensors = stored(f, g);
  result.operations = count(g, work);
  result.order = growth(g, work);
  result.saved = count(g, saved);
  result.workspace = count(g, plan::workspace_bytes(g, f));
  return result;
}

}  // namespace attn::report
