// Whether a kernel's form computes what the definitions do that the planner took for it: both are
// evaluated on random data at small sizes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/front.h"
#include "compiler/evaluate/evaluate.h"

namespace attn::testing {

// A kernel as the whole function computes it.
struct KernelCase {
  const plan::Function* function;
  const plan::Kernel* kernel;
};

// Evaluates the kernel's own definitions once, and then forms that claim to be the same.
class FormCheck {
 public:
  // `seed` decides sizes and data.
  FormCheck(const KernelCase& c, uint64_t seed);
  // "", or the first element that differs.
  std::string difference(const plan::Form& form) const;

 private:
  ir::Graph graph_of(std::vector<ir::Definition> definitions) const;

  const plan::Function& f_;
  const plan::Kernel& k_;
  std::vector<int64_t> sizes_;
  evaluate::Arrays given_, wanted_;
};

// All kernels of a file's models, in order, with what they belong to.
struct PlannedFile {
  driver::Source source;
  std::vector<driver::Compiled> models;
  std::vector<KernelCase> kernels;
};
std::unique_ptr<PlannedFile> planned(const std::filesystem::path& path);
// The same of a program's text, with gradients of the models that say `train` only.
std::unique_ptr<PlannedFile> planned_text(const std::string& text);

// The files that have golden plans: tests/variants and tests/stages.
std::vector<std::filesystem::path> files_with_plans();

// A kernel a line: `row y <- m y`, the form, what it writes and the definitions that it claims, in
// order; with the function's name in front where it is not forward. Sizes B, T, N, M, K, V, D and E
// are declared.
std::string kernels_of(const std::string& model);

}  // namespace attn::testing
