// The statements of a block, one by one.
#include "compiler/elaborate/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
        e.help = suggestion(c->callee.text, scope.unit->callable_names());
        for (const dsl::Identifier& r : c->results) bind_tensor(r, scope, std::nullopt);
        continue;
      }
      call({callable, &c->arguments, c->results, c->as, s.where}, scope);
    } else if (std::get_if<dsl::StateStatement>(&s.node)) {
      m_.error(s.where, "`state` stands in an `update`").help =
          "what a model remembers from call to call is an input and an output of it";
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

void Expander::define(const dsl::Definition& d, const dsl::Statement& s, Scope& scope) {
  // `f = ffn(x)` is a call of a block when ffn is one.
  if (const auto* c = std::get_if<dsl::Call>(&d.value->node);
      c && d.indices.empty() && !d.leading && !d.condition) {
    const Callable* callable = scope.unit->find(c->callee.text);
    if (callable && callable->block) {
      call({callable, &c->arguments, {d.target}, {}, s.where}, scope);
      return;
    }
  }
  if (d.target.text.ends_with('\'')) {
    m_.error(d.target.where, fmt::format("`{}` stands in an `update`", d.target.text)).help =
        "in a model a name has one meaning: define another";
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
      scope.sizes[name] = *p;
    else
      scope.broken_sizes.insert(name);
  }
}

void Expander::parameters(const dsl::ParamStatement& statement, const dsl::Statement& s,
                          Scope& scope) {
  const std::string doc = dsl::documentation(s.comments);
  for (const dsl::Param& p : statement.params) {
    const bool fresh = claim(p.name, scope, false, p.type.bracketed);
    const std::string full = scope.path + p.name.text;
    const auto storage = storage_of(m_, p.type);
    bool good = fresh && storage;
    if (storage && !ir::is_real(ir::arithmetic_type(*storage))) {
      m_.error(p.type.dtype.where, "a parameter is real").help =
          "integers and truth values are inputs";
      good = false;
    }
    ir::Tensor tensor{.name = full, .role = ir::Role::parameter, .doc = doc, .where = p.name.where};
    if (storage) tensor.storage = *storage;
    if (p.type.leading) {
      m_.error(p.type.where, "the shape of a parameter is written in full").help = "name its sizes";
      good = false;
    }
    for (const dsl::ExprPtr& e : p.type.extents) {
      if (const auto extent = m_.size(e, scope))
        tensor.extents.push_back(*extent);
      else
        good = false;
    }
    if (p.initialiser) {
      if (const auto init = initialiser(p.initialiser, scope))
        tensor.init = *init;
      else
        good = false;
    }
    tensor.weight_name = p.weight_name.text;
    if (good) good = check_size_limits(tensor, p.name.where);
    if (good && !tensor.weight_name.empty()) m_.weight_names.emplace(full, p.weight_name.where);
    if (good) {
      const Span here = m_.calls.empty() ? p.name.where : m_.calls.back().where;
      auto [it, is_new] = m_.parameters.emplace(full, here);
      if (!is_new) {
        std::string path = scope.path;
        if (!path.empty()) path.pop_back();
        Diagnostic& d = m_.error(here, fmt::format("two calls name their parameters `{}.…`", path));
        d.primary.text = fmt::format("`{}` again", full);
        d.others.push_back({it->second, "first here"});
        d.help = "give each call a name: `… as NAME`";
        good = false;
      }
    }
    if (!fresh) continue;
    bind_tensor(p.name, scope,
                good ? std::optional(m_.new_tensor(std::move(tensor))) : std::nullopt);
  }
}

std::optional<ir::Initialiser> Expander::initialiser(const dsl::ExprPtr& e, Scope& scope) {
  using Kind = ir::Initialiser::Kind;
  constexpr struct {
    std::string_view name;
    Kind kind;
    size_t arguments;
    const char* written;
  } kWays[] = {{"zeros", Kind::zeros, 0, "zeros"},
               {"ones", Kind::ones, 0, "ones"},
               {"constant", Kind::constant, 1, "constant(value)"},
               {"normal", Kind::normal, 2, "normal(mean, deviation)"},
               {"uniform", Kind::uniform, 2, "uniform(least, greatest)"},
               {"xavier", Kind::xavier, 0, "xavier"},
               {"orthogonal", Kind::orthogonal, 0, "orthogonal"}};
  std::string name;
  std::vector<dsl::ExprPtr> arguments;
  if (const auto* n = std::get_if<dsl::Name>(&e->node)) name = n->text;
  if (const auto* c = std::get_if<dsl::Call>(&e->node)) {
    name = c->callee.text;
    for (const dsl::Argument& a : c->arguments) arguments.push_back(a.value);
  }
  std::vector<std::string> names;
  for (const auto& way : kWays) {
    names.emplace_back(way.name);
    if (way.name != name) continue;
    if (arguments.size() != way.arguments) {
      Diagnostic& d = m_.error(e->where, fmt::format("`{}` takes {} number{}", name, way.arguments,
                                                     way.arguments == 1 ? "" : "s"));
      d.help = fmt::format("write `{}`", way.written);
      return std::nullopt;
    }
    ir::Initialiser init{.kind = way.kind};
    for (size_t k = 0; k < arguments.size(); ++k) {
      const MaybeValue v = Statement::scalar(m_, scope, arguments[k], name);
      if (!v) return std::nullopt;
      // Sizes that are known when compiling may take part: normal(0, 1 / sqrt(D)).
      const ir::Expr number = ir::rewrite(v->expr, [&](const ir::Expr& x) {
        if (!x.is(ir::Kind::size)) return x;
        const auto n = m_.graph.known(x->size);
        return n ? ir::Expr(*n) : x;
      });
      if (number.is(ir::Kind::power) && number.args()[0].is(ir::Kind::literal) &&
          number.args()[1].is(ir::Kind::literal)) {
        (k == 0 ? init.a : init.b) =
            std::pow(number.args()[0]->number.value(), number.args()[1]->number.value());
      } else if (number.is(ir::Kind::literal) && number.type() != ir::Type::boolean) {
        (k == 0 ? init.a : init.b) = number->number.value();
      } else {
        m_.error(arguments[k]->where, "a number that is known when compiling is needed here");
        return std::nullopt;
      }
    }
    return init;
  }
  Diagnostic& d = m_.error(e->where, name.empty() ? std::string("this says not how to initialise")
                                                  : fmt::format("no way to initialise is called "
                                                                "`{}`",
                                                                name));
  d.help = suggestion(name, names);
  if (d.help.empty())
    d.help = "there are zeros, ones, constant, normal, uniform, xavier, orthogonal";
  return std::nullopt;
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
  if (*rounds > kMostRounds)
    throw LimitError(fmt::format("a `repeat` of {} rounds; the limit is {}", *rounds, kMostRounds));
  if (scope.find(r.index.text) || m_.is_size_name(r.index.text, scope)) {
    m_.error(r.index.where, fmt::format("`{}` has a meaning already", r.index.text));
    return;
  }
  const std::string stem = r.as.text.empty() ? r.index.text : r.as.text;
  const int errors_before = m_.error_count();
  for (int64_t round = 0; round < *rounds; ++round) {
    Scope inner;
    inner.unit = scope.unit;
    inner.outer = &scope;
    inner.path = fmt::format("{}{}.{}.", scope.path, stem, round);
    inner.sizes[r.index.text] = ir::Poly(round);
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
