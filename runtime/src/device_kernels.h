// What the host part of a kernel for a device calls, and what a device keeps of it. A kernel's
// object holds the device's program as text; each context builds it where it first runs the kernel.
#pragma once

#include <stdint.h>

#include "context.h"

namespace attn::rt {

// A built program and the functions of it that were called.
struct DeviceFunction {
  DeviceFunction* next;
  const char* name;  // in the kernel's object: one address a name
  void* function;
  int32_t most_threads, shared_bytes;  // of a block, as far as the function may take
};
struct DeviceProgram {
  void* program;
  const char* text;  // in the kernel's object
  DeviceFunction* functions;
};

// The programs of a context by the numbers of their kernels' objects.
class DevicePrograms {
 public:
  // That of an object, with null members if it is new; null: no memory.
  DeviceProgram* find(uint64_t object);
  DeviceFunction* find(DeviceProgram& program, const char* name);
  template <class Release>
  void clear(Release release) {
    for (uint64_t k = 0; k < count_; ++k) {
      while (DeviceFunction* f = programs_[k].functions) {
        programs_[k].functions = f->next;
        if (f->function != nullptr) release(nullptr, f->function);
        attn_free(nullptr, f);
      }
      if (programs_[k].program != nullptr) release(programs_[k].program, nullptr);
    }
    attn_free(nullptr, programs_);
    programs_ = nullptr;
    count_ = 0;
  }

 private:
  DeviceProgram* programs_ = nullptr;
  uint64_t count_ = 0;
};

// The number of a kernel's object, from 0 on, which `state`, a word of the object, holds from the
// first call. No two objects of a process have the same, also where a library was unloaded.
uint64_t object_number(void** state);
inline uint64_t object_number_of(void* state) { return reinterpret_cast<uint64_t>(state) - 1; }

// Leaves the text of a failure of a kernel; gives `code`.
int kernel_failure(attn_context* context, int code, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
// 0 in the process that created the context, of whose device a child has nothing; else a text.
int check_process(attn_context* context);

// Shows kernels an address of the device.
void bind_device_address(attn_context* context, attn_buffer* buffer, void* data);
// Its address stands for "on the context's device".
const void* device_interface();

}  // namespace attn::rt
