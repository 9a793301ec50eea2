// Calls that come again with the same tensors, sizes and memory. On a device that has launch graphs
// the work of such a call is recorded the second time, and from then on launched as a whole: what
// small kernels wait for is the host, which launches them one by one.
#pragma once

#include <attn/attn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace attn::rt {

// A device's own functions. Between `record` and `finish` what a call begins is recorded and not
// done. Memory that kernels take meanwhile belongs to the graph.
struct GraphFunctions {
  bool (*record)(attn_context* context);
  // Null: there is no graph, or none that saves anything. Also after a failure of what was begun.
  void* (*finish)(attn_context* context);
  // As functions of attn_device. Without a text nothing was begun.
  int (*launch)(attn_context* context, void* graph);
  void (*destroy)(attn_context* context, void* graph);
};

// What tells a call from others, in words.
class CallKey {
 public:
  CallKey(attn_context* context, size_t words) : context_(context) {
    words_ = static_cast<int64_t*>(attn_allocate(context, sizeof(int64_t) * words));
  }
  ~CallKey() { attn_free(context_, words_); }
  CallKey(const CallKey&) = delete;
  CallKey& operator=(const CallKey&) = delete;

  void add(int64_t value) {
    if (words_ != nullptr) words_[count_++] = value;
  }
  void add(const void* address) { add(static_cast<int64_t>(reinterpret_cast<intptr_t>(address))); }
  // A table, which another may replace where a library was unloaded.
  template <class Table>
  void add_table(const Table& table) {
    static_assert(sizeof table % sizeof(int64_t) == 0);
    add(&table);
    if (words_ != nullptr) memcpy(words_ + count_, &table, sizeof table);
    count_ += sizeof table / sizeof(int64_t);
  }
  template <class Table>
  static constexpr size_t words_of() {
    return 1 + sizeof(Table) / sizeof(int64_t);
  }

  // Null: there was no memory.
  const int64_t* words() const { return words_; }
  size_t bytes() const { return sizeof(int64_t) * count_; }

 private:
  attn_context* context_;
  int64_t* words_;
  size_t count_ = 0;
};

// What a call does without reading data back.
struct Stretch {
  void* graph = nullptr;
  bool is_refused = false;  // it cannot be recorded, or a graph saves nothing
};

// A call that a context remembers.
struct KnownCall {
  KnownCall* next = nullptr;
  size_t key_bytes = 0;      // of the key, which follows
  bool is_repeated = false;  // this is not the first time
  bool is_running = false;
  Stretch stretches[2];
  void* rows = nullptr;  // memory of the device that the call needs, the same each time
};

class LaunchGraphs {
 public:
  const GraphFunctions* functions = nullptr;  // null: the device has none
  bool is_wanted = true;
  bool is_recording = false;

  // The call with this key, for the time of a call; null: it is not to be recorded.
  KnownCall* begin(attn_context* context, const CallKey& key);
  // Takes null, too.
  static void end(KnownCall* call);

  // Gives up all graphs and their memory; but a running call keeps its rows. Returns whether there
  // was anything.
  bool clear(attn_context* context);
  // Forgets the calls, too. None is running.
  void forget(attn_context* context);

  // Does a stretch of a call: by `work`, or by a graph of what that begins.
  template <class Work>
  attn_status run(attn_context* context, KnownCall* call, int which, Work work) {
    if (call == nullptr || !call->is_repeated) return work();
    Stretch& stretch = call->stretches[which];
    if (stretch.graph == nullptr && !stretch.is_refused && start(context, stretch))
      stop(context, stretch, work());
    attn_status status = ATTN_OK;
    if (stretch.graph != nullptr && launch(context, stretch, &status)) return status;
    return work();
  }

 private:
  bool start(attn_context* context, Stretch& stretch);
  void stop(attn_context* context, Stretch& stretch, attn_status recorded);
  bool launch(attn_context* context, Stretch& stretch, attn_status* status);
  bool release(attn_context* context, Stretch& stretch);
  bool release(attn_context* context, KnownCall& call);

  KnownCall* latest_ = nullptr;
};

}  // namespace attn::rt
