// A block of threads copies what it multiplies to shared memory, meets, multiplies, and meets
// again. A loop over such rounds, in phases: copies, and the work until the next copies.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/lower/terms/halide.h"

namespace attn::lower {

// Bytes of shared memory, the last one included.
struct SharedRange {
  int64_t first = 0, last = -1;

  bool is_empty() const { return last < first; }
  bool holds(const SharedRange& r) const { return first <= r.first && r.last <= last; }
  bool meets(const SharedRange& r) const {
    return !is_empty() && !r.is_empty() && first <= r.last && r.first <= last;
  }
  void add(const SharedRange& r) {
    *this = is_empty() ? r : SharedRange{std::min(first, r.first), std::max(last, r.last)};
  }
};

// Whether it is an instruction that copies to shared memory: its first argument is an element
// there.
bool begins_copy(const Halide::Internal::Call& call);

// Where a block's code keeps what: names of what each thread has alone, and of what all share.
struct BlockMemory {
  std::set<std::string> own;
  std::string shared;
};

// One part of a loop's body. A let is for all that come after it.
struct BlockItem {
  enum Kind { let, meeting, copy, work } kind;
  std::string name;  // of the let, or of the Func that is copied
  Expr value;        // of the let
  Halide::Internal::Stmt stmt;
  std::vector<SharedRange> loads, stores;

  // Memory that this work stores to: what it loads of it is its own.
  SharedRange own() const {
    SharedRange all;
    if (kind == work)
      for (const SharedRange& r : stores) all.add(r);
    return all;
  }
};

// The memory of one Func that is copied.
struct CopiedRegion {
  SharedRange at;
  size_t last_use = 0;  // a phase

  // Bytes, to the alignment of pieces.
  int64_t bytes() const { return (at.last - at.first) / 16 * 16 + 16; }
};

struct BlockPhase {
  std::vector<BlockItem> copies, works;
  std::map<std::string, CopiedRegion> regions;
};

using Bounds = Halide::Internal::Scope<Halide::Internal::Interval>;

// Binds a name to the bounds of a value while it lives.
class BoundName {
 public:
  BoundName(Bounds& bounds, const std::string& name, const Expr& value);
  BoundName(Bounds& bounds, const Halide::Internal::For& loop);
  BoundName(const BoundName&) = delete;
  BoundName& operator=(const BoundName&) = delete;
  ~BoundName() { bounds_.pop(name_); }

 private:
  Bounds& bounds_;
  const std::string name_;
};

// Whether a value is computed of memory that the block changes.
bool reads_block_memory(const Expr& value, const BlockMemory& memory, const Bounds& bounds);

// The body in order; lets are added to `bounds`. Empty if it is not understood.
std::vector<BlockItem> items_of(const Halide::Internal::Stmt& body, const BlockMemory& memory,
                                Bounds& bounds);

// The phases; empty if there are none, or if it is not clear what reads which copy.
std::vector<BlockPhase> phases_of(const std::vector<BlockItem>& items);

}  // namespace attn::lower
