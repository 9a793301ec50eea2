// What an index without a range is told.
#include <fmt/format.h>

#include "compiler/elaborate/statement.h"
#include "dsl/print.h"

namespace attn::elaborate {
namespace {

bool is_name(const dsl::Expr& e, const std::string& index) {
  const auto* name = std::get_if<dsl::Name>(&e.node);
  return name && name->text == index;
}

}  // namespace

// `i + 2` of a dimension of T: T - 2. `T - 1 - i`: T. `i // E` of H: H * E. `h * E + i`: E, where E
// divides the dimension. Windows, `t + k` and `S * t + k`, tell nothing.
std::optional<ir::Poly> RangeFinder::range_told_by(const Mention& mention,
                                                   const std::string& index) {
  const auto* chain = std::get_if<dsl::Chain>(&mention.subscript->node);
  if (!chain) return std::nullopt;
  const auto& operands = chain->operands;
  if (chain->level == dsl::Level::multiplicative) {
    if (operands.size() != 2 || !is_name(*operands[0], index)) return std::nullopt;
    if (chain->ops[0] != dsl::Op::floor_divide) return std::nullopt;
    const auto divisor = m_.size(operands[1], scope_, true);
    return divisor ? std::optional(mention.extent * *divisor) : std::nullopt;
  }
  if (chain->level != dsl::Level::additive) return std::nullopt;
  ir::Poly offset(0);
  std::optional<ir::Poly> stride;
  int sign = 0;  // of the index
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool subtracted = k > 0 && chain->ops[k - 1] == dsl::Op::subtract;
    if (is_name(*operands[k], index)) {
      if (sign != 0) return std::nullopt;
      sign = subtracted ? -1 : 1;
    } else if (const auto size = m_.size(operands[k], scope_, true)) {
      offset = subtracted ? offset - *size : offset + *size;
    } else {
      const auto* product = std::get_if<dsl::Chain>(&operands[k]->node);
      if (!product || subtracted) return std::nullopt;
      for (const dsl::Op op : product->ops)
        if (op != dsl::Op::multiply) return std::nullopt;
      std::optional<ir::Poly> last;
      for (const dsl::ExprPtr& factor : product->operands) {
        if (std::holds_alternative<dsl::Number>(factor->node)) continue;
        if (const auto f = m_.size(factor, scope_, true)) last = f;
      }
      if (!last) return std::nullopt;
      stride = last;
    }
  }
  if (sign == 0) return std::nullopt;
  if (!stride) return sign > 0 ? mention.extent - offset : offset + ir::Poly(1);
  const auto parts = m_.quotient(m_.graph.expand(mention.extent), m_.graph.expand(*stride));
  if (sign < 0 || !parts || !m_.graph.same(*parts * *stride, mention.extent)) return std::nullopt;
  return stride;
}

void RangeFinder::report_rangeless(const Binder& binder, const std::string& word) {
  const std::string name = binder.name.empty() ? "..." : binder.name;
  Diagnostic& d = m_.error(binder.where.valid() ? binder.where : definition_.target.where,
                           fmt::format("nothing says what `{}` runs over", name));
  d.primary.text = fmt::format("no subscript is `{}` alone", name);
  std::string range = "…";
  for (const Mention& mention : binder.mentions) {
    const auto told = range_told_by(mention, binder.name);
    if (!told || m_.graph.known(*told).value_or(1) <= 0) continue;
    range = m_.text(*told);
    break;
  }
  if (!binder.on_left) {
    d.help = fmt::format("give its range: `{}[{}: {}]`", word, binder.name, range);
    return;
  }
  std::string left;
  for (const dsl::Index& i : definition_.indices) {
    left += (left.empty() ? "" : ", ") + i.name.text;
    if (i.extent) left += ": " + dsl::print(i.extent);
    if (i.name.text == binder.name) left += ": " + range;
  }
  if (definition_.leading) left = "..., " + left;
  d.help = fmt::format("give its range: `{}[{}] = …`", definition_.target.text, left);
}

}  // namespace attn::elaborate
