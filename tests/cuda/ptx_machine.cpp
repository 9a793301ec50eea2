#include "ptx_machine.h"

#include <algorithm>
#include <cstring>

namespace ptx {
namespace {

constexpr uint16_t kMany = 0xffff, kManyOfWarp = 0x8000;

std::string place(const Block& block, const Thread& t) {
  const auto at = [&](uint32_t first) {
    return "(" + std::to_string(t.at[first]) + ", " + std::to_string(t.at[first + 1]) + ", " +
           std::to_string(t.at[first + 2]) + ")";
  };
  (void)block;
  return "thread " + at(kTid) + " of block " + at(kCtaid);
}

void run(Thread& t) {
  const Instruction* code = t.block->entry->code.data();
  for (;;) {
    const Instruction& in = code[t.pc++];
    if (in.guard != kNone && read<Type::pred>(t, in.guard) == in.is_negated) continue;
    if (!in.step(t, in)) return;
  }
}

// The threads' slots, all in one array.
void start(Block& block, const Shape& shape, const unsigned (&at)[3],
           std::vector<uint64_t>& slots) {
  const Entry& entry = *block.entry;
  const uint32_t n_slots = entry.n_slots();
  slots.assign(block.threads.size() * n_slots, kUnwritten);
  uint32_t id = 0;
  const auto n_warps = static_cast<uint32_t>(block.threads.size() + 31) / 32;
  for (unsigned z = 0; z < shape.threads[2]; ++z)
    for (unsigned y = 0; y < shape.threads[1]; ++y)
      for (unsigned x = 0; x < shape.threads[0]; ++x, ++id) {
        uint64_t* own = &slots[size_t{id} * n_slots];
        const uint64_t special[] = {
            x,       y,       z,      shape.threads[0], shape.threads[1], shape.threads[2],
            at[0],   at[1],   at[2],  shape.blocks[0],  shape.blocks[1],  shape.blocks[2],
            id % 32, id / 32, n_warps};
        std::copy(std::begin(special), std::end(special), own);
        std::copy(entry.constants.begin(), entry.constants.end(),
                  own + n_slots - entry.constants.size());
        Thread& t = block.threads[id];
        t = Thread();
        t.block = &block;
        t.at = own;
        t.id = id;
        t.local.assign(entry.local_bytes, static_cast<char>(0xff));
      }
  std::fill(block.shared.begin(), block.shared.end(), static_cast<char>(0xff));
  std::fill(block.marks.begin(), block.marks.end(), Mark());
  block.now = block.block_start = 1;
  block.warp_start.assign(n_warps, 1);
}

void run_warp(Block& block, uint32_t warp) {
  const size_t end = std::min(block.threads.size(), size_t{warp} * 32 + 32);
  do {
    for (size_t k = size_t{warp} * 32; k < end; ++k)
      if (block.threads[k].waits == Waits::no) run(block.threads[k]);
  } while (run_collective(block, warp));
}

// Threads that ended count as arrived. The lanes of a warp must be at one barrier of the text.
bool pass_barrier(Block& block) {
  bool is_any = false;
  const Thread* of_warp = nullptr;
  for (Thread& t : block.threads) {
    if (t.id % 32 == 0) of_warp = nullptr;
    if (t.waits != Waits::barrier) continue;
    is_any = true;
    if (of_warp == nullptr) of_warp = &t;
    if (of_warp->pc != t.pc)
      fault(t, kLaunchFailed,
            "another lane of its warp is at the barrier of line " +
                std::to_string(block.entry->code[of_warp->pc - 1].line));
  }
  if (!is_any) return false;
  for (Thread& t : block.threads)
    if (t.waits == Waits::barrier) t.waits = Waits::no;
  block.barrier();
  return true;
}

void check_race(Thread& t, const Mark& m, bool is_write, uint64_t address) {
  const Block& block = *t.block;
  const uint32_t warp = t.id / 32, start = block.block_start;
  const auto since = [&](uint32_t other) {
    return other / 32 == warp ? std::max(start, block.warp_start[warp]) : start;
  };
  const auto race = [&](const std::string& did, const std::string& who, int line) {
    fault(t, kLaunchFailed,
          std::string(is_write ? "writes" : "reads") + " shared memory at " +
              std::to_string(address) + ", which " + who + " " + did + " in line " +
              std::to_string(line) + ", without a barrier between them");
  };
  if (m.writer != t.id && m.written >= since(m.writer))
    race("wrote", "thread " + std::to_string(m.writer), m.write_line);
  if (!is_write || m.reader == t.id) return;
  if (m.reader == kMany) {
    if (m.read >= start) race("read", "several threads", m.read_line);
  } else if ((m.reader & kManyOfWarp) != 0) {
    const uint32_t of = m.reader & ~uint32_t{kManyOfWarp};
    if (m.read >= since(of * 32))
      race("read", "threads of warp " + std::to_string(of), m.read_line);
  } else if (m.read >= since(m.reader)) {
    race("read", "thread " + std::to_string(m.reader), m.read_line);
  }
}

void mark_read(const Thread& t, Mark& m, int line) {
  const Block& block = *t.block;
  const uint32_t warp = t.id / 32;
  const bool is_old = m.read < block.block_start;
  const bool is_group = (m.reader & kManyOfWarp) != 0 && m.reader != kMany;
  const uint32_t reader_warp = is_group ? m.reader & ~uint32_t{kManyOfWarp} : m.reader / 32;
  if (is_old || (m.reader != kMany && reader_warp == warp && m.read < block.warp_start[warp]))
    m.reader = static_cast<uint16_t>(t.id);
  else if (m.reader != t.id && m.reader != kMany)
    m.reader = reader_warp == warp ? static_cast<uint16_t>(kManyOfWarp | warp) : kMany;
  m.read = block.now;
  m.read_line = line;
}

char* reach_shared(Thread& t, uint64_t address, size_t bytes, bool is_write) {
  Block& block = *t.block;
  if (address + bytes > block.shared.size() || address + bytes < address)
    fault(t, kIllegalAddress,
          std::to_string(bytes) + " bytes at " + std::to_string(static_cast<int64_t>(address)) +
              " of shared memory, which has " + std::to_string(block.shared.size()));
  const int line = block.entry->code[t.pc - 1].line;
  const size_t grain = block.entry->grain;
  for (size_t k = address / grain; k * grain < address + bytes; ++k) {
    Mark& m = block.marks[k];
    check_race(t, m, is_write, k * grain);
    if (is_write) {
      m.written = block.now;
      m.writer = static_cast<uint16_t>(t.id);
      m.write_line = line;
    } else {
      mark_read(t, m, line);
    }
  }
  return block.shared.data() + address;
}

char* reach_global(Thread& t, uint64_t address, size_t bytes) {
  Block& block = *t.block;
  const std::vector<Region>& all = *block.memory;
  uint32_t& hint = block.hints[t.pc - 1];
  if (hint < all.size() && address - all[hint].address < all[hint].bytes &&
      address - all[hint].address + bytes <= all[hint].bytes)
    return all[hint].host + (address - all[hint].address);
  const auto above = std::upper_bound(all.begin(), all.end(), address,
                                      [](uint64_t a, const Region& r) { return a < r.address; });
  const Region* r = above == all.begin() ? nullptr : &*(above - 1);
  if (r != nullptr && address - r->address + bytes <= r->bytes) {
    hint = static_cast<uint32_t>(r - all.data());
    return r->host + (address - r->address);
  }
  std::string nearest;
  if (r != nullptr)
    nearest = ": byte " + std::to_string(address - r->address) + " of a block of " +
              std::to_string(r->bytes) + " bytes";
  fault(t, kIllegalAddress,
        std::to_string(bytes) + " bytes at " + hexadecimal(address) +
            " are not live memory of the device" + nearest);
}

template <class Bytes>
char* inside(const Thread& t, Bytes& memory, uint64_t at, size_t bytes, const char* space) {
  if (at + bytes > memory.size() || at + bytes < at)
    fault(t, kIllegalAddress,
          std::to_string(bytes) + " bytes at " + std::to_string(at) + " of " + space +
              " memory, which has " + std::to_string(memory.size()));
  return const_cast<char*>(reinterpret_cast<const char*>(memory.data())) + at;
}

}  // namespace

std::string hexadecimal(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void fault(const Thread& t, int code, const std::string& what) {
  const Block& block = *t.block;
  const int line = block.entry->code[t.pc - 1].line;
  std::string text = block.module->lines[static_cast<size_t>(line) - 1];
  text.erase(0, text.find_first_not_of(" \t"));
  std::replace(text.begin(), text.end(), '\t', ' ');
  throw Fault(code, block.entry->name + ", line " + std::to_string(line) + ", `" + text +
                        "`: " + place(block, t) + ": " + what);
}

void fault_unwritten(const Thread& t, uint32_t slot) {
  fault(t, kLaunchFailed, t.block->entry->registers[slot - kFirstRegister] + " was never written");
}

char* reach(Thread& t, Space space, uint64_t address, size_t bytes, bool is_write) {
  if (address % bytes != 0)
    fault(t, kMisaligned,
          std::to_string(bytes) + " bytes at " + hexadecimal(address) + " are misaligned");
  const uint64_t window = address >> 56;
  if (space == Space::generic && window != 0 && window < 5) {
    constexpr Space kSpaces[] = {Space::global, Space::shared, Space::local, Space::constant,
                                 Space::param};
    space = kSpaces[window];
    if (space != Space::constant) address -= window << 56;
  }
  // Arrays of the module have addresses like other global memory.
  if (space == Space::constant || (window == kModuleWindow >> 56 && space == Space::global)) {
    if (is_write && space == Space::constant) fault(t, kIllegalAddress, "a write to constants");
    return inside(t, t.block->module->memory, address - kModuleWindow, bytes, "constant");
  }
  if (space == Space::shared) return reach_shared(t, address, bytes, is_write);
  if (space == Space::local) return inside(t, t.local, address, bytes, "local");
  if (space == Space::param) return inside(t, *t.block->arguments, address, bytes, "parameter");
  return reach_global(t, address, bytes);
}

void run(const Module& module, const Entry& entry, const Shape& shape,
         const std::vector<char>& arguments, const std::vector<Region>& memory) {
  Block block;
  block.module = &module;
  block.entry = &entry;
  block.arguments = &arguments;
  block.memory = &memory;
  block.hints.resize(entry.code.size());
  block.shared.resize(entry.shared_bytes + shape.shared_bytes);
  block.marks.resize(block.shared.size() / entry.grain + 1);
  block.threads.resize(size_t{shape.threads[0]} * shape.threads[1] * shape.threads[2]);
  std::vector<uint64_t> slots;
  unsigned at[3];
  for (at[2] = 0; at[2] < shape.blocks[2]; ++at[2])
    for (at[1] = 0; at[1] < shape.blocks[1]; ++at[1])
      for (at[0] = 0; at[0] < shape.blocks[0]; ++at[0]) {
        start(block, shape, at, slots);
        do {
          for (uint32_t warp = 0; warp < block.warp_start.size(); ++warp) run_warp(block, warp);
        } while (pass_barrier(block));
      }
}

}  // namespace ptx
