// Sizes: declared in files, bound by calls, computed from each other.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/elaborate/model.h"
#include "dsl/comments.h"

namespace attn::elaborate {
namespace {

using ir::Poly;

int64_t floored(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

std::optional<Poly> ModelState::size_named(const std::string& name, const Scope& scope) {
  if (const Poly* p = scope.find_size(name)) return *p;
  if (scope.unit->sizes.count(name)) return file_size(*scope.unit, name);
  return std::nullopt;
}

std::string ModelState::rebound(const dsl::Expr& e, const Unit& unit, const Scope& scope) {
  count_step();
  if (const auto* name = std::get_if<dsl::Name>(&e.node)) {
    const auto declared = unit.sizes.find(name->text);
    if (declared == unit.sizes.end()) return "";
    const ir::Poly* bound = scope.find_size(name->text);
    const auto own = file_size(unit, name->text);
    if (bound && own && !graph.same(*bound, *own)) return name->text;
    const bool overridden = &unit == &main && overrides.count(name->text);
    const dsl::ExprPtr& value = declared->second.size->value;
    return own && value && !overridden ? rebound(*value, unit, scope) : "";
  }
  for (const dsl::ExprPtr& part : dsl::parts(e))
    if (std::string name = rebound(*part, unit, scope); !name.empty()) return name;
  return "";
}

bool ModelState::check_not_rebound(const std::string& name, const Unit& unit, const Scope& scope,
                                   Span where, bool in_function) {
  if (scope.unit != &unit || scope.outermost().sizes.empty()) return true;
  const std::string other = rebound(dsl::Expr{dsl::Name{name}, where}, unit, scope);
  if (other.empty()) return true;
  const dsl::Size& declared = *unit.sizes.at(name).size;
  const auto shown = [&](const Poly& p) {
    const auto n = graph.known(p);
    return n ? std::to_string(*n) : text(p);
  };
  Diagnostic& d =
      error(where,
            in_function && other == name
                ? fmt::format("a function reads the file's `{}`, and this call binds another", name)
                : fmt::format("`{}` is computed from the file's `{}`, and this call binds another",
                              name, other));
  d.primary.text = fmt::format("`{}` is {} in the file, and {} in this call", other,
                               shown(*file_size(unit, other)), shown(*scope.find_size(other)));
  d.others.push_back({declared.name.where, "declared here"});
  d.help = in_function ? fmt::format("give `{}` to the function as an argument", name)
                       : fmt::format("declare it in the block: `size {} = {}`", name,
                                     source(declared.value->where));
  return false;
}

bool ModelState::is_size_name(const std::string& name, const Scope& scope) const {
  return scope.find_size(name) || scope.unit->sizes.count(name) || scope.is_broken_size(name);
}

std::vector<std::string> ModelState::size_names(const Scope& scope) const {
  std::vector<std::string> names;
  for (const Scope* s = &scope; s; s = s->outer)
    for (const auto& [name, poly] : s->sizes) names.push_back(name);
  for (const auto& [name, declared] : scope.unit->sizes) names.push_back(name);
  return names;
}

std::optional<Poly> ModelState::file_size(const Unit& unit, const std::string& name) {
  const auto key = std::make_pair(&unit, name);
  auto it = sizes_.find(key);
  if (it == sizes_.end()) {
    const std::optional<ir::SizeId> made = make_size(unit, name);
    it = sizes_.emplace(key, made).first;
  }
  if (!it->second) return std::nullopt;
  return Poly::size(*it->second);
}

std::optional<ir::SizeId> ModelState::make_size(const Unit& unit, const std::string& name) {
  const SizeDeclaration& declaration = unit.sizes.at(name);
  const dsl::Size& declared = *declaration.size;
  auto open = std::find(open_sizes_.begin(), open_sizes_.end(), &declared);
  if (open != open_sizes_.end()) {
    std::string chain;
    for (auto it = open; it != open_sizes_.end(); ++it) chain += (*it)->name.text + " needs ";
    error(declared.name.where, "sizes are computed from each other in a cycle").primary.text =
        chain + name;
    return std::nullopt;
  }
  ir::Size size{.name = name, .doc = declaration.doc, .where = declared.name.where};
  const auto given = overrides.find(name);
  const bool overridden = &unit == &main && given != overrides.end();
  if (overridden) {
    size.value = given->second;
  } else if (declared.value) {
    open_sizes_.push_back(&declared);
    give_value(size, declared, unit);
    open_sizes_.pop_back();
    if (!size.value && !size.definition && !size.quotient) return std::nullopt;
  }
  if (declared.ranged) {
    const auto low = bound(declared.low, unit);
    if (!low) return std::nullopt;
    size.lower = *low;
    if (declared.high) {
      size.upper = bound(declared.high, unit);
      if (!size.upper) return std::nullopt;
      if (*size.upper < size.lower) {
        error(cover(declared.low->where, declared.high->where),
              fmt::format("size `{}` has no possible value", name));
        return std::nullopt;
      }
    }
    if (size.lower < 0) {
      error(declared.low->where, "a size is never negative").help = "let its range begin at 0";
      return std::nullopt;
    }
  }
  if (size.value) {
    const int64_t v = *size.value;
    if (v < 0 || v > std::numeric_limits<int32_t>::max()) {
      error(declared.value && !overridden ? declared.value->where : declared.name.where,
            fmt::format("size `{}` would be {}", name, v))
          .help = "a size lies between 0 and 2147483647";
      return std::nullopt;
    }
    if (v < size.lower || (size.upper && v > *size.upper)) {
      error(declared.name.where, fmt::format("size `{}` is {}, which its range excludes", name, v));
      return std::nullopt;
    }
  }
  if (size.value == 0 && declared.value && !overridden)
    warning(declared.name.where, "sizes",
            fmt::format("size `{}` is 0: all that runs over it is empty", name));
  // Two files may have a size of one name; the second is told apart by its file.
  if (graph.find_size(size.name)) size.name = unit.stem + "." + size.name;
  for (int k = 2; graph.find_size(size.name); ++k) size.name = fmt::format("{}.{}", name, k);
  graph.sizes.push_back(size);
  const ir::SizeId id{static_cast<int32_t>(graph.sizes.size()) - 1};
  Scope file;
  file.unit = &unit;
  if (size.definition)
    stand_ins_[id] = stand_in(*size.definition);
  else if (const auto x = declared.value ? stand_in(declared.value, file) : std::nullopt)
    stand_ins_[id] = *x;
  if (size.quotient) quotients_.emplace(*size.quotient, id);
  return id;
}

// `size E = D / H`: a value when the parts are known, and the formula that it came from.
void ModelState::give_value(ir::Size& size, const dsl::Size& declared, const Unit& unit) {
  Scope scope;
  scope.unit = &unit;
  // `size P = T // 2` is the quotient itself, not equal to a nameless one.
  if (const auto* chain = std::get_if<dsl::Chain>(&declared.value->node);
      chain && chain->ops.size() == 1 && chain->ops[0] == dsl::Op::floor_divide) {
    const auto a = this->size(chain->operands[0], scope);
    const auto b = this->size(chain->operands[1], scope);
    if (!a || !b) return;
    promise_positive(*b);
    if (!graph.known(*b) && !quotients_.count({*a, *b}) && !ir::divide(*a, *b)) {
      size.quotient = {*a, *b};
      return;
    }
    if (const auto n = graph.known(*b); n && *n > 0 && !graph.known(*a)) {
      const auto exact = ir::divide(*a, *b);
      const bool whole = exact && std::all_of(exact->terms().begin(), exact->terms().end(),
                                              [](const auto& t) { return t.second.is_integer(); });
      if (!whole && !quotients_.count({*a, *b})) {
        size.quotient = {*a, *b};
        return;
      }
    }
  }
  const auto value = this->size(declared.value, scope);
  if (!value) return;
  size.value = graph.known(*value);
  if (!value->constant()) size.definition = *value;
}

std::optional<int64_t> ModelState::bound(const dsl::ExprPtr& e, const Unit& unit) {
  Scope scope;
  scope.unit = &unit;
  const auto p = size(e, scope);
  if (!p) return std::nullopt;
  const auto n = graph.known(*p);
  if (!n) error(e->where, "the bounds of a size are known when it is compiled");
  return n;
}

void ModelState::promise_positive(const Poly& divisor) {
  const auto id = divisor.single();
  if (id && !graph.known(divisor)) graph[*id].lower = std::max<int64_t>(graph[*id].lower, 1);
}

std::optional<Poly> ModelState::quotient(const Poly& above, const Poly& below) {
  const Poly a = with_numbers(above), b = with_numbers(below);
  const auto x = graph.known(a), y = graph.known(b);
  if (y && *y == 0) return std::nullopt;
  if (x && y) return Poly(floored(*x, *y));
  if (const auto exact = ir::divide(a, b)) {
    const bool whole = std::all_of(exact->terms().begin(), exact->terms().end(),
                                   [](const auto& t) { return t.second.is_integer(); });
    if (whole) return exact;
  }
  auto it = quotients_.find({a, b});
  if (it == quotients_.end()) {
    // One that the file gives a name carries that name, wherever it is declared.
    name_quotients();
    it = quotients_.find({a, b});
  }
  if (it == quotients_.end()) {
    std::string base = "quotient";
    if (!a.terms().empty() && !a.terms().back().first.empty())
      base = graph[a.terms().back().first.front().first].name + ".q";
    std::string name = base;
    for (int k = 2; graph.find_size(name); ++k) name = fmt::format("{}.{}", base, k);
    graph.sizes.push_back({.name = name, .quotient = std::make_pair(a, b)});
    it =
        quotients_
            .emplace(std::make_pair(a, b), ir::SizeId{static_cast<int32_t>(graph.sizes.size()) - 1})
            .first;
  }
  return Poly::size(it->second);
}

void ModelState::name_quotients() {
  for (const auto& [name, declaration] : main.sizes) {
    const dsl::Size& declared = *declaration.size;
    const bool open =
        std::find(open_sizes_.begin(), open_sizes_.end(), &declared) != open_sizes_.end();
    if (open || !declared.value || sizes_.count({&main, name})) continue;
    const auto* chain = std::get_if<dsl::Chain>(&declared.value->node);
    if (chain && chain->ops.size() == 1 && chain->ops[0] == dsl::Op::floor_divide)
      (void)file_size(main, name);
  }
}

std::optional<Poly> ModelState::divide(const dsl::Expr& at, const Poly& a, const Poly& b) {
  const auto x = graph.known(a), y = graph.known(b);
  if (y && *y == 0) {
    error(at.where, "a size is divided by 0");
    return std::nullopt;
  }
  if (x && y) {
    if (*x % *y == 0) return Poly(*x / *y);
    Diagnostic& d = error(at.where, fmt::format("`{}` is not whole", source(at.where)));
    d.primary.text = fmt::format("{} / {}", *x, *y);
    d.help = "choose sizes that divide, or write `//` for the floor";
    for (const Poly* p : {&a, &b})
      if (const auto id = p->single(); id && graph[*id].where.valid())
        d.others.push_back(
            {graph[*id].where, fmt::format("`{}` is declared here", graph[*id].name)});
    return std::nullopt;
  }
  if (auto exact = ir::divide(a, b)) return exact;
  if (y)
    if (auto exact = ir::divide(a, Poly(*y))) return exact;
  Diagnostic& d = error(
      at.where, fmt::format("cannot tell whether `{}` divides `{}` exactly", text(b), text(a)));
  d.help = "declare the quotient and compute the product from it, or write `//` for the floor";
  return std::nullopt;
}

std::optional<Poly> ModelState::size(const dsl::ExprPtr& e, const Scope& scope, bool quiet) {
  count_step();
  if (const auto* number = std::get_if<dsl::Number>(&e->node)) {
    if (number->is_integer()) return Poly(number->integer());
    if (!quiet) error(e->where, "a size must be an integer");
    return std::nullopt;
  }
  if (const auto* name = std::get_if<dsl::Name>(&e->node)) {
    if (auto p = size_named(name->text, scope)) {
      if (quiet || scope.find_size(name->text)) return p;
      return check_not_rebound(name->text, *scope.unit, scope, e->where) ? p : std::nullopt;
    }
    if (quiet || is_size_name(name->text, scope)) return std::nullopt;  // reported already
    Diagnostic& d = error(e->where, fmt::format("there is no size `{}`", name->text));
    d.help = suggestion(name->text, size_names(scope));
    if (d.help.empty()) d.help = fmt::format("declare it above: `size {}`", name->text);
    dsl::add_help_for_comment(sources, e->where, d);
    return std::nullopt;
  }
  if (const auto* unary = std::get_if<dsl::Unary>(&e->node);
      unary && unary->op == dsl::UnaryOp::minus) {
    const auto p = size(unary->operand, scope, quiet);
    if (!p) return std::nullopt;
    return ir::scale(*p, {-1, 1});
  }
  if (const auto* chain = std::get_if<dsl::Chain>(&e->node)) {
    auto value = size(chain->operands[0], scope, quiet);
    for (size_t k = 0; value && k < chain->ops.size(); ++k) {
      const auto next = size(chain->operands[k + 1], scope, quiet);
      if (!next) return std::nullopt;
      switch (chain->ops[k]) {
        case dsl::Op::add:
          value = *value + *next;
          break;
        case dsl::Op::subtract:
          value = *value - *next;
          break;
        case dsl::Op::multiply:
          value = *value * *next;
          break;
        case dsl::Op::divide:
          value = divide(*e, *value, *next);
          break;
        case dsl::Op::floor_divide:
          if (!open_sizes_.empty()) promise_positive(*next);
          value = quotient(*value, *next);
          if (!value) error(e->where, "a size is divided by 0");
          break;
        case dsl::Op::remainder: {
          if (!open_sizes_.empty()) promise_positive(*next);
          const auto q = quotient(*value, *next);
          if (!q) {
            error(e->where, "a size is divided by 0");
            return std::nullopt;
          }
          value = *value - *q * *next;
          break;
        }
        default:
          value.reset();
          break;
      }
    }
    if (value || chain->level == dsl::Level::additive || chain->level == dsl::Level::multiplicative)
      return value;
  }
  if (!quiet)
    error(e->where, "this is no size").help =
        "a size is made of sizes and integers with `+ - * / //`";
  return std::nullopt;
}

}  // namespace attn::elaborate
