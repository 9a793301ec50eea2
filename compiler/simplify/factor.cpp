// a*p + b*p  ->  (a + b)*p, for the factor that most terms share, and again with what is left.
// Last, because sums of products are what other passes compare.
#include <algorithm>

#include "compiler/simplify/passes.h"
#include "compiler/simplify/products.h"

namespace attn::simplify {

using namespace ir;

namespace {

struct Shared {
  Expr factor;
  int terms = 0;
  size_t indices = 0;
};

// The factor of most terms, then of most indices; ties by the order of expressions.
Shared most_shared(const std::vector<Product>& products) {
  std::map<Expr, int> count;
  for (const Product& p : products)
    for (const Expr& f : std::set<Expr>(p.factors.begin(), p.factors.end())) ++count[f];
  Shared best;
  for (const auto& [f, n] : count) {
    if (n < 2) continue;
    size_t used = indices(f).size();
    if (std::pair(n, used) > std::pair(best.terms, best.indices)) best = {f, n, used};
  }
  return best;
}

Expr collected(const Expr& e) {
  if (!e.is(Kind::add) || !is_real(e.type())) return e;
  std::vector<Product> products;
  for (const Expr& t : e.args()) products.push_back(as_product(t));
  Shared shared = most_shared(products);
  if (shared.terms == 0) return e;
  std::vector<Expr> inside, rest;
  for (size_t k = 0; k < products.size(); ++k) {
    Product& p = products[k];
    auto at = std::ranges::find(p.factors, shared.factor);
    if (at == p.factors.end()) {
      rest.push_back(e.args()[k]);
    } else {
      p.factors.erase(at);
      inside.push_back(value_of(p));
    }
  }
  Expr product = shared.factor * collected(add(std::move(inside)));
  if (rest.empty()) return product;
  return product + collected(add(std::move(rest)));
}

}  // namespace

Graph factor(const Graph& g) {
  Graph result = g;
  for (Definition& d : result.definitions) {
    if (d.combine != Combine::set && d.combine != Combine::sum) continue;
    d.body = rewrite(d.body, collected);
    d = normal_form(std::move(d));
  }
  return result;
}

}  // namespace attn::simplify
