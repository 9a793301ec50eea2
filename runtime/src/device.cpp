// Devices: which there are, what the CPU does, and copies between the host and the context's
// device.
#include <attn/types.h>
#include <dlfcn.h>
#include <string.h>
#include <xmmintrin.h>

#include "context.h"
#include "host_copy.h"

namespace attn::rt {
namespace {

// To nearest, all traps masked, subnormals flushed on the way in and out: they cost up to 80 times
// a normal operation, and nothing above them depends on them.
constexpr uint32_t kKernelControl = 0x1f80 | 0x8000 | 0x0040;

int copy(attn_context*, void* to, const void* from, size_t bytes) {
  memcpy(to, from, bytes);
  return 0;
}
int zero(attn_context*, void* memory, size_t bytes) {
  memset(memory, 0, bytes);
  return 0;
}
uint32_t begin(attn_context*) { return enter_kernel_state(); }
void end(attn_context*, uint32_t begun) { _mm_setcsr(begun); }
int wait(attn_context*) { return 0; }

}  // namespace

uint32_t enter_kernel_state() {
  const uint32_t before = _mm_getcsr();
  _mm_setcsr(kKernelControl);
  return before;
}

attn_device cpu_device() {
  return {
      .id = {ATTN_CPU, 0},
      .name = "the CPU",
      .state = nullptr,
      .allocate = attn_allocate,
      .free = attn_free,
      .copy_in = copy,
      .copy_out = copy,
      .zero = zero,
      .begin = begin,
      .end = end,
      .wait = wait,
      .bind = nullptr,
  };
}

attn_status device_failed(attn_context* context) {
  if (context->message[0] != '\0') return ATTN_INTERNAL;
  return attn_fail(context, ATTN_INTERNAL, "%s failed", context->device->name);
}

namespace {
attn_status elsewhere(attn_context* context) {
  return attn_fail(context, ATTN_REFUSED,
                   "a tensor is neither in memory of the host nor of the context's device");
}
}  // namespace

HostCopy::HostCopy(attn_context* context, const attn_tensor& tensor, bool read)
    : context_(context), tensor_(tensor) {
  const int64_t count = attn_element_count(&tensor);
  if (is_same(tensor.device, attn_device_id{}) || tensor.data == nullptr || count <= 0) return;
  const size_t bytes = static_cast<size_t>(count * attn_type_size(tensor.type));
  if (!is_same(tensor.device, device_of(context))) {
    status_ = elsewhere(context);
    return;
  }
  staged_ = exact_allocate(context, bytes);
  if (staged_ == nullptr) {
    status_ = attn_fail(context, ATTN_NO_MEMORY, "out of memory");
  } else if (read && context->device->copy_out(context, staged_, tensor.data, bytes) != 0) {
    status_ = device_failed(context);
  }
  tensor_.data = staged_;
  tensor_.device = {};
}

HostCopy::~HostCopy() { attn_free(nullptr, staged_); }

attn_status HostCopy::write_to(const attn_tensor& tensor) {
  if (staged_ == nullptr || status_ != ATTN_OK) return status_;
  const size_t bytes =
      static_cast<size_t>(attn_element_count(&tensor) * attn_type_size(tensor.type));
  return context_->device->copy_in(context_, tensor.data, staged_, bytes) == 0
             ? ATTN_OK
             : device_failed(context_);
}

}  // namespace attn::rt

using namespace attn::rt;

const char* attn_device_refusal(attn_device_id device) {
  switch (device.type) {
    case ATTN_CPU:
      return device.ordinal == 0 ? nullptr : "there is one CPU, of ordinal 0";
    case ATTN_CUDA: {
      void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
      if (driver == nullptr) return "no CUDA driver: libcuda.so.1 not found";
      dlclose(driver);
      return "this version has no kernels for CUDA";
    }
    case ATTN_OTHER:
      return nullptr;
  }
  return "no such type of device";
}

const attn_device* attn_context_device(const attn_context* context) { return context->device; }

void* attn_device_allocate(attn_context* context, size_t bytes) {
  return context != nullptr ? context->device->allocate(context, bytes)
                            : attn_allocate(nullptr, bytes);
}

void attn_device_free(attn_context* context, void* memory) {
  if (memory == nullptr) return;
  if (context != nullptr)
    context->device->free(context, memory);
  else
    attn_free(nullptr, memory);
}

attn_status attn_copy(attn_context* context, const attn_tensor* to, const attn_tensor* from) {
  const int64_t count = attn_element_count(from);
  bool same = to->type == from->type && to->rank == from->rank && count >= 0;
  for (int32_t k = 0; same && k < from->rank; ++k) same = to->extent[k] == from->extent[k];
  if (!same) return attn_fail(context, ATTN_REFUSED, "a copy is between tensors of one shape");
  const HostCopy copied(context, *from, true);
  if (copied.status() != ATTN_OK || count == 0) return copied.status();
  const size_t bytes = static_cast<size_t>(count * attn_type_size(from->type));
  if (is_same(to->device, {})) {
    memmove(to->data, copied.tensor().data, bytes);
    return ATTN_OK;
  }
  if (!is_same(to->device, device_of(context))) return elsewhere(context);
  const int failed = context->device->copy_in(context, to->data, copied.tensor().data, bytes);
  return failed == 0 ? ATTN_OK : device_failed(context);
}
