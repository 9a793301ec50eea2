// Grammars in EBNF: read from text, to make random sentences of, and to recognise sentences by.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

namespace attn::dsl {

struct Symbol {
  bool is_rule = false;  // else a word
  std::string text;      // of a word: in quotes as `"size"`, or the name of a class, as `number`
};
using Words = std::vector<std::string>;

class Grammar {
 public:
  // Rules `name = alternatives ;`. A name that no rule defines is a class of words.
  explicit Grammar(const std::string& text);

  const std::map<std::string, std::vector<std::vector<Symbol>>>& rules() const { return rules_; }
  // The classes of words: names without a rule.
  std::vector<std::string> classes() const;

  // Words of a random sentence of the rule; past `depth` nested rules, and past `length` words, the
  // shortest way is taken.
  Words sentence(const std::string& rule, int depth, size_t length, std::mt19937& random) const;

  // Whether the rule gives the sentence, of which each word may be read in several ways.
  bool gives(const std::string& rule, const std::vector<Words>& sentence) const;

 private:
  struct Reader;
  void extend(const std::string& rule, int depth, size_t length, std::mt19937& random,
              Words& to) const;
  void find_heights();
  void find_nullable();

  std::map<std::string, std::vector<std::vector<Symbol>>> rules_;
  std::map<std::string, int> height_;     // of the shortest derivation
  std::map<std::string, bool> nullable_;  // gives nothing, too
};

}  // namespace attn::dsl
