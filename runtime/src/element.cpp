#include "element.h"

#include <stdio.h>
#include <string.h>

namespace attn::rt {
namespace {

// Elements that are looked at at once: those of a device are copied.
constexpr int64_t kPiece = 256;

// The place of the first element that is the number; -1: there is none.
int64_t find_element(attn_context* context, const Tensor& tensor, int32_t number) {
  const attn_device* device = attn_context_device(context);
  const char* from = static_cast<const char*>(tensor.data);
  int32_t piece[kPiece];
  for (int64_t at = 0; at < tensor.shape->count; at += kPiece) {
    const int64_t left = tensor.shape->count - at, n = left < kPiece ? left : kPiece;
    const size_t bytes = static_cast<size_t>(n) * sizeof *piece;
    if (device->copy_out(context, piece, from + at * static_cast<int64_t>(sizeof *piece), bytes))
      return -1;
    for (int64_t k = 0; k < n; ++k)
      if (piece[k] == number) return at + k;
  }
  return -1;
}

}  // namespace

void describe_element(Frame& frame, const char* input, int32_t number, char* text) {
  text[0] = 0;
  for (int32_t k = 0; k < frame.model.n_inputs; ++k) {
    if (strcmp(frame.model.inputs[k].name, input) != 0) continue;
    const Tensor& tensor = frame.tensor(ATTN_TENSOR(ATTN_INPUTS, k));
    if (frame.type_of(ATTN_INPUTS, k) != ATTN_I32 || tensor.data == nullptr) return;
    int64_t rest = find_element(frame.context, tensor, number);
    if (rest < 0) return;
    // The extents of a shape are in the order of kernels, the last dimension first.
    int64_t place[ATTN_MAX_RANK];
    const int32_t rank = tensor.shape->rank;
    for (int32_t d = 0; d < rank; ++d) {
      place[d] = rest % tensor.shape->dim[d].extent;
      rest /= tensor.shape->dim[d].extent;
    }
    char places[72] = "";
    size_t length = 0;
    for (int32_t d = rank; d-- > 0 && length < sizeof places;)
      length += static_cast<size_t>(snprintf(places + length, sizeof places - length, "%lld%s",
                                             static_cast<long long>(place[d]), d > 0 ? ", " : ""));
    if (rank == 0)
      snprintf(text, kElementText, " is %d", number);
    else if (length < sizeof places)
      snprintf(text, kElementText, "[%s] is %d", places, number);
    return;
  }
}

}  // namespace attn::rt
