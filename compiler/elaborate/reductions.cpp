// Reductions, and softmax, which is written with one. A reduction inside an expression becomes a
// definition of its own, which keeps those conditions around it that speak of its indices only.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/statement.h"
#include "compiler/ops/table.h"
#include "compiler/solve/prove.h"

namespace attn::elaborate {
namespace {

bool within(const std::set<ir::IndexId>& part, const std::set<ir::IndexId>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// The operands of a top-level `and`.
std::vector<dsl::ExprPtr> split(const dsl::ExprPtr& e) {
  if (const auto* chain = std::get_if<dsl::Chain>(&e->node);
      chain && chain->level == dsl::Level::logical_and) {
    std::vector<dsl::ExprPtr> result;
    for (const dsl::ExprPtr& operand : chain->operands)
      for (dsl::ExprPtr& x : split(operand)) result.push_back(std::move(x));
    return result;
  }
  return {e};
}

bool is_plain(const ir::Expr& e) {
  return e.is(ir::Kind::read) && std::all_of(e.args().begin(), e.args().end(),
                                             [](const auto& s) { return s.is(ir::Kind::index); });
}

// A branch `-1e9` of an `if` among the addends of a score, or null.
const dsl::Expr* masking_number(const dsl::ExprPtr& e) {
  constexpr double kLeast = 1e4;
  const auto is_large = [&](const dsl::ExprPtr& branch) {
    const auto* minus = std::get_if<dsl::Unary>(&branch->node);
    const auto* number = minus && minus->op == dsl::UnaryOp::minus
                             ? std::get_if<dsl::Number>(&minus->operand->node)
                             : nullptr;
    return number && (number->is_integer() ? static_cast<double>(number->integer())
                                           : number->real()) >= kLeast;
  };
  if (const auto* choice = std::get_if<dsl::Conditional>(&e->node)) {
    for (const dsl::ExprPtr* branch : {&choice->yes, &choice->no})
      if (is_large(*branch)) return branch->get();
  }
  if (const auto* chain = std::get_if<dsl::Chain>(&e->node);
      chain && chain->level == dsl::Level::additive)
    for (const dsl::ExprPtr& operand : chain->operands)
      if (const dsl::Expr* number = masking_number(operand)) return number;
  return nullptr;
}

void warn_of_masking_number(ModelState& model, const dsl::Reduction& r) {
  const dsl::Expr* number = masking_number(r.operand);
  if (!number) return;
  const std::string& word = r.kind.text;
  Diagnostic& d = model.warning(number->where, "performance",
                                fmt::format("what this number hides from `{}` is computed all the "
                                            "same",
                                            word));
  d.help = fmt::format(
      "say it as a condition, whose hidden elements are skipped: `{}[{} where …] "
      "(…)`",
      word, r.indices.empty() ? "j" : r.indices.back().name.text);
}

}  // namespace

std::optional<Statement::Condition> Statement::condition(const dsl::ExprPtr& e) {
  Condition result;
  if (!e) return result;
  const ir::Conditions saved = path_;
  bool good = true;
  for (const dsl::ExprPtr& x : split(e)) {
    if (std::get_if<dsl::Inside>(&x->node)) {
      result.inside = true;
      continue;
    }
    const auto c = truth(x, "`where`");
    if (!c) {
      good = false;
      continue;
    }
    result.conjuncts.merge(ir::conjuncts(*c));
    path_.merge(ir::conjuncts(*c));
  }
  path_ = saved;
  if (!good) return std::nullopt;
  return result;
}

std::optional<ir::Combine> Statement::combine_of(const dsl::Reduction& r) const {
  const std::string& word = r.kind.text;
  if (word == "sum" || word == "mean") return ir::Combine::sum;
  if (word == "max") return ir::Combine::max;
  if (word == "min") return ir::Combine::min;
  if (word == "prod") return ir::Combine::prod;
  if (word == "logsumexp") return ir::Combine::logsumexp;
  if (word == "argmax") return ir::Combine::argmax;
  return std::nullopt;
}

MaybeValue Statement::reduction(const dsl::Reduction& r, Span where) {
  if (!functions_.empty()) {
    m_.error(where, "a function of scalars holds no reduction").help =
        "reduce where the function is called, and give it the result";
    return std::nullopt;
  }
  if (r.kind.text == "softmax") return softmax(r, where);
  std::vector<Pending> outer = std::move(pending_);
  pending_.clear();
  std::optional<Part> p = part(r, where);
  std::vector<Pending> mine = std::move(pending_);
  pending_ = std::move(outer);
  if (!p) return std::nullopt;
  return extract(r.kind.text == "logsumexp" ? "lse" : r.kind.text, std::move(*p), std::move(mine),
                 where);
}

// The combination that a reduction is; what has to be proved is left in pending_.
std::optional<Statement::Part> Statement::part(const dsl::Reduction& r, Span where) {
  const auto found = ranges_.reductions.find(&r);
  ATTN_CHECK(found != ranges_.reductions.end(), "a reduction without ranges");
  const Bound& bound = found->second;
  const std::string& word = r.kind.text;
  Part result;
  result.combine = *combine_of(r);
  for (const auto* list : {&bound.leading, &bound.named})
    for (const Binder& b : *list) result.reduced.push_back(b.id);
  if (result.combine == ir::Combine::argmax && result.reduced.size() != 1) {
    m_.error(r.kind.where, "`argmax` takes one index");
    return std::nullopt;
  }
  push(bound);
  const ir::Conditions saved = path_;
  std::optional<Condition> c = condition(r.condition);
  const std::vector<Pending> of_condition = pending_;
  MaybeValue operand;
  if (c) {
    path_.insert(c->conjuncts.begin(), c->conjuncts.end());
    inside_ += c->inside;
  }
  operand = expression(r.operand);
  if (c) {
    inside_ -= c->inside;
    if (c->inside) c->conjuncts.merge(take_inside({}));
  }
  path_ = saved;
  pop(bound);
  if (!c || !operand) return std::nullopt;
  const bool real = word == "mean" || word == "logsumexp";
  if (result.combine == ir::Combine::logsumexp) warn_of_masking_number(m_, r);
  if (!require_number(*operand, r.operand->where)) return std::nullopt;
  if (real) *operand = as_real(*operand);
  if (result.reduced.empty()) {  // `...` of no dimensions
    if (result.combine != ir::Combine::sum && !c->conjuncts.empty()) {
      m_.error(where, "`...` stands for no index here, so that there is nothing to reduce");
      return std::nullopt;
    }
    result.combine = ir::Combine::set;
  }
  result.guard = c->conjuncts;
  result.body = *operand;
  if (result.combine == ir::Combine::argmax) return result;
  if (word == "mean" && !result.reduced.empty()) {
    std::vector<Pending> operands = std::move(pending_);
    pending_ = of_condition;
    const MaybeValue count = over_count(result.reduced, result.guard, where);
    pending_ = std::move(operands);
    result.body.expr = result.body.expr / count->expr;
    result.body.sort = Sort::real;
  }
  return result;
}

// max(n, 1) for the number n of points that a mean is taken over.
MaybeValue Statement::over_count(const std::vector<ir::IndexId>& reduced,
                                 const ir::Conditions& guard, Span where) {
  ir::Expr count;
  if (guard.empty()) {
    ir::Poly n(1);
    for (const ir::IndexId i : reduced) n = n * m_.graph[i].extent;
    count = m_.number(n);
    if (solve::nonnegative(m_.graph, n - ir::Poly(1))) return Value{count, Sort::position};
  } else {
    Part ones;
    ones.reduced = reduced;
    ones.guard = guard;
    ones.body = {ir::Expr(1), Sort::literal};
    std::vector<Pending> mine = std::move(pending_);
    count = extract("n", std::move(ones), std::move(mine), where).expr;
  }
  return Value{ops::apply("max", {count, ir::Expr(1)}), Sort::real};
}

// softmax[j where c](e) is exp(e - logsumexp[j where c] e) where c.
MaybeValue Statement::softmax(const dsl::Reduction& r, Span where) {
  warn_of_masking_number(m_, r);
  std::vector<ir::IndexId> over;
  if (r.leading && !leading_.empty()) over = leading_.back();
  for (const dsl::Index& index : r.indices) {
    if (index.extent) {
      m_.error(cover(index.name.where, index.extent->where), "a softmax binds no index").help =
          fmt::format("write `softmax[{}]`; its range is that of `{}` around it", index.name.text,
                      index.name.text);
      return std::nullopt;
    }
    auto it = std::find_if(visible_.rbegin(), visible_.rend(),
                           [&](const Visible& v) { return v.name == index.name.text; });
    if (it == visible_.rend()) {
      std::vector<std::string> candidates;
      for (const Visible& v : visible_) candidates.push_back(v.name);
      Diagnostic& d = m_.error(index.name.where, fmt::format("there is no index `{}` around this "
                                                             "softmax",
                                                             index.name.text));
      d.help = suggestion(index.name.text, candidates);
      if (d.help.empty())
        d.help = "a softmax binds no index: it belongs to the left side, or to a reduction around";
      return std::nullopt;
    }
    if (std::find(over.begin(), over.end(), it->id) != over.end()) {
      m_.error(index.name.where, fmt::format("index `{}` is named twice", index.name.text));
      return std::nullopt;
    }
    over.push_back(it->id);
  }
  // The row is the same for all its elements: what holds for one element only counts for none.
  const ir::Conditions saved = path_;
  std::erase_if(path_, [&](const ir::Expr& c) {
    return std::any_of(over.begin(), over.end(), [&](ir::IndexId i) { return ir::uses(c, i); });
  });
  const ir::Conditions of_row = path_;
  std::vector<Pending> outer = std::move(pending_);
  pending_.clear();
  std::optional<Condition> c = condition(r.condition);
  const std::vector<Pending> of_condition = pending_;
  if (c) {
    path_.insert(c->conjuncts.begin(), c->conjuncts.end());
    inside_ += c->inside;
  }
  MaybeValue operand = expression(r.operand);
  if (c) {
    inside_ -= c->inside;
    if (c->inside) c->conjuncts.merge(take_inside({}));
  }
  path_ = of_row;
  std::vector<Pending> mine = std::move(pending_);
  pending_ = std::move(outer);
  if (!c || !operand || !make_real(*operand, r.operand->where)) {
    path_ = saved;
    return std::nullopt;
  }
  if (!is_plain(operand->expr)) {
    Part score{ir::Combine::set, {}, c->conjuncts, *operand};
    *operand = extract("score", std::move(score), std::move(mine), r.operand->where);
    mine = of_condition;
  }
  Part rows{ir::Combine::logsumexp, over, c->conjuncts, *operand};
  const Value lse = extract("lse", std::move(rows), std::move(mine), where);
  path_ = saved;
  const ir::Expr weight = ops::apply("exp", {operand->expr - lse.expr});
  return Value{ir::where(c->conjuncts, weight), Sort::real};
}

Value Statement::extract(std::string_view suffix, Part part, std::vector<Pending> pending,
                         Span where) {
  std::set<ir::IndexId> used = ir::indices(part.body.expr);
  ir::insert_all(used, ir::indices(part.guard));
  for (const ir::IndexId i : part.reduced) used.erase(i);
  ir::Conditions inherited;
  const auto inherit = [&] {
    inherited.clear();
    for (const ir::Expr& c : path_)
      if (within(ir::indices(c), used)) inherited.insert(c);
  };
  const auto local = [&](const Pending& p) {
    ir::Conditions known = inherited;
    for (const ir::Expr& c : p.known)
      if (!path_.count(c)) known.insert(c);
    return known;
  };
  inherit();
  // A read that is in range only under a condition on further indices takes those along.
  for (const Pending& p : pending) {
    if (p.settled || is_proved(p, local(p)) || !is_proved(p, p.known)) continue;
    for (const ir::Expr& c : path_) ir::insert_all(used, ir::indices(c));
    inherit();
    break;
  }
  for (Pending& p : pending) {
    // An `inside` further out covers this read where it can speak of its subscript.
    const std::set<ir::IndexId> at = ir::indices(p.subscript);
    const bool hidden = std::any_of(part.reduced.begin(), part.reduced.end(),
                                    [&](ir::IndexId i) { return at.count(i) > 0; });
    if (inside_ > 0 && !p.settled && !hidden && !is_proved(p, local(p))) {
      for (const ir::Expr* bound : {&p.low, &p.high})
        if (!solve::proves(m_.graph, local(p), *bound)) part.guard.merge(ir::conjuncts(*bound));
      pending_.push_back(p);
      p.settled = true;
    }
    p.known = local(p);
  }
  check_pending(pending);
  part.guard.insert(inherited.begin(), inherited.end());

  ir::Definition d{.combine = part.combine, .where = where};
  std::map<ir::IndexId, ir::Expr> fresh;
  std::vector<ir::Expr> subscripts;
  ir::Tensor tensor{.name = fmt::format("{}.{}", full_name_, suffix), .where = where};
  const auto renew = [&](ir::IndexId i) {
    const ir::Index old = m_.graph[i];
    const ir::IndexId n = m_.graph.new_index(old.name, old.extent);
    fresh.emplace(i, ir::index_value(n));
    return n;
  };
  for (const Visible& v : visible_) {
    if (!used.count(v.id)) continue;
    d.free.push_back(renew(v.id));
    tensor.extents.push_back(m_.graph[v.id].extent);
    subscripts.push_back(ir::index_value(v.id));
  }
  for (const ir::IndexId i : part.reduced) d.reduced.push_back(renew(i));
  if (part.combine == ir::Combine::argmax) part.body.sort = Sort::integer;
  const Sort sort = part.body.sort;
  tensor.storage = sort == Sort::truth                               ? ir::Storage::boolean
                   : sort == Sort::integer || sort == Sort::position ? ir::Storage::i32
                   : part.body.expr.type() == ir::Type::f64          ? ir::Storage::f64
                                                                     : ir::Storage::f32;
  if (part.combine == ir::Combine::logsumexp && !ir::is_real(ir::arithmetic_type(tensor.storage)))
    tensor.storage = ir::Storage::f32;
  d.guard = ir::substitute(part.guard, fresh);
  d.body = ir::substitute(part.body.expr, fresh);
  d.target = m_.new_tensor(std::move(tensor));
  m_.add_definition(d);
  const ir::Expr e = m_.graph.read(d.target, std::move(subscripts));
  return {e, e.type() == ir::Type::integer   ? Sort::integer
             : e.type() == ir::Type::boolean ? Sort::truth
                                             : Sort::real};
}

}  // namespace attn::elaborate
