// Weight files out.
#include <sys/stat.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "weight_files.h"

namespace {

using namespace attn_test;
using namespace std::string_literals;

TEST_F(Weights, WritesWhatItReads) {
  float wide[] = {1, 2, 3, 4, 5, 6};
  double wider[] = {7};
  uint16_t half[] = {1, 2, 3};
  const char* names[] = {"b.w", "a \"x\"\\", "h", "empty"};
  const attn_tensor tensors[] = {{wide, ATTN_F32, 2, {2, 3}},
                                 {wider, ATTN_F64, 0, {}},
                                 {half, ATTN_BF16, 1, {3}},
                                 {nullptr, ATTN_F32, 2, {0, 3}}};
  ASSERT_EQ(attn_weights_save(context_, path("w").c_str(), 4, names, tensors), ATTN_OK)
      << message();
  EXPECT_EQ(file_count(), 1u);
  const std::string bytes = read("w");
  EXPECT_EQ(bytes.substr(8, 61),
            "{\"a \\\"x\\\"\\\\\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},");
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0);
  ASSERT_EQ(attn_weights_open(context_, path("w").c_str(), &weights_), ATTN_OK) << message();
  ASSERT_EQ(attn_weights_count(weights_), 4);
  for (int k = 0; k < 4; ++k) {
    const int32_t index = attn_weights_find(weights_, names[k]);
    ASSERT_GE(index, 0) << names[k];
    const attn_weight weight = attn_weights_at(weights_, index);
    EXPECT_EQ(static_cast<int>(weight.type), static_cast<int>(tensors[k].type));
    EXPECT_EQ(weight.rank, tensors[k].rank);
    std::string data(static_cast<size_t>(weight.bytes), ' ');
    ASSERT_EQ(attn_weights_read(context_, weights_, index, data.data()), ATTN_OK);
    if (data.empty()) continue;
    EXPECT_EQ(memcmp(data.data(), tensors[k].data, data.size()), 0);
  }
}

TEST_F(Weights, TheOrderOfTensorsDoesNotChangeTheFile) {
  float values[] = {1, 2};
  const char* ab[] = {"a", "b"};
  const char* ba[] = {"b", "a"};
  const attn_tensor one = {values, ATTN_F32, 0, {}}, two = {values + 1, ATTN_F32, 0, {}};
  const attn_tensor forward[] = {one, two}, backward[] = {two, one};
  ASSERT_EQ(attn_weights_save(context_, path("x").c_str(), 2, ab, forward), ATTN_OK);
  ASSERT_EQ(attn_weights_save(context_, path("y").c_str(), 2, ba, backward), ATTN_OK);
  EXPECT_EQ(read("x"), read("y"));
}

TEST_F(Weights, NeverTakesThePlaceOfAPipeOrADevice) {
  float one = 1;
  const char* name = "w";
  const attn_tensor tensor{&one, ATTN_F32, 0, {}};
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", path("link"));
  std::filesystem::create_symlink("/proc/self/fd/1", path("stdout"));
  for (const char* special : {"pipe", "link", "stdout"}) {
    EXPECT_EQ(attn_weights_save(context_, path(special).c_str(), 1, &name, &tensor), ATTN_BAD_FILE);
    EXPECT_EQ(message(), path(special) + ": is not a regular file, and is not replaced");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("stdout")));
  EXPECT_EQ(file_count(), 3u);
}

TEST_F(Weights, RefusesToWriteWhatItWouldNotRead) {
  float value = 0;
  const auto save = [&](std::vector<const char*> names, attn_tensor t) {
    const std::vector<attn_tensor> tensors(names.size(), t);
    const attn_status status = attn_weights_save(context_, "w", static_cast<int32_t>(names.size()),
                                                 names.data(), tensors.data());
    EXPECT_EQ(status, ATTN_REFUSED);
    return message();
  };
  const attn_tensor good = {&value, ATTN_F32, 0, {}};
  EXPECT_EQ(save({"a", "b", "a"}, good), "w: tensor \"a\" is given twice");
  EXPECT_EQ(save({"../a"}, good), "w: tensor \"../a\": a name has the path \"..\"");
  EXPECT_EQ(save({"\xff"}, good), "w: tensor \"\\xff\": a name is not UTF-8");
  EXPECT_EQ(save({"__metadata__"}, good), "w: tensor \"__metadata__\": the name is reserved");
  EXPECT_EQ(save({"a"}, {nullptr, ATTN_F32, 0, {}}), "w: tensor \"a\": its data is null");
  EXPECT_EQ(save({"a"}, {&value, ATTN_F32, 1, {-1}}),
            "w: tensor \"a\": its type or shape is not valid");
}

}  // namespace
