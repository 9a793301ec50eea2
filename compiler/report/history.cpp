#include "compiler/report/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/report/mathml.h"
#include "compiler/report/units.h"

namespace attn::report {
namespace {

using ir::Combine;
using ir::TensorId;
using text::Math;

// Of the function, or of a quantity, by another; on one line.
Math derivative(const Math& of, const Math& by) {
  const Math d = text::partial();
  return text::row({d, of, text::sign("/"), d, by});
}

// What the rule of a combination gives to the terms of its body, as HTML; `names` are those of
// tensors.
std::string rule(const ir::Graph& g, const std::vector<Math>& names, const derive::Origin& o) {
  auto name = [&](TensorId t) -> const Math& { return names.at(static_cast<size_t>(t.value)); };
  const Math& of = name(o.of);
  const std::string x = mathml(of);
  if (!o.through.valid()) return fmt::format("given by the caller for the output {}", x);
  const ir::Definition& d = *g.definition_of(o.through);
  const Math& through = name(o.through);
  const std::string y = mathml(through);
  const Math by_y = derivative(text::letters("f"), through);
  const std::string dy = mathml(by_y);
  const bool product =
      d.body.is(ir::Kind::multiply) &&
      std::any_of(d.body.args().begin(), d.body.args().end(), [&](const ir::Expr& factor) {
        return factor.is(ir::Kind::read) && factor->tensor == o.of;
      });
  const std::string beside = fmt::format("the factors beside {}", x);
  switch (d.combine) {
    case Combine::set:
      return fmt::format("through {}, {}: {} times {}", y, product ? "a product" : "a map", dy,
                         product ? beside : mathml(derivative(through, of)));
    case Combine::sum:
      return fmt::format("through {}, a sum{}: every term receives {}, times {}", y,
                         product ? " of products" : "", dy,
                         product ? beside : fmt::format("its derivative by {}", x));
    case Combine::logsumexp: {
      const Math e = text::letters("e");
      const Math share =
          text::call(text::upright("exp"), {text::row({e, text::sign("-"), through})});
      return fmt::format("through {}, a log-sum-exp: a term {} receives {}", y, mathml(e),
                         mathml(text::row({by_y, text::thin_space(), share})));
    }
    case Combine::max:
    case Combine::min:
      return fmt::format("through {}, a {}: the terms that reach it share {}", y,
                         ir::name_of(d.combine), dy);
    case Combine::prod:
      return fmt::format("through {}, a product: {} times the product of the other terms", y, dy);
    case Combine::argmax:
      break;
  }
  throw InternalError("an argmax that hands down a cotangent");
}

// The rules that made each line of a derivative, by its name.
std::map<std::string, std::vector<std::string>> rules_of(const Derived& derived, char letter) {
  std::map<std::string, std::vector<std::string>> result;
  if (derived.origins.empty()) return result;
  const ir::Graph& g = derived.stages.at(0).graph;
  std::map<std::string, std::vector<Math>> names;  // by block that they are relative to
  for (const derive::Origin& o : derived.origins) {
    const std::string& line = g[o.held_by].name;
    const std::string block = block_of(g, line, letter);
    auto [it, fresh] = names.try_emplace(block);
    if (fresh) it->second = text::tensor_names(relative_to(block, g));
    const std::string text = rule(g, it->second, o);
    std::vector<std::string>& list = result[line];
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }
  return result;
}

// The formulas of the lines that are a derivative's own, stage by stage.
class Lines {
 public:
  Lines(const ir::Graph& forward, char letter) : letter_(letter) {
    for (const ir::Definition& d : forward.definitions) forward_.insert(forward[d.target].name);
  }

  // In order; what the stage before left as it was is not written again.
  std::vector<Formula> of(const ir::Graph& g) {
    std::map<std::string, Written> now;
    std::vector<std::string> order;
    std::vector<size_t> changed;
    for (size_t k = 0; k < g.definitions.size(); ++k) {
      const ir::Definition& d = g.definitions[k];
      const std::string& name = g[d.target].name;
      if (forward_.count(name)) continue;
      order.push_back(name);
      const auto known = last_.find(name);
      if (known != last_.end() && known->second.definition == d)  // passes keep ids
        now[name] = known->second;
      else
        changed.push_back(k);
    }
    for (Formula& f : formulas(g, changed, letter_)) now[f.name].formula = std::move(f);
    for (size_t k : changed) now[g[g.definitions[k].target].name].definition = g.definitions[k];
    last_ = std::move(now);
    std::vector<Formula> result;
    for (const std::string& name : order) result.push_back(last_.at(name).formula);
    return result;
  }

 private:
  struct Written {
    ir::Definition definition;
    Formula formula;
  };
  char letter_;
  std::set<std::string> forward_;
  std::map<std::string, Written> last_;
};

std::vector<Change> changes(const std::vector<Formula>& before, const std::vector<Formula>& after) {
  std::map<std::string, const Formula*> old;
  for (const Formula& f : before) old[f.name] = &f;
  std::vector<Change> result;
  for (const Formula& f : after) {
    const auto it = old.find(f.name);
    if (it == old.end()) {
      result.push_back({std::nullopt, f});
      continue;
    }
    if (*it->second != f) result.push_back({*it->second, f});
    old.erase(it);
  }
  for (const Formula& f : before)
    if (old.count(f.name)) result.push_back({f, std::nullopt});
  return result;
}

}  // namespace

Math equation(const Formula& f) { return text::row({f.left, text::sign("="), f.right}); }

std::vector<Formula> formulas(const ir::Graph& g, const std::vector<size_t>& which, char letter) {
  std::map<std::string, std::vector<size_t>> by_block;  // places in `which`
  for (size_t n = 0; n < which.size(); ++n)
    by_block[block_of(g, g[g.definitions[which[n]].target].name, letter)].push_back(n);
  std::vector<Formula> result(which.size());
  for (const auto& [block, places] : by_block) {
    std::vector<size_t> here;
    for (size_t n : places) here.push_back(which[n]);
    std::vector<text::Formula> lines = text::formulas(relative_to(block, g), here);
    for (size_t k = 0; k < places.size(); ++k)
      result[places[k]] = {std::move(lines[k]), g[g.definitions[here[k]].target].name};
  }
  return result;
}

Words words_of(plan::FunctionKind derivative) {
  using plan::FunctionKind;
  if (derivative == FunctionKind::jvp) return {"jvp", "Jacobian-vector product", 't'};
  if (derivative == FunctionKind::hvp) return {"hvp", "Hessian-vector product", 'h'};
  return {"gradient", "Gradient", 'd'};
}

Derivative history(const Derived& derived, const ir::Graph& forward) {
  const auto [name, what, letter] = words_of(derived.kind);
  Derivative result{.kind = derived.kind, .name = name, .what = what};
  std::map<std::string, std::vector<std::string>> rules = rules_of(derived, letter);
  Lines lines(forward, letter);
  std::vector<Formula> last;
  std::map<std::string, std::vector<std::pair<std::string, Change>>> by_line;
  for (size_t k = 0; k < derived.stages.size(); ++k) {
    const Stage& stage = derived.stages[k];
    std::vector<Formula> now = lines.of(stage.graph);
    std::vector<Change> made = changes(last, now);
    last = std::move(now);
    if (made.empty()) continue;
    for (const Change& c : made)
      by_line[c.after ? c.after->name : c.before->name].emplace_back(stage.pass, c);
    result.steps.push_back({stage.pass, stage.brief, std::move(made)});
  }
  std::set<std::string> outputs;
  for (const ir::Output& o : derived.graph->outputs)
    outputs.insert((*derived.graph)[o.tensor].name);
  for (const Formula& f : lines.of(*derived.graph)) {
    Line line{.formula = f,
              .block = block_of(*derived.graph, f.name, letter),
              .rules = rules[f.name],
              .passes = by_line[f.name],
              .is_output = outputs.count(f.name) > 0};
    result.lines.push_back(std::move(line));
  }
  return result;
}

}  // namespace attn::report
