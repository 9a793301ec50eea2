// docs/grammar.md against the parser, in both directions: what the grammar gives is parsed, what is
// parsed the grammar gives, and what the parser refuses it does not.
#include <gtest/gtest.h>

#include "dsl/lines.h"
#include "dsl/parse.h"
#include "ebnf.h"
#include "tests/support/golden.h"

namespace attn::dsl {
namespace {

namespace fs = std::filesystem;

// The text of all blocks of a page between ```LANGUAGE and ```.
std::vector<std::string> blocks_of(const fs::path& path, const std::string& language) {
  const std::string page = testing::read_text(path), fence = "```" + language + "\n";
  std::vector<std::string> blocks;
  for (size_t at = 0; (at = page.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    const size_t end = page.find("```", at);
    blocks.push_back(page.substr(at, end - at));
    at = end;
  }
  return blocks;
}

Grammar read_grammar() {
  std::string text;
  for (const std::string& block : blocks_of(ATTN_SOURCE_DIR "/docs/grammar.md", "ebnf"))
    text += block;
  return Grammar(text);
}

// What the parser says of a text; empty where it takes it.
std::string refusal_of(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  parse(sources, sources.add("text", text), diagnostics);
  return diagnostics.has_errors() ? render(sources, diagnostics) : "";
}
bool is_refused(const std::string& text) { return !refusal_of(text).empty(); }

// What the words of a text may be to the grammar; nothing where one is no word of the language.
std::optional<std::vector<Words>> words_of(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const int32_t file = sources.add("text", text);
  std::vector<Token> tokens =
      separate_statements(tokenize(sources, file, diagnostics).tokens, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  std::vector<Words> words;
  for (const Token& token : tokens) {
    const std::string itself = "\"" + std::string(token.text) + "\"";
    if (token.kind == TokenKind::end) break;
    if (token.kind == TokenKind::separator)
      words.push_back({"end"});
    else if (token.kind == TokenKind::number)
      words.push_back({"number"});
    else if (token.kind == TokenKind::string)
      words.push_back(token.text.size() > 2 ? Words{"string"} : Words{});
    else if (token.kind == TokenKind::name)
      words.push_back({itself, "name"});
    else
      words.push_back({itself});
  }
  return words;
}

bool is_given(const Grammar& grammar, const std::string& text) {
  const std::optional<std::vector<Words>> words = words_of(text);
  return words && grammar.gives("file", *words);
}

TEST(GrammarPage, HasFourClassesOfWords) {
  EXPECT_EQ(read_grammar().classes(),
            (std::vector<std::string>{"end", "name", "number", "string"}));
}

TEST(GrammarPage, WhatItGivesIsParsed) {
  const Grammar grammar = read_grammar();
  const std::map<std::string, Words> classes = {
      {"name", {"x", "y", "attn.wq", "B", "dx.1", "_k", "exp"}},
      {"number", {"0", "1", "12", "0.5", "1e-5"}},
      {"string", {"\"h.{l}\"", "\"heads.attn\""}},
      {"end", {"\n", ";", "\n\n"}}};
  std::mt19937 random(7);
  size_t longest = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    for (const std::string& word :
         grammar.sentence("file", 4 + round % 40, 20 + round % 300, random)) {
      const auto found = classes.find(word);
      text += found == classes.end() ? word.substr(1, word.size() - 2)
                                     : found->second[random() % found->second.size()];
      text += " ";
    }
    longest = std::max(longest, text.size());
    ASSERT_EQ(refusal_of(text), "") << text.substr(0, 2000);
  }
  EXPECT_GT(longest, 1000u);
}

TEST(GrammarPage, WhatIsParsedItGives) {
  const Grammar grammar = read_grammar();
  int files = 0;
  for (const char* folder :
       {"dsl/std", "examples", "docs/examples", "tests/stages", "tests/format"})
    for (const auto& entry :
         fs::recursive_directory_iterator(ATTN_SOURCE_DIR + ("/" + std::string(folder)))) {
      if (entry.path().extension() != ".attn") continue;
      EXPECT_TRUE(is_given(grammar, testing::read_text(entry.path()))) << entry.path();
      ++files;
    }
  for (const char* page : {"/docs/grammar.md", "/dsl/LANGUAGE.md"})
    for (const std::string& block : blocks_of(ATTN_SOURCE_DIR + std::string(page), "attn")) {
      if (is_refused(block)) continue;  // an excerpt from a block
      EXPECT_TRUE(is_given(grammar, block)) << block;
      ++files;
    }
  EXPECT_GT(files, 60);
}

TEST(GrammarPage, WhatIsRefusedItDoesNotGive) {
  const Grammar grammar = read_grammar();
  int files = 0;
  for (const auto& path : testing::files_in(ATTN_SOURCE_DIR "/tests/refusals/parse", ".attn")) {
    const std::string text = testing::read_text(path);
    if (!is_refused(text)) continue;
    EXPECT_FALSE(is_given(grammar, text)) << path << "\n" << text;
    ++files;
  }
  EXPECT_GT(files, 50);
}

// Each block of the page that shows a rule is a file of its own.
TEST(GrammarPage, ItsExamplesAreParsed) {
  const std::vector<std::string> examples = blocks_of(ATTN_SOURCE_DIR "/docs/grammar.md", "attn");
  EXPECT_GE(examples.size(), 4u);
  for (const std::string& text : examples) EXPECT_FALSE(is_refused(text)) << text;
}

}  // namespace
}  // namespace attn::dsl
