// What the statements of random programs can read at some indices.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/index_maps.h"

namespace attn::testing {

// An index of a statement and what it runs over, as a text of the language: "T", "N * M".
struct Axis {
  std::string index, extent;
};
using Axes = std::vector<Axis>;

// A tensor that statements may read.
struct Pooled {
  std::string name;
  std::vector<std::string> extents;
  double bound = 1;     // the largest absolute value that is reckoned with
  bool given = false;   // an input or a parameter: values in +-[0.2, 1] that differ
  int step = -1;        // of a tensor of the scan that is being written: the dimension of the step
  bool before = false;  // such a tensor read one step back
};

// A text and the largest absolute value that it is reckoned to have.
struct Value {
  std::string text;
  double bound;
};

class Reads : protected Draws {
 protected:
  explicit Reads(uint64_t seed) : Draws(seed) {}

  // A new index of the statement that is being written.
  Axis axis(const std::string& extent);
  void begin_statement() { alone_.clear(), elsewhere_.clear(), next_index_ = 0; }
  // The index where it is bound: its range is left out only where a subscript gives it.
  std::string bound(const Axis& a);
  const Axis* one_of(const Axes& axes, const std::string& extent);
  // The index stands alone as a subscript, which says what it runs over.
  void stands_alone(const Axis& a) { alone_.insert(a.index); }
  // Declares an input or parameter where it is first used.
  void declare_input(const std::string& name, const std::string& type);

  // Something read, or a number.
  Value leaf(const Axes& axes);
  // A given value as it is: what has a kink is applied to such values only.
  std::string raw(const Axes& axes);
  // The tensor at the axes, or nothing where a dimension finds no index. `plain`: by indices alone.
  std::optional<std::string> read(const Pooled& tensor, const Axes& axes, bool plain);
  // A read one or two places further, or something else where that is outside.
  Value shifted(const Axes& axes);
  // A read at indices of other sizes, the same in several dimensions, where they are inside.
  Value guarded(const Axes& axes);
  Value scaled(Value v);
  bool is_present(const std::string& extent) const;

  KnownSizes known_;
  std::set<std::string> present_;  // sizes that are at least 1, though not known
  std::vector<Pooled> pool_;
  std::map<std::string, std::string> inputs_;  // types by name
  std::set<std::string> carried_;              // tensors of the scan that were read one step back
  std::string back_;                           // `t - 1` or `t + 1`

 private:
  // A subscript and the condition that keeps it inside, or "" where nothing is needed.
  struct Guarded {
    std::string text, condition;
  };

  std::optional<std::string> subscript(const std::string& extent, const Axes& axes, bool plain);
  std::optional<std::string> computed(const std::string& extent, const Axes& axes);
  std::optional<std::string> clamped(const std::string& extent, const Axes& axes);
  std::optional<std::string> mapped(const std::string& extent, const Axes& axes);
  Guarded guarded_subscript(const std::string& extent, const Axis& a);
  Value number(const Axes& axes);
  std::string integer(const Axes& axes);

  std::set<std::string> alone_;      // indices that stand alone as a subscript
  std::set<std::string> elsewhere_;  // those that do so also in dimensions of other sizes
  size_t next_index_ = 0;
};

}  // namespace attn::testing
