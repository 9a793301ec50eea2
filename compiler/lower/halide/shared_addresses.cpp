// Instructions that take addresses in shared memory, and copies into it.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

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
    return Call::make(op->type, op->name, {address(mutate(load->index), load->type)},
                      op->call_type);
  }
  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::GPUShared) return IRMutator::visit(op);
    ScopedBinding<> bind(shared_, op->name);
    return IRMutator::visit(op);
  }
  Stmt visit(const LetStmt* op) override {
    ScopedBinding<Expr> bind(lets_, op->name, op->value);
    return IRMutator::visit(op);
  }
  // A piece that lies in memory as it shall lie here is copied, if both are aligned.
  Stmt visit(const Store* op) override {
    std::vector<std::pair<std::string, Expr>> lets;
    Expr value = op->value;
    while (const Let* let = value.as<Let>()) {
      lets.emplace_back(let->name, let->value);
      value = let->body;
    }
    const Call* piece = value.as<Call>();
    if (piece == nullptr || piece->name != kPieceCall || piece->args.size() <= kOfPiece)
      return IRMutator::visit(op);
    const auto find = [&](const std::string& name) {
      for (const auto& [n, v] : lets)
        if (n == name) return v;
      return lets_.contains(name) ? lets_.get(name) : Expr();
    };
    Expr first = piece->args[kOfPiece + 1];
    while (first.defined() && !first.as<Load>())
      first = first.as<Cast>()       ? first.as<Cast>()->value
              : first.as<Variable>() ? find(first.as<Variable>()->name)
                                     : Expr();
    const std::vector<Expr> words(piece->args.begin(), piece->args.begin() + kOfPiece);
    const Expr stored = Call::make(piece->type, piece->name, words, piece->call_type);
    Stmt s = Store::make(op->name, stored, op->index, op->param, op->predicate, op->alignment);
    if (first.defined()) s = copied(*first.as<Load>(), piece->args[kOfPiece], *op, s);
    for (size_t k = lets.size(); k-- > 0;) s = LetStmt::make(lets[k].first, lets[k].second, s);
    return s;
  }
  // Before threads meet, each waits for the copies that it has begun.
  Stmt visit(const Evaluate* op) override {
    const Call* call = op->value.as<Call>();
    if (call == nullptr || !call->is_intrinsic(Call::gpu_thread_barrier))
      return IRMutator::visit(op);
    if (!has_copies_) return op;
    has_copies_ = false;
    return Block::make(Evaluate::make(instruction("attn_wait_for_copies", {})), op);
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

  // A number of 64 bits is loaded where the piece begins, for an instruction that takes its
  // address.
  Stmt copied(const Load& first, const Expr& has_piece, const Store& to, const Stmt& stored) {
    const int in_number = 8 / first.type.bytes();
    const Expr from = Load::make(Halide::UInt(64), first.name, first.index / in_number, first.image,
                                 first.param, const_true(), ModulusRemainder());
    const Expr is_there = has_piece && (first.index & (in_number - 1)) == 0;
    const Expr in_line =
        Call::make(Halide::UInt(32), "attn_address_in_line", {from}, Call::PureExtern);
    const Expr far = make_const(Halide::UInt(32), 1);
    const Expr is_aligned =
        Call::make(Halide::UInt(32), Call::if_then_else, {is_there, in_line, far},
                   Call::PureIntrinsic) == make_zero(Halide::UInt(32));
    has_copies_ = true;
    return IfThenElse::make(
        is_aligned,
        Evaluate::make(instruction("attn_copy", {address(to.index, to.value.type()), from})),
        stored);
  }
  static Expr address(const Expr& index, const Type& type) {
    return cast(Halide::UInt(32), index * type.bytes());
  }
  static Expr instruction(const char* name, const std::vector<Expr>& args) {
    return Call::make(Halide::Int(32), name, args, Call::Extern);
  }
  static constexpr size_t kOfPiece = 5;  // arguments of a piece that is no copy
  Scope<> shared_;
  Scope<Expr> lets_;
  bool has_copies_ = false;  // begun since the last barrier
};

}  // namespace

void write_shared_addresses(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new SharedAddresses);
}

}  // namespace attn::lower
