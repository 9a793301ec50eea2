// The checks of tensors (rows K1 to K8), and the halves.
#include "runtime/src/check.h"

#include <attn/attn.h>
#include <attn/types.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using attn::rt::check_overlap;
using attn::rt::Interval;

class Check : public testing::Test {
 protected:
  Check() { attn_context_create(nullptr, &context_); }
  ~Check() override { attn_context_destroy(context_); }

  std::string refusal(const attn_tensor* tensor, const char* kind = "", bool optional = false) {
    const attn_status status =
        attn::rt::check_tensor(context_, kind, argument_, tensor, wanted_, optional);
    if (status == ATTN_OK) return "";
    EXPECT_EQ(status, ATTN_REFUSED);
    return attn_context_message(context_);
  }

  attn_context* context_ = nullptr;
  float data_[64] = {};
  attn_argument argument_ = {"x", ATTN_F32, 2, {"3", "T"}, 1, "x", ATTN_INIT_ZEROS, 0, 0, 0, 0};
  attn_tensor wanted_ = {nullptr, ATTN_F32, 2, {3, 4}};
  attn_tensor given_ = {data_, ATTN_F32, 2, {3, 4}};
};

TEST_F(Check, AcceptsWhatIsWanted) { EXPECT_EQ(refusal(&given_), ""); }

TEST_F(Check, NamesTheExtent) {
  given_.extent[1] = 5;
  EXPECT_EQ(refusal(&given_), "x: dimension 2 (T) is 5, must be 4");
  given_.extent[0] = 2;
  EXPECT_EQ(refusal(&given_), "x: dimension 1 is 2, must be 3");
  EXPECT_EQ(refusal(&given_, "gradient"), "gradient of x: dimension 1 is 2, must be 3");
  EXPECT_EQ(refusal(&given_, "cotangent"), "cotangent of x: dimension 1 is 2, must be 3");
}

TEST_F(Check, NamesTypeAndRank) {
  given_.type = ATTN_F64;
  EXPECT_EQ(refusal(&given_), "x: type is f64, must be f32");
  given_ = {data_, ATTN_F32, 1, {12}};
  EXPECT_EQ(refusal(&given_), "x: rank is 1, must be 2");
}

TEST_F(Check, SaysWhatHasNotBeenSet) {
  given_ = {};
  EXPECT_EQ(refusal(&given_),
            "x: the tensor was not set, or got no memory: its rank is 0 and its data null");
  given_.data = data_;
  EXPECT_EQ(refusal(&given_), "x: rank is 0, must be 2");
}

TEST_F(Check, RefusesNullWhereThereAreElements) {
  EXPECT_EQ(refusal(nullptr), "x: the tensor is null");
  given_.data = nullptr;
  EXPECT_EQ(refusal(&given_), "x: data is null, must hold 12 elements");
  EXPECT_EQ(refusal(&given_, "gradient", true), "");
  given_.extent[1] = wanted_.extent[1] = 0;
  EXPECT_EQ(refusal(&given_), "");
}

TEST_F(Check, RefusesMisalignedData) {
  given_.data = reinterpret_cast<char*>(data_) + 2;
  EXPECT_EQ(refusal(&given_), "x: data is 2 bytes past a multiple of 4");
}

TEST_F(Check, RefusesSizesThatOverflow) {
  given_.extent[0] = given_.extent[1] = wanted_.extent[0] = wanted_.extent[1] = int64_t{1} << 31;
  EXPECT_EQ(refusal(&given_), "x: its bytes exceed 2^63 - 1");
  given_.extent[0] = wanted_.extent[0] = -1;
  EXPECT_EQ(refusal(&given_), "x: dimension 1 is -1, which is negative");
}

Interval interval(uintptr_t begin, int64_t bytes, const char* name, bool written) {
  return {name, reinterpret_cast<const void*>(begin), bytes, written};
}

TEST_F(Check, FindsOverlaps) {
  // Which is written: nothing, a, c, b.
  const std::string refusals[] = {"", "", "c, which is written, overlaps b",
                                  "b, which is written, overlaps c"};
  for (int k = 0; k < 4; ++k) {
    Interval list[] = {interval(1000, 32, "a", k == 1), interval(1060, 16, "c", k == 2),
                       interval(1032, 32, "b", k == 3)};
    const attn_status status = check_overlap(context_, 3, list);
    EXPECT_EQ(status, refusals[k].empty() ? ATTN_OK : ATTN_REFUSED);
    if (status != ATTN_OK) {
      EXPECT_EQ(attn_context_message(context_), refusals[k]);
    }
  }
}

TEST_F(Check, FindsOverlapsAmongManyAsTheDefinitionSays) {
  uint32_t random = 1;
  const auto next = [&](uint32_t n) {
    return (random = random * 1664525 + 1013904223) / 65536 % n;
  };
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    const int count = 2 + static_cast<int>(next(80));
    std::vector<Interval> list;
    for (int k = 0; k < count; ++k) {
      const uintptr_t begin = next(4900);
      list.push_back(interval(begin, 1 + next(29), "t", next(40) == 0));
    }
    bool expected = false;
    for (const Interval& a : list)
      for (const Interval& b : list)
        expected = expected || (&a != &b && a.is_written && a.begin < b.end && b.begin < a.end);
    ASSERT_EQ(check_overlap(context_, count, list.data()), expected ? ATTN_REFUSED : ATTN_OK)
        << round;
    refused += expected;
  }
  EXPECT_GT(refused, 30);
  EXPECT_LT(refused, 270);
}

TEST_F(Check, RefusesMemoryOfAnotherDevice) {
  given_.device = {ATTN_CUDA, 1};
  EXPECT_EQ(refusal(&given_), "x: its data is in memory of cuda:1, must be in that of the CPU");
  given_.extent[1] = wanted_.extent[1] = 0;
  EXPECT_EQ(refusal(&given_), "");
}

// Every f16, and the doubles halfway between neighbours and next to halfway.
TEST(Halves, RoundToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double value = attn_f32_from_f16(static_cast<uint16_t>(bits));
    const double exact = bits < 0x400 ? std::ldexp(bits, -24)
                                      : std::ldexp(1024 + (bits & 0x3ff), int(bits >> 10) - 25);
    ASSERT_EQ(value, exact);
    ASSERT_EQ(attn_f16_from_f64(value), bits);
    ASSERT_EQ(attn_f16_from_f64(-value), bits | 0x8000);
    if (bits == 0x7bff) break;
    const double next = attn_f32_from_f16(static_cast<uint16_t>(bits + 1));
    const double half = (value + next) / 2;
    const uint32_t even = bits + (bits & 1);
    ASSERT_EQ(attn_f16_from_f64(half), even);
    ASSERT_EQ(attn_f16_from_f64(std::nextafter(half, 0)), bits);
    ASSERT_EQ(attn_f16_from_f64(std::nextafter(half, 1e9)), bits + 1);
  }
  EXPECT_EQ(attn_f16_from_f64(65519.99), 0x7bff);
  EXPECT_EQ(attn_f16_from_f64(65520), 0x7c00);
  EXPECT_EQ(attn_f16_from_f64(-HUGE_VAL), 0xfc00);
  EXPECT_EQ(attn_f16_from_f64(std::nan("")) & 0x7e00, 0x7e00);
  EXPECT_EQ(attn_f16_from_f64(5e-324), 0);
}

TEST(Halves, BfloatRoundsAsTheUpperHalf) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float value = attn_f32_from_bf16(half);
    ASSERT_EQ(attn_bf16_from_f64(value), half);
    ASSERT_EQ(attn_bf16_from_f32(value), half);
    const double next = bits == 0x7f7f ? 0x1p128 : double{attn_f32_from_bf16(half + 1)};
    const double middle = (double{value} + next) / 2;
    const uint16_t even = static_cast<uint16_t>(half + (half & 1));
    ASSERT_EQ(attn_bf16_from_f64(middle), even);
    ASSERT_EQ(attn_bf16_from_f64(std::nextafter(middle, 0)), half);
    ASSERT_EQ(attn_bf16_from_f64(std::nextafter(middle, 1e300)), half + 1);
    if (bits < 0x7f7f) {
      const float between = static_cast<float>(middle);
      ASSERT_EQ(attn_bf16_from_f32(between), even);
    }
  }
  EXPECT_EQ(attn_bf16_from_f32(NAN) & 0x7fc0, 0x7fc0);
  EXPECT_EQ(attn_bf16_from_f32(-INFINITY), 0xff80);
  EXPECT_TRUE(std::isnan(attn_f32_from_bf16(0x7fc0)));
  EXPECT_TRUE(std::isnan(attn_f32_from_f16(0x7e00)));
  EXPECT_EQ(attn_f32_from_f16(0xfc00), -INFINITY);
}

}  // namespace
