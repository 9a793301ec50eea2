// A loop over chunks computes what one update needs. Where a condition says that the update adds
// nothing, nothing else of the loop's body is needed: all threads of the block skip it.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

bool is_condition(const Call& call) { return std::string_view(kBodyCall) == call.name; }

// The condition on the body of a loop, in terms of what is outside of it.
class Find : public IRVisitor {
 public:
  explicit Find(const std::string& loop) : loop_(loop) {}
  Expr condition;
  std::set<const Call*> calls;  // it stands in them
  bool has_barrier = false;     // all threads must come to it

 private:
  using IRVisitor::visit;

  void visit(const LetStmt* op) override {
    lets_[op->name] = op->value;
    IRVisitor::visit(op);
  }
  void visit(const Let* op) override {
    lets_[op->name] = op->value;
    IRVisitor::visit(op);
  }
  void visit(const Call* op) override {
    if (op->is_intrinsic(Call::gpu_thread_barrier)) has_barrier = true;
    if (!is_condition(*op)) return IRVisitor::visit(op);
    const Variable* loop = expanded(op->args[1]).as<Variable>();
    if (!loop || loop->name != loop_) return;
    calls.insert(op);
    condition = expanded(op->args[0]);
  }

  Expr expanded(Expr e) const {
    for (Expr before; !before.same_as(e);) {
      before = e;
      e = substitute(lets_, before);
    }
    return e;
  }

  const std::string& loop_;
  std::map<std::string, Expr> lets_;
};

class SkipBodies : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    Find find(op->name);
    if (op->for_type == ForType::Serial) op->body.accept(&find);
    tested_.merge(find.calls);
    if (find.condition.defined() && find.has_barrier && differs(find.condition))
      throw InternalError("threads of a block skip a barrier of others");
    if (op->for_type == ForType::GPUThread) of_threads_.insert(op->name);
    Stmt body = mutate(op->body);
    // Around the loop, where it can be: what does not change in it is computed before it.
    const bool is_of_round = find.condition.defined() && expr_uses_var(find.condition, op->name);
    if (is_of_round) body = IfThenElse::make(find.condition, body);
    Stmt loop = op;
    if (!body.same_as(op->body))
      loop = For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                       op->device_api, body);
    if (!find.condition.defined() || is_of_round) return loop;
    return IfThenElse::make(find.condition, loop);
  }
  Expr visit(const Call* op) override {
    if (!is_condition(*op)) return IRMutator::visit(op);
    return tested_.count(op) ? const_true() : mutate(op->args[0]);
  }

  Stmt visit(const LetStmt* op) override {
    if (differs(op->value)) of_threads_.insert(op->name);
    return IRMutator::visit(op);
  }

  // Between threads.
  bool differs(const Expr& e) const {
    return std::ranges::any_of(of_threads_,
                               [&](const std::string& name) { return expr_uses_var(e, name); });
  }

  std::set<const Call*> tested_;
  std::set<std::string> of_threads_;  // their loops, and what is computed of them
};

}  // namespace

void skip_bodies(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new SkipBodies); }

}  // namespace attn::lower
