// What a model remembers from call to call: `state keys: [B, S, E]` is an input whose place in the
// caller's memory `keys'` takes, an output.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

std::string without_prime(const std::string& name) { return name.substr(0, name.size() - 1); }

// Those that no reduction in it binds.
void collect_names(const dsl::Expr& e, std::vector<dsl::Identifier>& names) {
  const size_t before = names.size();
  if (const auto* name = std::get_if<dsl::Name>(&e.node)) names.push_back({name->text, e.where});
  for (const dsl::ExprPtr& part : dsl::parts(e)) collect_names(*part, names);
  const auto* reduction = std::get_if<dsl::Reduction>(&e.node);
  if (!reduction || reduction->kind.text == "softmax") return;
  names.erase(std::remove_if(names.begin() + static_cast<ptrdiff_t>(before), names.end(),
                             [&](const dsl::Identifier& n) {
                               return std::any_of(
                                   reduction->indices.begin(), reduction->indices.end(),
                                   [&](const dsl::Index& i) { return i.name.text == n.text; });
                             }),
              names.end());
}

}  // namespace

const dsl::State* Scope::state_of(const std::string& name) const {
  if (!name.ends_with('\'')) return nullptr;
  if (auto it = states.find(without_prime(name)); it != states.end()) return it->second;
  return outer ? outer->state_of(name) : nullptr;
}

void Expander::states(const dsl::StateStatement& statement, Scope& scope) {
  for (const dsl::State& state : statement.states) {
    const std::string full = scope.path + state.name.text;
    bool good = claim(state.name, scope, false, state.type.bracketed);
    if (m_.trains) {
      m_.error(state.name.where, "a `train model` keeps no state").help =
          "write a `model` that calls the same blocks: it has the same parameters";
      good = false;
    }
    if (scope.scan_around()) {
      m_.error(state.name.where, "a state is kept from call to call, not from step to step").help =
          "inside `scan`, read a tensor one step back";
      good = false;
    }
    if (!state.typed) {
      m_.error(state.name.where, "the state of a model has a type").help =
          fmt::format("write `state {}: [B, S]`; it begins as zeros", state.name.text);
      scope.names[state.name.text] = {.kind = Binding::Kind::poisoned, .where = state.name.where};
      continue;
    }
    if (state.value) {
      m_.error(state.value->where, "the state of a model begins as the caller makes it").help =
          "leave out the value: the caller's tensors begin as zeros, or as an earlier call left "
          "them";
      good = false;
    }
    const auto tensor =
        declared(full, state.name, state.type, ir::Role::input, "a state", "name its sizes", scope);
    good = good && tensor;
    if (good && m_.name_taken(full)) {
      m_.error(m_.calls.empty() ? state.name.where : m_.calls.back().where,
               fmt::format("two calls name a state `{}`", full))
          .help = "give each call a name: `… as NAME`";
      good = false;
    }
    scope.states[state.name.text] = &state;
    if (good) m_.states.push_back({m_.new_tensor(*tensor), {}, state.name.where});
    bind_tensor(state.name, scope, good ? std::optional(m_.states.back().state) : std::nullopt);
    scope.names[state.name.text].used = true;  // it may only be written
  }
}

// `keys'[b, at[b] + t, e] = …`: a subscript that is a name alone is an index over that dimension;
// of the others each may hold one index more.
void Expander::define_next(const dsl::Definition& d, const dsl::Statement& s, Scope& scope) {
  const std::string name = without_prime(d.target.text);
  const auto fail = [&] {
    if (const Binding* state = scope.find(name))
      for (ModelState::Remembered& r : m_.states)
        r.is_defined = r.is_defined || r.state == state->tensor;
    scope.names[d.target.text] = {.kind = Binding::Kind::poisoned, .where = d.target.where};
  };
  const dsl::State* state = scope.state_of(d.target.text);
  if (!state) {
    Diagnostic& e = m_.error(d.target.where, fmt::format("`{}` is no state", name));
    std::vector<std::string> names;
    for (const Scope* at = &scope; at; at = at->outer)
      for (const auto& [known, declared] : at->states) names.push_back(known);
    e.help = suggestion(name, names);
    if (e.help.empty())
      e.help = fmt::format("declare what the model remembers: `state {}: [B, S]`", name);
    return fail();
  }
  if (scope.scan_around()) {
    m_.error(d.target.where, fmt::format("`{}` is computed once a call, not in a `scan`", name))
        .help = "define it after the scan";
    return fail();
  }
  if (d.start) m_.error(d.start->where, "`from` stands in a `scan`, where there is a first step");
  if (!claim(d.target, scope, false, !d.subscripts.empty())) return;
  const Binding& old = *scope.find(name);
  const std::vector<dsl::ExprPtr>& extents = state->type.extents;
  if (old.kind == Binding::Kind::poisoned) return fail();
  // With a range each of them is an index.
  const size_t count = d.indices.empty() ? d.subscripts.size() : d.indices.size();
  if (count != extents.size()) {
    Diagnostic& e =
        m_.error(d.target.where,
                 fmt::format("`{}` needs {} subscript{}, and here {} {}", name, extents.size(),
                             extents.size() == 1 ? "" : "s", count, count == 1 ? "is" : "are"));
    e.others.push_back({state->name.where, "declared here"});
    return fail();
  }
  // What is a number stands for itself.
  const auto is_index = [&](const std::string& text) {
    const Binding* b = scope.find(text);
    const bool is_number =
        b && (b->kind != Binding::Kind::tensor || m_.graph[b->tensor].extents.empty());
    return !is_number && !m_.is_size_name(text, scope);
  };
  dsl::Definition own = d;
  const auto has_index = [&](const std::string& text) {
    return std::any_of(own.indices.begin(), own.indices.end(),
                       [&](const dsl::Index& i) { return i.name.text == text; });
  };
  std::set<std::string> alone;
  for (const dsl::ExprPtr& e : d.subscripts)
    if (const auto* n = std::get_if<dsl::Name>(&e->node); n && is_index(n->text))
      alone.insert(n->text);
  bool is_whole = true;
  for (size_t k = 0; k < d.indices.size(); ++k)
    if (!d.indices[k].extent) own.indices[k].extent = extents[k];
  for (size_t k = 0; k < d.subscripts.size(); ++k) {
    const dsl::Expr& e = *d.subscripts[k];
    if (const auto* n = std::get_if<dsl::Name>(&e.node); n && is_index(n->text)) {
      own.indices.push_back({{n->text, e.where}, extents[k]});
      continue;
    }
    is_whole = false;
    std::vector<dsl::Identifier> names;
    collect_names(e, names);
    for (const dsl::Identifier& n : names)
      if (is_index(n.text) && !alone.count(n.text) && !has_index(n.text))
        own.indices.push_back({n, nullptr});
  }
  if (is_whole) own.subscripts.clear();
  Statement statement(m_, scope, own, s.where, scope.path + d.target.text);
  const auto tensor = statement.run();
  bind_tensor(d.target, scope, tensor);
  if (!tensor) return fail();
  for (size_t k = 0; k < d.indices.size(); ++k) {
    const ir::Poly& extent = m_.graph[old.tensor].extents[k];
    if (!d.indices[k].extent || m_.graph.same(m_.graph[*tensor].extents[k], extent)) continue;
    m_.error(d.indices[k].extent->where,
             fmt::format("`{}` is over another range than the state", d.indices[k].name.text))
        .help = fmt::format("leave it out: an index alone runs over its dimension of `{}`", name);
    return fail();
  }
  for (ModelState::Remembered& r : m_.states)
    if (r.state == old.tensor) r.next = *tensor;
}

void Expander::state_outputs() {
  for (const ModelState::Remembered& r : m_.states) {
    const std::string name = m_.graph[r.state].name;
    if (r.is_defined) continue;
    if (!r.next) {
      m_.error(r.where, fmt::format("nothing says what the state `{}` becomes", name)).help =
          fmt::format("define `{}'`, or make `{}` an input", name, name);
      continue;
    }
    m_.graph[*r.next].role = ir::Role::output;
    m_.graph.outputs.push_back({.name = name + "'", .tensor = *r.next, .updates = r.state});
  }
  for (const ir::Output& o : m_.graph.outputs)
    if (o.probe && !m_.states.empty())
      m_.error(m_.graph[o.tensor].where, "a model that keeps a state has no probes").help =
          fmt::format("make `{}` an output", o.name);
}

bool Statement::find_position() {
  std::vector<Span> places;
  for (const dsl::ExprPtr& e : definition_.subscripts) {
    const MaybeValue v = expression(e);
    if (!v) return false;
    if (v->sort == Sort::truth || v->expr.type() != ir::Type::integer) {
      m_.error(e->where, "a subscript must be an integer");
      return false;
    }
    position_.push_back(v->expr);
    places.push_back(e->where);
  }
  std::set<ir::IndexId> taken;
  for (const ir::Expr& p : position_)
    if (p.is(ir::Kind::index)) taken.insert(p->index);
  for (size_t k = 0; k < position_.size(); ++k) {
    const ir::Expr& p = position_[k];
    if (p.is(ir::Kind::index)) continue;
    int own = 0;
    bool is_term = true;
    for (const ir::IndexId i : ir::indices(p)) {
      if (taken.count(i)) continue;
      ++own;
      is_term = !ir::uses(p - ir::index_value(i), i) || !ir::uses(p + ir::index_value(i), i);
    }
    // What stands in another place already does not move this one.
    for (const ir::IndexId i : ir::indices(p)) taken.insert(i);
    if (own == 0 || (own == 1 && is_term)) continue;
    m_.error(places[k],
             fmt::format("`{}` may be given twice at one place", definition_.target.text))
        .help = "a subscript is an index, or an index plus what does not depend on it";
    return false;
  }
  if (position_.empty()) return true;
  // An index that no place depends on would give one place several values.
  for (const Binder& b : ranges_.left.named) {
    if (taken.count(b.id)) continue;
    m_.error(b.where, fmt::format("`{}` may be given twice at one place", definition_.target.text))
        .help = fmt::format("no place depends on `{}`", b.name);
    return false;
  }
  const Binding* state = scope_.find(without_prime(definition_.target.text));
  const size_t before = pending_.size();
  const bool good = read(state->tensor, position_, places).has_value();
  for (size_t k = before; k < pending_.size(); ++k) pending_[k].is_written = true;
  return good;
}

ir::TensorId Statement::place(ir::Definition d, const ir::Tensor& value) {
  const Binding* state = scope_.find(without_prime(definition_.target.text));
  ir::Tensor next = value;
  next.extents = m_.graph[state->tensor].extents;
  if (d.combine != ir::Combine::set) {
    ir::Tensor computed = value;
    computed.name = without_prime(full_name_) + ".new";
    d.target = m_.new_tensor(std::move(computed));
    ir::Definition copy{
        .free = d.free, .guard = outer_, .body = m_.graph.target(d), .where = where_};
    copy.position = position_;
    m_.add_definition(std::move(d));
    d = ir::with_fresh_indices(m_.graph, copy).definition;
  } else {
    d.position = position_;
  }
  d.target = m_.new_tensor(std::move(next));
  const ir::TensorId target = d.target;
  m_.add_definition(std::move(d));
  return target;
}

}  // namespace attn::elaborate
