// Every expression carries a bound of its size, so that what is built on it stays of order 1.
#include "tests/support/program_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attn::testing {

Axis Expressions::axis(const std::string& extent) {
  static const std::vector<std::string> kNames = {"i", "j", "k", "l", "m", "n", "o",
                                                  "p", "q", "r", "s", "u", "v", "w"};
  const size_t n = next_index_++;
  std::string name = kNames[n % kNames.size()];
  // Tensors have digits in their names.
  for (size_t k = kNames.size(); k <= n; k += kNames.size()) name += kNames[n % kNames.size()];
  return {name, extent};
}

std::string Expressions::bound(const Axis& a) {
  if (alone_.count(a.index) && chance(70)) return a.index;
  return fmt::format("{}: {}", a.index, a.extent);
}

const Axis* Expressions::one_of(const Axes& axes, const std::string& extent) {
  std::vector<const Axis*> fitting;
  for (const Axis& a : axes)
    if (a.extent == extent) fitting.push_back(&a);
  return fitting.empty() ? nullptr : of(fitting);
}

void Expressions::declare_input(const std::string& name, const std::string& type) {
  inputs_.emplace(name, type);
}

// ---- reading

// A subscript that is more than an index.
std::optional<std::string> Expressions::computed(const std::string& extent, const Axes& axes) {
  const auto size = known_.find(extent);
  const int64_t n = size == known_.end() ? 0 : size->second;
  const Axis *a = one_of(axes, extent), *c = one_of(axes, extent);
  const Axis *b = one_of(axes, "B"), *t = one_of(axes, "T");
  switch (below(8)) {
    case 0:
      if (n < 3 || !b || !t) break;
      declare_input("kind", "int[B, T]");
      return fmt::format("kind[{},{}]", b->index, t->index);
    case 1:
      if (n >= 1) return fmt::format("{}", below(static_cast<int>(n)));
      break;
    case 2:
      if (n >= 3 && t && a) return fmt::format("clamp({} - {}, -1, 1) + 1", t->index, a->index);
      break;
    case 3:
      if (a) return fmt::format("{} - 1 - {}", extent, a->index);
      break;
    case 4:
      if (a) return fmt::format("{} // 2", a->index);
      break;
    case 5:
      if (a && c && a != c)
        return fmt::format("{}({}, {})", chance(50) ? "min" : "max", a->index, c->index);
      break;
    case 6:
      if (n >= 2 && t) return fmt::format("{} % 2", t->index);
      break;
    default:
      if (const Axis* f = one_of(axes, "N * M"); f && extent == "N")
        return fmt::format("{} // M", f->index);
      else if (f && extent == "M")
        return fmt::format("{} % M", f->index);
      if (extent == "N * M") {
        const Axis *u = one_of(axes, "N"), *v = one_of(axes, "M");
        if (u && v) return fmt::format("{} * M + {}", u->index, v->index);
      }
  }
  return std::nullopt;
}

std::optional<std::string> Expressions::subscript(const std::string& extent, const Axes& axes,
                                                  bool plain) {
  const Axis* a = one_of(axes, extent);
  if (!plain && (!a || chance(12)))
    if (auto text = computed(extent, axes)) return text;
  if (!a) return std::nullopt;
  alone_.insert(a->index);
  return a->index;
}

std::optional<std::string> Expressions::read(const Pooled& tensor, const Axes& axes, bool plain) {
  const std::set<std::string> alone = alone_;
  std::string list;
  for (size_t k = 0; k < tensor.extents.size(); ++k) {
    std::optional<std::string> s;
    if (static_cast<int>(k) == tensor.step)
      s = tensor.before ? back_ : "t";
    else
      s = subscript(tensor.extents[k], axes, plain);
    if (!s) {
      alone_ = alone;
      return std::nullopt;
    }
    list += (list.empty() ? "" : ",") + *s;
  }
  if (tensor.before) {
    // What is defined by itself does not say what its indices run over.
    alone_ = alone;
    carried_.insert(tensor.name);
  }
  return list.empty() ? tensor.name : fmt::format("{}[{}]", tensor.name, list);
}

std::string Expressions::raw(const Axes& axes) {
  std::vector<const Pooled*> given;
  for (const Pooled& p : pool_)
    if (p.given) given.push_back(&p);
  for (int k = 0; k < 8; ++k)
    if (auto text = read(*of(given), axes, true)) return *text;
  return "scalar";
}

Value Expressions::number(const Axes& axes) {
  if (!axes.empty() && chance(60)) return {fmt::format("{} * 0.0625", of(axes).index), 1};
  static const std::vector<std::string> kNumbers = {"0.25", "0.5", "0.75", "1.5"};
  return {of(kNumbers), 1.5};
}

Value Expressions::leaf(const Axes& axes) {
  if (chance(8)) return number(axes);
  for (int k = 0; k < 8; ++k) {
    // The latest tensors are preferred: chains are what derivatives go through.
    const int n = static_cast<int>(pool_.size());
    const int at = chance(60) ? n - 1 - below(std::min(4, n)) : below(n);
    const Pooled& tensor = pool_[static_cast<size_t>(at)];
    if (auto text = read(tensor, axes, false)) return scaled({*text, tensor.bound});
  }
  return {raw(axes), 1};
}

Value Expressions::scaled(Value v) {
  double factor = 1;
  for (; v.bound > 3; v.bound /= 2) factor /= 2;
  if (factor < 1) v.text = fmt::format("{} * {}", v.text, factor);
  return v;
}

// ---- what is made of it

Value Expressions::smooth(const Value& x) {
  const double square = x.bound * x.bound;
  const std::string& e = x.text;
  // An exponential of a large number leaves nothing of what is added to it.
  const std::string small = x.bound > 4 ? fmt::format("tanh({})", e) : e;
  const double most = std::min(x.bound, 4.0);
  const std::string above = fmt::format("(1.25 + ({})^2)", e);
  switch (below(18)) {
    case 0:
      return {fmt::format("tanh({})", e), 1};
    case 1:
      return {fmt::format("sigmoid({})", e), 1};
    case 2:
      return {fmt::format("sin({})", e), 1};
    case 3:
      return {fmt::format("cos({})", e), 1};
    case 4:
      return {fmt::format("atan({})", e), 1.6};
    case 5:
      return {fmt::format("erf({})", e), 1};
    case 6:
      return {fmt::format("exp(0.5 * ({}))", small), std::exp(0.5 * most)};
    case 7:
      return {fmt::format("{}{}", chance(50) ? "log" : "log2", above),
              1.5 * std::log(1.25 + square)};
    case 8:
      return {fmt::format("sqrt{}", above), std::sqrt(1.25 + square)};
    case 9:
      return {fmt::format("rsqrt{}", above), 1};
    case 10:
      return {fmt::format("1 / {}", above), 1};
    case 11:
      return {fmt::format("({})^2", e), square};
    case 12:
      return {fmt::format("log1p(({})^2)", e), square};
    case 13:
      return {fmt::format("exp2(0.5 * ({}))", small), std::exp(0.4 * most)};
    case 14:
      return {fmt::format("tan(0.25 * ({}))", e), 1};
    case 15:
      return {fmt::format("stop({})", e), x.bound};
    case 16:
      return {fmt::format("bump({}, {})", e, 0.25 * (1 + below(3))), 1 + x.bound};
    default:
      return {fmt::format("pow({}, {})", above, chance(50) ? "0.75" : "-1.5"), 1.25 + square};
  }
}

// Has a kink or a step, which given values do not come near.
Value Expressions::kinked(const Axes& axes) {
  const std::string a = raw(axes);
  switch (below(4)) {
    case 0:
      return {fmt::format("{}({})", chance(50) ? "abs" : "relu", a), 1};
    case 1:
      return {fmt::format("clamp({}, -0.5, 2)", a), 1};
    default:
      return kinked_pair(axes, a);
  }
}

Value Expressions::kinked_pair(const Axes& axes, const std::string& a) {
  const std::string b = raw(axes);
  switch (below(9)) {
    case 0:
      return {fmt::format("max({}, {})", a, b), 1};
    case 1:
      return {fmt::format("min({}, {})", a, b), 1};
    case 2:
      return {fmt::format("floor({}) * {}", a, b), 1};
    case 3:
      return {fmt::format("(if finite({}) then {} else 3)", a, b), 1};
    case 4:
      return {fmt::format("(float(int({} * 0.5)) + {})", a, b), 1};
    case 5:
    case 7:
      if (axes.empty()) break;
      declare_input("seed", "int");
      return {fmt::format("uniform(seed, {}) * {} * {}", of(axes).index, a, b), 1};
    case 6:
      if (axes.empty()) break;
      return {fmt::format("float({} % 3 - 1) * {} * {}", of(axes).index, a, b), 1};
    default:
      break;
  }
  return {fmt::format("sign({}) * {}", a, b), 1};
}

// if 0 < i then y[.., i - 1, ..] else something
Value Expressions::shifted(const Axes& axes) {
  const Value otherwise = leaf(axes);
  for (int k = 0; k < 6 && !axes.empty(); ++k) {
    const Axis a = of(axes);
    const Pooled& tensor = of(pool_);
    if (std::count(tensor.extents.begin(), tensor.extents.end(), a.extent) != 1) continue;
    const int by = 1 + below(2);
    const bool down = chance(50);
    Axes moved = axes;
    for (Axis& m : moved)
      if (m.index == a.index) m.index = fmt::format("{} {} {}", a.index, down ? "-" : "+", by);
    // Names that are no index do no harm among those that stand alone.
    const auto text = read(tensor, moved, true);
    if (!text) continue;
    const std::string inside = down ? fmt::format("{} >= {}", a.index, by)
                                    : fmt::format("{} + {} < {}", a.index, by, a.extent);
    return scaled({fmt::format("(if {} then {} else {})", inside, *text, otherwise.text),
                   std::max(tensor.bound, otherwise.bound)});
  }
  return otherwise;
}

// A reduction inside an expression.
Value Expressions::reduced(const Axes& axes, int depth) {
  static const std::vector<std::string> kExtents = {"T", "S", "N", "M", "3"};
  Axes all = axes;
  all.push_back(axis(of(kExtents)));
  const Value v = expression(all, depth);
  const std::string where = guard(all, 25);
  const std::string kind = chance(70) ? "sum" : "mean";
  return scaled(
      {fmt::format("({}[{}{}] ({}))", kind, bound(all.back()), where, v.text), v.bound * 4});
}

Value Expressions::expression(const Axes& axes, int depth) {
  if (depth == 0 || chance(15)) return leaf(axes);
  const int kind = below(100);
  if (kind < 30) return scaled(smooth(expression(axes, depth - 1)));
  if (kind < 40) return kinked(axes);
  if (kind < 46) return reduced(axes, depth - 1);
  if (kind < 54) return shifted(axes);
  const Value a = expression(axes, depth - 1), b = expression(axes, depth - 1);
  if (kind < 60)
    return {fmt::format("(if {} then {} else {})", condition(axes), a.text, b.text),
            std::max(a.bound, b.bound)};
  if (kind < 80) return scaled({fmt::format("({}) * ({})", a.text, b.text), a.bound * b.bound});
  return scaled(
      {fmt::format("({} {} ({}))", a.text, chance(50) ? "+" : "-", b.text), a.bound + b.bound});
}

// ---- conditions

std::string Expressions::comparison(const Axes& axes) {
  for (int k = 0; k < 8 && !axes.empty(); ++k) {
    const Axis a = of(axes), c = of(axes);
    const Axis *b = one_of(axes, "B"), *t = one_of(axes, "T"), *s = one_of(axes, "S");
    const bool two = a.index != c.index;
    switch (below(12)) {
      case 0:
        if (two) return fmt::format("{} <= {}", a.index, c.index);
        break;
      case 1:
        if (two) return fmt::format("0 <= {} - {} < {}", a.index, c.index, 1 + below(3));
        break;
      case 2:
        if (two) return fmt::format("abs({} - {}) < {}", a.index, c.index, 1 + below(3));
        break;
      case 3:
        if (two) return fmt::format("({} + 2 * {}) % 3 > 0", a.index, c.index);
        break;
      case 4:
        if (two) return fmt::format("{} != {}", a.index, c.index);
        break;
      case 5:
        if (two) return fmt::format("{} + {} < {}", a.index, c.index, c.extent);
        break;
      case 6:
        if (!b || !t) break;
        declare_input("length", "int[B]");
        alone_.insert(b->index);
        return fmt::format("{} < 2 * length[{}] + 1", t->index, b->index);
      case 7:
        if (!b || !s) break;
        declare_input("keep", "bool[B, S]");
        alone_.insert(b->index), alone_.insert(s->index);
        return fmt::format("keep[{},{}]", b->index, s->index);
      case 8:
        if (!t || !two || a.extent != "T" || c.extent != "T") break;
        declare_input("segment", "int[T]");
        alone_.insert(a.index), alone_.insert(c.index);
        return fmt::format("segment[{}] == segment[{}]", a.index, c.index);
      case 9:
        return fmt::format("{} % 2 == {}", a.index, below(2));
      case 10:
        return fmt::format("{} > {}", a.index, below(3));
      default:
        const std::string left = raw(axes);
        return fmt::format("{} < {}", left, raw(axes));
    }
  }
  return fmt::format("{} < 0.1", raw(axes));
}

std::string Expressions::condition(const Axes& axes) {
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

std::string Expressions::guard(const Axes& axes, int percent) {
  return chance(percent) ? " where " + condition(axes) : "";
}

}  // namespace attn::testing
