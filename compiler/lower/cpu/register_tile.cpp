#include "compiler/lower/cpu/register_tile.h"

namespace attn::lower {

Stage unroll_in_vectors(Stage stage, const std::vector<VarOrRVar>& order, size_t unrolled,
                        int lanes) {
  stage.reorder(order).vectorize(order[0], lanes);
  for (size_t k = 0; k < unrolled; ++k) stage.unroll(order[k]);
  return stage;
}

void register_tile(Func f, const std::vector<Var>& vars, int lanes) {
  f.vectorize(vars[0], lanes);
  for (const Var& v : vars) f.unroll(v);
  for (int k = 0; k < f.num_update_definitions(); ++k) {
    std::vector<VarOrRVar> order(vars.begin(), vars.end());
    Stage stage = f.update(k);
    for (const Halide::Internal::ReductionVariable& r : stage.get_schedule().rvars())
      order.emplace_back(RVar(r.var));
    unroll_in_vectors(stage, order, vars.size(), lanes);
  }
}

}  // namespace attn::lower
