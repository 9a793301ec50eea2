#include "dsl/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "dsl/parse.h"
#include "dsl/spelling.h"
#include "dsl/unicode.h"

namespace attn::dsl {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

// A number out of a double's range lies either beyond it or below it. The decimal exponent of the
// first digit that counts tells which.
bool is_underflow(std::string_view number) {
  const size_t e = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, e);
  const size_t first = mantissa.find_first_of("123456789");
  const size_t dot = std::min(mantissa.find('.'), mantissa.size());
  const int64_t place = static_cast<int64_t>(dot) - static_cast<int64_t>(first);
  int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = number.substr(e + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (code != std::errc()) return digits.front() == '-';
    exponent = std::clamp<int64_t>(exponent, -1'000'000'000, 1'000'000'000);
  }
  return place + exponent < 0;
}

class Lexer {
 public:
  Lexer(const SourceMap& sources, int32_t file, Diagnostics& diagnostics)
      : text_(sources.file(file).text), file_(file), diagnostics_(diagnostics) {}

  Tokens run() {
    if (text_.size() > kMaxSourceBytes) {
      diagnostics_
          .limit({file_, 0, 0}, fmt::format("the file has {} bytes; the limit is {}", text_.size(),
                                            kMaxSourceBytes))
          .help = "split it, and join the parts by `use`";
      return finish();
    }
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    while (at_ < text_.size() && !stopped_) next();
    return finish();
  }

 private:
  Tokens finish() {
    const uint32_t end = static_cast<uint32_t>(text_.size());
    result_.tokens.push_back({TokenKind::end, {file_, end, end}, {}});
    return std::move(result_);
  }

  Span span(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  // The token of [at_, end).
  void push(TokenKind kind, size_t end) {
    if (result_.tokens.size() >= kMaxTokens) {
      diagnostics_
          .limit(span(at_, end),
                 fmt::format("the file has more than {} words and signs", kMaxTokens))
          .help = "split it, and join the parts by `use`";
      stopped_ = true;
    }
    result_.tokens.push_back({kind, span(at_, end), text_.substr(at_, end - at_)});
    at_ = end;
  }

  Diagnostic& error(size_t begin, size_t end, std::string message) {
    return diagnostics_.error(span(begin, end), std::move(message));
  }

  void next() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++at_;
    } else if (c == '\n' || c == '\r') {
      const bool pair = c == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
      push(TokenKind::newline, at_ + (pair ? 2 : 1));
    } else if (c == '#') {
      comment();
    } else if (c == '"') {
      string();
    } else if (is_digit(c)) {
      number();
    } else if (is_letter(c)) {
      name();
    } else if (static_cast<unsigned char>(c) >= 0x80 || c < 0x20 || c == 0x7F) {
      foreign_character();
    } else {
      sign();
    }
  }

  size_t line_end(size_t from) const {
    return std::min(text_.find_first_of("\r\n", from), text_.size());
  }

  // Comments and strings may hold any text that is well-formed, shows what it is, and has no
  // control characters. Returns false after reporting the first place that is not so.
  bool check_free_text(size_t begin, size_t end, const char* what) {
    for (size_t i = begin; i < end;) {
      const CodePoint point = decode_utf8(text_, i);
      if (point.length == 0) {
        error(i, i + 1,
              fmt::format("the {} is not valid UTF-8: byte 0x{:02X}", what,
                          static_cast<unsigned char>(text_[i])));
        return false;
      }
      if (is_directional_control(point.value)) {
        error(i, i + point.length,
              fmt::format("the {} has the character U+{:04X}, which changes the direction of text",
                          what, point.value))
            .help = "remove it: with it the line reads otherwise than it is compiled";
        return false;
      }
      if ((point.value < 0x20 && point.value != '\t') || point.value == 0x7F) {
        error(i, i + 1,
              fmt::format("the {} has the control character 0x{:02X}", what, point.value));
        return false;
      }
      i += point.length;
    }
    return true;
  }

  void comment() {
    const size_t end = line_end(at_);
    check_free_text(at_, end, "comment");
    const bool own_line =
        result_.tokens.empty() || result_.tokens.back().kind == TokenKind::newline;
    result_.comments.push_back({span(at_, end), own_line});
    at_ = end;
  }

  void string() {
    const size_t limit = line_end(at_ + 1);
    const size_t close = text_.find('"', at_ + 1);
    if (close == std::string_view::npos || close >= limit) {
      error(at_, at_ + 1, "this string is not closed on its line").help = "end it with `\"`";
      push(TokenKind::bad, limit);
      return;
    }
    const bool good = check_free_text(at_ + 1, close, "string");
    push(good ? TokenKind::string : TokenKind::bad, close + 1);
  }

  // A number takes all that hangs together with it, so that `0x10` or `1_000` is one wrong number
  // and never two tokens.
  void number() {
    size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    const auto at = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
    digits();
    bool real = false, well_formed = true;
    if (at(end) == '.' && is_digit(at(end + 1))) {
      real = true;
      ++end;
      digits();
    }
    const bool sign_follows = at(end + 1) == '+' || at(end + 1) == '-';
    if ((at(end) == 'e' || at(end) == 'E') && is_digit(at(end + (sign_follows ? 2 : 1)))) {
      real = true;
      end += sign_follows ? 2 : 1;
      digits();
    }
    if (at(end) == '.' && at(end + 1) != '.') {
      well_formed = false;
      ++end;
    }
    while (is_word(at(end)) || (!well_formed && at(end) == '.')) {
      well_formed = false;
      ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    const bool good = well_formed ? check_number(word, real) : malformed(word);
    push(good ? TokenKind::number : TokenKind::bad, end);
  }

  static std::string shortened(std::string_view word) {
    return word.size() <= 40 ? std::string(word) : fmt::format("{}...", word.substr(0, 37));
  }

  bool malformed(std::string_view word) {
    Diagnostic& diagnostic =
        error(at_, at_ + word.size(), fmt::format("`{}` is not a number", shortened(word)));
    if (word.substr(0, 2) == "0x" || word.substr(0, 2) == "0X") {
      diagnostic.help = "numbers are decimal";
    } else if (word.find('_') != std::string_view::npos) {
      diagnostic.help = "write the digits without `_`";
    } else if (word.back() == '.') {
      diagnostic.help = fmt::format("write `{}0`", shortened(word));
    } else if (std::all_of(word.begin(), word.end(), is_word)) {
      diagnostic.help = "a name does not begin with a digit; a product needs its `*`";
    } else {
      diagnostic.help = "numbers look like 1, 0.5 or 1e-5";
    }
    return false;
  }

  bool check_number(std::string_view word, bool real) {
    if (word.size() > 1 && word[0] == '0' && is_digit(word[1])) {
      error(at_, at_ + word.size(), fmt::format("`{}` begins with a zero", shortened(word))).help =
          "write it without leading zeros; numbers are decimal";
      return false;
    }
    const char *first = word.data(), *last = first + word.size();
    if (!real) {
      int64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc()) return true;
      error(at_, at_ + word.size(), fmt::format("the integer {} is out of range", shortened(word)))
          .help = "the largest integer is 9223372036854775807; a real number has a `.` or an `e`";
      return false;
    }
    double value = 0;
    if (std::from_chars(first, last, value).ec == std::errc()) return true;
    if (is_underflow(word)) {
      diagnostics_.warning(
          span(at_, at_ + word.size()), "numbers",
          fmt::format("{} is too small for a 64-bit real and counts as 0", shortened(word)));
      return true;
    }
    error(at_, at_ + word.size(), fmt::format("the number {} is out of range", shortened(word)))
        .help = "the largest real number is about 1.797e308";
    return false;
  }

  // A name may have parts with dots between: `attn.wq`, `dx.1`.
  void name() {
    size_t end = at_, part = at_;
    bool too_long = false;
    while (true) {
      while (end < text_.size() && is_word(text_[end])) ++end;
      too_long |= end - part > kMaxNameBytes;
      if (end + 1 >= text_.size() || text_[end] != '.' || !is_word(text_[end + 1])) break;
      part = ++end;
    }
    if (too_long) {
      diagnostics_.limit(span(at_, end), fmt::format("a name has {} bytes; the limit is {}",
                                                     end - at_, kMaxNameBytes));
      push(TokenKind::bad, end);
      return;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    const std::string_view first_part = word.substr(0, word.find('.'));
    if (first_part.size() < word.size() && is_reserved(first_part)) {
      error(at_, end,
            fmt::format("a name cannot begin with `{}`, which is a reserved word", first_part));
      push(TokenKind::bad, end);
      return;
    }
    push(kind_of_word(word), end);
  }

  void foreign_character() {
    const CodePoint point = decode_utf8(text_, at_);
    if (point.length == 0) {
      error(at_, at_ + 1,
            fmt::format("the byte 0x{:02X} is not valid UTF-8",
                        static_cast<unsigned char>(text_[at_])));
      push(TokenKind::bad, at_ + 1);
      return;
    }
    const std::string_view shape = text_.substr(at_, point.length);
    if (point.value < 0x80) {
      error(at_, at_ + 1,
            fmt::format("the control character 0x{:02X} has no place in a source", point.value));
    } else if (is_directional_control(point.value) || point.value == 0xFEFF) {
      error(at_, at_ + point.length,
            fmt::format("the invisible character U+{:04X} has no place in a source", point.value));
    } else {
      const std::string_view instead = ascii_for(point.value);
      Diagnostic& diagnostic =
          error(at_, at_ + point.length,
                fmt::format("the character {} (U+{:04X}) is not part of the language", shape,
                            point.value));
      diagnostic.help = instead.empty() ? "names have ASCII letters, digits and `_`"
                                        : fmt::format("write `{}`", instead);
    }
    // What hangs together with it is the same mistake: `größe`, `−−`.
    size_t end = at_ + point.length;
    while (end < text_.size()) {
      const CodePoint more = decode_utf8(text_, end);
      if (more.length == 0 || (more.value < 0x80 && !is_word(text_[end]))) break;
      end += more.length;
    }
    push(TokenKind::bad, end);
  }

  void sign() {
    const std::string_view rest = text_.substr(at_);
    if (rest.substr(0, 2) == "/*") {
      error(at_, at_ + 2, "`/*` does not open a comment").help =
          "a comment is `# ...`, to the end "
          "of the line";
      const size_t close = text_.find("*/", at_ + 2);
      push(TokenKind::bad, close == std::string_view::npos ? text_.size() : close + 2);
      return;
    }
    if (const auto found = sign_at(rest)) {
      push(found->kind, at_ + found->text.size());
      return;
    }
    size_t length = 1;
    std::string_view help;
    if (const auto foreign = foreign_sign_at(rest)) {
      length = foreign->text.size();
      help = foreign->instead;
    }
    if (rest[0] == '.')
      help = rest.size() > 1 && is_digit(rest[1]) ? "write a digit before `.`" : "";
    error(at_, at_ + length,
          fmt::format("`{}` is not part of the language", rest.substr(0, length)))
        .help = std::string(help);
    while (at_ + length < text_.size() && rest[0] == '.' && is_word(rest[length])) ++length;
    push(TokenKind::bad, at_ + length);
  }

  std::string_view text_;
  int32_t file_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  bool stopped_ = false;
  Tokens result_;
};

}  // namespace

Tokens tokenize(const SourceMap& sources, int32_t file, Diagnostics& diagnostics) {
  return Lexer(sources, file, diagnostics).run();
}

}  // namespace attn::dsl
