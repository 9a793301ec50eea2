// A kind of map is a function that draws one read, with a name in the table above them.
#include "tests/support/random_index_maps.h"

#include <fmt/format.h>

#include "tests/support/index_maps.h"

namespace attn::testing {
namespace {

// y[indices] = x[subscripts] * w[indices], and a condition for where it is in range.
struct Move {
  std::vector<std::string> extents;     // of y, over i, j, …
  std::string tensor;                   // "u": [T], "v": [P * Q], "m": [P, Q]
  std::vector<std::string> subscripts;  // in i, j, …
  std::string condition = "";
  bool is_sum = false;  // over the last index
};

class Maps : Draws {
 public:
  using Kind = Move (Maps::*)();

  explicit Maps(uint64_t seed) : Draws(seed), seed_(seed) {}

  RandomProgram write(const std::vector<std::string>& kinds) {
    known_ = {{"P", of<int64_t>({2, 3, 4})}, {"Q", of<int64_t>({2, 3, 5})}};
    known_["P * Q"] = known_["P"] * known_["Q"];
    for (int n = 1; n <= 4; ++n) add((this->*Maps::kinds().at(of(kinds)))(), n);
    return finished();
  }

  static const std::map<std::string, Kind>& kinds() {
    static const std::map<std::string, Kind> kKinds = {
        {"flip or roll", &Maps::flipped_or_rolled},
        {"several", &Maps::several},
        {"stride", &Maps::strided},
        {"several of digits", &Maps::several_of_digits},
        {"part", &Maps::part},
        {"split", &Maps::split},
        {"join", &Maps::joined},
        {"digits", &Maps::digits},
        {"rows reversed", &Maps::rows_reversed},
        {"patches", &Maps::patches},
        {"repeated", &Maps::repeated},
        {"window", &Maps::window},
        {"dilated", &Maps::dilated},
        {"guarded", &Maps::guarded},
    };
    return kKinds;
  }

 private:
  // ---- kinds

  Move flipped_or_rolled() { return {{"T"}, "u", {mapped("i", "T", 1)}}; }
  Move several() { return {{"T"}, "u", {mapped("i", "T", 2 + below(2))}}; }
  Move strided() { return {{"P * Q"}, "v", {mapped("i", "P * Q", 1)}}; }
  Move several_of_digits() { return {{"P * Q"}, "v", {mapped("i", "P * Q", 2 + below(2))}}; }

  // The back half, or every second element.
  Move part() {
    const std::string at = of<std::string>({"i", "i + T // 2", "2 * i", "2 * i + 1"});
    return {{"T // 2"}, "u", {chance(50) ? at : fmt::format("T - 1 - ({})", at)}};
  }

  Move split() {
    return {{"P", "Q"},
            "v",
            {mapped(fmt::format("i * Q + {}", mapped("j", "Q", below(2))), "P * Q", below(2))}};
  }

  Move joined() {
    const std::string at = operand(mapped("i", "P * Q", below(2)));
    return {{"P * Q"}, "m", {at + " // Q", at + " % Q"}};
  }

  // Row major read as column major: the digits change places.
  Move digits() {
    const std::string at = operand(mapped("i", "P * Q", below(2)));
    return {{"P * Q"}, "v", {fmt::format("{0} % P * Q + {0} // P", at)}};
  }

  Move rows_reversed() {
    return {{"P * Q"}, "m", {mapped("i // Q", "P", 1), mapped("i % Q", "Q", below(2))}};
  }

  Move patches() {
    return {{"T // 3", "3"}, "u", {fmt::format("3 * i + {}", mapped("j", "3", 1))}};
  }

  Move repeated() { return {{"T + T"}, "u", {chance(50) ? "i // 2" : "i % T"}}; }

  Move window() {
    const std::string at = fmt::format("{} + j - 1", chance(30) ? "2 * i" : "i");
    return {{"T", "3"}, "u", {at}, fmt::format("0 <= {} < T", at), true};
  }

  Move dilated() {
    const std::string at = fmt::format("i - {} * j", 2 + below(2));
    return {{"T", "3"}, "u", {at}, fmt::format("{} >= 0", at), true};
  }

  Move guarded() {
    const std::string at = of<std::string>({"i + 2", "i - 1", "2 * i", "T - 2 - i", "3 * i + 1"});
    return {{"T"}, "u", {at}, fmt::format("0 <= {} < T", at)};
  }

  // ---- the program

  std::string mapped(const std::string& at, const std::string& extent, int steps) {
    return permuted(*this, known_, at, extent, steps);
  }

  void add(const Move& move, int n) {
    static const std::vector<std::string> kIndices = {"i", "j"};
    std::string left, weight, subscripts;
    const size_t rank = move.extents.size();
    for (size_t k = 0; k < rank; ++k) {
      const std::string comma = k ? ", " : "";
      weight += comma + kIndices[k];
      if (!move.is_sum || k + 1 < rank)
        left += fmt::format("{}{}: {}", comma, kIndices[k], move.extents[k]);
      types_ += fmt::format("{}{}", k ? ", " : fmt::format(", w{}: [", n), move.extents[k]);
    }
    types_ += "]";
    for (const std::string& s : move.subscripts) subscripts += (subscripts.empty() ? "" : ", ") + s;
    const std::string term = fmt::format("{}[{}] * w{}[{}]", move.tensor, subscripts, n, weight);
    const std::string where = move.condition.empty() ? "" : " where " + move.condition;
    const std::string value = move.is_sum
                                  ? fmt::format("sum[j: {}{}] {}", move.extents.back(), where, term)
                                  : term + where;
    body_ += fmt::format("  y{}[{}] = {}\n", n, left, value);
    results_ += fmt::format("{}y{}", n > 1 ? ", " : "", n);
  }

  RandomProgram finished() {
    RandomProgram program;
    program.text = fmt::format(
        "size T, S, P = {}, Q = {}\n\n"
        "train model r{}(u: [T], s: [S], v: [P * Q], m: [P, Q]{}) -> {} {{\n{}}}\n",
        known_["P"], known_["Q"], seed_, types_, results_, body_);
    program.calls = {{{"T", 8 + below(9)}, {"S", below(4)}}, {{"T", below(4)}, {"S", below(20)}}};
    return program;
  }

  const uint64_t seed_;
  KnownSizes known_;
  std::string types_, body_, results_;
};

}  // namespace

std::vector<std::string> index_map_kinds() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : Maps::kinds()) names.push_back(name);
  return names;
}

RandomProgram random_index_maps(uint64_t seed, const std::vector<std::string>& kinds) {
  return Maps(seed).write(kinds.empty() ? index_map_kinds() : kinds);
}

}  // namespace attn::testing
