// Which definitions of a graph compute and read a tensor, by their places in its list.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::ir {

class Uses {
 public:
  explicit Uses(const Graph& g);
  // Nothing for inputs and parameters.
  std::optional<size_t> definition(TensorId t) const;
  // Those that read it, in order.
  const std::vector<size_t>& readers(TensorId t) const;

  // What is read at place `n` is no longer read there, or is from now on: a definition is changed,
  // or gone.
  void remove_reads(size_t n, const Definition& d);
  void add_reads(size_t n, const Definition& d);

 private:
  struct OfTensor {
    std::optional<size_t> definition;
    std::vector<size_t> readers;
  };
  std::vector<OfTensor> of_;
};

}  // namespace attn::ir
