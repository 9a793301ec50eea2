#include "compiler/evaluate/affine.h"

#include <algorithm>

namespace attn::evaluate {

using ir::Kind;

namespace {

bool is_constant(const Affine& a) {
  return std::all_of(a.coefficients.begin(), a.coefficients.end(),
                     [](int64_t c) { return c == 0; });
}

void add(Affine& to, const Affine& a) {
  to.constant += a.constant;
  for (size_t k = 0; k < a.coefficients.size(); ++k) to.coefficients[k] += a.coefficients[k];
}

void scale(Affine& a, int64_t factor) {
  a.constant *= factor;
  for (int64_t& c : a.coefficients) c *= factor;
}

}  // namespace

std::optional<Affine> affine_of(const ir::Expr& e, const Names& names, size_t loops) {
  Affine r{0, std::vector<int64_t>(loops)};
  switch (e.kind()) {
    case Kind::literal:
      r.constant = e->number.integer;
      return r;
    case Kind::size:
      r.constant = names.graph.value(e->size, names.sizes);
      return r;
    case Kind::index: {
      const auto it = names.loop_of.find(e->index);
      if (it == names.loop_of.end()) return std::nullopt;
      r.coefficients[it->second] = 1;
      return r;
    }
    case Kind::add:
      for (const ir::Expr& t : e.args()) {
        const auto a = affine_of(t, names, loops);
        if (!a) return std::nullopt;
        add(r, *a);
      }
      return r;
    case Kind::multiply:
      r.constant = 1;
      for (const ir::Expr& f : e.args()) {
        auto a = affine_of(f, names, loops);
        if (!a || (!is_constant(*a) && !is_constant(r))) return std::nullopt;
        if (is_constant(r)) std::swap(*a, r);
        scale(r, a->constant);
      }
      return r;
    default:
      return std::nullopt;
  }
}

bool always_in_range(const Affine& a, const std::vector<Program::Loop>& loops, int64_t dimension) {
  int64_t low = a.constant, high = a.constant;
  for (size_t k = 1; k < a.coefficients.size(); ++k) {
    const int64_t reach = a.coefficients[k] * std::max<int64_t>(0, loops[k].extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  return low >= 0 && high < dimension;
}

}  // namespace attn::evaluate
