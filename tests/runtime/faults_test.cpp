// What happens when memory runs out anywhere (row R1).
#include <attn/kernel.h>
#include <attn/npy.h>
#include <attn/safetensors.h>
#include <attn/train.h>
#include <attn/types.h>

#include <vector>

#include "fake_model.h"
#include "files.h"

namespace {

class Faults : public attn_test::Files {};

// Every step either succeeds or says that memory ran out, and the next round works.
TEST_F(Faults, EveryAllocationMayFail) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const attn_tensor tensor = {x, ATTN_F32, 1, {8}};
  const attn_model* model = fake_fixed_model();
  float w[3], c;
  const attn_tensor params[] = {{w, ATTN_F32, 1, {3}}, {&c, ATTN_F32, 0, {}}};
  attn_argument orthogonal = {"q", ATTN_F32, 2, {"2", "4"}, 1, "q", ATTN_INIT_ORTHOGONAL, 0, 0, 2};
  float q[8];
  const attn_tensor square = {q, ATTN_F32, 2, {2, 4}};
  // A call without rows, and a step.
  float loss, dw[3] = {}, dc = 0, v[4] = {};
  const attn_tensor inputs[] = {{nullptr, ATTN_F32, 2, {0, 3}}, {nullptr, ATTN_F32, 1, {0}}};
  const attn_tensor outputs[] = {{nullptr, ATTN_F32, 1, {0}}, {&loss, ATTN_F32, 0, {}}};
  const attn_tensor gradients[] = {{dw, ATTN_F32, 1, {3}}, {&dc, ATTN_F32, 0, {}}};
  const attn_tensor states[] = {{v, ATTN_F32, 1, {3}}, {v + 3, ATTN_F32, 0, {}}};
  const double options[] = {0.1, 0};
  alignas(64) char workspace[1024];

  int failures = 0;
  for (int n = 0; n < 40; ++n) {
    attn_context_set_threads(context_, 3);
    attn_context_trim(context_);
    attn_context_fail_allocation(context_, n);
    int failed = 0;
    const auto step = [&](attn_status status) {
      if (status == ATTN_OK) return;
      EXPECT_EQ(status, ATTN_NO_MEMORY) << message();
      EXPECT_EQ(message(), "out of memory");
      ++failed;
    };
    attn_array array;
    step(attn_npy_save(context_, path("a.npy").c_str(), &tensor));
    const attn_status loaded = attn_npy_load(context_, path("a.npy").c_str(), &array);
    if (loaded != ATTN_BAD_FILE) step(loaded);  // the file is missing where saving it failed
    attn_array_free(&array);
    step(attn_initialise_model(context_, model, params, 1));
    step(attn_initialise(context_, &orthogonal, &square, 1));
    step(attn_model_save(context_, model, params, path("w").c_str()));
    const attn_status read = attn_model_load(context_, model, params, path("w").c_str());
    if (read != ATTN_BAD_FILE) step(read);
    attn_tensor shapes[2];
    const attn_status shaped =
        attn_model_load_shapes(context_, model, shapes, path("w").c_str(), nullptr);
    if (shaped != ATTN_BAD_FILE) step(shaped);
    // Threads that cannot be had are no failure.
    EXPECT_EQ(attn_parallel_for(
                  context_, 10, [](void*, int) { return 0; }, nullptr),
              0);
    int64_t sizes[2];
    step(attn_read_sizes(context_, model, params, inputs, sizes));
    attn_sizes bytes;
    step(attn_call_sizes(context_, model, params, inputs, &bytes));
    step(attn_forward(context_, model, params, inputs, outputs, {}, {workspace, sizeof workspace}));
    step(attn_step(context_, model, options, 1, params, gradients, states, {}));
    attn_context_set_threads(context_, 1);
    failures += failed;
    EXPECT_LE(failed, 1) << n;
    // No temporary file stays behind.
    EXPECT_LE(file_count(), 2u);
    std::filesystem::remove(path("a.npy"));
    std::filesystem::remove(path("w"));
  }
  EXPECT_GT(failures, 15);
  EXPECT_LT(failures, 39);  // the last rounds ran out of allocations to fail
}

}  // namespace
