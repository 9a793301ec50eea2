// Contexts: creation, options and devices.
#include "context.h"

#include <stdlib.h>

#include <algorithm>
#include <new>

#include "cpu.h"
#include "cuda.h"
#include "opencl.h"

namespace attn::rt {
namespace {

constexpr int32_t kMaxThreads = 1024;

int32_t wanted_threads(int32_t asked) {
  return std::min(asked > 0 ? asked : usable_processors(), kMaxThreads);
}

// Says why not.
const char* open_device(attn_context* context) {
  switch (context->options.device.type) {
    case ATTN_CUDA:
      return cuda_open(context);
    case ATTN_OPENCL:
      return opencl_open(context);
    default:
      context->own = cpu_device();
      return nullptr;
  }
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_context_create(const attn_context_options* given, attn_context** result) {
  if (result == nullptr) return ATTN_REFUSED;
  *result = nullptr;
  const attn_context_options options = given != nullptr ? *given : attn_context_options{};
  const bool is_own = options.device.type == ATTN_OTHER;
  const bool is_cuda = options.device.type == ATTN_CUDA;
  const char* why = attn_device_refusal(options.device);
  if (is_own && options.device_functions == nullptr)
    why = "a device of the program's own needs its functions";
  if (!is_cuda && (options.cuda_context != nullptr || options.cuda_stream != nullptr))
    why = "options.cuda_context and options.cuda_stream are for devices of ATTN_CUDA";
  if (why != nullptr) {
    log_text(options, ATTN_LOG_ERROR, why);
    return ATTN_REFUSED;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(attn_context), sizeof(attn_context)) != 0)
    return ATTN_NO_MEMORY;
  attn_context* context = ::new (memory) attn_context;
  context->options = options;
  context->threads = wanted_threads(options.threads);
  if (options.pool_bytes == 0) context->options.pool_bytes = int64_t{1} << 30;
  context->lists.limit = context->options.pool_bytes;
  context->device = is_own ? options.device_functions : &context->own;
  read_cpu_features(context->cpu_features);
  why = open_device(context);
  if (why != nullptr) {
    log_text(options, ATTN_LOG_ERROR, why);
    free(context);
    return ATTN_REFUSED;
  }
  *result = context;
  return ATTN_OK;
}

void attn_context_destroy(attn_context* context) {
  if (context == nullptr) return;
  pool_stop(context);
  context->graphs.forget(context);
  if (context->close != nullptr) context->close(context);
  pthread_mutex_destroy(&context->pool.mutex);
  pthread_cond_destroy(&context->pool.wake);
  pthread_cond_destroy(&context->pool.done);
  pthread_mutex_destroy(&context->message_mutex);
  release_cached(context);
  release_lists(&context->lists);
  free(context);
}

void attn_context_set_trace(attn_context* context,
                            void (*trace)(void* trace_data, const attn_trace_event* event),
                            void* trace_data) {
  if (context == nullptr) return;
  context->options.trace = trace;
  context->options.trace_data = trace_data;
}

int32_t attn_context_threads(const attn_context* context) {
  return context != nullptr ? context->threads : 1;
}

attn_status attn_context_set_threads(attn_context* context, int32_t threads) {
  if (context == nullptr) return ATTN_REFUSED;
  if (threads < 0)
    return attn_fail(context, ATTN_REFUSED, "threads is %d, must be at least 0", threads);
  const int32_t wanted = wanted_threads(threads);
  if (wanted != context->threads) pool_stop(context);
  context->threads = wanted;
  return ATTN_OK;
}

void attn_context_trim(attn_context* context) {
  if (context == nullptr) return;
  release_cached(context);
  release_lists(&context->lists);
  context->graphs.clear(context);
  if (context->trim != nullptr) context->trim(context);
  for (int32_t k = 0; k < context->pool.started; ++k)
    release_lists(&context->pool.workers[k].lists);
}

void attn_context_fail_allocation(attn_context* context, int64_t n) {
  if (context != nullptr) context->fail_allocation = n;
}

void attn_context_fail_thread(attn_context* context, int64_t n) {
  if (context != nullptr) context->fail_thread = n;
}

const char* attn_device_refusal(attn_device_id device) {
  switch (device.type) {
    case ATTN_CPU:
      return device.ordinal == 0 ? nullptr : "there is one CPU, of ordinal 0";
    case ATTN_CUDA:
      return cuda_refusal(device.ordinal);
    case ATTN_OPENCL:
      return opencl_refusal(device.ordinal);
    case ATTN_OTHER:
      return nullptr;
  }
  return "no such type of device";
}

attn_status attn_context_wait(attn_context* context) {
  if (context == nullptr) return ATTN_REFUSED;
  context->message[0] = '\0';
  return device_status(context, context->device->wait(context));
}

const attn_device* attn_context_device(const attn_context* context) {
  return context != nullptr ? context->device : nullptr;
}

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
