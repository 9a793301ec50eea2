#include "ebnf.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

namespace attn::dsl {
namespace {

constexpr int kEndless = std::numeric_limits<int>::max();

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

// Brackets and braces become rules of their own, without names that a text could have.
struct Grammar::Reader {
  const std::string& text;
  Grammar& to;
  size_t at = 0;

  char next() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at < text.size() ? text[at] : '\0';
  }
  void take(char c) {
    if (next() != c)
      throw std::runtime_error("expected " + std::string(1, c) + " before: " + text.substr(at, 40));
    ++at;
  }
  std::string name() {
    next();
    const size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    if (at == begin) throw std::runtime_error("expected a name before: " + text.substr(at, 40));
    return text.substr(begin, at - begin);
  }
  void rules() {
    while (next() != '\0') {
      const std::string rule = name();
      take('=');
      if (!to.rules_.emplace(rule, alternatives()).second)
        throw std::runtime_error("two rules " + rule);
      take(';');
    }
  }
  std::vector<std::vector<Symbol>> alternatives() {
    std::vector<std::vector<Symbol>> all = {sequence()};
    while (next() == '|') {
      ++at;
      all.push_back(sequence());
    }
    return all;
  }
  std::vector<Symbol> sequence() {
    std::vector<Symbol> all;
    for (char c = next(); c != '|' && c != ')' && c != ']' && c != '}' && c != ';'; c = next())
      all.push_back(symbol(c));
    return all;
  }
  Symbol symbol(char c) {
    if (c == '"') {
      const size_t begin = at;
      at = text.find('"', at + 1) + 1;
      return {false, text.substr(begin, at - begin)};
    }
    if (c == '(' || c == '[' || c == '{') {
      ++at;
      std::vector<std::vector<Symbol>> inner = alternatives();
      take(c == '(' ? ')' : c == '[' ? ']' : '}');
      const Symbol own = {true, "#" + std::to_string(at)};
      if (c == '{')
        for (std::vector<Symbol>& alternative : inner) alternative.insert(alternative.begin(), own);
      if (c != '(') inner.emplace_back();
      to.rules_[own.text] = std::move(inner);
      return own;
    }
    return {true, name()};
  }
};

Grammar::Grammar(const std::string& text) {
  Reader{text, *this}.rules();
  for (auto& [name, alternatives] : rules_)
    for (std::vector<Symbol>& alternative : alternatives)
      for (Symbol& s : alternative) s.is_rule = s.is_rule && rules_.contains(s.text);
  find_heights();
  find_nullable();
}

std::vector<std::string> Grammar::classes() const {
  std::set<std::string> found;
  for (const auto& [name, alternatives] : rules_)
    for (const std::vector<Symbol>& alternative : alternatives)
      for (const Symbol& s : alternative)
        if (!s.is_rule && s.text[0] != '"') found.insert(s.text);
  return {found.begin(), found.end()};
}

void Grammar::find_heights() {
  for (const auto& [name, alternatives] : rules_) height_[name] = kEndless;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, alternatives] : rules_)
      for (const std::vector<Symbol>& alternative : alternatives) {
        int height = 0;
        for (const Symbol& s : alternative)
          if (s.is_rule) height = std::max(height, height_[s.text]);
        if (height == kEndless || height + 1 >= height_[name]) continue;
        height_[name] = height + 1;
        changed = true;
      }
  }
}

void Grammar::find_nullable() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, alternatives] : rules_)
      for (const std::vector<Symbol>& alternative : alternatives) {
        const bool empty =
            std::all_of(alternative.begin(), alternative.end(),
                        [&](const Symbol& s) { return s.is_rule && nullable_[s.text]; });
        changed = changed || (empty && !nullable_[name]);
        nullable_[name] = nullable_[name] || empty;
      }
  }
}

Words Grammar::sentence(const std::string& rule, int depth, size_t length,
                        std::mt19937& random) const {
  Words words;
  extend(rule, depth, length, random, words);
  return words;
}

void Grammar::extend(const std::string& rule, int depth, size_t length, std::mt19937& random,
                     Words& to) const {
  if (to.size() >= length) depth = 0;
  std::vector<const std::vector<Symbol>*> possible;
  for (const std::vector<Symbol>& alternative : rules_.at(rule)) {
    int height = 0;
    for (const Symbol& s : alternative)
      if (s.is_rule) height = std::max(height, height_.at(s.text));
    if (height < std::max(depth, height_.at(rule))) possible.push_back(&alternative);
  }
  for (const Symbol& s : *possible[random() % possible.size()]) {
    if (s.is_rule)
      extend(s.text, depth - 1, length, random, to);
    else
      to.push_back(s.text);
  }
}

// Earley's recogniser: after each word, the set of alternatives that are being read, how far, and
// where they began.
bool Grammar::gives(const std::string& rule, const std::vector<Words>& sentence) const {
  using Item = std::tuple<const std::vector<Symbol>*, const std::string*, size_t, size_t>;
  struct Set {
    std::vector<Item> items;
    std::set<Item> seen;
    void add(const Item& item) {
      if (seen.insert(item).second) items.push_back(item);
    }
  };
  std::vector<Set> sets(sentence.size() + 1);
  const auto predict = [&](const std::string& name, size_t at) {
    const auto found = rules_.find(name);
    for (const std::vector<Symbol>& alternative : found->second)
      sets[at].add({&alternative, &found->first, 0, at});
  };
  predict(rule, 0);
  for (size_t at = 0; at < sets.size(); ++at)
    for (size_t k = 0; k < sets[at].items.size(); ++k) {
      const auto [symbols, name, dot, begin] = sets[at].items[k];
      if (dot == symbols->size()) {
        for (size_t j = 0; j < sets[begin].items.size(); ++j) {
          const auto [outer, outer_name, outer_dot, outer_begin] = sets[begin].items[j];
          if (outer_dot < outer->size() && (*outer)[outer_dot].is_rule &&
              (*outer)[outer_dot].text == *name)
            sets[at].add({outer, outer_name, outer_dot + 1, outer_begin});
        }
        continue;
      }
      const Symbol& s = (*symbols)[dot];
      if (s.is_rule) {
        predict(s.text, at);
        if (nullable_.at(s.text)) sets[at].add({symbols, name, dot + 1, begin});
      } else if (at < sentence.size() && std::find(sentence[at].begin(), sentence[at].end(),
                                                   s.text) != sentence[at].end()) {
        sets[at + 1].add({symbols, name, dot + 1, begin});
      }
    }
  return std::any_of(sets.back().items.begin(), sets.back().items.end(), [&](const Item& item) {
    const auto& [symbols, name, dot, begin] = item;
    return dot == symbols->size() && begin == 0 && *name == rule;
  });
}

}  // namespace attn::dsl
