// The walks over one body: down, what each read of it receives of the result's cotangent; up, how
// the result changes with its reads.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace attn::derive {

// `value` where all of `path` holds, else nothing.
struct Flow {
  ir::Conditions path;
  ir::Expr value;
};

struct ReadContribution {
  ir::Expr read;
  Flow flow;
};

using Wanted = std::function<bool(ir::TensorId)>;

// The vjp of a body: what every wanted real read receives when the whole body receives `flows`.
// Equal reads under equal conditions are added at once; a condition never becomes a factor 0 or 1.
std::vector<ReadContribution> body_vjp(const ir::Expr& body, const std::vector<Flow>& flows,
                                       const Wanted& wanted);

// How the body changes when each real read changes by `of(read)`, which gives 0 for what does not.
ir::Expr tangent(const ir::Expr& body, const std::function<ir::Expr(const ir::Expr&)>& of);

// A wanted read that the derivative does not reach, as it stands in a condition, in a subscript, or
// below an operation that is flat everywhere; the name of what stops it, or "".
std::string_view stopped_by(const ir::Expr& body, const Wanted& wanted);

}  // namespace attn::derive
