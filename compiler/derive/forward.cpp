// Forward mode: from the first definition to the last, how each tensor changes when what it reads
// does. Tangents stand after the whole of the function, so that simplify finds in it what they
// need.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/derive/combine_vjp.h"
#include "compiler/derive/contributions.h"
#include "compiler/derive/interface.h"
#include "compiler/derive/walk.h"
#include "compiler/ir/recurrence.h"

namespace attn::derive {
namespace {

using ir::Expr;
using ir::Role;
using ir::TensorId;

// Where factors meet, a sum of several such terms is no matrix product, and each of them is one.
bool is_product(const Expr& e) {
  if (!e.is(ir::Kind::multiply)) return false;
  return std::ranges::count_if(e.args(), [](const Expr& f) { return !ir::tensors(f).empty(); }) > 1;
}

// The terms that become sums of their own: each product, and all others together.
std::vector<Expr> split(const Expr& body) {
  if (!body.is(ir::Kind::add)) return {body};
  std::vector<Expr> parts, rest;
  for (const Expr& term : body.args()) (is_product(term) ? parts : rest).push_back(term);
  if (!rest.empty()) parts.push_back(ir::add(std::move(rest)));
  return parts;
}

class Forward {
 public:
  Forward(const ir::Graph& g, Diagnostics& diagnostics, const Names& by)
      : g_(g), unmaterialised_(g), diagnostics_(diagnostics), by_(by) {}

  // Beside the outputs, their tangents.
  ir::Graph run() {
    constexpr Companion companions[] = {kTangent, kOutputTangent};
    if (cannot_derive(g_, companions, by_, diagnostics_)) return g_;
    make_room(g_, companions, by_);
    const std::vector<ir::Output> results = g_.outputs;
    take_tangents();
    for (const ir::Output& o : results)
      if (is_real(g_[o.tensor]))
        promise(o, companion(g_, kOutputTangent, o.tensor, o.name, Role::output));
    return derive("Jacobian product");
  }

  // Instead of each output dNAME its tangent, called hNAME.
  ir::Graph run_of_gradient() {
    constexpr Companion companions[] = {kTangent, kProduct};
    make_room(g_, companions, by_);
    const std::vector<ir::Output> results = std::move(g_.outputs);
    g_.outputs.clear();
    for (ir::Tensor& t : g_.tensors)
      if (t.role == Role::output) t.role = Role::interior;
    take_tangents();
    for (const ir::Output& o : results) promise(o, product_of(g_[o.tensor].companion_of));
    return derive("Hessian product");
  }

 private:
  struct Promised {
    TensorId of, result;
  };

  // Made before other tensors, so that inputs and results get the names that the caller expects.
  void take_tangents() {
    const size_t count = g_.tensors.size();
    for (size_t k = 0; k < count; ++k) {
      const TensorId x{static_cast<int32_t>(k)};
      const ir::Tensor& of = g_[x];
      if (!is_given(of) || !is_real(of) || !is_chosen(of, by_)) continue;
      tangents_[x] = companion(g_, kTangent, x, of.name, Role::tangent);
    }
  }
  TensorId product_of(TensorId x) { return companion(g_, kProduct, x, g_[x].name, Role::output); }
  void promise(const ir::Output& o, TensorId result) {
    promised_.push_back({o.tensor, result});
    g_.outputs.push_back({g_[result].name, result});
  }

  ir::Graph derive(const std::string& what) {
    store_operands(g_, changing());
    ATTN_CHECK(!ir::arrange(g_), "operands have torn a recurrence");
    Growth growth(g_, what);
    const size_t end = g_.definitions.size();
    // In a recurrence the tangents need each other: all are named before any is defined.
    const std::set<TensorId> changes = changing();
    std::set<TensorId> in_f64;
    for (const ir::Recurrence& r : ir::recurrences(g_)) {
      bool any_f64 = false;
      for (size_t k = r.first; k < r.end(); ++k)
        any_f64 = any_f64 || g_.definitions[k].body.type() == ir::Type::f64;
      for (size_t k = r.first; k < r.end(); ++k) {
        const ir::Definition& d = g_.definitions[k];
        if (!changes.count(d.target) || d.combine == ir::Combine::argmax) continue;
        awaited_.emplace(d.target, TensorId{});
        if (any_f64) in_f64.insert(d.target);
      }
    }
    for (auto& [y, ty] : awaited_) {
      tangents_[y] = ty = target_for(*g_.definition_of(y));
      if (in_f64.count(y) && g_[ty].role == Role::interior) g_[ty].storage = ir::Storage::f64;
    }
    for (size_t k = 0; k < end; ++k) {
      const ir::Definition d = g_.definitions[k];  // a copy: the list grows
      define_tangent(d);
      growth.limit(g_, d.target);
    }
    for (const Promised& p : promised_) keep(p);
    ATTN_CHECK(!ir::arrange(g_), "tangents that need each other");
    ir::verify(g_, "derive");
    return std::move(g_);
  }

  // Real tensors that depend on what has a tangent.
  std::set<TensorId> changing() const {
    std::set<TensorId> result;
    for (const auto& [x, tx] : tangents_) result.insert(x);
    for (size_t before = 0; before != result.size();) {  // once is enough but for recurrences
      before = result.size();
      for (const ir::Definition& d : g_.definitions)
        for (TensorId t : ir::tensors(d.body))
          if (is_real(g_[d.target]) && result.count(t)) result.insert(d.target);
    }
    return result;
  }

  // Nothing, where the tangent is zero everywhere.
  void define_tangent(const ir::Definition& d) {
    if (!is_real(g_[d.target]) || d.combine == ir::Combine::argmax) return;
    const Expr change = tangent(d.body, [&](const Expr& read) {
      const auto found = tangents_.find(read->tensor);
      return found == tangents_.end() ? Expr(0) : g_.read(found->second, read.args());
    });
    const auto awaited = awaited_.find(d.target);
    if (change.is_zero() && awaited == awaited_.end()) return;
    refuse_infinite(g_, change, d, diagnostics_);
    Contribution c;
    for (ir::IndexId i : d.free) c.at.push_back(ir::index_value(i));
    c.domain = d.free;
    c.domain.insert(c.domain.end(), d.reduced.begin(), d.reduced.end());
    c.where = d.where;
    std::vector<Contribution> all;
    for (Flow& f : combine_vjp(g_, d, 1)) {
      const bool plain = d.combine == ir::Combine::sum;
      for (const Expr& part : plain ? split(change) : std::vector<Expr>{change}) {
        c.guard = f.path;
        c.value = f.value * part;
        all.push_back(c);
      }
    }
    std::vector<std::string> names;
    for (ir::IndexId i : d.free) names.push_back(g_[i].name);
    const TensorId t = awaited == awaited_.end() ? target_for(d) : awaited->second;
    add_up(g_, t, names, all, unmaterialised_);
    tangents_[d.target] = t;
  }

  // The first result that wants the tangent, or a tensor of its own.
  TensorId target_for(const ir::Definition& d) {
    for (const Promised& p : promised_)
      if (p.of == d.target) return p.result;
    const ir::Tensor& y = g_[d.target];
    return g_.new_tensor(tensor("t" + y.name, ir::Storage::f32, y.extents, d.where));
  }

  // A result that is defined by now stays; others are copies of a tangent, or 0.
  void keep(const Promised& p) {
    const auto found = tangents_.find(p.of);
    if (found != tangents_.end() && found->second == p.result) return;
    ir::Definition d{.target = p.result, .where = g_[p.of].where};
    std::vector<Expr> at;
    for (const ir::Poly& extent : g_[p.of].extents) {
      d.free.push_back(g_.new_index("i", extent));
      at.push_back(ir::index_value(d.free.back()));
    }
    d.body = found == tangents_.end() ? Expr(0) : g_.read(found->second, std::move(at));
    g_.definitions.push_back(ir::normal_form(std::move(d)));
  }

  ir::Graph g_;
  const solve::Unmaterialised unmaterialised_;
  Diagnostics& diagnostics_;
  const Names& by_;
  std::map<TensorId, TensorId> tangents_;
  std::map<TensorId, TensorId> awaited_;  // those of recurrences
  std::vector<Promised> promised_;        // in the order of outputs
};

}  // namespace

ir::Graph jvp(const ir::Graph& g, Diagnostics& diagnostics, const Names& by) {
  return Forward(g, diagnostics, by).run();
}

ir::Graph hessian_product(const ir::Graph& loss_gradient, Diagnostics& diagnostics,
                          const Names& by) {
  return Forward(loss_gradient, diagnostics, by).run_of_gradient();
}

}  // namespace attn::derive
