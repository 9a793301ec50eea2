// Calls that are wrong: a status, a text that names tensor and dimension, and not a byte written.
#include <attn/train.h>

#include <functional>

#include "fitted.h"
#include "tests/calls/word.h"

namespace attn::testing {
namespace {

constexpr attn_tensor word_params::*kParams[] = {&word_params::table, &word_params::w,
                                                 &word_params::c};
constexpr attn_tensor word_inputs::*kInputs[] = {&word_inputs::token, &word_inputs::x,
                                                 &word_inputs::keep, &word_inputs::scale};
constexpr attn_tensor word_outputs::*kOutputs[] = {&word_outputs::y, &word_outputs::loss,
                                                   &word_outputs::best};

class Refusals : public ::testing::Test {
 protected:
  void expect(attn_status status, attn_status wanted, const std::string& says) {
    EXPECT_EQ(status, wanted) << says << ": " << word.message();
    EXPECT_NE(word.message().find(says), std::string::npos)
        << "`" << says << "` is not in: " << word.message();
    EXPECT_TRUE(word.untouched()) << says << ": something was written";
    word.expect_fences();
    word.clear();
  }
  // A call each with a change that is undone, after one without it that passed; forward has run for
  // backward.
  void forward_refuses(const std::function<void()>& change, const std::string& says,
                       attn_status wanted = ATTN_REFUSED) {
    ASSERT_EQ(word.forward(), ATTN_OK) << word.message();
    word.clear();
    const auto p = word.params;
    const auto i = word.inputs;
    const auto o = word.outputs;
    change();
    expect(word.forward(), wanted, says);
    word.params = p;
    word.inputs = i;
    word.outputs = o;
  }
  void backward_refuses(const std::function<void()>& change, const std::string& says,
                        attn_status wanted = ATTN_REFUSED) {
    word.both();
    word.clear();
    const auto p = word.params;
    const auto i = word.inputs;
    const auto o = word.outputs;
    const auto dp = word.param_gradients;
    const auto di = word.input_gradients;
    const auto dout = word.cotangents;
    change();
    expect(word.backward(), wanted, says);
    word.params = p;
    word.inputs = i;
    word.outputs = o;
    word.param_gradients = dp;
    word.input_gradients = di;
    word.cotangents = dout;
  }
  template <typename F>
  void each_argument(F f) {
    const attn_model& m = *word_model();
    for (int k = 0; k < 3; ++k) f(word.params.*kParams[k], std::string(m.params[k].name));
    for (int k = 0; k < 4; ++k) f(word.inputs.*kInputs[k], std::string(m.inputs[k].name));
    for (int k = 0; k < 3; ++k) f(word.outputs.*kOutputs[k], std::string(m.outputs[k].name));
  }

  Word word{3, 5};
};

TEST_F(Refusals, OfWhatIsNull) {
  EXPECT_EQ(
      word_forward(nullptr, &word.params, &word.inputs, &word.outputs, word.saved, word.workspace),
      ATTN_REFUSED);
  expect(
      word_forward(word.context, nullptr, &word.inputs, &word.outputs, word.saved, word.workspace),
      ATTN_REFUSED, "no parameters");
  expect(
      word_forward(word.context, &word.params, nullptr, &word.outputs, word.saved, word.workspace),
      ATTN_REFUSED, "no inputs");
  expect(
      word_forward(word.context, &word.params, &word.inputs, nullptr, word.saved, word.workspace),
      ATTN_REFUSED, "no outputs");
  expect(word_forward(word.context, &word.params, &word.inputs, &word.outputs, word.saved, {}),
         ATTN_REFUSED, "workspace");
  each_argument([&](attn_tensor& x, const std::string& name) {
    forward_refuses([&] { x.data = nullptr; }, name + ": data is null");
  });
  attn_sizes sizes;
  EXPECT_EQ(word_sizes(nullptr, &word.params, &word.inputs, &sizes), ATTN_REFUSED);
  expect(word_sizes(word.context, &word.params, &word.inputs, nullptr), ATTN_REFUSED,
         "the argument sizes is null");
  EXPECT_EQ(fitted_step_workspace(nullptr), 0);
  EXPECT_EQ(word_sizes(word.context, &word.params, nullptr, &sizes), ATTN_REFUSED);
}

TEST_F(Refusals, OfTypesAndRanks) {
  each_argument([&](attn_tensor& x, const std::string& name) {
    forward_refuses([&] { x.type = x.type == ATTN_F32 ? ATTN_F64 : ATTN_F32; }, name + ": type is");
    forward_refuses([&] { x.type = static_cast<attn_type>(99); }, name + ": type is");
    for (const int rank : {-1, 7, 8, 9, INT32_MAX, INT32_MIN})
      forward_refuses([&] { x.rank = rank; }, name + ": rank is " + std::to_string(rank));
  });
}

TEST_F(Refusals, OfExtents) {
  // Whoever disagrees is named with what was wanted; token says what B and T are.
  forward_refuses([&] { word.inputs.x.extent[1] = 6; }, "x: dimension 2 (T) is 6, must be 5");
  forward_refuses([&] { word.inputs.x.extent[2] = 3; }, "x: dimension 3 (D) is 3, must be 4");
  forward_refuses([&] { word.inputs.keep.extent[0] = 2; }, "keep: dimension 1 (B) is 2, must be 3");
  forward_refuses([&] { word.params.table.extent[0] = 5; },
                  "table: dimension 1 (V) is 5, must be 6");
  forward_refuses([&] { word.outputs.y.extent[1] = 4; }, "y: dimension 2 (T) is 4, must be 5");
  forward_refuses([&] { word.inputs.token.extent[1] = 4; }, "x: dimension 2 (T) is 5, must be 4");
  const int64_t large[] = {int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX, -1,
                           INT64_MIN};
  each_argument([&](attn_tensor& x, const std::string&) {
    for (int k = 0; k < x.rank; ++k)
      for (const int64_t n : large) forward_refuses([&] { x.extent[k] = n; }, ": ");
  });
}

TEST_F(Refusals, OfSizesBeyondWhatWasDeclaredOrCanBeCounted) {
  auto all = [&](int64_t b, int64_t t) {
    const int64_t sizes[] = {b, t};
    attn_tensor p[3], i[4], o[3];
    attn_shapes(word_model(), sizes, p, i, o);
    for (int k = 0; k < 4; ++k) i[k].data = (word.inputs.*kInputs[k]).data;
    for (int k = 0; k < 3; ++k) o[k].data = (word.outputs.*kOutputs[k]).data;
    for (int k = 0; k < 4; ++k) word.inputs.*kInputs[k] = i[k];
    for (int k = 0; k < 3; ++k) word.outputs.*kOutputs[k] = o[k];
  };
  forward_refuses([&] { all(0, 5); }, "size B is 0, must be in 1..8");
  forward_refuses([&] { all(9, 1); }, "size B is 9, must be in 1..8");
  // Never a wrap: these are refused before a byte is touched.
  for (const int64_t t : {int64_t{1} << 31, int64_t{1} << 33, int64_t{1} << 61, INT64_MAX})
    forward_refuses([&] { all(8, t); }, "");
  const int64_t negative[] = {1, -1};
  EXPECT_EQ(attn_shapes(word_model(), negative, nullptr, nullptr, nullptr), ATTN_REFUSED);
}

TEST_F(Refusals, OfDataBetweenElements) {
  for (const int shift : {1, 2, 3, 5, 7, 63}) {
    each_argument([&](attn_tensor& x, const std::string& name) {
      if (x.type == ATTN_BOOL) return;
      forward_refuses([&] { x.data = static_cast<char*>(x.data) - 64 + shift; },
                      name + ": data is");
    });
  }
  const auto shifted = [](attn_block block, int64_t bytes) {
    return attn_block{static_cast<char*>(block.data) + bytes, block.bytes};
  };
  for (const int shift : {1, 4, 8, 16, 32}) {
    expect(word_forward(word.context, &word.params, &word.inputs, &word.outputs, word.saved,
                        shifted(word.workspace, shift)),
           ATTN_REFUSED, "workspace must be aligned to 64 bytes");
    expect(word_forward(word.context, &word.params, &word.inputs, &word.outputs,
                        shifted(word.saved, shift), word.workspace),
           ATTN_REFUSED, "saved block must be aligned to 64 bytes");
  }
}

TEST_F(Refusals, OfBlocksThatAreTooSmall) {
  const attn_sizes& bytes = word.bytes;
  const auto smaller = [](attn_block block, int64_t count) {
    return attn_block{block.data, count};
  };
  const auto says = [](const char* what, int64_t has, int64_t needs) {
    return std::string("word: the ") + what + " has " + std::to_string(has) + " bytes, and needs " +
           std::to_string(needs);
  };
  const attn_block saved = word.saved, workspace = word.workspace;
  for (const int64_t count : {int64_t{-1}, int64_t{0}, bytes.saved - 1}) {
    word.saved = smaller(saved, count);
    expect(word.forward(), ATTN_REFUSED, says("saved block", count, bytes.saved));
  }
  // Without a saved block, what it would hold is in the workspace.
  word.saved = {};
  word.workspace = smaller(workspace, bytes.forward_workspace - 1);
  expect(word.forward(), ATTN_REFUSED,
         says("workspace", bytes.forward_workspace - 1, bytes.forward_workspace));
  word.workspace = smaller(workspace, bytes.forward_workspace);
  void* const x = std::exchange(word.inputs.x.data, workspace.data);
  expect(word.forward(), ATTN_REFUSED, "the workspace, which is written, overlaps x");
  word.inputs.x.data = x;
  word.clear();
  EXPECT_EQ(word.forward(), ATTN_OK) << word.message();
  // Backward has blocks of its own needs.
  word.saved = saved;
  ASSERT_EQ(word.forward(), ATTN_OK) << word.message();
  word.clear();
  word.workspace = smaller(workspace, bytes.backward_workspace - 1);
  expect(word.backward(), ATTN_REFUSED,
         says("workspace", bytes.backward_workspace - 1, bytes.backward_workspace));
  word.workspace = workspace;
}

TEST_F(Refusals, OfOverlaps) {
  const auto shifted = [](const attn_tensor& t, ptrdiff_t bytes) {
    return static_cast<void*>(static_cast<char*>(t.data) + bytes);
  };
  forward_refuses([&] { word.outputs.y.data = word.inputs.x.data; },
                  "y, which is written, overlaps x");
  for (const ptrdiff_t bytes : {-236, -4, 4, 236})
    forward_refuses([&] { word.outputs.y.data = shifted(word.inputs.x, bytes); }, "overlaps");
  forward_refuses([&] { word.outputs.best.data = word.outputs.y.data; }, "overlaps");
  forward_refuses([&] { word.outputs.loss.data = shifted(word.params.table, 92); },
                  "loss, which is written, overlaps table");
  backward_refuses([&] { word.param_gradients.w.data = word.params.w.data; },
                   "w, which is written, overlaps w");
  backward_refuses([&] { word.param_gradients.c.data = shifted(word.input_gradients.x, 8); },
                   "overlaps");
  backward_refuses([&] { word.input_gradients.x.data = word.cotangents.y.data; }, "overlaps");
  expect(word_forward(word.context, &word.params, &word.inputs, &word.outputs, word.workspace,
                      word.workspace),
         ATTN_REFUSED, "which is written, overlaps the");
  forward_refuses([&] { word.inputs.x.data = word.workspace.data; },
                  "the workspace, which is written, overlaps x");
  // What is only read may be the same.
  attn_tensor& c = word.params.c;
  void* const old = c.data;
  c.data = word.params.w.data;
  EXPECT_EQ(word.forward(), ATTN_OK) << word.message();
  c.data = old;
}

TEST_F(Refusals, OfIntegersThatAreNoPlace) {
  int32_t* const token = static_cast<int32_t*>(word.inputs.token.data);
  static_cast<uint8_t*>(word.inputs.keep.data)[14] = 1;
  for (const int32_t bad : {6, -1, INT32_MAX, INT32_MIN}) {
    const int32_t good = std::exchange(token[14], bad);
    expect(word.forward(), ATTN_BAD_DATA, "token: reads table at");
    const std::string element =
        "; token[" + std::to_string(14 / word.t) + ", " + std::to_string(14 % word.t) + "] is ";
    EXPECT_NE(word.message().find(element + std::to_string(bad)), std::string::npos)
        << word.message();
    token[14] = good;
    // Changed between the two calls.
    backward_refuses([&] { token[14] = bad; }, "token: reads table at", ATTN_BAD_DATA);
    token[14] = good;
  }
  EXPECT_EQ(word.forward(), ATTN_OK) << word.message();
  EXPECT_EQ(word.message(), "");
}

// Kernels read one bit of it: 2 would be false.
TEST_F(Refusals, OfBytesThatAreNoBools) {
  uint8_t* const keep = static_cast<uint8_t*>(word.inputs.keep.data);
  for (const int byte : {2, 128, 255}) {
    const uint8_t good = std::exchange(keep[7], static_cast<uint8_t>(byte));
    expect(word.forward(), ATTN_BAD_DATA,
           "keep: element 7 is the byte " + std::to_string(byte) + "; a bool is 0 or 1");
    keep[7] = good;
  }
  EXPECT_EQ(word.forward(), ATTN_OK) << word.message();
}

TEST_F(Refusals, OfANullModelAndNoParameters) {
  const attn_tensor* const none = nullptr;
  expect(word_forward(word.context, &word.params, &word.inputs, &word.outputs, word.saved, {}),
         ATTN_REFUSED, "the workspace is null");
  const attn_model* const model = word_model();
  const std::string path = ::testing::TempDir() + "attn-null.safetensors";
  const attn_status saved = attn_model_save(word.context, model, none, path.c_str());
  expect(saved, ATTN_REFUSED, "no parameters");
  expect(attn_model_load(word.context, model, none, path.c_str()), ATTN_REFUSED, "no parameters");
  expect(attn_initialise_model(word.context, model, none, 1), ATTN_REFUSED, "no parameters");
  expect(attn_model_save(word.context, nullptr, none, path.c_str()), ATTN_REFUSED,
         "the model is null");
  expect(attn_forward(word.context, nullptr, none, none, none, {}, {}), ATTN_REFUSED,
         "the model is null");
  EXPECT_EQ(attn_model_save(nullptr, model, none, path.c_str()), ATTN_REFUSED);
}

TEST_F(Refusals, OfASavedBlockOfAnotherCall) {
  ASSERT_EQ(word.forward(), ATTN_OK);
  word.clear();
  expect(
      word_backward(word.context, &word.params, &word.inputs, &word.outputs, {}, &word.cotangents,
                    &word.param_gradients, &word.input_gradients, word.workspace),
      ATTN_REFUSED, "saved block");
  // Of other sizes.
  Word other(3, 6);
  ASSERT_EQ(other.forward(), ATTN_OK);
  std::swap(word.saved, other.saved);
  expect(word.backward(), ATTN_REFUSED, "the saved block is of another call");
  std::swap(word.saved, other.saved);
  // Of nothing.
  memset(word.saved.data, 0, static_cast<size_t>(word.bytes.saved));
  expect(word.backward(), ATTN_REFUSED, "the saved block is of another call");
}

TEST_F(Refusals, OfGradientsAndCotangentsThatDoNotFit) {
  expect(word_backward(word.context, &word.params, &word.inputs, &word.outputs, word.saved, nullptr,
                       &word.param_gradients, &word.input_gradients, word.workspace),
         ATTN_REFUSED, "");
  backward_refuses([&] { word.cotangents.y.extent[1] = 4; },
                   "cotangent of y: dimension 2 (T) is 4");
  backward_refuses([&] { word.cotangents.loss.rank = 1; }, "cotangent of loss: rank is 1");
  backward_refuses([&] { word.param_gradients.w.type = ATTN_F16; }, "gradient of w: type is f16");
  backward_refuses([&] { word.input_gradients.x.extent[0] = 1; },
                   "gradient of x: dimension 1 (B) is 1");
  backward_refuses([&] { word.params.w.data = nullptr; }, "w: data is null");
  backward_refuses([&] { word.outputs.y.data = nullptr; }, "y: data is null");
  backward_refuses([&] { word.inputs.x.rank = 2; }, "x: rank is 2");
  // Integers have no gradient.
  backward_refuses([&] { word.input_gradients.token.data = word.inputs.keep.data; }, "token");
}

TEST_F(Refusals, LeaveTheNextCallAlone) {
  const std::string expected = Word(3, 5).both();
  forward_refuses([&] { word.inputs.x.rank = 2; }, "x: rank is 2");
  EXPECT_TRUE(word.both() == expected);
}

TEST_F(Refusals, OfMemoryThatThereIsNot) {
  const std::string expected = Word(3, 5).both();
  int failures = 0;
  for (int64_t n = 1; n < 100; ++n) {
    attn_context_trim(word.context);
    attn_context_fail_allocation(word.context, n);
    attn_status status = word.forward();
    if (status == ATTN_OK) status = word.backward();
    if (status == ATTN_OK) break;
    EXPECT_EQ(status, ATTN_NO_MEMORY) << word.message();
    EXPECT_NE(word.message(), "");
    ++failures;
  }
  attn_context_fail_allocation(word.context, 0);
  EXPECT_LT(failures, 99);
  word.clear();
  EXPECT_TRUE(word.both() == expected);
}

}  // namespace
}  // namespace attn::testing
