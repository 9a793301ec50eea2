// The machines that kernels are compiled for, one row each, and what plans and schedules weigh on
// an architecture. Names on the command line, in messages and in symbols come from here.
#pragma once

#include <attn/program.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::target {

// `gpu`: blocks of threads, which share a small memory.
enum class Arch : uint8_t { x86_64, gpu };

// An instruction set of an architecture. What is tuned for one stands in lower's tuning.cpp.
enum class Level : uint8_t { x86_64_v2, x86_64_v3, x86_64_v4, opencl, cuda_sm80 };

// What a processor must have, by attn_cpu_word.
using Features = std::array<uint32_t, ATTN_CPU_WORDS>;

struct Target {
  std::string_view name;  // "x86-64-v3"
  std::string_view tail;  // of a kernel's symbol: "_v3"
  Arch arch;
  Level level;
  attn_device_type device = ATTN_CPU;  // in whose memory its kernels work
  int32_t capability = 0;              // of a CUDA device, as in attn_target
  Features features = {};              // of a processor
  int vector_bytes = 0;                // of one vector register
  int registers = 0;                   // vector registers
  int l1_bytes = 0;                    // data, per core
  int l2_bytes = 0;                    // per core; the least that is common
  // The machine in the words of the code generator: architecture, bits, system, features.
  std::string_view machine;
};

// All rows, those of a device together. What runs one of a device's runs those before it.
std::span<const Target> targets();
std::vector<std::string> names();
std::vector<std::string> names_for(attn_device_type device);
// "cpu", "cuda": a device on the command line, and all targets of it. Null: of no target.
const char* device_name(attn_device_type device);
// Nothing where no device is called so.
std::optional<attn_device_type> device_called(std::string_view name);
// The row of this name, or null.
const Target* find(std::string_view name);
// The row of a name that is known to be there; throws InternalError.
const Target& named(std::string_view name);

// What claims and schedules weigh, one record an architecture. "Unit" says that a number defines
// what others count in, "capacity" that it follows from a size of memory, "compile time" that it
// bounds the work of the compiler; the rest says what was measured, or that nothing was.
struct Costs {
  // A running sum of so many terms or more adds one to each result from the one before it, else
  // each result is summed on its own. Unit: the terms of a result.
  double least_running = 4;

  // Contractions. Fewer multiplications than least_reduced a result, or results than least_side a
  // packed row, do not pay for packing. 1024 x 1024 results of 2 terms took 0.34 ms packed and
  // 11.5 ms by rows, of 3 terms 0.34 and 19.4 ms. least_side is a capacity: the least register
  // tile has four rows.
  double least_reduced = 2, least_side = 4;
  // At most so many results of so many terms each are read as they lie. Capacity: 16 sums fill the
  // registers.
  double most_mixed = 16;
  // A sum along memory of so many products or more is taken along it, fewer in columns. Measured,
  // of the weights of convolutions of each channel alone: 28 products 0.6 to 0.8 times as fast
  // along memory, 56 1.1 to 1.7, 112 2.8 to 4.7.
  double least_line = 48;
  // Points of a pool that loops reduce as fast as memory is read. Measured, GB/s: 2 x 2 30.8, 4 x 4
  // 25.5, 16 in a row 18.8, 8 x 8 13.9; a map 30.0.
  double most_pooled = 16;

  // Maps. One of at most cheap_map operations is computed again by each reader. Unit: the latency
  // of a load from the first-level cache, four or five cycles.
  int64_t cheap_map = 4;
  // An epilogue of so many operations is latency-bound: the register tile issues its loads one
  // after the other. Not measured apart.
  int64_t expensive_epilogue = 16;
  // A map of fewer operations is computed again where a product of backward packs it, not saved.
  // gelu took 4 to 6 % of the training step of a language model (d256, 4 layers, 8 x 256) there.
  int64_t least_saved = 16;

  // Rows. Compile time: definitions in one kernel, and reductions that a map tries to join.
  size_t most_definitions = 24, row_seeds = 8;
  // The last of several columns has at least so many elements, or every load is a gather.
  // Capacity: four floats are the shortest vector.
  int64_t least_run = 4;

  // Tiles. So many rows or more share the columns that are packed for them. Not measured apart.
  int64_t least_rows = 32;
  // Terms of a sum that is stored, where what it reads is, rather than computed at each point of
  // tiles. Weights of 512 x 512 positions in two texts, mixed from 2, 3 and 4 heads and multiplied
  // with values of 64 features: 2.2, 4.3 and 7.4 ms in tiles; 1.6, 2.6 and 3.5 ms stored (AVX-512).
  double least_point_terms = 2;

  // A plain loop over so many points is reported as slow. Unit: some 10 ms of scalar code.
  double slow_points = 1 << 24;

  // Storage. A tensor is reported as stored where it has more than most_times the elements of all
  // that it is made of and of each input and output, and at least least_stored. A size that is not
  // known counts as large. Hidden layers and gates have up to 8 times the features of what they
  // read. Capacity: 16 MB, the share of a last-level cache.
  double most_times = 8, least_stored = 1 << 22;

  // Recurrences. What reads a step of at least so many elements is computed with it, so that the
  // steps need not be kept. 512 steps of 1024 and of 4096 elements took 158 and 297 us with what
  // read them, 110 and 525 us where all were kept.
  double least_rolled = 1 << 12;
  // Terms that a step adds to each element of a sum over steps that has more elements than the
  // step. Perceiver, whose two steps have 512 terms each, trains in 1.00 times the time that it
  // takes where its sums are taken at the end.
  double least_summed = 512;

  // Terms of a block of a sum, at least; 0: there are no blocks. Layers of experts took 1.00
  // (Switch, blocks of 768) and 1.01 (Mixtral, of 896) of the time that they take without blocks.
  int64_t least_block = 768;

  // Schedules. Points that a task of a parallel loop has at least. Unit: some 5 us, an exponential
  // in vectors taking 0.3 ns.
  int task_points = 1 << 14;
  // Blocks of rows, beyond which they grow: their column sums are added one after the other.
  int most_row_blocks = 64;
  // Tasks of a kernel of tiles, at least; chunks of columns are dealt out to reach them. Unit:
  // the cores of a small machine.
  int tile_tasks = 8;
  // Floats that all parts of a result take at most. Capacity: 16 MB, the share of a last-level
  // cache.
  int part_floats = 1 << 22;
  // A long reduction is cut into parts of at least least_split values, most_splits at most, where
  // at most split_area results keep a part. Not measured apart.
  int least_split = 2048, most_splits = 32, split_area = 1 << 20;
  // Rows of a contraction whose right factor is read once and never packed. Capacity: the least
  // register tile has four rows.
  int direct_rows = 4;
  // Rows of a contraction whose right factor is multiplied where it lies, and terms that its sums
  // have at least. 16, 64 and 128 rows of 384 x 384 took 0.6, 0.6 and 0.75 of the time with packing
  // (AVX2); from 128 rows on, sums of 2048 terms took 1.1 of it. Of fewer terms a third goes into
  // adding lanes; not measured apart.
  int rows_in_place = 128, least_in_place = 128;
  // Rows that share the packed columns of a contraction. Panels of a block of columns, packed
  // where they are used, stay in cache; of more rows they are packed again. 128 and 256 rows of
  // 768 x 2304 and 768 x 3072 took 0.87 of the time that they take where all columns are packed
  // first, 4096 rows of 768 x 2304 0.95, of 3072 x 768 1.0 and of 768 x 768 1.05 (AVX2).
  int rows_together = 1536;
};

const Costs& costs(Arch arch);

// The target that other compilers call by that name; empty where there is none.
std::string_view also_known(std::string_view name);
// Whether it is a name for processors that no target is of.
bool is_foreign(std::string_view name);

}  // namespace attn::target
