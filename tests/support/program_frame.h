// The frame of a random program: its sizes, inputs, parameters and results, and the lines that have
// been written.
#pragma once

#include "tests/support/program_expressions.h"
#include "tests/support/random_program.h"

namespace attn::testing {

class ProgramFrame : protected Expressions {
 protected:
  // Declares sizes, inputs and parameters.
  explicit ProgramFrame(uint64_t seed);

  // The program of all that was written.
  RandomProgram finished();

  std::vector<std::string> some_extents(int least, int most);
  // Indices for the left of a definition; in a scan the step is among them.
  Axes free_axes(int least, int most);
  static Axes together(Axes a, const Axes& b);
  // Of a reduction: its indices where they are bound.
  std::string bounds(const Axes& reduced);
  std::string fresh(const std::string& stem) { return stem + std::to_string(++names_); }
  // An input or a parameter, which later statements may read.
  void given(const std::string& name, const std::vector<std::string>& extents, bool parameter);
  void line(const std::string& text);
  // Writes a definition; later statements may read it. In a scan its values stay within +-1, and it
  // is kept until all that are read one step back are known.
  void define(const std::string& name, const Axes& free, Value value,
              const std::string& after = "");

  struct Pending {
    std::string name, text, after;
  };

  std::string uses_, blocks_;
  std::vector<std::string> made_;  // what may be a result
  std::set<std::string> whole_;    // of integers
  std::vector<Pending> pending_;
  bool recurs_ = false, in_scan_ = false;

 private:
  void make_sizes();
  void make_given();
  std::string storage();
  std::string joined_inputs() const;
  std::string results(RandomProgram& program);
  std::string loss() const;
  bool mentioned(const std::string& name) const;
  std::vector<std::map<std::string, int64_t>> calls();
  std::string left(const std::string& name, const Axes& free);

  uint64_t seed_;
  std::map<std::string, int64_t> free_sizes_;  // known when the program runs
  std::string sizes_, params_, body_;
  bool wide_ = false;  // computes in f64
  int names_ = 0;
};

}  // namespace attn::testing
