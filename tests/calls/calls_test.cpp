// Calls that are right: any size, any alignment of elements, threads, control registers, parts that
// are not wanted.
#include <xmmintrin.h>

#include <thread>

#include "tests/calls/word.h"

namespace attn::testing {
namespace {

TEST(Calls, WriteAllOfTheirResultsAndNothingElse) {
  for (const int64_t t : {1, 2, 5, 16, 17, 33}) {
    Word word(3, t);
    const std::string results = word.both();
    for (const Fenced* f : word.written) {
      // No element kept the pattern.
      for (size_t k = 0; k + 4 <= f->size(); k += 4)
        EXPECT_NE(memcmp(f->data() + k, "\xff\xff\xff\xff", 4), 0) << k << " at T = " << t;
    }
    word.clear();
    EXPECT_TRUE(word.both() == results) << "another result of the same call";
  }
}

TEST(Calls, OfNoElementsSucceedWithNeutralResults) {
  Word word(2, 0);
  word.inputs.token.data = word.inputs.x.data = word.inputs.keep.data = nullptr;
  word.outputs.y.data = word.outputs.best.data = nullptr;
  word.input_gradients.x.data = nullptr;
  ASSERT_EQ(word.forward(), ATTN_OK) << word.message();
  ASSERT_EQ(word.backward(), ATTN_OK) << word.message();
  EXPECT_EQ(*static_cast<float*>(word.outputs.loss.data), 0);
  EXPECT_EQ(*static_cast<float*>(word.input_gradients.scale.data), 0);
  for (const attn_tensor* g :
       {&word.param_gradients.table, &word.param_gradients.w, &word.param_gradients.c})
    for (size_t k = 0; k < bytes_of(*g) / 4; ++k) EXPECT_EQ(static_cast<float*>(g->data)[k], 0);
  word.expect_fences();
}

TEST(Calls, GiveTheSameBitsWithAnyThreads) {
  const std::string one = Word(8, 97, 1).both();
  for (const int threads : {2, 3, 7}) EXPECT_TRUE(Word(8, 97, threads).both() == one) << threads;
}

TEST(Calls, OfDifferentContextsMayRunAtOnce) {
  const std::string expected = Word(3, 33).both();
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (int& count : wrong) {
    threads.emplace_back([&count, &expected] {
      Word word(3, 33);
      for (int k = 0; k < 20; ++k) count += word.both() != expected;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
}

TEST(Calls, IgnoreAndKeepTheControlRegister) {
  Word word(3, 17);
  const std::string expected = word.both();
  const unsigned before = _mm_getcsr();
  const unsigned rounds_up = 0x4000, flushes = 0x8040, traps = 0x1f80;
  for (const unsigned state : {before | rounds_up, before | flushes, before & ~traps}) {
    word.clear();
    _mm_setcsr(state & ~0x3fu);
    const attn_status forward = word.forward(), backward = word.backward();
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(forward, ATTN_OK);
    EXPECT_EQ(backward, ATTN_OK);
    EXPECT_EQ(after & ~0x3fu, state & ~0x3fu);
    EXPECT_TRUE(word.results() == expected) << state;
  }
  // Refusals restore it too.
  word.inputs.token.rank = 1;
  _mm_setcsr((before | rounds_up) & ~0x3fu);
  const attn_status status = word.forward();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(status, ATTN_REFUSED);
  EXPECT_EQ(after & ~0x3fu, (before | rounds_up) & ~0x3fu);
}

TEST(Calls, TakeDataAtAnyElement) {
  Word word(3, 17);
  const std::string expected = word.both();
  std::vector<char> room(bytes_of(word.inputs.x) + 64), out(bytes_of(word.outputs.y) + 64);
  const void* x = word.inputs.x.data;
  void* y = word.outputs.y.data;
  for (size_t shift = 4; shift < 64; shift += 4) {
    word.clear();
    char* begin = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64) % 64;
    if (begin + shift + bytes_of(word.inputs.x) > room.data() + room.size()) begin = room.data();
    word.inputs.x.data = memcpy(begin + shift, x, bytes_of(word.inputs.x));
    word.outputs.y.data = out.data() + shift;
    ASSERT_EQ(word.forward(), ATTN_OK) << word.message();
    ASSERT_EQ(word.backward(), ATTN_OK) << word.message();
    memcpy(y, word.outputs.y.data, bytes_of(word.outputs.y));
    EXPECT_TRUE(word.results() == expected) << shift;
  }
}

TEST(Calls, LeaveOutWhatIsNotWanted) {
  Word word(3, 17);
  word.both();
  const std::string all = word.results();
  // Each gradient by itself is what it was among all.
  word_params no_params{};
  word_inputs no_inputs{};
  attn_tensor* gradients[] = {&word.param_gradients.table, &word.param_gradients.w,
                              &word.param_gradients.c, &word.input_gradients.x,
                              &word.input_gradients.scale};
  for (attn_tensor* wanted : gradients) {
    const std::string expected(static_cast<char*>(wanted->data), bytes_of(*wanted));
    std::vector<void*> data;
    for (attn_tensor* g : gradients) {
      data.push_back(g->data);
      if (g != wanted) g->data = nullptr;
    }
    memset(wanted->data, 0xff, bytes_of(*wanted));
    EXPECT_EQ(word.backward(), ATTN_OK) << word.message();
    EXPECT_TRUE(std::string(static_cast<char*>(wanted->data), bytes_of(*wanted)) == expected);
    for (size_t k = 0; k < 5; ++k) gradients[k]->data = data[k];
  }
  EXPECT_TRUE(word.results() == all);
  // None at all, in either way.
  word.clear();
  ASSERT_EQ(word.forward(), ATTN_OK);
  const std::string before = word.results();
  EXPECT_EQ(word_backward(word.context, &word.params, &word.inputs, &word.outputs, word.saved,
                          &word.cotangents, &no_params, &no_inputs, word.workspace),
            ATTN_OK);
  EXPECT_EQ(word_backward(word.context, &word.params, &word.inputs, &word.outputs, word.saved,
                          &word.cotangents, nullptr, nullptr, word.workspace),
            ATTN_OK);
  EXPECT_TRUE(word.results() == before);
}

TEST(Calls, TakeAMissingCotangentAsZero) {
  Word word(3, 17);
  memset(word.cotangents.y.data, 0, bytes_of(word.cotangents.y));
  const std::string expected = word.both();
  void* const y = word.cotangents.y.data;
  word.cotangents.y.data = nullptr;
  word.clear();
  EXPECT_TRUE(word.both() == expected);
  // All of them: every gradient is zero.
  word.cotangents.loss.data = nullptr;
  word.clear();
  word.both();
  for (const attn_tensor* g : {&word.param_gradients.w, &word.input_gradients.x})
    for (size_t k = 0; k < bytes_of(*g) / 4; ++k) EXPECT_EQ(static_cast<float*>(g->data)[k], 0);
  word.cotangents.y.data = y;
}

TEST(Calls, WithoutASavedBlockGiveTheSameOutputs) {
  Word word(3, 17);
  ASSERT_EQ(word.forward(), ATTN_OK);
  const std::string expected = word.results();
  word.clear();
  ASSERT_EQ(
      word_forward(word.context, &word.params, &word.inputs, &word.outputs, {}, word.workspace),
      ATTN_OK);
  EXPECT_TRUE(word.results() == expected);
}

TEST(Calls, LookUpNothingBehindAMask) {
  Word word(3, 17);
  const std::string expected = word.both();
  for (int k = 0; k < 51; ++k)
    if (!static_cast<uint8_t*>(word.inputs.keep.data)[k]) {
      static_cast<int32_t*>(word.inputs.token.data)[k] = k % 2 ? INT32_MAX : INT32_MIN;
      for (int d = 0; d < 4; ++d) static_cast<float*>(word.inputs.x.data)[4 * k + d] = NAN;
    }
  word.clear();
  EXPECT_TRUE(word.both() == expected);
}

}  // namespace
}  // namespace attn::testing
