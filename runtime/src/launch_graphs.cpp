#include "launch_graphs.h"

#include <string.h>

#include <new>

#include "context.h"

namespace attn::rt {
namespace {

constexpr int kMostCalls = 32;  // that a context remembers

void* key_of(KnownCall* call) { return call + 1; }

}  // namespace

KnownCall* LaunchGraphs::begin(attn_context* context, const CallKey& key) {
  if (key.words() == nullptr) return nullptr;
  KnownCall* call = nullptr;
  KnownCall** last = &latest_;
  int count = 0;
  for (KnownCall** at = &latest_; *at != nullptr; at = &(*at)->next, ++count) {
    last = at;
    if ((*at)->key_bytes != key.bytes() || memcmp(key_of(*at), key.words(), key.bytes()) != 0)
      continue;
    call = *at;
    *at = call->next;
    call->is_repeated = true;
    break;
  }
  if (call == nullptr) {
    void* memory = attn_allocate(nullptr, sizeof(KnownCall) + key.bytes());
    if (memory == nullptr) return nullptr;
    if (count == kMostCalls) {
      release(context, **last);
      attn_free(nullptr, *last);
      *last = nullptr;
    }
    call = ::new (memory) KnownCall;
    call->key_bytes = key.bytes();
    memcpy(key_of(call), key.words(), key.bytes());
  }
  call->next = latest_;
  latest_ = call;
  call->is_running = true;
  return call;
}

void LaunchGraphs::end(KnownCall* call) {
  if (call != nullptr) call->is_running = false;
}

bool LaunchGraphs::release(attn_context* context, Stretch& stretch) {
  if (stretch.graph == nullptr) return false;
  functions->destroy(context, stretch.graph);
  stretch.graph = nullptr;
  return true;
}

bool LaunchGraphs::release(attn_context* context, KnownCall& call) {
  bool had_any = false;
  for (Stretch& stretch : call.stretches) had_any = release(context, stretch) || had_any;
  if (call.rows == nullptr || call.is_running) return had_any;
  attn_device_free(context, call.rows);
  call.rows = nullptr;
  return true;
}

bool LaunchGraphs::clear(attn_context* context) {
  bool had_any = false;
  for (KnownCall* call = latest_; call != nullptr; call = call->next)
    had_any = release(context, *call) || had_any;
  return had_any;
}

void LaunchGraphs::forget(attn_context* context) {
  while (KnownCall* call = latest_) {
    latest_ = call->next;
    release(context, *call);
    attn_free(nullptr, call);
  }
}

bool LaunchGraphs::start(attn_context* context, Stretch& stretch) {
  is_recording = functions->record(context);
  stretch.is_refused = !is_recording;
  return is_recording;
}

// What could not be recorded is done without a graph, and then says what it has to say.
void LaunchGraphs::stop(attn_context* context, Stretch& stretch, attn_status recorded) {
  stretch.graph = functions->finish(context);
  is_recording = false;
  if (recorded != ATTN_OK) release(context, stretch);
  stretch.is_refused = stretch.graph == nullptr;
  if (stretch.is_refused) context->message[0] = '\0';
}

// Whether the graph was launched, or the device is lost.
bool LaunchGraphs::launch(attn_context* context, Stretch& stretch, attn_status* status) {
  const int code = functions->launch(context, stretch.graph);
  if (code == 0) return true;
  if (context->lost != 0) {
    *status = device_status(context, code);
    return true;
  }
  stretch.is_refused = true;
  release(context, stretch);
  return false;
}

}  // namespace attn::rt

using namespace attn::rt;

void attn_context_set_launch_graphs(attn_context* context, int32_t is_wanted) {
  if (context == nullptr) return;
  context->graphs.is_wanted = is_wanted != 0;
  if (is_wanted == 0) context->graphs.clear(context);
}
