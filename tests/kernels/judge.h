// What may be wrong with the compiler, as a program shows it.
#pragma once

#include <string>
#include <vector>

#include "compiled.h"
#include "tests/support/random_program.h"

namespace attn::testing {

struct Verdict {
  enum Kind {
    fine,
    refused,     // the front end says that the program is wrong
    broken,      // the compiler fails
    simplified,  // a graph means something else after simplification
    not_finite,  // a result is NaN or infinite, or a gradient as large as nothing in the program
    slope,       // the gradient is not the derivative, or the tangents are not what it says
    call,        // a call is refused
    wrong,       // kernels give other numbers than the evaluator
  } kind = fine;
  std::string message;

  explicit operator bool() const { return kind != fine; }
};

// Appends the models of the program; or why there are none.
Verdict front(const RandomProgram& program, std::vector<driver::Compiled>& models);

// What the evaluator alone can say, at all calls of the program: cheap.
Verdict judge_graphs(const driver::Compiled& model, const RandomProgram& program);
Verdict judge_graphs(const RandomProgram& program);

// What kernels say, at all calls: of a model that is compiled, or of the whole way to it.
Verdict judge_calls(Library& library, const std::string& name, const RandomProgram& program);
Verdict judge(const RandomProgram& program, const std::string& target);

}  // namespace attn::testing
