// The inside of a context. One caller uses it at a time; only its workers run beside that caller.
#pragma once

#include <attn/attn.h>
#include <attn/kernel.h>
#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdarg>

namespace attn::rt {

constexpr size_t kMessageBytes = 8192;
constexpr int32_t kMaxThreads = 1024;
constexpr int kSizeClasses = 4 * 42;

// What stands before every block. It fills an alignment unit, so kernels may read before the start.
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

class Frame;

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
  std::atomic<uint64_t> loop;  // a number for each, whether it is open, and who is in it: pool.cpp
  std::atomic<int> asleep;     // workers that wait for `wake`
  std::atomic<bool> busy;      // a loop is running: loops met inside it are nested
  std::atomic<int> failed;
  std::atomic<bool> stop;
  int (*task)(void* closure, int64_t index);
  void* closure;
  Range range;  // of the loop's caller

  pthread_mutex_t mutex;
  pthread_cond_t wake;  // a loop opened, or stop
  pthread_cond_t done;  // the last worker left a closed loop
  Worker* workers;
  int32_t started;  // workers that run
  bool tried;       // creation was tried for the present thread count
  bool may_spin;    // there is a processor for every thread
  pid_t process;    // threads do not survive a fork
};

}  // namespace attn::rt

struct attn_context {
  attn_context_options options;
  int32_t threads;
  attn_device cpu;  // what `device` is of a context without another
  const attn_device* device;
  attn::rt::FreeLists lists;  // of the calling thread
  attn::rt::Frame* frames;    // of calls that ended, the latest first
  attn::rt::Pool pool;
  std::atomic<int64_t> fail_allocation, fail_thread;
  pthread_mutex_t message_mutex;
  char message[attn::rt::kMessageBytes];
};

namespace attn::rt {

// Memory (memory.cpp).
void free_lists_release(FreeLists* lists);
// Not rounded up and never pooled: for what may be large and lives long.
void* exact_allocate(attn_context* context, size_t bytes);
// The worker of `context` that runs this code, or null on a caller's thread.
Worker* current_worker(const attn_context* context);

// Threads (pool.cpp).
int32_t usable_processors();             // of this process, at least 1
bool pool_start(attn_context* context);  // the members; false: no memory
void pool_stop(attn_context* context);
int pool_run(attn_context* context, int64_t count, int (*task)(void*, int64_t), void* closure);

// Devices (device.cpp).
// The floating point state that kernels are compiled for: to nearest, traps masked, subnormals
// flushed.
uint32_t enter_kernel_state();
attn_device cpu_device();
inline bool is_same(attn_device_id a, attn_device_id b) {
  return a.type == b.type && a.ordinal == b.ordinal;
}
// The host's where there is no context.
inline attn_device_id device_of(const attn_context* context) {
  return context != nullptr ? context->device->id : attn_device_id{};
}
// The status after a device's function failed, with a text.
attn_status device_failed(attn_context* context);

// Calls (frame.cpp, model.cpp, step.cpp).
void release_frames(attn_context* context);
attn_status check_version(attn_context* context, const attn_model* model);
// What a step takes: options that are numbers, `step` from 1, gradients and states like their
// parameters (those with a gradient), no overlap.
attn_status check_step(attn_context* context, const attn_model* model, const double* options,
                       int64_t step, const attn_tensor* params, const attn_tensor* gradients,
                       const attn_tensor* states);

// Messages (context.cpp).
void warn(attn_context* context, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Keeps an earlier text of the same call: of several workers that fail, the first is told.
void kernel_message(attn_context* context, const char* format, va_list arguments);
void clear_message(attn_context* context);

}  // namespace attn::rt
