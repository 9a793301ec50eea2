// The vjp of a combine: what its operand receives of the result's cotangent, and the helpers that
// this needs.
#pragma once

#include <vector>

#include "compiler/derive/walk.h"

namespace attn::derive {

// The flows into the body of `d`, Y, whose cotangent at the free indices is `dy`:
//   set, sum    dy
//   logsumexp   dy * exp(f - Y)
//   max, min    dy / ties where f == Y          ties = how many are equal to Y, or 1
//   prod        dy * Y / f where zeros == 0,    zeros = how many are 0
//               dy * nonzero where f == 0 and zeros == 1, nonzero = the product of the others
// Definitions of helpers are appended to g. An argmax passes nothing on. The flows of a prod are
// right, but where f is 0 their derivatives are not; so, if they are to be derived `again`,
//   prod        dy * others                     others = the product over all other places
std::vector<Flow> combine_vjp(ir::Graph& g, const ir::Definition& d, const ir::Expr& dy,
                              bool again = false);

// Gives the operand of every max and min among `targets` a tensor of its own, unless it is a read:
// the comparison with the result needs the very bits that were compared.
void store_operands(ir::Graph& g, const std::set<ir::TensorId>& targets);

// An interior tensor.
ir::Tensor tensor(std::string name, ir::Storage storage, std::vector<ir::Poly> extents, Span where);

// What holds the values of a body as they are; an integer without a type is real.
ir::Storage storage_of(const ir::Expr& body);
ir::Storage storage_of(ir::Type type);

}  // namespace attn::derive
