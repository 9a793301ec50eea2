// Conditions of random programs: of indices, of integer data, of given values, and constant ones.
#pragma once

#include <string>

#include "tests/support/program_reads.h"

namespace attn::testing {

class Conditions : protected Reads {
 protected:
  using Reads::Reads;

  // A condition on at least one of the axes, where there are such, or one that is always the same.
  std::string condition(const Axes& axes);
  // "" or " where c".
  std::string guard(const Axes& axes, int percent);
  // Holds always, never, or for some sizes.
  std::string constant_condition();

 private:
  std::string comparison(const Axes& axes);
  std::string of_indices(const Axis& a, const Axis& c);
  std::string of_data(const Axes& axes, const Axis& a, const Axis& c);
};

}  // namespace attn::testing
