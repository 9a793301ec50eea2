// Arguments that are null are refused by a text that names them; functions without a status give
// what stands for nothing.
#include <attn/describe.h>
#include <attn/npy.h>
#include <attn/safetensors.h>
#include <attn/train.h>
#include <attn/types.h>

#include <attn/products.hpp>
#include <cmath>

#include "fake_model.h"
#include "files.h"

namespace {

class Nulls : public attn_test::Files {
 protected:
  Nulls() {
    EXPECT_EQ(attn_shapes(model_, sizes_, params_, inputs_, outputs_), ATTN_OK);
    params_[0].data = w_;
    params_[1].data = &c_;
  }
  void refused(attn_status status, const std::string& text) {
    EXPECT_EQ(status, ATTN_REFUSED) << text;
    EXPECT_EQ(message(), text);
  }

  const attn_model* model_ = fake_model();
  const int64_t sizes_[2] = {2, 3};
  float w_[3] = {1, 2, 3}, c_ = 4;
  attn_tensor params_[2] = {}, inputs_[2] = {}, outputs_[2] = {};
  const attn_tensor scalar_ = {&c_, ATTN_F32, 0, {}};
  attn_array array_ = {};
  attn_weights* weights_ = nullptr;
};

// Nor has a size that is negative a shape.
TEST_F(Nulls, OfShapes) {
  for (const int64_t n : {int64_t{-1}, INT64_MIN}) {
    const int64_t sizes[2] = {2, n};
    attn_tensor result = {};
    EXPECT_EQ(attn_shapes(model_, sizes, &result, nullptr, nullptr), ATTN_REFUSED);
    EXPECT_EQ(attn_probe_shape(model_, 0, sizes, &result), ATTN_REFUSED);
    EXPECT_EQ(result.rank, 0);
  }
}

TEST_F(Nulls, OfCalls) {
  EXPECT_EQ(attn_shapes(nullptr, sizes_, params_, inputs_, outputs_), ATTN_REFUSED);
  EXPECT_EQ(attn_shapes(model_, nullptr, params_, inputs_, outputs_), ATTN_REFUSED);
  EXPECT_EQ(attn_shapes(model_, sizes_, nullptr, nullptr, nullptr), ATTN_OK);
  attn_tensor result = {};
  EXPECT_EQ(attn_probe_shape(nullptr, 0, sizes_, &result), ATTN_REFUSED);
  EXPECT_EQ(attn_probe_shape(model_, 0, nullptr, &result), ATTN_REFUSED);
  EXPECT_EQ(attn_probe_shape(model_, -1, sizes_, &result), ATTN_REFUSED);
  EXPECT_EQ(attn_probe_shape(model_, model_->n_probes, sizes_, &result), ATTN_REFUSED);
  refused(
      attn_probe(context_, model_, model_->n_probes, params_, inputs_, outputs_, {}, &result, {}),
      std::string(model_->name) + ": was compiled without a probe of this number");
  attn_sizes bytes;
  int64_t read[2];
  refused(attn_call_sizes(context_, nullptr, params_, inputs_, &bytes), "the model is null");
  refused(attn_call_sizes(context_, model_, params_, inputs_, nullptr),
          "the argument sizes is null");
  refused(attn_read_sizes(context_, nullptr, params_, inputs_, read), "the model is null");
  refused(attn_read_sizes(context_, model_, params_, inputs_, nullptr),
          "the argument sizes is null");
  refused(attn_step_each(context_, nullptr, nullptr, 1, params_, params_, params_, {}),
          "the model is null");
  EXPECT_EQ(attn_step_workspace(nullptr, params_), 0);
  EXPECT_EQ(attn_step_workspace(model_, nullptr), 0);
  EXPECT_EQ(attn_name_matches(nullptr, "w"), 0);
  EXPECT_EQ(attn_name_matches("*", nullptr), 0);
  EXPECT_EQ(attn_name_matches(nullptr, nullptr), 0);
}

TEST_F(Nulls, OfTraining) {
  refused(attn_initialise(context_, nullptr, &scalar_, 1), "the argument argument is null");
  refused(attn_initialise(context_, &model_->params[1], nullptr, 1), "c: the tensor is null");
  EXPECT_TRUE(std::isnan(attn_gradient_norm(context_, 1, nullptr)));
  EXPECT_EQ(message(), "the argument gradients is null");
  EXPECT_EQ(attn_gradient_norm(context_, 0, nullptr), 0);
  refused(attn_scale(context_, 1, nullptr, 1), "the argument tensors is null");
  refused(attn_scale(context_, -1, &scalar_, 1), "the argument tensors has -1 elements");
  EXPECT_EQ(attn_scale(context_, 0, nullptr, 1), ATTN_OK);
  refused(attn_add(context_, 1, nullptr, &scalar_, 1), "the argument sums is null");
  refused(attn_add(context_, 1, &scalar_, nullptr, 1), "the argument terms is null");
  int64_t step = 0;
  refused(attn_states_save(context_, model_, params_, 1, nullptr), "the path is null");
  refused(attn_states_save(context_, model_, nullptr, 1, "s"),
          std::string(model_->name) + ": no states");
  refused(attn_states_load(context_, model_, params_, nullptr, "s"), "the argument step is null");
  refused(attn_states_load(context_, model_, params_, &step, nullptr), "the path is null");
  refused(attn_model_save(context_, model_, params_, nullptr), "the path is null");
  refused(attn_model_save(context_, model_, params_, ""), "the path is empty");
  refused(attn_model_load(context_, model_, params_, nullptr), "the path is null");
  refused(attn_model_load(context_, model_, params_, ""), "the path is empty");
  refused(attn_model_load_shapes(context_, model_, params_, nullptr, nullptr), "the path is null");
}

TEST_F(Nulls, OfArrays) {
  refused(attn_npy_load(context_, "x.npy", nullptr), "the argument array is null");
  refused(attn_npy_load(context_, nullptr, &array_), "the path is null");
  refused(attn_npy_load(context_, "", &array_), "the path is empty");
  refused(attn_npy_parse(context_, "x", "", 0, nullptr), "the argument array is null");
  refused(attn_npy_parse(context_, nullptr, "", 0, &array_), "the argument label is null");
  refused(attn_npy_parse(context_, "x", nullptr, 9, &array_), "the argument bytes is null");
  refused(attn_npy_save(context_, nullptr, &scalar_), "the path is null");
  refused(attn_npy_save(context_, "", &scalar_), "the path is empty");
  refused(attn_npy_save(context_, path("x").c_str(), nullptr), "the argument tensor is null");
  attn_array one = {&c_, ATTN_FILE_F32, 0, {}, 1};
  float to;
  refused(attn_array_convert(context_, nullptr, &one, ATTN_F32, &to), "the argument name is null");
  refused(attn_array_convert(context_, "x", nullptr, ATTN_F32, &to), "the argument array is null");
  refused(attn_array_convert(context_, "x", &one, ATTN_F32, nullptr),
          "the argument destination is null");
  one.data = nullptr;
  refused(attn_array_convert(context_, "x", &one, ATTN_F32, &to),
          "the argument array->data is null");
  one = {&c_, static_cast<attn_file_type>(99), 0, {}, 1};
  refused(attn_array_convert(context_, "x", &one, ATTN_F32, &to),
          "x: unknown is not converted to f32");
  EXPECT_EQ(attn_shapes_merge(1, nullptr, 1, sizes_), 0);
  EXPECT_EQ(attn_shapes_merge(1, sizes_, 1, nullptr), 0);
  EXPECT_EQ(attn_element_count(nullptr), -1);
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(Nulls, OfWeights) {
  const char *const names[] = {"a"}, *const nameless[] = {nullptr};
  const std::string file = path("w");
  refused(attn_weights_save(context_, nullptr, 1, names, &scalar_), "the path is null");
  refused(attn_weights_save(context_, file.c_str(), 1, nullptr, &scalar_),
          "the argument names is null");
  refused(attn_weights_save(context_, file.c_str(), 1, names, nullptr),
          "the argument tensors is null");
  refused(attn_weights_save(context_, file.c_str(), 1, nameless, &scalar_),
          "the argument names[k] is null");
  ASSERT_EQ(attn_weights_save(context_, file.c_str(), 1, names, &scalar_), ATTN_OK) << message();
  refused(attn_weights_open(context_, file.c_str(), nullptr), "the argument weights is null");
  refused(attn_weights_open(context_, nullptr, &weights_), "the path is null");
  refused(attn_weights_open(context_, "", &weights_), "the path is empty");
  refused(attn_weights_parse(context_, "w", "", 0, nullptr), "the argument weights is null");
  refused(attn_weights_parse(context_, nullptr, "", 0, &weights_), "the argument label is null");
  refused(attn_weights_parse(context_, "w", nullptr, 9, &weights_), "the argument bytes is null");
  EXPECT_EQ(weights_, nullptr);

  ASSERT_EQ(attn_weights_open(context_, file.c_str(), &weights_), ATTN_OK) << message();
  float to;
  EXPECT_EQ(attn_weights_count(nullptr), 0);
  EXPECT_EQ(attn_weights_at(nullptr, 0).name, nullptr);
  EXPECT_EQ(attn_weights_at(weights_, 1).name, nullptr);
  EXPECT_EQ(attn_weights_find(nullptr, "a"), -1);
  EXPECT_EQ(attn_weights_find(weights_, nullptr), -1);
  refused(attn_weights_read(context_, nullptr, 0, &to), "the argument weights is null");
  refused(attn_weights_read(context_, weights_, 0, nullptr), "the argument destination is null");
  refused(attn_weights_read(context_, weights_, -1, &to),
          file + ": has 1 tensors, and none of index -1");
  refused(attn_weights_load(context_, nullptr, 0, &array_), "the argument weights is null");
  refused(attn_weights_load(context_, weights_, 0, nullptr), "the argument array is null");
  refused(attn_weights_load(context_, weights_, 1, &array_),
          file + ": has 1 tensors, and none of index 1");
  attn_weights_close(weights_);
}

TEST_F(Nulls, OfDevicesAndThreads) {
  refused(attn_copy(context_, nullptr, &scalar_), "the argument to is null");
  refused(attn_copy(context_, &scalar_, nullptr), "the argument from is null");
  const attn_tensor none = {nullptr, ATTN_F32, 0, {}};
  refused(attn_copy(context_, &scalar_, &none), "the argument from->data is null");
  refused(attn_copy(context_, &none, &scalar_), "the argument to->data is null");
  EXPECT_EQ(attn_context_device(nullptr), nullptr);
  EXPECT_EQ(attn_parallel_for(context_, 1, nullptr, nullptr), ATTN_REFUSED);
  EXPECT_EQ(message(), "the argument task is null");
  EXPECT_EQ(attn_parallel_for(context_, 0, nullptr, nullptr), 0);
}

TEST_F(Nulls, OfDescriptions) {
  char text[8] = "before";
  EXPECT_EQ(attn_describe_model(nullptr, text, sizeof text), 0);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(attn_describe_model(model_, nullptr, 8), attn_describe_model(model_, nullptr, 0));
  EXPECT_EQ(attn_describe_interface(nullptr, 8), attn_describe_interface(nullptr, 0));
}

TEST_F(Nulls, OfAModelInCpp) {
  attn::Context context(1);
  attn::Model model(context, nullptr);
  attn::Products products(context, model);
  attn::States states;
  attn::Tensor result;
  const attn::Status refusals[] = {model.init(1),
                                   model.begin(states),
                                   model.load("w"),
                                   model.load("w", {.keep_missing = 1}),
                                   model.save("w"),
                                   model.forward({}),
                                   model.forward({}, states),
                                   model.forward({}, std::vector<attn::View>()),
                                   model.backward(),
                                   model.backward({}),
                                   model.accumulate(),
                                   model.accumulate({}),
                                   model.probe("p", result),
                                   model.step({{"lr", 1}}),
                                   model.save_states("s"),
                                   model.load_states("s"),
                                   products.jvp({}, {}),
                                   products.hvp({}, {})};
  for (const attn::Status& refusal : refusals) {
    EXPECT_EQ(refusal.code(), ATTN_REFUSED) << &refusal - refusals;
    EXPECT_EQ(refusal.text(), "the model is null") << &refusal - refusals;
  }
  EXPECT_EQ(model.description(), nullptr);
  EXPECT_FALSE(model.output("y").ok());
  EXPECT_FALSE(model.param("w").ok());
}

TEST_F(Nulls, PathsInCppMayNotBeEmpty) {
  attn::Context context(1);
  attn::Model model(context, fake_fixed_model());
  EXPECT_EQ(model.load("").text(), "the path is empty");
  ASSERT_TRUE(model.init(1));
  EXPECT_EQ(model.load("").text(), "the path is empty");
  EXPECT_EQ(model.save("").text(), "the path is empty");
  EXPECT_EQ(model.save_states("").text(), "the path is empty");
  EXPECT_EQ(model.load_states("").text(), "the path is empty");
}

}  // namespace
