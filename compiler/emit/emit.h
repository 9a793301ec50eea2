// Writes what a program links: a header, the tables in C, and the list of objects to compile.
#pragma once

#include <string>
#include <vector>

#include "compiler/plan/update.h"

namespace attn::emit {

// One object file of the library: a kernel for one instruction set.
struct Object {
  const plan::Function* function;
  const plan::Kernel* kernel;
  std::string target;     // its name
  std::string symbol;     // of the function in it
  bool few_rows = false;  // by the schedule for few rows
};

// One model of the file, planned.
struct ModelPlan {
  plan::Plan plan;
  std::optional<plan::UpdatePlan> step;
  std::string doc;
  uint64_t source_hash = 0;
};

struct Library {
  std::string stem;    // of the file names: digits.h, digits.c, digits.a
  std::string header;  // C11 and C++17
  std::string tables;  // C11
  std::string index;   // C11: what a shared library has beside the tables, attn_library_model
  std::vector<Object> objects;
};

// `targets` in increasing order. The plans must outlive the result.
Library emit_library(const std::string& stem, const std::vector<ModelPlan>& models,
                     const std::vector<std::string>& targets);

// What people call a kernel: "contraction q".
std::string title(const plan::Function& f, const plan::Kernel& kernel);

}  // namespace attn::emit
