#include "compiler/derive/interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/derive/combine_vjp.h"

namespace attn::derive {

using ir::Role;

namespace {

// Small functions get some freedom.
constexpr uint64_t kMostGrowth = 20;
constexpr uint64_t kAlwaysAllowed = 20'000;

bool is_visible(const ir::Tensor& t) { return is_given(t) || t.role == Role::output; }
std::string_view kind_of(const ir::Tensor& t) {
  return t.role == Role::output ? "output" : "input";
}

bool has_companion(const ir::Tensor& t, const Companion& c, const Names& by) {
  if (!is_real(t)) return false;
  return c.of_outputs ? t.role == Role::output : is_given(t) && is_chosen(t, by);
}

uint64_t parts_of(const ir::Graph& g, size_t from) {
  uint64_t sum = 0;
  for (size_t k = from; k < g.definitions.size(); ++k) {
    sum += g.definitions[k].body->weight;
    for (const ir::Expr& c : g.definitions[k].guard) sum += c->weight;
  }
  return sum;
}

// `d` of such an output would stand for two tensors.
bool refuse_given_outputs(const ir::Graph& g, const Companion& of_output, const Companion& of_input,
                          Diagnostics& diagnostics) {
  bool clash = false;
  for (const ir::Output& o : g.outputs) {
    if (!is_given(g[o.tensor]) || !is_real(g[o.tensor])) continue;
    diagnostics.error(
        g[o.tensor].where,
        fmt::format("the output `{0}` is an input, so that `{1}{0}` would be both its {2} and {3}",
                    o.name, of_output.prefix, of_output.what,
                    of_output.what == of_input.what ? "that of the input"
                                                    : fmt::format("its {}", of_input.what)));
    clash = true;
  }
  return clash;
}

}  // namespace

bool is_chosen(const ir::Tensor& t, const Names& by) {
  return by.empty() || std::ranges::any_of(by, [&](const std::string& name) {
           return t.name == name || t.name.starts_with(name + ".");
         });
}

bool is_given(const ir::Tensor& t) { return t.role == Role::input || t.role == Role::parameter; }
bool is_real(const ir::Tensor& t) { return ir::is_real(ir::arithmetic_type(t.storage)); }

bool cannot_derive(const ir::Graph& g, std::span<const Companion> companions, const Names& by,
                 Diagnostics& diagnostics) {
  bool clash = false;
  for (const ir::Output& o : g.outputs) {
    if (!o.updates.valid()) continue;
    diagnostics.error(g[o.updates].where,
                      fmt::format("`{}` keeps the state `{}`, and has no derivatives", g.name,
                                  g[o.updates].name));
    return true;
  }
  for (const ir::Tensor& x : g.tensors) {
    for (const Companion& c : companions) {
      if (!has_companion(x, c, by)) continue;
      const auto found = g.find(c.prefix + x.name);
      if (!found || !is_visible(g[*found])) continue;
      const ir::Tensor& holder = g[*found];
      Diagnostic& d = diagnostics.error(
          holder.where, fmt::format("the {} `{}` has the name that the {} of the {} `{}` takes",
                                    kind_of(holder), holder.name, c.what, kind_of(x), x.name));
      d.others.push_back({x.where, fmt::format("`{}` is defined here", x.name)});
      d.help = "rename one of the two";
      clash = true;
    }
  }
  for (const Companion& a : companions)
    for (const Companion& b : companions)
      if (a.of_outputs && !b.of_outputs && a.prefix == b.prefix)
        clash = refuse_given_outputs(g, a, b, diagnostics) || clash;
  return clash;
}

void make_room(ir::Graph& g, std::span<const Companion> companions, const Names& by) {
  std::set<std::string> needed;
  for (const Companion& c : companions) {
    for (const ir::Tensor& t : g.tensors)
      if (has_companion(t, c, by)) needed.insert(c.prefix + t.name);
    if (!c.of_outputs) continue;
    for (const ir::Output& o : g.outputs) needed.insert(c.prefix + o.name);
  }
  for (ir::Tensor& t : g.tensors) {
    if (!needed.count(t.name)) continue;
    const std::string base = t.name + ".inner";
    std::string name = base;
    for (int k = 2; g.find(name) || needed.count(name); ++k) name = fmt::format("{}.{}", base, k);
    t.name = name;
  }
}

ir::TensorId companion(ir::Graph& g, const Companion& c, ir::TensorId of, const std::string& name,
                       Role role) {
  const ir::Tensor& x = g[of];
  ir::Tensor t =
      tensor(c.prefix + name, storage_of(ir::arithmetic_type(x.storage)), x.extents, x.where);
  t.role = role;
  t.companion_of = of;
  t.doc = fmt::format("The {} of {}.", c.what, name);
  return g.new_tensor(std::move(t));
}

void refuse_infinite(const ir::Graph& g, const ir::Expr& value, const ir::Definition& d,
                     Diagnostics& diagnostics) {
  bool infinite = false;
  ir::visit(value, [&](const ir::Expr& e) {
    infinite = infinite || (e.is(ir::Kind::literal) && !std::isfinite(e->number.value())) ||
               (e.is(ir::Kind::power) && e.args()[0].is_zero());
    return !infinite;
  });
  if (infinite)
    diagnostics.error(
        d.where, fmt::format("the derivative of `{}` is infinite everywhere", g[d.target].name));
}

Growth::Growth(const ir::Graph& forward, std::string what)
    : what_(std::move(what)),
      forward_parts_(parts_of(forward, 0)),
      counted_(forward.definitions.size()) {}

void Growth::limit(const ir::Graph& g, ir::TensorId at) {
  parts_ += parts_of(g, counted_);
  counted_ = g.definitions.size();
  if (parts_ <= std::max(kMostGrowth * forward_parts_, kAlwaysAllowed)) return;
  throw LimitError(
      fmt::format("the {} of {} has more than {} times its parts ({} against {}), at `{}`", what_,
                  g.name, kMostGrowth, parts_, forward_parts_, g[at].name));
}

}  // namespace attn::derive
