// The values of run-time sizes from the extents of what a caller gives.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/evaluate/evaluate.h"

namespace attn::evaluate {
namespace {

using ir::Poly;
using ir::SizeId;

class SizeReader {
 public:
  SizeReader(const ir::Graph& g, const Arrays& given) : g_(g), values_(g.sizes.size()) {
    for (const ir::Tensor& t : g.tensors) {
      auto it = given.find(t.name);
      if (!ir::is_argument(t.role) || it == given.end()) continue;
      const auto& extents = it->second.extents;
      if (extents.size() != t.extents.size())
        throw CallError(fmt::format("{} has {} dimension{}, but {} {} given", t.name,
                                    t.extents.size(), t.extents.size() == 1 ? "" : "s",
                                    extents.size(), extents.size() == 1 ? "was" : "were"));
      for (size_t k = 0; k < extents.size(); ++k)
        places_.push_back({&t, k, g.expand(t.extents[k]), extents[k]});
    }
  }

  std::vector<int64_t> read() {
    for (const Place& p : places_)
      if (auto id = p.extent.single()) take(*id, p.actual, p);
    while (solve_one()) {
    }
    std::vector<int64_t> result(values_.size());
    for (size_t k = 0; k < values_.size(); ++k) {
      const ir::Size& s = g_.sizes[k];
      if (s.value || s.definition || s.quotient) continue;
      if (!values_[k]) {
        // A size that nothing needs may stay unknown.
        if (!is_needed({static_cast<int32_t>(k)})) continue;
        throw CallError(fmt::format("size {} cannot be read from the tensors given", s.name));
      }
      check_bounds(s, *values_[k]);
      result[k] = *values_[k];
    }
    g_.complete(result);
    for (const Place& p : places_) check(p, result);
    return result;
  }

 private:
  struct Place {
    const ir::Tensor* tensor;
    size_t dimension;
    Poly extent;  // expanded
    int64_t actual;
  };

  bool is_free(SizeId id) const {
    const ir::Size& s = g_[id];
    return !s.value && !s.definition && !s.quotient;
  }

  void take(SizeId id, int64_t value, const Place& p) {
    if (!is_free(id) || values_[id.value]) return;
    values_[id.value] = value;
    origin_[id] = fmt::format("{} = {} by dimension {} of {}", g_[id].name, value, p.dimension + 1,
                              p.tensor->name);
  }

  // The value of a size as far as it is known yet.
  std::optional<int64_t> known(SizeId id) const {
    const ir::Size& s = g_[id];
    if (s.value) return s.value;
    if (!s.quotient) return values_[id.value];
    auto a = known(g_.expand(s.quotient->first)), b = known(g_.expand(s.quotient->second));
    if (!a || !b || *b == 0) return std::nullopt;
    return *a / *b - (*a % *b != 0 && (*a < 0) != (*b < 0));
  }

  std::optional<int64_t> known(const Poly& p) const {
    std::vector<int64_t> values(values_.size());
    for (const auto& [monomial, c] : p.terms()) {
      for (auto [id, power] : monomial) {
        auto v = known(id);
        if (!v) return std::nullopt;
        values[id.value] = *v;
      }
    }
    return g_.value(p, values);
  }

  // An extent in which exactly one size is unknown, and that linearly: c*S + rest == actual.
  bool solve_one() {
    for (const Place& p : places_) {
      std::set<SizeId> unknown;
      bool linear = true;
      Poly coefficient, rest;
      for (const auto& [monomial, c] : p.extent.terms()) {
        ir::Monomial others;
        bool here = false;
        for (auto [id, power] : monomial) {
          if (known(id)) {
            others.push_back({id, power});
            continue;
          }
          linear = linear && power == 1 && !here && is_free(id);
          unknown.insert(id);
          here = true;
        }
        Poly term = Poly::term(others, c);
        (here ? coefficient : rest) = (here ? coefficient : rest) + term;
      }
      if (!linear || unknown.size() != 1) continue;
      auto c = known(coefficient), r = known(rest);
      if (!c || !r || *c == 0) continue;
      int64_t left = p.actual - *r;
      SizeId id = *unknown.begin();
      if (left % *c != 0 || left / *c < 0)
        throw CallError(fmt::format("{}: dimension {} is {}, which fits no value of {}{}",
                                    p.tensor->name, p.dimension + 1, p.actual, g_[id].name,
                                    because(p)));
      take(id, left / *c, p);
      return true;
    }
    return false;
  }

  bool is_needed(SizeId id) const {
    auto in = [&](const Poly& p) {
      Poly expanded = g_.expand(p);
      for (const auto& [monomial, c] : expanded.terms())
        for (auto [other, power] : monomial)
          if (other == id || g_[other].quotient) return true;
      return false;
    };
    for (const ir::Definition& d : g_.definitions) {
      for (const Poly& e : g_[d.target].extents)
        if (in(e)) return true;
      for (ir::IndexId i : d.reduced)
        if (in(g_[i].extent)) return true;
      bool found = false;
      auto look = [&](const ir::Expr& e) {
        found = found || (e.is(ir::Kind::size) && in(e->size));
        return !found;
      };
      ir::visit(d.body, look);
      for (const ir::Expr& c : d.guard) ir::visit(c, look);
      if (found) return true;
    }
    return false;
  }

  static void check_bounds(const ir::Size& s, int64_t value) {
    if (value < s.lower)
      throw CallError(
          fmt::format("size {} is {}, but must be at least {}", s.name, value, s.lower));
    if (s.upper && value > *s.upper)
      throw CallError(
          fmt::format("size {} is {}, but must be at most {}", s.name, value, *s.upper));
  }

  void check(const Place& p, const std::vector<int64_t>& sizes) const {
    int64_t wanted = std::max<int64_t>(0, g_.value(p.extent, sizes));
    if (wanted == p.actual) return;
    throw CallError(fmt::format("{}: dimension {} is {}, but should be {}{}", p.tensor->name,
                                p.dimension + 1, p.actual, wanted, because(p)));
  }

  // Where the sizes of an extent were read: " (T = 4 by dimension 1 of x)".
  std::string because(const Place& p) const {
    std::string text;
    std::set<SizeId> seen;
    for (const auto& [monomial, c] : p.extent.terms())
      for (auto [id, power] : monomial)
        if (auto it = origin_.find(id); it != origin_.end() && seen.insert(id).second)
          text += (text.empty() ? " (" : ", ") + it->second;
    return text.empty() ? text : text + ")";
  }

  const ir::Graph& g_;
  std::vector<std::optional<int64_t>> values_;
  std::vector<Place> places_;
  std::map<SizeId, std::string> origin_;
};

}  // namespace

std::vector<int64_t> read_sizes(const ir::Graph& g, const Arrays& given) {
  return SizeReader(g, given).read();
}

}  // namespace attn::evaluate
