// Calls whose scores would take gigabytes take little more than their tensors: the largest resident
// size that the process has during a call, beyond what it has before.
#include <gtest/gtest.h>

#include <attn/attn.hpp>
#include <cmath>
#include <fstream>
#include <random>
#include <string>

#include "causal.h"
#include "vocabulary.h"

namespace {

constexpr int64_t kMiB = 1 << 20;

#ifdef ATTN_SANITIZED  // whose allocator keeps what is freed
constexpr int64_t kLength = 2048, kLimit = 1024 * kMiB;
#else
constexpr int64_t kLength = 65536, kLimit = 64 * kMiB;
#endif

// Of /proc/self/status, in bytes: "VmRSS:", "VmHWM:".
int64_t status_of_process(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    int64_t kilobytes = 0;
    if (word == name && file >> kilobytes) return kilobytes * 1024;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

// The largest resident size during `call` beyond the one before.
template <typename Call>
int64_t taken_by(const Call& call) {
  std::ofstream("/proc/self/clear_refs") << "5";
  const int64_t before = status_of_process("VmRSS:");
  call();
  return status_of_process("VmHWM:") - before;
}

attn::Tensor random_tensor(std::initializer_list<int64_t> extents) {
  attn::Tensor t(ATTN_F32, extents);
  static std::mt19937 generator(1);
  std::uniform_real_distribution<float> value(-1, 1);
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  for (int64_t n = 0; n < count; ++n) t.data<float>()[n] = value(generator);
  return t;
}

TEST(Memory, OfLongSequencesIsLinear) {
  attn::Context context;
  attn::Model model(context, causal_model());
  attn::Tensor q = random_tensor({kLength, 64}), k = random_tensor({kLength, 64});
  attn::Tensor v = random_tensor({kLength, 64}), dz = random_tensor({kLength, 64});
  attn::Tensor z = random_tensor({kLength, 64}), dq = random_tensor({kLength, 64});
  attn::Tensor dk = random_tensor({kLength, 64}), dv = random_tensor({kLength, 64});
  const int64_t taken = taken_by([&] {
    ASSERT_TRUE(model.forward({q, k, v}, {z}));
    ASSERT_TRUE(model.backward({dz}, {dq, dk, dv}));
  });
  EXPECT_LE(taken, kLimit) << taken / double(kMiB) << " MiB beside the tensors";
  RecordProperty("MiB", std::to_string(taken / double(kMiB)));
  // Row 1 sees two keys.
  double score[2] = {0, 0}, most = 0;
  for (int j = 0; j < 2; ++j)
    for (int d = 0; d < 64; ++d)
      score[j] += double(q.data<float>()[64 + d]) * k.data<float>()[64 * j + d] / 8;
  most = std::max(score[0], score[1]);
  const double a = std::exp(score[0] - most), b = std::exp(score[1] - most);
  for (int d = 0; d < 64; ++d)
    EXPECT_NEAR(z.data<float>()[64 + d],
                (a * v.data<float>()[d] + b * v.data<float>()[64 + d]) / (a + b), 1e-5);
}

TEST(Memory, OfALargeVocabularyHoldsNoLogits) {
  constexpr int64_t kTokens = 2048;
  attn::Context context;
  attn::Model model(context, vocabulary_model());
  ASSERT_TRUE(model.init(1));
  attn::Tensor h = random_tensor({kTokens, 64}), target(ATTN_I32, {kTokens});
  for (int64_t n = 0; n < kTokens; ++n)
    target.data<int32_t>()[n] = static_cast<int32_t>(n * 7919 % 50000);
  // The gradient of w is the model's own, and so taken, too.
  const int64_t gradient = 50000 * 64 * 4;
  const int64_t taken = taken_by([&] {
    ASSERT_TRUE(model.forward({h, target}));
    ASSERT_TRUE(model.backward());
  });
  EXPECT_LE(taken - gradient, kLimit) << taken / double(kMiB) << " MiB with the gradient";
  // Almost every token is as likely as another.
  EXPECT_NEAR(*model.output("loss").data<float>(), std::log(50000.0), 0.5);
}

}  // namespace
