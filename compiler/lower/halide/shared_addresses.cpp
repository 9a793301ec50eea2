// Instructions that take addresses in shared memory.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

bool takes_address(const Call& call) {
  constexpr std::string_view kTaking[] = {kMatricesCall, kTurnedMatricesCall};
  return std::ranges::find(kTaking, call.name) != std::end(kTaking);
}

// All that a block shares is one allocation by now, which starts at 0.
class SharedAddresses : public IRMutator {
  using IRMutator::visit;

  Expr visit(const Call* op) override {
    if (!takes_address(*op)) return IRMutator::visit(op);
    const Load* load = op->args[0].as<Load>();
    if (load == nullptr || !shared_.contains(load->name))
      throw InternalError(op->name + " of what is no element in shared memory");
    const Expr address = mutate(load->index) * load->type.bytes();
    return Call::make(op->type, op->name, {cast(Halide::UInt(32), address)}, op->call_type);
  }
  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::GPUShared) return IRMutator::visit(op);
    ScopedBinding<> bind(shared_, op->name);
    return IRMutator::visit(op);
  }

  Scope<> shared_;
};

}  // namespace

void write_shared_addresses(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new SharedAddresses);
}

}  // namespace attn::lower
