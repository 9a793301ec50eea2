// A module of PTX, decoded: instructions whose operands are numbers of slots. Each thread has an
// array of slots, 64 bits each: special registers, its registers, then the constants of the text.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx_types.h"

namespace ptx {

struct Thread;
struct Warp;
struct Instruction;
// Whether the thread goes on with the next instruction; else its state says what it waits for.
using Step = bool (*)(Thread&, const Instruction&);
// What the lanes of a warp do together.
using Collective = void (*)(Warp&, const Instruction&);

constexpr uint32_t kNone = ~uint32_t{0};
constexpr int kMostOperands = 16;

struct Instruction {
  Step step = nullptr;
  Collective collective = nullptr;
  uint32_t guard = kNone;
  bool is_negated = false;  // of the guard
  int line = 0;
  uint32_t target = 0;  // of a branch
  // Operands in the order of the text, those of vectors one after the other. An address has the
  // next of the offsets too.
  uint32_t n = 0, at[kMostOperands] = {};
  int n_addresses = 0;
  int64_t offset[2] = {0, 0};
  uint32_t negated = 0;  // operands with `!`, a bit each
  // What the decoder found in the name.
  Type type = Type::none, from = Type::none;
  Rounding rounding = Rounding::nearest;
  bool to_integer = false, is_saturated = false, flag = false;
  bool to_vector = false;  // whether the first operand is one
  uint8_t count = 1, kind = 0;
};

// Slots that each thread has.
enum Special : uint32_t {
  kTid,
  kNtid = 3,
  kCtaid = 6,
  kNctaid = 9,
  kLane = 12,
  kWarp,
  kWarps,
  kSink,
  kFirstRegister
};

// What generic addresses add to those of a space of their own. Shared memory starts at 0: first
// what the text declares, then what the launch asks for.
constexpr uint64_t kSharedWindow = uint64_t{1} << 56, kLocalWindow = uint64_t{2} << 56,
                   kModuleWindow = uint64_t{3} << 56, kParamWindow = uint64_t{4} << 56;

struct Param {
  size_t offset = 0, bytes = 0;
};
struct Entry {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::string> registers;  // their names, from slot kFirstRegister
  std::vector<uint64_t> constants;     // the slots after them
  std::vector<Param> params;
  size_t param_bytes = 0, local_bytes = 0, shared_bytes = 0;
  size_t grain = 4;      // bytes that one access of shared memory has at least, at most 4
  int most_threads = 0;  // 0: as many as the device has

  uint32_t n_slots() const {
    return kFirstRegister + static_cast<uint32_t>(registers.size() + constants.size());
  }
};
struct Module {
  std::map<std::string, Entry> entries;
  std::vector<unsigned char> memory;  // of `.const` and `.global` arrays
  std::vector<std::string> lines;
};

// What is wrong in a text: its line, and why.
struct TextError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
Module parse(const std::string& text);
bool is_ptx(const std::string& text);

// Chooses the step of an instruction that is complete but for that. False: there is no such
// instruction, or it has other operands.
bool decode(const std::string& name, Instruction& instruction);

}  // namespace ptx
