// A driver of CUDA that runs on the host. Its memory has addresses that the host cannot use, work
// of a stream is done when somebody waits for it, and kernels are functions of the test. It
// complains of what the real one forbids: no current context, objects of another context, memory
// that was freed, work left behind.
//
// The text of a module may be PTX: its entries are executed, instruction by instruction. What it
// does not know refuses the module, with the line in the log. What a launch must not do ends it:
// accesses to what is not live memory of the device (700), misaligned ones (716), and, with 719,
// data races in shared memory, reads of registers that were not written, and lanes that wait in
// vain. The next wait returns the code, and all that follows; the entry, line and thread are in
// complaints(), and on stderr for programs that do not ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fake_cuda {

// As at the start: one device of capability 8.0, a driver of CUDA 12.4, no kernels, no failures.
// What was left of before is forgotten.
void reset();
void set_devices(int count, int capability = 80);
void set_driver(int version);
// The n-th call of this function from now on gives this result instead, and does nothing.
void fail(const std::string& function, int n, int code);
// How often the function was called since the start.
int calls(const std::string& function);

struct Launch {
  unsigned blocks[3], threads[3], shared_bytes;
  void* stream;
  std::vector<uint64_t> arguments;  // copies of their values
};
// A kernel: what it does, its result (0 or what the driver would find), and what it needs.
struct Kernel {
  std::function<int(const Launch&)> run = [](const Launch&) { return 0; };
  std::vector<size_t> sizes = {};  // of its arguments, at most 8 bytes each
  int registers = 32, static_shared = 0;
};
void set_kernel(const std::string& name, Kernel kernel);
// By the order of the start; those that were done.
const std::vector<Launch>& launches();
// Options of the modules that were loaded: how many registers at most, 0: no limit.
const std::vector<int>& register_limits();
// The text that the driver leaves when it refuses a module.
void set_log(const std::string& text);

// Where bytes of the device are on the host; null where they are not live memory of a context.
char* real(uint64_t address, size_t bytes);

// A caller's own objects.
void* make_context(int device);
void* make_stream(void* context);
inline void* const kDefaultStream = reinterpret_cast<void*>(1);  // of each context
void set_recorded(void* stream, bool is_recorded);               // by the caller
void push(void* context);
void* current();

// What was done wrong, a line each, and what is live beside the caller's objects: retained
// contexts, streams, memory of both kinds, modules. Both are empty for a program in order.
std::string complaints();
std::string left();
size_t device_bytes();

// For programs in other languages.
extern "C" int fake_cuda_calls(const char* function);
extern "C" const char* fake_cuda_complaints();

}  // namespace fake_cuda
