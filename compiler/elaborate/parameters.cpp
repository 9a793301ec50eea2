// Parameters: how they start, what they are called in the model and in a weight file, and which
// calls share them.
#include <fmt/format.h>

#include <cmath>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {

std::optional<std::string> ModelState::weight_name(const dsl::Identifier& name,
                                                   const Scope& scope) {
  std::string result;
  const std::string& text = name.text;
  for (size_t k = 0; k < text.size(); ++k) {
    const size_t close = text[k] == '{' ? text.find('}', k) : std::string::npos;
    if (text[k] == '}' || (text[k] == '{' && close == std::string::npos)) {
      error(name.where, "a bracket stands alone").help =
          "`{l}` stands for the value of a size, such as the index of a `repeat`";
      return std::nullopt;
    }
    if (text[k] != '{') {
      result += text[k];
      continue;
    }
    const std::string size_name = text.substr(k + 1, close - k - 1);
    const auto p = size_named(size_name, scope);
    const auto value = p ? graph.known(*p) : std::nullopt;
    if (!value) {
      Diagnostic& d =
          error(name.where, p ? fmt::format("`{}` is known only when the kernels run", size_name)
                              : fmt::format("there is no index or size `{}` here", size_name));
      d.help = p ? "a name is made of sizes that are known when compiling"
                 : "a name in a block is relative to that of its call: `@` on the call, or on the "
                   "`repeat` around it, has the index";
      return std::nullopt;
    }
    result += std::to_string(*value);
    k = close;
  }
  return result;
}

void Expander::parameters(const dsl::ParamStatement& statement, const dsl::Statement& s,
                          Scope& scope) {
  const std::string doc = dsl::documentation(s.comments);
  for (const dsl::Param& p : statement.params) {
    const bool fresh = claim(p.name, scope, false, p.type.bracketed);
    auto tensor = declared(scope.parameters + p.name.text, p.name, p.type, ir::Role::parameter,
                           "a parameter", "name its sizes", scope);
    bool good = fresh && tensor;
    if (tensor && !ir::is_real(ir::arithmetic_type(tensor->storage))) {
      m_.error(p.type.dtype.where, "a parameter is real").help =
          "integers and truth values are inputs";
      good = false;
    }
    if (p.initialiser) {
      const auto init = initialiser(p.initialiser, scope);
      good = good && init;
      if (good) tensor->init = *init;
    }
    if (tensor) tensor->doc = doc;
    std::optional<ir::TensorId> id;
    if (good) id = scope.shares ? shared_parameter(*tensor) : own_parameter(*tensor, p, scope);
    if (fresh) bind_tensor(p.name, scope, id);
  }
}

std::optional<ir::TensorId> Expander::own_parameter(ir::Tensor tensor, const dsl::Param& p,
                                                    const Scope& scope) {
  const std::string full = tensor.name;
  const bool is_named = !p.weight_name.text.empty();
  const auto own = is_named ? m_.weight_name(p.weight_name, scope) : p.name.text;
  if (!own) return std::nullopt;
  if (scope.weights + *own != full) {
    tensor.weight_name = scope.weights + *own;
    m_.weight_names.emplace(full, is_named ? p.weight_name.where : scope.weights_where);
  }
  const Span here = m_.calls.empty() ? p.name.where : m_.calls.back().where;
  const auto [it, is_new] = m_.parameters.emplace(full, here);
  if (!is_new) {
    std::string path = scope.path;
    if (!path.empty()) path.pop_back();
    Diagnostic& d =
        m_.error(here, path.empty() ? fmt::format("two parameters are `{}`", full)
                                    : fmt::format("two calls name their parameters `{}.…`", path));
    d.primary.text = fmt::format("`{}` again", full);
    d.others.push_back({it->second, "first here"});
    d.help =
        "give each call a name, `… as NAME`; `… using NAME` has the parameters of the call of that "
        "name";
    return std::nullopt;
  }
  if (m_.name_taken(full)) {
    m_.error(here, fmt::format("the parameter `{}` has the name of another tensor", full)).help =
        "give the call a name: `… as NAME`";
    return std::nullopt;
  }
  return m_.new_tensor(std::move(tensor));
}

std::optional<ir::TensorId> Expander::shared_parameter(const ir::Tensor& tensor) {
  const auto id = m_.graph.find(tensor.name);
  if (!m_.parameters.count(tensor.name) || !id) {
    if (m_.has_errors()) return std::nullopt;  // its own call may have had one
    m_.error(m_.calls.back().where,
             fmt::format("the call whose parameters these are has no `{}`", tensor.name))
        .help = "calls share parameters where all their sizes agree";
    return std::nullopt;
  }
  const ir::Tensor first = m_.with_numbers(m_.graph[*id]);
  bool same = first.storage == tensor.storage && first.extents.size() == tensor.extents.size();
  for (size_t k = 0; same && k < first.extents.size(); ++k)
    same = m_.graph.same(first.extents[k], tensor.extents[k]);
  if (same) return id;
  Diagnostic& d = m_.error(m_.calls.back().where,
                           fmt::format("`{}` has another shape in this call", tensor.name));
  d.primary.text =
      fmt::format("{}{} here", ir::name_of(tensor.storage), m_.shape(m_.with_numbers(tensor)));
  d.others.push_back({m_.parameters.at(tensor.name),
                      fmt::format("{}{} here", ir::name_of(first.storage), m_.shape(first))});
  d.help = "calls share parameters where all their sizes agree";
  return std::nullopt;
}

// What stands before the names of what a call expands to.
bool Expander::name_call(const CallSite& site, Scope& scope, Scope& inner) {
  const dsl::Identifier& result = site.results.front();
  std::string name = site.as.text.empty() && !rebinds(result.text, scope) ? result.text + "."
                     : site.as.text.empty() || site.as.text == "_"        ? ""
                                                                          : site.as.text + ".";
  inner.path = scope.path + name;
  if (!site.uses.text.empty()) return share_call(site, scope, inner);
  inner.parameters = scope.parameters + name;
  inner.weights = scope.weights + name;
  inner.weights_where = scope.weights_where;
  inner.shares = scope.shares;
  if (!site.weight_name.text.empty()) {
    const auto given = m_.weight_name(site.weight_name, scope);
    if (!given) return false;
    inner.weights = scope.weights + *given + ".";
    inner.weights_where = site.weight_name.where;
  }
  if (!name.empty())
    m_.named_calls.emplace(inner.parameters, NamedCall{site.callable, site.where, {}});
  return true;
}

// The call that `using` names stands above, in the same body or around a `repeat`.
bool Expander::share_call(const CallSite& site, Scope& scope, Scope& inner) {
  inner.shares = true;
  std::vector<std::string> names;
  for (const Scope* s = &scope; s; s = s->outer) {
    inner.parameters = s->parameters + site.uses.text + ".";
    for (const auto& [name, call] : m_.named_calls)
      if (call.callable == site.callable && name.starts_with(s->parameters))
        names.push_back(name.substr(s->parameters.size(), name.size() - s->parameters.size() - 1));
    const auto found = m_.named_calls.find(inner.parameters);
    if (found == m_.named_calls.end()) continue;
    if (found->second.callable == site.callable) return true;
    Diagnostic& d =
        m_.error(site.uses.where, fmt::format("`{}` is the call of another block", site.uses.text));
    d.others.push_back({found->second.where, "this one"});
    d.help = "calls of one block share parameters";
    return false;
  }
  Diagnostic& d =
      m_.error(site.uses.where, fmt::format("no call above is named `{}`", site.uses.text));
  d.help = suggestion(site.uses.text, names);
  if (d.help.empty())
    d.help = fmt::format("the first call has the parameters: `… as {}`", site.uses.text);
  return false;
}

bool Expander::check_shared_sizes(const CallSite& site, const Scope& inner) {
  const auto found = m_.named_calls.find(inner.parameters);
  if (found == m_.named_calls.end()) return true;
  std::map<std::string, ir::Poly>& first = found->second.sizes;
  for (const dsl::Size& s : site.callable->block->sizes) {
    const ir::Poly* bound = inner.find_size(s.name.text);
    if (!bound) continue;
    const ir::Poly size = m_.with_numbers(*bound);
    const auto [it, is_new] = first.try_emplace(s.name.text, size);
    if (is_new || m_.graph.same(it->second, size)) continue;
    Diagnostic& d =
        m_.error(site.where, fmt::format("`{}` is {} here, and {} in the call whose "
                                         "parameters these are",
                                         s.name.text, m_.text(size), m_.text(it->second)));
    d.others.push_back({found->second.where, "that call"});
    d.help = "calls share parameters where all their sizes agree";
    return false;
  }
  return true;
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

}  // namespace attn::elaborate
