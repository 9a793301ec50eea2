// The threads of a context and the parallel loops that kernels run on them. Each thread takes the
// indices of its share one by one, then those that others have left; kernels reduce in an order
// that is part of the schedule, so results do not depend on who runs what. A loop met inside a loop
// runs on the thread that meets it: no deadlock, no stack that grows with the number of tasks.
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <xmmintrin.h>

#include <algorithm>
#include <new>

#include "check.h"
#include "context.h"
#include "cpu.h"

namespace attn::rt {
namespace {

constexpr size_t kStackBytes = size_t{2} << 20;
// Loops of one call follow each other closely, and the system takes as long to put a thread to
// sleep and to wake it as many of them run.
constexpr int64_t kSpinNanoseconds = 200'000;

// Pool::loop: the number above, then whether it is open, then how many workers are in it.
constexpr uint64_t kNumber = uint64_t{1} << 32, kOpen = uint64_t{1} << 31, kInside = kOpen - 1;

int64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Until the condition holds or waiting has gone on for too long; not at all where other threads of
// the context may need this processor.
template <class Condition>
void spin(const Pool* pool, Condition condition) {
  if (!pool->may_spin) return;
  const int64_t end = nanoseconds() + kSpinNanoseconds;
  while (!condition()) {
    for (int k = 0; k < 16 && !condition(); ++k) _mm_pause();
    if (nanoseconds() > end) return;
  }
}

Range* range_of(Pool* pool, int32_t thread) {
  return thread == 0 ? &pool->range : &pool->workers[thread - 1].range;
}

// Each thread has the same share of every loop over the same indices, so that what one kernel
// leaves in its caches is there for the next.
void share_out(Pool* pool, int64_t count) {
  const int64_t threads = pool->started + 1;
  for (int32_t k = 0; k < threads; ++k) {
    Range* range = range_of(pool, k);
    range->next = count / threads * k + count % threads * k / threads;
    range->end = count / threads * (k + 1) + count % threads * (k + 1) / threads;
  }
}

void run_indices(Pool* pool, int32_t thread) {
  const int32_t threads = pool->started + 1;
  for (int32_t k = 0; k < threads; ++k) {
    Range* range = range_of(pool, (thread + k) % threads);
    while (pool->failed.load(std::memory_order_relaxed) == 0) {
      if (range->next.load(std::memory_order_relaxed) >= range->end) break;
      const int64_t index = range->next.fetch_add(1, std::memory_order_relaxed);
      if (index >= range->end) break;
      const int result = pool->task(pool->closure, index);
      if (result != 0) {
        int none = 0;
        pool->failed.compare_exchange_strong(none, result);
      }
    }
  }
}

bool may_join(const Pool* pool, uint64_t last) {
  const uint64_t loop = pool->loop.load();
  return (loop & kOpen) != 0 && loop / kNumber != last;
}

// Into the loop that is open, unless it is the last one, of which nothing is left.
bool join(Pool* pool, uint64_t* last) {
  uint64_t loop = pool->loop.load();
  while ((loop & kOpen) != 0 && loop / kNumber != *last) {
    if (!pool->loop.compare_exchange_weak(loop, loop + 1)) continue;
    *last = loop / kNumber;
    return true;
  }
  return false;
}

void leave(Pool* pool) {
  const uint64_t loop = pool->loop.fetch_sub(1) - 1;
  if ((loop & (kOpen | kInside)) != 0) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_signal(&pool->done);
  pthread_mutex_unlock(&pool->mutex);
}

// Wakes as many as have something to do beside the caller.
void open_loop(Pool* pool, int64_t count) {
  pool->loop = (pool->loop.load() / kNumber + 1) * kNumber | kOpen;
  if (pool->asleep.load() == 0) return;
  pthread_mutex_lock(&pool->mutex);
  const int64_t helpers = std::min<int64_t>(count - 1, pool->started);
  for (int64_t k = 0; k < helpers; ++k) pthread_cond_signal(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
}

// Returns when all workers have left.
void close_loop(Pool* pool) {
  auto empty = [=] { return (pool->loop.load() & kInside) == 0; };
  if ((pool->loop.fetch_and(~kOpen) & kInside) == 0) return;
  spin(pool, empty);
  if (empty()) return;
  pthread_mutex_lock(&pool->mutex);
  while (!empty()) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

void* work(void* argument) {
  Worker* self = static_cast<Worker*>(argument);
  Pool* pool = &self->context->pool;
  become_worker(self);
  enter_kernel_state();
  uint64_t last = 0;
  auto wanted = [&] { return pool->stop.load() || may_join(pool, last); };
  while (!pool->stop.load()) {
    if (join(pool, &last)) {
      run_indices(pool, static_cast<int32_t>(self - pool->workers) + 1);
      leave(pool);
      continue;
    }
    spin(pool, wanted);
    if (wanted()) continue;
    pthread_mutex_lock(&pool->mutex);
    pool->asleep.fetch_add(1);
    while (!wanted()) pthread_cond_wait(&pool->wake, &pool->mutex);
    pool->asleep.fetch_sub(1);
    pthread_mutex_unlock(&pool->mutex);
  }
  return nullptr;
}

// Starts what the system grants. Failing is no error: the caller's thread remains.
void start_workers(attn_context* context) {
  Pool* pool = &context->pool;
  pool->tried = true;
  pool->may_spin = context->threads <= usable_processors();
  const int32_t wanted = context->threads - 1;
  const size_t bytes = sizeof(Worker) * static_cast<size_t>(wanted);
  void* memory = attn_allocate(context, bytes);
  if (memory == nullptr) {
    warn(context, "no memory for %d threads, running with one", context->threads);
    return;
  }
  memset(memory, 0, bytes);
  pool->workers = static_cast<Worker*>(memory);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // Signals belong to the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int32_t k = 0; k < wanted; ++k) {
    Worker* worker = &pool->workers[k];
    worker->context = context;
    worker->lists.limit = context->options.pool_bytes / context->threads;
    if (injected_failure(&context->fail_thread) ||
        pthread_create(&worker->thread, &attributes, work, worker) != 0) {
      break;
    }
    pool->started = k + 1;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (pool->started < wanted)
    warn(context, "only %d of %d threads could be started", pool->started + 1, context->threads);
}

// In a forked child the workers are gone, and what they held may be locked for ever.
void forget_lost_workers(attn_context* context) {
  Pool* pool = &context->pool;
  if (pool->process == getpid()) return;
  for (int32_t k = 0; k < pool->started; ++k) release_lists(&pool->workers[k].lists);
  attn_free(nullptr, pool->workers);
  ::new (pool) Pool;
}

int run_serially(int64_t count, int (*task)(void*, int64_t), void* closure) {
  for (int64_t index = 0; index < count; ++index) {
    const int result = task(closure, index);
    if (result != 0) return result;
  }
  return 0;
}

}  // namespace

int32_t usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}

void pool_stop(attn_context* context) {
  forget_lost_workers(context);
  Pool* pool = &context->pool;
  pthread_mutex_lock(&pool->mutex);
  pool->stop = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t k = 0; k < pool->started; ++k) {
    pthread_join(pool->workers[k].thread, nullptr);
    release_lists(&pool->workers[k].lists);
  }
  attn_free(nullptr, pool->workers);
  pool->workers = nullptr;
  pool->started = 0;
  pool->stop = false;
  pool->tried = false;
}

int pool_run(attn_context* context, int64_t count, int (*task)(void*, int64_t), void* closure) {
  if (context == nullptr || context->threads == 1 || count < 2)
    return run_serially(count, task, closure);
  Pool* pool = &context->pool;
  if (pool->busy.exchange(true)) return run_serially(count, task, closure);
  forget_lost_workers(context);
  pool->busy = true;
  if (!pool->tried) start_workers(context);

  pool->task = task;
  pool->closure = closure;
  share_out(pool, count);
  pool->failed = 0;
  open_loop(pool, count);
  run_indices(pool, 0);
  close_loop(pool);
  pool->busy = false;
  return pool->failed;
}

}  // namespace attn::rt

using namespace attn::rt;

int attn_parallel_for(attn_context* context, int count, int (*task)(void* data, int index),
                      void* data) {
  if (task == nullptr && count > 0) return check_given(context, nullptr, "task");
  return parallel_for(context, count,
                      [=](int64_t index) { return task(data, static_cast<int>(index)); });
}

extern "C" int attn_k_do_par_for(void* context, int (*task)(void* context, int, uint8_t* closure),
                                 int min, int size, uint8_t* closure) {
  return parallel_for(static_cast<attn_context*>(context), size, [=](int64_t index) {
    return task(context, min + static_cast<int>(index), closure);
  });
}
