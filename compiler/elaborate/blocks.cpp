// The statements of a block, one by one.
#include "compiler/elaborate/blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::elaborate {
namespace {

constexpr int64_t kMostRounds = 10'000;

}  // namespace

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

void Expander::repeat(const dsl::Repeat& r, Scope& scope) {
  const auto count = m_.size(r.count, scope);
  if (!count) return;
  const auto rounds = m_.graph.known(*count);
  if (!rounds) {
    Diagnostic& d = m_.error(r.count->where, "the count of a `repeat` is known when compiling");
    d.primary.text = fmt::format("`{}` is known only when the kernels run", m_.text(*count));
    d.help = fmt::format("give it a value: `size {} = …`", m_.source(r.count->where));
    return;
  }
  if (*rounds < 0) {
    m_.error(r.count->where, fmt::format("`repeat` {} times", *rounds));
    return;
  }
  if (*rounds > kMostRounds) {
    m_.limit(r.count->where, fmt::format("a `repeat` of {} rounds", *rounds)).help =
        fmt::format("the limit is {}; the steps of a recurrence are a `scan`", kMostRounds);
    return;
  }
  if (scope.find(r.index.text) || m_.is_size_name(r.index.text, scope)) {
    m_.error(r.index.where, fmt::format("`{}` has a meaning already", r.index.text));
    return;
  }
  if (r.as.text == "_") {
    m_.error(r.as.where, "a `repeat` has a name").help = "its rounds are `NAME.0`, `NAME.1`, …";
    return;
  }
  if (!r.weight_name.text.empty() &&
      r.weight_name.text.find("{" + r.index.text + "}") == std::string::npos) {
    m_.error(r.weight_name.where, "all rounds have one name in a weight file").help =
        fmt::format("put the round into it: `@ \"{}.{{{}}}\"`", r.weight_name.text, r.index.text);
    return;
  }
  const std::string stem = r.as.text.empty() ? r.index.text : r.as.text;
  const int errors_before = m_.error_count();
  for (int64_t round = 0; round < *rounds; ++round) {
    Scope inner;
    inner.unit = scope.unit;
    inner.outer = &scope;
    const std::string own = fmt::format("{}.{}.", stem, round);
    inner.path = scope.path + own;
    inner.parameters = scope.parameters + own;
    inner.weights = scope.weights + own;
    inner.weights_where = scope.weights_where;
    inner.shares = scope.shares;
    inner.sizes[r.index.text] = ir::Poly(round);
    if (!r.weight_name.text.empty()) {
      const auto given = m_.weight_name(r.weight_name, inner);
      if (!given) return;
      inner.weights = scope.weights + *given + ".";
      inner.weights_where = r.weight_name.where;
    }
    body(r.body, inner);
    for (auto& [name, binding] : inner.names) {
      Binding* outside = scope.find(name);
      if (!outside) continue;
      binding.used = binding.used || outside->used;
      // Names that had no meaning before, and got an error, keep silent from now on.
      scope.names[name] = binding;
    }
    // The other rounds would say the same.
    if (m_.error_count() > errors_before) break;
  }
}

}  // namespace attn::elaborate
