// Draws statements one after the other over a pool of tensors.
#include "tests/support/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/support/program_corners.h"

namespace attn::testing {
namespace {

class Writer : Corners {
 public:
  explicit Writer(uint64_t seed) : Corners(seed) {}

  RandomProgram write() {
    for (int left = 2 + below(5); left > 0; --left) statement();
    return finished();
  }

 private:
  void statement() {
    if (chance(25)) return corner();
    const int kind = below(100);
    if (kind < 14) return map();
    if (kind < 30) return reduction();
    if (kind < 42) return contraction();
    if (kind < 50) return softmax();
    if (in_scan_) return map();
    if (kind < 58) return attention();
    if (kind < 65) return convolution();
    if (kind < 72) return ranged();
    if (kind < 79) return placed();
    if (kind < 83) return best();
    if (kind < 91) return call();
    scan();
  }

  void map() {
    const Axes free = free_axes(0, 3);
    const Value v = expression(free, 3);
    const std::string where = guard(free, 25);
    define(fresh("a"), free, v, where);
  }

  void reduction() {
    static const std::vector<std::string> kKinds = {"sum", "sum",  "mean",     "max",
                                                    "min", "prod", "logsumexp"};
    const std::string kind = of(kKinds);
    const Axes free = free_axes(0, 2);
    Axes reduced;
    for (const std::string& extent : some_extents(1, kind == "prod" ? 1 : 2))
      reduced.push_back(axis(extent));
    const Axes all = together(free, reduced);
    // Its largest element is to be the same one in every precision.
    Value v = kind == "max" || kind == "min" ? Value{raw(all), 1} : expression(all, 2);
    if (kind == "prod") v.text = fmt::format("1 + 0.25 * tanh({})", v.text);
    const std::string where = guard(all, 40);
    std::string text = fmt::format("{}[{}{}] ({})", kind, bounds(reduced), where, v.text);
    const double terms = std::pow(8, static_cast<double>(reduced.size()));
    double bound = kind == "sum" ? v.bound * terms : kind == "mean" ? v.bound : 8;
    // Over nothing they are huge, or grow with the number of factors.
    if (kind != "sum" && kind != "mean") text = fmt::format("clamp({}, -16, 16)", text);
    define(fresh("s"), free, {text, bound});
  }

  void contraction() {
    const Axes free = free_axes(1, 3);
    Axes reduced = {axis(chance(50) ? "N" : "M")};
    if (chance(25)) reduced.push_back(axis("T"));
    const Axes all = together(free, reduced);
    const Value a = leaf(all), b = leaf(all);
    const std::string where = guard(all, 20);
    Value v = {fmt::format("(sum[{}{}] {} * ({}))", bounds(reduced), where, a.text, b.text),
               a.bound * b.bound * std::pow(4, static_cast<double>(reduced.size()))};
    v = scaled(v);
    if (chance(50)) {
      const Value c = leaf(free);
      v = {fmt::format("{} + {}", v.text, c.text), v.bound + c.bound};
    }
    define(fresh("c"), free, v);
  }

  void softmax() {
    Axes free = free_axes(0, 2);
    const Axes outer = free;
    free.push_back(axis(chance(50) ? "T" : chance(50) ? "S" : "N"));
    const Value score = expression(free, 2);
    const std::string where = guard(free, 50), name = fresh("p");
    define(name, free,
           {fmt::format("softmax[{}{}] ({})", free.back().index, where, score.text), 1});
  }

  // ---- definitions over ranges of their own

  // y[i] = sum[k: 3 where inside] x[i + k - 1] * w[k], plain or with a stride.
  void convolution() {
    begin_statement();
    const Axis b = axis("B"), i = axis("T"), n = axis("N"), k = axis("3");
    const bool all = chance(50);
    const std::string at = fmt::format("{}{} + {} - 1", chance(30) ? "2 * " : "", i.index, k.index);
    const Value w = leaf({n, k});
    Axes free = {b, i};
    if (!all) free.push_back(n);
    const std::string text =
        fmt::format("sum[{}: 3{} where inside] x1[{},{},{}] * ({})", k.index,
                    all ? ", " + n.index + ": N" : "", b.index, at, n.index, w.text);
    define(fresh("v"), free, {text, w.bound * 4});
  }

  // Concatenations, halves, packed and reversed axes.
  void ranged() {
    begin_statement();
    const Axis b = axis("B"), n = axis("N"), m = axis("M");
    switch (below(4)) {
      case 0: {
        const Axis i = axis("T + S");
        const Value other = leaf({b, n, m});
        const std::string text =
            fmt::format("if {0} < T then x1[{1},{0},{2}] else ({3}) * x2[{1},{0} - T,{4}]", i.index,
                        b.index, n.index, other.text, m.index);
        return define(fresh("j"), {b, i, n, m}, {text, other.bound});
      }
      case 1: {
        const Axis i = axis("T // 2");
        const Value other = leaf({b, n, m});
        const std::string text =
            fmt::format("x1[{0},2 * {1},{2}] - ({3}) * x1[{0},2 * {1} + 1,{2}]", b.index, i.index,
                        n.index, other.text);
        return define(fresh("h"), {b, i, n, m}, {text, 1 + other.bound});
      }
      case 2: {
        const Axis f = axis("N * M");
        const std::string text =
            fmt::format("w1[{0} // M,{0} % M] + {1}", f.index, leaf({b, f}).text);
        return define(fresh("f"), {f, b}, {text, 4});
      }
      default: {
        const Axis i = axis("T"), f = axis("N * M");
        const std::string text = fmt::format("x1[{0},T - 1 - {1},{2} // M] * ({3})", b.index,
                                             i.index, f.index, leaf({b, i, f}).text);
        return define(fresh("f"), {b, i, f}, {text, 3});
      }
    }
  }

  // What lands at a computed place: along diagonals, or where data says.
  void placed() {
    begin_statement();
    const Axis b = axis("B"), i = axis("T");
    if (chance(50)) {
      declare_input("kind", "int[B, T]");
      const Axis m = axis("3");
      const Value v = expression({b, i}, 2);
      const std::string text = fmt::format("sum[{0}: B,{1}: T where {2} == kind[{0},{1}]] ({3})",
                                           b.index, i.index, m.index, v.text);
      return define(fresh("u"), {m}, {text, v.bound * 8});
    }
    const Axis j = axis("T"), m = axis("2 * T - 1");
    const Value v = expression({b, i, j}, 2);
    const std::string text = fmt::format("sum[{0}: T,{1}: T where {2} == {0} - {1} + T - 1] ({3})",
                                         i.index, j.index, m.index, v.text);
    define(fresh("u"), {b, m}, {text, v.bound * 8});
  }

  // A gather by argmax.
  void best() {
    if (!known_.count("N")) return map();
    begin_statement();
    const Axis b = axis("B"), i = axis("T"), m = axis("M");
    const std::string name = fresh("g");
    line(fmt::format("{0}[{1},{2}] = argmax[n] x1[{1},{2},n]", name, b.index, i.index));
    made_.push_back(name);
    whole_.insert(name);
    const Value v = leaf({b, i, m});
    define(
        fresh("a"), {b, i, m},
        {fmt::format("w1[{}[{},{}],{}] * ({})", name, b.index, i.index, m.index, v.text), v.bound});
  }

  // ---- several statements

  // Scores of two sequences, their weights, and sums of them in several directions.
  void attention() {
    const std::string keys = chance(50) ? "T" : "S", x = keys == "T" ? "x1" : "x2",
                      last = keys == "T" ? "N" : "M";
    begin_statement();
    const Axis b = axis("B"), i = axis("T"), j = axis(keys), n = axis("N"), m = axis("M");
    const std::string q = fresh("q"), p = fresh("p");
    define(
        q, {b, i, m},
        {fmt::format("sum[{2}] x1[{0},{1},{2}] * w1[{2},{3}]", b.index, i.index, n.index, m.index),
         2});
    std::string key = last == "M" ? fmt::format("x2[{},{},{}]", b.index, j.index, m.index)
                                  : fmt::format("{}[{},{},{}]", q, b.index, j.index, m.index);
    if (chance(15)) key = "0.5";  // every key has the same score
    const Value bias = chance(60) ? scaled(expression({b, i, j}, 1)) : Value{"0.5", 0.5};
    const std::string score = fmt::format("(sum[{0}] {1}[{2},{3},{0}] * {4}) / 4 + {5}", m.index, q,
                                          b.index, i.index, key, bias.text);
    const std::string where = guard({b, i, j}, 60);
    const std::string weight = chance(70) ? fmt::format("softmax[{}{}] ({})", j.index, where, score)
                                          : fmt::format("sigmoid({}){}", score, where);
    define(p, {b, i, j}, {weight, 1});
    const std::string f = last == "M" ? m.index : n.index;
    define(fresh("z"), {b, i, {f, last}},
           {fmt::format("sum[{0}] {1}[{2},{3},{0}] * {4}[{2},{0},{5}]", j.index, p, b.index,
                        i.index, x, f),
            2});
    if (chance(30))
      define(fresh("z"), {b, j},
             {fmt::format("sum[{0}] {1}[{2},{0},{3}]", i.index, p, b.index, j.index), 3});
  }

  // Layers with parameters of their own: called, called twice, or repeated.
  void call() {
    const std::string name = fresh("layer");
    blocks_ += fmt::format(
        "\nblock {}(x: [..., N]) -> y, z {{\n  param w: [N, N], c: [N]\n"
        "  y[...,n] = {}((sum[m] x[...,m] * w[n,m]) + c[n])\n  z[...] = mean[n] {}\n}}\n",
        name, chance(50) ? "tanh" : "sin", chance(50) ? "y[...,n] * x[...,n]" : "x[...,n]^2");
    const std::string to = fresh("y"), mean = fresh("z");
    std::string from = "x1";
    for (const Pooled& p : pool_)
      if (!p.extents.empty() && p.extents.back() == "N" && !p.given) from = p.name;
    const auto source =
        std::find_if(pool_.begin(), pool_.end(), [&](const Pooled& p) { return p.name == from; });
    Pooled y = *source, z = *source;
    y.name = to, y.given = false, y.bound = 1;
    z.name = mean, z.given = false, z.bound = 2, z.extents.pop_back();
    line(fmt::format("({}, {}) = {}({})", to, mean, name, from));
    if (chance(40))
      line(fmt::format("repeat l: 2 as {0}s {{\n    ({1}, {2}) = {0}({1}) as inner\n  }}", name, to,
                       mean));
    pool_.push_back(y), pool_.push_back(z);
    made_.push_back(to), made_.push_back(mean);
    if (chance(40)) {
      uses_ = "use std.norm\n";
      const std::string normal = fresh("y");
      line(fmt::format("{} = layer_norm_eps({}, 0.25)", normal, to));
      y.name = normal, y.bound = 3;
      pool_.push_back(y), made_.push_back(normal);
    }
  }

  // Several tensors that read each other, at the step and one step back.
  void scan() {
    const bool down = chance(35);
    recurs_ = in_scan_ = true;
    back_ = down ? "t + 1" : "t - 1";
    carried_.clear(), pending_.clear();
    const size_t before = pool_.size();
    // One that is read a step back before it stands: its shape is known beforehand.
    const std::string state = fresh("h");
    pool_.push_back({.name = state, .extents = {"B", "T", "N"}, .step = 1, .before = true});
    for (int left = 1 + below(3); left > 0; --left) {
      statement();
      if (chance(30)) {
        pool_.push_back(pool_.back());
        pool_.back().before = true;
      }
    }
    begin_statement();
    const Axes free = {axis("B"), {"t", "T"}, axis("N")};
    std::string own = fmt::format("{}[{},{},{}]", state, free[0].index, back_, free[2].index);
    const Value v = expression(free, 2);
    carried_.insert(state);
    define(state, free, {fmt::format("0.5 * {} + {}", own, v.text), 2}, guard(free, 15));
    close_scan(down, before);
  }

  void close_scan(bool down, size_t before) {
    in_scan_ = false;
    line(fmt::format("scan t: T{} {{", down ? " down" : ""));
    for (const Pending& p : pending_) {
      static const std::vector<std::string> kStarts = {" from 0", " from 0.5", " from scalar"};
      const std::string start = carried_.count(p.name) ? of(kStarts) : "";
      line(fmt::format("  {}{}{}", p.text, start, p.after));
    }
    line("}");
    // After it they are tensors like any other.
    std::vector<Pooled> after;
    for (size_t k = before; k < pool_.size(); ++k) {
      Pooled p = pool_[k];
      if (p.before) continue;
      p.step = -1;
      after.push_back(p);
    }
    pool_.resize(before);
    pool_.insert(pool_.end(), after.begin(), after.end());
  }
};

}  // namespace

RandomProgram random_program(uint64_t seed) { return Writer(seed).write(); }

}  // namespace attn::testing
