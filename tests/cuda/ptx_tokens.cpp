#include "ptx_tokens.h"

#include <cctype>

namespace ptx {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' ||
         c == '%';
}

}  // namespace

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> all;
  int line = 1;
  const std::string defined = "implicit-def: ";
  for (size_t k = 0; k < text.size();) {
    const char c = text[k];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++k;
    } else if (text.compare(k, 2, "//") == 0) {
      const size_t end = std::min(text.find('\n', k), text.size());
      const size_t at = text.find(defined, k);
      if (at < end) {
        size_t stop = at + defined.size();
        while (stop < end && is_word(text[stop])) ++stop;
        const size_t start = at + defined.size();
        for (const std::string& word :
             {std::string("implicit-def"), text.substr(start, stop - start), std::string(";")})
          all.push_back({word, line});
      }
      k = end;
    } else if (text.compare(k, 2, "/*") == 0) {
      const size_t end = std::min(text.find("*/", k), text.size() - 2) + 2;
      for (; k < end; ++k) line += text[k] == '\n';
    } else if (c == '"') {
      const size_t end = std::min(text.find('"', k + 1), text.size() - 1);
      all.push_back({text.substr(k, end + 1 - k), line});
      k = end + 1;
    } else if (is_word(c)) {
      size_t end = k;
      // A space of memory may have two colons: `.shared::cta`.
      while (end < text.size() &&
             (is_word(text[end]) || (text.compare(end, 2, "::") == 0 && text[k] != '$')))
        end += text[end] == ':' ? 2 : 1;
      all.push_back({text.substr(k, end - k), line});
      k = end;
    } else {
      all.push_back({std::string(1, c), line});
      ++k;
    }
  }
  return all;
}

}  // namespace ptx
