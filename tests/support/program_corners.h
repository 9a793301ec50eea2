// Statements of random programs at the corners of the language: reductions over nothing, of what
// does not vary, and of equals, diagonals of other sizes, chained index maps, constants, experts,
// one position of what is computed for all.
#pragma once

#include "tests/support/program_frame.h"

namespace attn::testing {

class Corners : protected ProgramFrame {
 protected:
  using ProgramFrame::ProgramFrame;

  // One of the statements below.
  void corner();

 private:
  void constant();
  void diagonal();
  void unvarying();
  void over_nothing();
  void extreme_of_extremes();
  void ties();
  void chained();
  void chosen();
  void experts();
  void picked();
  // A definition that only the statement itself reads.
  void define_inside(const std::string& name, const Axes& free, const Value& value,
                     const std::string& after = "");
  // One or two indices to reduce over, of any sizes.
  Axes any_reduced();
};

}  // namespace attn::testing
