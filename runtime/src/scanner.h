// Tokens of the headers of files: Python's literals as NumPy writes them, and the small part of
// JSON that a safetensors header and an index of files use. There is no recursion: the formats fix
// the nesting, and of what is skipped it is only counted, so depth needs no limit.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace attn::rt {

struct Text {
  char* begin;
  size_t length;

  bool is(const char* text) const;
};

// Each function returns whether it found what it is named for, and skips white space first.
class Scanner {
 public:
  Scanner(char* begin, char* end) : begin_(begin), at_(begin), end_(end) {}

  bool take(char c);
  bool take(const char* word);
  bool at_end();
  // Decimal digits, below 2^63; complains with one of the texts.
  bool digits(int64_t* value, const char* none, const char* too_large);

  // Complains once; always returns false.
  bool fail(const char* wrong);
  const char* wrong() const { return wrong_; }
  int64_t offset() const { return at_ - begin_; }

 protected:
  char *begin_, *at_, *end_;

 private:
  const char* wrong_ = nullptr;
};

class JsonScanner : public Scanner {
 public:
  using Scanner::Scanner;

  // The text between the quotes, escapes checked and still in place.
  bool string(Text* text);
  // A non-negative integer without sign, fraction or exponent, below 2^63.
  bool integer(int64_t* value);
  // Any value, of which only strings and brackets are looked at.
  bool skip();
  // Items with commas between them, up to `close`.
  template <class Item>
  bool items(char close, const char* neither, Item item) {
    if (take(close)) return true;
    do
      if (!item()) return false;
    while (take(','));
    return take(close) || fail(neither);
  }
};

// Replaces escapes in place, which never lengthens, and returns the new length. The text has passed
// JsonScanner::string.
size_t decode_escapes(Text text);

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool valid_utf8(const char* text, int64_t length);

}  // namespace attn::rt
