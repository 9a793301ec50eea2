// Every block and function of the standard library: its gradient, Jacobian- and Hessian-vector
// product by central differences of the evaluator, and its kernels by the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <regex>

#include "compiled.h"
#include "compiler/driver/call.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

// A program with one model around a block or function; its second output, if it has two, is a loss.
struct Program {
  std::string file, name, text;
};

std::string without_ellipsis(const std::string& text) {
  return std::regex_replace(text, std::regex("\\.\\.\\."), "B");
}

// "x: [..., T, D], size H" at its outermost commas.
std::vector<std::string> pieces(const std::string& list) {
  std::vector<std::string> result(1);
  int depth = 0;
  for (char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      result.emplace_back();
    else if (!std::isspace(c) || !result.back().empty())
      result.back() += c;
  }
  return result;
}

constexpr const char* kSizes =
    "size B, T, S, I, J, V\nsize D = 12, E = 3, F = 7, C = 5, H = 2, N = 4, M = 3\n\n";

// Sizes that a call must name, and sizes other than the defaults for a second program.
const std::map<std::string, std::string> kGiven = {{"H", "4"}, {"G", "2"}, {"K", "3"}, {"W", "2"},
                                                   {"N", "2"}, {"F", "7"}, {"V", "6"}, {"D", "5"}};
const std::map<std::string, std::string> kOtherwise = {
    {"convolution_1d", "STRIDE = 2, DILATION = 2, PAD = 3"},
    {"convolution_2d", "STRIDE = 2, DILATION = 2, PAD = 1"},
    {"max_pool_1d", "STRIDE = 2"},
    {"max_pool_2d", "STRIDE = 1"},
    {"average_pool_1d", "STRIDE = 1"},
    {"average_pool_2d", "STRIDE = 2"},
    {"attend_t5", "N = 8, M = 4"}};

// `name[b,t,n]` where the body defines it, or the name of a scalar.
std::string element_of(const std::string& name, const std::string& body) {
  std::smatch indices;
  if (!std::regex_search(body, indices, std::regex("\n +" + name + "\\[([^\\]]*)\\] *=")))
    return name;
  const std::string at = std::regex_replace(indices[1].str(), std::regex("\\.\\.\\."), "b");
  return fmt::format("{}[{}]", name, std::regex_replace(at, std::regex(": *[A-Z]"), ""));
}

// A loss whose Hessian is not constant, of all that is no scalar.
Program around_block(const std::string& file, const std::smatch& head, const std::string& body,
                     const std::string& more = "") {
  const std::string name = head[1], outputs = head[3];
  std::string inputs, arguments;
  for (const std::string& piece : pieces(head[2])) {
    std::string argument = piece.substr(0, piece.find(':'));
    if (piece.starts_with("size ")) {
      if (piece.find('=') != std::string::npos) continue;
      argument = piece.substr(5) + " = " + kGiven.at(piece.substr(5));
    } else {
      inputs += (inputs.empty() ? "" : ", ") + without_ellipsis(piece);
    }
    arguments += (arguments.empty() ? "" : ", ") + argument;
  }
  if (!more.empty()) arguments += ", " + more;
  std::string total;
  for (const std::string& output : pieces(outputs))
    if (const std::string element = element_of(output, body); element != output)
      total += fmt::format("{}(sum{} sin({}))", total.empty() ? "" : " + ",
                           element.substr(output.size()), element);
  const bool several = outputs.find(',') != std::string::npos;
  std::string text = fmt::format("use {}\n{}model of_{}({}) -> {}{} {{\n  {} = {}({})\n", file,
                                 kSizes, name, inputs, outputs, total.empty() ? "" : ", total",
                                 several ? "(" + outputs + ")" : outputs, name, arguments);
  if (!total.empty()) text += fmt::format("  total = {}\n", total);
  return {file, name, text + "}\n"};
}

Program around_function(const std::string& file, const std::smatch& head) {
  std::string arguments = "x[b]";
  const std::string list = head[2];
  for (size_t k = 0; k < static_cast<size_t>(std::count(list.begin(), list.end(), ',')); ++k)
    arguments += ", 0.3";
  return {file, head[1],
          fmt::format("use {}\n{}model of_{}(x: [B]) -> y, total {{\n  y[b] = {}({})\n"
                      "  total = sum[b] sin(y[b])\n}}\n",
                      file, kSizes, head[1].str(), head[1].str(), arguments)};
}

std::vector<fs::path> library_files() {
  return files_in(fs::path(ATTN_SOURCE_DIR) / "dsl" / "std", ".attn");
}

std::vector<Program> programs() {
  std::vector<Program> result;
  for (const fs::path& path : library_files()) {
    const std::string text = read_text(path), file = "std." + path.stem().string();
    const std::regex block("block (\\w+)\\(([^{]*)\\) ->\\s+(\\w+(?:, \\w+)*) \\{"),
        fn("fn (\\w+)\\(([^)]*)\\)");
    for (std::sregex_iterator m(text.begin(), text.end(), block), end; m != end; ++m) {
      const std::string body = m->suffix().str().substr(0, m->suffix().str().find("\n}"));
      result.push_back(around_block(file, *m, body));
      if (const auto other = kOtherwise.find((*m)[1]); other != kOtherwise.end())
        result.push_back(around_block(file, *m, body, other->second));
    }
    for (std::sregex_iterator m(text.begin(), text.end(), fn), end; m != end; ++m)
      result.push_back(around_function(file, *m));
  }
  return result;
}

bool is_real(const ir::Tensor& t) { return ir::is_real(ir::arithmetic_type(t.storage)); }

Arrays arguments_of(const driver::Compiled& m, const std::map<std::string, int64_t>& sizes) {
  Arrays given = random_call(m, sizes, 3, 5);
  for (const ir::Tensor& t : m.raw.tensors)  // an epsilon
    if (t.role == ir::Role::input && t.extents.empty() && is_real(t))
      given.at(t.name).values[0] = std::abs(given.at(t.name).values[0]);
  return given;
}

Arrays outputs_at(const ir::Graph& g, const Arrays& given) {
  const Arrays all = evaluate::evaluate(g, given);
  Arrays result;
  for (const ir::Output& o : g.outputs) result[o.name] = all.at(g[o.tensor].name);
  return result;
}

// How the results of `f` change along the tangents, by five points.
Arrays differences(const std::function<Arrays(const Arrays&)>& f, const Arrays& given) {
  constexpr double h = 1e-4;
  auto at = [&](double step) {
    Arrays moved = given;
    for (auto& [name, array] : moved) {
      auto tangent = given.find("t" + name);
      if (tangent == given.end()) continue;
      for (size_t k = 0; k < array.values.size(); ++k)
        array.values[k] += step * tangent->second.values[k];
    }
    return f(moved);
  };
  const Arrays a = at(h), b = at(-h), c = at(2 * h), d = at(-2 * h);
  Arrays result;
  for (const auto& [name, array] : a) {
    Array& change = result[name] = array;
    for (size_t k = 0; k < change.values.size(); ++k)
      change.values[k] = (8 * (array.values[k] - b.at(name).values[k]) -
                          (c.at(name).values[k] - d.at(name).values[k])) /
                         (12 * h);
  }
  return result;
}

double inner(const Arrays& a, const std::string& of_a, const Arrays& b, const std::string& of_b) {
  double sum = 0;
  for (const auto& [name, array] : a) {
    auto other = b.find(of_b + name.substr(1));
    if (!name.starts_with(of_a) || other == b.end()) continue;
    for (size_t k = 0; k < array.values.size(); ++k)
      sum += array.values[k] * other->second.values[k];
  }
  return sum;
}

std::string far_apart(const Arrays& want, const std::string& of_want, const Arrays& got,
                      const std::string& of_got) {
  for (const auto& [name, array] : want) {
    const std::string other = of_got + name.substr(of_want.size());
    double scale = 1;
    for (double v : array.values) scale = std::max(scale, std::abs(v));
    for (size_t k = 0; k < array.values.size(); ++k)
      if (!(std::abs(array.values[k] - got.at(other).values[k]) <= 1e-6 * scale))
        return fmt::format("{}[{}]: {} instead of {}", other, k, got.at(other).values[k],
                           array.values[k]);
  }
  return "";
}

TEST(StdBlocks, AreAllFound) {
  size_t declared = 0;
  for (const fs::path& path : library_files()) {
    const std::string text = "\n" + read_text(path);
    for (const char* word : {"\nblock ", "\nfn "})
      for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++declared;
  }
  EXPECT_EQ(programs().size(), declared + kOtherwise.size());
  EXPECT_GE(declared, 52u);
}

// The T and S of the blocks are lengths of sequences, or numbers of pixels.
TEST(StdBlocks, StoreNoTensorOverTwoSequences) {
  constexpr int64_t kLength = 1009;
  for (const Program& p : programs()) {
    SCOPED_TRACE(p.text);
    const driver::Compiled m = compile_text(p.text).at(0);
    for (const plan::Function* f : {&m.plan->forward, &*m.plan->backward}) {
      std::vector<int64_t> sizes;
      for (const ir::Size& s : f->graph.sizes)
        sizes.push_back(s.value ? *s.value : s.name == "T" || s.name == "S" ? kLength : 2);
      f->graph.complete(sizes);
      for (const plan::Kernel& k : f->kernels)
        for (ir::TensorId t : k.writes) {
          if (f->places[t.value] != plan::Place::workspace) continue;
          const auto& extents = f->graph[t].extents;
          EXPECT_LE(std::count_if(
                        extents.begin(), extents.end(),
                        [&](const ir::Poly& e) { return f->graph.value(e, sizes) >= kLength / 4; }),
                    1)
              << f->graph[t].name;
        }
    }
  }
}

TEST(StdBlocks, HaveTheDerivativesThatDifferencesSay) {
  for (const Program& p : programs()) {
    SCOPED_TRACE(p.text);
    const driver::Compiled m = compile_text(p.text, {}, Derive::all).at(0);
    const Arrays given =
        arguments_of(m, {{"B", 2}, {"T", 3}, {"S", 5}, {"I", 3}, {"J", 5}, {"V", 6}});
    const Arrays all =
        driver::call_reference(m, {.given = given, .gradient = true, .jvp = true, .hvp = true});
    EXPECT_EQ(far_apart(differences([&](const Arrays& x) { return outputs_at(m.raw, x); }, given),
                        "", all, "t"),
              "");
    const double left = inner(given, "d", all, "t"), right = inner(all, "d", given, "t");
    EXPECT_NEAR(left, right, 1e-10 * std::max(1.0, std::abs(left))) << "<u, J v> and <J' u, v>";
    // Differences of the gradient of the loss alone, which is the last output.
    auto gradient = [&](Arrays x) {
      for (const ir::Output& o : m.raw.outputs)
        for (double& v : x["d" + o.name].values) v = o.name == m.raw.outputs.back().name;
      return outputs_at(*m.gradient, x);
    };
    EXPECT_EQ(far_apart(differences(gradient, given), "d", all, "h"), "");
  }
}

// Where two branches of a function meet.
TEST(StdBlocks, SmoothFunctionsHaveTheirDerivativeAtZero) {
  const std::pair<const char*, double> functions[] = {{"gelu(x[i])", 0.5},
                                                      {"gelu_tanh(x[i])", 0.5},
                                                      {"silu(x[i])", 0.5},
                                                      {"softplus(x[i])", 0.5},
                                                      {"elu(x[i], 1)", 1.0}};
  for (const auto& [call, derivative] : functions) {
    const std::vector<driver::Compiled> models = compile_text(fmt::format(
        "use std.activations\nsize N\nmodel f(x: [N]) -> y {{\n  y[i] = {}\n}}\n", call));
    const Array zero{{1}, {0}}, one{{1}, {1}};
    const Arrays found =
        driver::call_reference(models[0], {.given = {{"x", zero}, {"dy", one}}, .gradient = true});
    EXPECT_EQ(found.at("dx").values[0], derivative) << call;
  }
}

// Kernels for all of it take minutes: by default for some blocks that others are made of, and for
// those whose name ATTN_BLOCKS matches, a regular expression; `.` is every one.
bool is_compiled(const Program& p) {
  const char* wanted = getenv("ATTN_BLOCKS");
  return std::regex_search(
      p.name, std::regex(wanted ? wanted : "^(attend_causal|layer_norm|cross_entropy)$"));
}

// Of many numbers between -1 and 1 that cancel: by their magnitude. `want` is left without it.
void expect_total(const driver::Compiled& m, const Arrays& values, Arrays& want) {
  const auto total = want.find("total");
  if (total == want.end()) return;
  double magnitude = 0;
  for (const ir::Output& o : m.raw.outputs)
    if (o.name != "total")
      for (double v : want.at(o.name).values) magnitude += std::abs(std::sin(v));
  EXPECT_NEAR(values.at("total").values[0], total->second.values[0], 2e-5 * magnitude);
  want.erase(total);
}

TEST(StdBlocks, HaveKernelsThatAgreeWithTheEvaluator) {
  for (const Program& p : programs()) {
    if (!is_compiled(p)) continue;
    SCOPED_TRACE(p.text);
    Library library(compile_text(p.text, {}, Derive::all));
    for (int64_t t : {5, 1, 0}) {
      const Arrays given = arguments_of(
          library.model(), {{"B", 3}, {"T", t}, {"S", 7}, {"I", t}, {"J", 7}, {"V", 5}});
      const CallOptions options{.jvp = true, .hvp = true};
      const Outcome o = library.call(given, options);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      Arrays want = library.reference(given, "", options);
      expect_total(library.model(), o.values, want);
      // Two normalisations derived twice, and the sum of a tangent whose terms cancel, lose a
      // little more of f32: 2.9e-5 was seen.
      EXPECT_EQ(differ(want, o.values, 5e-5), "") << "T = " << t;
      std::erase_if(
          want, [](const auto& named) { return named.first[0] == 'h' || named.first[0] == 't'; });
      EXPECT_EQ(differ(want, o.values, 2e-5), "") << "T = " << t;
    }
  }
}

}  // namespace
}  // namespace attn::testing
