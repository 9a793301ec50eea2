// A condition that is drawn and finds no index that it needs is drawn again.
#include "tests/support/program_conditions.h"

#include <fmt/format.h>

namespace attn::testing {

// "" where the two are the same index and the condition drawn needs two.
std::string Conditions::of_indices(const Axis& a, const Axis& c) {
  const bool two = a.index != c.index;
  switch (below(two ? 9 : 3)) {
    case 0:
      return fmt::format("{} % 2 == {}", a.index, below(2));
    case 1:
      return fmt::format("{} > {}", a.index, below(3));
    case 2:
      return fmt::format("{} < {}", a.index, of<std::string>({"B", "T", "S", "N", "M", "T // 2"}));
    case 3:
      return fmt::format("{} <= {}", a.index, c.index);
    case 4:
      return fmt::format("0 <= {} - {} < {}", a.index, c.index, 1 + below(3));
    case 5:
      return fmt::format("abs({} - {}) < {}", a.index, c.index, 1 + below(3));
    case 6:
      return fmt::format("({} + 2 * {}) % 3 > 0", a.index, c.index);
    case 7:
      return fmt::format("{} {} {}", a.index, chance(50) ? "!=" : "==", c.index);
    default:
      return fmt::format("{} + {} < {}", a.index, c.index, c.extent);
  }
}

// "" where the axes have no index that the data drawn needs.
std::string Conditions::of_data(const Axes& axes, const Axis& a, const Axis& c) {
  const Axis *b = one_of(axes, "B"), *t = one_of(axes, "T"), *s = one_of(axes, "S");
  switch (below(5)) {
    case 0:
      if (!b || !t) return "";
      declare_input("length", "int[B]");
      stands_alone(*b);
      return fmt::format("{} < 2 * length[{}] + 1", t->index, b->index);
    case 1:
      if (!b || !s) return "";
      declare_input("keep", "bool[B, S]");
      stands_alone(*b), stands_alone(*s);
      return fmt::format("keep[{},{}]", b->index, s->index);
    case 2:
      if (a.index == c.index || a.extent != "T" || c.extent != "T") return "";
      declare_input("segment", "int[T]");
      stands_alone(a), stands_alone(c);
      return fmt::format("segment[{}] == segment[{}]", a.index, c.index);
    case 3:
      if (!s && !is_present("S")) return "";
      declare_input("on", "bool[S]");
      if (is_present("S") && chance(50)) return fmt::format("on[clamp({}, 0, S - 1)]", below(4));
      return s ? fmt::format("on[{}]", s->index) : "";
    default:
      if (!t) return "";
      declare_input("tok", "int[T]");
      return fmt::format("tok[{}] {} {}", t->index, chance(50) ? "==" : "<", below(3));
  }
}

std::string Conditions::constant_condition() {
  static const std::vector<std::string> kConditions = {
      "2 < 1", "1 < 2", "N < 3", "M != N", "N % 2 == 0", "T > 1", "S == 0", "B < T", "T <= S"};
  return of(kConditions);
}

std::string Conditions::comparison(const Axes& axes) {
  if (chance(8)) return constant_condition();
  for (int k = 0; k < 8 && !axes.empty(); ++k) {
    const Axis a = of(axes), c = of(axes);
    const int kind = below(12);
    if (kind >= 11) break;
    const std::string text = kind < 7 ? of_indices(a, c) : of_data(axes, a, c);
    if (!text.empty()) return text;
  }
  const std::string left = raw(axes);
  return fmt::format("{} < {}", left, chance(80) ? raw(axes) : "0.1");
}

std::string Conditions::condition(const Axes& axes) {
  const std::string first = comparison(axes);
  if (chance(70)) return first;
  switch (below(3)) {
    case 0:
      return fmt::format("{} and {}", first, comparison(axes));
    case 1:
      return fmt::format("({} or {})", first, comparison(axes));
    default:
      return fmt::format("not ({})", first);
  }
}

std::string Conditions::guard(const Axes& axes, int percent) {
  return chance(percent) ? " where " + condition(axes) : "";
}

}  // namespace attn::testing
