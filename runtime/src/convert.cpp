#include "convert.h"

#include <math.h>

#include "blocks.h"
#include "elements.h"

namespace attn::rt {
namespace {

template <class Task>
void with_types(attn_type from, attn_type to, Task task) {
  with_type(from, [&](auto a) { with_type(to, [&](auto b) { task(a, b); }); });
}

}  // namespace

void convert_reals(attn_context* context, int64_t count, attn_type from, const void* source,
                   attn_type to, void* destination) {
  const int64_t size = attn_type_size(from);
  for_blocks(context, count, [&](int64_t begin, int64_t end) {
    if (from != to) {
      with_types(from, to, [&](auto a, auto b) {
        for (int64_t k = begin; k < end; ++k)
          put_real(b.value, destination, k, get_real(a.value, source, k));
      });
    } else {
      memcpy(static_cast<char*>(destination) + begin * size,
             static_cast<const char*>(source) + begin * size,
             static_cast<size_t>((end - begin) * size));
    }
  });
}

int64_t first_overflow(attn_context* context, int64_t count, attn_type from, const void* source,
                       attn_type to) {
  if (from == to || to == ATTN_F64 || (to == ATTN_F32 && from != ATTN_F64) ||
      (to == ATTN_BF16 && from == ATTN_F16)) {
    return count;  // all that the one holds the other does
  }
  std::atomic<int64_t> first = count;
  for_blocks(context, count, [&](int64_t begin, int64_t end) {
    with_types(from, to, [&](auto a, auto b) {
      for (int64_t k = begin; k < end; ++k) {
        const double value = get_real(a.value, source, k);
        uint64_t stored;
        put_real(b.value, &stored, 0, value);
        if (!isfinite(value) || isfinite(get_real(b.value, &stored, 0))) continue;
        int64_t before = first;
        while (k < before && !first.compare_exchange_weak(before, k)) {
        }
        return;
      }
    });
  });
  return first;
}

}  // namespace attn::rt
