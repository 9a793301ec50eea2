#include "compiler/elaborate/elaborate.h"

#include <fmt/format.h>

#include "compiler/elaborate/blocks.h"
#include "compiler/elaborate/updates.h"
#include "compiler/ir/recurrence.h"

namespace attn::elaborate {
namespace {

// Models of one file share parameters by name, which are then the same tensor.
class SharedParameters {
 public:
  void check(const ModelState& state, Diagnostics& diagnostics) {
    for (const ir::Tensor& t : state.graph.tensors) {
      if (t.role != ir::Role::parameter) continue;
      const std::string type = fmt::format("{}{}", ir::name_of(t.storage), state.shape(t));
      auto [it, fresh] =
          first_.try_emplace(t.name, First{type, ir::weight_name(t), t.where, state.graph.name});
      if (!fresh && it->second.weight_name != ir::weight_name(t)) {
        diagnostics
            .error(t.where, fmt::format("two models share parameter `{}`, but not its name in a "
                                        "weight file",
                                        t.name))
            .others.push_back({it->second.where, "first here"});
      }
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
    std::string type, weight_name;
    Span where;
    std::string model;
  };
  std::map<std::string, First> first_;
};

// Why a weight file cannot hold a tensor of this name; the runtime's rules for files, which the
// lexer's for strings complete.
const char* weight_name_complaint(const std::string& name) {
  constexpr size_t kMostBytes = 1024;
  if (name == "__metadata__") return "the name is reserved";
  if (name.size() > kMostBytes) return "a name has at most 1024 bytes";
  if (("/" + name + "/").find("/../") != std::string::npos) return "a name has no `..` between `/`";
  return nullptr;
}

// Every parameter has a name of its own in a weight file.
void check_weight_names(ModelState& state) {
  std::map<std::string, const ir::Tensor*> holders;
  for (const ir::Tensor& t : state.graph.tensors) {
    if (t.role != ir::Role::parameter) continue;
    const auto given = state.weight_names.find(t.name);
    const Span where = given == state.weight_names.end() ? t.where : given->second;
    if (const char* complaint = weight_name_complaint(ir::weight_name(t)))
      state.error(where, fmt::format("no weight file has a tensor `{}`", ir::weight_name(t))).help =
          complaint;
    auto [it, fresh] = holders.try_emplace(ir::weight_name(t), &t);
    if (fresh) continue;
    const ir::Tensor& other = *it->second;
    Diagnostic& d = state.error(
        where, fmt::format("two parameters are `{}` in a weight file", ir::weight_name(t)));
    d.primary.text = fmt::format("`{}`", t.name);
    const auto first = state.weight_names.find(other.name);
    d.others.push_back({first == state.weight_names.end() ? other.where : first->second,
                        fmt::format("`{}`", other.name)});
    d.help = "`@` in a block is relative to its call, and `@` on a call to what stands around it";
  }
}

// The step that `using` asks for; nothing where there is none, or after an error.
std::optional<ir::Step> step_of(const dsl::Block& block, const Unit& unit, const ir::Graph& g,
                                Updates& updates, Diagnostics& diagnostics) {
  const dsl::Identifier& name = block.update;
  if (name.text.empty()) return std::nullopt;
  const UpdateDeclaration* update = unit.find_update(name.text);
  if (!update) {
    Diagnostic& d =
        diagnostics.error(name.where, fmt::format("there is no update `{}`", name.text));
    d.help = suggestion(name.text, unit.update_names());
    if (d.help.empty()) d.help = unit.library->help_for(name.text);
    if (d.help.empty()) d.help = "`use std.optim` has sgd, adam, adamw and adagrad";
    return std::nullopt;
  }
  std::set<ir::Storage> storages;
  for (const ir::Tensor& t : g.tensors)
    if (t.role == ir::Role::parameter) storages.insert(t.storage);
  if (storages.empty())
    diagnostics.error(name.where, fmt::format("`{}` has no parameter to update", block.name.text));
  return updates.step(*update, storages);
}

// Blocks and models that `using` cannot train.
bool may_use(const dsl::Block& block, Diagnostics& diagnostics) {
  if (block.update.text.empty() || block.kind == dsl::BlockKind::train_model) return true;
  diagnostics.error(block.update.where, "only a `train model` is updated").help =
      "`train model` exports the gradients that an update needs";
  return false;
}

// Puts recurrences in order; reports a read that has none.
bool in_order(ModelState& state) {
  const auto misread = ir::arrange(state.graph);
  if (!misread) return true;
  const ir::Definition& reader = state.graph.definitions[misread->reader];
  Diagnostic& d = state.error(
      reader.where,
      fmt::format("`{}` and `{}` need each other, and no order of steps allows it",
                  state.graph[reader.target].name, state.graph[misread->read->tensor].name));
  d.help = "in a recurrence all is read at the step itself or at the one before it";
  return false;
}

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
  Updates updates(sources, diagnostics);
  // What no model uses is checked all the same.
  for (const auto& [name, update] : main->updates) updates.step(update, {ir::Storage::f32});
  bool any = false, has_block = false;
  for (const dsl::Item& item : tree.items) {
    const auto* block = std::get_if<dsl::Block>(&item.node);
    if (!block) continue;
    has_block = true;
    any = any || block->kind != dsl::BlockKind::block;
    if (!may_use(*block, diagnostics) || block->kind == dsl::BlockKind::block) continue;
    const auto callable = main->callables.find(block->name.text);
    if (callable == main->callables.end() || callable->second.block != block) continue;
    ModelState state(sources, *main, overrides, diagnostics);
    state.graph.name = block->name.text;
    const int before = diagnostics.error_count();
    Expander(state).expand_model(callable->second);
    if (diagnostics.error_count() > before) continue;
    state.number_block_sizes();
    check_weight_names(state);
    if (!in_order(state)) continue;
    shared.check(state, diagnostics);
    Model model{.graph = canonical(state.graph),
                .train = block->kind == dsl::BlockKind::train_model,
                .doc = callable->second.doc,
                .where = block->name.where,
                .step = step_of(*block, *main, state.graph, updates, diagnostics)};
    ir::verify(model.graph, "elaborate");
    program.models.push_back(std::move(model));
  }
  if (!any) {
    const auto end = static_cast<uint32_t>(sources.file(file).text.size());
    Diagnostic& d = diagnostics.error({file, 0, end > 0 ? 1u : 0u}, "no model declared");
    d.help = "a file that is compiled has a `model NAME(…) -> … { … }`";
    if (has_block) d.help += "; a block is checked where one calls it, with the sizes of the call";
  }
  return program;
}

}  // namespace attn::elaborate
