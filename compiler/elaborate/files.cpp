#include "compiler/elaborate/files.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/table.h"
#include "dsl/parse.h"

namespace attn::elaborate {
namespace {

// "std.norm" names std/norm.attn.
std::string library_path(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return name + ".attn";
}

std::string stem_of(const std::string& path) {
  size_t slash = path.find_last_of('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.find('.'));
}

}  // namespace

const Callable* Unit::find(const std::string& name) const {
  if (auto it = callables.find(name); it != callables.end()) return &it->second;
  for (const Unit* u : used)
    if (auto it = u->callables.find(name); it != u->callables.end()) return &it->second;
  return nullptr;
}

const UpdateDeclaration* Unit::find_update(const std::string& name) const {
  if (auto it = updates.find(name); it != updates.end()) return &it->second;
  for (const Unit* u : used)
    if (auto it = u->updates.find(name); it != u->updates.end()) return &it->second;
  return nullptr;
}

std::vector<std::string> Unit::update_names() const {
  std::vector<std::string> names;
  for (const auto& [name, update] : updates) names.push_back(name);
  for (const Unit* u : used)
    for (const auto& [name, update] : u->updates) names.push_back(name);
  return names;
}

std::vector<std::string> Unit::callable_names() const {
  std::vector<std::string> names;
  for (const auto& [name, callable] : callables) names.push_back(name);
  for (const Unit* u : used)
    for (const auto& [name, callable] : u->callables) names.push_back(name);
  for (const ir::Operation& row : ops::table()) names.emplace_back(row.name);
  return names;
}

std::string Library::help_for(const std::string& name) {
  if (!declared_) {
    declared_.emplace();
    for (const std::string& file : loader_.library) {
      std::string why_not;
      const auto id = loader_.load(library_path(file), true, -1, why_not);
      if (!id) continue;
      Diagnostics unheard;
      const dsl::File tree = dsl::parse(sources_, *id, unheard);
      for (const dsl::Item& item : tree.items) {
        if (const auto* block = std::get_if<dsl::Block>(&item.node))
          declared_->emplace(block->name.text, file);
        else if (const auto* function = std::get_if<dsl::Function>(&item.node))
          declared_->emplace(function->name.text, file);
        else if (const auto* update = std::get_if<dsl::Update>(&item.node))
          declared_->emplace(update->name.text, file);
      }
    }
  }
  const auto it = declared_->find(name);
  return it == declared_->end() ? "" : fmt::format("`use {}` has it", it->second);
}

std::string Library::nearest_file(const std::string& name) const {
  const std::string meant = nearest(name, loader_.library);
  return meant.empty() ? "" : fmt::format("did you mean `{}`?", meant);
}

const Unit* Files::load(int32_t file, const dsl::File& tree) { return collect(file, tree); }

Unit* Files::collect(int32_t file, const dsl::File& tree) {
  const std::string& path = sources_.file(file).path;
  auto [it, fresh] = units_.try_emplace(path, std::make_unique<Unit>());
  Unit& unit = *it->second;
  unit.tree = &tree;
  unit.file = file;
  unit.stem = stem_of(path);
  unit.library = &library_;
  open_.push_back({&unit, {}});
  for (const dsl::Item& item : tree.items) {
    if (const auto* use = std::get_if<dsl::Use>(&item.node))
      add_use(unit, *use);
    else
      declare(unit, item);
  }
  check_imports(unit);
  open_.pop_back();
  return &unit;
}

void Files::add_use(Unit& unit, const dsl::Use& use) {
  open_.back().use = use.path_where;
  const std::string name = use.quoted ? use.path : library_path(use.path);
  std::string why_not;
  std::optional<int32_t> file;
  if (loader_.load) file = loader_.load(name, !use.quoted, unit.file, why_not);
  if (!file) {
    Diagnostic& d = diagnostics_.error(
        use.path_where, use.quoted ? fmt::format("cannot use \"{}\"", use.path)
                                   : fmt::format("the library has no `{}`", use.path));
    d.primary.text = why_not;
    if (!use.quoted) d.help = library_.nearest_file(use.path);
    return;
  }
  const std::string& path = sources_.file(*file).path;
  auto known = units_.find(path);
  if (known != units_.end()) {
    const Unit* other = known->second.get();
    auto cycle =
        std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.unit == other; });
    if (cycle == open_.end()) {
      if (std::find(unit.used.begin(), unit.used.end(), other) == unit.used.end())
        unit.used.push_back(other);
      return;
    }
    std::string chain;
    for (auto it = cycle; it != open_.end(); ++it)
      chain += fmt::format("\"{}\" uses ", sources_.file(it->unit->file).path);
    Diagnostic& d = diagnostics_.error(use.path_where, "files use each other in a cycle");
    d.primary.text = fmt::format("{}\"{}\"", chain, path);
    for (auto it = cycle; it + 1 != open_.end(); ++it)
      d.others.push_back({it->use, "the cycle begins here"});
    d.help = "move what both need into a third file";
    return;
  }
  // A file that could not be read whole still declares what was read; its errors are reported.
  trees_.push_back(dsl::parse(sources_, *file, diagnostics_));
  unit.used.push_back(collect(*file, trees_.back()));
}

void Files::declare(Unit& unit, const dsl::Item& item) {
  const std::string doc = dsl::documentation(item.comments);
  if (const auto* sizes = std::get_if<dsl::SizeStatement>(&item.node)) {
    for (const dsl::Size& size : sizes->sizes) {
      auto [it, fresh] = unit.sizes.try_emplace(size.name.text, SizeDeclaration{&size, doc});
      if (fresh) continue;
      Diagnostic& d = diagnostics_.error(
          size.name.where, fmt::format("size `{}` is declared twice", size.name.text));
      d.others.push_back({it->second.size->name.where, "first here"});
    }
  } else if (const auto* function = std::get_if<dsl::Function>(&item.node)) {
    add_callable(unit, function->name, {nullptr, function, &unit, function->name.where, doc});
  } else if (const auto* block = std::get_if<dsl::Block>(&item.node)) {
    add_callable(unit, block->name, {block, nullptr, &unit, block->name.where, doc});
  } else if (const auto* update = std::get_if<dsl::Update>(&item.node)) {
    auto [it, fresh] =
        unit.updates.try_emplace(update->name.text, UpdateDeclaration{update, &unit});
    if (fresh) return;
    Diagnostic& d = diagnostics_.error(
        update->name.where, fmt::format("update `{}` is declared twice", update->name.text));
    d.others.push_back({it->second.update->name.where, "first here"});
  }
}

void Files::add_callable(Unit& unit, const dsl::Identifier& name, Callable callable) {
  if (ops::find(name.text)) {
    Diagnostic& d = diagnostics_.error(
        name.where, fmt::format("`{}` is a function of the language already", name.text));
    d.help = "choose another name";
    return;
  }
  auto [it, fresh] = unit.callables.try_emplace(name.text, callable);
  if (fresh) return;
  Diagnostic& d = diagnostics_.error(name.where, fmt::format("`{}` is declared twice", name.text));
  d.others.push_back({it->second.where, "first here"});
  d.help = "blocks, models and functions share one set of names";
}

void Files::check_imports(const Unit& unit) {
  std::map<std::string, const Callable*> seen;
  for (const auto& [name, callable] : unit.callables) seen[name] = &callable;
  for (const Unit* u : unit.used) {
    for (const auto& [name, callable] : u->callables) {
      auto [it, fresh] = seen.try_emplace(name, &callable);
      if (fresh) continue;
      Diagnostic& d =
          diagnostics_.error(it->second->where, fmt::format("`{}` is declared twice", name));
      d.others.push_back({callable.where, "also here, in a file that this one uses"});
      d.help = "rename one of them";
    }
  }
}

}  // namespace attn::elaborate
