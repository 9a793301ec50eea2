// Calls of compiled models that must give what the evaluator gives.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "compiled.h"

namespace attn::testing {

using Sizes = std::map<std::string, int64_t>;

inline void expect_agreement(Library& library, const std::string& model, const Arrays& given,
                             double tolerance = 1e-5) {
  Outcome o = library.call(given, {}, model);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  EXPECT_EQ(differ(library.reference(given, model), o.values, tolerance), "");
}

inline std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += name + "=" + std::to_string(value) + " ";
  return text;
}

}  // namespace attn::testing
