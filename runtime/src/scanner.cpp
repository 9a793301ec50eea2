#include "scanner.h"

#include <string.h>

namespace attn::rt {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four digits after "\u"; -1 when they are not there.
int hex_unit(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int unit = 0;
  for (int k = 0; k < 4; ++k) {
    const int digit = hex_digit(at[k]);
    if (digit < 0) return -1;
    unit = 16 * unit + digit;
  }
  return unit;
}

bool is_high(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

char* put_utf8(char* to, uint32_t code) {
  if (code < 0x80) {
    *to++ = static_cast<char>(code);
    return to;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr int kLeads[] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = static_cast<char>(static_cast<uint32_t>(kLeads[more]) | code >> 6 * more);
  for (int k = more - 1; k >= 0; --k) *to++ = static_cast<char>(0x80 | (code >> 6 * k & 0x3f));
  return to;
}

}  // namespace

bool Text::is(const char* text) const {
  return length == strlen(text) && memcmp(begin, text, length) == 0;
}

bool Scanner::at_end() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  return at_ == end_;
}

bool Scanner::take(char c) {
  if (at_end() || *at_ != c) return false;
  ++at_;
  return true;
}

bool Scanner::take(const char* word) {
  at_end();
  const size_t length = strlen(word);
  if (static_cast<size_t>(end_ - at_) < length || memcmp(at_, word, length) != 0) return false;
  at_ += length;
  return true;
}

bool Scanner::digits(int64_t* value, const char* none, const char* too_large) {
  if (at_end() || *at_ < '0' || *at_ > '9') return fail(none);
  *value = 0;
  for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
    if (__builtin_mul_overflow(*value, int64_t{10}, value) ||
        __builtin_add_overflow(*value, int64_t{*at_ - '0'}, value)) {
      return fail(too_large);
    }
  }
  return true;
}

bool Scanner::fail(const char* wrong) {
  if (wrong_ == nullptr) wrong_ = wrong;
  return false;
}

bool JsonScanner::string(Text* text) {
  if (!take('"')) return fail("a string is expected");
  text->begin = at_;
  while (at_ < end_ && *at_ != '"') {
    if (static_cast<unsigned char>(*at_) < 0x20) return fail("a control character in a string");
    if (*at_++ != '\\') continue;
    if (at_ == end_) break;
    const char escape = *at_++;
    if (escape != 'u') {
      if (strchr("\"\\/bfnrt", escape) == nullptr || escape == '\0')
        return fail("an unknown escape in a string");
      continue;
    }
    const int unit = hex_unit(at_, end_);
    if (unit < 0 || is_low(unit)) return fail("a bad \\u escape in a string");
    at_ += 4;
    if (!is_high(unit)) continue;
    if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u' || !is_low(hex_unit(at_ + 2, end_)))
      return fail("half a surrogate pair in a string");
    at_ += 6;
  }
  if (at_ == end_) return fail("a string does not end");
  text->length = static_cast<size_t>(at_ - text->begin);
  ++at_;
  return true;
}

bool JsonScanner::integer(int64_t* value) {
  const char* const kExpected = "a non-negative integer is expected";
  const bool is_zero = !at_end() && *at_ == '0';
  const char* first = at_;
  if (!digits(value, kExpected, "an integer exceeds 2^63 - 1")) return false;
  if (is_zero && at_ - first > 1) return fail("an integer begins with 0");
  const bool is_real = at_ < end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E');
  return !is_real || fail(kExpected);
}

bool JsonScanner::skip() {
  int64_t depth = 0;
  do {
    if (at_end()) return fail("a value does not end");
    Text text;
    const char c = *at_;
    if (c == '"') {
      if (!string(&text)) return false;
      continue;
    }
    if (depth == 0 && strchr(",:]}", c) != nullptr) return fail("a value is expected");
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at_;
    // A number or a word ends where nothing of it goes on.
    if (strchr("{}[],:", c) == nullptr)
      while (at_ < end_ && strchr("{}[],:\" \n\t\r", *at_) == nullptr) ++at_;
  } while (depth > 0);
  return true;
}

size_t decode_escapes(Text text) {
  const char* from = text.begin;
  const char* end = text.begin + text.length;
  char* to = text.begin;
  while (from < end) {
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    const char escape = from[1];
    from += 2;
    if (escape != 'u') {
      constexpr char kEscapes[] = "bfnrt", kMeanings[] = "\b\f\n\r\t";
      const char* known = strchr(kEscapes, escape);
      *to++ = known != nullptr ? kMeanings[known - kEscapes] : escape;
      continue;
    }
    uint32_t code = static_cast<uint32_t>(hex_unit(from, end));
    from += 4;
    if (is_high(static_cast<int>(code))) {
      const uint32_t low = static_cast<uint32_t>(hex_unit(from + 2, end));
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      from += 6;
    }
    to = put_utf8(to, code);
  }
  return static_cast<size_t>(to - text.begin);
}

bool valid_utf8(const char* text, int64_t length) {
  const unsigned char* at = reinterpret_cast<const unsigned char*>(text);
  const unsigned char* end = at + length;
  while (at < end) {
    const unsigned char lead = *at++;
    if (lead < 0x80) continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || end - at < more) return false;
    uint32_t code = lead & (0x3fu >> more);
    for (int k = 0; k < more; ++k, ++at) {
      if ((*at & 0xc0) != 0x80) return false;
      code = code << 6 | (*at & 0x3fu);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}

}  // namespace attn::rt
