// Halide writes numbers of 64 bits into OpenCL C as floats.
#include <cstring>

#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

class ExactDoubles : public Halide::Internal::IRMutator {
  using IRMutator::visit;

  Expr visit(const Halide::Internal::FloatImm* op) override {
    if (op->type != Halide::Float(64) || static_cast<float>(op->value) == op->value) return op;
    uint64_t bits;
    static_assert(sizeof bits == sizeof op->value);
    std::memcpy(&bits, &op->value, sizeof bits);
    return Halide::Internal::Reinterpret::make(Halide::Float(64),
                                               make_const(Halide::UInt(64), bits));
  }
};

}  // namespace

void write_doubles_as_bits(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new ExactDoubles);
}

}  // namespace attn::lower
