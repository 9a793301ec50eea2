// Every row of the table of operations, and what has no row (powers, quotients), in kernels: the
// values and the derivatives are the evaluator's over the whole line, in f32 and in f64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "compiled.h"
#include "compiler/ops/table.h"
#include "compiler/target/target.h"

namespace attn::testing {
namespace {

using ir::Meaning;

// A value that a kernel computes at every element, and for what arguments it is not defined.
struct Form {
  std::string text;
  bool hides_nan = false;     // a number even of NaN
  double largest = INFINITY;  // the magnitude of x beyond which the value is not defined
  double slack = 1;           // of what is otherwise allowed as relative error in f32
  std::string_view of = {};   // the operation
};
constexpr double kOfPowers = 8;  // exp(y log x) has the error of log x as often as y

// x, z and w are real; n and m are integers.
std::vector<Form> forms() {
  std::vector<Form> result;
  for (const ir::Operation& op : ops::table()) {
    const char* real[] = {"x[i]", "x[i], z[i]", "x[i], z[i], w[i]"};
    const char* whole[] = {"n[i]", "n[i], m[i]", "n[i], m[i], n[i] + 2"};
    std::string call = fmt::format("{}({})", op.name, real[std::max(op.arity, 1) - 1]);
    Form f{.text = call, .hides_nan = op.meaning == Meaning::sign, .of = op.name};
    if (op.name == "pow") f.slack = kOfPowers;
    if (op.meaning == Meaning::to_real) f.text = "float(n[i])";
    if (op.meaning == Meaning::random) f.text = fmt::format("{}(n[i], m[i], i)", op.name);
    if (op.meaning == Meaning::to_integer) {
      f.text = fmt::format("float({})", call);
      f.hides_nan = true;
      f.largest = 0x1p24;  // f32 holds no larger integers
    }
    if (op.typing == ir::Typing::truth) {
      f.text = fmt::format("if {} then 1.0 else 0.0", call);
      f.hides_nan = true;
    }
    result.push_back(f);
    if (op.typing == ir::Typing::common) {
      f.text = fmt::format("float({}({}))", op.name, whole[op.arity - 1]);
      result.push_back(f);
    }
  }
  for (const char* text :
       {"x[i]^2", "x[i]^3", "x[i]^-1", "x[i]^-2", "x[i]^0.5", "x[i]^-0.5", "x[i]^1.5", "x[i]^2.5",
        "x[i] / z[i]", "x[i] / 3 + i", "max(i, x[i])", "min(x[i], 1)", "clamp(x[i], -2, 3)",
        "if x[i] < z[i] then x[i] else w[i]"})
    result.push_back({text});
  for (const char* text : {"x[i]^z[i]", "x[i]^0.3", "x[i]^-7.1"})
    result.push_back({.text = text, .slack = kOfPowers});
  for (const char* text : {"i + 5.0", "float(n[i] // m[i])", "float(n[i] % m[i])",
                           "float(n[i] // 3)", "float(n[i] % 3)", "float(n[i] % -3)"})
    result.push_back({text, true});
  return result;
}

struct Precision {
  const char* name;
  const char* type;
  ir::Storage storage;
  double largest, relative, least;
  double of_derivatives;  // least there: 1 - y^2 keeps what y has lost
};
void PrintTo(const Precision& p, std::ostream* out) { *out << p.name; }
constexpr Precision kSingle{"f32", "f32", ir::Storage::f32, std::numeric_limits<float>::max(), 4e-6,
                            1e-37, 5e-7};
constexpr Precision kDouble{
    "f64", "f64", ir::Storage::f64, std::numeric_limits<double>::max(), 1e-12, 1e-307, 1e-14};
// The instruction set that all processors have: no fused products, vectors of four.
constexpr Precision kOldest{
    "oldest", "f32", ir::Storage::f32, std::numeric_limits<float>::max(), 4e-6, 1e-37, 5e-7};

// A model with an output for each of them: y0, y1, ….
std::unique_ptr<Library> library_of(const std::vector<Form>& forms, const Precision& p) {
  std::string text = fmt::format(
      "size N\nmodel m(x: {0}[N], z: {0}[N], w: {0}[N], n: int[N], m: int[N]) -> ", p.type);
  for (size_t k = 0; k < forms.size(); ++k)
    text += fmt::format("{}y{}: {}", k ? ", " : "", k, p.type);
  text += " {\n";
  for (size_t k = 0; k < forms.size(); ++k)
    text += fmt::format("  y{}[i: N] = {}\n", k, forms[k].text);
  const std::string target =
      p.name == kOldest.name ? target::names().front() : lower::host_target();
  return std::make_unique<Library>(compile_text(text + "}\n", {}, Derive::tangents), 1, target);
}

// Every pair of the points as x and z, and w and integers that go with them.
Arrays pairs_of(const std::vector<double>& points, ir::Storage storage) {
  const size_t count = points.size();
  Arrays given;
  for (const char* name : {"x", "z", "w", "n", "m"})
    given[name].extents = {static_cast<int64_t>(count * count)};
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b) {
      const double reals[] = {points[a], points[b], points[(a + b) % count]};
      for (size_t k = 0; k < 3; ++k)
        given[std::string(1, "xzw"[k])].values.push_back(as_stored(reals[k], storage));
      given["n"].values.push_back(static_cast<double>(a) - 7);
      given["m"].values.push_back(static_cast<double>(b) - 5);
    }
  return given;
}

bool agrees(double want, double got, const Precision& p, double slack, bool derivative) {
  const double relative = p.relative * slack;
  const bool overflows = std::abs(want) > p.largest * (1 - relative);
  // Where the value is infinite, its derivative may be a difference of infinities.
  if (derivative && overflows) return true;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  // What the type does not hold is infinite; rounding may decide just below.
  if (overflows) return got * (want < 0 ? -1 : 1) >= p.largest * (1 - 2 * relative);
  return std::abs(got - want) <=
         relative * std::abs(want) + (derivative ? p.of_derivatives : p.least);
}

// The first few points at which a kernel is wrong.
std::string wrong(const Form& f, const Arrays& given, const std::vector<double>& want,
                  const std::vector<double>& got, const Precision& p, bool derivative) {
  std::set<std::string> points;
  for (size_t k = 0; k < want.size(); ++k) {
    std::string at;
    for (const auto& [name, a] : given)
      if (f.text.find(name + "[") != std::string::npos)
        at += fmt::format("{}{} = {}", at.empty() ? "" : ", ", name, a.values[k]);
    const bool defined = f.largest == INFINITY || std::abs(given.at("x").values[k]) < f.largest;
    if (defined && !agrees(want[k], got[k], p, f.slack, derivative))
      points.insert(fmt::format("  {}, not {}, at {}\n", got[k], want[k], at));
  }
  constexpr size_t kMost = 2000;
  std::string text;
  for (auto it = points.begin(); it != points.end() && text.size() < kMost; ++it) text += *it;
  return text.empty()
             ? ""
             : fmt::format("{} in {}, {} points:\n{}", f.text, p.name, points.size(), text);
}

class Functions : public ::testing::TestWithParam<Precision> {
 protected:
  // Compiled once for all tests.
  static Library& library_for(const Precision& p) {
    static std::map<std::string, std::unique_ptr<Library>> compiled;
    std::unique_ptr<Library>& library = compiled[p.name];
    if (!library) library = library_of(forms(), p);
    return *library;
  }

  // Compares what a call gives under these letters before the number of a form.
  static void compare(const Arrays& given, const CallOptions& options, const std::string& letters) {
    const Precision& p = GetParam();
    const Outcome o = library_for(p).call(given, options);
    ASSERT_EQ(o.status, ATTN_OK) << o.message;
    const Arrays want = library_for(p).reference(given, "", options);
    const std::vector<Form> all = forms();
    for (size_t k = 0; k < all.size(); ++k) {
      const std::string y = fmt::format("{}{}", letters, k);
      const std::vector<double>& got = o.values.at(y).values;
      const std::string found = wrong(all[k], given, want.at(y).values, got, p, letters == "ty");
      EXPECT_TRUE(found.empty()) << found;
      if (letters != "y" || all[k].of.empty() || all[k].text.find("x[") == std::string::npos)
        continue;
      for (size_t n = 0; n < got.size(); ++n)
        if (std::isnan(given.at("x").values[n])) {
          ASSERT_EQ(std::isnan(got[n]), !all[k].hides_nan) << all[k].text;
        }
    }
  }
};

TEST_P(Functions, AreTheEvaluatorsEverywhere) {
  const bool single = GetParam().storage == ir::Storage::f32;
  const double largest = GetParam().largest, epsilon = single ? 0x1p-23 : 0x1p-52;
  const double smallest = single ? std::numeric_limits<float>::min() : 0x1p-1022;
  std::vector<double> points = {0, -0.0, NAN, INFINITY, -INFINITY};
  for (const double v : {smallest,
                         1e-20,
                         epsilon,
                         1e-4,
                         0.02,
                         0.3,
                         0.7,
                         1 - epsilon,
                         1.0,
                         1 + epsilon,
                         std::numbers::pi / 2,
                         2.6,
                         3.0,
                         std::numbers::pi,
                         5.5,
                         9.1,
                         20.1,
                         60.7,
                         86.5,
                         88.9,
                         1e3,
                         16777217.0,
                         3e10,
                         4e11,
                         1e20,
                         std::sqrt(largest),
                         largest})
    points.insert(points.end(), {v, -v});
  compare(pairs_of(points, GetParam().storage), {.gradient = false}, "y");
}

TEST_P(Functions, HaveTheEvaluatorsDerivatives) {
  std::vector<double> points;
  for (double v = 1e-3; v < 80; v *= 1.9) points.insert(points.end(), {v, -v});
  Arrays given = pairs_of(points, GetParam().storage);
  // So that no partial derivatives cancel.
  for (const auto& [name, tangent] : {std::pair{"x", 1.0}, {"z", -0.5}, {"w", 0.25}}) {
    Array& t = given[std::string("t") + name] = given.at(name);
    std::fill(t.values.begin(), t.values.end(), tangent);
  }
  compare(given, {.gradient = false, .jvp = true}, "ty");
}

INSTANTIATE_TEST_SUITE_P(In, Functions, ::testing::Values(kSingle, kDouble, kOldest),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Functions, WithoutAFormForKernelsAreNamed) {
  static const ir::Operation half{.name = "half",
                                  .value = [](std::span<const double> x) { return x[0] / 2; }};
  ir::Graph g;
  ir::Tensor t;
  t.extents = {ir::Poly(3)};
  t.name = "x";
  t.role = ir::Role::input;
  const ir::TensorId x = g.new_tensor(t);
  t.name = "y";
  t.role = ir::Role::output;
  const ir::TensorId y = g.new_tensor(t);
  const ir::IndexId i = g.new_index("i", ir::Poly(3));
  g.definitions.push_back(
      {.target = y, .free = {i}, .body = ir::call(half, {g.read(x, {ir::index_value(i)})})});
  g.outputs.push_back({"y", y});
  std::vector<driver::Compiled> models;
  models.push_back(compile_graph("m", std::move(g)));
  try {
    Library library(std::move(models));
    ADD_FAILURE() << "a kernel of nothing";
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find("`half` has neither a form for kernels nor an expansion"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace attn::testing
