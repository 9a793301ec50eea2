// The norm of gradients, and their scale. Work is cut into blocks that the context's threads share;
// sums are taken per block and then in the order of blocks, so the thread count changes no bit.
#include <attn/train.h>
#include <math.h>

#include <algorithm>

#include "context.h"
#include "elements.h"
#include "host_copy.h"

namespace attn::rt {
namespace {

constexpr int64_t kBlock = 16384;

// So many blocks are summed at a time.
constexpr int64_t kBlocks = 64;

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

double attn_gradient_norm(attn_context* context, int32_t count, const attn_tensor* gradients) {
  double total = 0, sums[kBlocks];
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&gradients[t]);
    if (gradients[t].data == nullptr || elements <= 0) continue;
    const HostCopy copy(context, gradients[t], true);
    if (copy.status() != ATTN_OK) return NAN;
    const attn_tensor& host = copy.tensor();
    for (int64_t begin = 0; begin < elements; begin += kBlocks * kBlock) {
      const int64_t blocks = std::min(kBlocks, (elements - begin + kBlock - 1) / kBlock);
      parallel_for(context, blocks, [&](int64_t block) {
        const int64_t first = begin + block * kBlock, end = std::min(first + kBlock, elements);
        double sum = 0;
        for (int64_t k = first; k < end; ++k) {
          const double value = get_real(host.type, host.data, k);
          sum += value * value;
        }
        sums[block] = sum;
        return 0;
      });
      for (int64_t k = 0; k < blocks; ++k) total += sums[k];
    }
  }
  return sqrt(total);
}

attn_status attn_scale(attn_context* context, int32_t count, const attn_tensor* tensors,
                       double factor) {
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&tensors[t]);
    if (tensors[t].data == nullptr || elements == 0) continue;
    if (elements < 0 || !is_real(tensors[t].type)) {
      return attn_fail(context, ATTN_REFUSED, "tensor %d: it is not real or its shape is not valid",
                       t);
    }
    HostCopy copy(context, tensors[t], true);
    const attn_tensor& host = copy.tensor();
    ATTN_TRY(copy.status());
    for (int64_t k = 0; k < elements; ++k)
      put_real(host.type, host.data, k, factor * get_real(host.type, host.data, k));
    ATTN_TRY(copy.write_to(tensors[t]));
  }
  return ATTN_OK;
}
