// Launch graphs of the fake driver.
#include "fake_state.h"

using namespace fake_cuda;

#define BEGIN_IN(name)        \
  Context* context = nullptr; \
  if (const int code = begin_in(name, &context)) return code

extern "C" {

int cuStreamIsCapturing(void* handle, int* status) {
  BEGIN_IN("cuStreamIsCapturing");
  Stream* stream = stream_of("cuStreamIsCapturing", context, handle);
  if (stream == nullptr) return 400;
  *status = stream->recording != nullptr || stream->is_recorded_by_caller ? 1 : 0;
  return 0;
}
int cuStreamBeginCapture_v2(void* handle, int mode) {
  BEGIN_IN("cuStreamBeginCapture");
  Stream* stream = stream_of("cuStreamBeginCapture", context, handle);
  if (stream == nullptr) return 400;
  if (mode == 0) complain("a recording that lets calls of other threads fail");
  if (handle == kDefaultStream) return 900;
  if (stream->recording != nullptr) return 401;
  stream->recording = std::make_unique<Graph>(Graph{context, false, {}, {}});
  return 0;
}
int cuStreamEndCapture(void* handle, void** graph) {
  *graph = nullptr;
  Context* context = nullptr;
  const int code = begin_in("cuStreamEndCapture", &context);
  if (context == nullptr) return code;
  Stream* stream = stream_of("cuStreamEndCapture", context, handle);
  if (stream == nullptr) return 400;
  const std::unique_ptr<Graph> recorded = std::move(stream->recording);
  if (recorded == nullptr) return 401;
  if (code != 0 || recorded->is_broken) return code != 0 ? code : 901;
  *graph = *state().graphs.insert(new Graph(*recorded)).first;
  return 0;
}
int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  BEGIN_IN("cuGraphGetNodes");
  if (nodes != nullptr || state().graphs.count(static_cast<Graph*>(graph)) == 0) return 1;
  *count = static_cast<Graph*>(graph)->work.size();
  return 0;
}
int cuGraphInstantiate_v2(void** executable, void* graph, void**, char*, size_t) {
  BEGIN_IN("cuGraphInstantiate");
  if (state().graphs.count(static_cast<Graph*>(graph)) == 0) return 1;
  *executable = *state().executables.insert(new Graph(*static_cast<Graph*>(graph))).first;
  return 0;
}
int cuGraphDestroy(void* graph) {
  BEGIN_IN("cuGraphDestroy");
  if (state().graphs.erase(static_cast<Graph*>(graph)) == 0) {
    complain("a graph is destroyed that is none");
    return 1;
  }
  delete static_cast<Graph*>(graph);
  return 0;
}
int cuGraphLaunch(void* executable, void* handle) {
  BEGIN_IN("cuGraphLaunch");
  Stream* stream = stream_of("cuGraphLaunch", context, handle);
  Graph* graph = static_cast<Graph*>(executable);
  if (stream == nullptr || state().executables.count(graph) == 0) return 400;
  if (stream->is_recorded_by_caller) complain("a graph in a stream that the caller records");
  if (graph->context != context) complain("a graph of another context");
  for (Module* module : graph->modules)
    if (state().modules.count(module) == 0) complain("a graph of a module that was unloaded");
  for (const std::function<int()>& work : graph->work) give(stream, work);
  return 0;
}
int cuGraphExecDestroy(void* executable) {
  BEGIN_IN("cuGraphExecDestroy");
  if (state().executables.erase(static_cast<Graph*>(executable)) == 0) {
    complain("an executable graph is destroyed that is none");
    return 1;
  }
  delete static_cast<Graph*>(executable);
  return 0;
}

}  // extern "C"
