// Claims a log-sum-exp over the columns of a wide tensor together with a sum that its exponentials
// weigh: the scores s, Y[i] = logsumexp[j] a(s[i,j]), z[i,f] = sum[j] exp(a(s[i,j]) - Y[i]) w[i,j]
// v[j,f]. One pass over the columns computes both, since each chunk of columns can be summed
// relative to a maximum of its own; the scores exist in tiles only.
#include "compiler/plan/streaming.h"

#include <algorithm>

#include "compiler/ir/operation.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

constexpr int64_t kMostFeatures = 512;  // of the sum: they are kept in registers and one cache

// The only read of `t` in the definition's body, by plain indices, each once; nothing else reads
// it.
std::optional<Expr> plain_site(const Expr& e, TensorId t) {
  std::optional<Expr> found;
  bool single = true;
  visit(e, [&](const Expr& x) {
    if (!x.is(Kind::read) || !(x->tensor == t)) return true;
    if (found && !(*found == x)) single = false;
    found = x;
    return true;
  });
  if (!found || !single) return std::nullopt;
  std::set<IndexId> used;
  for (const Expr& s : found->args())
    if (!s.is(Kind::index) || !used.insert(s->index).second) return std::nullopt;
  return found;
}

// Names of one definition's indices in terms of another's.
using Names = std::map<IndexId, IndexId>;

std::map<IndexId, Expr> values_of(const Names& names) {
  std::map<IndexId, Expr> values;
  for (auto [own, other] : names) values.emplace(own, index_value(other));
  return values;
}

class Claim {
 public:
  Claim(const Graph& g, const Definition& lse, const Part& scores, const Part& weighted)
      : g_(g), lse_(lse), scores_(scores), weighted_(weighted) {}

  std::optional<Streaming> find() {
    if (g_[lse_.target].storage != Storage::f32 || lse_.reduced.size() != 1) return {};
    if (!find_scores() || !find_weights() || !find_sum()) return {};
    return result_;
  }

 private:
  // The argument of the log-sum-exp in terms of the scores' indices.
  bool find_scores() {
    const Definition& own = scores_.definition;
    const Contraction& c = scores_.contraction;
    if (g_[own.target].storage != Storage::f32) return false;
    std::optional<Expr> site = plain_site(lse_.body, own.target);
    if (!site || site->args().size() != lse_.free.size() + 1) return false;
    for (size_t k = 0; k < own.free.size(); ++k)
      of_lse_.emplace(site->args()[k]->index, own_index(k));
    for (IndexId i : lse_.free)
      if (!of_lse_.count(i)) return false;
    if (!of_lse_.count(lse_.reduced[0])) return false;

    Streaming& s = result_;
    s.column = of_lse_.at(lse_.reduced[0]);
    const std::vector<IndexId>* others = nullptr;
    if (c.columns == std::vector{s.column}) others = &c.rows;
    if (c.rows == std::vector{s.column}) others = &c.columns;
    if (!others || others->empty()) return false;
    s.visible = substitute(lse_.guard, values_of(of_lse_));
    s.row = others->back();
    for (IndexId i : *others)
      for (const Expr& condition : s.visible)
        if (uses(condition, i) && uses(condition, s.column)) s.row = i;
    for (IndexId i : scores_.sum.free)
      if (!(i == s.row) && !(i == s.column)) s.batch.push_back(i);
    for (Term t : c.terms) {
      if (c.rows == std::vector{s.column}) {
        std::swap(t.left, t.right);
        std::swap(t.left_guard, t.right_guard);
      }
      s.dots.push_back(std::move(t));
    }
    s.dot = c.sum;
    const Expr renamed = substitute(lse_.body, values_of(of_lse_));
    const Expr score = where(c.guard, c.epilogue);
    s.score = solve::assume(
        g_,
        rewrite(
            renamed,
            [&](const Expr& e) { return e.is(Kind::read) && e->tensor == own.target ? score : e; }),
        s.visible);
    s.lse = lse_.target;
    for (IndexId i : lse_.free) s.lse_free.push_back(of_lse_.at(i));
    return true;
  }

  IndexId own_index(size_t k) const { return scores_.sum.free[k]; }

  // The factor of the sum that holds exp(score - lse).
  bool find_weights() {
    const Contraction& c = weighted_.contraction;
    if (c.terms.size() != 1 || c.terms[0].reduced.size() != 1) return false;
    const Term& t = c.terms[0];
    on_left_ = tensors(t.left).count(lse_.target) > 0;
    const Expr& factor = on_left_ ? t.left : t.right;
    const Expr& panel = on_left_ ? t.right : t.left;
    const TensorId scores = scores_.definition.target;
    std::set<TensorId> of_panel = tensors(panel), of_factor = tensors(factor);
    if (of_panel.count(scores) || of_panel.count(lse_.target) || !of_factor.count(scores))
      return false;
    std::optional<Expr> site = plain_site(factor, scores);
    std::optional<Expr> sum = plain_site(factor, lse_.target);
    if (!site || !sum) return false;
    for (size_t k = 0; k < site->args().size(); ++k)
      of_sum_.emplace(site->args()[k]->index, own_index(k));
    if (!of_sum_.count(t.reduced[0]) || !(of_sum_.at(t.reduced[0]) == result_.column)) return false;

    // exp(a - Y) with a the log-sum-exp's own argument, under its own conditions.
    std::map<IndexId, Expr> to_sum;
    for (auto [own, theirs] : of_lse_)
      for (auto [mine, same] : of_sum_)
        if (same == theirs) to_sum.emplace(own, index_value(mine));
    if (to_sum.size() != of_lse_.size()) return false;
    const Conditions& guard = on_left_ ? t.left_guard : t.right_guard;
    const Conditions& of_other = on_left_ ? t.right_guard : t.left_guard;
    if (substitute(lse_.guard, to_sum) != guard) return false;
    for (const Expr& condition : of_other)
      if (!guard.count(condition)) return false;
    std::vector<Expr> place;
    for (IndexId i : lse_.free) {
      if (!to_sum.count(i)) return false;
      place.push_back(to_sum.at(i));
    }
    if (sum->args() != place) return false;
    const Expr argument = substitute(lse_.body, to_sum) - *sum;
    std::vector<Expr> rest;
    bool found = false;
    for (const Expr& f : factor.is(Kind::multiply) ? factor.args() : std::vector{factor}) {
      const bool is_exp = f.is(Kind::call) && f->operation->name == "exp";
      if (!found && is_exp &&
          solve::assume(g_, f.args()[0], guard) == solve::assume(g_, argument, guard)) {
        found = true;
        continue;
      }
      std::set<TensorId> read = tensors(f);
      if (read.count(scores) || read.count(lse_.target)) return false;
      rest.push_back(f);
    }
    if (!found) return false;
    result_.weight = multiply(std::move(rest));
    result_.panel = panel;
    result_.panel_guard = of_other;
    result_.panel_leaks = on_left_ ? t.right_leaks : t.left_leaks;
    return true;
  }

  // The rest of the sum: its features, and what becomes of it.
  bool find_sum() {
    const Contraction& c = weighted_.contraction;
    const std::vector<IndexId>& features = on_left_ ? c.columns : c.rows;
    if (features.size() != 1) return false;
    std::optional<int64_t> count = g_.known(g_[features[0]].extent);
    if (!count || *count < 1 || *count > kMostFeatures) return false;
    Streaming& s = result_;
    s.feature = features[0];
    Names names = of_sum_;
    if (names.count(s.feature)) return false;
    names.emplace(s.feature, s.feature);
    std::map<IndexId, Expr> values = values_of(names);
    std::set<IndexId> covered;
    for (IndexId i : weighted_.sum.free) {
      if (!names.count(i)) return false;
      s.sum_free.push_back(names.at(i));
      covered.insert(names.at(i));
    }
    if (covered.size() != s.batch.size() + 2 || !covered.count(s.row) || covered.count(s.column))
      return false;
    for (Expr* e : {&s.weight, &s.panel}) *e = substitute(*e, values);
    s.panel_guard = substitute(s.panel_guard, values);
    if (uses(s.panel, s.row) || uses(s.weight, s.feature)) return false;
    for (const Expr& condition : s.panel_guard)
      if (uses(condition, s.row)) return false;
    s.sum = c.sum;
    s.epilogue = substitute(c.epilogue, values);
    s.guard = substitute(c.guard, values);
    return g_[weighted_.definition.target].storage != Storage::f64;
  }

  const Graph& g_;
  const Definition& lse_;
  const Part& scores_;
  const Part& weighted_;
  Streaming result_;
  Names of_lse_, of_sum_;  // from the indices of lse and of the sum to those of the scores
  bool on_left_ = true;
};

}  // namespace

std::optional<Streaming> claim_streaming(const Graph& g, const Definition& lse, const Part& scores,
                                         const Part& weighted) {
  return Claim(g, lse, scores, weighted).find();
}

}  // namespace attn::plan
