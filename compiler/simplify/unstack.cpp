// Scores that are stacked along an axis, and read at fixed positions of it, are tensors of their
// own:
//   a[h,i,j] = p[2*h, i, j] - m[h] * p[2*h + 1, i, j]
//   ->   a[h,i,j] = p.0[h,i,j] - m[h] * p.1[h,i,j],   p.0[h,i,j] = what p is at 2*h, and so on
// and likewise what they are made of, as far as it is unmaterialised or a reduction of that. What
// is read at one position of an axis alone, as the last layer is at its first token, has no such
// axis:
//   y[b,k] = sum[d] x[b,0,d] * w[k,d]   ->   y[b,k] = sum[d] x.0[b,d] * w[k,d]
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/ir/recurrence.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/prove.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::simplify {

using namespace ir;

namespace {

constexpr int64_t kMostParts = 8;  // not measured

// period * step + offset.
struct Position {
  int64_t period = 0;  // 0: the offset alone
  Expr step;
  int64_t offset = 0;
};
std::optional<Position> position_of(const Expr& subscript) {
  Position p;
  for (const Expr& t : addends_of(subscript)) {
    const Scaled s = split_coefficient(t);
    if (t.is(Kind::literal))
      p.offset += t->number.integer;
    else
      p.period = std::gcd(p.period, s.coefficient.integer);
  }
  if (p.period == 0) return p;
  if (p.period == 1) return std::nullopt;
  for (const Expr& t : addends_of(subscript)) {
    const Scaled s = split_coefficient(t);
    if (!t.is(Kind::literal)) p.step = p.step + Expr(s.coefficient.integer / p.period) * s.rest;
  }
  return p;
}

// How the dimension of a tensor is taken apart: offset + period * (index of `count`).
struct Stack {
  size_t dimension;
  int64_t period = 0;
  std::optional<Poly> count;  // nothing: the dimension goes
  std::optional<Expr> only;   // where all readers read it, in place of an offset
};

class Unstacker {
 public:
  explicit Unstacker(const Graph& g)
      : result_(g), unmaterialised_(g), needs_(g), fixed_(fixed_tensors(g)) {
    for (const Definition& d : g.definitions) note_reads(d);
  }

  Graph run() {
    // Readers first: what they read is read at their positions then.
    for (size_t k = result_.definitions.size(); k-- > 0;)
      while (const auto stack = stack_of(result_.definitions[k])) take_apart(k, *stack);
    return std::move(result_);
  }

 private:
  // Whether it has more points than can be stored, or is made of what has.
  bool is_of_scores(const Definition& d) const {
    const std::set<TensorId> read = reads(d);
    return unmaterialised_(d.target) ||
           std::ranges::any_of(read, [&](TensorId t) { return unmaterialised_(t); });
  }

  static bool is_position(const Expr& e) { return indices(e).empty() && tensors(e).empty(); }

  void note_reads(const Definition& d) {
    for (const Expr& e : read_sites(d))
      if (std::ranges::any_of(e.args(), is_position)) picked_.insert(e->tensor);
  }

  std::vector<Expr> sites(TensorId t) const {
    std::vector<Expr> all;
    for (const Definition& d : result_.definitions)
      if (reads(d, t)) std::ranges::copy(read_sites(d, {t}), std::back_inserter(all));
    return all;
  }

  std::optional<Stack> stack_of(const Definition& d) const {
    const bool is_new = static_cast<size_t>(d.target.value) >= fixed_.size();
    if (!is_new && (fixed_[d.target.value] || needs_.steps(d.target))) return std::nullopt;
    const bool is_stacked = !is_new && is_of_scores(d);
    if (!is_stacked && !picked_.count(d.target)) return std::nullopt;
    const std::vector<Expr> all = sites(d.target);
    for (size_t k = 0; k < d.free.size() && !all.empty(); ++k) {
      if (const auto only = only_position(d, k, all)) return Stack{.dimension = k, .only = only};
      if (!is_stacked) continue;
      if (const auto stack = stack_along(d, k, all)) return stack;
    }
    return std::nullopt;
  }

  // Where all readers read the dimension.
  std::optional<Expr> only_position(const Definition& d, size_t k,
                                    const std::vector<Expr>& all) const {
    const Expr& at = all.front().args()[k];
    const Poly& extent = result_[d.free[k]].extent;
    const auto is_elsewhere = [&](const Expr& e) { return e.args()[k] != at; };
    if (!is_position(at) || std::ranges::any_of(all, is_elsewhere) ||
        !in_range(result_, {}, at, extent))
      return std::nullopt;
    // Sums in tiles end where data ends them; sums of one row go over all columns. That is worth it
    // where there are as many rows, and is not where one row reads a cache.
    const auto is_longer = [&](IndexId i) { return !result_.same(result_[i].extent, extent); };
    if (is_of_scores(d) && !tensors(d.guard).empty() && std::ranges::any_of(d.reduced, is_longer))
      return std::nullopt;
    return at;
  }

  std::optional<Stack> stack_along(const Definition& d, size_t k,
                                   const std::vector<Expr>& all) const {
    const Poly& extent = result_[d.free[k]].extent;
    int64_t period = 0;
    for (const Expr& e : all) {
      const auto position = position_of(e.args()[k]);
      if (!position) return std::nullopt;
      period = std::gcd(period, position->period);
    }
    if (period == 0) {
      const auto known = result_.known(extent);
      return known && *known > 1 && *known <= kMostParts ? std::optional(Stack{k, *known, {}, {}})
                                                         : std::nullopt;
    }
    const auto count = solve::exact_quotient(result_, extent, Poly(period));
    return period > 1 && period <= kMostParts && count ? std::optional(Stack{k, period, count, {}})
                                                       : std::nullopt;
  }

  void take_apart(size_t at, const Stack& s) {
    const Definition d = result_.definitions[at];
    std::map<int64_t, TensorId> parts;
    std::vector<Definition> definitions;
    auto part = [&](int64_t offset) {
      auto found = parts.find(offset);
      if (found == parts.end()) {
        definitions.push_back(at_offset(d, s, offset));
        note_reads(definitions.back());
        found = parts.emplace(offset, definitions.back().target).first;
      }
      return found->second;
    };
    auto renamed = [&](const Expr& e) {
      if (!e.is(Kind::read) || !(e->tensor == d.target)) return e;
      std::vector<Expr> subscripts = e.args();
      if (s.only) {
        subscripts.erase(subscripts.begin() + static_cast<ptrdiff_t>(s.dimension));
        return read(part(0), e.type(), std::move(subscripts));
      }
      const Position p = *position_of(e.args()[s.dimension]);
      const int64_t offset = ((p.offset % s.period) + s.period) % s.period;
      if (s.count)
        subscripts[s.dimension] =
            Expr(p.period / s.period) * p.step + Expr((p.offset - offset) / s.period);
      else
        subscripts.erase(subscripts.begin() + static_cast<ptrdiff_t>(s.dimension));
      return read(part(offset), e.type(), std::move(subscripts));
    };
    for (Definition& reader : result_.definitions) {
      map_exprs(reader, [&](const Expr& e) { return rewrite(e, renamed); });
      reader = normal_form(std::move(reader));
    }
    const auto next =
        result_.definitions.erase(result_.definitions.begin() + static_cast<ptrdiff_t>(at));
    result_.definitions.insert(next, definitions.begin(), definitions.end());
  }

  // The definition of what d is at this offset.
  Definition at_offset(const Definition& d, const Stack& s, int64_t offset) {
    Definition part = d;
    const IndexId old = d.free[s.dimension];
    const auto own = part.free.begin() + static_cast<ptrdiff_t>(s.dimension);
    Expr value = s.only.value_or(Expr(offset));
    if (s.count) {
      *own = result_.new_index(result_[old].name, *s.count);
      value = Expr(s.period) * index_value(*own) + value;
    } else {
      part.free.erase(own);
    }
    const std::map<IndexId, Expr> by{{old, value}};
    part.guard = conjuncts(solve::assume(result_, all_of(substitute(d.guard, by)), {}));
    part.body = solve::assume(result_, substitute(d.body, by), part.guard);
    Tensor t = result_[d.target];
    const bool is_number = !s.only || s.only->is(Kind::literal);
    t.name += is_number ? fmt::format(".{}", s.only ? (*s.only)->number.integer : offset) : ".at";
    t.extents = result_.extents(part.free);
    part.target = result_.new_tensor(std::move(t));
    return normal_form(with_fresh_indices(result_, part).definition);
  }

  Graph result_;
  const solve::Unmaterialised unmaterialised_;
  const Needs needs_;
  const std::vector<bool> fixed_;
  std::set<TensorId> picked_;  // of which some read has a subscript without an index
};

}  // namespace

Graph unstack(const Graph& g) { return Unstacker(g).run(); }

}  // namespace attn::simplify
