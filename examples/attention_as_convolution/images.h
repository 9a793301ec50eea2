// Small images with their labels: the digits, or CIFAR-10 as its authors publish it, averaged over
// squares of pixels.
#pragma once

#include <fstream>
#include <numeric>
#include <random>

#include "../common/must.h"

namespace example {

constexpr int64_t kSide = 8;  // of an image, in pixels

struct Images {
  attn::Tensor pixels;  // [image, kSide, kSide, channel], from 0 to 1
  attn::Tensor labels;
  int64_t count() const { return labels.count(); }
  Images chosen(const int64_t* which, int64_t n) const {
    return {pixels.gather(which, n), labels.gather(which, n)};
  }
};

// A file of CIFAR-10's binary version: records of one byte, the class, and 32 x 32 bytes each of
// red, green and blue. They are appended to `pixels` and `labels`.
inline void read_cifar(const std::string& path, std::vector<float>& pixels,
                       std::vector<int32_t>& labels) {
  constexpr int64_t kWide = 32, kPart = kWide / kSide, kRecord = 1 + 3 * kWide * kWide;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  must(!bytes.empty() && bytes.size() % kRecord == 0,
       path + ": no file of CIFAR-10's binary version");
  for (size_t at = 0; at < bytes.size(); at += kRecord) {
    const auto byte = [&](int64_t k) { return static_cast<unsigned char>(bytes[at + k]); };
    must(byte(0) < 10, path + ": a class is not one of 10");
    labels.push_back(byte(0));
    for (int64_t p = 0; p < kSide * kSide * 3; ++p) {
      const int64_t channel = p % 3, row = p / 3 / kSide * kPart, column = p / 3 % kSide * kPart;
      double sum = 0;
      for (int64_t k = 0; k < kPart * kPart; ++k) {
        sum += byte(1 + (channel * kWide + row + k / kPart) * kWide + column + k % kPart);
      }
      pixels.push_back(static_cast<float>(sum / (255 * kPart * kPart)));
    }
  }
}

inline Images images_of(const std::vector<float>& pixels, const std::vector<int32_t>& labels) {
  const int64_t n = static_cast<int64_t>(labels.size());
  const int64_t channels = static_cast<int64_t>(pixels.size()) / (n * kSide * kSide);
  Images result = {attn::Tensor(ATTN_F32, {n, kSide, kSide, channels}),
                   attn::Tensor(ATTN_I32, {n})};
  std::copy(pixels.begin(), pixels.end(), result.pixels.data<float>());
  std::copy(labels.begin(), labels.end(), result.labels.data<int32_t>());
  return result;
}

// What is learned and what is held out: of CIFAR-10 its test batch, of the digits a fifth.
inline std::pair<Images, Images> read_images(attn::Context& context, const std::string& folder) {
  std::vector<float> pixels, held_pixels;
  std::vector<int32_t> labels, held_labels;
  if (std::ifstream(folder + "/test_batch.bin").good()) {
    for (const char batch : {'1', '2', '3', '4', '5'}) {
      const std::string path = folder + "/data_batch_" + batch + ".bin";
      if (std::ifstream(path).good()) read_cifar(path, pixels, labels);
    }
    must(!labels.empty(),
         folder + ": there is a test batch, but no data_batch_1.bin to learn from");
    read_cifar(folder + "/test_batch.bin", held_pixels, held_labels);
    return {images_of(pixels, labels), images_of(held_pixels, held_labels)};
  }
  const attn::Tensor all = load(context, folder + "/images.npy", ATTN_F32);
  const attn::Tensor kinds = load(context, folder + "/labels.npy", ATTN_I32);
  must(all.extent(1) == kSide && all.extent(2) == kSide, folder + ": images are not 8 x 8");
  std::vector<int64_t> order(static_cast<size_t>(kinds.count()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (size_t k = 0; k < order.size(); ++k) {
    const bool held = k < order.size() / 5;
    const float* first = all.data<float>() + order[k] * kSide * kSide;
    std::vector<float>& to = held ? held_pixels : pixels;
    to.insert(to.end(), first, first + kSide * kSide);
    (held ? held_labels : labels).push_back(kinds.data<int32_t>()[order[k]]);
  }
  return {images_of(pixels, labels), images_of(held_pixels, held_labels)};
}

}  // namespace example
