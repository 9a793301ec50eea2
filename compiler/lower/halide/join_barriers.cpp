// Halide lets the threads of a block meet after each Func. Where nothing that others see was read
// or written since they met, they need not meet again.
#include <set>
#include <string>
#include <utility>

#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

// Names that are stored to.
class Stored : public IRVisitor {
 public:
  std::set<std::string> names;

 private:
  using IRVisitor::visit;
  void visit(const Store* op) override {
    names.insert(op->name);
    IRVisitor::visit(op);
  }
};

class JoinBarriers : public IRMutator {
  using IRMutator::visit;

  // Since threads met last: what they may have done, and which memory the meeting was about.
  struct Since {
    bool touched = true;
    int64_t memory = 0;
  };
  static Since either(const Since& a, const Since& b) {
    return {a.touched || b.touched, a.memory & b.memory};
  }

  void touch(const std::string& name) {
    if (!own_.count(name)) since_.touched = true;
  }

  Stmt visit(const For* op) override {
    if (op->for_type == ForType::GPUBlock && !in_kernel_) {
      in_kernel_ = true;
      Stored stored;
      op->body.accept(&stored);
      stored_ = stored.names;
      since_ = {};
      Stmt s = IRMutator::visit(op);
      in_kernel_ = false;
      return s;
    }
    if (!in_kernel_ || op->for_type == ForType::GPUBlock || op->for_type == ForType::GPUThread)
      return IRMutator::visit(op);
    // A round begins as the loop does, or as a round ends, which is taken for the worst first.
    const Since before = since_;
    since_ = {};
    Stmt s = IRMutator::visit(op);
    if (!either(before, since_).touched) {
      since_ = either(before, since_);
      s = IRMutator::visit(op);
    }
    since_ = either(before, since_);
    return s;
  }
  Stmt visit(const IfThenElse* op) override {
    const Expr condition = mutate(op->condition);
    const Since before = since_;
    const Stmt then_case = mutate(op->then_case);
    const Since after = std::exchange(since_, before);
    const Stmt else_case = op->else_case.defined() ? mutate(op->else_case) : Stmt();
    since_ = either(since_, after);
    return IfThenElse::make(condition, then_case, else_case);
  }
  Stmt visit(const Allocate* op) override {
    const bool is_own = op->memory_type == Halide::MemoryType::Register ||
                        op->memory_type == Halide::MemoryType::Stack;
    if (is_own) own_.insert(op->name);
    return IRMutator::visit(op);
  }
  Expr visit(const Load* op) override {
    if (stored_.count(op->name)) touch(op->name);
    return IRMutator::visit(op);
  }
  Stmt visit(const Store* op) override {
    Stmt s = IRMutator::visit(op);
    touch(op->name);
    return s;
  }
  Stmt visit(const Evaluate* op) override {
    const Call* call = op->value.as<Call>();
    if (!in_kernel_ || call == nullptr || !call->is_intrinsic(Call::gpu_thread_barrier))
      return IRMutator::visit(op);
    const auto memory = as_const_int(call->args[0]);
    if (memory && !since_.touched && (*memory & ~since_.memory) == 0) return Evaluate::make(0);
    since_ = {false, memory ? *memory : 0};
    return op;
  }

  bool in_kernel_ = false;
  std::set<std::string> own_;     // memory of a thread alone
  std::set<std::string> stored_;  // in the kernel
  Since since_;
};

}  // namespace

void join_barriers(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new JoinBarriers);
}

}  // namespace attn::lower
