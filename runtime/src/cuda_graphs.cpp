// Launch graphs on CUDA: the driver writes down what comes to a stream. That is one of our own: the
// default stream cannot be recorded, but a graph can be launched in it.
#include <new>
#include <utility>

#include "cuda.h"

namespace attn::rt {
namespace {

// Another thread's work, and what this one may have to do beside launches (loading code, memory),
// is let be.
constexpr int kRelaxed = 2;
// A graph of one launch saves nothing.
constexpr size_t kFewestNodes = 2;

struct Graph {
  Handle executable;
  DeviceMemory::Kept kept;
};

// What the caller records may outlive a graph of ours.
bool is_recorded_by_caller(const Cuda& cuda) {
  int status = 0;
  return cuda.call.StreamIsCapturing(cuda.stream, &status) != 0 || status != 0;
}

bool record(attn_context* context) {
  const CudaUse use(context);
  Cuda& cuda = cuda_of(context);
  if (use.failure() != 0 || is_recorded_by_caller(cuda)) return false;
  if (cuda.recorder == nullptr && cuda.call.StreamCreate(&cuda.recorder, kStreamOfItsOwn) != 0)
    return false;
  if (cuda.call.StreamBeginCapture(cuda.recorder, kRelaxed) != 0) return false;
  std::swap(cuda.stream, cuda.recorder);
  cuda.memory.hold();
  cuda.is_recording = true;
  return true;
}

// Null where the driver has none. The calls are made also after a failure of what was recorded: the
// stream is to record again.
Handle recorded(attn_context* context) {
  const Cuda& cuda = cuda_of(context);
  Handle graph = nullptr, executable = nullptr;
  int code = cuda.call.StreamEndCapture(cuda.recorder, &graph);
  if (graph == nullptr) {
    if (is_lost(code)) cuda_result(context, "", code);
    return nullptr;
  }
  size_t nodes = 0;
  if (code == 0) code = cuda.call.GraphGetNodes(graph, nullptr, &nodes);
  if (code == 0 && nodes >= kFewestNodes)
    code = cuda.call.GraphInstantiate(&executable, graph, nullptr, nullptr, 0);
  if (is_lost(code)) cuda_result(context, "", code);
  cuda.call.GraphDestroy(graph);
  return code == 0 ? executable : nullptr;
}

void* finish(attn_context* context) {
  Cuda& cuda = cuda_of(context);
  cuda.is_recording = false;
  std::swap(cuda.stream, cuda.recorder);
  Handle executable = recorded(context);
  const DeviceMemory::Kept kept = cuda.memory.keep();
  const bool has_room = cuda.graph_bytes + kept.bytes <= context->options.pool_bytes;
  void* memory = nullptr;
  if (executable != nullptr && kept.in_use == 0 && (kept.bytes == 0 || has_room))
    memory = attn_allocate(nullptr, sizeof(Graph));
  if (memory != nullptr) {
    cuda.graph_bytes += kept.bytes;
    return ::new (memory) Graph{executable, kept};
  }
  if (executable != nullptr) cuda.call.GraphExecDestroy(executable);
  cuda.memory.drop(context, kept);
  return nullptr;
}

int launch(attn_context* context, void* graph) {
  const CudaUse use(context);
  if (use.failure() != 0) return use.failure();
  Cuda& cuda = cuda_of(context);
  if (is_recorded_by_caller(cuda)) return kDeviceFailed;
  const int code = cuda.call.GraphLaunch(static_cast<Graph*>(graph)->executable, cuda.stream);
  return is_lost(code) ? cuda_result(context, "", code) : code != 0 ? kDeviceFailed : 0;
}

// The driver lets a graph that it runs come to its end. What takes the memory then runs after it.
void destroy(attn_context* context, void* given) {
  Cuda& cuda = cuda_of(context);
  Graph* graph = static_cast<Graph*>(given);
  if (context->lost == 0 && context->process == getpid()) {
    const CudaUse use(context);
    if (use.failure() == 0) cuda.call.GraphExecDestroy(graph->executable);
  }
  cuda.graph_bytes -= graph->kept.bytes;
  cuda.memory.drop(context, graph->kept);
  attn_free(nullptr, graph);
}

}  // namespace

const GraphFunctions kCudaGraphs = {record, finish, launch, destroy};

}  // namespace attn::rt
