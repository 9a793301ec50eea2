// Whatever the text, the parser answers with a tree or with messages: never with a crash, an
// internal error, or silence about a text that it did not read to its end.
#include <gtest/gtest.h>

#include <random>

#include "dsl/parse.h"
#include "dsl/print.h"
#include "tests/support/golden.h"

namespace attn::dsl {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const char* folder : {"/tests/format", "/tests/refusals/parse"}) {
    for (const auto& path : testing::files_in(std::string(ATTN_SOURCE_DIR) + folder, ".attn")) {
      texts.push_back(testing::read_text(path));
    }
  }
  return texts;
}

void expect_an_answer(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const File file = parse(sources, sources.add("mutant.attn", text), diagnostics);
  EXPECT_FALSE(render(sources, diagnostics).empty() && diagnostics.has_errors());
  // Text without errors prints to text that parses to the same tree.
  if (diagnostics.has_errors()) return;
  const std::string printed = print(file);
  Diagnostics again;
  const File second = parse(sources, sources.add("printed.attn", printed), again);
  EXPECT_FALSE(again.has_errors()) << render(sources, again);
  EXPECT_TRUE(equal(file, second)) << text << "\n----\n" << printed;
}

TEST(Mutants, OfGoodAndBadTextGetAnAnswer) {
  static const char* const pieces[] = {
      "(",      ")",      "[",       "]",       "{",       "}",           ",",    ":",
      "=",      "==",     "-",       "*",       "^",       "\n",          ";",    "if ",
      " then ", " else ", " where ", "inside",  "sum[j] ", "softmax[j] ", "not ", " and ",
      "...",    "..",     "->",      "#",       "\"",      "1e",          "0x",   "x[i]",
      " as ",   "param ", "size ",   "repeat ", "model ",  "\0",          "\xC3"};
  const std::vector<std::string> texts = seeds();
  std::mt19937 random(1);
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
  for (int round = 0; round < 6000; ++round) {
    std::string text = texts[pick(texts.size())];
    for (size_t changes = 1 + pick(4); changes > 0; --changes) {
      const size_t at = pick(text.size() + 1);
      switch (pick(4)) {
        case 0:
          text.insert(at, pieces[pick(std::size(pieces))]);
          break;
        case 1:
          text.erase(at, 1 + pick(6));
          break;
        case 2:
          if (at < text.size()) text[at] = static_cast<char>(pick(256));
          break;
        default: {
          const std::string& other = texts[pick(texts.size())];
          const size_t from = pick(other.size() + 1);
          text.insert(at, other.substr(from, pick(40)));
        }
      }
    }
    ASSERT_NO_THROW(expect_an_answer(text)) << text;
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "in round " << round << ":\n" << text;
      return;
    }
  }
}

}  // namespace
}  // namespace attn::dsl
