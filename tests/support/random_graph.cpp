// Draws definitions one after the other.
#include "tests/support/random_graph.h"

#include <algorithm>
#include <numeric>

#include "tests/support/random_expressions.h"

namespace attn::testing {

using namespace random_graphs;

namespace {

class Generator : RandomExpressions {
 public:
  Generator(uint64_t seed, const RandomOptions& options) : RandomExpressions(seed, options) {}

  RandomGraph run(uint64_t seed) {
    g_.name = "random";
    make_sizes();
    make_inputs();
    int count = 1 + random_.below(std::max(1, o_.definitions));
    for (int k = 0; k < count; ++k) definition();
    choose_outputs();
    ir::verify(g_, "the generator of random graphs");
    RandomGraph r;
    r.seed = seed;
    r.sizes = sizes();
    r.inputs = random_inputs(g_, r.sizes, random_.next());
    set_lengths(r);
    r.graph = std::move(g_);
    return r;
  }

 private:
  void choose_outputs() {
    std::vector<TensorId> made;
    for (const ir::Definition& d : g_.definitions)
      if (ir::is_real(ir::arithmetic_type(g_[d.target].storage))) made.push_back(d.target);
    auto name = [&](TensorId t) {
      g_[t].role = Role::output;
      g_.outputs.push_back({g_[t].name, t});
    };
    name(made.back());
    if (made.size() > 1 && random_.chance(40))
      name(made[static_cast<size_t>(random_.below(static_cast<int>(made.size()) - 1))]);
  }

  TensorId define(std::string name, const Axes& free, Combine combine, const Axes& reduced,
                  const Expr& guard, const Value& body, Storage storage = Storage::f32) {
    ir::Definition d;
    std::vector<Poly> extents;
    for (const Axis& a : free) {
      d.free.push_back(a.i->index);
      extents.push_back(a.extent);
    }
    d.target = tensor(std::move(name), extents, storage, Role::interior);
    d.combine = combine;
    for (const Axis& a : reduced) d.reduced.push_back(a.i->index);
    d.guard = ir::conjuncts(guard);
    d.body = body.e;
    g_.definitions.push_back(ir::normal_form(std::move(d)));
    TensorId t = g_.definitions.back().target;
    bounds_[static_cast<size_t>(t.value)] = body.bound;
    if (storage == Storage::f32) real_.push_back(t);
    return t;
  }

  static Axes together(const Axes& a, const Axes& b) {
    Axes r = a;
    r.insert(r.end(), b.begin(), b.end());
    return r;
  }

  Expr some_guard(const Axes& all, int percent) {
    return random_.chance(percent) ? condition(all) : ir::truth(true);
  }

  // At most 5 * 5 * 6 points are summed; the bound needs no more precision than that.
  static double grown(const Axes& reduced, double bound) {
    return bound * std::pow(4.0, static_cast<double>(reduced.size()));
  }

  void definition() {
    int kind = random_.below(100);
    if (kind < 18) return map();
    if (kind < 42) return sum();
    if (kind < 60) return softmax();
    if (kind < 68 && o_.max_min) return extreme();
    if (kind < 76 && o_.products) return product();
    if (kind < 86 && o_.shifts) return convolution();
    if (kind < 92) return packed();
    if (kind < 96) return best();
    return spread();
  }

  void map() {
    Axes free = axes(0, 3);
    define("a", free, Combine::set, {}, some_guard(free, 25), expression(free, 3));
  }

  void sum() {
    Axes free = axes(0, 2), reduced = axes(1, 2), all = together(free, reduced);
    Value v = random_.chance(60) ? product_of_leaves(all) : expression(all, 2);
    define("s", free, Combine::sum, reduced, some_guard(all, 40), {v.e, grown(reduced, v.bound)});
  }

  Value product_of_leaves(const Axes& all) {
    Value v = leaf(all);
    for (int n = 1 + random_.below(2); n > 0; --n) {
      Value other = leaf(all);
      v = scaled(v.e * other.e, v.bound * other.bound);
    }
    return v;
  }

  // Scores, their log-sum-exp, the weights, and often a mean by the weights.
  void softmax() {
    Axis b = axis(B_), i = axis(T_), j = axis(random_.chance(70) ? T_ : D_), e = axis(E_);
    Axes free = random_.chance(50) ? Axes{b, i} : Axes{i};
    Axes all = together(free, {j});
    Value score = expression(all, 2);
    TensorId s = define("score", all, Combine::set, {}, ir::truth(true), score);
    auto again = [&] {
      Axes fresh;
      for (const Axis& a : all) fresh.push_back(axis(a.extent));
      return fresh;
    };
    auto at = [&](const Axes& to, const Expr& e0) {
      std::map<ir::IndexId, Expr> rename;
      for (size_t k = 0; k < all.size(); ++k) rename.emplace(all[k].i->index, to[k].i);
      return ir::substitute(e0, rename);
    };
    std::vector<Expr> subscripts;
    for (const Axis& a : all) subscripts.push_back(a.i);
    Expr guard = some_guard(all, 60), scores = g_.read(s, subscripts);
    subscripts.pop_back();
    Axes first = again(), second = again();
    auto free_of = [](Axes a) {
      a.pop_back();
      return a;
    };
    TensorId lse = define("lse", free_of(first), Combine::logsumexp, {first.back()},
                          at(first, guard), {at(first, scores), 8});
    real_.pop_back();  // of an empty row it is -3e38: only the weights read it
    Expr weight = ops::apply("exp", {scores - g_.read(lse, subscripts)});
    TensorId p = define("p", second, Combine::set, {}, at(second, guard), {at(second, weight), 1});
    if (random_.chance(30)) return;
    Axes third = again();
    Axes target = free_of(third);
    target.push_back(e);
    Value v = leaf({b, third.back(), e});
    if (target.size() < 3 && ir::uses(v.e, b.i->index)) target.insert(target.begin(), b);
    if (target.size() == 3 && free.size() == 2)
      v.e = ir::substitute(v.e, {{b.i->index, third[0].i}});
    std::vector<Expr> places;
    for (const Axis& a : third) places.push_back(a.i);
    define("z", target, Combine::sum, {third.back()}, ir::truth(true),
           {g_.read(p, places) * v.e, v.bound});
  }

  void extreme() {
    Axes free = axes(0, 2), reduced = axes(1, 1), all = together(free, reduced);
    Value v{raw(all), 1};
    if (random_.chance(50)) v = {ops::apply("tanh", {v.e}), 1};
    // An empty row gives the lowest finite number.
    v.bound = std::numeric_limits<double>::infinity();
    define("m", free, random_.chance(50) ? Combine::max : Combine::min, reduced,
           some_guard(all, 30), v);
  }

  void product() {
    Axes free = axes(0, 2), reduced = axes(1, 1), all = together(free, reduced);
    Value v{raw(all), 1};
    if (random_.chance(60)) v = {1.25 + 0.25 * ops::apply("sin", {leaf(all).e}), 8};
    define("q", free, Combine::prod, reduced, some_guard(all, 30), v);
  }

  // y[i] = sum[k where 0 <= i + k - 1 < T] x[.., i + k - 1, ..] * w, or with a stride of 2.
  void convolution() {
    Axis b = axis(B_), i = axis(T_), d = axis(D_), k = axis(Poly(3));
    Expr at = (random_.chance(30) ? 2 * i.i : i.i) + k.i - 1;
    Expr inside = ir::all_of({ir::at_least_zero(at), ir::less(at, ir::size_value(T_))});
    Value w = leaf({d, k});
    Axes reduced = random_.chance(50) ? Axes{k} : Axes{d, k};
    Axes free = reduced.size() == 1 ? Axes{b, i, d} : Axes{b, i};
    Expr x = g_.read(given_[0], {b.i, at, d.i});
    define("conv", free, Combine::sum, reduced, inside,
           {x * (w.e + 0.25 * k.i), grown(reduced, w.bound + 0.5)});
  }

  // Two axes packed into one, and taken apart again.
  void packed() {
    Axis f = axis(F_);
    Axes free = together(axes(0, 1), {f});
    define("packed", free, Combine::set, {}, ir::truth(true), expression(free, 2));
  }

  // A gather by argmax, and for the rest a map.
  void best() {
    if (!g_.known(D_)) return map();
    Axis b = axis(B_), t = axis(T_), d = axis(D_);
    TensorId a = define("best", {b, t}, Combine::argmax, {d}, ir::truth(true),
                        {g_.read(given_[0], {b.i, t.i, d.i}), 2}, Storage::i32);
    Axis b2 = axis(B_), t2 = axis(T_), e2 = axis(E_);
    Value v = leaf({b2, t2, e2});
    define("picked", {b2, t2, e2}, Combine::set, {}, ir::truth(true),
           {g_.read(given_[1], {g_.read(a, {b2.i, t2.i}), e2.i}) + v.e, v.bound + 1});
  }

  // What lands at a computed place: along diagonals, or where data says.
  void spread() {
    Axis b = axis(B_), i = axis(T_), j = axis(T_), n = axis(T_ * Poly(2) - Poly(1));
    if (o_.integer_data && g_.known(D_) && random_.chance(50)) {
      Axis d = axis(D_);
      Value v = leaf({b, i});
      define("table", {d}, Combine::sum, {b, i}, ir::equal(d.i, g_.read(token_, {b.i, i.i})),
             {v.e, grown({b, i}, v.bound)});
      return;
    }
    Value v = expression({b, i, j}, 2);
    define("diag", {n}, Combine::sum, {b, i, j},
           ir::is_zero(n.i - (i.i - j.i + ir::size_value(T_) - 1)), {v.e, grown({b, i}, v.bound)});
  }
};

}  // namespace

RandomGraph random_graph(uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).run(seed);
}

evaluate::Arrays random_inputs(const ir::Graph& g, const std::vector<int64_t>& sizes, uint64_t seed,
                               int64_t integers) {
  Random random(seed);
  evaluate::Arrays result;
  std::vector<double*> reals;
  for (const ir::Tensor& t : g.tensors) {
    if (t.role != Role::input && t.role != Role::parameter && t.role != Role::cotangent) continue;
    evaluate::Array& a = result[t.name];
    size_t count = 1;
    for (const Poly& e : t.extents) {
      a.extents.push_back(std::max<int64_t>(0, g.value(e, sizes)));
      count *= static_cast<size_t>(a.extents.back());
    }
    a.values.resize(count);
    for (double& v : a.values) {
      if (t.storage == Storage::boolean)
        v = random.below(2);
      else if (t.storage == Storage::i32)
        v = random.below(static_cast<int>(integers));
      else
        reals.push_back(&v);
    }
  }
  // Distinct over all tensors, so that no two of them tie.
  for (size_t k = reals.size(); k > 1; --k)
    std::swap(reals[k - 1], reals[static_cast<size_t>(random.below(static_cast<int>(k)))]);
  for (size_t k = 0; k < reals.size(); ++k) {
    double size = 0.2 + 0.8 * (static_cast<double>(k) + 0.5) / static_cast<double>(reals.size());
    *reals[k] = random.chance(50) ? size : -size;
  }
  return result;
}

}  // namespace attn::testing
