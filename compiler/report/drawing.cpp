#include "compiler/report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/ir/recurrence.h"
#include "compiler/report/counts.h"
#include "compiler/report/history.h"
#include "compiler/report/units.h"
#include "compiler/solve/unmaterialised.h"
#include "compiler/text/formula.h"

namespace attn::report {
namespace {

using ir::TensorId;

constexpr double kLetter = 7.3, kLine = 16;  // of a monospaced font of 12 pixels
constexpr size_t kMostBeside = 44;           // letters of what a box names beside itself

double text_width(const std::string& text) { return kLetter * static_cast<double>(text.size()); }

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& w : words) {
    if (result.size() + w.size() > kMostBeside) return result + ", …";
    result += (result.empty() ? "" : ", ") + w;
  }
  return result;
}

class Drawer {
 public:
  Drawer(const ir::Graph& g, const FunctionReport* places, char letter)
      : g_(g), unmaterialised_(g), needs_(g), letter_(letter) {
    std::vector<size_t> all(g.definitions.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const std::vector<text::Formula> lines = text::formulas(g, all);
    for (size_t k : all) texts_[g.definitions[k].target] = lines[k].text;
    if (places)
      for (const Stored& s : places->tensors) stored_[as_written(s.name)] = &s;
  }

  // The box of a tensor without a definition.
  void add_given(TensorId t) {
    Box box = box_of(t);
    box.look = "input";
    add(t, std::move(box));
  }

  // The box of a unit; `is_beside` says which of the tensors that it reads have no boxes.
  template <class IsBeside>
  void add_unit(const Unit& unit, const IsBeside& is_beside) {
    Box box = box_of(unit.target);
    box.detail = what(unit);
    std::vector<std::string> beside;
    for (const ir::Definition* d : unit.definitions)
      for (TensorId t : ir::reads(*d)) {
        const bool before = is_before(*d, t);
        const std::string name =
            short_name(g_[t].name, block_of(g_, g_[unit.target].name, letter_)) +
            (before ? " one step back" : "");
        const bool new_one = std::find(beside.begin(), beside.end(), name) == beside.end();
        if ((is_beside(t) || before) && new_one) beside.push_back(name);
      }
    box.with = joined(beside);
    box.hint = hint(unit);
    add(unit.target, std::move(box));
  }

  void add_edges(const Unit& unit, const Units& units) {
    for (const ir::Definition* d : unit.definitions)
      for (TensorId t : ir::reads(*d))
        if (!is_before(*d, t)) add_edge(units.of(t), unit.target);
  }

  // A function of what the boxes of these tensors hold.
  void add_function_of(const std::vector<TensorId>& outputs) {
    drawing_.boxes.push_back(
        {"f", "f", "any function", "f, by which the derivatives are taken", "function", ""});
    drawing_.layout.nodes.push_back({text_width("any function") + 18, 2 * kLine + 8, -1, {}});
    const int f = static_cast<int>(drawing_.boxes.size()) - 1;
    for (TensorId t : outputs)
      if (const auto it = nodes_.find(t); it != nodes_.end())
        drawing_.layout.edges.push_back({it->second, f, {}});
  }

  Drawing finished(std::string caption) {
    drawing_.caption = std::move(caption);
    lay_out(drawing_.layout);
    drawing_.titles.resize(drawing_.layout.groups.size());
    return std::move(drawing_);
  }

 private:
  // Whether a recurrence reads the tensor one step back only, which no arrow shows.
  bool is_before(const ir::Definition& d, TensorId t) const {
    bool at_step = false;
    auto look = [&](const ir::Expr& e) {
      ir::visit(e, [&](const ir::Expr& x) {
        if (x.is(ir::Kind::read) && x->tensor == t) at_step = at_step || needs_.may_read(d, x);
        return !at_step;
      });
    };
    look(d.body);
    for (const ir::Expr& c : d.guard) look(c);
    return !at_step;
  }

  void add_edge(TensorId from, TensorId to) {
    const auto a = nodes_.find(from), b = nodes_.find(to);
    if (a == nodes_.end() || b == nodes_.end() || from == to) return;
    if (!drawn_.emplace(a->second, b->second).second) return;
    drawing_.layout.edges.push_back({a->second, b->second, {}});
  }

  // The plan keeps h as h.steps where steps come first in memory.
  std::string as_written(const std::string& stored) const {
    constexpr std::string_view kSteps = ".steps";
    if (!stored.ends_with(kSteps) || g_.find(stored)) return stored;
    return stored.substr(0, stored.size() - kSteps.size());
  }

  static std::string short_name(const std::string& name, const std::string& block) {
    const bool inside = !block.empty() && name.starts_with(block + ".");
    return inside ? name.substr(block.size() + 1) : name;
  }

  Box box_of(TensorId t) const {
    const ir::Tensor& tensor = g_[t];
    const std::string block = block_of(g_, tensor.name, letter_);
    Box box;
    box.name = tensor.name;
    std::string name = short_name(tensor.name, block);
    if (letter_ != 0 && !block.empty() && tensor.name.starts_with(letter_ + block + "."))
      name = letter_ + tensor.name.substr(block.size() + 2);
    const std::string extents = shape(g_, tensor);
    box.title = extents.empty() ? name : name + " " + extents;
    const auto it = stored_.find(tensor.name);
    box.look = it == stored_.end() ? "inline" : it->second->in_memory ? "stored" : "inline";
    // What a kernel's own form of the function computes has no place in the plan.
    if (box.look == "inline" && unmaterialised_(t)) box.look = "tile";
    for (const ir::Output& o : g_.outputs)
      if (o.tensor == t) box.look = "output";
    box.hint = tensor.name;
    return box;
  }

  // What kind of computation it is: its reductions.
  std::string what(const Unit& unit) const {
    std::string result;
    const bool set = unit.definitions.back()->combine == ir::Combine::set;
    for (const ir::Definition* d : unit.definitions) {
      if (d->combine == ir::Combine::set) continue;
      std::string word(ir::name_of(d->combine));
      // A share of a row is what a map with the row's log-sum-exp is.
      if (set && d->combine == ir::Combine::logsumexp) word = "softmax";
      std::string over;
      for (ir::IndexId i : d->reduced) over += (over.empty() ? " over " : ",") + g_[i].name;
      const std::string part = word + over;
      if (result.find(part) != std::string::npos) continue;
      result += (result.empty() ? "" : ", ") + part;
    }
    return result.empty() ? "map" : result;
  }

  std::string hint(const Unit& unit) const {
    std::string result;
    for (const ir::Definition* d : unit.definitions)
      result += (result.empty() ? "" : "\n") + texts_.at(d->target);
    if (const auto it = stored_.find(g_[unit.target].name); it != stored_.end())
      result += fmt::format("\n{}; {} bytes", it->second->place, it->second->bytes.text);
    return result;
  }

  // The group of a block and, around it, those of the blocks that it is in.
  int group_of(const std::string& block) {
    if (block.empty()) return -1;
    if (const auto it = groups_.find(block); it != groups_.end()) return it->second;
    const size_t point = block.rfind('.');
    std::string outer = point == std::string::npos ? "" : block.substr(0, point);
    std::string title = point == std::string::npos ? block : block.substr(point + 1);
    // `layers.0` is one block, not one in another.
    if (!title.empty() && std::all_of(title.begin(), title.end(), ::isdigit) && !outer.empty()) {
      const size_t before = outer.rfind('.');
      title = outer.substr(before == std::string::npos ? 0 : before + 1) + "." + title;
      outer = before == std::string::npos ? "" : outer.substr(0, before);
    }
    const int parent = group_of(outer);
    const int group = static_cast<int>(drawing_.layout.groups.size());
    drawing_.layout.groups.push_back({text_width(title) + 20, parent, 0, 0, {}});
    drawing_.titles.push_back(title);
    groups_[block] = group;
    return group;
  }

  void add(TensorId t, Box box) {
    const double lines = 1 + !box.detail.empty() + !box.with.empty();
    const double width =
        std::max({text_width(box.title), text_width(box.detail), text_width(box.with)});
    const int group = group_of(block_of(g_, g_[t].name, letter_));
    drawing_.layout.nodes.push_back({width + 18, kLine * lines + 8, group, {}});
    drawing_.boxes.push_back(std::move(box));
    nodes_[t] = static_cast<int>(drawing_.boxes.size()) - 1;
  }

  const ir::Graph& g_;
  solve::Unmaterialised unmaterialised_;
  ir::Needs needs_;
  char letter_;
  std::map<TensorId, std::string> texts_;  // of definitions
  std::map<std::string, const Stored*> stored_;
  Drawing drawing_;
  std::map<TensorId, int> nodes_;
  std::map<std::string, int> groups_;
  std::set<std::pair<int, int>> drawn_;
};

}  // namespace

Drawing draw_model(const ir::Graph& g, const FunctionReport& places, bool of_f) {
  const Units units(g);
  Drawer drawer(g, &places, 0);
  std::set<TensorId> read;
  for (const ir::Definition& d : g.definitions) read.merge(ir::reads(d));
  for (size_t k = 0; k < g.tensors.size(); ++k) {
    const TensorId t{static_cast<int32_t>(k)};
    if (g[t].role == ir::Role::input && read.count(t)) drawer.add_given(t);
  }
  auto is_parameter = [&](TensorId t) { return g[t].role == ir::Role::parameter; };
  for (const Unit& u : units.all()) drawer.add_unit(u, is_parameter);
  for (const Unit& u : units.all()) drawer.add_edges(u, units);
  if (of_f) {
    std::vector<TensorId> outputs;
    for (const ir::Output& o : g.outputs)
      if (ir::is_real(ir::arithmetic_type(g[o.tensor].storage))) outputs.push_back(o.tensor);
    drawer.add_function_of(outputs);
  }
  return drawer.finished("The model");
}

Drawing draw_derivative(plan::FunctionKind kind, const ir::Graph& g, const ir::Graph& forward,
                        const FunctionReport* places) {
  const auto [name, what, letter] = words_of(kind);
  auto is_forward = [&](TensorId t) {
    const auto known = forward.find(g[t].name);
    return known && (forward.definition_of(*known) || !g.definition_of(t));
  };
  const Units units(g);
  Drawer drawer(g, places, letter);
  std::set<TensorId> read;
  for (const ir::Definition& d : g.definitions)
    if (!is_forward(d.target)) read.merge(ir::reads(d));
  for (TensorId t : read)
    if (ir::is_derivative(g[t].role)) drawer.add_given(t);
  for (const Unit& u : units.all())
    if (!is_forward(u.target)) drawer.add_unit(u, is_forward);
  for (const Unit& u : units.all()) drawer.add_edges(u, units);
  return drawer.finished(fmt::format("The {}", name));
}

}  // namespace attn::report
