// A library whose names are C's own, linked beside another.
#include "names.h"

#include <attn/model.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "calls.h"

namespace attn::testing {
namespace {

TEST(Names, OfTwoLibrariesLiveInOneProgram) {
  attn_context* context = nullptr;
  ASSERT_EQ(attn_context_create(nullptr, &context), ATTN_OK);
  float in[2] = {1, 2}, scale = 3, old = 4, T = 5, out[2] = {}, sum = 0;
  const attn_tensor inputs[] = {{in, ATTN_F32, 1, {2}},
                                {&scale, ATTN_F32, 0, {}},
                                {&old, ATTN_F32, 0, {}},
                                {&T, ATTN_F32, 0, {}}};
  const attn_tensor outputs[] = {{out, ATTN_F32, 1, {2}}, {&sum, ATTN_F32, 0, {}}};
  const attn_model& m = *word2_model();
  EXPECT_EQ(std::string(m.name), "word2");
  attn_sizes bytes{};
  ASSERT_EQ(attn_call_sizes(context, &m, nullptr, inputs, &bytes), ATTN_OK)
      << attn_context_message(context);
  const attn_block workspace = {
      attn_allocate(context, static_cast<size_t>(bytes.forward_workspace)),
      bytes.forward_workspace};
  const attn_tensor none{};
  ASSERT_EQ(attn_forward(context, &m, &none, inputs, outputs, {}, workspace), ATTN_OK)
      << attn_context_message(context);
  EXPECT_EQ(out[1], 10);
  EXPECT_EQ(sum, 15);
  attn_free(context, workspace.data);
  attn_context_destroy(context);
  EXPECT_NE(word_model()->source_hash, m.source_hash);
}

TEST(Names, AreTheSourcesInTablesAndMessages) {
  const attn_model& m = *double__model();
  EXPECT_EQ(m.abi_version, ATTN_ABI_VERSION);
  ASSERT_EQ(m.n_inputs, 2);
  EXPECT_EQ(std::string(m.inputs[0].name), "int");
  EXPECT_EQ(std::string(m.inputs[1].name), "main");
  EXPECT_EQ(std::string(m.outputs[0].name), "class");
  EXPECT_EQ(std::string(m.size_names[0]), "NULL");
  // `f_w` and `f.w` are two parameters.
  ASSERT_EQ(m.n_params, 5);
  int both = 0;
  for (int k = 0; k < 5; ++k)
    both += !strcmp(m.params[k].name, "f_w") + !strcmp(m.params[k].name, "f.w");
  EXPECT_EQ(both, 2);
  EXPECT_EQ(sizeof(double__params), 5 * sizeof(attn_tensor));
  EXPECT_EQ(sizeof(double__inputs), 2 * sizeof(attn_tensor));
}

}  // namespace
}  // namespace attn::testing
