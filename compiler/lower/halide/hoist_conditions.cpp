#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

using Conditions = std::vector<Expr>;

bool contains(const Conditions& all, const Expr& e) {
  return std::any_of(all.begin(), all.end(), [&](const Expr& other) { return equal(e, other); });
}

// The buffers of the nodes of a kind, Load or Store, in an expression or a statement.
template <class Node>
class BufferNames : public IRVisitor {
 public:
  std::set<std::string> names;

 private:
  using IRVisitor::visit;
  void visit(const Node* op) override {
    names.insert(op->name);
    IRVisitor::visit(op);
  }
};

template <class Node, class Code>
std::set<std::string> buffers(const Code& code) {
  BufferNames<Node> visitor;
  code.accept(&visitor);
  return visitor.names;
}

std::set<std::string> loads_of(const Expr& e) { return buffers<Load>(e); }

void take_apart(const Expr& e, Conditions& parts) {
  if (const And* both = e.as<And>()) {
    take_apart(both->a, parts);
    take_apart(both->b, parts);
  } else if (const Call* likely = Call::as_intrinsic(e, {Call::likely})) {
    take_apart(likely->args[0], parts);
  } else if (const Let* let = e.as<Let>()) {
    // Two places have other names for the same.
    take_apart(substitute(let->name, let->value, let->body), parts);
  } else {
    parts.push_back(e);
  }
}

// The conditions under which a statement stores anything that lives on after it: those on computed
// data, or all. Nothing: it stores no such thing.
class Effects : public IRVisitor {
 public:
  explicit Effects(bool all) : all_(all) {}
  std::optional<Conditions> under;

 private:
  using IRVisitor::visit;

  void meet(const std::optional<Conditions>& other) {
    if (!other) return;
    if (!under) {
      under = other;
      return;
    }
    std::erase_if(*under, [&](const Expr& e) { return !contains(*other, e); });
  }
  std::optional<Conditions> of(const Stmt& s) {
    std::optional<Conditions> outside;
    outside.swap(under);
    if (s.defined()) s.accept(this);
    outside.swap(under);
    return outside;
  }
  template <class F>
  void without(std::optional<Conditions> found, F depends) {
    if (found) std::erase_if(*found, depends);
    meet(found);
  }

  void visit(const Store* op) override {
    if (locals_.count(op->name)) return;
    meet(Conditions());
  }
  void visit(const Evaluate* op) override {
    if (!is_const(op->value)) meet(Conditions());
  }
  void visit(const AssertStmt*) override { meet(Conditions()); }
  void visit(const IfThenElse* op) override {
    std::optional<Conditions> then = of(op->then_case), otherwise = of(op->else_case);
    if (then && !otherwise) {
      Conditions parts;
      take_apart(op->condition, parts);
      for (const Expr& e : parts)
        if (all_ || !loads_of(e).empty()) then->push_back(e);
    }
    meet(then);
    meet(otherwise);
  }
  void visit(const For* op) override {
    without(of(op->body), [&](const Expr& e) { return expr_uses_var(e, op->name); });
  }
  void visit(const LetStmt* op) override {
    std::optional<Conditions> found = of(op->body);
    if (found)
      for (Expr& e : *found) e = substitute(op->name, op->value, e);
    meet(found);
  }
  void visit(const Allocate* op) override {
    const bool fresh = locals_.insert(op->name).second;
    without(of(op->body), [&](const Expr& e) { return loads_of(e).count(op->name) > 0; });
    if (fresh) locals_.erase(op->name);
  }

  bool all_;
  std::set<std::string> locals_;
};

// The conditions that a statement tests before it does anything.
Conditions first_tested(const Stmt& s) {
  Conditions parts;
  if (const LetStmt* let = s.as<LetStmt>()) {
    parts = first_tested(let->body);
    for (Expr& e : parts) e = substitute(let->name, let->value, e);
  } else if (const IfThenElse* test = s.as<IfThenElse>(); test && !test->else_case.defined()) {
    take_apart(test->condition, parts);
  }
  return parts;
}

class Hoist : public IRMutator {
  using IRMutator::visit;

  // Conditions that may be tested before a statement, and have not been.
  Expr before(const Stmt& s) {
    // Inside of such a condition the others come along: what they guard is expensive.
    Effects effects(!tested_.empty());
    s.accept(&effects);
    if (!effects.under) return {};
    const std::set<std::string> stored = buffers<Store>(s);
    const Conditions first = first_tested(s);
    Expr all;
    for (const Expr& e : *effects.under) {
      const std::set<std::string> read = loads_of(e);
      const bool changes = std::any_of(read.begin(), read.end(), [&](const std::string& name) {
        return stored.count(name) > 0;
      });
      if (changes || contains(tested_, e) || contains(first, e)) continue;
      tested_.push_back(e);
      known_.push_back({e, lets_.size()});
      all = all.defined() ? all && e : e;
    }
    return all;
  }

  // `mutated` is the statement with its parts done.
  template <class F>
  Stmt guarded(const Stmt& s, F mutated) {
    const size_t tested = tested_.size(), known = known_.size();
    const Expr condition = before(s);
    Stmt result = mutated();
    tested_.resize(tested);
    known_.resize(known);
    return condition.defined() ? IfThenElse::make(condition, result) : result;
  }

  Stmt visit(const For* op) override {
    return guarded(op, [&] {
      Stmt body = guarded(op->body, [&] { return mutate(op->body); });
      return body.same_as(op->body) ? Stmt(op)
                                    : For::make(op->name, op->min, op->extent, op->for_type,
                                                op->partition_policy, op->device_api, body);
    });
  }

  Stmt visit(const Allocate* op) override {
    return guarded(op, [&] { return IRMutator::visit(op); });
  }

  Stmt visit(const IfThenElse* op) override {
    if (op->else_case.defined()) return IRMutator::visit(op);
    const size_t tested = tested_.size();
    Conditions parts;
    take_apart(op->condition, parts);
    Expr left;
    for (const Expr& e : parts) {
      if (is_known(e)) continue;
      left = left.defined() ? left && e : e;
      if (!loads_of(e).empty()) tested_.push_back(e);
    }
    const Stmt then = mutate(op->then_case);
    tested_.resize(tested);
    return left.defined() ? IfThenElse::make(left, then) : then;
  }

  Stmt visit(const LetStmt* op) override {
    lets_.emplace_back(op->name, op->value);
    Stmt result = IRMutator::visit(op);
    lets_.pop_back();
    return result;
  }

  // Whether a condition of data has been tested outside. LLVM does not know that stores in between
  // leave the data as it is.
  bool is_known(Expr e) const {
    if (known_.empty() || loads_of(e).empty()) return false;
    for (size_t n = lets_.size() + 1; n-- > 0;) {
      for (const Known& k : known_)
        if (k.lets == n && equal(k.condition, e)) return true;
      if (n > 0) e = substitute(lets_[n - 1].first, lets_[n - 1].second, e);
    }
    return false;
  }

  // What holds in all of a statement, in terms of what is defined outside of so many lets.
  struct Known {
    Expr condition;
    size_t lets;
  };
  std::vector<Known> known_;
  std::vector<std::pair<std::string, Expr>> lets_;

  Conditions tested_;
};

}  // namespace

void hoist_conditions(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new Hoist); }

}  // namespace attn::lower
