#include "compiler/solve/prove.h"

#include <algorithm>

#include "compiler/solve/linear.h"

namespace attn::solve {

using ir::Conditions;
using ir::Expr;
using ir::Graph;

bool proves(const Graph& g, const Conditions& known, const Expr& condition) {
  // Where a condition never holds, as N > 4 with N = 2, nothing is computed.
  if (condition.is_true() || known.count(condition) || known.count(ir::truth(false))) return true;
  try {
    System system(g);
    // Of sizes alone first: they say which divisors are positive.
    for (const Expr& k : known) system.assume_of_sizes(k);
    for (const Expr& k : known) system.assume(k);
    return system.proves(condition);
  } catch (const LimitError&) {  // a coefficient beyond 64 bits: nothing is proved
    return false;
  }
}

Conditions tidy(const Graph& g, const Conditions& c, const Conditions& known) {
  Conditions kept = c;
  for (const Expr& condition : c) {
    // Of two conditions that imply each other the later one stays.
    Conditions others = kept;
    others.erase(condition);
    others.insert(known.begin(), known.end());
    if (proves(g, others, condition)) kept.erase(condition);
  }
  return kept;
}

bool nonnegative(const Graph& g, const ir::Poly& p, const std::set<ir::IndexId>& nonempty) {
  try {
    SizeFacts facts(g);
    for (ir::IndexId i : nonempty) facts.nonempty(g.expand(g[i].extent));
    return facts.nonnegative(g.expand(p));
  } catch (const LimitError&) {
    return false;
  }
}

std::optional<ir::Poly> exact_quotient(const Graph& g, const ir::Poly& p, const ir::Poly& c) {
  for (const auto& q : {ir::divide(p, c), ir::divide(g.expand(p), g.expand(c))})
    if (q && whole(*q)) return q;
  return std::nullopt;
}

}  // namespace attn::solve
