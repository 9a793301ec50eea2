// Instructions that take addresses in shared memory.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/lower/halide/block_phases.h"
#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

bool takes_address(const Call& call) {
  constexpr std::string_view kTaking[] = {kMatricesCall, kTurnedMatricesCall};
  return begins_copy(call) || std::ranges::find(kTaking, call.name) != std::end(kTaking);
}

// All that a block shares is one allocation by now, which starts at 0.
class SharedAddresses : public IRMutator {
  using IRMutator::visit;

  Expr visit(const Call* op) override {
    if (!takes_address(*op)) return IRMutator::visit(op);
    const Load* load = op->args[0].as<Load>();
    if (load == nullptr || !shared_.contains(load->name))
      throw InternalError(op->name + " of what is no element in shared memory");
    has_copies_ = has_copies_ || begins_copy(*op);
    std::vector<Expr> args = op->args;
    args[0] = cast(Halide::UInt(32), mutate(load->index) * load->type.bytes());
    return Call::make(op->type, op->name, args, op->call_type);
  }
  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::GPUShared) return IRMutator::visit(op);
    ScopedBinding<> bind(shared_, op->name);
    return IRMutator::visit(op);
  }
  // Before threads meet, each waits for the copies that it has begun.
  Stmt visit(const Evaluate* op) override {
    const Call* call = op->value.as<Call>();
    if (call == nullptr || !call->is_intrinsic(Call::gpu_thread_barrier))
      return IRMutator::visit(op);
    if (!has_copies_) return op;
    has_copies_ = false;
    const Expr wait =
        Call::make(Halide::Int(32), "attn_wait_for_copies", std::vector<Expr>{}, Call::Extern);
    return Block::make(Evaluate::make(wait), op);
  }
  Stmt visit(const IfThenElse* op) override {
    const bool before = has_copies_;
    const Stmt then_case = mutate(op->then_case);
    const bool after = std::exchange(has_copies_, before);
    const Stmt else_case = op->else_case.defined() ? mutate(op->else_case) : Stmt();
    has_copies_ = has_copies_ || after;
    return IfThenElse::make(mutate(op->condition), then_case, else_case);
  }
  // What a loop has begun at its end, it has begun in its next round.
  Stmt visit(const For* op) override {
    const bool before = has_copies_;
    Stmt s = IRMutator::visit(op);
    if (!before && has_copies_ && op->for_type == ForType::Serial) s = IRMutator::visit(op);
    has_copies_ = has_copies_ || before;
    return s;
  }

  Scope<> shared_;
  bool has_copies_ = false;  // begun since the last barrier
};

}  // namespace

void write_shared_addresses(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new SharedAddresses);
}

}  // namespace attn::lower
