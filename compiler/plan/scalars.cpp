// Scalars of an update are f64, and would make every element so. What is the same for all elements,
// `1 - beta1^step`, is computed once a row and stored as the states are; what is left is in their
// type.
#include "compiler/plan/scalars.h"

#include <fmt/format.h>

namespace attn::plan {
namespace {

using namespace ir;

class Gatherer {
 public:
  explicit Gatherer(const Graph& g) : g_(g) {
    for (const Tensor& t : g_.tensors)
      if (t.role == Role::parameter) element_ = gradient_storage(t.storage);
    for (Tensor& t : g_.tensors)
      if (t.role == Role::interior && !t.extents.empty() && t.storage == Storage::f64)
        t.storage = element_;
  }

  Graph run() {
    const std::vector<Definition> definitions = std::move(g_.definitions);
    g_.definitions.clear();
    for (Definition d : definitions) {
      map_exprs(d, [&](const Expr& e) { return inlined(e); });
      if (d.free.empty()) {
        // A scalar is part of what reads it, in full precision.
        scalars_.emplace(d.target, where(d.guard, d.body));
        continue;
      }
      row_ = d.free[0];
      map_exprs(d, [&](const Expr& e) { return gathered(e); });
      g_.definitions.push_back(normal_form(std::move(d)));
    }
    return std::move(g_);
  }

 private:
  Expr inlined(const Expr& e) const {
    return rewrite(e, [&](const Expr& x) {
      if (!x.is(Kind::read)) return x;
      auto it = scalars_.find(x->tensor);
      if (it != scalars_.end()) return it->second;
      return g_.read(x->tensor, x.args());
    });
  }

  // Made of scalar arguments and numbers, with at least one of the first.
  bool is_scalar(const Expr& e) const {
    const std::set<TensorId> read = tensors(e);
    return !read.empty() && indices(e).empty();
  }

  Expr gathered(const Expr& e) {
    if (is_real(e.type()) && is_scalar(e)) return row_value(e);
    if (e.args().empty() || e.is(Kind::read)) return e;
    std::vector<Expr> same, args;
    const bool splits = e.is(Kind::multiply) || e.is(Kind::add);
    bool any = false;
    for (const Expr& a : e.args()) {
      const bool scalar = is_scalar(a);
      any = any || scalar;
      if (splits && (scalar || a.is(Kind::literal)))
        same.push_back(a);
      else
        args.push_back(gathered(a));
    }
    if (any && splits)
      args.push_back(row_value(e.is(Kind::multiply) ? multiply(same) : add(same)));
    else
      args.insert(args.end(), same.begin(), same.end());
    return rebuild(e, std::move(args));
  }

  // The value at the present row.
  Expr row_value(const Expr& e) {
    auto it = rows_.find(e);
    if (it == rows_.end()) {
      Tensor t{.name = fmt::format("scalar.{}", rows_.size() + 1)};
      t.extents = {g_[row_].extent};
      t.storage = element_;
      Definition d{.target = g_.new_tensor(t), .body = e};
      d.free = {g_.new_index(g_[row_].name, g_[row_].extent)};
      it = rows_.emplace(e, d.target).first;
      g_.definitions.push_back(normal_form(std::move(d)));
    }
    return g_.read(it->second, {index_value(row_)});
  }

  Graph g_;
  Storage element_ = Storage::f32;
  IndexId row_;
  std::map<TensorId, Expr> scalars_;
  std::map<Expr, TensorId> rows_;
};

}  // namespace

Graph gather_scalars(const ir::Graph& g) { return Gatherer(g).run(); }

}  // namespace attn::plan
