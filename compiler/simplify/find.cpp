// Finds in bodies, and in comparisons of guards, what earlier maps compute already, and reads it
// there: `exp(s - lse) where c` is `p`. Up to names of indices, order, what is left over of a
// product or sum, a factor in front, and the sign of a sum; only where the place's conditions imply
// the map's guard.
#include <algorithm>
#include <cmath>

#include "compiler/ir/operation.h"
#include "compiler/ir/recurrence.h"
#include "compiler/ir/under.h"
#include "compiler/simplify/matching.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/simplify/products.h"

namespace attn::simplify {

using namespace ir;

namespace {

// A map `target = coefficient * pattern`.
struct Known {
  const Definition* definition;
  Expr coefficient;
  Expr pattern;
};

// What the top of an expression is, and a tensor that occurs in it.
struct Key {
  Kind kind;
  std::string_view operation;
  TensorId tensor;
  auto operator<=>(const Key&) const = default;
};

Key key(const Expr& e, TensorId t) {
  return {e.kind(), e.is(Kind::call) ? e->operation->name : std::string_view(), t};
}

bool is_arithmetic(const Expr& e) {
  return e.is(Kind::add) || e.is(Kind::multiply) || e.is(Kind::power) || e.is(Kind::call);
}

// How many times the root `pattern` = x^-0.5 makes e = x^-1.5; 0 where e is nothing of the kind.
int repeats_root(const Expr& pattern, const Expr& e) {
  if (!pattern.is(Kind::power) || !e.is(Kind::power)) return 0;
  const Expr &p = pattern.args()[1], &n = e.args()[1];
  if (!p.is(Kind::literal) || !n.is(Kind::literal) || p->number.is_integer) return 0;
  double times = n->number.value() / p->number.value();
  return times >= 1 && times <= 8 && times == std::floor(times) ? static_cast<int>(times) : 0;
}

class Finder {
 public:
  explicit Finder(const Graph& g) : g_(g), result_(g), needs_(g) {}

  Graph run() {
    for (Definition& d : result_.definitions) {
      reader_ = &d;
      if (is_real(d.body.type()) && is_arithmetic_inside(d.body)) {
        d.body = replaced(d.body, d.guard);
        d = normal_form(std::move(d));
      }
      d.guard = replaced(d.guard);
      learn(d);
    }
    return std::move(result_);
  }

 private:
  static bool is_arithmetic_inside(const Expr& e) { return !e.args().empty(); }

  // A condition matters only where the others hold.
  Conditions replaced(Conditions guard) {
    in_guard_ = true;
    const Conditions old = guard;
    for (const Expr& c : old) {
      if (!c.is(Kind::less) && !c.is(Kind::at_most) && !c.is(Kind::equal)) continue;
      guard.erase(c);
      std::vector<Expr> args;
      for (const Expr& a : c.args()) args.push_back(replaced(a, guard));
      guard.merge(conjuncts(rebuild(c, std::move(args))));
    }
    in_guard_ = false;
    return guard;
  }

  void learn(const Definition& d) {
    if (d.combine != Combine::set || !is_real(d.body.type()) || cost(d.body) < 1) return;
    if (!stores_exactly(g_, d.target)) return;
    if (indices(d.body).size() != d.free.size()) return;
    Product p = as_product(d.body);
    Known k{&d, 1, d.body};
    if (d.body.is(Kind::multiply)) {
      if (!ratio(g_, 1, p.coefficient)) return;
      k.coefficient = p.coefficient;
      k.pattern = times(1, p.factors);
    }
    if (!is_arithmetic(k.pattern)) return;
    std::set<TensorId> in = tensors(k.pattern);
    if (in.empty()) return;
    maps_[key(k.pattern, *in.rbegin())].push_back(k);
  }

  Expr replaced(const Expr& e, const Conditions& known) {
    return rewrite_under(e, known, [&](const Expr& x, const Conditions& here) {
      Expr now = x;
      // What is left over beside a read may be another map.
      for (int again = 0; again < 4; ++again) {
        std::optional<Expr> next = hit(now, here);
        if (!next || *next == now) break;
        now = *next;
      }
      return now;
    });
  }

  std::optional<Expr> hit(const Expr& e, const Conditions& known) {
    if (!is_arithmetic(e) || !is_real(e.type())) return std::nullopt;
    Expr top = e.is(Kind::multiply) ? times(1, as_product(e).factors) : e;
    for (const Expr& x : {e, top}) {
      for (TensorId t : tensors(x)) {
        auto found = maps_.find(key(x, t));
        if (found == maps_.end()) continue;
        for (const Known& k : found->second) {
          // One cheap operation is computed again, but not to be compared.
          if (!in_guard_ && cost(k.definition->body) < 2) continue;
          if (auto r = as_read(k, e, known)) return r;
        }
      }
      if (x == top) break;
    }
    return std::nullopt;
  }

  // e written with a read of the map, if the map is in it.
  std::optional<Expr> as_read(const Known& k, const Expr& e, const Conditions& known) const {
    const Definition& d = *k.definition;
    Matcher matcher(d.free);
    std::optional<Expr> result;
    auto read_here = [&](const Bindings& b) -> std::optional<Expr> {
      if (b.size() != d.free.size()) return std::nullopt;
      if (!d.guard.empty() && !holds(g_, known, substitute(d.guard, b.map()))) return std::nullopt;
      std::vector<Expr> subscripts;
      for (IndexId i : d.free) {
        if (!in_range(g_, known, *b.find(i), g_[i].extent)) return std::nullopt;
        subscripts.push_back(*b.find(i));
      }
      const Expr read = result_.read(d.target, std::move(subscripts));
      if (!needs_.may_read(*reader_, read)) return std::nullopt;
      return read * power(k.coefficient, -1);
    };
    if (k.pattern.is(Kind::multiply)) {
      Product mine = as_product(e);
      matcher.match_some(as_product(k.pattern).factors, mine.factors,
                         [&](const Bindings& b, const std::vector<Expr>& rest) {
                           auto r = read_here(b);
                           if (r) result = times(mine.coefficient, rest) * *r;
                           return r.has_value();
                         });
    } else if (k.pattern.is(Kind::add)) {
      for (int sign : {1, -1}) {
        std::vector<Expr> terms = k.pattern.args();
        if (sign < 0)
          for (Expr& t : terms) t = negate(t);
        matcher.match_some(terms, e.args(), [&](const Bindings& b, const std::vector<Expr>& rest) {
          auto r = read_here(b);
          if (!r) return false;
          std::vector<Expr> all = rest;
          all.push_back(Expr(sign) * *r);
          result = add(std::move(all));
          return true;
        });
        if (result) break;
      }
    } else if (int n = repeats_root(k.pattern, e)) {
      matcher.match(k.pattern.args()[0], e.args()[0], [&](const Bindings& b) {
        result = read_here(b);
        if (result) result = power(*result, n);
        return result.has_value();
      });
    } else {
      matcher.match(k.pattern, e, [&](const Bindings& b) {
        result = read_here(b);
        return result.has_value();
      });
    }
    return result;
  }

  const Graph& g_;
  Graph result_;
  const Needs needs_;
  const Definition* reader_ = nullptr;  // whose expressions are looked through
  std::map<Key, std::vector<Known>> maps_;
  bool in_guard_ = false;
};

}  // namespace

Graph find(const Graph& g) { return Finder(g).run(); }

}  // namespace attn::simplify
