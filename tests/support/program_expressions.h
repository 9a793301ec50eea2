// Expressions of random programs: what can be made of what is read.
#pragma once

#include <string>

#include "tests/support/program_conditions.h"

namespace attn::testing {

class Expressions : protected Conditions {
 protected:
  using Conditions::Conditions;

  Value expression(const Axes& axes, int depth);

 private:
  Value smooth(const Value& x);
  Value kinked(const Axes& axes);
  Value kinked_pair(const Axes& axes, const std::string& a);
  Value reduced(const Axes& axes, int depth);
};

}  // namespace attn::testing
