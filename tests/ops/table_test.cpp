// Every row of the table of scalar operations: its derivative against central differences of its
// value, its expansion against its value, and a golden that lists them all.
#include "compiler/ops/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "compiler/evaluate/evaluate.h"
#include "compiler/ir/graph.h"
#include "compiler/text/text.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

// A graph with the scalar inputs x1, x2, …, y, so that expressions of a row can be printed and
// evaluated.
struct Row {
  const ir::Operation& op;
  int arity;
  ir::Graph g;
  std::vector<ir::Expr> x;
  ir::Expr y;

  explicit Row(const ir::Operation& operation)
      : op(operation), arity(operation.arity < 0 ? 2 : operation.arity) {
    const bool whole = op.name == "uniform";
    for (int k = 0; k < arity; ++k)
      x.push_back(given(arity == 1 ? "x" : fmt::format("x{}", k + 1),
                        whole ? ir::Storage::i32 : ir::Storage::f64));
    y = given("y", ir::Storage::f64);
  }
  ir::Expr given(std::string name, ir::Storage storage) {
    ir::Tensor t;
    t.name = std::move(name);
    t.storage = storage;
    t.role = ir::Role::input;
    return g.read(g.new_tensor(std::move(t)), {});
  }
  // The value of an expression of x and y at a point.
  double at(const ir::Expr& e, const std::vector<double>& point) const {
    ir::Graph h = g;
    ir::Tensor t;
    t.name = "result";
    t.storage = ir::Storage::f64;
    h.definitions.push_back({.target = h.new_tensor(t), .body = e});
    h.definitions.back() = ir::normal_form(h.definitions.back());
    evaluate::Arrays given;
    for (int k = 0; k < arity; ++k)
      given[g.tensors[static_cast<size_t>(k)].name] = {{}, {point[static_cast<size_t>(k)]}};
    given["y"] = {{}, {op.value(point)}};
    return evaluate::evaluate(h, given).at("result").values[0];
  }
};

// Points in the inside of every domain, away from kinks; more where an operation takes them.
std::vector<std::vector<double>> points(const ir::Operation& op) {
  const bool positive = op.name == "log" || op.name == "log2" || op.name == "sqrt" ||
                        op.name == "rsqrt" || op.name == "pow";
  std::vector<double> line = {0.3, 0.71, 1.4, 2.6};
  if (!positive) line.insert(line.end(), {-0.45, -0.9});
  if (!positive && op.name != "log1p") line.insert(line.end(), {-1.3, -3.1});
  std::vector<std::vector<double>> result;
  for (size_t k = 0; k < line.size(); ++k) {
    std::vector<double> p;
    const int arity = op.arity < 0 ? 2 : op.arity;
    for (int m = 0; m < arity; ++m)
      p.push_back(line[(k + 3 * static_cast<size_t>(m)) % line.size()]);
    result.push_back(std::move(p));
  }
  return result;
}

TEST(Table, DerivativesAgreeWithDifferencesOfTheValue) {
  int checked = 0;
  for (const ir::Operation& op : ops::table()) {
    if (!op.derivative) continue;
    const Row row(op);
    const std::vector<ir::Expr> partials = op.derivative(row.x, row.y);
    ASSERT_EQ(partials.size(), row.x.size()) << op.name;
    for (const std::vector<double>& p : points(op)) {
      for (size_t k = 0; k < p.size(); ++k) {
        auto moved = [&](double h) {
          std::vector<double> at = p;
          at[k] += h;
          return op.value(at);
        };
        const double h = 1e-3;
        const double difference =
            (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
        EXPECT_NEAR(row.at(partials[k], p), difference, 1e-8 * std::max(1.0, std::abs(difference)))
            << op.name << " by argument " << k << " at " << p[0];
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(Table, RowsWithoutADerivativeAreFlat) {
  for (const ir::Operation& op : ops::table()) {
    if (op.derivative || !op.value || op.identity) continue;
    if (op.typing == ir::Typing::truth || op.arity < 0) continue;
    for (const std::vector<double>& p : points(op))
      for (size_t k = 0; k < p.size(); ++k) {
        std::vector<double> near = p;
        near[k] += 1e-6;
        EXPECT_EQ(op.value(p), op.value(near)) << op.name;
      }
  }
}

TEST(Table, ExpansionsHaveTheValueOfTheOperation) {
  for (const ir::Operation& op : ops::table()) {
    if (!op.expand) continue;
    const Row row(op);
    const ir::Expr expanded = op.expand(row.x);
    auto all = points(op);
    for (double far : {-30.0, -8.0, -1e-3, 0.0, 1e-3, 8.0, 30.0})
      if (op.arity == 1 && op.name != "log2") all.push_back({far});
    for (const std::vector<double>& p : all) {
      const double value = op.value(p);
      EXPECT_NEAR(row.at(expanded, p), value, 1e-12 * std::max(1.0, std::abs(value)))
          << op.name << " at " << p[0];
    }
  }
}

// What passes conclude from the meaning of a row.
TEST(Table, MeaningsHold) {
  using ir::Meaning;
  std::map<Meaning, int> seen;
  for (const ir::Operation& op : ops::table()) {
    SCOPED_TRACE(op.name);
    auto f = [&](double a, double b = 0) {
      const double x[] = {a, b};
      return op.value({x, static_cast<size_t>(op.arity < 0 ? 2 : op.arity)});
    };
    ++seen[op.meaning];
    for (const double x : {-3.0, -2.6, -0.5, 0.0, 0.3, 1.0, 2.0})
      for (const double y : {-3.5, -1.0, 0.3, 2.0}) {
        switch (op.meaning) {
          case Meaning::none:
            break;
          case Meaning::exponential:
            EXPECT_NEAR(f(x + y), f(x) * f(y), 1e-14 * f(x + y));
            EXPECT_NEAR(f(1), std::numbers::e, 1e-15);
            break;
          case Meaning::logarithm:
            EXPECT_NEAR(f(std::exp(x)), x, 1e-15);
            break;
          case Meaning::to_real:
            EXPECT_EQ(f(std::floor(x)), std::floor(x));
            EXPECT_EQ(op.typing, ir::Typing::real);
            break;
          case Meaning::to_integer:
            EXPECT_EQ(f(x), std::trunc(x));
            EXPECT_EQ(op.typing, ir::Typing::integer);
            break;
          case Meaning::minimum:
            EXPECT_EQ(f(x, y), x < y ? x : y);
            EXPECT_TRUE(std::isnan(f(x, NAN)) && std::isnan(f(NAN, y)));
            break;
          case Meaning::maximum:
            EXPECT_EQ(f(x, y), x > y ? x : y);
            EXPECT_TRUE(std::isnan(f(x, NAN)) && std::isnan(f(NAN, y)));
            break;
          case Meaning::magnitude:
            EXPECT_EQ(f(x), std::max(x, -x));
            break;
          case Meaning::sign:
            EXPECT_EQ(f(x) * std::abs(x), x);
            EXPECT_TRUE(f(x) == -1 || f(x) == 0 || f(x) == 1);
            break;
          case Meaning::stop:
            EXPECT_EQ(f(x), x);
            EXPECT_FALSE(op.derivative);
            break;
          case Meaning::random:
            EXPECT_TRUE(f(std::floor(x), std::floor(y)) >= 0 &&
                        f(std::floor(x), std::floor(y)) < 1);
            EXPECT_LT(op.arity, 0);
            break;
        }
      }
  }
  // A meaning says which operation it is.
  seen.erase(Meaning::none);
  for (const auto& [meaning, rows] : seen) EXPECT_EQ(rows, 1);
  EXPECT_EQ(seen.size(), 10u);
}

TEST(Table, NamesAreUnique) {
  std::map<std::string_view, int> seen;
  for (const ir::Operation& op : ops::table()) EXPECT_EQ(++seen[op.name], 1) << op.name;
  EXPECT_EQ(ops::find("no_such_operation"), nullptr);
}

// Adding an operation is its row and its line here.
TEST(Table, ListsAllOperations) {
  std::string list;
  for (const ir::Operation& op : ops::table()) {
    const Row row(op);
    constexpr const char* typing[] = {"real", "as its arguments", "whole", "truth"};
    list +=
        fmt::format("{}/{}: {}, cost {}\n", op.name, op.arity < 0 ? "n" : fmt::to_string(op.arity),
                    typing[static_cast<int>(op.typing)], op.cost);
    if (op.derivative) {
      const auto partials = op.derivative(row.x, row.y);
      for (size_t k = 0; k < partials.size(); ++k)
        list += fmt::format("  dy/d{} = {}\n", text::to_string(row.g, row.x[k]),
                            text::to_string(row.g, partials[k]));
    }
    ir::Expr meant;
    if (op.identity && op.identity(row.x, meant))
      list += fmt::format("  is always {}\n", text::to_string(row.g, meant));
    if (op.expand)
      list += fmt::format("  expands to {}\n", text::to_string(row.g, op.expand(row.x)));
  }
  expect_golden(ATTN_SOURCE_DIR "/tests/ops/table.golden", list);
}

// The value is finite at every point of the domain, and at no other.
TEST(Table, DomainsSayWhereThereIsAValue) {
  int refused = 0;
  for (const ir::Operation& op : ops::table()) {
    const Row row(op);
    SCOPED_TRACE(op.name);
    std::vector<std::vector<double>> grid = {{}};
    for (int k = 0; k < row.arity; ++k) {
      std::vector<std::vector<double>> longer;
      for (const std::vector<double>& p : grid)
        for (const double x : {-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0}) {
          longer.push_back(p);
          longer.back().push_back(op.name == "uniform" ? std::floor(x) : x);
        }
      grid = longer;
    }
    const ir::Expr domain = op.domain ? op.domain(row.x) : ir::truth(true);
    for (const std::vector<double>& p : grid) {
      const bool inside = row.at(ir::select(domain, 1, 0), p) != 0;
      EXPECT_EQ(std::isfinite(op.value(p)), inside) << fmt::format("{}", fmt::join(p, ", "));
      refused += !inside;
    }
  }
  EXPECT_GT(refused, 10);
}

// The table of docs/functions.md.
TEST(Table, IsThatOfTheDocuments) {
  std::string list = "| function | what it is | where | derivative |\n|---|---|---|---|\n";
  for (const ir::Operation& op : ops::table()) {
    const Row row(op);
    EXPECT_FALSE(op.brief.empty()) << op.name;
    std::string arguments, derivatives;
    for (const ir::Expr& x : row.x)
      arguments += (arguments.empty() ? "" : ", ") + text::to_string(row.g, x);
    if (op.derivative) {
      const auto partials = op.derivative(row.x, row.y);
      for (size_t k = 0; k < partials.size(); ++k)
        derivatives += fmt::format("{}{}`{}`", k ? "<br>" : "",
                                   row.arity > 1 ? fmt::format("by x{}: ", k + 1) : "",
                                   text::to_string(row.g, partials[k]));
    }
    // What is always written with other functions has its derivative from them.
    ir::Expr meant;
    const bool is_written = op.identity && op.identity(row.x, meant);
    if (derivatives.empty()) derivatives = is_written ? "of that expression" : "0";
    list += fmt::format(
        "| `{}({}{})` | {} | {} | {} |\n", op.name, arguments, op.arity < 0 ? ", …" : "", op.brief,
        op.domain ? "`" + text::to_string(row.g, op.domain(row.x)) + "`" : "", derivatives);
  }
  expect_golden_part(ATTN_SOURCE_DIR "/docs/functions.md", "functions", list);
}

}  // namespace
}  // namespace attn::testing
