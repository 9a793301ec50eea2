// The last error text of a context, and its log.
#include <stdio.h>

#include <cstdarg>

#include "context.h"

namespace attn::rt {

void log_text(const attn_context_options& options, attn_log_level level, const char* text) {
  if (options.log != nullptr) options.log(options.log_data, level, text);
}

void warn(attn_context* context, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_text(context->options, ATTN_LOG_WARNING, text);
}

void kernel_message(attn_context* context, const char* format, va_list arguments) {
  if (context == nullptr) return;
  pthread_mutex_lock(&context->message_mutex);
  if (context->message[0] == '\0')
    vsnprintf(context->message, sizeof context->message, format, arguments);
  pthread_mutex_unlock(&context->message_mutex);
}

attn_status out_of_memory(attn_context* context) {
  if (context != nullptr && context->lost != 0) return ATTN_BAD_DEVICE;  // whose text is there
  return attn_fail(context, ATTN_NO_MEMORY, "out of memory");
}

attn_status device_status(attn_context* context, int code) {
  if (code == 0) return ATTN_OK;
  if (code == kKernelOutOfMemory) return ATTN_NO_MEMORY;
  if (context->message[0] != '\0') return ATTN_BAD_DEVICE;
  return attn_fail(context, ATTN_BAD_DEVICE, "%s failed", context->device->name);
}

}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_fail(attn_context* context, attn_status status, const char* format, ...) {
  if (context == nullptr) return status;
  pthread_mutex_lock(&context->message_mutex);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->message, sizeof context->message, format, arguments);
  va_end(arguments);
  pthread_mutex_unlock(&context->message_mutex);
  if (!context->graphs.is_recording) log_text(context->options, ATTN_LOG_ERROR, context->message);
  return status;
}

const char* attn_context_message(const attn_context* context) {
  return context != nullptr ? context->message : "there is no context";
}
