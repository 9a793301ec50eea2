// Compiled updates against their formulas in plain loops; and training that stops and goes on.
#include <cstdio>
#include <cstring>
#include <functional>

#include "tests/steps/trained.h"

namespace attn::testing {
namespace {

// The formula of an update for one element: the parameter, its gradient scaled to the clipped norm,
// its states, the number of the step.
using Formula = std::function<double(double w, double g, std::vector<double>& states, int step)>;

struct Update {
  const char* name;
  const attn_model* (*model)();
  std::vector<attn::Model::Option> options;
  double clip;                 // 0: none
  std::vector<double> states;  // before the first step
  Formula formula;
};

double adam(double g, std::vector<double>& s, int step) {
  s[0] = 0.8 * s[0] + 0.2 * g;
  s[1] = 0.99 * s[1] + 0.01 * g * g;
  const double m = s[0] / (1 - std::pow(0.8, step)), v = s[1] / (1 - std::pow(0.99, step));
  return m / (std::sqrt(v) + 1e-8);
}

std::vector<Update> updates() {
  return {
      {"sgd",
       by_sgd_model,
       {{"lr", 0.1}, {"momentum", 0.9}, {"decay", 0.02}},
       0,
       {0},
       [](double w, double g, std::vector<double>& s, int) {
         s[0] = 0.9 * s[0] + g + 0.02 * w;
         return w - 0.1 * s[0];
       }},
      {"sgd clipped",
       by_sgd_model,
       {{"lr", 0.1}, {"clip", 3}},
       3,
       {0},
       [](double w, double g, std::vector<double>&, int) { return w - 0.1 * g; }},
      {"adam",
       by_adam_model,
       {{"lr", 0.01}, {"beta1", 0.8}, {"beta2", 0.99}},
       0,
       {0, 0},
       [](double w, double g, std::vector<double>& s, int step) {
         return w - 0.01 * adam(g, s, step);
       }},
      {"adamw clipped",
       by_adamw_model,
       {{"lr", 0.01}, {"beta1", 0.8}, {"beta2", 0.99}, {"decay", 0.3}, {"clip", 0.5}},
       0.5,
       {0, 0},
       [](double w, double g, std::vector<double>& s, int step) {
         return w - 0.01 * (adam(g, s, step) + 0.3 * w);
       }},
      {"adagrad",
       by_adagrad_model,
       {{"lr", 0.1}},
       0,
       {0},
       [](double w, double g, std::vector<double>& s, int) {
         s[0] += g * g;
         return w - 0.1 * g / (std::sqrt(s[0]) + 1e-10);
       }},
      {"signs",
       by_signs_model,
       {{"lr", 0.25}},
       0,
       {},
       [](double w, double g, std::vector<double>&, int) {
         return w - 0.25 * ((g > 0) - (g < 0));
       }},
      {"turn",
       by_turn_model,
       {{"lr", 0.1}, {"angle", 0.7}},
       0,
       {1, 0.5},
       [](double w, double g, std::vector<double>& s, int) {
         const double a = s[0], b = s[1];
         s[1] = a * std::sin(0.7) + b * std::cos(0.7);
         s[0] = a * std::cos(0.7) - b * std::sin(0.7);
         return w - 0.1 * (g + a - b);
       }},
  };
}

TEST(Steps, DoWhatTheirFormulasSay) {
  for (const Update& u : updates()) {
    Trained trained(u.model());
    std::vector<double> want = elements(trained.model().params());
    std::vector<std::vector<double>> states(want.size(), u.states);
    for (int step = 1; step <= 4; ++step) {
      trained.find_gradients(step);
      const std::vector<double> gradients = elements(trained.model().gradients());
      ASSERT_EQ(gradients.size(), want.size());
      double norm = 0;
      for (double g : gradients) norm += g * g;
      norm = std::sqrt(norm);
      const double scale = u.clip > 0 && norm > u.clip ? u.clip / norm : 1;
      const attn::Status status = trained.model().step(u.options);
      ASSERT_TRUE(status) << status.text();
      const std::vector<double> got = elements(trained.model().params());
      int half = 0;
      for (const attn::Tensor& t : trained.model().params())
        if (t.type() == ATTN_BF16) half = static_cast<int>(t.count());
      int bad = 0;
      for (size_t k = 0; k < want.size() && bad < 5; ++k) {
        // bf16 is rounded after each step, by up to 2^-9 of it.
        const bool is_half = k >= 4501 && k < 4501u + static_cast<size_t>(half);
        want[k] = u.formula(want[k], scale * gradients[k], states[k], step);
        EXPECT_NEAR(got[k], want[k], (is_half ? 4e-3 : 4e-6) * (1 + std::abs(want[k])))
            << u.name << ": element " << k << " after step " << step << ", " << ++bad;
        if (is_half) want[k] = got[k];
      }
    }
    EXPECT_EQ(trained.model().steps(), 4);
  }
}

// One group is of all but matrices, one of all names of a letter, one is frozen.
TEST(Steps, GroupsHaveOptionsOfTheirOwnAndOneNorm) {
  Trained trained(by_sgd_model());
  attn::Model& model = trained.model();
  const std::vector<attn::Model::Group> groups = {
      {.options = {{"decay", 0}, {"lr", 0.3}}, .max_rank = 1},
      {.pattern = "p.?", .options = {{"lr", 0.2}}},
      {.pattern = "*half", .frozen = true}};
  std::vector<attn::Tensor> before;
  for (const attn::Tensor& t : model.params()) before.push_back(t.clone());
  for (int step = 1; step <= 2; ++step) {
    trained.find_gradients(step);
    double norm = 0;
    for (double g : elements(model.gradients())) norm += g * g;
    for (int64_t k = 0; k < 70; ++k) {
      const double g = model.gradient("p.half").data<float>()[k];
      norm -= g * g;
    }
    const double scale = 2 / std::sqrt(norm);
    const attn::Status status = model.step({{"lr", 0.1}, {"decay", 0.5}, {"clip", 2}}, groups);
    ASSERT_TRUE(status) << status.text();
    for (size_t k = 0; k < before.size(); ++k) {
      const std::string name = model.description()->params[k].name;
      attn::Tensor& old = before[k];
      const double decay = name == "p.w" ? 0.5 : 0;
      for (int64_t j = 0; j < old.count() && name != "p.half"; ++j) {
        const auto at = [&](const attn::Tensor& t) {
          return t.type() == ATTN_F64 ? t.data<double>()[j] : t.data<float>()[j];
        };
        const double want = at(old) - 0.2 * (scale * at(model.gradients()[k]) + decay * at(old));
        ASSERT_NEAR(at(model.params()[k]), want, 1e-5) << name << j;
      }
      if (name == "p.half") {
        EXPECT_EQ(std::memcmp(old.view().data, model.params()[k].view().data, 140), 0);
      }
      old = model.params()[k].clone();
    }
  }
}

TEST(Steps, PatternsAreOfWholeNames) {
  const struct {
    const char *pattern, *name;
    bool matches;
  } kCases[] = {{"", "", true},
                {"*", "", true},
                {"a", "", false},
                {"", "a", false},
                {"a.b", "a.b", true},
                {"a", "a.b", false},
                {"a?b", "a.b", true},
                {"a?b", "ab", false},
                {"*.bias", "h.0.bias", true},
                {"*.bias", "bias", false},
                {"h.*.w?", "h.0.a.wq", true},
                {"h.*.w?", "h.0.w", false},
                {"*a*a", "banana", true},
                {"*a*b", "banana", false},
                {"**", "x", true},
                {"*ab", "aab", true}};
  for (const auto& c : kCases)
    EXPECT_EQ(attn_name_matches(c.pattern, c.name), c.matches) << c.pattern << " " << c.name;
}

TEST(Steps, HaveTheSameBitsForAnyNumberOfThreads) {
  Trained one(by_adamw_model(), 1, 40000), many(by_adamw_model(), 5, 40000);
  for (Trained* t : {&one, &many}) {
    for (int step = 1; step <= 2; ++step) {
      t->find_gradients(step);
      ASSERT_TRUE(t->model().step({{"lr", 0.1}, {"clip", 1}}));
    }
  }
  EXPECT_EQ(elements(one.model().params()), elements(many.model().params()));
}

TEST(Steps, GoOnFromFilesAsIfTheyHadNotStopped) {
  const std::string folder = ::testing::TempDir();
  const std::string weights = folder + "steps.safetensors", states = folder + "steps.states";
  Trained whole(by_adam_model()), begun(by_adam_model()), resumed(by_adam_model());
  for (int step = 1; step <= 5; ++step) {
    whole.find_gradients(step);
    ASSERT_TRUE(whole.model().step({{"lr", 0.1}}));
  }
  for (int step = 1; step <= 3; ++step) {
    begun.find_gradients(step);
    ASSERT_TRUE(begun.model().step({{"lr", 0.1}}));
  }
  ASSERT_TRUE(begun.model().save(weights));
  ASSERT_TRUE(begun.model().save_states(states));
  ASSERT_TRUE(resumed.model().load(weights));
  const attn::Status status = resumed.model().load_states(states);
  ASSERT_TRUE(status) << status.text();
  EXPECT_EQ(resumed.model().steps(), 3);
  for (int step = 4; step <= 5; ++step) {
    resumed.find_gradients(step);
    ASSERT_TRUE(resumed.model().step({{"lr", 0.1}}));
  }
  EXPECT_EQ(elements(whole.model().params()), elements(resumed.model().params()));
  // The states of another update do not fit, and change nothing.
  Trained other(by_sgd_model());
  EXPECT_EQ(other.model().load_states(states).code(), ATTN_BAD_FILE);
  EXPECT_EQ(other.model().steps(), 0);
  remove(weights.c_str());
  remove(states.c_str());
}

TEST(Models, OfOneFileShareParametersAndWeightFiles) {
  const std::string weights = ::testing::TempDir() + "shared.safetensors";
  Trained first(by_sgd_model()), second(by_adagrad_model());
  first.find_gradients(1);
  ASSERT_TRUE(first.model().step({{"lr", 0.1}}));
  ASSERT_TRUE(first.model().save(weights));
  ASSERT_TRUE(second.model().load(weights));
  EXPECT_EQ(elements(first.model().params()), elements(second.model().params()));
  remove(weights.c_str());
}

}  // namespace
}  // namespace attn::testing
