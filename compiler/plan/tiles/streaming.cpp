// Finds the sum that the exponentials of a log-sum-exp weigh: the scores s, Y[i] = logsumexp[j]
// s[i,j], z[i,f] = sum[j] exp(s[i,j] - Y[i]) w[i,j] v[j,f]. One sweep over the columns computes
// both, since each chunk of columns can be summed relative to a maximum of its own.
#include "compiler/ir/operation.h"
#include "compiler/plan/tiles/tiles.h"
#include "compiler/solve/prove.h"

namespace attn::plan {

using namespace ir;

std::optional<TileResult> weighted_sum(const Graph& g, const Scores& scores, const ResultOf& sum) {
  const TileResult& r = sum.result;
  if (r.kind != TileResult::Kind::rows) return std::nullopt;
  Expr weight = sum.weight;
  Conditions counted = sum.counted;
  if (weight.is(Kind::select) && weight.args()[2].is_zero()) {
    counted.merge(conjuncts(weight.args()[0]));
    weight = weight.args()[1];
  }
  // A condition that rows and columns do not share may stand at the panel or the result.
  Conditions known = counted;
  known.insert(r.panel_guard.begin(), r.panel_guard.end());
  known.insert(sum.outer.begin(), sum.outer.end());
  if (!has_all(known, scores.visible)) return std::nullopt;
  TileResult result = r;
  result.kind = TileResult::Kind::weighted;
  result.counted = counted;
  for (const Expr& c : scores.visible) result.counted.erase(c);
  const Expr exponent = solve::assume(g, scores.argument - scores.lse, known);
  weight = solve::assume(g, weight, known);
  std::vector<Expr> rest;
  bool found = false;
  for (const Expr& f : factors_of(weight)) {
    if (!found && meaning(f) == Meaning::exponential && f.args()[0] == exponent)
      found = true;
    else
      rest.push_back(f);
  }
  if (!found) return std::nullopt;
  result.weight = real_product(std::move(rest));
  if (tensors(result.weight).count(scores.lse->tensor) ||
      tensors(r.scale).count(scores.lse->tensor))
    return std::nullopt;
  return result;
}

}  // namespace attn::plan
