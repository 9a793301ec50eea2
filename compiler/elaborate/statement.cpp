#include "compiler/elaborate/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ops/table.h"

namespace attn::elaborate {
namespace {

constexpr struct {
  std::string_view name;
  ir::Storage storage;
} kStorages[] = {{"f32", ir::Storage::f32},   {"f16", ir::Storage::f16},
                 {"bf16", ir::Storage::bf16}, {"f64", ir::Storage::f64},
                 {"int", ir::Storage::i32},   {"bool", ir::Storage::boolean}};

}  // namespace

std::optional<ir::Storage> storage_of(ModelState& model, const dsl::Type& type) {
  if (type.dtype.text.empty()) return ir::Storage::f32;
  std::vector<std::string> names;
  for (const auto& row : kStorages) {
    if (row.name == type.dtype.text) return row.storage;
    names.emplace_back(row.name);
  }
  Diagnostic& d =
      model.error(type.dtype.where, fmt::format("there is no type `{}`", type.dtype.text));
  d.help = suggestion(type.dtype.text, names);
  if (d.help.empty()) d.help = "the types are f32, f64, f16, bf16, int and bool";
  return std::nullopt;
}

void Statement::push(const Bound& bound) {
  for (const auto* list : {&bound.leading, &bound.named})
    for (const Binder& b : *list) visible_.push_back({b.name, b.id});
  if (!bound.has_leading) return;
  leading_.emplace_back();
  for (const Binder& b : bound.leading) leading_.back().push_back(b.id);
}

void Statement::pop(const Bound& bound) {
  visible_.resize(visible_.size() - bound.leading.size() - bound.named.size());
  if (bound.has_leading) leading_.pop_back();
}

std::optional<ir::TensorId> Statement::run(const KnownRanges& known) {
  auto ranges = RangeFinder(m_, scope_, definition_, known).run();
  if (!ranges) {
    // Names that do not exist are reported all the same: they may be why there is no range.
    for (const dsl::Index& i : definition_.indices) visible_.push_back({i.name.text, {}});
    check_names(definition_.value);
    if (definition_.condition) check_names(definition_.condition);
    return std::nullopt;
  }
  ranges_ = std::move(*ranges);
  push(ranges_.left);
  std::optional<Condition> c = condition(definition_.condition);
  if (c) {
    path_ = c->conjuncts;
    inside_ += c->inside;
  }
  std::optional<Part> body = whole(definition_.value);
  const bool is_placed = find_position();
  if (!c || !body || !is_placed) return std::nullopt;
  if (c->inside) c->conjuncts.merge(take_inside(body->reduced));
  const int errors_before = m_.error_count();
  check_pending(pending_);
  if (m_.error_count() > errors_before) return std::nullopt;
  outer_ = c->conjuncts;
  body->guard.insert(c->conjuncts.begin(), c->conjuncts.end());
  return finish(std::move(*body));
}

// The right-hand side as one combination: that of the reduction which is all of it, up to constant
// factors of a sum; else a map.
std::optional<Statement::Part> Statement::whole(const dsl::ExprPtr& e) {
  const auto top = top_reduction(e);
  if (!top) {
    const MaybeValue v = expression(e);
    if (!v) return std::nullopt;
    return Part{ir::Combine::set, {}, {}, *v};
  }
  auto p = part(*top->reduction, top->where);
  if (!p) return std::nullopt;
  MaybeValue body = p->body;
  if (top->negative && body) body->expr = ir::negate(body->expr);
  for (const auto& [factor, divides] : top->factors) {
    const MaybeValue f = expression(factor);
    if (body && f)
      body = operate(divides ? dsl::Op::divide : dsl::Op::multiply, *body, top->reduction->operand,
                     *f, factor);
    else
      body.reset();
  }
  if (!body) return std::nullopt;
  p->body = *body;
  return p;
}

std::optional<Statement::TopReduction> Statement::top_reduction(const dsl::ExprPtr& e) const {
  TopReduction top;
  const dsl::Expr* at = e.get();
  for (;;) {
    if (const auto* r = std::get_if<dsl::Reduction>(&at->node)) {
      if (!combine_of(*r)) return std::nullopt;
      const bool linear = r->kind.text == "sum" || r->kind.text == "mean";
      // Outside its condition a sum is 0 and so is the definition; other neutral elements are not.
      if (!linear && (definition_.condition || top.negative || !top.factors.empty()))
        return std::nullopt;
      top.reduction = r;
      top.where = at->where;
      return top;
    }
    if (const auto* u = std::get_if<dsl::Unary>(&at->node); u && u->op == dsl::UnaryOp::minus) {
      top.negative = !top.negative;
      at = u->operand.get();
      continue;
    }
    const auto* c = std::get_if<dsl::Chain>(&at->node);
    if (!c || c->level != dsl::Level::multiplicative) return std::nullopt;
    const dsl::Expr* inner = nullptr;
    for (size_t k = 0; k < c->operands.size(); ++k) {
      const dsl::Op op = k == 0 ? dsl::Op::multiply : c->ops[k - 1];
      if (op != dsl::Op::multiply && op != dsl::Op::divide) return std::nullopt;
      if (is_constant(c->operands[k])) {
        top.factors.emplace_back(c->operands[k], op == dsl::Op::divide);
      } else if (!inner && op == dsl::Op::multiply) {
        inner = c->operands[k].get();
      } else {
        return std::nullopt;
      }
    }
    if (!inner) return std::nullopt;
    at = inner;
  }
}

// Made of numbers and sizes only.
bool Statement::is_constant(const dsl::ExprPtr& e) const {
  if (std::get_if<dsl::Number>(&e->node)) return true;
  if (const auto* x = std::get_if<dsl::Name>(&e->node)) {
    for (const Visible& v : visible_)
      if (v.name == x->text) return false;
    if (const Binding* b = scope_.find(x->text); b && !m_.is_subscripted(*b))
      return b->kind == Binding::Kind::scalar && ir::tensors(b->value.expr).empty();
    return m_.is_size_name(x->text, scope_);
  }
  if (const auto* x = std::get_if<dsl::Unary>(&e->node))
    return x->op == dsl::UnaryOp::minus && is_constant(x->operand);
  if (const auto* x = std::get_if<dsl::Power>(&e->node))
    return is_constant(x->base) && is_constant(x->exponent);
  if (const auto* x = std::get_if<dsl::Chain>(&e->node))
    return (x->level == dsl::Level::additive || x->level == dsl::Level::multiplicative) &&
           std::all_of(x->operands.begin(), x->operands.end(),
                       [&](const dsl::ExprPtr& o) { return is_constant(o); });
  if (const auto* x = std::get_if<dsl::Call>(&e->node))
    return ops::find(x->callee.text) &&
           std::all_of(x->arguments.begin(), x->arguments.end(),
                       [&](const dsl::Argument& a) { return is_constant(a.value); });
  return false;
}

// Reports the names of an expression that stand for nothing, and reads of the wrong rank.
void Statement::check_names(const dsl::ExprPtr& e) {
  if (const auto* x = std::get_if<dsl::Name>(&e->node)) {
    const bool index = std::any_of(visible_.begin(), visible_.end(),
                                   [&](const Visible& v) { return v.name == x->text; });
    if (!index && !scope_.find(x->text) && !m_.is_size_name(x->text, scope_))
      unknown_name(x->text, e->where, false);
  } else if (const auto* a = std::get_if<dsl::Access>(&e->node)) {
    Binding* b = scope_.find(a->tensor.text);
    if (b)
      b->used = true;
    else
      unknown_name(a->tensor.text, a->tensor.where, true);
    if (b && b->kind == Binding::Kind::tensor && !a->leading)
      (void)check_rank(*a, e->where, b->tensor, 0);
    for (const dsl::ExprPtr& s : a->subscripts) check_names(s);
  } else if (const auto* c = std::get_if<dsl::Call>(&e->node)) {
    const Callable* callable = nullptr;
    const ir::Operation* op = nullptr;
    (void)check_callee(*c, e->where, callable, op);
    for (const dsl::Argument& argument : c->arguments) check_names(argument.value);
  } else if (const auto* u = std::get_if<dsl::Unary>(&e->node)) {
    check_names(u->operand);
  } else if (const auto* p = std::get_if<dsl::Power>(&e->node)) {
    check_names(p->base);
    check_names(p->exponent);
  } else if (const auto* chain = std::get_if<dsl::Chain>(&e->node)) {
    for (const dsl::ExprPtr& operand : chain->operands) check_names(operand);
  } else if (const auto* i = std::get_if<dsl::Conditional>(&e->node)) {
    for (const dsl::ExprPtr& part : {i->condition, i->yes, i->no}) check_names(part);
  } else if (const auto* r = std::get_if<dsl::Reduction>(&e->node)) {
    const size_t before = visible_.size();
    for (const dsl::Index& index : r->indices) visible_.push_back({index.name.text, {}});
    if (r->condition) check_names(r->condition);
    check_names(r->operand);
    visible_.resize(before);
  }
}

std::optional<ir::Storage> Statement::storage(const Value& body, const dsl::Type* declared,
                                              bool is_state) {
  const Span where = definition_.value->where;
  if (!declared || (declared->dtype.text.empty() && !is_state)) {
    switch (body.sort) {
      case Sort::truth:
        return ir::Storage::boolean;
      case Sort::position:
      case Sort::integer:
        return ir::Storage::i32;
      // A number without a type is real, as most numbers are.
      case Sort::literal:
        return ir::Storage::f32;
      case Sort::real:
        return body.expr.type() == ir::Type::f64 ? ir::Storage::f64 : ir::Storage::f32;
    }
  }
  const auto storage = storage_of(m_, *declared);
  if (!storage) return std::nullopt;
  const ir::Type type = ir::arithmetic_type(*storage);
  const bool fits = type == ir::Type::boolean ? body.sort == Sort::truth
                    : type == ir::Type::integer
                        ? body.sort <= Sort::integer && body.sort != Sort::truth
                        : body.sort != Sort::truth;
  if (fits) return storage;
  const std::string& type_name = declared->dtype.text;
  Diagnostic& d =
      m_.error(where, fmt::format("`{}` is declared as {}, and this is {}", definition_.target.text,
                                  type_name.empty() ? "f32" : type_name,
                                  body.sort == Sort::truth  ? "a truth value"
                                  : body.sort == Sort::real ? "real"
                                                            : "int"));
  d.others.push_back({declared->where, "declared here"});
  if (body.sort == Sort::real && type == ir::Type::integer) d.help = "convert it with `int(…)`";
  if (body.sort == Sort::truth) d.help = "write `if … then 1 else 0`";
  return std::nullopt;
}

std::optional<ir::TensorId> Statement::finish(Part part) {
  if (part.combine == ir::Combine::argmax) part.body.sort = std::min(part.body.sort, Sort::real);
  Value as_stored = part.body;
  if (part.combine == ir::Combine::argmax) as_stored = {ir::Expr(0), Sort::integer};
  if (part.combine == ir::Combine::logsumexp && as_stored.sort != Sort::real)
    as_stored = {ir::Expr(0.0), Sort::real};
  const dsl::State* state = scope_.state_of(definition_.target.text);
  const auto stored =
      storage(as_stored, state ? &state->type : scope_.output_type(definition_.target.text), state);
  if (!stored) return std::nullopt;
  if (ir::is_real(ir::arithmetic_type(*stored)) && part.combine != ir::Combine::argmax)
    part.body = as_real(part.body);
  ir::Tensor tensor{.name = full_name_, .storage = *stored, .where = definition_.target.where};
  ir::Definition d{.combine = part.combine, .guard = part.guard, .where = where_};
  for (const auto* list : {&ranges_.left.leading, &ranges_.left.named}) {
    for (const Binder& b : *list) {
      d.free.push_back(b.id);
      tensor.extents.push_back(*b.given);
    }
  }
  d.reduced = part.reduced;
  d.body = part.body.expr;
  // The one literal for an integer in a real tensor: `1.0` and `1` are the same definition.
  if (ir::is_real(ir::arithmetic_type(*stored)) && d.body.is(ir::Kind::literal) &&
      std::abs(d.body->number.value()) < 9e15 &&
      d.body->number.value() == std::floor(d.body->number.value()))
    d.body = ir::Expr(static_cast<int64_t>(d.body->number.value()));
  const auto own = scope_.names.find(definition_.target.text);
  const Carried* carried = own == scope_.names.end() ? nullptr : own->second.carried;
  if (carried && carried->definition == &definition_) {
    if (!takes_place_of(m_.graph[own->second.tensor], tensor)) return std::nullopt;
    d.target = own->second.tensor;
  } else if (!position_.empty()) {
    return place(std::move(d), tensor);
  } else {
    d.target = m_.new_tensor(std::move(tensor));
  }
  const ir::TensorId target = d.target;
  m_.add_definition(std::move(d));
  return target;
}

// What was read before it was defined has the type and the shape that it was taken to have.
bool Statement::takes_place_of(const ir::Tensor& declared, const ir::Tensor& defined) {
  for (size_t k = 0; k < declared.extents.size(); ++k)
    ATTN_CHECK(m_.graph.same(declared.extents[k], defined.extents[k]), "the shape of a recurrence");
  if (declared.storage == defined.storage) return true;
  // What made it f64 may have gone, as of x - x; it was read as f64.
  if (declared.storage == ir::Storage::f64 && defined.storage == ir::Storage::f32) return true;
  Diagnostic& d = m_.error(
      definition_.value->where,
      fmt::format("`{}` is {}, and what is read one step back is {} here", definition_.target.text,
                  ir::name_of(defined.storage), ir::name_of(declared.storage)));
  d.help = ir::is_real(ir::arithmetic_type(defined.storage))
               ? "make it an output of this type, or compute it in the other"
               : "count in real numbers: `float(…)`, or `if … then 1 else 0`";
  return false;
}

MaybeValue Statement::scalar(ModelState& model, Scope& scope, const dsl::ExprPtr& e,
                             const std::string& full_name) {
  dsl::Definition definition;
  definition.target = {full_name, e->where};
  definition.value = e;
  Statement statement(model, scope, definition, e->where, full_name);
  auto ranges = RangeFinder(model, scope, definition).run();
  if (!ranges) {
    statement.check_names(e);
    return std::nullopt;
  }
  statement.ranges_ = std::move(*ranges);
  const MaybeValue v = statement.expression(e);
  const int errors_before = model.error_count();
  statement.check_pending(statement.pending_);
  if (model.error_count() > errors_before) return std::nullopt;
  return v;
}

}  // namespace attn::elaborate
