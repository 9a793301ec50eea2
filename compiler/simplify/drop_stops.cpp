// stop(x)  ->  x
// What a derivative does not pass through is of no interest once there is none to take.
#include "compiler/ir/operation.h"
#include "compiler/simplify/pass.h"

namespace attn::simplify {

using namespace ir;

Graph drop_stops(const Graph& g) {
  auto plain = [](const Expr& e) {
    return rewrite(e, [](const Expr& x) { return meaning(x) == Meaning::stop ? x.args()[0] : x; });
  };
  Graph result = g;
  for (Definition& d : result.definitions) {
    d.body = plain(d.body);
    Conditions guard;
    for (const Expr& c : d.guard) guard.merge(conjuncts(plain(c)));
    d.guard = std::move(guard);
    d = normal_form(std::move(d));
  }
  return result;
}

}  // namespace attn::simplify
