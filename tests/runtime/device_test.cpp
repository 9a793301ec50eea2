// Devices: what may be asked for, and a model whose memory the host cannot touch.
#include <attn/device.h>
#include <attn/train.h>

#include <attn/attn.hpp>
#include <memory>

#include "fake_device.h"
#include "fake_model.h"
#include "files.h"

namespace {

using attn_test::DeviceTensor;
using attn_test::FakeDevice;

constexpr int64_t kSizes[] = {5, 3};

// The model `line` with all that training needs, in memory of a context's device.
class Line {
 public:
  explicit Line(const attn_context_options& options) {
    EXPECT_EQ(attn_context_create(&options, &context), ATTN_OK);
    attn_tensor p[2], in[2], out[2];
    EXPECT_EQ(attn_shapes(fake_model(), kSizes, p, in, out), ATTN_OK);
    for (auto [list, from] :
         {std::pair{&params, p}, {&inputs, in}, {&outputs, out}, {&gradients, p}, {&states, p}})
      for (int k = 0; k < 2; ++k) list->push_back(tensor(from[k]));
    nothing = {inputs[0], inputs[1]};
    cotangents = outputs;
    for (attn_tensor& t : nothing) t.data = nullptr;
    for (attn_tensor& t : cotangents) t.data = nullptr;
    cotangents[0] = tensor(outputs[0]);
    attn_sizes bytes;
    require(attn_call_sizes(context, fake_model(), params.data(), inputs.data(), &bytes));
    saved = block(bytes.saved);
    workspace = block(std::max(bytes.forward_workspace, bytes.backward_workspace));
    require(attn_initialise_model(context, fake_model(), params.data(), 1));
    require(attn_initialise_states(context, fake_model(), states.data()));
    fill(inputs[0]);
    fill(inputs[1]);
    fill(cotangents[0]);
  }
  ~Line() {
    memory_.clear();
    attn_context_destroy(context);
  }

  void require(attn_status status) { ASSERT_EQ(status, ATTN_OK) << attn_context_message(context); }
  attn_status forward() {
    return attn_forward(context, fake_model(), params.data(), inputs.data(), outputs.data(), saved,
                        workspace);
  }
  attn_status backward() {
    return attn_backward(context, fake_model(), params.data(), inputs.data(), outputs.data(), saved,
                         cotangents.data(), gradients.data(), nothing.data(), workspace);
  }
  attn_status step() {
    const double options[] = {0.1, 0.9};
    return attn_step(context, fake_model(), options, 1, params.data(), gradients.data(),
                     states.data(), {});
  }
  std::vector<float> values(const attn_tensor& t) {
    std::vector<float> list(static_cast<size_t>(t.rank > 0 ? t.extent[0] : 1));
    attn_tensor host = t;
    host.data = list.data();
    host.device = {};
    require(attn_copy(context, &host, &t));
    return list;
  }

  attn_context* context = nullptr;
  std::vector<attn_tensor> params, inputs, outputs, gradients, states, nothing, cotangents;
  attn_block saved, workspace;

 private:
  attn_tensor tensor(const attn_tensor& shape) {
    memory_.push_back(std::make_unique<DeviceTensor>(context, shape));
    return memory_.back()->view();
  }
  attn_block block(int64_t bytes) {
    return {tensor({nullptr, ATTN_BOOL, 1, {bytes}, {}}).data, bytes};
  }
  void fill(const attn_tensor& t) {
    float list[15];
    for (int k = 0; k < 15; ++k) list[k] = static_cast<float>(k % 7) - 2.5f;
    attn_tensor host = t;
    host.data = list;
    host.device = {};
    require(attn_copy(context, &t, &host));
  }

  std::vector<std::unique_ptr<DeviceTensor>> memory_;
};

TEST(Device, TrainsAModelInMemoryThatTheHostCannotTouch) {
  FakeDevice device;
  Line there(device.options()), here({});
  for (Line* line : {&there, &here}) {
    line->require(line->forward());
    line->require(line->backward());
    line->require(line->step());
  }
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(there.values(there.outputs[k]), here.values(here.outputs[k])) << k;
    EXPECT_EQ(there.values(there.gradients[k]), here.values(here.gradients[k])) << k;
    EXPECT_EQ(there.values(there.params[k]), here.values(here.params[k])) << k;
    EXPECT_EQ(there.values(there.states[k]), here.values(here.states[k])) << k;
  }
  EXPECT_EQ(device.begun, 3u);
  EXPECT_EQ(device.ended, 1u + 2 + 3);
}

TEST(Device, MovesNothingButTheHeaderOfTheSavedBlockAndScalars) {
  FakeDevice device;
  Line line(device.options());
  device.bytes_in = device.bytes_out = 0;
  line.require(line.forward());
  EXPECT_EQ(device.bytes_in, 24u);  // a hash and two sizes
  EXPECT_EQ(device.bytes_out, 0u);
  line.require(line.backward());
  EXPECT_EQ(device.bytes_in, 24u);
  EXPECT_EQ(device.bytes_out, 24u);
  line.require(line.step());
  EXPECT_EQ(device.bytes_in, 24u + 16);  // two scalars
  EXPECT_EQ(device.bytes_out, 24u);
}

TEST(Device, SavesAndLoadsWeights) {
  FakeDevice device;
  Line there(device.options()), here({});
  const std::string path = testing::TempDir() + "/device_weights";
  there.require(attn_model_save(there.context, fake_model(), there.params.data(), path.c_str()));
  here.require(here.forward());
  here.require(here.backward());
  here.require(here.step());
  here.require(attn_model_load(here.context, fake_model(), here.params.data(), path.c_str()));
  EXPECT_EQ(here.values(here.params[0]), there.values(there.params[0]));
  there.require(attn_model_load(there.context, fake_model(), there.params.data(), path.c_str()));
  there.require(there.forward());
  there.require(there.backward());
  const double norm = attn_gradient_norm(there.context, 2, there.gradients.data());
  EXPECT_GT(norm, 0);
  there.require(attn_scale(there.context, 2, there.gradients.data(), 0.5));
  EXPECT_NEAR(attn_gradient_norm(there.context, 2, there.gradients.data()), norm / 2, 1e-6 * norm);
  std::remove(path.c_str());
}

// Memory for the copies is there before the first parameter changes.
TEST(Device, LoadsAllOrNothingWithoutMemory) {
  FakeDevice device;
  Line there(device.options()), other({});
  const std::string path = testing::TempDir() + "/device_all_or_nothing";
  other.require(other.forward());
  other.require(other.backward());
  other.require(other.step());
  other.require(attn_model_save(other.context, fake_model(), other.params.data(), path.c_str()));
  const std::vector<std::vector<float>> before = {there.values(there.params[0]),
                                                  there.values(there.params[1])};
  EXPECT_NE(before[0], other.values(other.params[0]));
  int failed = 0;
  for (int n = 1;; ++n) {
    attn_context_fail_allocation(there.context, n);
    const attn_status status =
        attn_model_load(there.context, fake_model(), there.params.data(), path.c_str());
    attn_context_fail_allocation(there.context, 0);
    if (status == ATTN_OK) break;
    ++failed;
    EXPECT_EQ(status, ATTN_NO_MEMORY);
    for (size_t k = 0; k < 2; ++k) EXPECT_EQ(there.values(there.params[k]), before[k]) << n;
  }
  EXPECT_GT(failed, 1);
  EXPECT_EQ(there.values(there.params[0]), other.values(other.params[0]));
  std::remove(path.c_str());
}

// What the C++ layer has trained, on the host.
std::vector<float> trained(attn::Context& context) {
  attn::Model model(context, fake_model());
  attn::Tensor x(ATTN_F32, {5, 3}), target(ATTN_F32, {5});
  for (int k = 0; k < 15; ++k) x.data<float>()[k] = static_cast<float>(k * k % 7);
  EXPECT_TRUE(model.init(1, {{"D", 3}}));
  for (int round = 0; round < 3; ++round) {
    attn::Status status = model.forward({x, target});
    EXPECT_TRUE(status) << status.text();
    status = model.backward();
    EXPECT_TRUE(status) << status.text();
    status = model.step({{"lr", 0.01}});
    EXPECT_TRUE(status) << status.text();
  }
  std::vector<float> all;
  for (const attn::Tensor* t : std::initializer_list<const attn::Tensor*>{
           &model.param("w"), &model.gradient("w"), &model.output("y")}) {
    EXPECT_EQ(t->data<float>() != nullptr, context.device().type == ATTN_CPU);
    attn::Result<attn::Tensor> host = t->to_host(context);
    EXPECT_TRUE(host) << host.text();
    all.insert(all.end(), host->data<float>(), host->data<float>() + host->count());
    // There and back.
    attn::Result<attn::Tensor> there = host->to(context);
    EXPECT_TRUE(there) << there.text();
    attn::Result<attn::Tensor> back = there->to_host(context);
    EXPECT_EQ(0, memcmp(back->data<float>(), host->data<float>(), 4 * host->count()));
  }
  return all;
}

TEST(Device, OfAModelInCppGetsTheHostsInputs) {
  FakeDevice device;
  attn::Context there(device.options()), here(1);
  EXPECT_EQ(trained(there), trained(here));
}

TEST(Device, RefusesTensorsOfAnotherMemory) {
  FakeDevice device;
  Line line(device.options());
  float host[15] = {};
  const attn_tensor x = line.inputs[0];
  line.inputs[0].data = host;
  line.inputs[0].device = {};
  EXPECT_EQ(line.forward(), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(line.context),
               "x: its data is in memory of the CPU, must be in that of device 3");
  line.inputs[0] = x;
  line.inputs[0].device = {ATTN_OTHER, 4};
  EXPECT_EQ(line.forward(), ATTN_REFUSED);
  EXPECT_EQ(attn_copy(line.context, &x, &line.inputs[0]), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(line.context),
               "a tensor is neither in memory of the host nor of the context's device");
  line.inputs[0] = x;
  line.require(line.forward());
}

TEST(Device, WaitsForTheCaller) {
  FakeDevice device;
  Line line(device.options());
  EXPECT_EQ(device.waits, 0u);
  EXPECT_EQ(attn_context_wait(line.context), ATTN_OK);
  EXPECT_EQ(device.waits, 1u);
  EXPECT_EQ(attn_context_wait(nullptr), ATTN_REFUSED);
}

TEST(Device, SaysThatItFailed) {
  FakeDevice device;
  Line line(device.options());
  device.fails = 1;
  EXPECT_EQ(line.forward(), ATTN_BAD_DEVICE);
  EXPECT_STREQ(attn_context_message(line.context), "the fake failed");
  device.fails = 0;
  line.require(line.forward());
}

TEST(Device, OfOthersIsRefusedWithAText) {
  std::string logged;
  attn_context_options options = {};
  options.log_data = &logged;
  options.log = [](void* data, attn_log_level, const char* text) {
    *static_cast<std::string*>(data) = text;
  };
  attn_context* context = nullptr;
  // Of the last ordinal there is nothing where there is a driver, either.
  options.device = {ATTN_CUDA, INT32_MAX};
  EXPECT_EQ(attn_context_create(&options, &context), ATTN_REFUSED);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(logged, attn_device_refusal(options.device));
  EXPECT_TRUE(logged.find("CUDA d") != std::string::npos) << logged;  // driver, device
  options.device = {ATTN_CPU, 1};
  EXPECT_EQ(attn_context_create(&options, &context), ATTN_REFUSED);
  EXPECT_EQ(logged, "there is one CPU, of ordinal 0");
  options.device = {ATTN_OTHER, 0};
  EXPECT_EQ(attn_context_create(&options, &context), ATTN_REFUSED);
  EXPECT_EQ(logged, "a device of the program's own needs its functions");
  EXPECT_EQ(attn_device_refusal({ATTN_CPU, 0}), nullptr);
  EXPECT_EQ(attn_device_refusal({static_cast<attn_device_type>(99), 0}),
            std::string("no such type of device"));
}

}  // namespace
