#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/gpu/register_tile.h"
#include "compiler/lower/gpu/tiles.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/translate.h"

namespace attn::lower {

namespace gpu {

Tiles::Tiles(const TilesSpec& spec)
    : spec_(spec), rows_(max(spec.rows, 1)), columns_(max(spec.columns, 1)) {
  for (const Expr& e : spec_.batch_extents) batches_ = batches_ * max(e, 1);
  batches_ = simplify(batches_);
}

Tiles::Own Tiles::own_of(const Result& r) const {
  Own result;
  const int batches = static_cast<int>(spec_.batch_extents.size());
  result.batch.resize(spec_.batch_extents.size());
  for (size_t k = r.dimensions.size(); k-- > 0;) {
    Var v("d" + std::to_string(k));
    result.vars.push_back(v);
    const int at = r.dimensions[k];
    if (at < batches)
      result.batch[at] = v;
    else
      (at == batches ? result.kept : result.feature) = v;
  }
  return result;
}

Expr Tiles::linear(const std::vector<Expr>& batch) const {
  Expr linear = 0;
  for (size_t k = 0; k < batch.size(); ++k) linear = linear * spec_.batch_extents[k] + batch[k];
  return linear;
}

Tiles::Point Tiles::promised(const Point& p) const {
  return {own(p.batch, batches_), own(p.row, rows_), own(p.column, columns_)};
}

Expr Tiles::inverse(const Expr& total) {
  const Expr some = select(total > 0, 1.0f / max(total, 1e-30f), 0.0f);
  return select(has_finite_bits(total), some, total);
}

Expr Tiles::high(const Expr& top, const Expr& total) { return select(total > 0, top, kLowest); }

Expr Tiles::low(const Expr& total) {
  const Expr logarithm = select(total > 0, log(max(total, 1e-30f)), 0.0f);
  return select(has_finite_bits(total), logarithm, total);
}

}  // namespace gpu

Scheduled gpu::schedule(const plan::TilesForm& form, const Scope& scope,
                        const target::Target& target) {
  const TilesSpec spec(scope, form);
  ATTN_CHECK(!spec.results.empty(), "a kernel of tiles without results");
  PlainTiles plain(spec);
  std::vector<Func> outputs;
  std::string alone;                             // results that a thread each computes
  std::vector<const TilesSpec::Result*> stream;  // what one sweep gives
  for (const TilesSpec::Result& r : spec.results) {
    if (!r.is_written) continue;
    const std::string why = unsuited_to_blocks(spec, r);
    const bool in_blocks = why.empty();
    if (!in_blocks)
      alone += "; " + scope.g[r.form->tensor].name + ": a thread for each result, as " + why;
    if (in_blocks && form.streams()) {
      stream.push_back(&r);
      continue;
    }
    outputs.push_back(in_blocks ? sweep_in_blocks(spec, target, scope.precision, {&r}).front()
                                : plain.schedule(r));
  }
  if (!stream.empty()) {
    const std::vector<Func> swept = sweep_in_blocks(spec, target, scope.precision, stream);
    outputs.insert(outputs.begin(), swept.begin(), swept.end());
  }
  const bool some_in_blocks = std::ranges::any_of(spec.results, [&](const TilesSpec::Result& r) {
    return r.is_written && unsuited_to_blocks(spec, r).empty();
  });
  const std::string blocks = "blocks of threads" + units_text(target, scope.precision);
  return {outputs, some_in_blocks ? blocks + alone : alone.substr(2)};
}

}  // namespace attn::lower
