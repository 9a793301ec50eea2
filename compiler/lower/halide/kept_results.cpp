#include <string>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using Halide::Internal::Allocate;
using Halide::Internal::AssertStmt;
using Halide::Internal::Broadcast;
using Halide::Internal::Call;
using Halide::Internal::Evaluate;
using Halide::Internal::IntImm;
using Halide::Internal::Let;
using Halide::Internal::LetStmt;
using Halide::Internal::Load;
using Halide::Internal::Ramp;
using Halide::Internal::Stmt;
using Halide::Internal::Store;
using Halide::Internal::StringImm;
using Halide::Internal::Variable;

// A store without memory for the result goes to a few elements on the stack. There is no branch:
// the same instructions run, so that what is made of the sum has the same bits.
class LeaveOut : public Halide::Internal::IRMutator {
 public:
  explicit LeaveOut(const std::string& result)
      : result_(result), is_there_(result + ".is_there"), unread_(result + ".unread") {}

 private:
  using IRMutator::visit;

  Stmt visit(const LetStmt* op) override {
    const Stmt s = IRMutator::visit(op);
    if (!is_result(op->name)) return s;
    const auto* let = s.as<LetStmt>();
    const Expr is_there =
        Halide::reinterpret<uint64_t>(pointer(result_)) != Halide::cast<uint64_t>(0);
    return LetStmt::make(let->name, let->value, LetStmt::make(is_there_, is_there, let->body));
  }

  Stmt visit(const Store* op) override {
    if (!is_result(op->name)) return IRMutator::visit(op);
    extent_ = 1;
    stores_ = true;
    const Expr value = mutate(op->value);
    stores_ = false;
    const Stmt store = Store::make(op->name, value, index(op->index), op->param,
                                   mutate(op->predicate), op->alignment);
    const Expr data = Halide::select(is_there(), pointer(result_), pointer(unread_));
    return Allocate::make(unread_, op->value.type().element_of(), Halide::MemoryType::Stack,
                          {Expr(extent_)}, Halide::Internal::const_true(),
                          LetStmt::make(result_, data, store));
  }

  // A fallback stores some elements as they are.
  Expr visit(const Load* op) override {
    if (!is_result(op->name)) return IRMutator::visit(op);
    ATTN_CHECK(stores_, "a sum that is read although it may not be there");
    return Load::make(op->type, op->name, index(op->index), op->image, op->param,
                      mutate(op->predicate), op->alignment);
  }

  Stmt visit(const AssertStmt* op) override {
    const auto* call = op->message.as<Call>();
    const auto* name =
        call && call->name == "halide_error_host_is_null" ? call->args[0].as<StringImm>() : nullptr;
    const bool is_own = name && name->value.ends_with(" " + result_);
    return is_own ? Evaluate::make(0) : IRMutator::visit(op);
  }

  // The index of an element, or of the first that is stored on the stack.
  Expr index(const Expr& at) {
    if (const auto* let = at.as<Let>()) return Let::make(let->name, let->value, index(let->body));
    const auto* ramp = at.as<Ramp>();
    const auto* stride = ramp ? ramp->stride.as<IntImm>() : nullptr;
    if (stride && stride->value > 0) {
      extent_ += static_cast<int>(stride->value) * (ramp->lanes - 1);
      return Ramp::make(index(ramp->base), ramp->stride, ramp->lanes);
    }
    const Expr factor = Halide::cast(at.type().element_of(), is_there());
    return at * (at.type().is_scalar() ? factor : Broadcast::make(factor, at.type().lanes()));
  }

  bool is_result(const std::string& buffer) const { return buffer == result_; }

  Expr is_there() const { return Variable::make(Halide::Bool(), is_there_); }

  static Expr pointer(const std::string& name) {
    return Variable::make(Halide::type_of<void*>(), name);
  }

  const std::string result_, is_there_, unread_;
  bool stores_ = false;  // within a store to it
  int extent_ = 1;       // what a store reaches on the stack, or more
};

}  // namespace

void leave_out_kept(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new LeaveOut(pipeline.outputs()[0].name() + ".1"));
}

}  // namespace attn::lower
