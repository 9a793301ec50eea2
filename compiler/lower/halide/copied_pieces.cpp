// Pieces of shared memory that lie in memory as they shall lie there: one instruction copies 16
// bytes. Of f32 that become halves, two load them. A number of f32 that is copied alone, or is 0,
// is copied by an instruction, too: no thread waits for it before the block meets.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/halide/passes.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

const Type kWord = Halide::UInt(32);

// Whether a piece is there and begins at an aligned address: 0 bytes, `in_line`, since the last
// one. The bytes are computed where it is there only.
Expr is_aligned(const Expr& is_there, const Expr& in_line) {
  return Call::make(kWord, Call::if_then_else, {is_there, in_line, make_const(kWord, 1)},
                    Call::PureIntrinsic) == make_zero(kWord);
}

// What only the other way needs is not computed for both.
Stmt with_let(const std::string& name, const Expr& value, const Stmt& s) {
  if (const auto* let = s.as<LetStmt>(); let != nullptr && !expr_uses_var(let->value, name))
    return LetStmt::make(let->name, let->value, with_let(name, value, let->body));
  const auto* choice = s.as<IfThenElse>();
  if (choice != nullptr && choice->else_case.defined() && !expr_uses_var(choice->condition, name) &&
      !stmt_uses_var(choice->then_case, name))
    return IfThenElse::make(choice->condition, choice->then_case,
                            with_let(name, value, choice->else_case));
  return LetStmt::make(name, value, s);
}

// Two ways to a piece: `whole` where its bytes are there and aligned, or else either.
struct Choice {
  Expr is_there, in_line;
  Stmt whole, either;
};
std::optional<Choice> choice_of(const Stmt& s) {
  if (const auto* let = s.as<LetStmt>()) {
    auto inner = choice_of(let->body);
    if (!inner) return std::nullopt;
    return Choice{Let::make(let->name, let->value, inner->is_there),
                  Let::make(let->name, let->value, inner->in_line),
                  LetStmt::make(let->name, let->value, inner->whole), s};
  }
  const auto* choice = s.as<IfThenElse>();
  const auto* equal = choice ? choice->condition.as<EQ>() : nullptr;
  const auto* aligned = equal ? equal->a.as<Call>() : nullptr;
  if (aligned == nullptr || !aligned->is_intrinsic(Call::if_then_else)) return std::nullopt;
  const auto* in_line = aligned->args[1].as<Call>();
  if (in_line == nullptr || in_line->name != kInLineCall) return std::nullopt;
  return Choice{aligned->args[0], aligned->args[1], choice->then_case, s};
}

Stmt together(const std::vector<Choice>& run) {
  Expr is_there = run[0].is_there, in_line = run[0].in_line;
  std::vector<Stmt> whole, either;
  for (size_t k = 0; k < run.size(); ++k) {
    if (k > 0) is_there = is_there && run[k].is_there;
    if (k > 0) in_line = in_line | run[k].in_line;
    whole.push_back(run[k].whole);
    either.push_back(run[k].either);
  }
  return IfThenElse::make(is_aligned(is_there, in_line), Block::make(whole), Block::make(either));
}

class CopiedPieces : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const LetStmt* op) override {
    ScopedBinding<Expr> bind(lets_, op->name, op->value);
    return with_let(op->name, mutate(op->value), mutate(op->body));
  }

  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::GPUShared) return IRMutator::visit(op);
    ScopedBinding<> bind(shared_, op->name);
    return IRMutator::visit(op);
  }

  // The copy of a number of an argument, under a condition or not; else undefined.
  static Stmt copied_number(const std::string& to, const Expr& index, const Expr& value) {
    const auto* choice = value.as<Select>();
    const bool is_other = choice != nullptr && is_const_zero(choice->true_value);
    const Expr number = !choice ? value : is_other ? choice->false_value : choice->true_value;
    const Load* from = number.as<Load>();
    if (value.type() != Halide::Float(32) || from == nullptr || !from->param.defined() ||
        !is_const_one(from->predicate) ||
        !(choice == nullptr || is_other || is_const_zero(choice->false_value)))
      return {};
    const Expr there = Load::make(Halide::Float(32), to, index, Halide::Buffer<>(), {},
                                  const_true(), ModulusRemainder());
    const Expr word = Load::make(kWord, from->name, from->index, from->image, from->param,
                                 const_true(), ModulusRemainder());
    const Expr all = make_const(kWord, 4), none = make_zero(kWord);
    const Expr bytes = !choice    ? all
                       : is_other ? Select::make(choice->condition, none, all)
                                  : Select::make(choice->condition, all, none);
    return Evaluate::make(
        Call::make(Halide::Int(32), kCopyNumberCall, {there, word, bytes}, Call::Extern));
  }
  // Of four words that are such numbers, the copies.
  static Stmt copied_numbers(const Store& to, const std::vector<Expr>& words) {
    std::vector<Stmt> copies;
    for (int k = 0; k < 4; ++k) {
      const auto* bits = words[k].as<Reinterpret>();
      copies.push_back(bits ? copied_number(to.name, to.index * 4 + k, bits->value) : Stmt());
      if (!copies.back().defined()) return {};
    }
    return Block::make(copies);
  }

  Stmt visit(const Store* op) override {
    std::vector<std::pair<std::string, Expr>> lets;
    Expr value = op->value;
    while (const Let* let = value.as<Let>()) {
      lets.emplace_back(let->name, let->value);
      value = let->body;
    }
    const auto in_lets = [&](Stmt s) {
      for (size_t k = lets.size(); k-- > 0;) s = with_let(lets[k].first, lets[k].second, s);
      return s;
    };
    if (shared_.contains(op->name))
      if (const Stmt s = copied_number(op->name, op->index, value); s.defined()) return in_lets(s);
    const Call* piece = value.as<Call>();
    if (piece == nullptr || piece->name != kPieceCall) return IRMutator::visit(op);
    const auto find = [&](const std::string& name) {
      for (const auto& [n, v] : lets)
        if (n == name) return v;
      return lets_.contains(name) ? lets_.get(name) : Expr();
    };
    const bool has_place = piece->args.size() > kOfPiece;
    Expr first = has_place ? piece->args[kOfPiece + 1] : Expr();
    while (first.defined() && !first.as<Load>())
      first = first.as<Cast>()       ? first.as<Cast>()->value
              : first.as<Variable>() ? find(first.as<Variable>()->name)
                                     : Expr();
    const std::vector<Expr> words(piece->args.begin(), piece->args.begin() + kOfPiece);
    Stmt s = stored(*op, words);
    if (first.defined())
      s = in_two_ways(*first.as<Load>(), piece->args[kOfPiece], *op,
                      is_const_one(piece->args.back()), words.back(), s);
    return in_lets(s);
  }
  static Stmt stored(const Store& to, const std::vector<Expr>& words) {
    if (const Stmt s = copied_numbers(to, words); s.defined()) return s;
    const Expr value = Call::make(to.value.type(), kPieceCall, words, Call::PureExtern);
    return Store::make(to.name, value, to.index, to.param, to.predicate, to.alignment);
  }

  // A number of 64 bits is loaded where the piece begins, for an instruction that takes its
  // address.
  static Expr number_at(const Load& first, int bytes) {
    const int in_number = 8 / first.type.bytes();
    return Load::make(Halide::UInt(64), first.name, first.index / in_number + bytes / 8,
                      first.image, first.param, const_true(), ModulusRemainder());
  }
  static Stmt in_two_ways(const Load& first, const Expr& has_piece, const Store& to, bool rounds,
                          const Expr& lane, const Stmt& other) {
    const Expr from = number_at(first, 0);
    const Expr is_there = has_piece && (first.index & (8 / first.type.bytes() - 1)) == 0;
    const Expr in_line = Call::make(kWord, kInLineCall, {from}, Call::PureExtern);
    Stmt whole;
    if (rounds) {
      std::vector<Expr> words;
      for (int half = 0; half < 2; ++half) {
        const Expr four = Call::make(Halide::UInt(128), "attn_load_four",
                                     {number_at(first, 16 * half)}, Call::PureExtern);
        const auto element = [&](int n) {
          return Call::make(Halide::Float(32), "attn_element", {four, n}, Call::PureExtern);
        };
        for (int n = 0; n < 4; n += 2)
          words.push_back(Call::make(kWord, "attn_pair_bf16", {element(n), element(n + 1), lane},
                                     Call::PureExtern));
      }
      words.push_back(lane);
      whole = stored(to, words);
    } else {
      const Expr there = Load::make(to.value.type(), to.name, to.index, Halide::Buffer<>(),
                                    to.param, const_true(), ModulusRemainder());
      whole = Evaluate::make(Call::make(Halide::Int(32), kCopyCall, {there, from}, Call::Extern));
    }
    return IfThenElse::make(is_aligned(is_there, in_line), whole, other);
  }

  // Neighbouring pieces of a thread are decided for together: that all of them are whole, or for
  // each on its own.
  Stmt visit(const Block* op) override {
    std::vector<Stmt> parts;
    Stmt rest = op;
    for (const Block* block = op; block != nullptr; block = rest.as<Block>()) {
      parts.push_back(mutate(block->first));
      rest = block->rest;
    }
    parts.push_back(mutate(rest));
    std::vector<Stmt> joined;
    std::vector<Choice> run;
    const auto end_run = [&] {
      if (run.size() == 1) joined.push_back(run[0].either);
      if (run.size() > 1) joined.push_back(together(run));
      run.clear();
    };
    for (const Stmt& s : parts) {
      if (auto choice = choice_of(s)) {
        run.push_back(*std::move(choice));
        continue;
      }
      end_run();
      joined.push_back(s);
    }
    end_run();
    return Block::make(joined);
  }

  static constexpr size_t kOfPiece = 5;  // arguments of a piece that lies nowhere
  Scope<Expr> lets_;
  Scope<> shared_;
};

}  // namespace

void copy_pieces(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new CopiedPieces);
}

}  // namespace attn::lower
