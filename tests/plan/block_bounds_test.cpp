// Which columns a block of rows may see, from the conditions of data that hide the others.
#include "compiler/plan/block_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/evaluate/evaluate.h"
#include "compiler/text/text.h"
#include "forms.h"
#include "promises.h"
#include "tests/support/build_graph.h"
#include "tests/support/random_graph.h"

namespace attn::testing {
namespace {

using namespace ir;

// Scores over (b, i, j) that exist where a condition holds.
struct Masked {
  explicit Masked(const std::string& condition, const std::string& columns = "S")
      : graph(build_graph("size B, T, S\n"
                          "int row[B,T], column[B,S], length[B], limit\n"
                          "bool keep[B,S], used[B,T], whole[B]\n"
                          "input x[B,T], y[B,S]\n"
                          "s[b: B, i: T, j: " +
                          columns + "] = 1.0 where " + condition + "\noutput s")) {
    const Definition& d = graph.definitions[0];
    const plan::TilesForm form{.batch = {d.free[0]},
                               .row = d.free[1],
                               .column = d.free[2],
                               .tiles = {{.value = Expr(1.0), .visible = d.guard}},
                               .results = {{}}};
    found = plan::find_bounds(graph, plan::bounds_query(form));
  }

  // What is taken of each block: `row.greatest[T.groups] = row[b, 16*g + r]`, sorted.
  std::vector<std::string> values() const {
    std::vector<std::string> all;
    for (const Definition& d : found->definitions) {
      const Tensor& t = graph[d.target];
      if (!t.name.starts_with("seen."))
        all.push_back(t.name + "[" + text::to_string(graph, t.extents.back()) +
                      "] = " + text::to_string(graph, d.body));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  // Where rows of block g may see columns of block n.
  std::string seen() const {
    for (const Definition& d : found->definitions)
      if (d.target == found->bounds.first) return text::to_string(graph, d.body.args()[0]);
    return "no bounds";
  }

  Graph graph;
  std::optional<plan::FoundBounds> found;
};

struct Condition {
  const char* text;
  std::vector<std::string> values;
  const char* seen;
};

const Condition kConditions[] = {
    // Equalities and inequalities of a value of the row and one of the column.
    {"row[b,i] == column[b,j]",
     {"column.greatest[S.groups] = column[b, 16*g + r]",
      "column.least[S.groups] = column[b, 16*g + r]", "row.greatest[T.groups] = row[b, 16*g + r]",
      "row.least[T.groups] = row[b, 16*g + r]"},
     "float(column.least[b,n]) <= float(row.greatest[b,g]) and "
     "float(row.least[b,g]) <= float(column.greatest[b,n])"},
    {"column[b,j] <= row[b,i]",
     {"column.least[S.groups] = column[b, 16*g + r]", "row.greatest[T.groups] = row[b, 16*g + r]"},
     "float(column.least[b,n]) <= float(row.greatest[b,g])"},
    {"row[b,i] - 2 < column[b,j]",
     {"column.greatest[S.groups] = column[b, 16*g + r]",
      "row.least[T.groups] = row[b, 16*g + r] - 1"},
     "float(row.least[b,g]) <= float(column.greatest[b,n])"},
    // An index is its own bound.
    {"j <= row[b,i]",
     {"row.greatest[T.groups] = row[b, 16*g + r]"},
     "float(16 * n) <= float(row.greatest[b,g])"},
    {"j + row[b,i] <= T",
     {"row.least[T.groups] = row[b, 16*g + r] - T"},
     "float(row.least[b,g]) <= float(-16 * n)"},
    {"i + j < length[b]",
     {"length.greatest[T.groups] = length[b] - 16 * g - r - 1"},
     "float(16 * n) <= float(length.greatest[b,g])"},
    // Conditions of the row or the column alone, or of neither.
    {"j < length[b]", {}, "float(16 * n) <= float(length[b] - 1)"},
    {"j <= limit", {}, "float(16 * n) <= float(limit)"},
    {"i < length[b]",
     {"length.greatest[T.groups] = length[b] - 16 * g - r - 1"},
     "float(length.greatest[b,g]) >= 0.0"},
    {"keep[b,j]",
     {"keep.greatest[S.groups] = if keep[b, 16*g + r] then 1 else 0"},
     "keep.greatest[b,n] >= 1"},
    {"not used[b,i]",
     {"used.greatest[T.groups] = if not used[b, 16*g + r] then 1 else 0"},
     "used.greatest[b,g] >= 1"},
    {"whole[b]", {}, "whole[b]"},
    // Of conjuncts those that read data; inside a disjunction also those that do not.
    {"j <= i and x[b,i] < y[b,j] and j <= limit", {}, "float(16 * n) <= float(limit)"},
    {"j <= i or j <= limit",
     {},
     "float(16 * n) <= float(limit) or float(16 * n) <= float(16 * g + 15)"},
    {"j <= i and keep[b,j] or whole[b]",
     {"keep.greatest[S.groups] = if keep[b, 16*g + r] then 1 else 0"},
     "whole[b] or float(16 * n) <= float(16 * g + 15) and keep.greatest[b,n] >= 1"},
};

void PrintTo(const Condition& c, std::ostream* out) { *out << c.text; }

class BlockBounds : public ::testing::TestWithParam<Condition> {};

TEST_P(BlockBounds, FollowFromTheCondition) {
  const Masked m(GetParam().text);
  ASSERT_TRUE(m.found);
  EXPECT_EQ(m.values(), GetParam().values);
  EXPECT_EQ(m.seen(), GetParam().seen);
}

TEST_P(BlockBounds, HoldAllThatIsVisible) {
  Masked m(GetParam().text);
  ASSERT_TRUE(m.found);
  Graph& g = m.graph;
  for (const Definition& d : m.found->definitions) g.definitions.push_back(d);
  verify(g, "find_bounds");
  for (TensorId t : {m.found->bounds.first, m.found->bounds.end})
    g.outputs.push_back({.name = g[t].name, .tensor = t});
  constexpr int64_t kBatch = 2, kRows = 37, kColumns = 50;
  std::vector<int64_t> sizes(g.sizes.size());
  std::copy_n(std::initializer_list<int64_t>{kBatch, kRows, kColumns}.begin(), 3, sizes.begin());
  g.complete(sizes);
  for (int64_t integers : {2, 9, 60}) {
    const evaluate::Arrays all = evaluate::evaluate(g, random_inputs(g, sizes, 1, integers));
    const std::vector<double>&s = all.at("s").values, &first = all.at("seen.first").values,
          &end = all.at("seen.end").values;
    const int64_t blocks = (kRows + plan::kBoundRows - 1) / plan::kBoundRows;
    for (int64_t n = 0; n < kBatch * kRows * kColumns; ++n) {
      if (s[n] == 0) continue;
      const int64_t column = n % kColumns, row = n / kColumns % kRows, b = n / kColumns / kRows;
      const int64_t at = row / plan::kBoundRows + (m.found->bounds.batch.empty() ? 0 : b * blocks);
      EXPECT_TRUE(first.at(at) <= column && column < end.at(at))
          << b << " " << row << " " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, BlockBounds, ::testing::ValuesIn(kConditions));

TEST(BlockBounds, AreNoneWhereNoIntegersOfRowAndColumnCompare) {
  for (const char* condition : {
           "j <= i",                           // reads no data
           "x[b,i] < y[b,j]",                  // reals
           "row[b,i] != column[b,j]",          // excludes next to nothing
           "row[b,i] * column[b,j] == 1",      // a term of both
           "row[b,i] - column[b,j] >= i * j",  // the same
           "j <= limit or x[b,i] < y[b,j]",    // one disjunct decides nothing
       })
    EXPECT_FALSE(Masked(condition).found) << condition;
}

TEST(BlockBounds, HaveTheBatchThatTheConditionDependsOn) {
  const auto batch = [](const char* condition) {
    return Masked(condition).found->bounds.batch.size();
  };
  EXPECT_EQ(batch("j < length[b]"), 1u);
  EXPECT_EQ(batch("j <= limit"), 0u);
}

TEST(BlockBounds, AreSharedByRowsAndColumnsOfOneExtent) {
  const Masked apart("row[b,i] == row[b,j % T]"), alike("row[b,i] == row[b,j]", "T");
  EXPECT_EQ(apart.values().size(), 4u);
  EXPECT_EQ(alike.values(), (std::vector<std::string>{"row.greatest[T.groups] = row[b, 16*g + r]",
                                                      "row.least[T.groups] = row[b, 16*g + r]"}));
}

TEST(BlockBounds, AreSharedByKernelsOfOneCondition) {
  const auto file = planned_text(kAttend);
  plan::Function& f = *file->models.at(0).plan->backward;
  const auto &a = form<plan::TilesForm>(f, 0).bounds, &b = form<plan::TilesForm>(f, 1).bounds;
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->first, b->first);
  EXPECT_EQ(a->end, b->end);
}

// A block may be partly outside: 37 rows are three blocks.
TEST(BlockBounds, CountBlocksThatAreNotFull) {
  const Masked m("j < length[b]");
  const std::vector<Poly>& extents = m.graph[m.found->bounds.first].extents;
  std::vector<int64_t> sizes(m.graph.sizes.size());
  sizes[1] = 37;
  m.graph.complete(sizes);
  EXPECT_EQ(m.graph.value(extents.back(), sizes), 3);
}

}  // namespace
}  // namespace attn::testing
