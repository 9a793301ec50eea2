// A context keeps what it computed for the last calls: calls of other sizes, of other models at the
// same place and after refusals get what is theirs.
#include <attn/program.h>

#include <attn/attn.hpp>
#include <cmath>

#include "fake_model.h"

namespace {

// y of `line` for `rows` rows; -1 where the call is refused.
float last_of(attn::Context& context, const attn_model* m, int64_t rows, int64_t columns) {
  const attn::View w_shape(static_cast<float*>(nullptr), {columns});
  attn::Tensor x(ATTN_F32, {rows, columns}), target(ATTN_F32, {rows}),
      w = attn::Tensor::like(w_shape), c(ATTN_F32, {}), y(ATTN_F32, {rows}), loss(ATTN_F32, {});
  for (int64_t k = 0; k < x.count(); ++k) x.data<float>()[k] = static_cast<float>(k);
  for (int64_t k = 0; k < columns; ++k) w.data<float>()[k] = 1;
  const attn_tensor params[] = {w.view(), c.view()}, inputs[] = {x.view(), target.view()},
                    outputs[] = {y.view(), loss.view()};
  alignas(64) char workspace[4096];
  const attn_status status =
      attn_forward(context.get(), m, params, inputs, outputs, {}, {workspace, sizeof workspace});
  return status == ATTN_OK ? y.data<float>()[rows - 1] : -1;
}

float expected(int64_t rows, int64_t columns) {
  float sum = 0;
  for (int64_t k = (rows - 1) * columns; k < rows * columns; ++k) sum += static_cast<float>(k);
  return sum;
}

TEST(Frames, ServeCallsOfTheirSizesAlone) {
  attn::Context context(1);
  for (const auto& [rows, columns] :
       {std::pair{4, 3}, {4, 3}, {2, 3}, {2, 5}, {4, 3}, {1, 1}, {7, 2}, {7, 2}}) {
    EXPECT_EQ(last_of(context, fake_model(), rows, columns), expected(rows, columns));
    // What is refused leaves nothing behind.
    EXPECT_EQ(last_of(context, fake_fixed_model(), 4, 2), -1);
    EXPECT_EQ(last_of(context, fake_fixed_model(), rows, 3), expected(rows, 3));
  }
}

// The checks of a call are left out where it comes again, and only there.
TEST(Frames, KnowACallThatComesAgain) {
  attn::Context context(1);
  const attn_model* m = fake_model();
  attn::Tensor x(ATTN_F32, {4, 3}), target(ATTN_F32, {4}), w(ATTN_F32, {3}), c(ATTN_F32, {}),
      y(ATTN_F32, {4}), loss(ATTN_F32, {});
  for (int64_t k = 0; k < 3; ++k) w.data<float>()[k] = 1;
  const attn_tensor params[] = {w.view(), c.view()};
  attn_tensor inputs[] = {x.view(), target.view()}, outputs[] = {y.view(), loss.view()};
  alignas(64) char memory[8192];
  attn_block workspace = {memory, 4096};
  float next = 0;
  // Calls with other data each, and looks at what comes out.
  const auto expect_sum = [&] {
    for (int64_t k = 0; k < 12; ++k) x.data<float>()[k] = next;
    ASSERT_EQ(attn_forward(context.get(), m, params, inputs, outputs, {}, workspace), ATTN_OK);
    for (int64_t k = 0; k < 4; ++k) EXPECT_EQ(y.data<float>()[k], 3 * next);
    ++next;
  };
  const auto expect_refused = [&] {
    EXPECT_EQ(attn_forward(context.get(), m, params, inputs, outputs, {}, workspace), ATTN_REFUSED);
  };
  for (int n = 0; n < 3; ++n) expect_sum();
  // Other memory of the call's own, and what overlaps it.
  workspace.data = memory + 4096;
  expect_sum();
  workspace.data = x.data<float>();
  expect_refused();
  workspace = {memory, 0};
  expect_refused();
  workspace.bytes = 4096;
  expect_sum();
  // Other sizes between two calls, of this function and as a whole call.
  attn_tensor shorter[] = {inputs[0], inputs[1]};
  shorter[0].extent[0] = shorter[1].extent[0] = 2;
  int64_t sizes[2];
  ASSERT_EQ(attn_read_sizes(context.get(), m, params, shorter, sizes), ATTN_OK);
  expect_sum();
  EXPECT_EQ(last_of(context, m, 7, 2), expected(7, 2));
  expect_sum();
  // One change each, which is undone.
  inputs[1].extent[0] = 5;
  expect_refused();
  inputs[1].extent[0] = 4;
  expect_sum();
  outputs[0].data = x.data<float>();
  expect_refused();
  expect_refused();
  outputs[0].data = y.data<float>();
  expect_sum();
}

// As where a library was unloaded and another one loaded in its place.
TEST(Frames, KnowAModelThatTookTheAddressOfAnother) {
  attn::Context context(1);
  attn_model model = *fake_model();
  EXPECT_EQ(last_of(context, &model, 4, 2), expected(4, 2));
  model = *fake_fixed_model();
  model.source_hash = fake_model()->source_hash;
  EXPECT_EQ(last_of(context, &model, 4, 2), -1);
  EXPECT_EQ(last_of(context, &model, 4, 3), expected(4, 3));
}

TEST(Frames, AreFewAndGoWithTheContext) {
  attn::Context context(1);
  std::vector<attn_model> models(40, *fake_model());
  for (int round = 0; round < 2; ++round)
    for (const attn_model& m : models) EXPECT_EQ(last_of(context, &m, 3, 2), expected(3, 2));
  attn_context_trim(context.get());
  EXPECT_EQ(last_of(context, &models[0], 3, 2), expected(3, 2));
}

TEST(Frames, ForgetASizeThatNoArgumentOfTheNextCallGives) {
  const attn_size_rule rules[] = {{0, ATTN_INPUTS, 0, 0, 0, 1, 1}, {1, ATTN_PARAMS, 0, 0, 0, 1, 1}};
  attn_program program = *fake_model()->program;
  program.size_rules = rules;
  attn_model model = *fake_model();
  model.program = &program;
  attn::Context context(1);
  const attn::View x(ATTN_F32, {0, 3}), target(ATTN_F32, {0});
  attn::Tensor w(ATTN_F32, {3}), c(ATTN_F32, {});
  const attn_tensor params[] = {w.view(), c.view()}, inputs[] = {x, target};
  int64_t sizes[2];
  EXPECT_EQ(attn_read_sizes(context.get(), &model, params, inputs, sizes), ATTN_OK);
  EXPECT_EQ(sizes[1], 3);
  EXPECT_EQ(attn_read_sizes(context.get(), &model, nullptr, inputs, sizes), ATTN_REFUSED);
  EXPECT_EQ(std::string(attn_context_message(context.get())), "x: dimension 2 (D) is 3, must be 0");
  EXPECT_EQ(attn_read_sizes(context.get(), &model, params, inputs, sizes), ATTN_OK);
}

TEST(Targets, TheLastThatTheProcessorCanRunIsTaken) {
  attn::Context context(1);
  attn_target targets[] = {{"any", {}}, {"x86-64-v9", {}}};
  targets[1].features[ATTN_XCR0] = 1u << 31;  // no processor has it
  attn_program program = *fake_model()->program;
  attn_model model = *fake_model();
  model.program = &program;
  program.n_targets = 2;
  program.targets = targets;
  EXPECT_EQ(last_of(context, &model, 4, 2), expected(4, 2));
  program.n_targets = 1;
  program.targets = targets + 1;
  EXPECT_EQ(last_of(context, &model, 4, 2), -1);
  EXPECT_EQ(std::string(attn_context_message(context.get())),
            "this library was built for x86-64-v9 and later processors");
}

}  // namespace
