// Pieces of shared memory that are copied where they lie in memory as they shall lie there.
#include <gtest/gtest.h>

#include "compiler/lower/terms/translate.h"
#include "passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

const Type kHalf = Halide::BFloat(16), kFloat = Halide::Float(32), kWord = Halide::UInt(32);

// A piece at `index` whose numbers lie in x from that index on, or nowhere.
Stmt piece(int index, const Type& number, bool lies = true) {
  std::vector<Expr> args;
  for (int k = 0; k < 4; ++k)
    args.push_back(Halide::cast(kWord, load("x", number, 8 * index + 2 * k)));
  args.push_back(Variable::make(Halide::Int(32), "lane"));
  if (lies) {
    args.push_back(Variable::make(Halide::Bool(), "there"));
    args.push_back(load("x", number, 8 * index));
    args.push_back(make_const(kWord, number == kFloat ? 1 : 0));
  }
  return store("shared", Call::make(Halide::UInt(128), kPieceCall, args, Call::PureExtern), index);
}

TEST(CopyPieces, AnInstructionCopiesWhatIsAligned) {
  const Stmt s = after(copy_pieces, piece(3, kHalf));
  const auto* choice = s.as<IfThenElse>();
  ASSERT_NE(choice, nullptr) << s;
  EXPECT_EQ(calls(kCopyCall, choice->then_case), 1) << s;
  EXPECT_EQ(calls(kPieceCall, choice->then_case), 0) << s;
  EXPECT_EQ(calls(kCopyCall, choice->else_case), 0) << s;
  const auto* other = choice->else_case.as<Store>();
  ASSERT_NE(other, nullptr) << s;
  EXPECT_EQ(other->value.as<Call>()->args.size(), 5u) << s;
}

TEST(CopyPieces, RoundedOnesAreLoadedByFours) {
  const Stmt s = after(copy_pieces, piece(3, kFloat));
  const auto* choice = s.as<IfThenElse>();
  ASSERT_NE(choice, nullptr) << s;
  EXPECT_EQ(calls(kCopyCall, s), 0) << s;
  EXPECT_EQ(calls("attn_pair_bf16", choice->then_case), 4) << s;
  EXPECT_EQ(calls("attn_load_four", choice->else_case), 0) << s;
}

// All of them whole, or each on its own.
TEST(CopyPieces, NeighboursAreDecidedForTogether) {
  const Stmt s = after(copy_pieces, Block::make({piece(0, kHalf), piece(1, kHalf)}));
  const auto* choice = s.as<IfThenElse>();
  ASSERT_NE(choice, nullptr) << s;
  EXPECT_EQ(calls(kCopyCall, choice->then_case), 2) << s;
  EXPECT_EQ(calls(kInLineCall, choice->then_case), 0) << s;
  const auto* each = choice->else_case.as<Block>();
  ASSERT_NE(each, nullptr) << s;
  for (const Stmt& one : {each->first, each->rest}) EXPECT_NE(one.as<IfThenElse>(), nullptr) << s;
}

TEST(CopyPieces, OneThatLiesNowhereIsStored) {
  const Stmt s = after(copy_pieces, Block::make({piece(0, kHalf, false), piece(1, kHalf)}));
  const auto* both = s.as<Block>();
  ASSERT_NE(both, nullptr) << s;
  EXPECT_NE(both->first.as<Store>(), nullptr) << s;
  EXPECT_EQ(calls(kCopyCall, both->rest), 1) << s;
}

// A number of an argument, or 0, in shared memory.
TEST(CopyPieces, NumbersAreCopiedByAnInstruction) {
  const auto stored = [](const Expr& value) {
    return after(copy_pieces, Allocate::make("shared", kFloat, Halide::MemoryType::GPUShared, {4},
                                             const_true(), store("shared", value, 1)));
  };
  const Halide::Parameter x(kFloat, true, 1, "x");
  const Expr number = Load::make(kFloat, "x", 3, {}, x, const_true(), {});
  const Expr there = Variable::make(Halide::Bool(), "there"), none = make_zero(kFloat);
  for (const Expr& copied :
       {number, Select::make(there, number, none), Select::make(there, none, number)})
    EXPECT_EQ(calls(kCopyNumberCall, stored(copied)), 1) << copied;
  for (const Expr& other :
       {load("y", kFloat, 3), number * 2.0f, none, Select::make(there, number, make_one(kFloat))})
    EXPECT_EQ(calls(kCopyNumberCall, stored(other)), 0) << other;
}

}  // namespace
}  // namespace attn::lower
