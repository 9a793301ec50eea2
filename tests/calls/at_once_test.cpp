// Forward and backward in one call: the results of the two, in less memory.
#include <attn/attn.hpp>

#include "fitted.h"
#include "tests/calls/word.h"

namespace attn::testing {
namespace {

// A call at once of `word`, with a workspace as large as it needs, or less.
attn_status at_once(Word& word, int64_t less = 0) {
  int64_t bytes = 0;
  const attn_status sized =
      word_forward_backward_workspace(word.context, &word.params, &word.inputs, &word.cotangents,
                                      &word.param_gradients, &word.input_gradients, &bytes);
  if (sized != ATTN_OK) return sized;
  attn_block workspace = word.allocated(bytes);
  workspace.bytes -= less;
  const attn_status status = word_forward_backward(
      word.context, &word.params, &word.inputs, &word.outputs, &word.cotangents,
      &word.param_gradients, &word.input_gradients, workspace);
  attn_free(word.context, workspace.data);
  return status;
}

TEST(AtOnce, GivesWhatForwardAndBackwardGive) {
  for (const int64_t t : {1, 2, 5, 16, 17, 33, 97}) {
    Word word(3, t);
    const std::string results = word.both();
    word.clear();
    ASSERT_EQ(at_once(word), ATTN_OK) << word.message();
    word.expect_fences();
    EXPECT_TRUE(word.results() == results) << "T = " << t;
  }
}

TEST(AtOnce, OfNoElementsGivesZeros) {
  Word word(2, 0);
  ASSERT_EQ(at_once(word), ATTN_OK) << word.message();
  EXPECT_EQ(*static_cast<float*>(word.outputs.loss.data), 0);
  for (size_t k = 0; k < bytes_of(word.param_gradients.w) / 4; ++k)
    EXPECT_EQ(static_cast<float*>(word.param_gradients.w.data)[k], 0);
  word.expect_fences();
}

// Which gradients and cotangents there are decides what lies where, from call to call.
TEST(AtOnce, LeavesOutWhatIsNotWanted) {
  Word word(4, 33);
  attn_tensor* const optional[] = {&word.param_gradients.table, &word.param_gradients.w,
                                   &word.param_gradients.c,     &word.input_gradients.x,
                                   &word.input_gradients.scale, &word.cotangents.y,
                                   &word.cotangents.loss};
  for (unsigned present = 0; present < 128; ++present) {
    void* data[7];
    for (unsigned k = 0; k < 7; ++k) {
      data[k] = optional[k]->data;
      if ((present >> k & 1) == 0) optional[k]->data = nullptr;
    }
    word.clear();
    const std::string results = word.both();
    word.clear();
    ASSERT_EQ(at_once(word), ATTN_OK) << word.message();
    EXPECT_TRUE(word.results() == results) << present;
    for (unsigned k = 0; k < 7; ++k) optional[k]->data = data[k];
  }
  word.expect_fences();
}

TEST(AtOnce, NeedsLessMemoryThanTwoCalls) {
  Word word(8, 97);
  int64_t bytes = 0;
  ASSERT_EQ(
      word_forward_backward_workspace(word.context, &word.params, &word.inputs, &word.cotangents,
                                      &word.param_gradients, &word.input_gradients, &bytes),
      ATTN_OK);
  EXPECT_LT(bytes, word.bytes.saved + word.bytes.training_workspace);
  // The gradient of x is the last to be written, and as large as what is saved.
  const int64_t with_x = bytes;
  word.input_gradients.x.data = nullptr;
  ASSERT_EQ(
      word_forward_backward_workspace(word.context, &word.params, &word.inputs, &word.cotangents,
                                      &word.param_gradients, &word.input_gradients, &bytes),
      ATTN_OK);
  EXPECT_LT(with_x, bytes);
}

TEST(AtOnce, RefusesBeforeItWrites) {
  Word word(3, 17);
  const auto refuses = [&](attn_status status, attn_status wanted, const char* says) {
    EXPECT_EQ(status, wanted) << says;
    EXPECT_NE(word.message().find(says), std::string::npos) << word.message();
    EXPECT_TRUE(word.untouched()) << says;
  };
  refuses(at_once(word, 64), ATTN_REFUSED, "bytes, and needs");
  static_cast<int32_t*>(word.inputs.token.data)[6] = 99;
  refuses(at_once(word), ATTN_BAD_DATA, "token: reads table at 0..99");
  static_cast<int32_t*>(word.inputs.token.data)[6] = 0;
  const attn_tensor y = word.outputs.y, x = word.input_gradients.x;
  word.outputs.y.data = word.inputs.x.data;
  refuses(at_once(word), ATTN_REFUSED, "overlaps");
  word.outputs.y.data = x.data;
  refuses(at_once(word), ATTN_REFUSED, "overlaps");
  word.outputs.y = y;
  word.input_gradients.x.rank = 1;
  refuses(at_once(word), ATTN_REFUSED, "gradient of x: rank is 1");
  word.input_gradients.x = x;
  EXPECT_EQ(
      word_forward_backward_workspace(word.context, &word.params, &word.inputs, &word.cotangents,
                                      &word.param_gradients, &word.input_gradients, nullptr),
      ATTN_REFUSED);
  ASSERT_EQ(at_once(word), ATTN_OK) << word.message();
}

// A saved block is of forward alone.
TEST(AtOnce, LeavesASavedBlockAsItIs) {
  Word word(3, 17);
  ASSERT_EQ(word.forward(), ATTN_OK);
  ASSERT_EQ(word.backward(), ATTN_OK);
  const std::string results = word.results();
  ASSERT_EQ(at_once(word), ATTN_OK);
  ASSERT_EQ(word.backward(), ATTN_OK) << word.message();
  EXPECT_TRUE(word.results() == results);
}

// Steps of an update after calls at once, and after two.
TEST(AtOnce, TrainsAModel) {
  constexpr int64_t kRows = 7, D = fitted_sizes_of::D;
  std::vector<float> x(kRows * D), dx(x.size()), both_dx(x.size());
  std::vector<int32_t> label(kRows);
  for (size_t k = 0; k < x.size(); ++k) x[k] = std::sin(1.3f * static_cast<float>(k));
  for (size_t k = 0; k < label.size(); ++k) label[k] = static_cast<int32_t>(k % 3);
  const std::vector<View> inputs = {View(x.data(), {kRows, D}), View(label.data(), {kRows})};
  Context context;
  Model two(context, fitted_model()), one(context, fitted_model());
  ASSERT_TRUE(two.init(1) && one.init(1));
  for (int step = 0; step < 4; ++step) {
    ASSERT_TRUE(two.forward(inputs) && two.backward() && two.step({{"lr", 0.1}}));
    const Status s = one.forward_backward(inputs);
    ASSERT_TRUE(s) << s.text();
    ASSERT_TRUE(one.step({{"lr", 0.1}}));
    EXPECT_EQ(*one.output("loss").data<float>(), *two.output("loss").data<float>());
    for (const char* name : {"w", "b", "v"})
      for (int64_t k = 0; k < one.param(name).count(); ++k)
        EXPECT_EQ(one.param(name).data<float>()[k], two.param(name).data<float>()[k]) << name;
  }
  EXPECT_FALSE(one.backward());  // nothing was kept

  // By other cotangents, and with the gradient of an input.
  std::vector<float> dscore(kRows * fitted_sizes_of::C, 0.5f);
  const std::vector<View> cotangents = {View(ATTN_F32, {}), View(dscore.data(), {kRows, 3})},
                          wanted = {View(dx.data(), {kRows, D}), View(ATTN_I32, {kRows})},
                          both = {View(both_dx.data(), {kRows, D}), View(ATTN_I32, {kRows})};
  ASSERT_TRUE(two.forward(inputs) && two.backward(cotangents, both));
  ASSERT_TRUE(one.forward_backward(inputs, cotangents, wanted));
  EXPECT_EQ(dx, both_dx);
}

}  // namespace
}  // namespace attn::testing
