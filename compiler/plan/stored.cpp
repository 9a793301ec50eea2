#include "compiler/plan/stored.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/solve/points.h"

namespace attn::plan {

using namespace ir;

namespace {

int degree(const Monomial& monomial) {
  int sum = 0;
  for (auto [id, n] : monomial) sum += n;
  return sum;
}

// Whether a size occurs in a subscript.
bool mentions(const Expr& site, SizeId size) {
  bool result = false;
  visit(site, [&](const Expr& x) {
    if (x.is(Kind::size))
      for (const auto& [monomial, c] : x->size.terms())
        for (auto [id, n] : monomial) result = result || id == size;
    return true;
  });
  return result;
}

// Indices that are subscripts of parameters.
std::set<IndexId> features_of(const Graph& g, const std::vector<Expr>& sites) {
  std::set<IndexId> result;
  for (const Expr& site : sites)
    if (g[site->tensor].role == Role::parameter)
      for (const Expr& subscript : site.args())
        if (subscript.is(Kind::index)) result.insert(subscript->index);
  return result;
}

}  // namespace

Excess::Excess(const Function& f, const Costs& costs, const std::set<TensorId>& large)
    : f_(f), costs_(costs), large_(large) {
  const Graph& g = f.graph;
  for (TensorId of : g.tensor_ids()) {
    const Tensor& t = g[of];
    if (large.count(of)) continue;
    if (t.role == Role::parameter) {
      for (const Poly& extent : t.extents) {
        const Poly expanded = g.expand(extent);
        for (const auto& [monomial, c] : expanded.terms())
          for (auto [id, n] : monomial) of_parameters_.insert(id);
      }
    } else if (is_argument(t.role)) {
      given_.push_back(elements(t.extents));
    }
  }
  for (const Output& o : g.outputs) given_.push_back(elements(g[o.tensor].extents));
  for (size_t n = 0; n < f.kernels.size(); ++n)
    for (const Definition& d : f.kernels[n].definitions) judge(d, loop_of(f, n));
}

// The leading term of an extent is what counts; T // 2 is T times a half.
void Excess::multiply(Elements& e, const Poly& extent) const {
  const Graph& g = f_.graph;
  const Poly expanded = g.expand(extent);
  Poly::Terms::value_type leading;
  double number = 0;
  for (const auto& term : expanded.terms())
    if (degree(term.first) >= degree(leading.first)) leading = term;
  for (const auto& [monomial, c] : expanded.terms())
    if (degree(monomial) == degree(leading.first)) number += c.value();
  if (number > 0) e.number *= number;
  for (auto [id, n] : leading.first) {
    for (int k = 0; k < n; ++k) {
      if (g[id].quotient) {
        Elements divisor;
        multiply(e, g[id].quotient->first);
        multiply(divisor, g[id].quotient->second);
        e.number /= divisor.number;
        for (auto [of, m] : divisor.powers) e.powers[of] -= m;
      } else if (g[id].upper) {
        e.number *= static_cast<double>(*g[id].upper);
      } else {
        ++e.powers[id];
      }
    }
  }
}

Excess::Elements Excess::elements(const std::vector<Poly>& extents) const {
  Elements result;
  for (const Poly& extent : extents) multiply(result, extent);
  return result;
}

// Whether another step of the loop reads something else at the site.
bool Excess::varies(const Expr& site, const Loop& loop) const {
  if (whole_of(f_, site->tensor) != site->tensor || mentions(site, loop.steps.step)) return true;
  for (size_t n = loop.first; n < loop.end; ++n)
    for (const Definition& d : f_.kernels[n].definitions)
      if (d.target == site->tensor) return true;
  return false;
}

// At most the elements of the tensor: a table of distances has fewer than pairs that look into it.
// Of what data picks, each point has its own.
Excess::Elements Excess::read_at(const Expr& site, const Loop* loop) const {
  const Graph& g = f_.graph;
  Elements result;
  for (IndexId i : indices(site)) multiply(result, g[i].extent);
  const bool is_picked = std::ranges::any_of(
      site.args(), [](const Expr& subscript) { return !tensors(subscript).empty(); });
  if (!is_picked || g[site->tensor].role == Role::parameter) {
    Elements all = elements(g[site->tensor].extents);
    if (times(result, all) > 1) result = std::move(all);
  }
  if (loop && varies(site, *loop)) multiply(result, loop->steps.count);
  return result;
}

// How many times as many as `other`: infinitely many where a size that is not known is left above.
// A size of a parameter is no length: it counts 1 above and as usual below.
double Excess::times(const Elements& e, const Elements& other) const {
  std::map<SizeId, int> powers = e.powers;
  for (auto [id, n] : other.powers) powers[id] -= n;
  double result = e.number / other.number;
  bool is_more = false, is_less = false;
  for (auto [id, n] : powers) {
    if (of_parameters_.count(id)) {
      result *= std::pow(solve::kTypicalSize, std::min(n, 0));
    } else {
      is_more = is_more || n > 0;
      is_less = is_less || n < 0;
    }
  }
  if (is_more) return std::numeric_limits<double>::infinity();
  return is_less ? 0 : result;
}

bool Excess::exceeds(const Elements& e, const std::vector<Elements>& others) const {
  double usual = e.number;  // with a usual number for each size that is not known
  for (auto [id, n] : e.powers) usual *= std::pow(solve::kTypicalSize, n);
  return std::ranges::all_of(others, [&](const Elements& other) {
    const double n = times(e, other);
    return std::isinf(n) || (n > costs_.most_times && usual >= costs_.least_stored);
  });
}

// A layer may widen what it reads: features that a parameter adds count with all else.
void Excess::judge(const Definition& d, const Loop* loop) {
  const std::vector<Expr> sites = read_sites(d);
  const std::set<IndexId> features = features_of(f_.graph, sites);
  std::vector<Elements> made_of;
  for (const Expr& site : sites) {
    if (large_.count(site->tensor)) continue;
    if (const auto found = made_of_.find(site->tensor); found != made_of_.end()) {
      made_of.insert(made_of.end(), found->second.begin(), found->second.end());
      continue;
    }
    Elements read = read_at(site, loop);
    for (IndexId i : features)
      if (!uses(site, i)) multiply(read, f_.graph[i].extent);
    made_of.push_back(std::move(read));
  }
  Elements own = elements(f_.graph[d.target].extents);
  if (loop) multiply(own, loop->steps.count);
  if (exceeds(own, made_of)) made_of_.emplace(d.target, std::move(made_of));
}

bool Excess::operator()(TensorId t) const {
  const TensorId whole = whole_of(f_, t);
  return f_.places[whole.value] == Place::workspace && made_of_.count(t) > 0 &&
         exceeds(elements(f_.graph[whole].extents), given_);
}

}  // namespace attn::plan
