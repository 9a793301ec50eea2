// The rounds of a `repeat`, and what they make one tensor of.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

constexpr int64_t kMostRounds = 10'000;

}  // namespace

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
  Stacks stacks{.index = r.index.text};
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
    inner.stacks = &stacks;
    stacks.round = static_cast<size_t>(round);
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
  for (const auto& [name, stack] : stacks.by_name) join(name, stack, r, *count, scope);
}

// The position of the index of the `repeat` on the left side of a definition in its body.
std::optional<size_t> Expander::index_of_rounds(const dsl::Definition& d, const Scope& scope) {
  if (!scope.stacks) return std::nullopt;
  for (size_t k = 0; k < d.indices.size(); ++k)
    if (d.indices[k].name.text == scope.stacks->index && !d.indices[k].extent) return k;
  return std::nullopt;
}

// One round's part of a tensor that has the rounds as a dimension. The tensor is there after the
// last round, and has no name until then.
void Expander::stack(const dsl::Definition& d, const dsl::Statement& s, Scope& scope, size_t at) {
  const size_t round = scope.stacks->round;
  const auto [it, is_first] = scope.stacks->by_name.try_emplace(d.target.text);
  Stack& stack = it->second;
  if (is_first) {
    stack.where = d.target.where;
    stack.is_broken = !claim(d.target, scope, false, true);
  } else if (stack.rounds.size() > round) {
    Diagnostic& e = m_.error(d.target.where, fmt::format("`{}` is defined twice", d.target.text));
    e.others.push_back({stack.where, "first here"});
    return;
  }
  dsl::Definition part = d;
  part.indices.erase(part.indices.begin() + static_cast<std::ptrdiff_t>(at));
  const auto tensor = Statement(m_, scope, part, s.where, target_name(d.target.text, scope)).run();
  stack.is_broken = stack.is_broken || !tensor;
  if (!tensor) return;
  const size_t leading = m_.graph[*tensor].extents.size() - part.indices.size();
  stack.dimension = leading + at;
  stack.rounds.push_back(*tensor);
}

// Defines the tensor of all rounds.
void Expander::join(const std::string& name, const Stack& stack, const dsl::Repeat& r,
                    const ir::Poly& count, Scope& scope) {
  const dsl::Identifier target{name, stack.where};
  const auto fail = [&](const std::string& message) -> Diagnostic& {
    bind_tensor(target, scope, std::nullopt);
    return m_.error(stack.where, message);
  };
  if (stack.is_broken || stack.rounds.empty()) return bind_tensor(target, scope, std::nullopt);
  const ir::Tensor first = m_.graph[stack.rounds[0]];
  for (size_t k = 1; k < stack.rounds.size(); ++k) {
    const ir::Tensor& other = m_.graph[stack.rounds[k]];
    const auto same = [&](const ir::Poly& a, const ir::Poly& b) { return m_.graph.same(a, b); };
    if (other.storage != first.storage || !std::ranges::equal(other.extents, first.extents, same)) {
      fail(fmt::format("round {} makes another tensor of `{}` than round 0", k, name)).help =
          "all rounds have one shape and type";
      return;
    }
  }
  ir::Tensor tensor{.name = target_name(name, scope),
                    .storage = first.storage,
                    .extents = first.extents,
                    .where = stack.where};
  const auto at = static_cast<std::ptrdiff_t>(stack.dimension);
  tensor.extents.insert(tensor.extents.begin() + at, count);
  if (const dsl::Type* type = scope.output_type(name); type && !type->dtype.text.empty()) {
    const auto declared = storage_of(m_, *type);
    if (!declared) return bind_tensor(target, scope, std::nullopt);
    const ir::Type from = ir::arithmetic_type(first.storage), to = ir::arithmetic_type(*declared);
    if (from != to && !(ir::is_real(from) && ir::is_real(to))) {
      fail(fmt::format("`{}` is declared as {}, and its rounds are {}", name, type->dtype.text,
                       ir::name_of(first.storage)))
          .others.push_back({type->where, "declared here"});
      return;
    }
    tensor.storage = *declared;
  }
  ir::Definition whole{.combine = ir::Combine::set, .where = stack.where};
  std::vector<ir::Expr> subscripts;
  const ir::Definition& part = *m_.graph.definition_of(stack.rounds[0]);
  for (const ir::IndexId i : part.free) {
    whole.free.push_back(m_.graph.new_index(m_.graph[i].name, m_.graph[i].extent));
    subscripts.push_back(ir::index_value(whole.free.back()));
  }
  const ir::IndexId round = m_.graph.new_index(r.index.text, count);
  whole.free.insert(whole.free.begin() + at, round);
  // Terms, and not one choice after the other: each has its own condition on the round, which
  // gradients are solved for.
  std::vector<ir::Expr> terms;
  for (size_t k = 0; k < stack.rounds.size(); ++k) {
    const ir::Expr is_round =
        ir::is_zero(ir::index_value(round) - ir::Expr(static_cast<int64_t>(k)));
    const ir::Expr value = m_.graph.read(stack.rounds[k], subscripts);
    terms.push_back(first.storage == ir::Storage::boolean ? ir::all_of({is_round, value})
                                                          : ir::where({is_round}, value));
  }
  whole.body = first.storage == ir::Storage::boolean ? ir::any_of(terms) : ir::add(terms);
  whole.target = m_.new_tensor(std::move(tensor));
  m_.add_definition(whole);
  bind_tensor(target, scope, whole.target);
  if (scope.own) definitions_.emplace(whole.target, stack.where);
}

}  // namespace attn::elaborate
