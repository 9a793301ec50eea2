// The numbers that the worked problems print, through kernels and through the evaluator.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/kernels/compiled.h"

namespace attn::testing {
namespace {

using Json = nlohmann::json;

const std::string kFolder = std::string(ATTN_SOURCE_DIR) + "/tests/examples/";

const Json& examples() {
  static const Json kAll = Json::parse(std::ifstream(kFolder + "worked_examples.json"));
  return kAll;
}

// Numbers of the examples; those with a root are written as text.
double number(const Json& j) {
  if (j.is_number()) return j.get<double>();
  std::string text = j.get<std::string>();
  if (text == "2*sqrt(2)") return 2 * std::sqrt(2.0);
  if (text == "sqrt(2)") return std::sqrt(2.0);
  if (text == "-sqrt(2)") return -std::sqrt(2.0);
  throw std::runtime_error("no number: " + text);
}

Array array(const Json& j) {
  if (!j.is_array()) return {{}, {number(j)}};
  Array a{{static_cast<int64_t>(j.size())}, {}};
  for (const Json& part : j) {
    Array inner = array(part);
    if (a.extents.size() == 1)
      a.extents.insert(a.extents.end(), inner.extents.begin(), inner.extents.end());
    a.values.insert(a.values.end(), inner.values.begin(), inner.values.end());
  }
  return a;
}

Array scalar(double v) { return {{}, {v}}; }

// Arrays of one shape, one after the other along a new first dimension.
Array stack(const std::vector<Array>& parts) {
  Array a = parts[0];
  a.extents.insert(a.extents.begin(), static_cast<int64_t>(parts.size()));
  for (size_t k = 1; k < parts.size(); ++k)
    a.values.insert(a.values.end(), parts[k].values.begin(), parts[k].values.end());
  return a;
}

Array swapped_rows(Array a) {
  size_t half = a.values.size() / 2;
  std::rotate(a.values.begin(), a.values.begin() + static_cast<int64_t>(half), a.values.end());
  return a;
}

Library& attention() {
  static Library library(compile_file(kFolder + "attention.attn", {}, Derive::as_written));
  return library;
}
// The same models in float32.
Library& attention_f32() {
  static Library library = [] {
    std::ifstream in(kFolder + "attention.attn");
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    for (size_t at = text.find("f64"); at != std::string::npos; at = text.find("f64", at))
      text.replace(at, 3, "f32");
    return Library(compile_text(text, {}, Derive::as_written));
  }();
  return library;
}
Library& conv_net() {
  static Library library(compile_file(kFolder + "conv_net.attn"));
  return library;
}

// What kernels of both precisions and the evaluator give.
struct Results {
  std::vector<std::pair<std::string, Arrays>> by;

  void expect(const std::string& name, const Array& want, double tolerance) const {
    for (const auto& [who, values] : by) {
      const Array& got = values.at(name);
      ASSERT_EQ(got.extents, want.extents) << name << " by " << who;
      // The examples print more digits than float32 has of the largest number.
      double largest = 0, more = who == "f32 kernels" ? 3e-7 : 0;
      for (double v : want.values) largest = std::max(largest, std::abs(v));
      for (size_t k = 0; k < want.values.size(); ++k)
        EXPECT_NEAR(got.values[k], want.values[k], tolerance + more * largest)
            << name << "[" << k << "] by " << who;
    }
  }
};

Arrays called(Library& library, const std::string& model, const Arrays& given, bool gradient) {
  Outcome o = library.call(given, {.gradient = gradient}, model);
  EXPECT_EQ(o.status, ATTN_OK) << o.message;
  return o.values;
}

Results attend(const std::string& model, const Arrays& given) {
  return {{{"the evaluator", attention().reference(given, model, {.gradient = false})},
           {"f64 kernels", called(attention(), model, given, false)},
           {"f32 kernels", called(attention_f32(), model, given, false)}}};
}

Results convolve(const std::string& model, const Arrays& given) {
  return {{{"the evaluator", conv_net().reference(given, model)},
           {"f64 kernels", called(conv_net(), model, given, true)}}};
}

TEST(WorkedExamples, GiveTheContextOfOneQuery) {
  const Json& e = examples()["query_attention"];
  Results b = attend("query_attention", {{"x", array(e["x"])}, {"q", array(e["q"])}});
  double t = e["tolerance"];
  b.expect("z", array(e["z"]), t);
  b.expect("a", array(e["a"]), t);
  b.expect("c", array(e["c"]), t);
}

Arrays one_head(const Json& e) {
  return {
      {"x", array(e["x"])}, {"wq", array(e["wq"])}, {"wk", array(e["wk"])}, {"wv", array(e["wv"])}};
}

TEST(WorkedExamples, GiveSelfAttention) {
  const Json& e = examples()["self_attention"];
  Results b = attend("self_attention", one_head(e));
  for (const char* name : {"q", "k", "v", "p", "z"}) b.expect(name, array(e[name]), e["tolerance"]);
}

TEST(WorkedExamples, GiveTwoHeadsAndTheirProjection) {
  const Json& e = examples()["two_heads"];
  const Json& first = examples()["self_attention"];
  Arrays given = one_head(first);
  for (const char* name : {"wq", "wk", "wv"}) {
    Array ones = given.at(name);
    ones.values.assign(ones.values.size(), 1);
    given[name] = stack({given.at(name), ones});
  }
  given["wo"] = array(e["wo"]);
  Results b = attend("two_heads", given);
  double t = e["tolerance"];
  b.expect("p", stack({array(first["p"]), array(e["p2"])}), t);
  b.expect("z", stack({array(first["z"]), array(e["z2"])}), t);
  b.expect("y", array(e["z_total"]), t);
}

Arrays two_tokens(double root) {
  const Json& e = examples()["two_tokens"];
  Arrays given = one_head(e);
  given["root"] = scalar(root);
  return given;
}

TEST(WorkedExamples, GiveTwoTokens) {
  const Json& e = examples()["two_tokens"];
  for (bool scaled : {false, true}) {
    const Json& part = e[scaled ? "scaled_by_sqrt2" : "unscaled"];
    Results b = attend("two_tokens", two_tokens(scaled ? std::sqrt(2.0) : 1));
    for (const char* name : {"k", "q", "v"}) b.expect(name, array(e[name]), 5e-8);
    double t = part["tolerance"], h = 1 / (1 + std::exp(scaled ? 2 : 2 * std::sqrt(2.0)));
    // `a` is printed with three digits, then with two.
    b.expect("a", array(part["a"]), scaled ? 5e-3 : 5e-4);
    b.expect("a", {{2, 2}, {h, 1 - h, 1 - h, h}}, 5e-8);
    b.expect("y", array(part["y"]), t);
  }
}

TEST(WorkedExamples, SwapTheOutputWithTheTokens) {
  Arrays given = two_tokens(1);
  Results b = attend("two_tokens", given);
  Array y = b.by[0].second.at("y");
  given["x"] = swapped_rows(given.at("x"));
  Results swapped = attend("two_tokens", given);
  swapped.expect("y", swapped_rows(y), 5e-8);
  const Json& printed = examples()["two_tokens"]["unscaled"];
  swapped.expect("y", swapped_rows(array(printed["y"])), printed["tolerance"]);
}

TEST(WorkedExamples, SwapTheOutputByEncodedPositions) {
  const Json& e = examples()["two_tokens"];
  Arrays given = two_tokens(1);
  given["p"] = array(e["positional_encoding"]["p"]);
  Results b = attend("two_tokens_encoded", given);
  b.expect("y", swapped_rows(array(e["unscaled"]["y"])), e["unscaled"]["tolerance"]);
}

// Inputs and weights of which the convolution makes the z that the example gives, and the y of
// which the loss has slope 1 in z4.
Arrays conv_given() {
  const Json& e = examples()["conv_net"]["given"];
  double z4 = number(examples()["conv_net"]["expected"]["z4"]);
  return {{"x", {{5}, {1, 2, 1, -1.25, -2.625}}},
          {"k", {{3}, {0.5, -1, 2}}},
          {"b", scalar(0.5)},
          {"w", array(e["w"])},
          {"c", scalar(number(e["c"]))},
          {"z", array(e["z"])},
          {"z4", scalar(z4)},
          {"y", scalar(std::exp(z4) - number(e["dL_dz4"]) / std::exp(z4))},
          {"dloss", scalar(1)}};
}

Arrays only(const Arrays& all, const std::vector<std::string>& names) {
  Arrays some;
  for (const std::string& name : names) some[name] = all.at(name);
  return some;
}

TEST(WorkedExamples, GiveTheValuesOfTheConvolutionalNet) {
  const Json& e = examples()["conv_net"];
  Results b = convolve("conv_net", only(conv_given(), {"x", "y", "k", "b", "w", "c", "dloss"}));
  b.expect("z", array(e["given"]["z"]), 1e-12);
  b.expect("u", {{2}, {1, -2}}, 1e-12);
  b.expect("v", {{2}, {1, -0.2}}, 1e-12);
  b.expect("z4", array(e["expected"]["z4"]), 1e-12);
  b.expect("yhat", scalar(std::exp(6.0)), 1e-9);
  b.expect("loss", scalar(std::exp(-12.0) / 2), 1e-12);
}

TEST(WorkedExamples, GiveTheFourGradientsOfTheConvolutionalNet) {
  const Json& e = examples()["conv_net"];
  Arrays all = conv_given();
  // (y - yhat) e^z4 loses six digits of sixteen.
  constexpr double kSlope = 1e-8;
  Results b = convolve("conv_exp", only(all, {"z4", "y", "dloss"}));
  b.expect("dz4", array(e["given"]["dL_dz4"]), kSlope);

  Arrays top = only(all, {"y", "w", "c", "dloss"});
  top["v"] = {{2}, {1, -0.2}};
  b = convolve("conv_top", top);
  b.expect("dv", array(e["given"]["w"]), kSlope);  // dL/dz4 w, and dL/dz4 is 1

  b = convolve("conv_head", only(all, {"z", "y", "w", "c", "dloss"}));
  const Array d = array(e["expected"]["dL_dz"]);
  b.expect("dz", d, kSlope);

  b = convolve("conv_net", only(all, {"x", "y", "k", "b", "w", "c", "dloss"}));
  const std::vector<double>& x = all.at("x").values;
  Array dk{{3}, {0, 0, 0}};
  for (size_t n = 0; n < 3; ++n)
    for (size_t t = 0; t < 3; ++t) dk.values[n] += d.values[t] * x[t + n];
  b.expect("dk", dk, kSlope);
  b.expect("db", scalar(d.values[0] + d.values[1] + d.values[2]), kSlope);
  b.expect("dw", {{2}, {1, -0.2}}, kSlope);
  b.expect("dc", array(e["given"]["dL_dz4"]), kSlope);
}

}  // namespace
}  // namespace attn::testing
