// Random sizes, inputs and expressions of a graph. Every expression carries a bound of its size,
// and what could have a kink (max, abs, comparisons of reals) is applied to given values only,
// which are distinct and not near 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/ops/table.h"
#include "tests/support/random_graph.h"

namespace attn::testing::random_graphs {

using ir::Combine;
using ir::Expr;
using ir::Poly;
using ir::Role;
using ir::Storage;
using ir::TensorId;

// SplitMix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& of(const std::vector<T>& v) {
    return v[static_cast<size_t>(below(static_cast<int>(v.size())))];
  }

 private:
  uint64_t state_;
};

// An expression and the largest absolute value that it can have.
struct Value {
  Expr e;
  double bound;
};

struct Axis {
  Expr i;
  Poly extent;
};
using Axes = std::vector<Axis>;

class RandomExpressions {
 protected:
  RandomExpressions(uint64_t seed, const RandomOptions& options) : random_(seed), o_(options) {}
  ~RandomExpressions() = default;

  // ---- sizes and inputs

  Poly size(std::string name, std::optional<int64_t> value) {
    ir::Size s;
    s.name = std::move(name);
    s.value = value;
    g_.sizes.push_back(s);
    return Poly::size({static_cast<int32_t>(g_.sizes.size()) - 1});
  }

  void make_sizes() {
    B_ = size("B", std::nullopt);
    T_ = size("T", std::nullopt);
    auto known = [&](int64_t n) {
      return o_.known_sizes && random_.chance(75) ? std::optional(n) : std::nullopt;
    };
    D_ = size("D", known(3));
    E_ = size("E", known(2));
    F_ = size("F", std::nullopt);
    g_.sizes.back().definition = D_ * E_;
    pool_ = {B_, T_, T_, D_, E_};
  }

  std::vector<int64_t> sizes() {
    std::vector<int64_t> values(g_.sizes.size());
    for (size_t k = 0; k < 2; ++k)
      values[k] = o_.empty_sizes && random_.chance(50) ? random_.below(2) : 2 + random_.below(4);
    values[2] = o_.empty_sizes && random_.chance(25) ? 1 : 3;
    values[3] = o_.empty_sizes && random_.chance(25) ? 1 : 2;
    g_.complete(values);
    return values;
  }

  TensorId tensor(std::string name, std::vector<Poly> extents, Storage storage, Role role) {
    ir::Tensor t;
    t.name = std::move(name);
    t.extents = std::move(extents);
    t.storage = storage;
    t.role = role;
    bounds_.push_back(1);
    return g_.new_tensor(t);
  }

  std::vector<Poly> some_extents(int most) {
    std::vector<Poly> extents;
    for (int rank = random_.below(most + 1); rank > 0; --rank) extents.push_back(random_.of(pool_));
    return extents;
  }

  void make_inputs() {
    // Every size that is read at run time stands alone somewhere.
    given_ = {tensor("x", {B_, T_, D_}, Storage::f32, Role::input),
              tensor("w", {D_, E_}, Storage::f32, Role::parameter),
              tensor("c", {}, Storage::f32, Role::parameter)};
    for (int k = 1 + random_.below(3); k > 0; --k)
      given_.push_back(tensor("y", some_extents(3), Storage::f32, Role::input));
    for (int k = 1 + random_.below(2); k > 0; --k)
      given_.push_back(tensor("u", some_extents(3), Storage::f32, Role::parameter));
    if (random_.chance(40)) given_.push_back(tensor("f", {F_}, Storage::f32, Role::parameter));
    real_ = given_;
    keep_ = tensor("keep", {B_, T_}, Storage::boolean, Role::input);
    if (!o_.integer_data) return;
    length_ = tensor("len", {B_}, Storage::i32, Role::input);
    token_ = tensor("token", {B_, T_}, Storage::i32, Role::input);
    segment_ = tensor("seg", {T_}, Storage::i32, Role::input);
  }

  // Lengths run from 0 to one more than there is.
  void set_lengths(RandomGraph& r) {
    if (!length_.valid()) return;
    for (double& n : r.inputs.at("len").values) n = random_.below(static_cast<int>(r.sizes[1]) + 2);
  }

  // ---- reading

  Axis axis(const Poly& extent) {
    static const std::vector<std::string> kNames = {"i", "j", "k", "l", "m", "n"};
    return {ir::index_value(g_.new_index(kNames[next_name_++ % kNames.size()], extent)), extent};
  }
  Axes axes(int least, int most) {
    Axes r;
    for (int n = least + random_.below(most - least + 1); n > 0; --n)
      r.push_back(axis(random_.of(pool_)));
    return r;
  }

  const Axis* one_of(const Axes& all, const Poly& extent) {
    std::vector<const Axis*> fitting;
    for (const Axis& a : all)
      if (g_.same(a.extent, extent)) fitting.push_back(&a);
    return fitting.empty() ? nullptr : random_.of(fitting);
  }

  // A subscript for a dimension, or nothing where no index fits.
  std::optional<Expr> subscript(const Axes& all, const Poly& extent, bool plain) {
    const Axis* a = one_of(all, extent);
    if (!plain && o_.integer_data && g_.known(extent).value_or(0) >= 2 && random_.chance(20)) {
      const Axis *b = one_of(all, B_), *t = one_of(all, T_);
      if (b && t) return g_.read(token_, {b->i, t->i});  // its values are 0 and 1
    }
    if (a) return a->i;
    if (plain) return std::nullopt;
    const Axis *d = one_of(all, D_), *e = one_of(all, E_), *f = one_of(all, F_);
    if (f && extent == D_) return ir::quotient(f->i, ir::size_value(E_));
    if (f && extent == E_) return ir::remainder(f->i, ir::size_value(E_));
    if (d && e && extent == F_) return d->i * ir::size_value(E_) + e->i;
    if (g_.known(extent).value_or(0) >= 2 && random_.chance(40)) return Expr(random_.below(2));
    return std::nullopt;
  }

  std::optional<Expr> read(TensorId t, const Axes& all, bool plain) {
    std::vector<Expr> subscripts;
    for (const Poly& extent : std::vector<Poly>(g_[t].extents)) {
      auto s = subscript(all, extent, plain);
      if (!s) return std::nullopt;
      subscripts.push_back(*s);
    }
    return g_.read(t, std::move(subscripts));
  }

  // A given value as it is: never 0, different wherever the element is another one.
  Expr raw(const Axes& all) {
    for (int k = 0; k < 8; ++k)
      if (auto e = read(random_.of(given_), all, true)) return *e;
    return g_.read(given_[2], {});
  }

  Value scaled(const Expr& e, double bound) {
    double factor = 1;
    for (; bound > 3; bound /= 2) factor /= 2;
    return {factor == 1 ? e : e * factor, bound};
  }

  Value leaf(const Axes& all) {
    if (random_.chance(6) && !all.empty()) return {random_.of(all).i * 0.125, 1};
    for (int k = 0; k < 8; ++k) {
      // The latest tensors are preferred: chains are what derivatives go through.
      size_t n = real_.size();
      size_t at =
          random_.chance(60)
              ? n - 1 - static_cast<size_t>(random_.below(std::min<int>(3, static_cast<int>(n))))
              : static_cast<size_t>(random_.below(static_cast<int>(n)));
      TensorId t = real_[at];
      auto e = read(t, all, false);
      if (!e) continue;
      double bound = bounds_[static_cast<size_t>(t.value)];
      if (std::isfinite(bound)) return scaled(*e, bound);
      // A maximum over nothing: its huge value is cut off, far from all others.
      return scaled(ops::apply("clamp", {*e, -8, 8}), 8);
    }
    return {raw(all), 1};
  }

  // ---- expressions

  Value smooth(const Value& x) {
    const Expr one_and_square = 1.25 + ir::power(x.e, 2);
    double square = x.bound * x.bound;
    switch (random_.below(15)) {
      case 0:
        return {ops::apply("tanh", {x.e}), 1};
      case 1:
        return {ops::apply("sigmoid", {x.e}), 1};
      case 2:
        return {ops::apply("sin", {x.e}), 1};
      case 3:
        return {ops::apply("cos", {x.e}), 1};
      case 4:
        return {ops::apply("atan", {x.e}), 1.6};
      case 5:
        return {ops::apply("erf", {x.e}), 1};
      case 6:
        return {ops::apply("exp", {0.5 * x.e}), std::exp(0.5 * x.bound)};
      case 7:
        return {ops::apply("log", {one_and_square}), std::log(1.25 + square)};
      case 8:
        return {ops::apply("sqrt", {one_and_square}), std::sqrt(1.25 + square)};
      case 9:
        return {ops::apply("rsqrt", {one_and_square}), 1};
      case 10:
        return {1 / one_and_square, 1};
      case 11:
        return {ir::power(x.e, 2), square};
      case 12:
        return {ops::apply("log1p", {ir::power(x.e, 2)}), square};
      case 13:
        return {ops::apply("exp2", {0.5 * x.e}), std::exp(0.4 * x.bound)};
      default:
        return {ops::apply("pow", {one_and_square, Expr(0.75)}), 1.25 + square};
    }
  }

  // Has a kink, which given values do not come near.
  Value kinked(const Axes& all) {
    Expr a = raw(all), b = raw(all);
    switch (random_.below(6)) {
      case 0:
        return {ops::apply("abs", {a}), 1};
      case 1:
        return {ops::apply("relu", {a}), 1};
      case 2:
        return {ops::apply("max", {a, b}), 1};
      case 3:
        return {ops::apply("min", {a, b}), 1};
      case 4:
        return {ops::apply("clamp", {a, -5, Expr(2.5)}), 1};
      default:
        return {ops::apply("sign", {a}) * b, 1};
    }
  }

  Value expression(const Axes& all, int depth) {
    if (depth == 0 || random_.chance(20)) return leaf(all);
    int kind = random_.below(100);
    if (kind < 30) {
      Value x = expression(all, depth - 1);
      Value r = smooth(x);
      return scaled(r.e, r.bound);
    }
    if (kind < 40) return kinked(all);
    if (kind < 50) {
      Value a = expression(all, depth - 1), b = expression(all, depth - 1);
      return {ir::select(condition(all), a.e, b.e), std::max(a.bound, b.bound)};
    }
    if (kind < 58 && o_.shifts) return shifted(all);
    Value a = expression(all, depth - 1), b = expression(all, depth - 1);
    if (kind < 80) return scaled(a.e * b.e, a.bound * b.bound);
    return scaled(random_.chance(50) ? a.e + b.e : a.e - b.e, a.bound + b.bound);
  }

  // if 0 < i then y[.., i - 1, ..] else something
  Value shifted(const Axes& all) {
    Value otherwise = leaf(all);
    if (all.empty()) return otherwise;
    Axis a = random_.of(all);
    bool down = random_.chance(50);
    Expr moved = down ? a.i - 1 : a.i + 1;
    Expr inside = down ? ir::less(0, a.i) : ir::less(moved, ir::size_value(a.extent));
    Value there = leaf(all);
    // Only subscripts that are the index itself move.
    if (!ir::tensors(there.e).empty() && ir::uses(there.e, a.i->index))
      there.e = ir::rewrite(there.e, [&](const Expr& e) {
        if (!e.is(ir::Kind::read)) return e;
        std::vector<Expr> subscripts = e.args();
        for (Expr& s : subscripts)
          if (s == a.i) s = moved;
        return ir::read(e->tensor, e.type(), std::move(subscripts));
      });
    return {ir::select(inside, there.e, otherwise.e), std::max(there.bound, otherwise.bound)};
  }

  // ---- conditions

  Expr condition(const Axes& all) {
    for (int k = 0; k < 6; ++k) {
      const Axis* t = one_of(all, T_);
      const Axis* u = one_of(all, T_);
      const Axis* b = one_of(all, B_);
      switch (random_.below(8)) {
        case 0:
          if (t && u && t != u) return ir::at_most(t->i, u->i);
          break;
        case 1:
          if (t && u && t != u)
            return ir::all_of({ir::at_most(0, u->i - t->i), ir::less(u->i - t->i, 2)});
          break;
        case 2:
          if (b && t && o_.integer_data) return ir::less(t->i, g_.read(length_, {b->i}));
          break;
        case 3:
          if (t && u && t != u && o_.integer_data)
            return ir::equal(g_.read(segment_, {t->i}), g_.read(segment_, {u->i}));
          break;
        case 4:
          if (b && t) return g_.read(keep_, {b->i, t->i});
          break;
        case 5:
          if (t && u && t != u) return ir::not_zero(t->i - u->i);
          break;
        case 6:
          return ir::less(raw(all), raw(all));
        default:
          if (t && u && t != u) return ir::any_of({ir::at_most(t->i, u->i), ir::is_zero(t->i)});
          break;
      }
    }
    return ir::less(raw(all), Expr(0.1));
  }

  Random random_;
  RandomOptions o_;
  ir::Graph g_;
  Poly B_, T_, D_, E_, F_;
  std::vector<Poly> pool_;
  std::vector<TensorId> given_, real_;  // given and all tensors that may be read as numbers
  TensorId keep_, length_, token_, segment_;
  std::vector<double> bounds_;  // by tensor
  size_t next_name_ = 0;
};

}  // namespace attn::testing::random_graphs
