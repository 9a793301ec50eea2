// The threads of a context and the parallel loops that kernels run on them. Indices are handed out
// one by one, and kernels reduce in an order that is part of the schedule, so results do not depend
// on who runs what. A loop met inside a loop runs on the thread that meets it: no deadlock, no
// stack that grows with the number of tasks.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "context.h"

namespace attn::rt {
namespace {

constexpr size_t kStackBytes = size_t{2} << 20;
// About 10 microseconds: loops of one call follow each other closely.
constexpr int kSpins = 300;

constinit thread_local Worker* t_worker = nullptr;

bool start_members(Pool* pool) {
  pool->generation = 0;
  pool->busy = false;
  pool->active = 0;
  pool->open = pool->stop = false;
  pool->workers = nullptr;
  pool->started = 0;
  pool->tried = false;
  pool->process = getpid();
  if (pthread_mutex_init(&pool->mutex, nullptr) != 0) return false;
  if (pthread_cond_init(&pool->wake, nullptr) != 0) {
    pthread_mutex_destroy(&pool->mutex);
    return false;
  }
  if (pthread_cond_init(&pool->done, nullptr) != 0) {
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    return false;
  }
  return true;
}

void run_indices(Pool* pool) {
  while (pool->failed.load(std::memory_order_relaxed) == 0) {
    const int64_t index = pool->next.fetch_add(1, std::memory_order_relaxed);
    if (index >= pool->end) return;
    const int result = pool->task(pool->closure, index);
    if (result != 0) {
      int none = 0;
      pool->failed.compare_exchange_strong(none, result);
    }
  }
}

void* work(void* argument) {
  Worker* self = static_cast<Worker*>(argument);
  Pool* pool = &self->context->pool;
  t_worker = self;
  enter_kernel_state();
  uint32_t seen = 0;
  pthread_mutex_lock(&pool->mutex);
  while (true) {
    if (pool->stop) break;
    if (!pool->open || pool->generation.load() == seen) {
      pthread_mutex_unlock(&pool->mutex);
      const uint32_t now = pool->generation.load();
      for (int k = 0; k < kSpins && pool->generation.load(std::memory_order_relaxed) == now; ++k) {
        _mm_pause();
      }
      pthread_mutex_lock(&pool->mutex);
      while (!pool->stop && (!pool->open || pool->generation.load() == seen)) {
        pthread_cond_wait(&pool->wake, &pool->mutex);
      }
      continue;
    }
    seen = pool->generation.load();
    pool->active.fetch_add(1);
    pthread_mutex_unlock(&pool->mutex);
    run_indices(pool);
    pthread_mutex_lock(&pool->mutex);
    if (pool->active.fetch_sub(1) == 1 && !pool->open) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return nullptr;
}

bool injected_failure(std::atomic<int64_t>* countdown) {
  return countdown->load() > 0 && countdown->fetch_sub(1) == 1;
}

// Starts what the system grants. Failing is no error: the caller's thread remains.
void start_workers(attn_context* context) {
  Pool* pool = &context->pool;
  pool->tried = true;
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
  if (pool->started < wanted) {
    warn(context, "only %d of %d threads could be started", pool->started + 1, context->threads);
  }
}

// In a forked child the workers are gone, and what they held may be locked for ever.
void forget_lost_workers(attn_context* context) {
  Pool* pool = &context->pool;
  if (pool->process == getpid()) return;
  for (int32_t k = 0; k < pool->started; ++k) free_lists_release(&pool->workers[k].lists);
  attn_free(nullptr, pool->workers);
  start_members(pool);
}

int run_serially(int64_t count, int (*task)(void*, int64_t), void* closure) {
  for (int64_t index = 0; index < count; ++index) {
    const int result = task(closure, index);
    if (result != 0) return result;
  }
  return 0;
}

}  // namespace

Worker* current_worker(const attn_context* context) {
  return t_worker != nullptr && t_worker->context == context ? t_worker : nullptr;
}

bool pool_start(attn_context* context) { return start_members(&context->pool); }

void pool_stop(attn_context* context) {
  forget_lost_workers(context);
  Pool* pool = &context->pool;
  pthread_mutex_lock(&pool->mutex);
  pool->stop = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t k = 0; k < pool->started; ++k) {
    pthread_join(pool->workers[k].thread, nullptr);
    free_lists_release(&pool->workers[k].lists);
  }
  attn_free(nullptr, pool->workers);
  pool->workers = nullptr;
  pool->started = 0;
  pool->stop = pool->tried = false;
}

int pool_run(attn_context* context, int64_t count, int (*task)(void*, int64_t), void* closure) {
  if (context == nullptr || context->threads == 1 || count < 2) {
    return run_serially(count, task, closure);
  }
  Pool* pool = &context->pool;
  if (pool->busy.exchange(true)) return run_serially(count, task, closure);
  forget_lost_workers(context);
  pool->busy = true;
  if (!pool->tried) start_workers(context);

  pthread_mutex_lock(&pool->mutex);
  pool->task = task;
  pool->closure = closure;
  pool->end = count;
  pool->next = 0;
  pool->failed = 0;
  pool->open = true;
  pool->generation.fetch_add(1);
  if (count - 1 < pool->started) {
    for (int64_t k = 0; k < count - 1; ++k) pthread_cond_signal(&pool->wake);
  } else {
    pthread_cond_broadcast(&pool->wake);
  }
  pthread_mutex_unlock(&pool->mutex);

  run_indices(pool);

  pthread_mutex_lock(&pool->mutex);
  pool->open = false;
  pthread_mutex_unlock(&pool->mutex);
  for (int k = 0; k < kSpins && pool->active.load() > 0; ++k) _mm_pause();
  pthread_mutex_lock(&pool->mutex);
  while (pool->active.load() > 0) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
  pool->busy = false;
  return pool->failed;
}

}  // namespace attn::rt

using namespace attn::rt;

namespace {

struct UserLoop {
  int (*task)(void* data, int index);
  void* data;
};

using KernelTask = int (*)(void* context, int index, uint8_t* closure);

struct KernelLoop {
  KernelTask task;
  void* context;
  int min;
  uint8_t* closure;
};

}  // namespace

int attn_parallel_for(attn_context* context, int count, int (*task)(void* data, int index),
                      void* data) {
  UserLoop loop{task, data};
  return pool_run(
      context, count,
      [](void* closure, int64_t index) {
        const UserLoop* l = static_cast<const UserLoop*>(closure);
        return l->task(l->data, static_cast<int>(index));
      },
      &loop);
}

extern "C" int attn_k_do_par_for(void* context, KernelTask task, int min, int size,
                                 uint8_t* closure) {
  KernelLoop loop{task, context, min, closure};
  return pool_run(
      static_cast<attn_context*>(context), size,
      [](void* data, int64_t index) {
        const KernelLoop* l = static_cast<const KernelLoop*>(data);
        return l->task(l->context, l->min + static_cast<int>(index), l->closure);
      },
      &loop);
}
