// The tables of one function of a program.
#pragma once

#include "compiler/emit/model.h"
#include "compiler/emit/values.h"

namespace attn::emit {

// What the functions of a program share.
struct Shared {
  explicit Shared(const ir::Graph& forward) : values(forward) {}
  // The place of a tensor's shape, planes included.
  int shape(GraphValues& own, const ir::Tensor& t);

  Values values;
  std::vector<std::string> shapes;
  std::map<std::string, int> known_shapes;
};

// The members of the attn_function of `f`.
std::vector<std::string> function_members(const plan::Plan& plan, const plan::Function& f,
                                          const Interface& i, const Symbols& symbols,
                                          Shared& shared);

}  // namespace attn::emit
