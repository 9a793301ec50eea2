// The printer's layout, and that what is printed parses to the tree that was printed.
#include "dsl/print.h"

#include <gtest/gtest.h>

#include <ctime>
#include <sstream>

#include "dsl/parse.h"
#include "tests/dsl/random_tree.h"
#include "tests/support/golden.h"

namespace attn::dsl {
namespace {

File parsed(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  File file = parse(sources, sources.add("test.attn", text), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render(sources, diagnostics);
  return file;
}

std::string formatted(const std::string& text) { return print(parsed(text)); }

TEST(Print, RandomExpressionsParseToTheSameTree) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    const ExprPtr tree = RandomTree(seed).expression(5);
    const std::string text = print(tree);
    ExprPtr again;
    ASSERT_NO_THROW(again = parse_expression("(" + text + ")")) << "seed " << seed;
    ASSERT_TRUE(equal(tree, again)) << "seed " << seed << "\n" << text << "\n" << print(again);
  }
}

TEST(Print, RandomFilesParseToTheSameTree) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const File tree = RandomTree(seed).file();
    const std::string text = print(tree);
    SourceMap sources;
    Diagnostics diagnostics;
    const File again = parse(sources, sources.add("printed.attn", text), diagnostics);
    ASSERT_TRUE(diagnostics.all().empty()) << "seed " << seed << "\n"
                                           << render(sources, diagnostics);
    ASSERT_TRUE(equal(tree, again)) << "seed " << seed << "\n" << text << "\n" << print(again);
  }
}

TEST(Print, LinesEndWithinTheWidthWhereTheyCan) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::istringstream lines(print(RandomTree(seed).file()));
    for (std::string line; std::getline(lines, line);) {
      const std::string code = line.substr(0, line.find('#'));
      // A longer line has no place where it may be broken; those are few and short.
      EXPECT_LT(code.size(), kLineWidth + 60u) << "seed " << seed << "\n" << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << "seed " << seed << "\n" << line;
    }
  }
}

TEST(Print, BracketsAreTheFewestThatKeepTheMeaning) {
  const std::pair<const char*, const char*> cases[] = {
      {"(a + b) + c", "a + b + c"},
      {"a + (b + c)", "a + (b + c)"},
      {"a - (b - c)", "a - (b - c)"},
      {"(a * b) / c", "a * b / c"},
      {"a / (b * c)", "a / (b * c)"},
      {"(a ^ b) ^ c", "(a^b)^c"},
      {"a ^ (b ^ c)", "a^b^c"},
      {"-(a ^ 2)", "-a^2"},
      {"(-a) ^ 2", "(-a)^2"},
      {"2 ^ (-x)", "2^-x"},
      {"-(-a)", "-(-a)"},
      {"--a", "-(-a)"},
      {"-a * b", "-a * b"},
      {"-(a * b)", "-(a * b)"},
      {"not (a and b)", "not (a and b)"},
      {"(not a) and b", "not a and b"},
      {"not (a < b)", "not a < b"},
      {"(a < b) < c", "(a < b) < c"},
      {"0 <= j - i < W", "0 <= j - i < W"},
      {"(a or b) and c", "(a or b) and c"},
      {"a or (b and c)", "a or b and c"},
      {"(sum[j] a) * b", "(sum[j] a) * b"},
      {"sum[j] (a * b)", "sum[j] a * b"},
      {"sum[j] (a + b)", "sum[j] (a + b)"},
      {"(sum[j] a) + b", "sum[j] a + b"},
      {"b * (sum[j] a)", "b * sum[j] a"},
      {"-(sum[e] dz * z)", "-(sum[e] dz * z)"},
      {"sum[e] (-dz * z)", "sum[e] (-dz * z)"},
      {"(sum[j] a) / sqrt(E)", "(sum[j] a) / sqrt(E)"},
      {"max[j] (sum[i] x[i,j])", "max[j] sum[i] x[i,j]"},
      {"softmax[j where j <= i] (s[b,h,i,j]) * 2", "softmax[j where j <= i] (s[b,h,i,j]) * 2"},
      {"2 * (if a then b else c)", "2 * (if a then b else c)"},
      {"if a then b else (if c then d else e)", "if a then b else if c then d else e"},
      {"if (if a then b else c) then d else e", "if (if a then b else c) then d else e"},
      {"max(a, b + 1)", "max(a, b + 1)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(print(parse_expression(text)), expected);
}

TEST(Print, SubscriptsLookLikeFormulas) {
  for (const char* text : {"x[b,i,d]", "x[b, h*E + e]", "x[i + k - 1]", "x[2*i + k]",
                           "z[d // E, d % E]", "table[token[b,i], d]", "r[clamp(j - i, -K, K) + K]",
                           "r[h, i - j + T - 1, e]", "x[..., d]", "x[...]", "h[b, t - 1, n]"}) {
    EXPECT_EQ(print(parse_expression(text)), text);
  }
}

TEST(Print, NumbersKeepTheirTextAndMadeOnesAreShort) {
  EXPECT_EQ(print(parse_expression("1.50e-05")), "1.50e-05");
  EXPECT_EQ(print(make_number(1e-5)), "1e-5");
  EXPECT_EQ(print(make_number(1e20)), "1e20");
  EXPECT_EQ(print(make_number(1.0)), "1.0");
  EXPECT_EQ(print(make_number(0.125)), "0.125");
  EXPECT_EQ(print(make_number(-0.5)), "-0.5");
  EXPECT_EQ(print(make_number(int64_t{-3})), "-3");
}

// NAME.attn in tests/format is formatted to NAME.expected, and that to itself.
TEST(Print, FormatsAsTheGoldenFilesSay) {
  testing::expect_goldens_in(ATTN_SOURCE_DIR "/tests/format", [](const auto& path) {
    const std::string once = formatted(testing::read_text(path));
    EXPECT_EQ(formatted(once), once);
    return once;
  });
}

TEST(Print, AThousandLinesParseInWellUnderFiftyMilliseconds) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += "model m" + std::to_string(i) + "(x: [B, T, D]) -> y {\n";
    text += "  param wq: [H, E, D], wk: [H, E, D], wv: [H, E, D]\n";
    for (int k = 0; k < 15; ++k) {
      text += "  s" + std::to_string(k) +
              "[b,h,i,j] = sum[e where j <= i] q[b,h,i,e] * k[b,h,j,e + 1] / sqrt(E)\n";
    }
    text += "}\n";
  }
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    SourceMap sources;
    Diagnostics diagnostics;
    const std::clock_t start = std::clock();  // of this process, however busy the machine is
    parse(sources, sources.add("long.attn", text), diagnostics);
    best = std::min(best, 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_FALSE(diagnostics.has_errors());
  }
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(best, 500);
#else
  EXPECT_LT(best, 50);
#endif
  RecordProperty("milliseconds", std::to_string(best));
}

}  // namespace
}  // namespace attn::dsl
