#include "dsl/unicode.h"

namespace attn::dsl {

CodePoint decode_utf8(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size()) return {};
  uint32_t value = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(at + i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) return {};
  return {value, length};
}

bool is_directional_control(uint32_t value) {
  return (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069) ||
         value == 0x200E || value == 0x200F || value == 0x061C;
}

std::string_view ascii_for(uint32_t value) {
  constexpr struct {
    uint32_t value;
    std::string_view ascii;
  } kTable[] = {
      {0x2212, "-"},   {0x2013, "-"},   {0x2014, "-"},   {0x00D7, "*"},    {0x00B7, "*"},
      {0x22C5, "*"},   {0x00F7, "/"},   {0x2264, "<="},  {0x2265, ">="},   {0x2260, "!="},
      {0x2192, "->"},  {0x2026, "..."}, {0x2211, "sum"}, {0x220F, "prod"}, {0x201C, "\""},
      {0x201D, "\""},  {0x2018, "'"},   {0x2019, "'"},   {0x221A, "sqrt"}, {0x00B2, "^2"},
      {0x2227, "and"}, {0x2228, "or"},  {0x00AC, "not"}, {0x00A0, " "},    {0x037E, ";"},
  };
  for (const auto& row : kTable) {
    if (row.value == value) return row.ascii;
  }
  return "";
}

}  // namespace attn::dsl
