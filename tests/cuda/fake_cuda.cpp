#include "fake_cuda.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fake_state.h"
#include "ptx_machine.h"

namespace fake_cuda {

State& state() {
  static State* s = new State;
  return *s;
}
Stack& stack() {
  static thread_local Stack s;
  return s;
}

void complain(const std::string& text) { state().complaints += text + "\n"; }

int begin(const std::string& function) {
  State& s = state();
  const int n = ++s.calls[function];
  auto chosen = s.failures.find(function);
  if (chosen == s.failures.end() || chosen->second.count(n) == 0) return 0;
  return chosen->second[n];
}

int begin_in(const std::string& function, Context** context) {
  *context = stack().empty() ? nullptr : stack().back();
  if (*context == nullptr) {
    ++state().calls[function];
    complain(function + " without a context");
    return 201;
  }
  if (const int code = begin(function)) return code;
  return (*context)->lost;
}

Stream* stream_of(const std::string& function, Context* context, void* handle) {
  Stream* stream = static_cast<Stream*>(handle);
  if (handle == kDefaultStream) {
    Stream*& own = state().default_streams[context];
    if (own == nullptr) own = static_cast<Stream*>(make_stream(context));
    stream = own;
  }
  if (state().streams.count(stream) == 0)
    complain(function + " in no stream");
  else if (stream->context != context)
    complain(function + " in a stream of another context");
  else
    return stream;
  return nullptr;
}

char* find(std::map<char*, Memory>& memory, Context* context, const void* at, size_t bytes) {
  char* start = static_cast<char*>(const_cast<void*>(at));
  auto it = memory.upper_bound(start);
  if (it == memory.begin()) return nullptr;
  --it;
  const bool is_inside = start + bytes <= it->first + it->second.bytes;
  return is_inside && (context == nullptr || it->second.context == context) ? start : nullptr;
}

char* device_memory(const std::string& function, Context* context, uint64_t address, size_t bytes) {
  char* at = find(state().memory, context, reinterpret_cast<void*>(address - kShift), bytes);
  if (at == nullptr) complain(function + " of memory that is not the context's");
  return at;
}

void give(Stream* stream, std::function<int()> work) {
  if (stream->recording != nullptr)
    stream->recording->work.push_back(std::move(work));
  else
    stream->work.push_back(std::move(work));
}

int run(Stream* stream) {
  while (!stream->work.empty()) {
    const std::function<int()> next = std::move(stream->work.front());
    stream->work.pop_front();
    if (stream->context->lost == 0) stream->context->lost = next();
  }
  return stream->context->lost;
}

int run(Context* context, const ptx::Module& module, const ptx::Entry& entry, const Launch& launch,
        const std::vector<char>& arguments) {
  std::vector<ptx::Region> regions;
  for (const auto& [block, memory] : state().memory)
    if (memory.context == context)
      regions.push_back({reinterpret_cast<uint64_t>(block) + kShift, memory.bytes, block});
  ptx::Shape shape = {{}, {}, launch.shared_bytes};
  std::copy_n(launch.blocks, 3, shape.blocks);
  std::copy_n(launch.threads, 3, shape.threads);
  try {
    ptx::run(module, entry, shape, arguments, regions);
  } catch (const ptx::Fault& fault) {
    complain(fault.what());
    fprintf(stderr, "CUDA on the host: %s\n", fault.what());
    return fault.code;
  }
  return 0;
}

bool has_work(Context* context) {
  return std::any_of(state().streams.begin(), state().streams.end(), [&](Stream* s) {
    return s->context == context && !s->work.empty() && context->lost == 0;
  });
}

void reset() {
  for (Stream* s : state().streams) delete s;
  for (Module* m : state().modules) delete m;
  for (auto* graphs : {&state().graphs, &state().executables})
    for (Graph* graph : *graphs) delete graph;
  for (auto* memory : {&state().memory, &state().pinned})
    for (auto& block : *memory) free(block.first);
  state() = State();
  stack().clear();
}
void set_devices(int count, int capability) {
  state().devices = count;
  state().capability = capability;
}
void set_driver(int version) { state().version = version; }
void fail(const std::string& function, int n, int code) {
  state().failures[function][state().calls[function] + n] = code;
}
int calls(const std::string& function) { return state().calls[function]; }
void set_kernel(const std::string& name, Kernel kernel) { state().kernels[name] = kernel; }
const std::vector<Launch>& launches() { return state().launches; }
const std::vector<int>& register_limits() { return state().limits; }
void set_log(const std::string& text) { state().log = text; }
char* real(uint64_t address, size_t bytes) {
  return find(state().memory, nullptr, reinterpret_cast<void*>(address - kShift), bytes);
}
void* make_context(int device) {
  state().contexts.push_back(std::make_unique<Context>());
  state().contexts.back()->device = device;
  state().contexts.back()->is_callers = true;
  return state().contexts.back().get();
}
void* make_stream(void* context) {
  return *state()
              .streams.insert(new Stream{static_cast<Context*>(context), true, {}, nullptr, false})
              .first;
}
void set_recorded(void* stream, bool is_recorded) {
  static_cast<Stream*>(stream)->is_recorded_by_caller = is_recorded;
}
void push(void* context) { stack().push_back(static_cast<Context*>(context)); }
void* current() { return stack().empty() ? nullptr : stack().back(); }
std::string complaints() { return state().complaints; }
int fake_cuda_calls(const char* function) { return calls(function); }
const char* fake_cuda_complaints() { return state().complaints.c_str(); }
size_t device_bytes() {
  size_t all = 0;
  for (const auto& block : state().memory) all += block.second.bytes;
  return all;
}

std::string left() {
  const State& s = state();
  std::string text;
  const auto count = [&](size_t n, const char* what) {
    if (n > 0) text += std::to_string(n) + " " + what + "\n";
  };
  count(static_cast<size_t>(std::count_if(s.contexts.begin(), s.contexts.end(),
                                          [](const auto& c) { return c->retained != 0; })),
        "contexts");
  count(static_cast<size_t>(std::count_if(s.streams.begin(), s.streams.end(),
                                          [](Stream* one) { return !one->is_callers; })),
        "streams");
  count(s.memory.size(), "blocks of the device");
  count(s.pinned.size(), "pinned blocks");
  count(s.modules.size(), "modules");
  count(s.graphs.size(), "graphs");
  count(s.executables.size(), "executable graphs");
  count(stack().size(), "contexts on the stack");
  return text;
}

}  // namespace fake_cuda
