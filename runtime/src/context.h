// The inside of a context. One caller uses it at a time; only its workers run beside that caller.
#pragma once

#include <attn/attn.h>
#include <attn/kernel.h>
#include <attn/program.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>

#include "launch_graphs.h"

// Returns what a call came to, unless it went well.
#define ATTN_TRY(call)                      \
  do {                                      \
    const attn_status came_to = (call);     \
    if (came_to != ATTN_OK) return came_to; \
  } while (0)

namespace attn::rt {

constexpr int kSizeClasses = 4 * 42;

// The head of every block. It fills an alignment unit, so kernels may read before the start.
struct alignas(128) Block {
  Block* next;
  int64_t size_class;  // -1: too large for the lists
};

// Freed blocks by size. Each thread of a pool has its own, so no lock is taken.
struct FreeLists {
  Block* heads[kSizeClasses];
  int64_t bytes;
  int64_t limit;
};

// The head of a block that a context keeps from one call for the next.
struct Cached {
  Cached* next = nullptr;
};

// The indices of a loop that one thread runs first; then it helps with the others' ranges.
struct alignas(64) Range {
  std::atomic<int64_t> next;
  int64_t end;
};

struct Worker {
  Range range;
  attn_context* context;
  pthread_t thread;
  FreeLists lists;
};

// One parallel loop at a time. A loop is open while its caller still runs indices; workers that
// wake too late find it closed and wait again, so short loops do not wait for them. Threads that
// spin open, join and leave a loop by one atomic word; the mutex is for those that sleep.
struct Pool {
  std::atomic<uint64_t> loop = 0;  // a number for each, whether it is open, who is in it: pool.cpp
  std::atomic<int> asleep = 0;     // workers that wait for `wake`
  std::atomic<bool> busy = false;  // a loop is running: loops met inside it are nested
  std::atomic<int> failed = 0;
  std::atomic<bool> stop = false;
  int (*task)(void* closure, int64_t index) = nullptr;
  void* closure = nullptr;
  Range range = {};  // of the loop's caller

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;  // a loop opened, or stop
  pthread_cond_t done = PTHREAD_COND_INITIALIZER;  // the last worker left a closed loop
  Worker* workers = nullptr;
  int32_t started = 0;       // workers that run
  bool tried = false;        // creation was tried for the present thread count
  bool may_spin = false;     // there is a processor for every thread
  pid_t process = getpid();  // threads do not survive a fork
};

}  // namespace attn::rt

struct attn_context {
  attn_context_options options = {};
  int32_t threads = 0;
  attn_device own = {};  // what `device` is, but for one of the program's
  const attn_device* device = nullptr;
  uint32_t cpu_features[ATTN_CPU_WORDS] = {};
  int32_t capability = 0;  // of a CUDA device, as in attn_target
  int32_t lost = 0;        // what the device said when it ceased to work
  pid_t process = getpid();
  // Of a device of the runtime's own with memory of its own: gives up all that it holds, or what it
  // keeps for reuse.
  void (*close)(attn_context* context) = nullptr;
  void (*trim)(attn_context* context) = nullptr;
  attn::rt::LaunchGraphs graphs = {};
  attn::rt::FreeLists lists = {};      // of the calling thread
  attn::rt::Cached* cached = nullptr;  // the latest first
  attn::rt::Pool pool = {};
  std::atomic<int64_t> fail_allocation = 0, fail_thread = 0;
  pthread_mutex_t message_mutex = PTHREAD_MUTEX_INITIALIZER;
  char message[8192] = "";
};

namespace attn::rt {

inline bool is_same(attn_device_id a, attn_device_id b) {
  return a.type == b.type && a.ordinal == b.ordinal;
}
// The host's where there is no context.
inline attn_device_id device_of(const attn_context* context) {
  return context != nullptr ? context->device->id : attn_device_id{};
}

// Memory (memory.cpp).
void release_lists(FreeLists* lists);
void release_cached(attn_context* context);
// Not rounded up and never pooled: for what may be large and lives long.
void* exact_allocate(attn_context* context, size_t bytes);
// From now on the calling thread is the worker of a context, and has lists of its own.
void become_worker(Worker* worker);
// Whether this is the attempt that a test lets fail.
bool injected_failure(std::atomic<int64_t>* countdown);

// An array of the context's memory, freed at the end of the scope. Null: no memory.
template <class T>
class Scratch {
 public:
  Scratch(attn_context* context, int64_t count)
      : context_(context),
        data_(static_cast<T*>(attn_allocate(context, sizeof(T) * static_cast<size_t>(count)))) {}
  ~Scratch() { attn_free(context_, data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }
  T& operator[](int64_t k) const { return data_[k]; }

 private:
  attn_context* context_;
  T* data_;
};

// Threads (pool.cpp).
int32_t usable_processors();  // of this process, at least 1
void pool_stop(attn_context* context);
int pool_run(attn_context* context, int64_t count, int (*task)(void*, int64_t), void* closure);
// Runs task(index) for every index below count; attn_parallel_for says how.
template <class Task>
int parallel_for(attn_context* context, int64_t count, Task task) {
  const auto run = [](void* closure, int64_t index) {
    return (*static_cast<Task*>(closure))(index);
  };
  return pool_run(context, count, run, &task);
}

// Messages (messages.cpp).
void log_text(const attn_context_options& options, attn_log_level level, const char* text);
void warn(attn_context* context, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Keeps an earlier text of the same call: of several workers that fail, the first is told.
void kernel_message(attn_context* context, const char* format, va_list arguments);
attn_status out_of_memory(attn_context* context);
// What functions of the runtime's devices and their kernels return: no memory, by Halide's code;
// the device does not do it; the device is lost. The last has a text that is to be kept.
// kDeviceOutOfMemory is the first with a text.
constexpr int kKernelOutOfMemory = -11, kDeviceOutOfMemory = 1000, kDeviceFailed = 1001,
              kDeviceLost = 1002;
// What a device's function came to, which returns 0 where it went well; a failure has a text.
attn_status device_status(attn_context* context, int code);
// A 64-bit integer as printf's %lld takes it.
inline long long shown(int64_t value) { return value; }

}  // namespace attn::rt
