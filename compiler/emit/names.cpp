#include "compiler/emit/names.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

namespace attn::emit {
namespace {

using namespace ir;

// Keywords of C and C++, and names that their headers define as macros.
constexpr const char* kTaken =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq main EOF NULL errno stdin stdout stderr assert linux unix I complex INFINITY NAN "
    "isnan isinf signbit offsetof va_list va_start va_arg va_end va_copy setjmp std attn";

bool is_taken(const std::string& name) {
  static const std::set<std::string> kWords = [] {
    std::istringstream in(kTaken);
    return std::set<std::string>(std::istream_iterator<std::string>(in), {});
  }();
  return kWords.count(name) > 0;
}

}  // namespace

std::string identifier(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  if (result.empty() || isdigit(static_cast<unsigned char>(result[0]))) result = "n" + result;
  if (is_taken(result)) result += "_";
  return result;
}

std::vector<std::string> identifiers(const std::vector<std::string>& names) {
  std::set<std::string> used;
  std::vector<std::string> result;
  for (const std::string& name : names) {
    std::string one = identifier(name);
    while (!used.insert(one).second) one += "_";
    result.push_back(one);
  }
  return result;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(c) < 32)
      result += fmt::format("\\{:03o}", c);
    else
      result += c;
  }
  return result + "\"";
}

std::string comment(std::string text) {
  for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at))
    text.replace(at, 2, "* /");
  return text;
}

std::string wrapped(const std::vector<std::string>& items, const std::string& indent,
                    size_t width) {
  std::string text;
  size_t column = 0;
  for (const std::string& item : items) {
    const bool begins = column == 0 || column + 1 + item.size() > width;
    if (begins && column > 0) text += "\n";
    column = begins ? indent.size() : column + 1;
    text += (begins ? indent : " ") + item;
    column += item.size();
  }
  return text + "\n";
}

std::vector<SizeId> run_time_sizes(const Graph& g) {
  std::vector<SizeId> result;
  for (size_t k = 0; k < g.sizes.size(); ++k) {
    const Size& s = g.sizes[k];
    if (!s.value && !s.definition && !s.quotient) result.push_back({static_cast<int32_t>(k)});
  }
  return result;
}

}  // namespace attn::emit
