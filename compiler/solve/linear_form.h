// Linear forms over unknowns, whose coefficients are polynomials of sizes.
#pragma once

#include <utility>
#include <vector>

#include "compiler/ir/poly.h"

namespace attn::solve {

// sum of coefficient * unknown, plus a constant. Unknowns are numbered by the System that made it.
struct Linear {
  std::vector<std::pair<int, ir::Poly>> terms;  // sorted by unknown; no coefficient is 0
  ir::Poly constant;
};
Linear operator+(const Linear& a, const Linear& b);
Linear operator-(const Linear& a, const Linear& b);
Linear minus(const Linear& a);
Linear scale(const Linear& a, const ir::Poly& factor);
ir::Poly negative(const ir::Poly& p);
// Whether all coefficients are integers.
bool whole(const ir::Poly& p);

// 2*i - 3 >= 0 is i - 2 >= 0 for integers: the constant is lowered to a multiple of the
// greatest common divisor of everything else, and all is divided by that.
void tighten(Linear& l);

}  // namespace attn::solve
