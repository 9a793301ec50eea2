// Which extents are one by what sizes are, and not by the values that they happen to have. Each
// size gets a value in the place of its own, one that is computed from those of others where it is
// defined by them; extents that are equal by their definitions are equal with these values too.
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
std::optional<double> ModelState::stand_in(const dsl::ExprPtr& e, const Unit& unit) {
  if (const auto* name = std::get_if<dsl::Name>(&e->node)) {
    if (!unit.sizes.count(name->text)) return std::nullopt;
    const auto p = file_size(unit, name->text);
    return p ? std::optional(stand_in(*p)) : std::nullopt;
  }
  const auto* chain = std::get_if<dsl::Chain>(&e->node);
  if (!chain) return std::nullopt;
  const auto operand = [&](size_t k) -> std::optional<double> {
    const auto* number = std::get_if<dsl::Number>(&chain->operands[k]->node);
    if (number && number->is_integer()) return static_cast<double>(number->integer());
    return stand_in(chain->operands[k], unit);
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

}  // namespace attn::elaborate
