// Contexts: creation, options and messages.
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>

namespace attn::rt {
namespace {

int32_t wanted_threads(int32_t asked) {
  const int32_t wanted = asked > 0 ? asked : usable_processors();
  return wanted < kMaxThreads ? wanted : kMaxThreads;
}

void log_text(attn_context* context, attn_log_level level, const char* text) {
  if (context->options.log != nullptr) context->options.log(context->options.log_data, level, text);
}

}  // namespace

void warn(attn_context* context, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_text(context, ATTN_LOG_WARNING, text);
}

void kernel_message(attn_context* context, const char* format, va_list arguments) {
  if (context == nullptr) return;
  pthread_mutex_lock(&context->message_mutex);
  if (context->message[0] == '\0') {
    vsnprintf(context->message, kMessageBytes, format, arguments);
  }
  pthread_mutex_unlock(&context->message_mutex);
}

void clear_message(attn_context* context) { context->message[0] = '\0'; }

}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_context_create(const attn_context_options* options, attn_context** result) {
  if (result == nullptr) return ATTN_REFUSED;
  *result = nullptr;
  if (options != nullptr) {
    const char* why = options->device.type == ATTN_OTHER && options->device_functions == nullptr
                          ? "a device of the program's own needs its functions"
                          : attn_device_refusal(options->device);
    if (why != nullptr && options->log != nullptr)
      options->log(options->log_data, ATTN_LOG_ERROR, why);
    if (why != nullptr) return ATTN_REFUSED;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, 128, sizeof(attn_context)) != 0) return ATTN_NO_MEMORY;
  memset(memory, 0, sizeof(attn_context));
  attn_context* context = ::new (memory) attn_context;
  context->options = options != nullptr ? *options : attn_context_options{};
  context->threads = wanted_threads(context->options.threads);
  if (context->options.pool_bytes == 0) context->options.pool_bytes = int64_t{1} << 30;
  memset(&context->lists, 0, sizeof context->lists);
  context->lists.limit = context->options.pool_bytes;
  context->cpu = cpu_device();
  const bool is_own = context->options.device.type == ATTN_OTHER;
  context->device = is_own ? context->options.device_functions : &context->cpu;
  context->frames = nullptr;
  context->fail_allocation = 0;
  context->fail_thread = 0;
  context->message[0] = '\0';
  const bool mutex = pthread_mutex_init(&context->message_mutex, nullptr) == 0;
  if (!mutex || !pool_start(context)) {
    if (mutex) pthread_mutex_destroy(&context->message_mutex);
    free(memory);
    return ATTN_NO_MEMORY;
  }
  *result = context;
  return ATTN_OK;
}

void attn_context_destroy(attn_context* context) {
  if (context == nullptr) return;
  pool_stop(context);
  pthread_mutex_destroy(&context->pool.mutex);
  pthread_cond_destroy(&context->pool.wake);
  pthread_cond_destroy(&context->pool.done);
  pthread_mutex_destroy(&context->message_mutex);
  release_frames(context);
  free_lists_release(&context->lists);
  free(context);
}

const char* attn_context_message(const attn_context* context) {
  return context != nullptr ? context->message : "there is no context";
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
  release_frames(context);
  free_lists_release(&context->lists);
  for (int32_t k = 0; k < context->pool.started; ++k) {
    free_lists_release(&context->pool.workers[k].lists);
  }
}

void attn_context_fail_allocation(attn_context* context, int64_t n) {
  if (context != nullptr) context->fail_allocation = n;
}

void attn_context_fail_thread(attn_context* context, int64_t n) {
  if (context != nullptr) context->fail_thread = n;
}

attn_status attn_fail(attn_context* context, attn_status status, const char* format, ...) {
  if (context == nullptr) return status;
  pthread_mutex_lock(&context->message_mutex);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->message, kMessageBytes, format, arguments);
  va_end(arguments);
  pthread_mutex_unlock(&context->message_mutex);
  log_text(context, ATTN_LOG_ERROR, context->message);
  return status;
}
