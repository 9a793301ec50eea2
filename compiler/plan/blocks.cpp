#include "compiler/plan/blocks.h"

#include <algorithm>
#include <functional>

namespace attn::plan {

using namespace ir;

Blocks::Blocks(Graph& g, IndexId index, int64_t block) : g_(g), index_(index), block_(block) {
  segment_.steps = Steps{new_step(g, index, ".block"), Poly(*g.known(g[index].extent) / block)};
}

TensorId Blocks::add(TensorId whole, size_t dimension) {
  segment_.slices.push_back(part(whole, dimension));
  return parts_[whole] = segment_.slices.back().tensor;
}

TensorId Blocks::add_given(TensorId whole, size_t dimension) {
  segment_.given.push_back(part(whole, dimension));
  const TensorId result = segment_.given.back().tensor;
  g_[result].role = Role::input;
  return parts_[whole] = result;
}

Slice Blocks::part(TensorId whole, size_t dimension) const {
  std::vector<Poly> extents = g_[whole].extents;
  extents[dimension] = block_;
  return {g_.new_part(whole, "." + g_[index_].name, g_[whole].storage, extents), whole, dimension,
          block_};
}

Definition Blocks::at_block(Definition d, IndexId index) const {
  const IndexId within = g_.new_index(g_[index].name, block_);
  for (auto* list : {&d.free, &d.reduced}) std::ranges::replace(*list, index, within);
  const std::map<IndexId, Expr> here = {{index, index_value(within)}};
  map_exprs(d, [&](const Expr& e) {
    return rewrite(substitute(e, here), [&](const Expr& x) {
      const auto part = x.is(Kind::read) ? parts_.find(x->tensor) : parts_.end();
      return part == parts_.end() ? x : g_.read(part->second, x.args());
    });
  });
  if (const auto part = parts_.find(d.target); part != parts_.end()) d.target = part->second;
  return d;
}

bool subscripts_alone(const Definition& d, IndexId index, std::map<TensorId, size_t>& at) {
  bool result = true;
  const std::function<bool(const Expr&)> look = [&](const Expr& x) {
    result = result && !(x == index_value(index));
    if (!x.is(Kind::read)) return true;
    for (size_t k = 0; k < x.args().size(); ++k) {
      if (!(x.args()[k] == index_value(index)))
        visit(x.args()[k], look);
      else
        result = result && at.emplace(x->tensor, k).first->second == k;
    }
    return false;
  };
  visit(d.body, look);
  for (const Expr& c : d.guard) visit(c, look);
  return result;
}

}  // namespace attn::plan
