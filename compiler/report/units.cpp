#include "compiler/report/units.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace attn::report {
namespace {

// What follows the last point, without digits that only tell it from others.
std::string_view last_part(std::string_view name) {
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos) return {};
  std::string_view part = name.substr(point + 1);
  while (!part.empty() && part.back() >= '0' && part.back() <= '9') part.remove_suffix(1);
  return part;
}

// The words that the phases add to a name for what they cut out of its definition.
bool is_helpers(std::string_view part) {
  constexpr std::string_view kWords[] = {
      "sum",   "lse",     "score",  "max",   "min",  "prod", "argmax", "total", "operand", "ties",
      "zeros", "nonzero", "others", "inner", "pair", "part", "core",   "u",     "at",      ""};
  return std::find(std::begin(kWords), std::end(kWords), part) != std::end(kWords);
}

}  // namespace

Units::Units(const ir::Graph& g) {
  std::map<ir::TensorId, std::set<ir::TensorId>> readers;  // as units
  std::set<ir::TensorId> outputs;
  for (const ir::Output& o : g.outputs) outputs.insert(o.tensor);
  for (auto d = g.definitions.rbegin(); d != g.definitions.rend(); ++d) {
    const ir::TensorId t = d->target;
    ir::TensorId owner = t;
    const std::set<ir::TensorId>& of = readers[t];
    if (of.size() == 1 && !outputs.count(t) && is_helpers(last_part(g[t].name)) &&
        g[t].name.starts_with(g[*of.begin()].name + "."))
      owner = *of.begin();
    owner_[t] = owner;
    for (ir::TensorId read : ir::reads(*d)) readers[read].insert(owner);
  }
  std::map<ir::TensorId, std::vector<const ir::Definition*>> parts;
  for (const ir::Definition& d : g.definitions) {
    const ir::TensorId owner = owner_.at(d.target);
    parts[owner].push_back(&d);
    if (owner == d.target) units_.push_back({owner, std::move(parts[owner])});
  }
}

ir::TensorId Units::of(ir::TensorId t) const {
  const auto it = owner_.find(t);
  return it == owner_.end() ? t : it->second;
}

std::string block_of(const ir::Graph& g, const std::string& name, char letter) {
  std::string rest = name;
  if (letter != 0 && !rest.empty() && rest[0] == letter) rest.erase(0, 1);
  for (;;) {
    const size_t point = rest.rfind('.');
    if (point == std::string::npos) return {};
    const std::string before = rest.substr(0, point);
    const bool helper =
        is_helpers(last_part(rest)) && (g.find(before) || (letter != 0 && g.find(letter + before)));
    if (!helper) return before;
    rest = before;
  }
}

ir::Graph relative_to(const std::string& block, const ir::Graph& g) {
  ir::Graph result = g;
  if (block.empty()) return result;
  std::set<std::string> taken;
  for (const ir::Tensor& t : g.tensors) taken.insert(t.name);
  for (const ir::Size& s : g.sizes) taken.insert(s.name);
  for (ir::Tensor& t : result.tensors) {
    for (const std::string& letter : {std::string(), std::string("d"), std::string("t")}) {
      const std::string head = letter + block + ".";
      if (!t.name.starts_with(head)) continue;
      const std::string shorter = letter + t.name.substr(head.size());
      if (taken.insert(shorter).second) t.name = shorter;
      break;
    }
  }
  return result;
}

}  // namespace attn::report
