// States in C++ and C: the caller owns them, and forward changes them in place.
#include <gtest/gtest.h>

#include <attn/attn.hpp>
#include <cmath>
#include <cstring>

#include "remembering.h"

namespace attn::testing {
namespace {

constexpr int64_t kBatch = 2, kRoom = 8, kWidth = 3;

class Remembering : public ::testing::Test {
 protected:
  Remembering() {
    EXPECT_TRUE(model.init(1));
    EXPECT_TRUE(model.begin(states, {{"B", kBatch}, {"S", kRoom}}));
  }

  // A call with `length` rows a sequence, from `place` on.
  Status call(States& memory, int64_t length, int32_t place) {
    Tensor x(ATTN_F32, {kBatch, length, kWidth}), at(ATTN_I32, {kBatch});
    for (int64_t b = 0; b < kBatch; ++b) {
      at.data<int32_t>()[b] = place;
      for (int64_t k = 0; k < length * kWidth; ++k)
        x.data<float>()[b * length * kWidth + k] =
            std::sin(static_cast<float>(place * kWidth + k + b));
    }
    return model.forward({x, at}, memory);
  }
  std::vector<float> output() {
    const Tensor& y = model.output("y");
    return {y.data<float>(), y.data<float>() + y.count()};
  }

  Context context;
  Model model{context, remembering_model()};
  States states;
};

TEST_F(Remembering, OneCallOrManyLeaveTheSame) {
  ASSERT_EQ(states.tensors().size(), 2u);
  ASSERT_TRUE(call(states, 5, 0));
  const Tensor whole = states.tensors()[0].clone();
  States again;
  ASSERT_TRUE(model.begin(again, {{"B", kBatch}, {"S", kRoom}}));
  ASSERT_TRUE(call(again, 3, 0));
  ASSERT_TRUE(call(again, 0, 3));
  ASSERT_TRUE(call(again, 1, 3));
  ASSERT_TRUE(call(again, 1, 4));
  EXPECT_EQ(std::memcmp(whole.data<float>(), again.tensors()[0].data<float>(), whole.bytes()), 0);
  EXPECT_EQ(*again.tensors()[1].data<int32_t>(), 4);
  // What no call has reached is as it began.
  for (int64_t d = 0; d < kWidth; ++d) EXPECT_EQ(whole.data<float>()[7 * kWidth + d], 0);
}

TEST_F(Remembering, SequencesHaveStatesOfTheirOwn) {
  States other;
  ASSERT_TRUE(model.begin(other, {{"B", kBatch}, {"S", kRoom}}));
  ASSERT_TRUE(call(states, 2, 0));
  ASSERT_TRUE(call(states, 2, 2));
  const std::vector<float> second = output();
  ASSERT_TRUE(call(other, 2, 0));
  const std::vector<float> first = output();
  ASSERT_TRUE(model.begin(states, {{"B", kBatch}, {"S", kRoom}}));
  ASSERT_TRUE(call(states, 2, 0));
  EXPECT_EQ(output(), first);
  EXPECT_NE(second, first);
}

TEST_F(Remembering, RefusesWhatDoesNotFit) {
  ASSERT_TRUE(call(states, 2, 0));
  const Tensor before = states.tensors()[0].clone();
  const Status beyond = call(states, 3, 6);
  EXPECT_EQ(beyond.code(), ATTN_BAD_DATA);
  EXPECT_NE(beyond.text().find("at:"), std::string::npos) << beyond.text();
  EXPECT_EQ(std::memcmp(before.data<float>(), states.tensors()[0].data<float>(), before.bytes()),
            0);
  States none;
  EXPECT_NE(call(none, 1, 0).text().find("begin(states"), std::string::npos);
  EXPECT_NE(model.begin(none).text().find("state memory.past needs the run-time size B"),
            std::string::npos)
      << model.begin(none).text();
  States small;
  ASSERT_TRUE(model.begin(small, {{"B", 1}, {"S", kRoom}}));
  EXPECT_EQ(call(small, 1, 0).code(), ATTN_REFUSED);
  Tensor x(ATTN_F32, {kBatch, 1, kWidth}), at(ATTN_I32, {kBatch});
  EXPECT_NE(model.forward({x, at}).text().find("begin(states"), std::string::npos);
}

// The typed functions take the caller's memory; an overlap of it with another argument is refused.
TEST(RememberingInC, TakesTheCallersMemory) {
  Context context;
  float w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, x[3] = {1, 2, 3}, past[6] = {}, y[3] = {};
  int32_t at = 1, calls = 0;
  auto tensor = [](attn_type type, void* data, std::initializer_list<int64_t> extents) {
    attn_tensor t = {};
    t.type = type;
    t.data = data;
    for (int64_t e : extents) t.extent[t.rank++] = e;
    return t;
  };
  remembering_params params = {tensor(ATTN_F32, w, {3, 3})};
  remembering_inputs inputs = {tensor(ATTN_F32, x, {1, 1, 3}), tensor(ATTN_I32, &at, {1}),
                               tensor(ATTN_F32, past, {1, 2, 3}), tensor(ATTN_I32, &calls, {})};
  remembering_outputs outputs = {tensor(ATTN_F32, y, {1, 3})};
  attn_sizes sizes = {};
  ASSERT_EQ(remembering_sizes(context.get(), &params, &inputs, &sizes), ATTN_OK);
  const attn_block workspace = {
      attn_allocate(context.get(), static_cast<size_t>(sizes.forward_workspace)),
      sizes.forward_workspace};
  EXPECT_EQ(remembering_forward(context.get(), &params, &inputs, &outputs, {}, workspace), ATTN_OK);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(past[3], 1);
  EXPECT_EQ(past[5], 3);
  EXPECT_EQ(past[0], 0);
  EXPECT_EQ(y[1], 2);
  inputs.x.data = past;
  EXPECT_EQ(remembering_forward(context.get(), &params, &inputs, &outputs, {}, workspace),
            ATTN_REFUSED);
  attn_free(context.get(), workspace.data);
}

}  // namespace
}  // namespace attn::testing
