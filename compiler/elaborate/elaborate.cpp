#include "compiler/elaborate/elaborate.h"

#include <fmt/format.h>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

// Models of one file share parameters by name, which are then the same tensor.
class SharedParameters {
 public:
  void check(const ModelState& state, Diagnostics& diagnostics) {
    for (const ir::Tensor& t : state.graph.tensors) {
      if (t.role != ir::Role::parameter) continue;
      const std::string type = fmt::format("{}{}", ir::name_of(t.storage), state.shape(t));
      auto [it, fresh] = first_.try_emplace(t.name, First{type, t.where, state.graph.name});
      if (fresh || it->second.type == type) continue;
      Diagnostic& d = diagnostics.error(
          t.where, fmt::format("two models share parameter `{}`, but not its shape", t.name));
      d.primary.text = fmt::format("{} in `{}`", type, state.graph.name);
      const First& first = it->second;
      d.others.push_back({first.where, fmt::format("{} in `{}`", first.type, first.model)});
      d.help = "models share the parameters that have one name; rename one of them";
    }
  }

 private:
  struct First {
    std::string type;
    Span where;
    std::string model;
  };
  std::map<std::string, First> first_;
};

void check_overrides(const Unit& main, const Overrides& overrides, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const auto& [name, declared] : main.sizes) names.push_back(name);
  for (const auto& [name, value] : overrides) {
    if (main.sizes.count(name)) continue;
    diagnostics.error({}, fmt::format("-D {}={}: the file has no size `{}`", name, value, name))
        .help = suggestion(name, names);
  }
}

}  // namespace

Program elaborate(SourceMap& sources, int32_t file, const dsl::File& tree, const Loader& loader,
                  const Overrides& overrides, Diagnostics& diagnostics) {
  Program program;
  Files files(sources, loader, diagnostics);
  const Unit* main = files.load(file, tree);
  check_overrides(*main, overrides, diagnostics);
  SharedParameters shared;
  bool any = false;
  for (const dsl::Item& item : tree.items) {
    const auto* block = std::get_if<dsl::Block>(&item.node);
    if (!block || block->kind == dsl::BlockKind::block) continue;
    any = true;
    const auto callable = main->callables.find(block->name.text);
    if (callable == main->callables.end() || callable->second.block != block) continue;
    ModelState state(sources, *main, overrides, diagnostics);
    state.graph.name = block->name.text;
    const int before = diagnostics.error_count();
    Expander(state).expand_model(callable->second);
    if (diagnostics.error_count() > before) continue;
    shared.check(state, diagnostics);
    Model model{.graph = canonical(state.graph),
                .train = block->kind == dsl::BlockKind::train_model,
                .doc = callable->second.doc,
                .where = block->name.where};
    ir::verify(model.graph, "elaborate");
    program.models.push_back(std::move(model));
  }
  if (!any) {
    const auto end = static_cast<uint32_t>(sources.file(file).text.size());
    Diagnostic& d = diagnostics.error({file, 0, end > 0 ? 1u : 0u}, "no model declared");
    d.help = "a file that is compiled has a `model NAME(…) -> … { … }`";
  }
  return program;
}

}  // namespace attn::elaborate
