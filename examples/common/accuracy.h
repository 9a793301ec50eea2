// How well scores of classes name the class.
#pragma once

#include <algorithm>
#include <attn/tensor.hpp>

namespace example {

// The class with the greatest score in a row; scores: [row…, class], rows counted through.
inline int64_t best(const attn::Tensor& scores, int64_t row) {
  const int64_t classes = scores.extent(scores.view().rank - 1);
  const float* first = scores.data<float>() + row * classes;
  return std::max_element(first, first + classes) - first;
}

// The part of the rows whose best class is their label.
inline double accuracy(const attn::Tensor& scores, const attn::Tensor& labels) {
  int64_t right = 0;
  for (int64_t row = 0; row < labels.count(); ++row) {
    right += best(scores, row) == labels.data<int32_t>()[row];
  }
  return static_cast<double>(right) / static_cast<double>(labels.count());
}

}  // namespace example
