#include "tests/support/program_corners.h"

#include <fmt/format.h>

namespace attn::testing {
namespace {

// What a reduction may give over nothing is huge.
std::string kept_small(const std::string& text) { return fmt::format("clamp({}, -4, 4)", text); }

}  // namespace

void Corners::corner() {
  switch (below(in_scan_ ? 6 : 10)) {
    case 0:
      return constant();
    case 1:
      return diagonal();
    case 2:
      return unvarying();
    case 3:
      return over_nothing();
    case 4:
      return extreme_of_extremes();
    case 5:
      return ties();
    case 6:
      return chained();
    case 7:
      return chosen();
    case 8:
      return experts();
    default:
      return picked();
  }
}

Axes Corners::any_reduced() {
  Axes reduced;
  for (const std::string& extent : some_extents(1, 2)) reduced.push_back(axis(extent));
  return reduced;
}

// A tensor that is the same everywhere, or wherever a condition holds.
void Corners::constant() {
  const Axes free = free_axes(0, 2);
  const std::string text = of<std::string>({"1", "0", "0.5", "-1", "scalar"});
  define(fresh("o"), free, {text, 1}, guard(free, 30));
}

// Diagonals of tensors whose sizes differ, in a map, a sum or a product.
void Corners::diagonal() {
  const Axes free = free_axes(1, 2), reduced = {axis(of<std::string>({"T", "S", "N", "M", "2"}))};
  const bool map = chance(40);
  const Axes all = map ? free : together(free, reduced);
  const Value a = guarded(all), b = guarded(all);
  const Value both = {fmt::format("tanh({} {} {})", a.text, chance(60) ? "+" : "*", b.text), 1};
  const std::string where = guard(all, 30);
  if (map) return define(fresh("d"), free, both, where);
  define(
      fresh("d"), free,
      {fmt::format("{}[{}{}] {}", chance(50) ? "prod" : "mean", bounds(reduced), where, both.text),
       1});
}

// Scores, terms and factors that are the same at every point of the reduction, which may have none.
void Corners::unvarying() {
  const Axes free = free_axes(0, 2), reduced = any_reduced();
  if (chance(40)) {
    const Axes whole = together(free, {reduced[0]});
    const Value score = expression(free, 1);
    const std::string where = guard(whole, 60);
    return define(fresh("p"), whole,
                  {fmt::format("softmax[{}{}] ({})", reduced[0].index, where, score.text), 1});
  }
  const std::string kind = of<std::string>({"logsumexp", "max", "min", "mean", "prod"});
  const std::string body = kind == "max" || kind == "min" ? raw(free) : expression(free, 1).text;
  const std::string where = guard(together(free, reduced), 60);
  define(fresh("n"), free,
         {kept_small(fmt::format("({}[{}{}] ({}))", kind, bounds(reduced), where, body)), 4});
}

// Ranges and conditions that leave nothing, for some sizes or always.
void Corners::over_nothing() {
  const Axes free = free_axes(0, 2);
  const Axis empty = axis(of<std::string>({"T // 8", "B", "S // 2", "M"}));
  const Axes all = together(free, {empty});
  const std::string kind =
      of<std::string>({"prod", "prod", "sum", "mean", "max", "min", "logsumexp"});
  const Value v = kind == "max" || kind == "min" ? Value{raw(all), 1} : expression(all, 1);
  const std::string where = chance(40)   ? " where " + constant_condition()
                            : chance(50) ? fmt::format(" where {} < 0", of(all).index)
                                         : guard(free, 50);
  const std::string text = fmt::format("({}[{}{}] ({}))", kind, bound(empty), where, v.text);
  define(fresh("e"), free, {kept_small(text), 4});
}

// The least of the least, the greatest of the least, of rows that may be empty.
void Corners::extreme_of_extremes() {
  const Axes free = free_axes(0, 1);
  const Axis outer = axis(of<std::string>({"B", "S", "N"}));
  const Axis inner = axis(of<std::string>({"T", "M", "B"}));
  const Axes all = together(free, {outer, inner});
  const std::string body = raw(all), within = guard(all, 30);
  const std::string where = guard(together(free, {outer}), 30);
  const std::string first = chance(50) ? "min" : "max", second = chance(50) ? "min" : "max";
  const std::string row = fmt::format("({}[{}{}] {})", first, bound(inner), within, body);
  const std::string text = fmt::format("({}[{}{}] {})", second, bound(outer), where, row);
  define(fresh("m"), free, {kept_small(text), 4});
}

// Equals: values of few kinds, and the same value more than once.
void Corners::ties() {
  const Axes free = free_axes(0, 2), reduced = any_reduced();
  const Axes all = together(free, reduced);
  std::string body;
  switch (below(4)) {
    case 0:
      body = fmt::format("sign({})", raw(all));
      break;
    case 1:
      body = fmt::format("floor(2 * {})", raw(all));
      break;
    case 2:
      body = fmt::format("max({0}, {0})", raw(free));
      break;
    default:
      body = fmt::format("if {} then {} else 0", condition(reduced), raw(free));
  }
  const std::string where = guard(all, 30), kind = chance(50) ? "max" : "min";
  const std::string text = fmt::format("({}[{}{}] ({}))", kind, bounds(reduced), where, body);
  define(fresh("q"), free, {kept_small(text), 4});
}

// A read through several index maps, one after the other, beside one through none.
void Corners::chained() {
  begin_statement();
  const Axis b = axis("B"), i = axis("T"), n = axis("N"), m = axis("M"), h = axis("T // 2");
  const auto steps = [&](const std::string& at, const std::string& extent) {
    return permuted(*this, known_, at, extent, 1 + below(3));
  };
  switch (below(4)) {
    case 0: {
      const std::string at = steps(i.index, "T"), feature = steps(n.index, "N");
      return define(fresh("r"), {b, i, n}, {fmt::format("x1[{},{},{}]", b.index, at, feature), 1});
    }
    case 1: {
      // Of an index over T // 2 a remainder by T is in range only where T is at least 1.
      const std::string half = fmt::format("{} + T // 2", steps(h.index, "T // 2"));
      const std::string at = is_present("T") ? steps(half, "T") : fmt::format("T - 1 - ({})", half);
      return define(fresh("r"), {h, b, n}, {fmt::format("x1[{},{},{}]", b.index, at, n.index), 1});
    }
    case 2: {
      const std::string row = steps(n.index, "N"), column = steps(m.index, "M");
      const Value other = leaf({n, m});
      return define(fresh("r"), {n, m},
                    {fmt::format("w1[{},{}] * ({})", row, column, other.text), other.bound});
    }
    default: {
      const std::string there = steps(i.index, "T"), here = folded(*this, i.index, "T");
      return define(fresh("r"), {b, n},
                    {fmt::format("sum[{0}: T] x1[{1},{2},{3}] * x1[{1},{4},{3}]", i.index, b.index,
                                 there, n.index, here),
                     4});
    }
  }
}

// What integer data chooses: one of two values, or a factor.
void Corners::chosen() {
  begin_statement();
  const Axes free = {axis("S"), axis("T")};
  const Value a = leaf(free), c = leaf(free);
  declare_input("on", "bool[S]");
  declare_input("tok", "int[T]");
  define(fresh("k"), free,
         {fmt::format("(if on[{}] then {} else {}) * float(tok[{}] - 1)", free[0].index, a.text,
                      c.text, free[1].index),
          std::max(a.bound, c.bound)},
         guard(free, 30));
}

// A matrix that data chooses for each row, of sizes that are known or not: a product by groups,
// whose gradient sums the terms of each group.
void Corners::experts() {
  begin_statement();
  const std::string rows = chance(50) ? "T" : "S", x = fresh("u"), w = fresh("u");
  const Axis b = axis("B"), i = axis(rows), d = axis(of<std::string>({"N", "M", "4"}));
  const Axis f = axis(of<std::string>({"N", "M", "5"}));
  const std::string data = rows == "T" ? "kind" : "sort";
  declare_input(data, fmt::format("int[B, {}]", rows));
  given(x, {"B", rows, d.extent}, false);
  given(w, {"3", f.extent, d.extent}, true);
  const std::string where = guard({b, i, f, d}, 25);
  define(fresh("y"), {b, i, f},
         {fmt::format("sum[{0}{1}] {2}[{3},{4},{0}] * {5}[{6}[{3},{4}],{7},{0}]", d.index, where, x,
                      b.index, i.index, w, data, f.index),
          4});
}

void Corners::define_inside(const std::string& name, const Axes& free, const Value& value,
                            const std::string& after) {
  define(name, free, value, after);
  pool_.pop_back(), made_.pop_back();
}

// One position of a map of a map, or one row of attention: the first, or the last.
void Corners::picked() {
  const std::string rows = is_present("T") && chance(80)     ? "T"
                           : is_present("S") && chance(50)   ? "S"
                           : known_.count("M") && chance(50) ? "M"
                                                             : "3";
  const std::string at = chance(50) ? "0" : rows + " - 1", inner = fresh("h"), outer = fresh("h");
  if (chance(50)) {
    Axes free = free_axes(0, 2);
    const size_t place = static_cast<size_t>(below(static_cast<int>(free.size()) + 1));
    free.insert(free.begin() + static_cast<ptrdiff_t>(place), axis(rows));
    define_inside(inner, free, expression(free, 2), guard(free, 30));
    std::string same, picked;
    Axes rest;
    for (size_t k = 0; k < free.size(); ++k) {
      same += (k ? "," : "") + free[k].index;
      picked += (k ? "," : "") + (k == place ? at : free[k].index);
      if (k != place) rest.push_back(free[k]);
    }
    const Value other = leaf(free);
    define_inside(outer, free, {fmt::format("tanh({}[{}] * ({}))", inner, same, other.text), 1});
    const Value last = leaf(rest);
    return define(fresh("k"), rest,
                  {fmt::format("{}[{}] + {}", outer, picked, last.text), 1 + last.bound},
                  guard(rest, 20));
  }
  begin_statement();
  const Axis b = axis("B"), i = axis(rows), j = axis(chance(50) ? rows : "S"), n = axis("N");
  const Value score = expression({b, i, j}, 2);
  const std::string where = guard({b, i, j}, 60);
  define_inside(inner, {b, i, j},
                {fmt::format("softmax[{}{}] ({})", j.index, where, score.text), 1});
  const Value value = leaf({b, j, n});
  define_inside(outer, {b, i, n},
                {fmt::format("sum[{}] {}[{},{},{}] * ({})", bounds({j}), inner, b.index, i.index,
                             j.index, value.text),
                 value.bound});
  define(fresh("k"), {b, n},
         {fmt::format("{}[{},{},{}]", outer, b.index, at, n.index), value.bound});
}

}  // namespace attn::testing
