// The statements of a block, one by one.
#include "compiler/elaborate/blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::elaborate {

void Expander::body(const std::vector<dsl::Statement>& statements, Scope& scope) {
  for (const dsl::Statement& s : statements) scope.statements.push_back(&s);
  for (const dsl::Statement& s : statements) {
    m_.count_step();
    if (const auto* x = std::get_if<dsl::SizeStatement>(&s.node)) {
      local_sizes(*x, scope);
    } else if (const auto* p = std::get_if<dsl::ParamStatement>(&s.node)) {
      parameters(*p, s, scope);
    } else if (const auto* d = std::get_if<dsl::Definition>(&s.node)) {
      define(*d, s, scope);
    } else if (const auto* c = std::get_if<dsl::BlockCall>(&s.node)) {
      const Callable* callable = scope.unit->find(c->callee.text);
      if (!callable || !callable->block) {
        Diagnostic& e =
            m_.error(c->callee.where, fmt::format("there is no block `{}`", c->callee.text));
        e.help = help_for_callee(*scope.unit, c->callee.text);
        for (const dsl::Identifier& r : c->results) bind_tensor(r, scope, std::nullopt);
        continue;
      }
      call({callable, &c->arguments, c->results, c->as, c->uses, c->weight_name, s.where}, scope);
    } else if (const auto* states_here = std::get_if<dsl::StateStatement>(&s.node)) {
      states(*states_here, scope);
    } else if (const auto* r = std::get_if<dsl::Repeat>(&s.node)) {
      repeat(*r, scope);
    } else {
      scan(std::get<dsl::Scan>(s.node), scope, s.where);
    }
  }
}

bool Expander::rebinds(const std::string& name, const Scope& scope) const {
  return scope.outer && scope.outer->find(name);
}

// What is read without subscripts is told apart from a size by its name alone.
bool Expander::check_not_size(const dsl::Identifier& name, const Scope& scope) {
  if (!m_.is_size_name(name.text, scope)) return true;
  m_.error(name.where, fmt::format("`{}` is a size, and cannot name a number too", name.text))
      .help = "only a tensor with subscripts may be called like a size";
  return false;
}

// Whether the name is free to get a meaning here.
bool Expander::claim(const dsl::Identifier& name, Scope& scope, bool may_rebind, bool subscripted) {
  Binding* b = scope.find(name.text);
  if (!subscripted && !(b && b->kind == Binding::Kind::poisoned) && !check_not_size(name, scope)) {
    bind_tensor(name, scope, std::nullopt);
    return false;
  }
  if (!b || b->kind == Binding::Kind::poisoned) return true;
  if (may_rebind && rebinds(name.text, scope)) return true;
  Diagnostic& d = m_.error(name.where, fmt::format("`{}` is defined twice", name.text));
  d.others.push_back({b->where, "first here"});
  d.help = "a name has one meaning; only `repeat` binds anew";
  return false;
}

std::string Expander::target_name(const std::string& name, const Scope& scope) const {
  if (auto it = scope.full_names.find(name); it != scope.full_names.end()) return it->second;
  return scope.path + name;
}

void Expander::bind_tensor(const dsl::Identifier& name, Scope& scope,
                           std::optional<ir::TensorId> tensor) {
  Binding b{.kind = Binding::Kind::poisoned, .where = name.where};
  if (tensor) {
    b.kind = Binding::Kind::tensor;
    b.tensor = *tensor;
  }
  scope.names[name.text] = b;
}

std::optional<ir::Tensor> Expander::declared(const std::string& full_name,
                                             const dsl::Identifier& name, const dsl::Type& type,
                                             ir::Role role, std::string_view what,
                                             std::string_view help, const Scope& scope) {
  bool good = true;
  if (type.leading) {
    m_.error(type.where, fmt::format("the shape of {} is written in full", what)).help = help;
    good = false;
  }
  ir::Tensor tensor{.name = full_name, .role = role, .where = name.where};
  const auto storage = storage_of(m_, type);
  good = good && storage;
  if (storage) tensor.storage = *storage;
  for (const dsl::ExprPtr& e : type.extents) {
    if (const auto extent = m_.size(e, scope))
      tensor.extents.push_back(*extent);
    else
      good = false;
  }
  good = good && check_size_limits(tensor, name.where);
  return good ? std::optional(std::move(tensor)) : std::nullopt;
}

void Expander::define(const dsl::Definition& d, const dsl::Statement& s, Scope& scope) {
  // `f = ffn(x)` is a call of a block when ffn is one.
  if (const auto* c = std::get_if<dsl::Call>(&d.value->node);
      c && d.indices.empty() && !d.leading && !d.condition) {
    const Callable* callable = scope.unit->find(c->callee.text);
    if (callable && callable->block) {
      call({callable, &c->arguments, {d.target}, {}, {}, {}, s.where}, scope);
      return;
    }
  }
  if (d.target.text.ends_with('\'')) {
    define_next(d, s, scope);
    return;
  }
  if (d.start && !scope.scan)
    m_.error(d.start->where, "`from` stands in a `scan`, where there is a first step").help =
        "write `scan t: T { … }` around the definition";
  if (const auto at = index_of_rounds(d, scope)) {
    stack(d, s, scope, *at);
    return;
  }
  // What is read one step back has its tensor before its definition.
  const auto own = scope.names.find(d.target.text);
  Carried* carried = own == scope.names.end() ? nullptr : own->second.carried;
  const bool awaited = carried && carried->definition == &d;
  const bool fresh = awaited || claim(d.target, scope, true, d.leading || !d.indices.empty());
  Statement statement(m_, scope, d, s.where, target_name(d.target.text, scope));
  const auto tensor = statement.run();
  if (!fresh) return;
  const bool used = awaited && scope.names[d.target.text].used;
  bind_tensor(d.target, scope, tensor);
  if (awaited && tensor) {
    carried->is_defined = true;
    scope.names[d.target.text].carried = carried;
    scope.names[d.target.text].used = used;
  }
  if (tensor && scope.own) definitions_.emplace(*tensor, d.target.where);
}

void Expander::local_sizes(const dsl::SizeStatement& sizes, Scope& scope) {
  for (const dsl::Size& size : sizes.sizes) {
    const std::string& name = size.name.text;
    if (scope.find_size(name) || scope.find(name)) {
      m_.error(size.name.where, fmt::format("`{}` is defined twice", name));
      continue;
    }
    if (!size.value) {
      m_.error(size.name.where, fmt::format("size `{}` has no value", name)).help =
          "sizes that are known only when the kernels run are declared outside of blocks";
      scope.broken_sizes.insert(name);
      continue;
    }
    if (const auto p = m_.size(size.value, scope))
      m_.bind_size(scope, name, *p, size.value, scope);
    else
      scope.broken_sizes.insert(name);
  }
}

}  // namespace attn::elaborate
