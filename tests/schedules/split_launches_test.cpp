// Launches that are split into parts: blocks of a GPU, as loops of this machine.
#include <gtest/gtest.h>

#include <stdexcept>

#include "compiler/lower/halide/passes.h"
#include "compiler/lower/halide/target.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

Stmt with(const For& loop, ForType type, const Stmt& body) {
  return For::make(loop.name, loop.min, loop.extent, type, loop.partition_policy, loop.device_api,
                   body);
}

// Makes the outer loops, of x, y and z, into loops over blocks.
class AsBlocks : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    // "f.s0.x.rebased"
    bool is_block = false;
    for (const char* name : {".x.", ".y.", ".z."})
      is_block = is_block || (op->name + ".").find(name) != std::string::npos;
    return with(*op, is_block ? ForType::GPUBlock : op->for_type, mutate(op->body));
  }
};

// Makes loops over blocks into loops of the host; that no more than `most` blocks are started down
// or deep is asserted.
class OnHost : public IRMutator {
 public:
  explicit OnHost(int most) : most_(most) {}

 private:
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    if (op->for_type != ForType::GPUBlock) {
      if (depth_ == 1 || depth_ == 2) throw std::logic_error("a loop between those over blocks");
      return IRMutator::visit(op);
    }
    ++depth_;
    const bool is_outer = depth_ < 3;
    const Stmt loop = with(*op, ForType::Serial, mutate(op->body));
    --depth_;
    if (!is_outer) return loop;
    const Expr error =
        Call::make(Halide::Int(32), "halide_error_requirement_failed",
                   {StringImm::make("blocks"), StringImm::make("too many")}, Call::Extern);
    return Block::make(AssertStmt::make(op->extent <= most_, error), loop);
  }

  const int most_;
  int depth_ = 0;
};

// A kernel of blocks of 2 x 2 threads each, in launches of at most `most` blocks down and deep.
class Kernel {
 public:
  Kernel(int most, bool is_split) {
    Halide::Func f("f");
    Halide::Var x("x"), y("y"), z("z"), t("t"), w("w");
    f(t, w, x, y, z) = t + 10 * w + 100 * (x + 10 * (y + 20 * z));
    f.bound(t, 0, 2).bound(w, 0, 2);
    pipeline_ = Halide::Pipeline(f);
    pipeline_.add_custom_lowering_pass(new AsBlocks);
    if (is_split) split_launches(pipeline_, most);
    pipeline_.add_custom_lowering_pass(new OnHost(most));
    pipeline_.jit_handlers().custom_error = [](Halide::JITUserContext*, const char*) {};
  }

  // Whether every block has run.
  bool is_right(int across, int down, int deep) {
    Halide::Buffer<int> result(2, 2, across, down, deep);
    result.fill(-1);
    pipeline_.realize(result, jit_target(host()));
    bool all = true;
    result.for_each_element([&](int a, int b, int i, int j, int k) {
      all = all && result(a, b, i, j, k) == a + 10 * b + 100 * (i + 10 * (j + 20 * k));
    });
    return all;
  }

 private:
  Halide::Pipeline pipeline_;
};

TEST(SplitLaunches, EveryBlockRunsOnce) {
  Kernel kernel(3, true);
  for (int down : {1, 2, 3, 4, 6, 7})
    for (int deep : {1, 3, 4, 10}) EXPECT_TRUE(kernel.is_right(5, down, deep)) << down << deep;
}

// What the test would see if launches were not split.
TEST(SplitLaunches, MoreBlocksThanCanBeStartedAreSeen) {
  Kernel kernel(3, false);
  EXPECT_TRUE(kernel.is_right(5, 3, 3));
  EXPECT_FALSE(kernel.is_right(5, 4, 3));
  EXPECT_FALSE(kernel.is_right(5, 3, 4));
}

}  // namespace
}  // namespace attn::lower
