// Which extents are one by what sizes are, and not by the values that they happen to have. Each
// size gets a value in the place of its own, one that is computed from those of others where it is
// defined by them; extents that are equal by their definitions are equal with these values too.
//
// A size of a block that is a number is told apart in the same way. The block's extents have it by
// name. To the caller it is a number again, unless it is computed from sizes of the caller alone.
#include <algorithm>
#include <cmath>

#include "compiler/elaborate/model.h"

namespace attn::elaborate {
namespace {

using ir::Poly;

// Between 1 and 2. The bits are mixed (by the finaliser of splitmix64), so that sums and products
// of different sizes are different.
double stand_in_of(ir::SizeId id) {
  uint64_t x = (static_cast<uint64_t>(id.value) + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return 1 + static_cast<double>(x >> 11) * 0x1p-53;
}

}  // namespace

double ModelState::stand_in(const Poly& p) const {
  double sum = 0;
  for (const auto& [monomial, c] : p.terms()) {
    double product = static_cast<double>(c.num) / static_cast<double>(c.den);
    for (const auto& [id, power] : monomial) {
      const auto given = stand_ins_.find(id);
      const double x = given != stand_ins_.end() ? given->second : stand_in_of(id);
      for (int k = 0; k < power; ++k) product *= x;
    }
    sum += product;
  }
  return sum;
}

// Nothing for a size that is a number.
std::optional<double> ModelState::stand_in(const dsl::ExprPtr& e, const Scope& scope) {
  if (const auto* name = std::get_if<dsl::Name>(&e->node)) {
    const auto p = size_named(name->text, scope);
    return p ? std::optional(stand_in(*p)) : std::nullopt;
  }
  const auto* chain = std::get_if<dsl::Chain>(&e->node);
  if (!chain) return std::nullopt;
  const auto operand = [&](size_t k) -> std::optional<double> {
    const auto* number = std::get_if<dsl::Number>(&chain->operands[k]->node);
    if (number && number->is_integer()) return static_cast<double>(number->integer());
    return stand_in(chain->operands[k], scope);
  };
  std::optional<double> value = operand(0);
  bool has_name = !std::get_if<dsl::Number>(&chain->operands[0]->node);
  for (size_t k = 0; value && k < chain->ops.size(); ++k) {
    const auto next = operand(k + 1);
    if (!next) return std::nullopt;
    has_name = has_name || !std::get_if<dsl::Number>(&chain->operands[k + 1]->node);
    switch (chain->ops[k]) {
      case dsl::Op::add:
        *value += *next;
        break;
      case dsl::Op::subtract:
        *value -= *next;
        break;
      case dsl::Op::multiply:
        *value *= *next;
        break;
      case dsl::Op::divide:
        *value /= *next;
        break;
      default:
        return std::nullopt;
    }
  }
  return has_name ? value : std::nullopt;
}

bool ModelState::is_one_extent(const Poly& a, const Poly& b) const {
  if (a == b) return true;
  if (!graph.same(a, b)) return false;
  if (a.constant() || b.constant()) return true;
  const double x = stand_in(a), y = stand_in(b);
  return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
}

ir::SizeId ModelState::newest_number(const dsl::Expr& e, const Scope& scope, ir::SizeId own) {
  ir::SizeId newest;
  if (const auto* name = std::get_if<dsl::Name>(&e.node)) {
    const auto p = size_named(name->text, scope);
    if (!p || p->constant()) return own;
    for (const auto& [monomial, c] : p->terms())
      for (const auto& [id, power] : monomial)
        if (const auto size = block_sizes_.find(id); size != block_sizes_.end())
          newest = std::max(newest, size->second.newest);
  }
  for (const dsl::ExprPtr& part : dsl::parts(e))
    newest = std::max(newest, newest_number(*part, scope, own));
  return newest;
}

void ModelState::bind_size(Scope& owner, const std::string& name, const Poly& p,
                           const dsl::ExprPtr& e, const Scope& scope) {
  owner.sizes[name] = p;
  const auto value = p.integer();
  if (!value) return;
  const auto defined = e ? stand_in(e, scope) : std::nullopt;
  const auto of_file =
      owner.unit->sizes.count(name) ? file_size(*owner.unit, name) : std::optional<Poly>();
  const ir::SizeId id{static_cast<int32_t>(graph.sizes.size())};
  if (!defined) {
    const auto [it, fresh] = numbers_.try_emplace({owner.outermost().first_size, name, *value}, id);
    owner.sizes[name] = Poly::size(it->second);
    if (!fresh) return;
  }
  owner.sizes[name] = Poly::size(id);
  block_sizes_[id] = {name, defined ? newest_number(*e, scope, id) : id};
  graph.sizes.push_back({.value = *value});
  // A number that has the name and the value of a size of the file is that size.
  if (defined)
    stand_ins_[id] = *defined;
  else if (of_file && graph.same(*of_file, p))
    stand_ins_[id] = stand_in(*of_file);
}

void ModelState::bind_extent(Scope& owner, const std::string& name, const Poly& extent) {
  const auto given = owner.sizes.find(name);
  if (given == owner.sizes.end()) return bind_size(owner, name, extent, nullptr, owner);
  const bool is_number = with_numbers(given->second, owner.first_size).constant().has_value();
  const auto id = given->second.single();
  if (id && is_number && !extent.constant() && graph.same(given->second, extent))
    stand_ins_[*id] = stand_in(extent);
}

Poly ModelState::with_numbers(const Poly& p, ir::SizeId first) const {
  std::map<ir::SizeId, Poly> numbers;
  for (const auto& [monomial, c] : p.terms())
    for (const auto& [id, power] : monomial)
      if (const auto size = block_sizes_.find(id);
          size != block_sizes_.end() && size->second.newest >= first)
        numbers[id] = Poly(*graph[id].value);
  return numbers.empty() ? p : ir::substitute(p, numbers);
}

ir::Tensor ModelState::with_numbers(ir::Tensor t, ir::SizeId first) const {
  for (Poly& p : t.extents) p = with_numbers(p, first);
  return t;
}

void ModelState::number_block_sizes() {
  for (ir::Tensor& t : graph.tensors) t = with_numbers(std::move(t));
  for (ir::Index& i : graph.indices) i.extent = with_numbers(i.extent);
}

}  // namespace attn::elaborate
