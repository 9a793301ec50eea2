// The values of a program (attn/program.h): sizes, what is computed from them, steps of loops.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::emit {

// Those of a model. Its functions share them: they know sizes by name.
class Values {
 public:
  explicit Values(const ir::Graph& forward);

  int count() const { return static_cast<int>(names_.size()); }
  int operations_count() const { return static_cast<int>(operations_.size()); }
  // The C functions of attn_program; empty where there is nothing to compute.
  std::string write(const std::string& name) const;
  std::string write_operations(const std::string& name) const;

 private:
  friend class GraphValues;
  int intern(const std::string& expression);

  std::vector<std::string> names_;  // of sizes; empty for what is computed, and steps
  std::map<std::string, int> known_, known_operations_;
  std::vector<std::string> assignments_, operations_;
};

// The same by the sizes of one graph.
class GraphValues {
 public:
  GraphValues(Values& all, const ir::Graph& g) : all_(all), g_(g) {}

  int of(ir::SizeId size);
  int new_step(ir::SizeId step);
  // The place of a value.
  int index(const ir::Poly& p);
  // An entry of a table: a number or V(k). An extent that would be negative is 0.
  std::string entry(const ir::Poly& p);
  std::string extent(const ir::Poly& p);
  // The place of a count of operations.
  int operations(const ir::Poly& p);

 private:
  std::string expression(const ir::Poly& p);
  std::string variable(ir::SizeId size);

  Values& all_;
  const ir::Graph& g_;
  std::map<ir::SizeId, int> known_;
};

}  // namespace attn::emit
