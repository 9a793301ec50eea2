// Which random programs a test makes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace attn::testing {

struct Seeds {
  uint64_t first, last;
};

// From 1 to `last`; others by hand, where the variable of the environment says so: 100..400.
inline Seeds seeds(const char* variable, uint64_t last) {
  Seeds all{1, last};
  if (const char* text = getenv(variable)) {
    EXPECT_EQ(std::sscanf(text, "%lu..%lu", &all.first, &all.last), 2) << variable << "=" << text;
  }
  return all;
}

}  // namespace attn::testing
