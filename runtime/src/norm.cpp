// The norm of gradients, their scale, and their sums over several batches. Work is cut into blocks
// that the context's threads share; sums are taken per block and then in the order of blocks, so
// the thread count changes no bit.
#include <attn/train.h>
#include <math.h>

#include <algorithm>

#include "blocks.h"
#include "check.h"
#include "elements.h"
#include "host_copy.h"

namespace attn::rt {
namespace {

constexpr int64_t kBlock = 16384;

// So many blocks are summed at a time.
constexpr int64_t kBlocks = 64;

attn_status check_real(attn_context* context, const attn_tensor& tensor, int32_t index) {
  if (attn_element_count(&tensor) >= 0 && is_real(tensor.type)) return ATTN_OK;
  return attn_fail(context, ATTN_REFUSED, "tensor %d: it is not real or its shape is not valid",
                   index);
}

bool same_extents(const attn_tensor& a, const attn_tensor& b) {
  return a.type == b.type && a.rank == b.rank && std::equal(a.extent, a.extent + a.rank, b.extent);
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

double attn_gradient_norm(attn_context* context, int32_t count, const attn_tensor* gradients) {
  if (check_array(context, gradients, count, "gradients") != ATTN_OK) return NAN;
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
  ATTN_TRY(check_array(context, tensors, count, "tensors"));
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&tensors[t]);
    if (tensors[t].data == nullptr || elements == 0) continue;
    ATTN_TRY(check_real(context, tensors[t], t));
    HostCopy copy(context, tensors[t], true);
    ATTN_TRY(copy.status());
    void* data = copy.tensor().data;
    with_type(tensors[t].type, [&](auto type) {
      for_blocks(context, elements, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k)
          put_real(type.value, data, k, factor * get_real(type.value, data, k));
      });
    });
    ATTN_TRY(copy.write_to(tensors[t]));
  }
  return ATTN_OK;
}

attn_status attn_add(attn_context* context, int32_t count, const attn_tensor* sums,
                     const attn_tensor* terms, double factor) {
  ATTN_TRY(check_array(context, sums, count, "sums"));
  ATTN_TRY(check_array(context, terms, count, "terms"));
  for (int32_t t = 0; t < count; ++t) {
    if (terms[t].data == nullptr) continue;
    ATTN_TRY(check_real(context, terms[t], t));
    if (!same_extents(sums[t], terms[t]) || sums[t].data == nullptr) {
      return attn_fail(context, ATTN_REFUSED, "tensor %d: the sum is not like what is added to it",
                       t);
    }
  }
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&terms[t]);
    if (terms[t].data == nullptr || elements == 0) continue;
    HostCopy sum(context, sums[t], true);
    const HostCopy term(context, terms[t], true);
    ATTN_TRY(sum.status());
    ATTN_TRY(term.status());
    void* to = sum.tensor().data;
    const void* from = term.tensor().data;
    with_type(sums[t].type, [&](auto type) {
      for_blocks(context, elements, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          const double add = factor * get_real(type.value, from, k);
          put_real(type.value, to, k, get_real(type.value, to, k) + add);
        }
      });
    });
    ATTN_TRY(sum.write_to(sums[t]));
  }
  return ATTN_OK;
}
