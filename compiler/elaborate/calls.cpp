// Calls of blocks: what their inputs and sizes stand for, and what their outputs become.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

constexpr size_t kDeepestCalls = 100;

std::string signature(const dsl::Block& block) {
  std::string out;
  for (const dsl::Input& i : block.inputs) out += (out.empty() ? "" : ", ") + i.name.text;
  for (const dsl::Size& s : block.sizes)
    out += fmt::format("{}{} = …", out.empty() ? "" : ", ", s.name.text);
  return fmt::format("{}({})", block.name.text, out);
}

// The name itself, or one made from it because it was taken: "y.2".
bool is_variant(const std::string& name, const std::string& wanted) {
  if (name == wanted) return true;
  return name.starts_with(wanted + ".") &&
         std::all_of(name.begin() + static_cast<int64_t>(wanted.size()) + 1, name.end(),
                     [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

// Names that a block's head gives twice.
bool Expander::check_declaration(const dsl::Block& block) {
  std::map<std::string, Span> seen;
  bool good = true;
  auto add = [&](const dsl::Identifier& name, const char* what) {
    auto [it, fresh] = seen.emplace(name.text, name.where);
    if (fresh) return;
    Diagnostic& d = m_.error(name.where, fmt::format("`{}` is named twice", name.text));
    d.others.push_back({it->second, "first here"});
    if (*what) d.help = what;
    good = false;
  };
  for (const dsl::Input& i : block.inputs) add(i.name, "");
  for (const dsl::Size& s : block.sizes) add(s.name, "");
  for (const dsl::Output& o : block.outputs)
    add(o.name, "an output has a definition of its own in the body");
  for (const dsl::Output& o : block.outputs) {
    if (!o.probe || block.kind != dsl::BlockKind::block) continue;
    m_.error(o.name.where, "only a model has probes").help = fmt::format(
        "make `{}` an output of the block; the model that calls it names its result as a probe",
        o.name.text);
    good = false;
  }
  return good;
}

bool Expander::is_open(const Callable& callable, Span where) {
  auto open = std::find_if(m_.calls.begin(), m_.calls.end(),
                           [&](const OpenCall& c) { return c.callable == &callable; });
  if (open == m_.calls.end()) return false;
  std::string chain;
  for (auto it = open; it != m_.calls.end(); ++it)
    chain += fmt::format("`{}` calls ", it->callable->block->name.text);
  Diagnostic& d = m_.error(where, "a block may not call itself");
  d.primary.text = fmt::format("{}`{}`", chain, callable.block->name.text);
  d.help = "`repeat` applies a block several times";
  return true;
}

void Expander::call(const CallSite& site, Scope& scope) {
  const dsl::Block& block = *site.callable->block;
  bool good = check_declaration(block);
  std::vector<bool> fresh;
  for (const dsl::Identifier& r : site.results) fresh.push_back(claim(r, scope, true, true));
  if (is_open(*site.callable, site.where)) good = false;
  if (m_.calls.size() >= kDeepestCalls)
    throw LimitError(fmt::format("blocks call each other more than {} deep", kDeepestCalls));
  if (good && site.results.size() != block.outputs.size()) {
    std::string names;
    for (const dsl::Output& o : block.outputs) names += (names.empty() ? "" : ", ") + o.name.text;
    Diagnostic& d = m_.error(
        site.where, fmt::format("`{}` has {} result{}, and here {} {}", block.name.text,
                                block.outputs.size(), block.outputs.size() == 1 ? "" : "s",
                                site.results.size() == 1 ? "is" : "are", site.results.size()));
    d.others.push_back({block.name.where, "declared here"});
    d.help = fmt::format("write `{} = {}(…)`",
                         block.outputs.size() == 1 ? names : fmt::format("({})", names),
                         block.name.text);
    good = false;
  }
  Scope inner;
  inner.unit = site.callable->home;
  inner.first_size = {static_cast<int32_t>(m_.graph.sizes.size())};
  good = name_call(site, scope, inner) && good;
  const bool bound = bind_arguments(site, scope, inner) && check_shared_sizes(site, inner);
  if (!good || !bound) {
    for (size_t k = 0; k < site.results.size(); ++k)
      if (fresh[k]) bind_tensor(site.results[k], scope, std::nullopt);
    return;
  }
  for (size_t k = 0; k < block.outputs.size(); ++k) {
    const dsl::Output& o = block.outputs[k];
    inner.full_names[o.name.text] = target_name(site.results[k].text, scope);
    inner.output_types[o.name.text] = &o.type;
  }
  const int32_t first_tensor = static_cast<int32_t>(m_.graph.tensors.size());
  m_.calls.push_back({site.callable, site.where});
  body(block.body, inner);
  m_.calls.pop_back();
  collect_outputs(site, inner, scope, first_tensor);
}

void Expander::collect_outputs(const CallSite& site, Scope& inner, Scope& caller,
                               int32_t first_tensor) {
  const dsl::Block& block = *site.callable->block;
  for (size_t k = 0; k < block.outputs.size(); ++k) {
    const dsl::Identifier& name = block.outputs[k].name;
    const dsl::Identifier& result = site.results[k];
    if (const Binding* old = caller.find(result.text);
        old && old->kind != Binding::Kind::poisoned && !rebinds(result.text, caller))
      continue;  // defined twice: reported
    const Binding* b = inner.find(name.text);
    if (!b) m_.error(name.where, fmt::format("output `{}` is never defined", name.text));
    if (!b || b->kind != Binding::Kind::tensor) {
      bind_tensor(result, caller, std::nullopt);
      continue;
    }
    // Where `repeat` bound the output anew, the last tensor carries the name of the result.
    const std::string& wanted = inner.full_names.at(name.text);
    if (b->tensor.value >= first_tensor && m_.graph[b->tensor].role == ir::Role::interior &&
        !is_variant(m_.graph[b->tensor].name, wanted)) {
      if (const auto holder = m_.graph.find(wanted)) m_.rename(*holder, wanted + ".first");
      m_.rename(b->tensor, wanted);
    }
    m_.graph[b->tensor] = m_.with_numbers(m_.graph[b->tensor], inner.first_size);
    const bool good = m_.is_subscripted(*b) || check_not_size(result, caller);
    bind_tensor(result, caller, good ? std::optional(b->tensor) : std::nullopt);
  }
}

bool Expander::bind_arguments(const CallSite& site, Scope& caller, Scope& inner) {
  const dsl::Block& block = *site.callable->block;
  std::map<std::string, dsl::ExprPtr> given;
  bool good = true;
  size_t position = 0;
  for (const dsl::Argument& a : *site.arguments) {
    std::string name = a.name.text;
    if (name.empty()) {
      if (position >= block.inputs.size()) {
        Diagnostic& d = m_.error(
            a.value->where, fmt::format("`{}` takes {} tensor{}", block.name.text,
                                        block.inputs.size(), block.inputs.size() == 1 ? "" : "s"));
        d.others.push_back({block.name.where, "declared here"});
        d.help = fmt::format("it is called as `{}`", signature(block));
        if (!block.sizes.empty() && m_.size(a.value, caller, true))
          d.help = fmt::format("a size is given by its name: `{} = {}`", block.sizes[0].name.text,
                               m_.source(a.value->where));
        return false;
      }
      name = block.inputs[position++].name.text;
    }
    const Span where = a.name.text.empty() ? a.value->where : a.name.where;
    const bool input = std::any_of(block.inputs.begin(), block.inputs.end(),
                                   [&](const dsl::Input& i) { return i.name.text == name; });
    const bool size = std::any_of(block.sizes.begin(), block.sizes.end(),
                                  [&](const dsl::Size& s) { return s.name.text == name; });
    if (!input && !size) {
      std::vector<std::string> names;
      for (const dsl::Input& i : block.inputs) names.push_back(i.name.text);
      for (const dsl::Size& s : block.sizes) names.push_back(s.name.text);
      Diagnostic& d =
          m_.error(where, fmt::format("`{}` has no argument `{}`", block.name.text, name));
      d.others.push_back({block.name.where, "declared here"});
      d.help = suggestion(name, names);
      if (d.help.empty()) d.help = fmt::format("it is called as `{}`", signature(block));
      good = false;
      continue;
    }
    if (!given.emplace(name, a.value).second) {
      m_.error(where, fmt::format("argument `{}` is given twice", name));
      good = false;
    }
    if (!size) continue;
    if (const auto p = m_.size(a.value, caller))
      m_.bind_size(inner, name, *p, a.value, caller);
    else
      good = false;
  }
  for (const dsl::Input& i : block.inputs) {
    if (given.count(i.name.text)) continue;
    Diagnostic& d = m_.error(
        site.where, fmt::format("`{}` needs an argument for `{}`", block.name.text, i.name.text));
    d.others.push_back({i.name.where, "this input"});
    d.help = fmt::format("it is called as `{}`", signature(block));
    good = false;
  }
  if (!good) return false;
  for (const dsl::Input& i : block.inputs)
    good = bind_input(site, i, given.at(i.name.text), caller, inner) && good;
  if (!good || !bind_sizes(site, inner)) return false;
  for (const dsl::Input& i : block.inputs)
    good = (i.type.bracketed || check_not_size(i.name, inner)) && good;
  for (const dsl::Input& i : block.inputs)
    if (i.type.bracketed) good = check_extents(site, i, given.at(i.name.text), inner) && good;
  return good;
}

bool Expander::bind_input(const CallSite& site, const dsl::Input& input,
                          const dsl::ExprPtr& argument, Scope& caller, Scope& inner) {
  const dsl::Block& block = *site.callable->block;
  if (!input.type.bracketed) return bind_scalar(site, input, argument, caller, inner);
  const auto* name = std::get_if<dsl::Name>(&argument->node);
  Binding* b = name ? caller.find(name->text) : nullptr;
  if (name && !b) {
    Diagnostic& d = m_.error(argument->where, fmt::format("there is no `{}` here", name->text));
    d.help = suggestion(name->text, caller.tensor_names());
    if (!m_.is_size_name(name->text, caller))
      caller.names[name->text] = {.kind = Binding::Kind::poisoned, .where = argument->where};
    return false;
  }
  if (b) b->used = true;
  if (b && b->kind == Binding::Kind::poisoned) return false;
  if (!b || b->kind != Binding::Kind::tensor) {
    Diagnostic& d =
        m_.error(argument->where, fmt::format("input `{}` of `{}` takes the name of a tensor",
                                              input.name.text, block.name.text));
    d.others.push_back({input.name.where, "declared here"});
    d.help = "define the tensor in a statement of its own, and pass its name";
    return false;
  }
  if (b->carried && !b->carried->is_defined) {
    Diagnostic& d = m_.error(argument->where, fmt::format("`{}` is not computed yet", name->text));
    d.others.push_back({b->where, "defined here"});
    d.help = fmt::format("pass the step before: `before[…] = {}[…, {} {} 1, …]`", name->text,
                         b->carried->scan->index, b->carried->scan->down ? "+" : "-");
    return false;
  }
  const ir::Tensor& t = m_.graph[b->tensor];
  const auto wanted = storage_of(m_, input.type);
  if (!wanted) return false;
  const ir::Type has = ir::arithmetic_type(t.storage), wants = ir::arithmetic_type(*wanted);
  const bool open = input.type.dtype.text.empty();  // any real tensor serves
  // Wider storage takes narrower values; the other way round is a loss that nobody asked for.
  const auto bits = [](ir::Storage s) {
    return s == ir::Storage::f64 ? 64 : s == ir::Storage::f32 ? 32 : 16;
  };
  const bool fits = open ? ir::is_real(has)
                    : ir::is_real(has) && ir::is_real(wants)
                        ? t.storage == *wanted || bits(t.storage) < bits(*wanted)
                        : has == wants;
  if (!fits) {
    Diagnostic& d =
        m_.error(argument->where, fmt::format("`{}` is {}, and input `{}` of `{}` is {}",
                                              name->text, ir::name_of(t.storage), input.name.text,
                                              block.name.text, ir::name_of(*wanted)));
    d.others.push_back({input.name.where, "declared here"});
    if (t.where.valid())
      d.others.push_back({t.where, fmt::format("`{}` is declared here", name->text)});
    if (has == ir::Type::integer && ir::is_real(wants))
      d.help = fmt::format("convert it first: `t[…] = float({}[…])`", name->text);
    else if (ir::is_real(has) && wants == ir::Type::integer)
      d.help = fmt::format("declare `{}` as int", name->text);
    else if (ir::is_real(has) && ir::is_real(wants))
      d.help =
          fmt::format("a wider input takes it: `{}: {}`", input.name.text, ir::name_of(t.storage));
    return false;
  }
  const size_t named = input.type.extents.size(), rank = t.extents.size();
  if (input.type.leading ? rank < named : rank != named) {
    Diagnostic& d =
        m_.error(argument->where, fmt::format("`{}` does not fit input `{}` of `{}`", name->text,
                                              input.name.text, block.name.text));
    d.primary.text = fmt::format("`{}` is {}, with {} dimension{}", name->text, m_.shape(t), rank,
                                 rank == 1 ? "" : "s");
    d.others.push_back({input.type.where, fmt::format("{}{} dimension{} wanted",
                                                      input.type.leading ? "at least " : "", named,
                                                      named == 1 ? "" : "s")});
    return false;
  }
  if (input.type.leading) {
    const std::vector<ir::Poly> leading(t.extents.begin(),
                                        t.extents.begin() + static_cast<int64_t>(rank - named));
    const bool same =
        !inner.has_leading ||
        (inner.leading.size() == leading.size() &&
         std::equal(leading.begin(), leading.end(), inner.leading.begin(),
                    [&](const auto& x, const auto& y) { return m_.graph.same(x, y); }));
    if (!same) {
      Diagnostic& d = m_.error(
          argument->where, fmt::format("the `...` of `{}` stands for two things", block.name.text));
      d.primary.text = fmt::format("`{}` is {}", name->text, m_.shape(t));
      d.others.push_back({input.type.where,
                          "its leading dimensions differ from those of the "
                          "tensors before it"});
      return false;
    }
    inner.has_leading = true;
    inner.leading = leading;
  }
  for (size_t k = 0; k < named; ++k) {
    const auto* size = std::get_if<dsl::Name>(&input.type.extents[k]->node);
    if (size) m_.bind_extent(inner, size->text, t.extents[rank - named + k]);
  }
  inner.names[input.name.text] = {
      .kind = Binding::Kind::tensor, .tensor = b->tensor, .where = input.name.where};
  return true;
}

bool Expander::bind_scalar(const CallSite& site, const dsl::Input& input,
                           const dsl::ExprPtr& argument, Scope& caller, Scope& inner) {
  const dsl::Block& block = *site.callable->block;
  const auto wanted = storage_of(m_, input.type);
  const MaybeValue v = Statement::scalar(m_, caller, argument, inner.path + input.name.text);
  if (!wanted || !v) return false;
  const ir::Type type = ir::arithmetic_type(*wanted);
  const bool fits = type == ir::Type::boolean   ? v->sort == Sort::truth
                    : type == ir::Type::integer ? v->sort != Sort::truth && v->sort != Sort::real
                                                : v->sort != Sort::truth;
  if (!fits) {
    Diagnostic& d =
        m_.error(argument->where, fmt::format("input `{}` of `{}` is {}", input.name.text,
                                              block.name.text, ir::name_of(*wanted)));
    d.others.push_back({input.name.where, "declared here"});
    return false;
  }
  Value value = ir::is_real(type) ? Statement::as_real(*v) : *v;
  if (value.sort == Sort::literal) value.sort = ir::is_real(type) ? Sort::real : Sort::integer;
  inner.names[input.name.text] = {
      .kind = Binding::Kind::scalar, .value = value, .where = input.name.where};
  return true;
}

// Size arguments that neither the call nor an input gave take their defaults.
bool Expander::bind_sizes(const CallSite& site, Scope& inner) {
  const dsl::Block& block = *site.callable->block;
  bool good = true;
  for (const dsl::Size& s : block.sizes) {
    if (inner.sizes.count(s.name.text)) continue;
    if (!s.value) {
      Diagnostic& d = m_.error(
          site.where, fmt::format("`{}` needs the size `{}`", block.name.text, s.name.text));
      d.others.push_back({s.name.where, "this size argument"});
      d.help = fmt::format("add `{} = …` to the call", s.name.text);
      inner.broken_sizes.insert(s.name.text);
      good = false;
      continue;
    }
    m_.calls.push_back({site.callable, site.where});
    const auto p = m_.size(s.value, inner);
    m_.calls.pop_back();
    if (p)
      m_.bind_size(inner, s.name.text, *p, s.value, inner);
    else
      good = false;
  }
  return good;
}

bool Expander::check_extents(const CallSite& site, const dsl::Input& input,
                             const dsl::ExprPtr& argument, Scope& inner) {
  const dsl::Block& block = *site.callable->block;
  const ir::Tensor& t = m_.graph[inner.names.at(input.name.text).tensor];
  const size_t first = t.extents.size() - input.type.extents.size();
  for (size_t k = 0; k < input.type.extents.size(); ++k) {
    const dsl::ExprPtr& e = input.type.extents[k];
    m_.calls.push_back({site.callable, site.where});
    const auto wanted = m_.size(e, inner);
    m_.calls.pop_back();
    if (!wanted) return false;
    const ir::Poly& has = t.extents[first + k];
    if (m_.is_one_extent(m_.with_numbers(*wanted, inner.first_size), has)) continue;
    Diagnostic& d = m_.error(
        argument->where, fmt::format("`{}` does not fit input `{}` of `{}`",
                                     m_.source(argument->where), input.name.text, block.name.text));
    d.primary.text =
        fmt::format("`{}` is {}: {} is {}", m_.source(argument->where), m_.shape(t),
                    ordinal_dimension(static_cast<int>(first + k)), m_.with_value(has));
    const std::string written(m_.source(e->where));
    const std::string means = m_.with_value(*wanted);
    d.others.push_back({e->where, means.starts_with(written)
                                      ? fmt::format("{} wanted", means)
                                      : fmt::format("{} wanted, which is {}", written, means)});
    return false;
  }
  return true;
}

}  // namespace attn::elaborate
