// Calls of compiled models that must give what the evaluator gives.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
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

// Of a model of T rows, of which `on` says which of three experts each has.
inline Arrays experts_call(const driver::Compiled& model, int64_t t, uint64_t seed) {
  Arrays given = random_call(model, {{"T", t}}, seed);
  for (double& expert : given.at("on").values) expert = static_cast<int>(std::abs(expert)) % 3;
  return given;
}

inline std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += name + "=" + std::to_string(value) + " ";
  return text;
}

}  // namespace attn::testing
