// Expressions of random programs: what can be read at some indices, and what can be made of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

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

class Expressions {
 protected:
  explicit Expressions(uint64_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }

  // A new index of the statement that is being written.
  Axis axis(const std::string& extent);
  void begin_statement() { alone_.clear(), next_index_ = 0; }
  // The index where it is bound: its range is left out only where a subscript gives it.
  std::string bound(const Axis& a);

  Value expression(const Axes& axes, int depth);
  // Something read, or a number.
  Value leaf(const Axes& axes);
  // A condition on at least one of the axes, where there are such.
  std::string condition(const Axes& axes);
  // "" or " where c".
  std::string guard(const Axes& axes, int percent);
  // A given value as it is: what has a kink is applied to such values only.
  std::string raw(const Axes& axes);
  // The tensor at the axes, or nothing where a dimension finds no index. `plain`: by indices alone.
  std::optional<std::string> read(const Pooled& tensor, const Axes& axes, bool plain);
  Value scaled(Value v);
  // Declares an input or parameter where it is first used.
  void declare_input(const std::string& name, const std::string& type);
  const Axis* one_of(const Axes& axes, const std::string& extent);

  std::map<std::string, int64_t> known_;  // sizes that are compiled in
  std::vector<Pooled> pool_;
  std::map<std::string, std::string> inputs_;  // types by name
  std::set<std::string> carried_;              // tensors of the scan that were read one step back
  std::string back_;                           // `t - 1` or `t + 1`

 private:
  std::optional<std::string> subscript(const std::string& extent, const Axes& axes, bool plain);
  std::optional<std::string> computed(const std::string& extent, const Axes& axes);
  Value smooth(const Value& x);
  Value kinked(const Axes& axes);
  Value kinked_pair(const Axes& axes, const std::string& a);
  Value shifted(const Axes& axes);
  Value reduced(const Axes& axes, int depth);
  Value number(const Axes& axes);
  std::string comparison(const Axes& axes);

  std::mt19937_64 random_;
  std::set<std::string> alone_;  // indices that stand alone as a subscript
  size_t next_index_ = 0;
};

}  // namespace attn::testing
