// Loops of blocks of threads whose copies are begun a phase before they are needed.
#include <gtest/gtest.h>

#include "passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

const Type kFloat = Halide::Float(32);
constexpr int kRounds = 5, kNumbers = 8;

Stmt barrier() {
  return evaluated(
      Call::make(Halide::Int(32), Call::gpu_thread_barrier, {Expr(1)}, Call::Intrinsic));
}
Stmt loop(ForType type, const std::string& name, int extent, const Stmt& body) {
  return For::make(name, 0, extent, type, Halide::Partition::Auto, Halide::DeviceAPI::None, body);
}
Expr variable(const std::string& name) { return Variable::make(Halide::Int(32), name); }
const Expr kThread = variable("any.__thread_id_x"), kRound = variable("k");

// Each thread's number, from `at` on.
Stmt copy(const std::string& name, int at, const std::string& input = "input") {
  return ProducerConsumer::make_produce(
      name, store("shared", load(input, kFloat, kRound * kNumbers + kThread), at + kThread));
}
Stmt work(int at) {
  return store("out", load("shared", kFloat, at + (kNumbers - 1 - kThread)), kThread);
}

struct Result {
  Stmt body;
  int numbers;          // of shared memory
  int barriers, loads;  // loads of the input
};

class Loads : public IRVisitor {
 public:
  int count = 0;

 private:
  using IRVisitor::visit;
  void visit(const Load* op) override {
    count += op->name == "input";
    IRVisitor::visit(op);
  }
};

class Shared : public IRVisitor {
 public:
  int numbers = 0;

 private:
  using IRVisitor::visit;
  void visit(const Allocate* op) override {
    if (op->memory_type == Halide::MemoryType::GPUShared)
      numbers = static_cast<int>(*as_const_int(op->extents[0]));
    IRVisitor::visit(op);
  }
};

Result result_of(const std::vector<Stmt>& round, int numbers) {
  const Stmt rounds = loop(ForType::Serial, "k", kRounds, Block::make(round));
  const Stmt threads = loop(ForType::GPUThread, "any.__thread_id_x", kNumbers, rounds);
  const Stmt memory = Allocate::make("shared", kFloat, Halide::MemoryType::GPUShared, {numbers},
                                     const_true(), threads);
  const Stmt s = after(overlap_copies, loop(ForType::GPUBlock, "any.__block_id_x", 1, memory));
  Shared shared;
  Loads loads;
  s.accept(&shared);
  s.accept(&loads);
  return {s, shared.numbers, calls("gpu_thread_barrier", s), loads.count};
}

// One before the first copy, one a round, one at the end.
TEST(OverlapCopies, OfOnePhaseHaveTwoPlaces) {
  const Result r = result_of({copy("a", 0), barrier(), work(0), barrier()}, kNumbers);
  EXPECT_EQ(r.numbers, 2 * kNumbers) << r.body;
  EXPECT_EQ(r.barriers, 3) << r.body;
  EXPECT_EQ(r.loads, 2) << r.body;
}

TEST(OverlapCopies, OfNeighboursAreOnePhase) {
  const Result r = result_of(
      {copy("a", 0), barrier(), copy("b", kNumbers), barrier(), work(0), work(kNumbers), barrier()},
      2 * kNumbers);
  EXPECT_EQ(r.numbers, 4 * kNumbers) << r.body;
  EXPECT_EQ(r.barriers, 3) << r.body;
}

// In the same memory one after the other, they are apart at the end.
TEST(OverlapCopies, OfTwoPhasesHaveOnePlaceEach) {
  const Result r = result_of(
      {copy("a", 0), barrier(), work(0), barrier(), copy("b", 0), barrier(), work(0), barrier()},
      kNumbers);
  EXPECT_EQ(r.numbers, 2 * kNumbers) << r.body;
  EXPECT_EQ(r.barriers, 4) << r.body;
  EXPECT_EQ(r.loads, 3) << r.body;
}

// What the last phase reads is still there when the next round's is copied.
TEST(OverlapCopies, ThatAreReadToTheEndHaveTwoPlaces) {
  const Result r = result_of({copy("a", 0), barrier(), work(0), barrier(), copy("b", kNumbers),
                              barrier(), work(0), work(kNumbers), barrier()},
                             2 * kNumbers);
  EXPECT_EQ(r.numbers, 3 * kNumbers) << r.body;
}

TEST(OverlapCopies, OfRoundsThatAreSkippedAreNotBegun) {
  const Stmt whole = Block::make({copy("a", 0), barrier(), work(0), barrier()});
  const Result r = result_of({IfThenElse::make(kRound < variable("last"), whole)}, kNumbers);
  EXPECT_EQ(r.numbers, 2 * kNumbers) << r.body;
  EXPECT_EQ(r.loads, 2) << r.body;  // in a round, and in one that is skipped
}

TEST(OverlapCopies, OfWhatTheLoopComputesAreLeftAlone) {
  const Stmt own = Allocate::make(
      "own", kFloat, Halide::MemoryType::Register, {1}, const_true(),
      loop(ForType::Serial, "n", kRounds,
           Block::make({store("shared", load("own", kFloat, 0), kThread), barrier(),
                        store("own", load("shared", kFloat, kNumbers - 1 - kThread), 0),
                        barrier()})));
  const Result r = result_of({own}, kNumbers);
  EXPECT_EQ(r.numbers, kNumbers) << r.body;
  EXPECT_EQ(r.barriers, 2) << r.body;
}

TEST(OverlapCopies, OfWhatTheLoopStoresAreLeftAlone) {
  const Result r = result_of({copy("a", 0, "out"), barrier(), work(0), barrier()}, kNumbers);
  EXPECT_EQ(r.numbers, kNumbers) << r.body;
}

// Not all threads need be there.
TEST(OverlapCopies, WhereThreadsDoNotMeetAreLeftAlone) {
  const Result r = result_of({copy("a", 0), work(0)}, kNumbers);
  EXPECT_EQ(r.numbers, kNumbers) << r.body;
  EXPECT_EQ(r.barriers, 0) << r.body;
}

TEST(OverlapCopies, OfMoreThanThereIsRoomForAreLeftAlone) {
  const int all = (96 << 10) / kFloat.bytes();
  EXPECT_EQ(result_of({copy("a", 0), barrier(), work(0), barrier()}, all).numbers, all);
}

}  // namespace
}  // namespace attn::lower
