// One definition as flat code: for every loop the instructions that run on each of its iterations.
// Registers are doubles; integers and truth values are exact in them.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/operation.h"

namespace attn::evaluate {

enum class Code : uint8_t {
  locate,   // offset of access a from the counters of the loops before the last that it needs
  load,     // element of access a at its offset and the counter of loop b
  load_at,  // element of access a at its subscripts, which are checked
  copy,     // r[target] = r[a]
  add,      // r[target] = r[a] + r[b], and so on
  multiply,
  reciprocal,
  square,
  square_root,
  power,
  call,      // operation of call a
  quotient,  // floor(r[a] / r[b]), 0 where r[b] is 0
  remainder,
  at_least_zero,
  is_zero,
  not_zero,
  less,
  at_most,
  equal,
  negation,
  jump,           // to a
  jump_if_false,  // to b if r[a] is 0
  jump_if_true,   // to b if r[a] is not 0
  require,        // leaves the iteration if r[a] is 0
};

struct Instruction {
  Code code;
  int32_t target = 0, a = 0, b = 0;
};

// A read of a tensor.
struct Access {
  ir::TensorId tensor;
  const double* data = nullptr;
  // Affine and in range whatever the counters: base + sum of stride * counter of each loop.
  int64_t base = 0;
  std::vector<int64_t> strides;  // by loop
  int64_t offset = 0;            // all but the last loop, set by `locate`
  // Else: the subscripts as registers.
  struct Subscript {
    int32_t value;
    int64_t extent, stride;
  };
  std::vector<Subscript> subscripts;
  bool from_data = false;  // out of range is the caller's mistake
  bool strict = false;     // all conditions hold here; else an element out of range reads as NaN
};

struct Call {
  const ir::Operation* operation;
  std::vector<int32_t> args;
};

// Loop 0 stands for what runs once; loops 1 .. run over indices, free ones before reduced ones.
struct Program {
  struct Loop {
    int64_t extent = 1;
    int32_t index = -1;  // register that holds the counter
    std::vector<Instruction> code;
  };
  std::vector<Loop> loops;
  int free_loops = 0;
  std::vector<Access> accesses;
  std::vector<Call> calls;
  std::vector<double> registers;  // with constants filled in
  int32_t result = 0;
  // The element of the target: offset = sum of stride * r[value]. A position is checked.
  struct Place {
    int32_t value;
    int64_t stride, extent;
  };
  std::vector<Place> place;
  int step_loop = 0;  // of a recurrence: the loop over its steps
  // A sum whose place depends on a reduced index (`v == token[b,i]`): elements are added to as the
  // loops come by, instead of being finished one after the other.
  bool scattered = false;
};

struct Storage {
  std::vector<int64_t> extents;
  const double* data = nullptr;
};

// `tensors` holds what the definition reads, by id; `sizes` are complete. `step` is the index of a
// recurrence by which it steps, invalid for none.
Program compile(const ir::Graph& g, const ir::Definition& d, const std::vector<int64_t>& sizes,
                const std::vector<Storage>& tensors, ir::IndexId step = {});

// Writes every element of the target, which has prod(extents) elements.
void run(const ir::Graph& g, const ir::Definition& d, Program& program, std::vector<double>& out);
// Those of one step; before the first, `out` is to be what `clear` makes it.
void clear(const ir::Graph& g, const ir::Definition& d, std::vector<double>& out);
void run_step(const ir::Graph& g, const ir::Definition& d, Program& program,
              std::vector<double>& out, int64_t step);

}  // namespace attn::evaluate
