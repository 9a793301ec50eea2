// The interface of a model: its inputs, outputs, and sizes that a call must be able to find.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

constexpr size_t kMostDimensions = 8;

bool has_capital(const std::string& name) {
  return std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::isupper(c); });
}
bool has_small(const std::string& name) {
  return std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c); });
}

}  // namespace

void Expander::expand_model(const Callable& model) {
  const dsl::Block& block = *model.block;
  m_.graph.name = block.name.text;
  if (!check_declaration(block)) return;
  m_.trains = block.kind == dsl::BlockKind::train_model;
  Scope scope;
  scope.unit = model.home;
  scope.own = true;
  model_inputs(block, scope);
  for (const dsl::Output& o : block.outputs) {
    scope.full_names[o.name.text] = o.name.text;
    scope.output_types[o.name.text] = &o.type;
  }
  body(block.body, scope);
  model_outputs(block, scope);
  state_outputs();
  // Sizes that nothing reads may be divided by 0 all the same.
  Scope file;
  file.unit = &m_.main;
  for (const auto& [name, declared] : m_.main.sizes) (void)m_.size_named(name, file);
  if (m_.has_errors()) return;
  check_sizes_are_read(block);
  if (m_.has_errors()) return;
  warn_unused(scope);
  warn_names(scope);
}

void Expander::model_inputs(const dsl::Block& block, Scope& scope) {
  for (const dsl::Size& s : block.sizes) {
    if (!s.value) {
      m_.error(s.name.where, fmt::format("size `{}` of a model has no value", s.name.text)).help =
          "nobody calls a model with sizes: declare it outside, or give it a value here";
      scope.broken_sizes.insert(s.name.text);
    } else if (const auto p = m_.size(s.value, scope)) {
      m_.bind_size(scope, s.name.text, *p, s.value, scope);
    } else {
      scope.broken_sizes.insert(s.name.text);
    }
  }
  for (const dsl::Input& input : block.inputs) {
    if (!claim(input.name, scope, false, input.type.bracketed)) continue;
    const auto tensor =
        declared(input.name.text, input.name, input.type, ir::Role::input, "a model's input",
                 "only the inputs of blocks have `...`: a call says what it stands for", scope);
    bind_tensor(input.name, scope, tensor ? std::optional(m_.new_tensor(*tensor)) : std::nullopt);
  }
}

void Expander::model_outputs(const dsl::Block& block, Scope& scope) {
  for (const dsl::Output& o : block.outputs) {
    const char* what = o.probe ? "probe" : "output";
    Binding* b = scope.find(o.name.text);
    if (!b) {
      m_.error(o.name.where, fmt::format("{} `{}` is never defined", what, o.name.text)).help =
          suggestion(o.name.text, scope.tensor_names());
      continue;
    }
    b->used = true;
    if (b->kind != Binding::Kind::tensor) {
      ATTN_CHECK(m_.has_errors(), "an output that is lost without an error: " + o.name.text);
      continue;
    }
    ir::Tensor& t = m_.graph[b->tensor];
    if (t.role == ir::Role::parameter) {
      m_.error(o.name.where, fmt::format("{} `{}` is a parameter", what, o.name.text))
          .others.push_back({t.where, "declared here"});
      continue;
    }
    if (t.role == ir::Role::input) {
      m_.error(o.name.where, fmt::format("{} `{}` is a state", what, o.name.text)).help =
          fmt::format(
              "`{}` is written in place; define an output of its own to read it, "
              "`y[…] = {}'[…]`",
              o.name.text, o.name.text);
      continue;
    }
    t.role = ir::Role::output;
    if (t.name != o.name.text) {
      if (const auto holder = m_.graph.find(o.name.text))
        m_.rename(*holder, o.name.text + ".first");
      m_.rename(b->tensor, o.name.text);
    }
    check_size_limits(m_.graph[b->tensor], o.name.where);
    if (!o.type.bracketed) warn_of_order(o.name, m_.graph[b->tensor]);
    m_.graph.outputs.push_back({o.name.text, b->tensor, o.probe});
  }
  if (std::all_of(block.outputs.begin(), block.outputs.end(),
                  [](const dsl::Output& o) { return o.probe; }))
    m_.error(block.name.where, fmt::format("model `{}` has no output", block.name.text)).help =
        block.outputs.empty() ? "name one after `->`"
                              : "a probe is computed beside the outputs: name one after `->`";
}

// An output that has the extents of an input in another order may be a slip of subscripts. Where
// its shape is declared it was meant.
void Expander::warn_of_order(const dsl::Identifier& output, const ir::Tensor& t) {
  const auto same = [&](const ir::Poly& a, const ir::Poly& b) { return m_.is_one_extent(a, b); };
  const ir::Tensor* other = nullptr;
  for (const ir::Tensor& input : m_.graph.tensors) {
    if (input.role != ir::Role::input || input.extents.size() != t.extents.size()) continue;
    if (std::ranges::equal(input.extents, t.extents, same)) return;
    if (std::ranges::is_permutation(input.extents, t.extents, same)) other = &input;
  }
  if (!other) return;
  const std::string shape = m_.shape(m_.with_numbers(t));
  Diagnostic& d =
      m_.warning(output.where, "shapes",
                 fmt::format("`{}` is {}, in another order than `{}`", t.name, shape, other->name));
  d.others.push_back({other->where, fmt::format("`{}` is {}", other->name, m_.shape(*other))});
  d.help = fmt::format("if that is meant, declare it: `-> {}: {}`", t.name, shape);
}

bool Expander::check_size_limits(const ir::Tensor& t, Span where) {
  if (t.extents.size() > kMostDimensions) {
    m_.error(where, fmt::format("`{}` has {} dimensions", t.name, t.extents.size())).help =
        fmt::format("inputs, parameters and outputs have at most {}", kMostDimensions);
    return false;
  }
  __int128 elements = 1;
  bool all = true;
  for (const ir::Poly& p : t.extents) {
    const auto n = m_.graph.known(p);
    all = all && n;
    if (!n) continue;
    if (*n < 0 || *n > std::numeric_limits<int32_t>::max()) {
      Diagnostic& d = m_.error(where, fmt::format("a dimension of `{}` would be {}", t.name, *n));
      d.primary.text = m_.shape(t);
      d.help = "a dimension lies between 0 and 2147483647";
      return false;
    }
    elements *= std::max<int64_t>(*n, 1);
    if (elements > (__int128{1} << 59)) {
      m_.error(where, fmt::format("`{}` has too many elements to address", t.name)).primary.text =
          m_.shape(t);
      return false;
    }
  }
  return true;
}

// Every size that is known only at a call must be found from the extents of what the call gives:
// where it stands alone, or from an extent that is linear in it when all else in it is known.
void Expander::check_sizes_are_read(const dsl::Block& block) {
  const ir::Graph& g = m_.graph;
  std::set<ir::SizeId> wanted;
  const auto want = [&](const ir::Poly& p) {
    std::vector<ir::Poly> todo{g.expand(p)};
    while (!todo.empty()) {
      const ir::Poly here = todo.back();
      todo.pop_back();
      for (const auto& [monomial, c] : here.terms()) {
        for (auto [id, n] : monomial) {
          if (!g[id].quotient) {
            wanted.insert(id);
            continue;
          }
          todo.push_back(g.expand(g[id].quotient->first));
          todo.push_back(g.expand(g[id].quotient->second));
        }
      }
    }
  };
  for (const ir::Tensor& t : g.tensors)
    for (const ir::Poly& p : t.extents) want(p);
  for (const ir::Index& i : g.indices) want(i.extent);
  for (const ir::Definition& d : g.definitions) {
    std::vector<ir::Expr> all(d.guard.begin(), d.guard.end());
    all.push_back(d.body);
    all.insert(all.end(), d.position.begin(), d.position.end());
    for (const ir::Expr& e : all) {
      ir::visit(e, [&](const ir::Expr& x) {
        if (x.is(ir::Kind::size)) want(x->size);
        return true;
      });
    }
  }
  std::set<ir::SizeId> found;
  for (bool more = true; more;) {
    more = false;
    for (const ir::Tensor& t : g.tensors) {
      if (t.role != ir::Role::input && t.role != ir::Role::parameter) continue;
      for (const ir::Poly& extent : t.extents) {
        const ir::Poly p = g.expand(extent);
        std::set<ir::SizeId> open;
        bool linear = true;
        for (const auto& [monomial, c] : p.terms()) {
          int degree = 0;
          for (auto [id, n] : monomial) {
            if (found.count(id)) continue;
            open.insert(id);
            degree += n;
            linear = linear && !g[id].quotient;
          }
          linear = linear && degree <= 1;
        }
        if (open.size() == 1 && linear) more = found.insert(*open.begin()).second || more;
      }
    }
  }
  for (const ir::SizeId id : wanted) {
    if (found.count(id)) continue;
    Diagnostic& d = m_.error(
        g[id].where, fmt::format("size `{}` of model `{}` cannot be read from its arguments",
                                 g[id].name, block.name.text));
    d.others.push_back({block.name.where, "no extent of an input or a parameter tells it"});
    d.help = fmt::format("give it a value, `size {} = …`, or an input that has it", g[id].name);
  }
}

void Expander::warn_unused(const Scope& scope) {
  for (const auto& [name, binding] : scope.names) {
    if (binding.used || binding.kind != Binding::Kind::tensor) continue;
    const ir::Tensor& t = m_.graph[binding.tensor];
    if (t.role == ir::Role::input)
      m_.warning(binding.where, "unused", fmt::format("input `{}` is never read", name));
    else if (t.role == ir::Role::parameter)
      m_.warning(binding.where, "unused", fmt::format("parameter `{}` is never read", name));
    else if (definitions_.count(binding.tensor))
      m_.warning(binding.where, "unused", fmt::format("`{}` is never read", name));
  }
}

// By custom sizes are capital letters, tensors and indices small ones.
void Expander::warn_names(const Scope& scope) {
  for (const auto& [name, declared] : scope.unit->sizes)
    if (!has_capital(name))
      m_.warning(declared.size->name.where, "names",
                 fmt::format("size `{}` reads like a tensor or an index", name))
          .help = "by custom sizes have capital letters";
  for (const auto& [name, binding] : scope.names) {
    if (binding.kind == Binding::Kind::tensor && has_capital(name) && !has_small(name))
      m_.warning(binding.where, "names", fmt::format("`{}` reads like a size", name)).help =
          "by custom tensors have small letters";
  }
}

}  // namespace attn::elaborate
