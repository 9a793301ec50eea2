// Runs entries of a module. Threads of a block run one after the other until each waits at a
// barrier, for its warp, or ends. What a GPU would do wrong silently is a fault: data races in
// shared memory, registers that were not written, lanes that wait for others in vain.
#pragma once

#include <deque>

#include "ptx_program.h"

namespace ptx {

// Memory of the device: its address there, and where it is.
struct Region {
  uint64_t address = 0, bytes = 0;
  char* host = nullptr;
};
struct Shape {
  unsigned blocks[3], threads[3], shared_bytes;
};
// What the driver's next wait returns, and a text: entry, line, thread, and what is wrong.
struct Fault : std::runtime_error {
  Fault(int c, const std::string& text) : runtime_error(text), code(c) {}
  int code;
};
constexpr int kIllegalAddress = 700, kMisaligned = 716, kLaunchFailed = 719;

// `arguments`: by the entry's params, at their offsets. Throws Fault.
void run(const Module& module, const Entry& entry, const Shape& shape,
         const std::vector<char>& arguments, const std::vector<Region>& memory);

// ---- for the instructions

// No instruction computes it: the content of a slot that was not written.
constexpr uint64_t kUnwritten = 0x5ca1ab1e0ddba115;

struct Block;
enum class Waits : uint8_t { no, barrier, warp, ended };

struct Copy {
  uint64_t to = 0, from = 0;
  size_t bytes = 0, given = 0;  // the rest is zero
};
struct Thread {
  Block* block = nullptr;
  uint64_t* at = nullptr;
  uint32_t pc = 0, id = 0;
  Waits waits = Waits::no;
  bool carry = false;
  std::vector<char> local;
  std::vector<Copy> begun;  // copies of no group yet
  std::deque<std::vector<Copy>> groups;
};
struct Warp {
  std::vector<Thread*> lanes;  // 32; null where the block has no such thread
  uint32_t members = 0;        // lanes that execute the instruction
};

// Who last wrote and read a piece of shared memory, and when: numbers of barriers.
struct Mark {
  uint32_t written = 0, read = 0;
  uint16_t writer = 0, reader = 0;  // reader: kMany, or kManyOfWarp + the warp
  int write_line = 0, read_line = 0;
};

struct Block {
  const Module* module = nullptr;
  const Entry* entry = nullptr;
  const std::vector<char>* arguments = nullptr;
  const std::vector<Region>* memory = nullptr;
  std::vector<uint32_t> hints;  // by instruction, which memory it last found
  std::vector<char> shared;
  std::vector<Mark> marks;
  uint32_t now = 1, block_start = 1;
  std::vector<uint32_t> warp_start;
  std::vector<Thread> threads;

  void barrier() { block_start = ++now; }
  void barrier(uint32_t warp) { warp_start[warp] = ++now; }
};

[[noreturn]] void fault(const Thread& t, int code, const std::string& what);
[[noreturn]] void fault_unwritten(const Thread& t, uint32_t slot);
std::string hexadecimal(uint64_t value);

template <Type kType>
typename Tag<kType>::Value read(const Thread& t, uint32_t slot) {
  const uint64_t bits = t.at[slot];
  if (bits == kUnwritten) [[unlikely]]
    fault_unwritten(t, slot);
  return Tag<kType>::load(bits);
}
template <Type kType>
void write(Thread& t, uint32_t slot, typename Tag<kType>::Value value) {
  t.at[slot] = Tag<kType>::store(value);
}

enum class Space : uint8_t { global, shared, local, param, constant, generic };
// Where this memory is; a fault where it is not, is misaligned, or is raced for.
char* reach(Thread& t, Space space, uint64_t address, size_t bytes, bool is_write);

// What lanes of a warp that wait execute; whether one of them goes on.
bool run_collective(Block& block, uint32_t warp);

// Steps by name, without types and modifiers. They return null where there is none.
struct Name {
  std::vector<std::string> words;  // that were not taken yet
  std::vector<Type> types;
  bool take(const std::string& word);
};
Step arithmetic(const std::string& name, Name& rest, Instruction& in);
Step bits(const std::string& name, Name& rest, Instruction& in);
Step comparison(const std::string& name, Name& rest, Instruction& in);
Step conversion(const std::string& name, Name& rest, Instruction& in);
Step movement(const std::string& name, Name& rest, Instruction& in);
Step collective(const std::string& name, Name& rest, Instruction& in);

// The step of the row whose type the instruction has: `make<type>()`.
template <auto kFunction, Type... kTypes>
Step unary(const Instruction& in) {
  Step step = nullptr;
  ((in.type == kTypes ? void(step =
                                 [](Thread& t, const Instruction& i) {
                                   write<kTypes>(t, i.at[0], kFunction(read<kTypes>(t, i.at[1])));
                                   return true;
                                 })
                      : void()),
   ...);
  return in.n == 2 ? step : nullptr;
}
template <auto kFunction, Type... kTypes>
Step binary(const Instruction& in) {
  Step step = nullptr;
  ((in.type == kTypes
        ? void(step =
                   [](Thread& t, const Instruction& i) {
                     write<kTypes>(t, i.at[0],
                                   kFunction(read<kTypes>(t, i.at[1]), read<kTypes>(t, i.at[2])));
                     return true;
                   })
        : void()),
   ...);
  return in.n == 3 ? step : nullptr;
}
template <auto kFunction, Type... kTypes>
Step ternary(const Instruction& in) {
  Step step = nullptr;
  ((in.type == kTypes ? void(step =
                                 [](Thread& t, const Instruction& i) {
                                   write<kTypes>(
                                       t, i.at[0],
                                       kFunction(read<kTypes>(t, i.at[1]), read<kTypes>(t, i.at[2]),
                                                 read<kTypes>(t, i.at[3])));
                                   return true;
                                 })
                      : void()),
   ...);
  return in.n == 4 ? step : nullptr;
}

}  // namespace ptx
