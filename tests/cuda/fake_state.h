// What the fake driver knows, and what its functions check.
#pragma once

#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "fake_cuda.h"
#include "ptx_program.h"

namespace fake_cuda {

constexpr uint64_t kShift = uint64_t{1} << 62;
constexpr int kMostThreads = 1024, kRegisters = 65536, kMostShared = 163 << 10;

struct Context {
  int device = 0, retained = 0, lost = 0;
  bool is_callers = false;
};
struct Module;
// What a stream was given while it recorded.
struct Graph {
  Context* context = nullptr;
  bool is_broken = false;  // by a call that cannot be recorded
  std::vector<std::function<int()>> work;
  std::vector<Module*> modules;  // of its kernels
};
struct Stream {
  Context* context = nullptr;
  bool is_callers = false;
  std::deque<std::function<int()>> work;
  std::unique_ptr<Graph> recording;
  bool is_recorded_by_caller = false;
};
struct Memory {
  Context* context = nullptr;
  size_t bytes = 0;
};
struct Module {
  Context* context = nullptr;
  int most_registers = 0;
  std::shared_ptr<const ptx::Module> code;  // of a text of PTX, else null
};
struct Function {
  Module* module = nullptr;
  std::string name;
  const ptx::Entry* entry = nullptr;  // null: a function of the test
  int dynamic_shared = 48 << 10;
};

struct State {
  int version = 12040, devices = 1, capability = 80;
  std::map<std::string, int> calls;
  std::map<std::string, std::map<int, int>> failures;  // by function, then by number of the call
  std::map<std::string, Kernel> kernels;
  std::vector<Launch> launches;
  std::vector<int> limits;
  std::string log, complaints;
  std::vector<std::unique_ptr<Context>> contexts;
  std::map<int, Context*> primary;
  std::set<Stream*> streams;
  std::map<Context*, Stream*> default_streams;
  std::map<char*, Memory> memory, pinned;
  std::set<Module*> modules;
  std::set<Graph*> graphs, executables;
  std::vector<std::unique_ptr<Function>> functions;
};

State& state();

// The contexts that a thread has pushed. A driver keeps them to the very end of the thread, when
// its destructors have run.
class Stack {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  Context* back() const { return contexts_[size_ - 1]; }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void push_back(Context* c) {
    if (size_ == std::size(contexts_)) std::abort();
    contexts_[size_++] = c;
  }

 private:
  Context* contexts_[64] = {};
  size_t size_ = 0;
};
Stack& stack();  // of the calling thread

void complain(const std::string& text);
// Counts the call, and gives its result where the test has chosen one.
int begin(const std::string& function);
// The same for a function that needs a current context: 0, or its result.
int begin_in(const std::string& function, Context** context);
// The stream of a handle; null, with a complaint, where it is none of the context.
Stream* stream_of(const std::string& function, Context* context, void* handle);
// Where it is on the host, inside of a block of the context, or of any where that is null; else
// null.
char* find(std::map<char*, Memory>& memory, Context* context, const void* at, size_t bytes);
char* device_memory(const std::string& function, Context* context, uint64_t address, size_t bytes);
// Work that a stream is given: for later, or for its graph.
void give(Stream* stream, std::function<int()> work);
// Does the work of a stream, until it fails.
int run(Stream* stream);
bool has_work(Context* context);
// Runs an entry of a module now: 0, or the result of the context's next wait.
int run(Context* context, const ptx::Module& module, const ptx::Entry& entry, const Launch& launch,
        const std::vector<char>& arguments);

}  // namespace fake_cuda
