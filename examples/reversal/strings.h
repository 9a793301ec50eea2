// Random strings for reversal.cpp, and their reversals.
#pragma once

#include <attn/tensor.hpp>
#include <random>

namespace example {

constexpr int32_t kLetters = 4, kEdge = kLetters;  // what begins and what ends a written string
constexpr int64_t kShortest = 10, kLongest = 30;

using String = std::vector<int32_t>;

// Strings of one length; their reversals, each with the end after it; and before each letter of these the
// one that stands in front of it.
struct Strings {
  attn::Tensor source, before, wanted;

  explicit Strings(const std::vector<String>& strings)
      : source(ATTN_I32, {std::ssize(strings), std::ssize(strings[0])}),
        before(ATTN_I32, {std::ssize(strings), std::ssize(strings[0]) + 1}),
        wanted(ATTN_I32, {std::ssize(strings), std::ssize(strings[0]) + 1}) {
    int32_t *from = source.data<int32_t>(), *read = before.data<int32_t>();
    int32_t* to = wanted.data<int32_t>();
    for (const String& string : strings) {
      from = std::copy(string.begin(), string.end(), from);
      to = std::copy(string.rbegin(), string.rend(), to);
      *to++ = *read++ = kEdge;
      read = std::copy(string.rbegin(), string.rend(), read);
    }
  }
};

// `count` batches of `size` random strings, of one length after the other.
inline std::vector<Strings> random_strings(int64_t count, int64_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Strings> batches;
  for (int64_t batch = 0; batch < count; ++batch) {
    const int64_t length = kShortest + batch % (kLongest - kShortest + 1);
    std::vector<String> strings(static_cast<size_t>(size), String(static_cast<size_t>(length)));
    for (String& string : strings) {
      for (int32_t& letter : string) letter = static_cast<int32_t>(random() % kLetters);
    }
    batches.emplace_back(strings);
  }
  return batches;
}

}  // namespace example
