// Which meetings of the threads of a block are left.
#include <gtest/gtest.h>

#include "passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

constexpr int kShared = 1, kGlobal = 2;

Stmt barrier(int memory = kShared) {
  return evaluated(
      Call::make(Halide::Int(32), Call::gpu_thread_barrier, {Expr(memory)}, Call::Intrinsic));
}
Stmt loop(ForType type, const std::string& name, const Stmt& body) {
  return For::make(name, 0, 4, type, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
}
Stmt rounds(const std::vector<Stmt>& body) { return loop(ForType::Serial, "k", Block::make(body)); }
Stmt stored(const std::string& name = "shared") { return store(name, 1.0f, 0); }
Stmt loaded(const std::string& name = "shared") {
  return evaluated(load(name, Halide::Float(32), 0));
}
Stmt conditional(const Stmt& s) { return IfThenElse::make(Variable::make(Halide::Bool(), "c"), s); }

int left(const std::vector<Stmt>& body) {
  const Stmt threads = loop(ForType::GPUThread, "any.__thread_id_x", Block::make(body));
  const Stmt s = after(join_barriers, loop(ForType::GPUBlock, "any.__block_id_x", threads));
  return calls("gpu_thread_barrier", s);
}

TEST(JoinBarriers, NothingSharedInBetweenLeavesOne) {
  EXPECT_EQ(left({stored(), barrier(), barrier(), loaded()}), 1);
  EXPECT_EQ(left({stored(), barrier(), barrier(), barrier(), loaded(), barrier()}), 2);
  // What nobody stores.
  EXPECT_EQ(left({stored(), barrier(), loaded("input"), barrier(), loaded()}), 1);
  const Stmt own = Allocate::make("own", Halide::Float(32), Halide::MemoryType::Register, {1},
                                  const_true(), Block::make(stored("own"), barrier()));
  EXPECT_EQ(left({stored(), barrier(), own, loaded()}), 1);
}

TEST(JoinBarriers, WhatIsSharedInBetweenLeavesBoth) {
  EXPECT_EQ(left({stored(), barrier(), loaded(), barrier(), stored()}), 2);
  EXPECT_EQ(left({stored(), barrier(), stored("output"), barrier()}), 2);
  EXPECT_EQ(left({stored(), barrier(), conditional(stored()), barrier(), loaded()}), 2);
  EXPECT_EQ(left({stored(), barrier(), rounds({loaded()}), barrier(), stored()}), 2);
}

TEST(JoinBarriers, OneForMoreMemoryIsNotLost) {
  EXPECT_EQ(left({stored(), barrier(kShared), barrier(kGlobal)}), 2);
  EXPECT_EQ(left({stored(), barrier(kShared | kGlobal), barrier(kGlobal)}), 1);
}

// A round begins as the loop does, and as a round ends.
TEST(JoinBarriers, RoundsFollowOneAnother) {
  EXPECT_EQ(left({stored(), barrier(), rounds({barrier(), loaded("input")})}), 1);
  EXPECT_EQ(left({stored(), barrier(), rounds({barrier(), stored()})}), 2);
  EXPECT_EQ(left({rounds({barrier(), stored(), barrier(), barrier(), loaded()})}), 2);
}

TEST(JoinBarriers, ConditionsMayNotHold) {
  EXPECT_EQ(left({stored(), conditional(barrier()), barrier(), loaded()}), 2);
  EXPECT_EQ(left({stored(), barrier(), conditional(barrier()), loaded()}), 1);
}

}  // namespace
}  // namespace attn::lower
