#include "device_kernels.h"

#include <stdarg.h>
#include <string.h>

namespace attn::rt {
namespace {

constinit std::atomic<uint64_t> objects = 0;  // that have a number

}  // namespace

uint64_t object_number(void** state) {
  std::atomic_ref<void*> held(*state);
  void* number = held.load(std::memory_order_relaxed);
  if (number == nullptr) {
    void* own = reinterpret_cast<void*>(objects.fetch_add(1) + 1);
    if (held.compare_exchange_strong(number, own)) number = own;
  }
  return object_number_of(number);
}

DeviceProgram* DevicePrograms::find(uint64_t object) {
  if (object >= count_) {
    const uint64_t count = object + object / 2 + 16;
    auto* grown = static_cast<DeviceProgram*>(attn_allocate(nullptr, count * sizeof *programs_));
    if (grown == nullptr) return nullptr;
    memset(grown, 0, count * sizeof *grown);
    if (count_ > 0) memcpy(grown, programs_, count_ * sizeof *grown);
    attn_free(nullptr, programs_);
    programs_ = grown;
    count_ = count;
  }
  return &programs_[object];
}

DeviceFunction* DevicePrograms::find(DeviceProgram& program, const char* name) {
  for (DeviceFunction* f = program.functions; f != nullptr; f = f->next)
    if (f->name == name) return f;
  auto* f = static_cast<DeviceFunction*>(attn_allocate(nullptr, sizeof(DeviceFunction)));
  if (f == nullptr) return nullptr;
  *f = {program.functions, name, nullptr, 0, 0};
  program.functions = f;
  return f;
}

int check_process(attn_context* context) {
  if (context->process == getpid()) return 0;
  attn_fail(context, ATTN_BAD_DEVICE,
            "%s is of the process that created the context, not of its children",
            context->device->name);
  return kDeviceLost;
}

const void* device_interface() {
  static constexpr int kInterface = 0;
  return &kInterface;
}

void bind_device_address(attn_context*, attn_buffer* buffer, void* data) {
  constexpr uint64_t kDeviceHasNewest = 2;  // halide_buffer_flag_device_dirty
  buffer->host = nullptr;
  buffer->device = reinterpret_cast<uint64_t>(data);
  buffer->device_interface = data != nullptr ? device_interface() : nullptr;
  buffer->flags = data != nullptr ? kDeviceHasNewest : 0;
}

int kernel_failure(attn_context* context, int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  kernel_message(context, format, arguments);
  va_end(arguments);
  return code;
}

}  // namespace attn::rt

using namespace attn::rt;

// What lies between the launches of one kernel: memory of the device for the time of the call.
extern "C" {

int attn_k_device_malloc(void* context, attn_buffer* buffer, const void* interface) {
  if (buffer->device != 0) return 0;
  int64_t last = 0;
  for (int32_t d = 0; d < buffer->dimensions; ++d)
    last += int64_t{buffer->dim[d].extent - 1} * buffer->dim[d].stride;
  const int64_t element = (buffer->type.bits + 7) / 8;
  auto* owner = static_cast<attn_context*>(context);
  void* memory = attn_device_allocate(owner, static_cast<size_t>((last + 1) * element));
  if (memory == nullptr && owner->lost != 0) return kDeviceLost;
  if (memory == nullptr)
    return kernel_failure(owner, kDeviceOutOfMemory, "%lld bytes between its launches",
                          shown((last + 1) * element));
  buffer->device = reinterpret_cast<uint64_t>(memory);
  buffer->device_interface = interface;
  return 0;
}

int attn_k_device_free(void* context, attn_buffer* buffer) {
  void* memory = reinterpret_cast<void*>(buffer->device);
  buffer->device = 0;
  buffer->device_interface = nullptr;
  attn_device_free(static_cast<attn_context*>(context), memory);
  return 0;
}

void attn_k_device_free_as_destructor(void* context, void* buffer) {
  attn_k_device_free(context, static_cast<attn_buffer*>(buffer));
}

// All tensors of a call are in the device's memory.
int attn_k_copy_to_device(void* context, attn_buffer* buffer, const void*) {
  if (buffer->device != 0) return 0;
  return kernel_failure(static_cast<attn_context*>(context), -1, "a tensor is not on the device");
}

}  // extern "C"
