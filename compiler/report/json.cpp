// Everything as data. Each type is written by the name that the JSON library looks for.
#include <nlohmann/json.hpp>

#include "compiler/report/report.h"

namespace attn::report {
using Json = nlohmann::ordered_json;

void to_json(Json& j, const Formula& f) {
  j = {{"name", f.name}, {"tex", equation(f)}, {"text", f.text}};
  if (!f.condition.empty()) j["where"] = f.condition;
}

void to_json(Json& j, const Count& c) {
  j = {{"formula", c.formula}, {"tex", c.tex}};
  if (c.value) j["value"] = *c.value;
}

void to_json(Json& j, const Change& c) {
  j = Json::object();
  if (c.before) j["before"] = Json(*c.before);
  if (c.after) j["after"] = Json(*c.after);
}

void to_json(Json& j, const Section& s) { j = {{"block", s.title}, {"formulas", s.formulas}}; }

void to_json(Json& j, const Chain& c) {
  j = {{"tensor", c.tensor}, {"tex", c.local}};
  if (!c.expanded.empty()) j["to_outputs"] = c.expanded;
}

void to_json(Json& j, const Line& l) {
  to_json(j, l.formula);
  j["result"] = l.is_output;
  j["rules"] = l.rules;
  Json passes = Json::array();
  for (const auto& [pass, change] : l.passes) {
    Json p{{"pass", pass}};
    p.update(Json(change));
    passes.push_back(std::move(p));
  }
  j["passes"] = std::move(passes);
}

void to_json(Json& j, const Step& s) {
  j = {{"pass", s.pass}, {"what", s.brief}, {"changes", s.changes}};
}

void to_json(Json& j, const Point& p) { j = Json::array({p.x, p.y}); }

void to_json(Json& j, const Drawing& d) {
  Json boxes = Json::array(), edges = Json::array();
  for (size_t k = 0; k < d.boxes.size(); ++k) {
    const Box& b = d.boxes[k];
    const Node& n = d.layout.nodes[k];
    boxes.push_back({{"name", b.name},
                     {"kind", b.look},
                     {"computed_by", b.detail},
                     {"x", n.corner.x},
                     {"y", n.corner.y},
                     {"width", n.width},
                     {"height", n.height}});
  }
  for (const Edge& e : d.layout.edges)
    edges.push_back(
        {{"from", d.boxes[e.from].name}, {"to", d.boxes[e.to].name}, {"points", e.points}});
  j = {{"boxes", std::move(boxes)}, {"edges", std::move(edges)}};
}

void to_json(Json& j, const Derivative& d) {
  j = {{"name", d.name}, {"lines", d.lines}, {"steps", d.steps}};
  if (d.drawing) j["graph"] = Json(*d.drawing);
}

void to_json(Json& j, const Parameter& p) {
  j = {{"name", p.name}, {"shape", p.shape}, {"count", Json(p.count)}};
}

void to_json(Json& j, const KernelLine& k) {
  j = {{"kind", k.kind},
       {"writes", k.writes},
       {"reads", k.reads},
       {"tiles", k.tiles},
       {"operations", Json(k.operations)},
       {"grows_like", k.order},
       {"only_where_not_finite", k.repair}};
}

void to_json(Json& j, const Stored& s) {
  j = {{"name", s.name}, {"shape", s.shape},         {"place", s.place},
       {"wide", s.wide}, {"in_memory", s.in_memory}, {"bytes", Json(s.bytes)}};
}

void to_json(Json& j, const FunctionReport& f) {
  j = {{"name", f.name},
       {"operations", Json(f.operations)},
       {"grows_like", f.order},
       {"saved_bytes", Json(f.saved)},
       {"workspace_bytes", Json(f.workspace)},
       {"kernels", f.kernels},
       {"tensors", f.tensors}};
}

void to_json(Json& j, const SizeLine& s) { j = {{"name", s.name}, {"value", s.value}}; }

void to_json(Json& j, const ModelReport& m) {
  j = {{"name", m.name},
       {"doc", m.doc},
       {"sizes", m.sizes},
       {"inputs", m.inputs},
       {"outputs", m.outputs},
       {"model", m.sections},
       {"graph", Json(m.drawing)},
       {"chain_rule", m.chains},
       {"derivatives", m.derivatives},
       {"parameters", m.parameters},
       {"parameter_count", Json(m.parameter_count)},
       {"functions", m.functions}};
}

std::string json(const Report& r) {
  const Json j{{"file", r.file}, {"attnc", r.version}, {"models", r.models}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attn::report
