// One corruption of a plan for each promise that the verifier of plans checks.
#pragma once

#include <ostream>
#include <stdexcept>
#include <variant>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::testing {

struct Promise {
  const char* message;  // what the verifier says
  const char* model;    // a program, of whose update the plan is where it has one
  void (*corrupt)(plan::Plan&);
};
inline void PrintTo(const Promise& p, std::ostream* out) { *out << p.message; }

// Of loops, rows and contractions, of tiles (verify.cpp), and of functions and plans
// (verify_function.cpp, verify_memory.cpp).
std::vector<Promise> kernel_promises();
std::vector<Promise> tile_promises();
std::vector<Promise> function_promises();

// Forward: a contraction h, which is saved, then loops y. Backward reads both: a row kernel of dh,
// which is in the workspace, and dc, then two contractions.
inline constexpr const char* kGate = R"(
size B, T, D, E
train model gate(x: [B, T, D]) -> y {
  param w: [E, D], c: [E]
  h[b,i,e] = (sum[d] x[b,i,d] * w[e,d]) + c[e]
  y[b,i,e] = h[b,i,e] * sigmoid(h[b,i,e])
}
)";

// Forward: a row kernel of m, a log-sum-exp that is not in memory, and y. Backward: a row kernel
// that ends in a sum of columns, dc.
inline constexpr const char* kNorm = R"(
size T, D
train model norm(x: [T, D]) -> y, m {
  param c: [D]
  m[i] = mean[d] x[i,d]
  p[i,d] = softmax[d] (x[i,d] * c[d])
  y[i,d] = p[i,d] - m[i]
}
)";

// Forward: three kernels of what bounds the columns, then a streaming one. Backward: the same
// bounds, then two kernels of tiles: a tile p and the sums dp.lse over its columns and dv over its
// rows; a tile dp, which a second tile reads, and the sums dq and dk.
inline constexpr const char* kAttend = R"(
size T, E
train model attend(q: [T, E], k: [T, E], v: [T, E], doc: int[T]) -> z {
  s[i,j] = sum[e] q[i,e] * k[j,e]
  p[i,j] = softmax[j where doc[j] == doc[i]] (s[i,j])
  z[i,e] = sum[j] p[i,j] * v[j,e]
}
)";

// Loops of y, which reads the state as it was; then loops of what it becomes, and loops of z.
inline constexpr const char* kState = R"(
size B in 1.., T in 1.., S
model remember(x: [B, T], at: int[B]) -> y, z {
  state past: [B, S], total: [B]
  y[b,s] = 2 * past[b,s]
  past'[b, at[b] + t] = x[b,t]
  total'[b] = total[b] + x[b,0]
  z[b,s] = past'[b,s] + 1
}
)";

// Forward: a contraction with groups of rows. Backward: one more, of dx, and one with groups of
// terms, of dw.
inline constexpr const char* kPicked = R"(
size T, D, F, X
train model picked(x: [T, D], expert: int[T]) -> y {
  param w: [X, F, D]
  y[t,f] = sum[d] x[t,d] * w[expert[t], f, d]
}
)";

// The terms of y are computed in blocks, of which backward reads a.
inline constexpr const char* kExperts = R"(
size T, D, F = 1536, X
train model experts(x: [T, D], on: int[T]) -> y {
  param v: [X, F, D], w: [X, D, F]
  a[t,f] = sum[d] x[t,d] * v[on[t],f,d]
  h[t,f] = a[t,f] * sigmoid(a[t,f])
  y[t,d] = sum[f] h[t,f] * w[on[t],d,f]
}
)";

// Saved of each step are c and the sum of h, which only kernels of that step read.
inline constexpr const char* kGated = R"(
size B, T, N
train model gated(x: [T, B, N]) -> y {
  param u: [N, N]
  scan t: T {
    c[t,b,n] = tanh(sum[m] h[t-1,b,m] * u[n,m])
    h[t,b,n] = sin(sum[m] c[t,b,m] * u[n,m]) * x[t,b,n] from 0
  }
  y[b,n] = max[t] h[t,b,n]
}
)";

// Backward adds to dw at each step, and takes c and the sum of h of that step.
inline constexpr const char* kRounds = R"(
size B, D, N = 512, R = 3
train model rounds(x: [B, N, D]) -> y {
  param w: [D, D]
  scan r: R {
    c[r,b,n,d] = tanh(sum[e] h[r-1,b,n,e] * w[d,e])
    h[r,b,n,d] = c[r,b,n,d] * (sum[e] c[r,b,n,e] * w[d,e]) from x[b,n,d]
  }
  y[b,n,d] = h[R-1,b,n,d]
}
)";

// Each step writes c, and last a step of z, which is a result.
inline constexpr const char* kDelta = R"(
size B, T, N, E
model delta(q: [T, B, E], k: [T, B, E], v: [T, B, N]) -> z {
  scan t: T {
    c[t,b,n] = sum[e] s[t-1,b,e,n] * k[t,b,e]
    s[t,b,e,n] = s[t-1,b,e,n] + k[t,b,e] * (v[t,b,n] - c[t,b,n]) from 0
  }
  z[t,b,n] = sum[e] q[t,b,e] * s[t,b,e,n]
}
)";

// Kernel `n` of those of a function that have such a form.
template <class Form>
plan::Kernel& kernel(plan::Function& f, size_t n = 0) {
  for (plan::Kernel& k : f.kernels)
    if (std::holds_alternative<Form>(k.form) && n-- == 0) return k;
  throw std::invalid_argument("the plan has no such kernel");
}

template <class Form>
Form& form(plan::Function& f, size_t n = 0) {
  return std::get<Form>(kernel<Form>(f, n).form);
}

}  // namespace attn::testing
