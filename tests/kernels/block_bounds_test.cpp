// Masks that data decides: what no pair of a group of rows and one of columns sees is left out, and
// nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "agreement.h"

namespace attn::testing {
namespace {

constexpr const char* kMasks[] = {
    "j <= i and row[b,i] == column[b,j]",
    "row[b,i] == column[b,j]",
    "column[b,j] <= row[b,i] + 1",
    "row[b,i] - 2 < column[b,j] and keep[b,j]",
    "j < length[b]",
    "j < length[b] and i < length[b] and keep[b,i]",
    "j >= row[b,i] and j < row[b,i] + 40",
    "2 * column[b,j] == row[b,i] or keep[b,j]",
    "j <= i or j < length[b]",
    "j <= i or whole[b]",
    "row[b,i] == column[b,j] or (j <= i and column[b,j] < 2)",
};

std::string model_of(size_t mask) {
  return R"(
size B, T
size H = 2, E = 8
train model attend(q: [B, H, T, E], k: [B, H, T, E], v: [B, H, T, E], row: int[B, T],
    column: int[B, T], length: int[B], keep: bool[B, T],
    whole: bool[B]) -> z {
  param bias: [T, T], table: [H, 2 * T]
  s[b,h,i,j] = (sum[e] q[b,h,i,e] * k[b,h,j,e]) + bias[i,j] + table[h, i - j + T]
  p[b,h,i,j] = softmax[j where )" +
         std::string(kMasks[mask]) + R"(] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
}
)";
}

// Numbers of the places of one sequence.
using Numbering = std::function<double(int64_t place, int64_t length, std::mt19937& random)>;

struct Kind {
  const char* name;
  Numbering row, column;
};

const Kind kNumberings[] = {
    {"documents in order", [](int64_t n, int64_t, std::mt19937&) { return n / 37; },
     [](int64_t n, int64_t, std::mt19937&) { return n / 37; }},
    {"documents in pieces", [](int64_t n, int64_t, std::mt19937&) { return n / 23 % 3; },
     [](int64_t n, int64_t, std::mt19937&) { return n / 23 % 3; }},
    {"in any order", [](int64_t, int64_t, std::mt19937& r) { return r() % 5; },
     [](int64_t, int64_t, std::mt19937& r) { return r() % 5; }},
    {"the widest numbers",
     [](int64_t n, int64_t, std::mt19937&) { return n / 29 % 2 ? 2147483647.0 : -2147483648.0; },
     [](int64_t n, int64_t, std::mt19937&) { return n / 31 % 2 ? 2147483647.0 : -2147483648.0; }},
    {"that nobody shares", [](int64_t n, int64_t, std::mt19937&) { return 1000 + n; },
     [](int64_t n, int64_t, std::mt19937&) { return -n; }},
    {"places", [](int64_t n, int64_t, std::mt19937&) { return n - 20; },
     [](int64_t n, int64_t length, std::mt19937&) { return length - n; }},
};

Arrays call_of(const Library& library, const Kind& kind, int64_t batch, int64_t length) {
  Arrays given = random_call(library.model(), {{"B", batch}, {"T", length}}, 7, length + 2);
  std::mt19937 random(length);
  for (auto [name, number] : {std::pair("row", kind.row), std::pair("column", kind.column)}) {
    std::vector<double>& values = given.at(name).values;
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = number(static_cast<int64_t>(k) % length + static_cast<int64_t>(k) / length * 5,
                         length, random);
  }
  // Kept in runs, as in sequences that are filled up.
  std::vector<double>& keep = given.at("keep").values;
  for (size_t k = 0; k < keep.size(); ++k) keep[k] = k % 90 < 40;
  return given;
}

class BoundsOfData : public ::testing::TestWithParam<size_t> {};

TEST_P(BoundsOfData, HoldAllThatIsSeen) {
  Library library(compile_text(model_of(GetParam())), 2, target_in_turn(GetParam()));
  const bool may_overflow = std::string(kMasks[GetParam()]).find("== column") == std::string::npos;
  for (const Kind& kind : kNumberings) {
    // Only a test for equality has no sum or difference of its own that would overflow.
    if (may_overflow && kind.name == std::string("the widest numbers")) continue;
    for (int64_t length : {0, 1, 15, 16, 17, 49, 100, 257}) {
      SCOPED_TRACE(::testing::Message()
                   << kMasks[GetParam()] << ", " << kind.name << ", T=" << length);
      expect_agreement(library, "attend", call_of(library, kind, 2, length), 2e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, BoundsOfData, ::testing::Range(size_t{0}, std::size(kMasks)));

// With block bounds that hold nothing the kernels leave all out.
TEST(BoundsOfNothing, LeaveOutAll) {
  std::vector<driver::Compiled> models = compile_text(model_of(1));
  int changed = 0;
  for (plan::Function* f : {&models[0].plan->forward, &*models[0].plan->backward})
    for (plan::Kernel& k : f->kernels) {
      auto* row = std::get_if<plan::RowForm>(&k.form);
      if (!row) continue;
      for (ir::Definition& d : row->definitions)
        if (f->graph[d.target].name == "seen.end") {
          d.body = ir::Expr(0);
          ++changed;
        }
    }
  EXPECT_EQ(changed, 2);
  Library library(std::move(models));
  const Outcome o = library.call(random_call(library.model(), {{"B", 2}, {"T", 100}}, 7));
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  for (const char* name : {"z", "dq", "dk", "dv", "dbias", "dtable"})
    for (double v : o.values.at(name).values) ASSERT_EQ(v, 0) << name;
}

// Heads are rows, and positions of the queries a batch.
TEST(BoundsOfBatches, HoldAllThatIsSeen) {
  Library library(compile_text(R"(
size B, T
size H = 1, E = 80, F = 1
train model attend(q: [B, H, T, E], k: [B, T, E], v: [B, T, F], row: int[B, T]) -> z {
  param r: [9, E]
  s[b,h,i,j] = (sum[e] q[b,h,i,e] * (k[b,j,e] + r[clamp(j - i, -4, 4) + 4, e])) / 20
  l[b,h,i] = logsumexp[j where j <= i and row[b,i] == row[b,j]] s[b,h,i,j]
  p[b,h,i,j] = exp(s[b,h,i,j] - l[b,h,i]) / (2 + tanh(l[b,h,i]))
      where j <= i and row[b,i] == row[b,j]
  z[b,h,i,f] = sum[j] p[b,h,i,j] * v[b,j,f]
}
)"));
  for (int64_t length : {0, 1, 17, 49}) {
    SCOPED_TRACE(::testing::Message() << "T=" << length);
    const Sizes sizes = {{"B", 2}, {"T", length}};
    expect_agreement(library, "attend", random_call(library.model(), sizes, 7, 3), 5e-5);
  }
}

}  // namespace
}  // namespace attn::testing
