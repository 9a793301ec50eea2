// What a step refuses, by the C interface and by attn::Model; nothing is then written.
#include <limits>

#include "tests/steps/trained.h"

namespace attn::testing {
namespace {

class Call : public ::testing::Test {
 protected:
  Call() {
    attn_context_create(nullptr, &context_);
    options_ = by_turn_default_options();
    options_.lr = 0.1;
    options_.angle = 0.2;
    by_turn_params* groups[] = {&params_, &gradients_, &states_.a, &states_.b};
    for (int k = 0; k < 4; ++k) {
      data_[k].assign(64, 1.0f + static_cast<float>(k));
      groups[k]->p_n = attn::View(data_[k].data(), {static_cast<int64_t>(data_[k].size())});
    }
  }
  ~Call() override { attn_context_destroy(context_); }

  void expect_refused(const char* text) {
    EXPECT_EQ(by_turn_step(context_, &options_, step_, &params_, &gradients_, &states_, {}),
              ATTN_REFUSED);
    EXPECT_STREQ(attn_context_message(context_), text);
    for (float value : data_[0]) EXPECT_EQ(value, 1.0f);
  }

  attn_context* context_ = nullptr;
  by_turn_options options_;
  by_turn_params params_ = {}, gradients_ = {};
  by_turn_states states_ = {};
  int64_t step_ = 1;
  std::vector<float> data_[4];
};

TEST_F(Call, UpdatesWhatHasAGradientAlone) {
  ASSERT_EQ(by_turn_step(context_, &options_, step_, &params_, &gradients_, &states_, {}), ATTN_OK)
      << attn_context_message(context_);
  // w - lr (g + a - b) with w, g, a, b = 1, 2, 3, 4.
  for (float value : data_[0]) EXPECT_FLOAT_EQ(value, 0.9f);
  const std::vector<float> before = data_[0];
  gradients_.p_n.data = nullptr;
  ASSERT_EQ(by_turn_step(context_, &options_, 2, &params_, &gradients_, &states_, {}), ATTN_OK);
  EXPECT_EQ(data_[0], before);
}

TEST_F(Call, RefusesAnOptionThatIsNotSet) {
  options_.angle = std::numeric_limits<double>::quiet_NaN();
  expect_refused("by_turn: the option angle of its update is not set");
}

TEST_F(Call, RefusesAStepBeforeTheFirst) {
  step_ = 0;
  expect_refused("by_turn: step is 0, and counts from 1");
}

TEST_F(Call, RefusesAGradientOfAnotherShape) {
  gradients_.p_n.extent[0] = 63;
  expect_refused("gradient of p.n: dimension 1 (N) is 63, must be 64");
}

TEST_F(Call, RefusesAStateThatIsMissing) {
  states_.b.p_n.data = nullptr;
  expect_refused("state b of p.n: data is null, must hold 64 elements");
}

TEST_F(Call, RefusesAStateOfAnotherType) {
  states_.a.p_n.type = ATTN_BF16;
  expect_refused("state a of p.n: type is bf16, must be f32");
}

TEST_F(Call, RefusesTensorsThatOverlap) {
  states_.a.p_n.data = data_[3].data();
  expect_refused("p.n, which is written, overlaps p.n");
}

TEST(Model, NamesTheOptionThatIsMissingOrUnknown) {
  Trained trained(by_sgd_model());
  EXPECT_EQ(trained.model().step({{"lr", 1}}).text(),
            "by_sgd: a step needs a backward call before it");
  trained.find_gradients(1);
  EXPECT_EQ(trained.model().step({}).text(), "by_sgd: the option lr of its update is not set");
  EXPECT_EQ(trained.model().step({{"rate", 1}}).text(), "by_sgd: its update has no option rate");
  EXPECT_EQ(trained.model().step({{"lr", 1}}, {{.pattern = "p.x*"}}).text(),
            "by_sgd: no parameter is of the group p.x*");
  EXPECT_EQ(trained.model().step({{"lr", 1}}, {{.pattern = "p.w", .max_rank = 1}}).text(),
            "by_sgd: no parameter is of the group p.w");
  EXPECT_EQ(trained.model().step({{"lr", 1}}, {{.options = {{"rate", 1}}}}).text(),
            "by_sgd: its update has no option rate");
  EXPECT_EQ(trained.model().step({}, {{.pattern = "p.w", .options = {{"lr", 1}}}}).text(),
            "by_sgd: the option lr of its update is not set for p.b");
  EXPECT_EQ(trained.model().steps(), 0);
}

}  // namespace
}  // namespace attn::testing
