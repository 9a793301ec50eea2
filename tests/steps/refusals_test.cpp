// What a step refuses, by the C interface and by attn::Model; nothing is then written.
#include <cstring>
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

// The norm of all gradients takes a workspace; nothing is written where it does not fit.
TEST(Norm, RefusesAWorkspaceThatDoesNotFit) {
  attn::Context context(1);
  const attn_model& m = *by_sgd_model();
  const size_t n = static_cast<size_t>(m.n_params);
  const int64_t sizes[] = {5};
  std::vector<attn_tensor> params(n);
  attn_shapes(&m, sizes, params.data(), nullptr, nullptr);
  std::vector<attn_tensor> gradients = params, states = params;
  ASSERT_EQ(m.n_step_states, 1);
  std::vector<void*> memory;
  for (auto* group : {&params, &gradients, &states}) {
    for (attn_tensor& t : *group) {
      if (group != &params) t.type = attn_gradient_type(t.type);
      const size_t bytes = static_cast<size_t>(attn_element_count(&t) * attn_type_size(t.type)) + 1;
      t.data = memset(attn_allocate(nullptr, bytes), 0, bytes);
      memory.push_back(t.data);
    }
  }
  by_sgd_options options = by_sgd_default_options();
  options.lr = 0.1;
  options.clip = 1;
  float& w = *static_cast<float*>(params[0].data);
  w = 3;
  *static_cast<float*>(gradients[0].data) = 4;
  const auto step = [&](attn_block workspace) {
    return attn_step(context.get(), &m, reinterpret_cast<const double*>(&options), 1, params.data(),
                     gradients.data(), states.data(), workspace);
  };
  const auto expect_refused = [&](attn_block workspace, const std::string& text) {
    EXPECT_EQ(step(workspace), ATTN_REFUSED) << text;
    const std::string message = attn_context_message(context.get());
    EXPECT_NE(message.find(text), std::string::npos) << message;
    EXPECT_EQ(w, 3) << text;
  };
  const int64_t bytes = attn_step_workspace(&m, params.data());
  ASSERT_GT(bytes, 0);
  const attn_block workspace = {attn_allocate(nullptr, static_cast<size_t>(bytes)), bytes};
  memory.push_back(workspace.data);
  expect_refused({}, "by_sgd: the workspace is null");
  expect_refused({workspace.data, bytes - 1}, "by_sgd: the workspace has " +
                                                  std::to_string(bytes - 1) + " bytes, and needs " +
                                                  std::to_string(bytes));
  expect_refused({params[0].data, bytes}, "overlaps");
  EXPECT_EQ(step(workspace), ATTN_OK) << attn_context_message(context.get());
  EXPECT_FLOAT_EQ(w, 2.9f);  // the gradient is scaled to 1
  for (void* block : memory) attn_free(nullptr, block);
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
