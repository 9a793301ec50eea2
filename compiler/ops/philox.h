// Philox4x32-10, the counter generator of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers:
// As Easy as 1, 2, 3" (2011), as Random123 publishes it; and the random word of `uniform`. Written
// once for the evaluator, where `Word` is uint64_t, and for kernels, where it is an expression of
// that type. Of every word the lower 32 bits count and the upper ones are anything: a vector then
// holds each in a lane of 64 bits, where products need no shuffling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attn::ops {

template <class Word>
Word low_word(const Word& w) {
  return w & Word(uint64_t{0xFFFFFFFF});
}

template <class Word>
std::array<Word, 4> philox(std::array<Word, 4> counter, std::array<Word, 2> key) {
  constexpr int kRounds = 10;
  const Word by0(uint64_t{0xD2511F53}), by2(uint64_t{0xCD9E8D57});
  const std::array<Word, 2> weyl = {Word(uint64_t{0x9E3779B9}), Word(uint64_t{0xBB67AE85})};
  for (int round = 0; round < kRounds; ++round) {
    const Word p = low_word(counter[0]) * by0, q = low_word(counter[2]) * by2;
    counter = {(q >> 32) ^ counter[1] ^ key[0], q, (p >> 32) ^ counter[3] ^ key[1], p};
    key = {key[0] + weyl[0], key[1] + weyl[1]};
  }
  return counter;
}

// Of uniform(seed, a, b, …) with n arguments after the seed. The key is (seed, n); the counter is
// the arguments, with zeros before them where they are fewer than four; the first word of the
// result is the random one. More are taken four by four, with the zeros before the first: each four
// are joined by exclusive or to the result so far, which is zero at first, and are the next
// counter. The last argument, along which kernels go first, is multiplied in the second round only,
// so that loops over it share what comes before.
template <class Word>
Word random_word(const std::vector<Word>& arguments) {
  const size_t count = arguments.size() - 1;
  const std::array<Word, 2> key = {arguments[0], Word(uint64_t{count})};
  std::array<Word, 4> block = {Word(uint64_t{0}), Word(uint64_t{0}), Word(uint64_t{0}),
                               Word(uint64_t{0})};
  const size_t blocks = count == 0 ? 1 : (count + 3) / 4;
  size_t next = 1;
  for (size_t b = 0; b < blocks; ++b) {
    const size_t zeros = b == 0 ? 4 * blocks - count : 0;
    for (size_t k = zeros; k < 4; ++k) block[k] = block[k] ^ arguments[next++];
    block = philox(block, key);
  }
  return low_word(block[0]);
}

// A random word as a number in [0, 1) is its upper 24 bits times this, exact in f32.
constexpr int kDroppedBits = 8;
constexpr double kUniformStep = 0x1p-24;

}  // namespace attn::ops
