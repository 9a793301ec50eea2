// attnc bench: every kernel of the plan has its line, with figures where it was called.
#include <cstdlib>
#include <optional>
#include <sstream>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

// Has checks of data, contractions with repairs that finite data does not call, and rows.
constexpr const char* kModel =
    "size B in 1..8, T, D = 16, V = 5\n"
    "train model words(token: int[B, T], keep: bool[T], x: [B, T, D]) -> y, loss {\n"
    "  param table: [V, D] = normal(0, 1), w: [D, D]\n"
    "  h[b,i,d] = x[b,i,d] + table[token[b,i], d]\n"
    "  u[b,i,e] = sum[d where d <= e] h[b,i,d] * w[e,d]\n"
    "  y[b,i,e] = softmax[e where keep[i]] (u[b,i,e])\n"
    "  loss = sum[b,i,e] y[b,i,e]^2\n"
    "}\n"
    "model half(x: [T]) -> y {\n"
    "  y[i] = x[i] / 2\n"
    "}\n";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What stands right of the column of names: median, best (each with a unit), GF/s, GB/s, percent.
struct Figures {
  double median = 0, best = 0, rate = 0, bytes = 0;
  std::optional<double> percent;  // none above the peak, which other work on the machine can lower
  std::string unit, best_unit;
  explicit Figures(const std::string& line) {
    // Names are letters; the first figure follows at least two blanks.
    std::istringstream in(line.substr(line.find("  ", 2)));
    std::string share;
    in >> median >> unit >> best >> best_unit >> rate >> bytes >> share;
    EXPECT_TRUE(in) << line;
    if (share != "-") percent = std::stod(share);
  }
};

class Bench : public Folder {
 protected:
  Bench() { file("m.attn", kModel); }
  Ended bench(std::vector<std::string> options) {
    options.insert(options.begin(), {"bench", "m.attn"});
    return attnc(options);
  }
};

TEST_F(Bench, EveryKernelOfBothFunctionsHasALine) {
  const Ended e = bench({"--model", "words", "--size", "B=2", "--size", "T=33"});
  ASSERT_EQ(e.status, 0) << e.error;
  const std::vector<std::string> lines = lines_of(e.out);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0].find("words with B = 2, T = 33, "), 0u) << lines[0];
  const size_t at = lines[0].find("peak ");
  ASSERT_NE(at, std::string::npos) << lines[0];
  const double peak = std::stod(lines[0].substr(at + 5));
  // The plan has one line a kernel, with its operations.
  const Ended plan = attnc({"emit", "m.attn", "--stage=plan", "--model", "words"});
  size_t planned = 0, measured = 0, together = 0;
  for (const std::string& line : lines_of(plan.out)) planned += line.ends_with(" operations)");
  size_t checks = 0;
  for (const std::string& line : lines) {
    if (line.substr(0, 2) != "  ") continue;
    if (line.find("together") != std::string::npos)
      ++together;
    else if (line.find("token.") != std::string::npos)
      ++checks;  // of data; the plan names them in another way
    else
      ++measured;
    const Figures f(line);
    EXPECT_GT(f.median, 0) << line;
    const double share = 100 * f.rate / peak;
    if (f.percent)
      EXPECT_NEAR(*f.percent, share, 0.2 + 0.02 * share) << line;
    else
      EXPECT_GT(share, 99) << line;
  }
  EXPECT_GT(planned, 5u);
  EXPECT_EQ(measured, planned) << e.out << plan.out;
  EXPECT_EQ(together, 2u) << e.out;
  EXPECT_GT(checks, 0u) << e.out;
}

TEST_F(Bench, WorkAndBytesFollowTheSize) {
  for (int k : {0, 1}) {
    const Ended e = bench({"--model", "half", "--size", k ? "T=2000000" : "T=100000"});
    ASSERT_EQ(e.status, 0) << e.error;
    EXPECT_EQ(e.out.find("backward"), std::string::npos) << e.out;
    const std::vector<std::string> lines = lines_of(e.out);
    const Figures f(lines.back());
    const double seconds = f.median * (f.unit == "us" ? 1e-6 : f.unit == "ms" ? 1e-3 : 1);
    // One operation and eight bytes an element.
    const double elements = k ? 2e6 : 1e5;
    EXPECT_NEAR(f.rate * seconds * 1e9, elements, 0.2 * elements) << lines.back();
    EXPECT_NEAR(f.bytes * seconds * 1e9, 8 * elements, 1.6 * elements) << lines.back();
  }
}

// Of 20000 scores a row sees eight, and all are counted.
TEST_F(Bench, PrintsNoShareAboveThePeak) {
  file("near.attn",
       "size T, D = 16\n"
       "model near(q: [T, D]) -> z {\n"
       "  s[i,j] = sum[d] q[i,d] * q[j,d]\n"
       "  p[i,j] = softmax[j where j <= i and j > i - 8] (s[i,j])\n"
       "  z[i,d] = sum[j] p[i,j] * q[j,d]\n"
       "}\n");
  const Ended e = attnc({"bench", "near.attn", "--size", "T=20000", "--seconds", "0"});
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out.find('%'), std::string::npos) << e.out;
  EXPECT_NE(e.out.find("  - *\n"), std::string::npos) << e.out;
  EXPECT_TRUE(lines_of(e.out).back().starts_with("* above the peak: points that a condition hides"))
      << e.out;
}

TEST_F(Bench, SizesAreRefusedAsWhatTheyAre) {
  struct Case {
    std::vector<std::string> options;
    int status;
    std::string said;
  };
  const Case cases[] = {
      {{}, 2, "has the models words, half: choose one with --model"},
      {{"--model", "words", "--size", "B=2"}, 2, "words needs the size `T`: --size T=n"},
      {{"--model", "half", "--size", "T=2", "--size", "TT=2"}, 2, "did you mean `T`?"},
      {{"--model", "half", "--size", "T=2", "--size", "Hidden=2"}, 2, "-D sets one known"},
      {{"--model", "half", "--size", "T=two"}, 2, "--size takes SIZE=n with an integer"},
      {{"--model", "half", "--size", "T=2", "--size", "T=3"}, 2, "--size T is given twice"},
      {{"--model", "words", "--size", "T=4", "--size", "B=9"}, 5, "B"},
  };
  for (const Case& c : cases) {
    const Ended e = bench(c.options);
    EXPECT_EQ(e.status, c.status) << c.said << "\n" << e.error;
    EXPECT_NE(e.error.find(c.said), std::string::npos) << c.said << " is not in\n" << e.error;
    EXPECT_EQ(e.out, "");
  }
}

TEST_F(Bench, TakesAsLongAsItIsToldAndPrintsJson) {
  const Ended e = bench({"--model", "half", "--size", "T=100", "--seconds", "0", "--json"});
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out.find(R"({"model": "half", "sizes": {"T": 100}, "threads": 1, )"), 0u) << e.out;
  EXPECT_NE(e.out.find(R"("name": "forward", "calls": 1, "median_seconds": )"), std::string::npos)
      << e.out;
  EXPECT_NE(e.out.find(R"("operations": 100, "bytes": 800)"), std::string::npos) << e.out;
}

// Of a table the rows that are looked up: 3 tokens, 3 rows of 16 of 5,000, and the result.
TEST_F(Bench, CountsWhatPointsCanReadOfATable) {
  file("g.attn",
       "size T, V = 5000, D = 16\n"
       "model g(token: int[T]) -> y {\n"
       "  param table: [V, D]\n"
       "  y[i,d] = table[token[i], d]\n"
       "}\n");
  const Ended e = attnc({"bench", "g.attn", "--size", "T=3", "--seconds", "0", "--json"});
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.out.find(R"("bytes": 396})"), std::string::npos) << e.out;
}

TEST_F(Bench, SaysTheBytesThatTrainingHolds) {
  file("t.attn",
       "use std.optim\nsize B\nsize D = 16\n"
       "train model t(x: [B, D]) -> loss using adam {\n"
       "  param w: [D, D], v: bf16[D]\n"
       "  h[b,e] = tanh(sum[d] x[b,d] * w[e,d])\n"
       "  loss = sum[b,e] h[b,e]^2 * v[e]\n"
       "}\n"
       "model u(x: [B, D]) -> y {\n"
       "  param o: [D]\n"
       "  y[b,d] = x[b,d] * o[d]\n"
       "}\n");
  // 256 f32 and 16 bf16; gradients and both averages of Adam are f32.
  const Ended t = attnc({"bench", "t.attn", "--model", "t", "--size", "B=8", "--seconds", "0"});
  ASSERT_EQ(t.status, 0) << t.error;
  const std::vector<std::string> lines = lines_of(t.out);
  ASSERT_GT(lines.size(), 1u);
  EXPECT_EQ(lines[1].find("bytes: parameters 1056, gradients 1088, states of the update 2176, "
                          "saved block "),
            0u)
      << lines[1];
  EXPECT_EQ(lines[1].find("saved block 0"), std::string::npos) << lines[1];
  const Ended u =
      attnc({"bench", "t.attn", "--model", "u", "--size", "B=8", "--seconds", "0", "--json"});
  ASSERT_EQ(u.status, 0) << u.error;
  EXPECT_NE(u.out.find(R"("bytes": {"parameters": 64, "gradients": 0, "states": 0, "saved": 0, )"),
            std::string::npos)
      << u.out;
}

}  // namespace
}  // namespace attn::testing
