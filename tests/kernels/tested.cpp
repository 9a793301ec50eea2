// The target and the precision of products that kernel tests are run for.
#include <algorithm>
#include <cstdlib>

#include "compiled.h"
#include "compiler/base/check.h"
#include "compiler/target/target.h"

namespace attn::testing {

std::string tested_target() {
  const char* chosen = getenv("ATTN_TEST_TARGET");
  return chosen != nullptr && *chosen != '\0' ? chosen : lower::host_target();
}

plan::Precision tested_precision() {
  const char* chosen = getenv("ATTN_TEST_PRECISION");
  const std::string name = chosen != nullptr ? chosen : "";
  for (plan::Precision p : {plan::Precision::highest, plan::Precision::medium})
    if (name_of(p) == name) return p;
  return plan::Precision::high;
}

// Factors of 21 bits, or of 11, instead of 24.
double slack_of_products() {
  if (target::named(tested_target()).capability == 0) return 1;
  switch (tested_precision()) {
    case plan::Precision::highest:
      return 1;
    case plan::Precision::high:
      return 8;
    case plan::Precision::medium:
      return 8192;
  }
  throw InternalError("a precision without a tolerance");
}

std::string target_in_turn(uint64_t seed) {
  if (tested_target() != lower::host_target()) return tested_target();
  const std::vector<std::string> all = target::names();
  const auto host = std::find(all.begin(), all.end(), lower::host_target());
  return all[seed % static_cast<uint64_t>(host - all.begin() + 1)];
}

}  // namespace attn::testing
