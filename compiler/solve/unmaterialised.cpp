#include "compiler/solve/unmaterialised.h"

#include <algorithm>
#include <functional>

#include "compiler/solve/compared.h"
#include "compiler/solve/points.h"
#include "compiler/solve/running.h"
#include "compiler/solve/tile_reads.h"

namespace attn::solve {

using namespace ir;

namespace {

// A contraction this many times larger than its operands is unmaterialised even when something
// bounds it.
constexpr double kMostTimesOperands = 16;
// Elements. What is smaller stays in a cache between two kernels, however small its operands are.
constexpr double kLeastUnmaterialised = 1 << 14;

// Reads in subscripts of e.
void mark_subscripts(const Expr& e, std::vector<bool>& marked) {
  visit(e, [&](const Expr& x) {
    if (x.is(Kind::read))
      for (const Expr& s : x.args())
        for (TensorId t : tensors(s)) marked[t.value] = true;
    return true;
  });
}

// Calls f on every factor of the products that a sum's body is, whatever their brackets.
void visit_factors(const Expr& e, const std::function<void(const Expr&)>& f) {
  if (e.is(Kind::add) || e.is(Kind::multiply)) {
    for (const Expr& a : e.args()) visit_factors(a, f);
  } else if (e.is(Kind::power)) {
    visit_factors(e.args()[0], f);
  } else if (e.is(Kind::select)) {
    visit_factors(e.args()[1], f);
    visit_factors(e.args()[2], f);
  } else {
    f(e);
  }
}

// Inputs that are more than a mask or bias: a factor of a sum, or used in subscripts.
std::vector<bool> contracted_inputs(const Graph& g) {
  std::vector<bool> result(g.tensors.size(), false);
  for (const Definition& d : g.definitions) {
    mark_subscripts(d.body, result);
    for (const Expr& c : d.guard) mark_subscripts(c, result);
    if (d.combine != Combine::sum) continue;
    visit_factors(d.body, [&](const Expr& f) {
      if (f.is(Kind::read)) result[f->tensor.value] = true;
    });
  }
  return result;
}

// A sum of products of at least two tensors.
bool is_contraction(const Definition& d) {
  if (d.combine != Combine::sum || !is_real(d.body.type()) || !d.body.is(Kind::multiply))
    return false;
  int factors = 0;
  for (const Expr& f : d.body.args()) factors += !tensors(f).empty();
  return factors >= 2;
}

// The indices of subscripts: of those that read data, and of the others.
struct Subscripts {
  std::set<IndexId> of_data, others;
};
Subscripts subscripts(const Expr& site) {
  Subscripts result;
  for (const Expr& at : site.args())
    for (IndexId i : indices(at)) (tensors(at).empty() ? result.others : result.of_data).insert(i);
  return result;
}

// Whether data picks a factor of a contraction for each row, as `w[expert[t], f, d]` for h[t,f]: of
// columns that no other factor has. In tiles it would be computed at each point on its own.
bool picks_by_data(const Definition& d) {
  const std::vector<Expr>& factors = d.body.args();
  return std::ranges::any_of(factors, [&](const Expr& factor) {
    const auto is_column = [&](IndexId i) {
      return std::ranges::count(d.free, i) > 0 && std::ranges::none_of(factors, [&](const Expr& f) {
               return !(f == factor) && uses(f, i);
             });
    };
    return std::ranges::any_of(read_sites(factor), [&](const Expr& site) {
      const Subscripts at = subscripts(site);
      return !at.of_data.empty() && std::ranges::any_of(at.others, [&](IndexId i) {
        return !at.of_data.count(i) && is_column(i);
      });
    });
  });
}

// Marks what sums read through windows, s[b,h,i - u,j + w] in a convolution of scores: at more
// points than it has elements, so that each would be computed several times in tiles. Also what a
// map that is read so makes of the same points.
std::vector<bool> read_through_windows(const Graph& g) {
  std::vector<bool> result(g.tensors.size(), false);
  const Points points(g, kTypicalSize);
  for (size_t n = g.definitions.size(); n-- > 0;) {
    const Definition& d = g.definitions[n];
    const bool is_map = d.combine == Combine::set && result[d.target.value];
    if (d.combine != Combine::sum && !is_map) continue;
    for (const Expr& site : read_sites(d.body)) {
      const Subscripts at = subscripts(site);
      const bool is_window = at.of_data.empty() && at.others.size() > site.args().size() &&
                             points.of(g, at.others) > points.of(g[site->tensor].extents);
      if (is_map ? site.args() == index_values(d.free) : is_window)
        result[site->tensor.value] = true;
    }
  }
  return result;
}

}  // namespace

Unmaterialised::Unmaterialised(const Graph& g) {
  for (const Tensor& t : g.tensors) {
    if (t.role != Role::parameter) continue;
    for (const Poly& p : t.extents) {
      const Poly expanded = g.expand(p);
      for (const auto& [monomial, c] : expanded.terms())
        for (auto [id, n] : monomial) constants_.insert(id);
    }
  }
  find_bounds(g);
  classify(g);
}

void Unmaterialised::add_growth(const Graph& g, const Poly& extent, Growth& result) const {
  Monomial leading;
  int degree = 0;
  const Poly expanded = g.expand(extent);
  for (const auto& [monomial, c] : expanded.terms()) {
    int d = 0;
    for (auto [id, n] : monomial) d += n;
    if (d > degree) leading = monomial;
    degree = std::max(degree, d);
  }
  for (auto [id, n] : leading) {
    if (constants_.count(id)) continue;
    // T // 2 grows as T does.
    if (g[id].quotient) {
      for (int k = 0; k < n; ++k) add_growth(g, g[id].quotient->first, result);
    } else {
      result[id] += n;
    }
  }
}

Unmaterialised::Growth Unmaterialised::growth(const Graph& g,
                                              const std::vector<Poly>& extents) const {
  Growth result;
  for (const Poly& p : extents) add_growth(g, p, result);
  return result;
}

bool Unmaterialised::is_unbounded(const Growth& of, const std::vector<Growth>& bounds) const {
  int degree = 0;
  for (auto [id, n] : of) degree += n;
  if (degree < 2) return false;
  return std::ranges::none_of(bounds, [&](const Growth& bound) {
    return std::ranges::all_of(of, [&](const auto& size) {
      auto found = bound.find(size.first);
      return found != bound.end() && found->second >= size.second;
    });
  });
}

bool Unmaterialised::is_unbounded(const Graph& g, const std::vector<Poly>& extents) const {
  return is_unbounded(growth(g, extents), bounds_);
}

// Inputs and outputs bound what may be stored, except masks and biases: inputs that are only read
// point by point, where a contraction would not be bounded without them. (So a mask of full shape
// does not make the scores of that shape storable.) The gradient of such an input is left out, too.
void Unmaterialised::find_bounds(const Graph& g) {
  std::vector<bool> contracted = contracted_inputs(g);
  std::vector<Growth> pointwise;
  for (size_t k = 0; k < g.tensors.size(); ++k) {
    const Tensor& t = g.tensors[k];
    if (t.role != Role::input && t.role != Role::cotangent) continue;
    const bool bounds = contracted[k];
    (bounds ? bounds_ : pointwise).push_back(growth(g, t.extents));
  }
  std::set<Growth> inputs(pointwise.begin(), pointwise.end());
  bool derived =
      std::ranges::any_of(g.tensors, [](const Tensor& t) { return is_derivative(t.role); });
  for (const Output& o : g.outputs) {
    if (!is_real(arithmetic_type(g[o.tensor].storage))) continue;
    Growth of = growth(g, g[o.tensor].extents);
    (derived && inputs.count(of) ? pointwise : bounds_).push_back(std::move(of));
  }
  std::vector<Growth> unmaterialised_contractions;
  for (const Definition& d : g.definitions) {
    if (!is_contraction(d)) continue;
    Growth of = growth(g, g[d.target].extents);
    if (is_unbounded(of, bounds_)) unmaterialised_contractions.push_back(std::move(of));
  }
  for (Growth& p : pointwise) {
    bool hides = std::ranges::any_of(unmaterialised_contractions,
                                     [&](const Growth& c) { return !is_unbounded(c, {p}); });
    if (!hides) bounds_.push_back(std::move(p));
  }
}

void Unmaterialised::classify(const Graph& g) {
  unmaterialised_.assign(g.tensors.size(), false);
  std::vector<bool> is_output(g.tensors.size(), false);
  for (const Output& o : g.outputs) is_output[o.tensor.value] = true;
  // What is compared is computed once.
  const std::vector<bool> compared = compared_tensors(g);
  Points points(g, kTypicalSize);
  std::vector<double> size;
  for (const Tensor& t : g.tensors) size.push_back(points.of(t.extents));
  const std::vector<bool> in_tiles = read_in_tiles(g), windowed = read_through_windows(g);
  for (const Definition& d : g.definitions) {
    int32_t t = d.target.value;
    if (is_output[t] || compared[t] || windowed[t] || find_running(g, d)) continue;
    if (in_tiles[t] || is_unbounded(g, g[d.target].extents)) {
      unmaterialised_[t] = true;
      continue;
    }
    bool contraction = is_contraction(d);
    if (!contraction && d.combine != Combine::set) continue;
    // Parameters are there anyway, and what is unmaterialised itself is not stored.
    double operands = 0, largest_unmaterialised = 0;
    for (TensorId r : reads(d)) {
      if (unmaterialised_[r.value])
        largest_unmaterialised = std::max(largest_unmaterialised, size[r.value]);
      else if (g[r].role != Role::parameter)
        operands += size[r.value];
    }
    bool much_larger = size[t] > kMostTimesOperands * operands;
    if (contraction)
      unmaterialised_[t] = size[t] >= kLeastUnmaterialised && operands > 0 &&
                           largest_unmaterialised == 0 && much_larger && !picks_by_data(d);
    else
      unmaterialised_[t] =
          largest_unmaterialised > 0 && size[t] >= largest_unmaterialised && much_larger;
  }
}

void Unmaterialised::set(TensorId t, bool unmaterialised) {
  if (static_cast<size_t>(t.value) >= unmaterialised_.size())
    unmaterialised_.resize(t.value + 1, false);
  unmaterialised_[t.value] = unmaterialised;
}

int sweep_number(const Definition& d, const Unmaterialised& unmaterialised,
                 const std::vector<int>& numbers) {
  int largest = 0;
  bool reads_unmaterialised = false;
  for (TensorId t : reads(d)) {
    largest =
        std::max(largest, static_cast<size_t>(t.value) < numbers.size() ? numbers[t.value] : 0);
    reads_unmaterialised = reads_unmaterialised || unmaterialised(t);
  }
  return largest + (reads_unmaterialised && !unmaterialised(d.target) ? 1 : 0);
}

std::vector<int> sweep_numbers(const Graph& g, const Unmaterialised& unmaterialised,
                               const std::vector<bool>& saved) {
  std::vector<int> numbers(g.tensors.size(), 0);
  for (const Definition& d : g.definitions) {
    if (saved[d.target.value] && !unmaterialised(d.target)) continue;
    numbers[d.target.value] = sweep_number(d, unmaterialised, numbers);
  }
  return numbers;
}

std::vector<bool> independent_of_cotangents(const Graph& g) {
  std::vector<bool> depends(g.tensors.size(), false);
  bool any = false;
  for (size_t k = 0; k < g.tensors.size(); ++k) {
    depends[k] = g.tensors[k].role == Role::cotangent;
    any = any || depends[k];
  }
  std::vector<bool> result(g.tensors.size(), false);
  if (!any) return result;
  for (const Definition& d : g.definitions) {
    for (TensorId t : reads(d))
      if (depends[t.value]) depends[d.target.value] = true;
    result[d.target.value] = !depends[d.target.value];
  }
  return result;
}

}  // namespace attn::solve
