// What a caller sees of a derivative: tensors beside those of the model, under names made from
// theirs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/derive/derive.h"

namespace attn::derive {

// A tensor `prefix + NAME` for every real output, or for everything that is given, real and chosen.
struct Companion {
  char prefix;
  bool of_outputs;
  std::string_view what;  // "gradient"
};
inline constexpr Companion kGradient{'d', false, "gradient"}, kCotangent{'d', true, "cotangent"},
    kTangent{'t', false, "tangent"}, kOutputTangent{'t', true, "tangent"},
    kProduct{'h', false, "Hessian product"};

bool is_given(const ir::Tensor& t);  // an input or a parameter
bool is_real(const ir::Tensor& t);

// Records an error where the model keeps a state, and for each companion whose name a visible tensor
// of the model has; true if any.
bool cannot_derive(const ir::Graph& g, std::span<const Companion> companions, const Names& by,
                 Diagnostics& diagnostics);

// Interior tensors give way to the names that the caller will see.
void make_room(ir::Graph& g, std::span<const Companion> companions, const Names& by);

// A companion of the tensor `of`, which the caller knows as `name`, in a type that arithmetic has.
ir::TensorId companion(ir::Graph& g, const Companion& c, ir::TensorId of, const std::string& name,
                       ir::Role role);

// Records an error where `value`, part of a derivative of `d`, is infinite everywhere.
void refuse_infinite(const ir::Graph& g, const ir::Expr& value, const ir::Definition& d,
                     Diagnostics& diagnostics);

// A derivative has a few times the operations of its function. Beyond that it is a sign of a body
// that should be cut into definitions.
class Growth {
 public:
  Growth(const ir::Graph& forward, std::string what);
  // Counts what was appended to g since the last call. LimitError, naming the tensor.
  void limit(const ir::Graph& g, ir::TensorId at);

 private:
  std::string what_;
  uint64_t forward_parts_, parts_ = 0;
  size_t counted_;  // definitions
};

}  // namespace attn::derive
