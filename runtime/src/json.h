// The small part of JSON that a safetensors header uses. There is no recursion: the format fixes
// the nesting, so depth needs no limit.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace attn::rt {

struct Text {
  char* begin;
  size_t length;

  bool is(const char* text) const;
};

class JsonReader {
 public:
  JsonReader(char* begin, char* end) : begin_(begin), at_(begin), end_(end) {}

  // Each returns whether it found what it is named for; take and at_end skip white space first.
  bool take(char c);
  bool at_end();
  // The text between the quotes, escapes checked and still in place.
  bool string(Text* text);
  // A non-negative integer without sign, fraction or exponent, below 2^63.
  bool integer(int64_t* value);

  // Complains once; always returns false.
  bool fail(const char* wrong);
  const char* wrong() const { return wrong_; }
  int64_t offset() const { return at_ - begin_; }
  char* place() const { return at_; }

 private:
  void skip_space();

  char* begin_;
  char* at_;
  char* end_;
  const char* wrong_ = nullptr;
};

// Replaces escapes in place, which never lengthens, and returns the new length. The text has passed
// JsonReader::string.
size_t decode_escapes(Text text);

// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool valid_utf8(const char* text, int64_t length);

}  // namespace attn::rt
