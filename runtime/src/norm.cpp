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

int64_t block_count(int64_t elements) { return (elements + kBlock - 1) / kBlock; }

struct Block1d {
  int64_t begin, end;
};

Block1d block_at(int64_t index, int64_t elements) {
  return {index * kBlock, std::min((index + 1) * kBlock, elements)};
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

double attn_gradient_norm(attn_context* context, int32_t count, const attn_tensor* gradients) {
  struct Closure {
    const attn_tensor* tensor;
    int64_t elements, offset;
    double sums[64];
  } closure;
  double total = 0;
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&gradients[t]);
    if (gradients[t].data == nullptr || elements <= 0) continue;
    const HostCopy copy(context, gradients[t], true);
    if (copy.status() != ATTN_OK) return NAN;
    closure.tensor = &copy.tensor();
    closure.elements = elements;
    const int64_t blocks = block_count(elements);
    for (int64_t done = 0; done < blocks; done += 64) {
      closure.offset = done;
      const int64_t now = std::min<int64_t>(64, blocks - done);
      pool_run(
          context, now,
          [](void* data, int64_t index) {
            Closure* c = static_cast<Closure*>(data);
            const Block1d block = block_at(c->offset + index, c->elements);
            double sum = 0;
            for (int64_t k = block.begin; k < block.end; ++k) {
              const double value = get_real(c->tensor->type, c->tensor->data, k);
              sum += value * value;
            }
            c->sums[index] = sum;
            return 0;
          },
          &closure);
      for (int64_t k = 0; k < now; ++k) total += closure.sums[k];
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
    if (copy.status() != ATTN_OK) return copy.status();
    for (int64_t k = 0; k < elements; ++k)
      put_real(host.type, host.data, k, factor * get_real(host.type, host.data, k));
    const attn_status status = copy.write_to(tensors[t]);
    if (status != ATTN_OK) return status;
  }
  return ATTN_OK;
}
