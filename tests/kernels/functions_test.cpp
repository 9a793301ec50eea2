// Scalar functions in kernels, over their whole domains and of NaN, by the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiled.h"

namespace attn::testing {
namespace {

const std::vector<std::string> kFunctions = {"exp(x[i])",        "exp2(x[i])",
                                             "log(abs(x[i]))",   "log2(abs(x[i]) + 1e-3)",
                                             "log1p(abs(x[i]))", "sqrt(abs(x[i]))",
                                             "rsqrt(abs(x[i]))", "tanh(x[i])",
                                             "sigmoid(x[i])",    "erf(x[i])",
                                             "abs(x[i])",        "sign(x[i])",
                                             "floor(x[i])",      "sin(x[i])",
                                             "cos(x[i])",        "atan(x[i])",
                                             "relu(x[i])",       "clamp(x[i], -2, 3)",
                                             "min(x[i], 1)",     "max(i, x[i])",
                                             "abs(x[i])^2.5",    "x[i]^3",
                                             "x[i]^-2",          "pow(abs(x[i]), 0.3)",
                                             "i + 5.0",          "x[i] / 3 + i"};

// A model with output y0 for the first of them, and so on.
Library functions_of(const std::string& type) {
  std::string text = fmt::format("size N\ntrain model m(x: {}[N]) -> ", type);
  for (size_t k = 0; k < kFunctions.size(); ++k)
    text += fmt::format("{}y{}: {}", k ? ", " : "", k, type);
  text += " {\n";
  for (size_t k = 0; k < kFunctions.size(); ++k)
    text += fmt::format("  y{}[i: N] = {}\n", k, kFunctions[k]);
  return Library(compile_text(text + "}\n"));
}

TEST(Functions, OfNoNumberAreNoNumber) {
  for (const char* type : {"f32", "f64"}) {
    Library library = functions_of(type);
    Arrays given{{"x", {{37}, std::vector<double>(37, 0.7)}}};
    for (size_t k = 0; k < kFunctions.size(); ++k)
      given[fmt::format("dy{}", k)] = {{37}, std::vector<double>(37, 1)};
    const Outcome plain = library.call(given);
    for (size_t n : {0, 5, 16, 36})
      given.at("x").values[n] = std::numeric_limits<double>::quiet_NaN();
    const Outcome o = library.call(given);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    const Arrays want = library.reference(given);
    for (size_t k = 0; k < kFunctions.size(); ++k) {
      const std::string y = fmt::format("y{}", k);
      for (size_t n = 0; n < 37; ++n) {
        SCOPED_TRACE(fmt::format("{} {} at {}", type, kFunctions[k], n));
        const bool nan = std::isnan(given.at("x").values[n]);
        const bool always = kFunctions[k] == "i + 5.0" || kFunctions[k] == "sign(x[i])";
        EXPECT_EQ(std::isnan(want.at(y).values[n]), nan && !always);
        EXPECT_EQ(std::isnan(o.values.at(y).values[n]), nan && !always);
        if (!nan) {
          EXPECT_EQ(o.values.at(y).values[n], plain.values.at(y).values[n]);
        }
      }
    }
  }
}

TEST(Functions, AreAsExactAsTheirTypes) {
  for (const char* type : {"f32", "f64"}) {
    Library library = functions_of(type);
    Array x{{0}, {}};
    for (double v = 1e-4; v < 80; v *= 1.37)
      for (double sign : {-1.0, 1.0}) x.values.push_back(static_cast<float>(sign * v));
    x.extents[0] = static_cast<int64_t>(x.values.size());
    Arrays given{{"x", x}};
    for (size_t k = 0; k < kFunctions.size(); ++k)
      given[fmt::format("dy{}", k)] = {x.extents, std::vector<double>(x.values.size(), 0)};
    for (size_t k = 0; k < kFunctions.size(); ++k) {
      Arrays one = given;
      std::string y = fmt::format("y{}", k);
      one["d" + y].values.assign(x.values.size(), 1);
      Outcome o = library.call(one);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      Arrays want = library.reference(one);
      for (const std::string& name : {y, std::string("dx")}) {
        const std::vector<double>&a = want.at(name).values, &b = o.values.at(name).values;
        for (size_t n = 0; n < a.size(); ++n) {
          double relative = type[1] == '3' ? 4e-6 : 1e-12;
          // 1 - y^2 keeps what y has lost.
          double least = type[1] != '3' ? 1e-14 : kFunctions[k] == "tanh(x[i])" ? 5e-7 : 2e-7;
          if (type[1] == '3' && std::abs(a[n]) > 3e38) continue;  // beyond f32
          EXPECT_NEAR(a[n], b[n], relative * std::abs(a[n]) + least)
              << type << " " << kFunctions[k] << " " << name << " at " << x.values[n];
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn::testing
