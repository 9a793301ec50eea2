#include "compiler/emit/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/solve/prove.h"

namespace attn::emit {
namespace {

using namespace ir;

const std::set<std::string_view>& taken_words() {
  static const std::set<std::string_view> kWords = {"alignas",
                                                    "alignof",
                                                    "and",
                                                    "and_eq",
                                                    "asm",
                                                    "auto",
                                                    "bitand",
                                                    "bitor",
                                                    "bool",
                                                    "break",
                                                    "case",
                                                    "catch",
                                                    "char",
                                                    "char8_t",
                                                    "char16_t",
                                                    "char32_t",
                                                    "class",
                                                    "co_await",
                                                    "co_return",
                                                    "co_yield",
                                                    "compl",
                                                    "concept",
                                                    "const",
                                                    "const_cast",
                                                    "consteval",
                                                    "constexpr",
                                                    "constinit",
                                                    "continue",
                                                    "decltype",
                                                    "default",
                                                    "delete",
                                                    "do",
                                                    "double",
                                                    "dynamic_cast",
                                                    "else",
                                                    "enum",
                                                    "explicit",
                                                    "export",
                                                    "extern",
                                                    "false",
                                                    "float",
                                                    "for",
                                                    "friend",
                                                    "goto",
                                                    "if",
                                                    "inline",
                                                    "int",
                                                    "long",
                                                    "mutable",
                                                    "namespace",
                                                    "new",
                                                    "noexcept",
                                                    "not",
                                                    "not_eq",
                                                    "nullptr",
                                                    "operator",
                                                    "or",
                                                    "or_eq",
                                                    "private",
                                                    "protected",
                                                    "public",
                                                    "register",
                                                    "reinterpret_cast",
                                                    "requires",
                                                    "restrict",
                                                    "return",
                                                    "short",
                                                    "signed",
                                                    "sizeof",
                                                    "static",
                                                    "static_assert",
                                                    "static_cast",
                                                    "struct",
                                                    "switch",
                                                    "template",
                                                    "this",
                                                    "thread_local",
                                                    "throw",
                                                    "true",
                                                    "try",
                                                    "typedef",
                                                    "typeid",
                                                    "typename",
                                                    "union",
                                                    "unsigned",
                                                    "using",
                                                    "virtual",
                                                    "void",
                                                    "volatile",
                                                    "wchar_t",
                                                    "while",
                                                    "xor",
                                                    "xor_eq",
                                                    "main",
                                                    "EOF",
                                                    "NULL",
                                                    "errno",
                                                    "stdin",
                                                    "stdout",
                                                    "stderr",
                                                    "assert",
                                                    "linux",
                                                    "unix",
                                                    "I",
                                                    "complex",
                                                    "INFINITY",
                                                    "NAN",
                                                    "isnan",
                                                    "isinf",
                                                    "signbit",
                                                    "offsetof",
                                                    "va_list",
                                                    "va_start",
                                                    "va_arg",
                                                    "va_end",
                                                    "va_copy",
                                                    "setjmp",
                                                    "std",
                                                    "attn"};
  return kWords;
}

}  // namespace

std::string identifier(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  if (result.empty() || isdigit(static_cast<unsigned char>(result[0]))) result = "n" + result;
  if (taken_words().count(result)) result += "_";
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

std::string size_variable(const Graph& g, SizeId id) { return "n_" + identifier(g[id].name); }

std::string c_expression(const Graph& g, const Poly& p) {
  Poly expanded = g.expand(p);
  int64_t common = 1;
  for (const auto& [monomial, c] : expanded.terms()) common = std::lcm(common, c.den);
  std::string sum;
  for (const auto& [monomial, c] : expanded.terms()) {
    int64_t whole = c.num * (common / c.den);
    std::string product;
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k)
        product += (product.empty() ? "" : " * ") + size_variable(g, size);
    int64_t size_of = whole < 0 ? -whole : whole;
    if (product.empty())
      product = fmt::format("{}", size_of);
    else if (size_of != 1)
      product = fmt::format("{} * {}", size_of, product);
    sum += sum.empty() ? (whole < 0 ? "-" : "") : (whole < 0 ? " - " : " + ");
    sum += product;
  }
  if (sum.empty()) return "0";
  return common == 1 ? sum : fmt::format("({}) / {}", sum, common);
}

std::string c_extent(const Graph& g, const Poly& p) {
  if (auto n = g.known(p)) return std::to_string(std::max<int64_t>(*n, 0));
  std::string text = c_expression(g, p);
  return solve::nonnegative(g, p) ? text : fmt::format("attn_extent({})", text);
}

std::string size_locals(const Graph& g, const std::vector<SizeId>& sizes) {
  std::string text, unused;
  for (size_t k = 0; k < sizes.size(); ++k)
    text += fmt::format("  const int64_t {} = size[{}];\n", size_variable(g, sizes[k]), k);
  for (size_t k = 0; k < g.sizes.size(); ++k) {
    const Size& s = g.sizes[k];
    const SizeId id{static_cast<int32_t>(k)};
    // A step of a recurrence is declared by its loop.
    const bool counted = !s.quotient && std::find(sizes.begin(), sizes.end(), id) == sizes.end();
    if (s.value || s.definition || counted) continue;
    const std::string name = size_variable(g, id);
    unused += fmt::format("  (void){};\n", name);
    if (s.quotient)
      text += fmt::format("  const int64_t {} = attn_quotient({}, {});\n", name,
                          c_expression(g, s.quotient->first), c_expression(g, s.quotient->second));
  }
  return text + unused + "  (void)size;\n";
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

std::vector<SizeId> run_time_sizes(const Graph& g) {
  std::vector<SizeId> result;
  for (size_t k = 0; k < g.sizes.size(); ++k) {
    const Size& s = g.sizes[k];
    if (!s.value && !s.definition && !s.quotient) result.push_back({static_cast<int32_t>(k)});
  }
  return result;
}

}  // namespace attn::emit
