// The C++ layer over a hand-written model: training, weights, and what it refuses.
#include <attn/safetensors.h>

#include <attn/attn.hpp>
#include <cmath>

#include "fake_model.h"
#include "files.h"

namespace {

using attn::Tensor;

class Line : public attn_test::Files {
 protected:
  Line() : model_(attn_, fake_model()) {
    for (int b = 0; b < 64; ++b) {
      for (int d = 0; d < 3; ++d)
        x_.data<float>()[3 * b + d] = std::sin(float(7 * b + (b + 1) * d * d));
      const float* x = x_.data<float>() + 3 * b;
      target_.data<float>()[b] = 0.5f * x[0] - 2 * x[1] + x[2] + 0.25f;
    }
  }
  float loss() { return *model_.output("loss").data<float>(); }
  std::string text(attn::Status status) { return status.text(); }

  attn::Context attn_{2};
  attn::Model model_;
  Tensor x_{ATTN_F32, {64, 3}}, target_{ATTN_F32, {64}};
};

TEST_F(Line, TrainsInMiniBatches) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  for (int epoch = 0; epoch < 200; ++epoch) {
    for (int64_t first = 0; first < 64; first += 24) {
      const int64_t n = std::min<int64_t>(24, 64 - first);
      ASSERT_TRUE(model_.forward({x_.rows(first, n), target_.rows(first, n)}));
      ASSERT_EQ(model_.output("y").extent(0), n);
      ASSERT_TRUE(model_.backward());
      ASSERT_TRUE(model_.step({{"lr", 0.1}, {"momentum", 0.9}}));
    }
  }
  ASSERT_TRUE(model_.forward({x_, target_}));
  EXPECT_LT(loss(), 1e-6);
  const float* w = model_.param("w").data<float>();
  EXPECT_NEAR(w[0], 0.5, 1e-2);
  EXPECT_NEAR(w[1], -2, 1e-2);
  EXPECT_NEAR(*model_.param("c").data<float>(), 0.25, 1e-2);
}

TEST_F(Line, TrainsWithClippedGradients) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  for (int step = 0; step < 300; ++step) {
    ASSERT_TRUE(model_.forward({x_, target_}));
    ASSERT_TRUE(model_.backward());
    ASSERT_TRUE(model_.clip_gradients(1));
    EXPECT_LE(model_.gradient_norm(), 1.0001);
    ASSERT_TRUE(model_.step({{"lr", 0.1}, {"momentum", 0.9}}));
  }
  ASSERT_TRUE(model_.forward({x_, target_}));
  EXPECT_LT(loss(), 1e-6);
}

TEST_F(Line, RefusesALimitOfGradientsThatIsNone) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  ASSERT_TRUE(model_.forward({x_, target_}));
  ASSERT_TRUE(model_.backward());
  const double norm = model_.gradient_norm();
  EXPECT_EQ(text(model_.clip_gradients(-1)), "line: clip is -1, and must be at least 0");
  EXPECT_EQ(text(model_.clip_gradients(NAN)), "line: clip is nan, and must be at least 0");
  EXPECT_EQ(text(model_.step({{"lr", NAN}})), "line: the option lr of its update is not set");
  EXPECT_EQ(model_.gradient_norm(), norm);
  EXPECT_TRUE(model_.clip_gradients(INFINITY));
  EXPECT_TRUE(model_.clip_gradients(0));
  EXPECT_EQ(model_.gradient_norm(), 0);
}

TEST_F(Line, SmallBatchesAccumulateToALargeOne) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  ASSERT_TRUE(model_.forward({x_, target_}));
  ASSERT_TRUE(model_.backward());
  const Tensor w = model_.gradient("w").clone(), c = model_.gradient("c").clone();
  for (int round = 0; round < 2; ++round) {  // the second begins anew
    for (int64_t k = 0; k < 4; ++k) {
      ASSERT_TRUE(model_.forward({x_.rows(16 * k, 16), target_.rows(16 * k, 16)}));
      ASSERT_TRUE(k == 0 ? model_.backward() : model_.accumulate());
    }
    ASSERT_TRUE(model_.scale_gradients(0.25));  // the loss is a mean
    for (int d = 0; d < 3; ++d)
      EXPECT_NEAR(model_.gradient("w").data<float>()[d], w.data<float>()[d], 1e-5);
    EXPECT_NEAR(*model_.gradient("c").data<float>(), *c.data<float>(), 1e-5);
  }
  attn::Model first(attn_, fake_model());
  ASSERT_TRUE(first.init(1, {{"D", 3}}));
  ASSERT_TRUE(first.forward({x_, target_}));
  EXPECT_EQ(text(first.accumulate()), "line: gradients are added to those of a backward call");
}

TEST_F(Line, TheSameSeedGivesTheSameRun) {
  float losses[2];
  for (float& result : losses) {
    attn::Model model(attn_, fake_model());
    ASSERT_TRUE(model.init(7, {{"D", 3}}));
    for (int step = 0; step < 10; ++step) {
      ASSERT_TRUE(model.forward({x_, target_}));
      ASSERT_TRUE(model.backward());
      ASSERT_TRUE(model.step({{"lr", 0.01}}));
    }
    result = *model.output("loss").data<float>();
  }
  EXPECT_EQ(losses[0], losses[1]);
}

TEST_F(Line, SavesAndLoadsItsWeights) {
  ASSERT_TRUE(model_.init(3, {{"D", 3}}));
  ASSERT_TRUE(model_.forward({x_, target_}));
  const float before = loss();
  ASSERT_TRUE(model_.save(path("w.safetensors")));
  attn::Model other(attn_, fake_model());  // takes D from the file
  ASSERT_EQ(text(other.load(path("w.safetensors"))), "");
  ASSERT_TRUE(other.forward({x_, target_}));
  EXPECT_EQ(*other.output("loss").data<float>(), before);
  ASSERT_TRUE(model_.init(4, {{"D", 3}}));
  ASSERT_TRUE(model_.load(path("w.safetensors")));
  ASSERT_TRUE(model_.forward({x_, target_}));
  EXPECT_EQ(loss(), before);
}

// Row W12.
TEST_F(Line, ListsAllDifferencesOfAWeightFileAtOnce) {
  float values[12] = {};
  const char* names[] = {"linear.weight", "bias", "z\n"};
  names[2] = "z";
  const attn_tensor tensors[] = {
      {values, ATTN_F16, 2, {3, 2}}, {values, ATTN_F32, 0, {}}, {values, ATTN_F64, 1, {2}}};
  ASSERT_EQ(attn_weights_save(attn_.get(), path("w").c_str(), 3, names, tensors), ATTN_OK);
  attn::Model model(attn_, fake_fixed_model());
  ASSERT_TRUE(model.init(1));
  const float before = model.param("w").data<float>()[0];
  const attn::Status status = model.load(path("w"));
  EXPECT_EQ(status.code(), ATTN_BAD_FILE);
  EXPECT_EQ(status.text(), path("w") +
                               " does not fit model fixed_line:\n"
                               "  \"linear.weight\" (\"w\") is f16, must be f32\n"
                               "  \"linear.weight\" (\"w\") has shape [3, 2], must have [3]\n"
                               "  \"c\" is missing\n"
                               "  \"bias\" is not in the model\n"
                               "  \"z\" is not in the model");
  EXPECT_EQ(model.param("w").data<float>()[0], before);
}

TEST_F(Line, CutsALongListOfDifferences) {
  float value = 0;
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  for (int k = 0; k < 1000; ++k) names.push_back("layer.number." + std::to_string(k));
  for (const std::string& name : names) pointers.push_back(name.c_str());
  const std::vector<attn_tensor> tensors(1000, attn_tensor{&value, ATTN_F32, 0, {}});
  ASSERT_EQ(
      attn_weights_save(attn_.get(), path("w").c_str(), 1000, pointers.data(), tensors.data()),
      ATTN_OK);
  const std::string message = text(model_.load(path("w")));
  EXPECT_LT(message.size(), 8000u);
  EXPECT_NE(message.find("\n  and 8"), std::string::npos) << message.substr(message.size() - 100);
}

TEST_F(Line, NamesASizeThatIsMissingUnknownOrNegative) {
  EXPECT_EQ(text(model_.init(1)), "line: parameter w needs the run-time size D");
  EXPECT_EQ(text(model_.init(1, {{"D", 3}, {"E", 3}})), "line: has no run-time size E");
  EXPECT_EQ(text(model_.init(1, {{"D", -3}})), "line: size D is negative");
  EXPECT_EQ(text(model_.init(1, {{"D", 0}})), "");
  attn::Model fixed(attn_, fake_fixed_model());
  EXPECT_EQ(text(fixed.init(1)), "");
  EXPECT_EQ(*fixed.param("c").data<float>(), 0.5f);
}

TEST_F(Line, RefusesCallsOutOfOrder) {
  EXPECT_EQ(text(model_.forward({x_, target_})),
            "line: the parameters are not there yet: call init or load");
  for (const attn::Status& saved : {model_.save(path("w")), model_.save_states(path("s"))})
    EXPECT_EQ(text(saved), "line: the parameters are not there yet: call init or load");
  EXPECT_EQ(text(model_.backward()), "line: backward needs a forward call before it");
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  EXPECT_EQ(text(model_.forward({x_})), "line: takes 2 inputs, not 1");
  EXPECT_EQ(text(model_.backward()), "line: backward needs a forward call before it");
  EXPECT_EQ(text(model_.backward(std::vector<attn::View>(2))),
            "line: backward needs a forward call before it");
  EXPECT_EQ(text(model_.step({{"lr", 1}})), "line: a step needs a backward call before it");
  EXPECT_EQ(text(model_.forward({x_, target_.rows(0, 10)})),
            "target: dimension 1 (B) is 10, must be 64");
  EXPECT_EQ(text(model_.backward(std::vector<attn::View>(2))),
            "line: backward needs a forward call before it");
}

TEST_F(Line, WritesToTheCallersArrays) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  Tensor y(ATTN_F32, {64}), loss(ATTN_F32, {}), dx(ATTN_F32, {64, 3});
  ASSERT_TRUE(model_.forward({x_, target_}, {y, loss}));
  EXPECT_GT(*loss.data<float>(), 0);
  Tensor one = Tensor::of<float>({1}, {});
  ASSERT_TRUE(model_.backward({attn::View(), one}, {dx, attn::View()}));
  EXPECT_NE(dx.data<float>()[0], 0);
  EXPECT_EQ(text(model_.forward({x_, target_}, {y, y})), "loss: rank is 1, must be 0");
}

TEST_F(Line, RunsOnNothing) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  ASSERT_TRUE(model_.forward({x_.rows(0, 0), target_.rows(0, 0)}));
  EXPECT_EQ(model_.output("y").count(), 0);
  ASSERT_TRUE(model_.backward());
  EXPECT_EQ(model_.gradient_norm(), 0);
}

TEST_F(Line, MovesWithItsState) {
  ASSERT_TRUE(model_.init(1, {{"D", 3}}));
  ASSERT_TRUE(model_.forward({x_, target_}));
  attn::Model moved = std::move(model_);
  ASSERT_TRUE(moved.backward());
  ASSERT_TRUE(moved.step({{"lr", 0.1}}));
}

class Tensors : public attn_test::Files {};

TEST_F(Tensors, LoadAndSave) {
  attn::Context context(1);
  const Tensor tensor = Tensor::of<int32_t>({1, 2, 3, 4, 5, 6}, {3, 2});
  ASSERT_TRUE(tensor.save(context, path("a.npy")));
  attn::Result<Tensor> loaded = Tensor::load(context, path("a.npy"), ATTN_F32);
  ASSERT_TRUE(loaded) << loaded.text();
  EXPECT_EQ(loaded->extent(0), 3);
  EXPECT_EQ(loaded->data<float>()[5], 6.0f);
  EXPECT_EQ(loaded->data<double>(), nullptr);
  attn::Result<Tensor> none = Tensor::load(context, path("b.npy"), ATTN_F32);
  EXPECT_FALSE(none);
  EXPECT_EQ(none.text(), path("b.npy") + ": No such file or directory");
}

TEST_F(Tensors, GatherTakesRows) {
  const Tensor tensor = Tensor::of<int32_t>({1, 2, 3, 4, 5, 6}, {3, 2});
  const int64_t chosen[] = {2, 0};
  const Tensor batch = tensor.gather(chosen, 2);
  EXPECT_EQ(batch.extent(0), 2);
  EXPECT_EQ(batch.data<int32_t>()[0], 5);
  EXPECT_EQ(batch.data<int32_t>()[3], 2);
  EXPECT_EQ(tensor.clone().data<int32_t>()[5], 6);
  EXPECT_FALSE(Tensor(ATTN_F32, {-1}).ok());
  EXPECT_FALSE(Tensor(ATTN_F32, {int64_t{1} << 62, 4}).ok());
}

}  // namespace
