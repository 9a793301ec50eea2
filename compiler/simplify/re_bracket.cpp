// Brackets sums of products anew where that saves points or sweeps over unmaterialised tensors:
// reads a sum that exists, moves factors out, sums pairs first. The search stands in brackets.cpp;
// here are the tests of what it finds, without which distributing a sum would turn `(q + u)*k` into
// two contractions.
#include <algorithm>
#include <functional>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/under.h"
#include "compiler/simplify/brackets.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/solve/out_of_sum.h"
#include "compiler/solve/prove.h"

namespace attn::simplify {

using namespace ir;

namespace {

// A rewritten sum that reads the same unmaterialised tensors has so many times fewer points.
constexpr double kFewerPoints = 4;
// Sums of more terms are left as they are.
constexpr size_t kMostTerms = 6;
// A point of a sum whose factors no contraction packs takes so many times longer.
constexpr double kUnpacked = 8;

template <typename Id>
bool meet(const std::set<Id>& a, const std::set<Id>& b) {
  return std::ranges::any_of(a, [&](Id i) { return b.count(i) > 0; });
}

std::set<IndexId> indices_of_sum(const Part& p) {
  std::set<IndexId> all = p.reduced;
  for (const Expr& f : p.inner) insert_all(all, indices(f));
  for (const Expr& c : p.conditions) {
    std::set<IndexId> used = indices(c);
    if (std::ranges::any_of(used, [&](IndexId i) { return p.reduced.count(i) > 0; }))
      all.merge(used);
  }
  return all;
}

// Whether the factors make two sides, neither with all the indices: packed, each point of one meets
// many of the other.
bool has_two_sides(const std::vector<Expr>& factors) {
  std::vector<std::set<IndexId>> of;
  std::set<IndexId> all;
  for (const Expr& f : factors) {
    of.push_back(indices(f));
    all.insert(of.back().begin(), of.back().end());
  }
  if (factors.empty() || factors.size() > 8) return false;
  for (size_t left = 1; left + 1 < (size_t{1} << factors.size()); ++left) {
    std::set<IndexId> sides[2];
    for (size_t k = 0; k < factors.size(); ++k)
      sides[left >> k & 1].insert(of[k].begin(), of[k].end());
    if (sides[0].size() < all.size() && sides[1].size() < all.size()) return true;
  }
  return false;
}

class ReBracketing {
 public:
  // Sums of terms with at least so many factors that the sum is over, or over unmaterialised
  // tensors.
  ReBracketing(const Graph& g, int least_factors)
      : least_factors_(least_factors),
        result_(g),
        unmaterialised_(g),
        saved_(solve::independent_of_cotangents(g)),
        numbers_(solve::sweep_numbers(g, unmaterialised_, saved_)),
        needs_(g),
        brackets_(result_, unmaterialised_, numbers_) {
    result_.definitions.clear();
  }

  Graph run(const Graph& g) {
    for (const Definition& d : g.definitions) brackets_.expect(d);
    for (const Definition& d : g.definitions) {
      size_t before = result_.definitions.size();
      set_number(d);  // what it reads may be complete earlier by now
      if (d.combine != Combine::sum || !is_real(d.body.type()) || !bracket(d))
        result_.definitions.push_back(d);
      for (size_t k = before; k < result_.definitions.size(); ++k) {
        const Definition& made = result_.definitions[k];
        if (static_cast<size_t>(made.target.value) >= saved_.size())
          saved_.resize(made.target.value + 1, saved_[d.target.value]);
        set_number(made);
        brackets_.learn(made);
      }
    }
    return std::move(result_);
  }

 private:
  void set_number(const Definition& d) {
    TensorId t = d.target;
    if (static_cast<size_t>(t.value) >= numbers_.size()) numbers_.resize(t.value + 1, 0);
    bool saved = saved_[t.value] && !unmaterialised_(t);
    numbers_[t.value] = saved ? 0 : solve::sweep_number(d, unmaterialised_, numbers_);
  }

  // Appends what replaces d; false when it stays.
  bool bracket(const Definition& d) {
    if (scatters(d)) return false;
    auto terms = expand(d.body);
    if (!terms || terms->size() > kMostTerms) return false;
    const auto are_many = [&](const Product& p) {
      return std::ranges::count_if(p.factors, [&](const Expr& f) {
               return std::ranges::any_of(d.reduced, [&](IndexId r) { return uses(f, r); });
             }) >= least_factors_;
    };
    const std::set<TensorId> read = tensors(d.body);
    if (std::ranges::none_of(read, [&](TensorId t) { return unmaterialised_(t); }) &&
        std::none_of(terms->begin(), terms->end(), are_many))
      return false;
    auto found = brackets_.plan(d, *terms);
    if (!found || !is_worth(d, *terms, found->parts) ||
        !holds_data_in_range(d, *terms, found->parts) || !is_there(d, found->parts))
      return false;
    conditions_ = common_conditions(d, *terms);
    build(d, found->parts);
    return true;
  }

  // Whether a sum of a recurrence would read nothing that is not there yet at its step.
  bool is_there(const Definition& d, const std::vector<Part>& parts) const {
    const auto may_hold = [&](const Expr& e) { return needs_.may_hold(d, e); };
    if (!needs_.steps(d.target)) return true;
    for (const Part& p : parts)
      if (!std::ranges::all_of(p.outer, may_hold) || !std::ranges::all_of(p.inner, may_hold))
        return false;
    return std::ranges::all_of(tentative_in(parts),
                               [&](const Definition* t) { return may_hold(t->body); });
  }

  bool reads_unmaterialised(const std::vector<Expr>& factors) const {
    for (const Expr& f : factors)
      for (TensorId t : tensors(f))
        if (brackets_.is_unmaterialised(t)) return true;
    return false;
  }

  // The sweep in which a part is complete.
  int sweep_of(const Part& p) const {
    int largest = 0;
    for (const std::vector<Expr>* factors : {&p.outer, &p.inner}) {
      for (const Expr& f : *factors) {
        for (TensorId t : tensors(f)) {
          int sweep = brackets_.sweep_number(t);
          bool waits = factors == &p.inner && !p.reduced.empty() && brackets_.is_unmaterialised(t);
          largest = std::max(largest, sweep + (waits ? 1 : 0));
        }
      }
    }
    return largest;
  }

  // Accepted only if each remaining sum has no more indices than d had, and takes far fewer points,
  // no longer reads unmaterialised tensors, or the whole is complete in an earlier sweep with no
  // more sums over unmaterialised tensors than d had terms.
  bool is_worth(const Definition& d, const std::vector<Product>& terms,
                const std::vector<Part>& parts) {
    const std::set<IndexId> all = domain(d);
    const double points = brackets_.points(all);
    bool was_unmaterialised = false;
    for (TensorId t : tensors(d.body))
      was_unmaterialised = was_unmaterialised || unmaterialised_(t);
    int sweep = 0;
    size_t sums_over_unmaterialised = 0;
    for (const Part& p : parts) {
      sweep = std::max(sweep, sweep_of(p));
      sums_over_unmaterialised += !p.reduced.empty() && reads_unmaterialised(p.inner);
    }
    const bool earlier =
        sweep < numbers_[d.target.value] && sums_over_unmaterialised <= terms.size();
    for (const Part& p : parts) {
      if (p.reduced.empty()) continue;
      std::set<IndexId> of_sum = indices_of_sum(p);
      if (of_sum.size() > all.size()) return false;
      if (was_unmaterialised && !reads_unmaterialised(p.inner)) continue;
      if (!earlier && kFewerPoints * brackets_.points(of_sum) > points) return false;
    }
    double old = points * std::max<double>(1, static_cast<double>(cost(d.body)));
    if (!was_unmaterialised && terms.size() == 1 && !has_two_sides(terms[0].factors))
      old *= kUnpacked;
    for (const Definition* t : tentative_in(parts))
      if (kFewerPoints * brackets_.points(domain(*t)) > old) return false;
    return true;
  }

  std::vector<const Definition*> tentative_in(const std::vector<Part>& parts) const {
    std::vector<const Definition*> result;
    std::set<TensorId> seen;
    for (const Part& p : parts)
      for (const std::vector<Expr>* factors : {&p.outer, &p.inner})
        for (const Expr& f : *factors)
          if (f.is(Kind::read) && brackets_.tentative(f->tensor) && seen.insert(f->tensor).second)
            result.push_back(brackets_.tentative(f->tensor));
    return result;
  }

  static Conditions common_conditions(const Definition& d, const std::vector<Product>& terms) {
    Conditions all = d.guard;
    if (terms.size() == 1) all.insert(terms[0].conditions.begin(), terms[0].conditions.end());
    return all;
  }

  // Subscripts that are data, which conditions may have to hold in range.
  std::vector<Expr> data_subscripts(const Expr& body) const {
    std::vector<Expr> result;
    visit(body, [&](const Expr& e) {
      if (e.is(Kind::read))
        for (size_t k = 0; k < e.args().size(); ++k)
          if (!tensors(e.args()[k]).empty() &&
              !in_range(result_, {}, e.args()[k], result_[e->tensor].extents[k]))
            result.push_back(e.args()[k]);
      return true;
    });
    return result;
  }

  // Whether all conditions that a data subscript of the factors may need are on `there`.
  bool are_held(const std::vector<Expr>& factors, const Conditions& all,
                const std::function<bool(const Expr&)>& there) const {
    for (const Expr& f : factors)
      for (const Expr& at : data_subscripts(f))
        for (const Expr& c : all)
          if ((meet(indices(c), indices(at)) || meet(tensors(c), tensors(at))) && !there(c))
            return false;
    return true;
  }

  bool holds_data_in_range(const Definition& d, const std::vector<Product>& terms,
                           const std::vector<Part>& parts) const {
    const Conditions all = common_conditions(d, terms);
    const bool one_by_one = terms.size() > 1 && std::ranges::any_of(terms, [](const Product& p) {
                              return !p.conditions.empty();
                            });
    if (one_by_one && !data_subscripts(d.body).empty()) return false;
    const auto within = [](const std::set<IndexId>& of_sum) {
      return [of_sum](const Expr& c) {
        const std::set<IndexId> used = indices(c);
        return std::includes(of_sum.begin(), of_sum.end(), used.begin(), used.end());
      };
    };
    for (const Definition* t : tentative_in(parts))
      if (!are_held({t->body}, all, within(domain(*t)))) return false;
    for (const Part& p : parts) {
      const auto outside = [&](const Expr& c) {
        return p.conditions.count(c) && !meet(indices(c), p.reduced);
      };
      if (!are_held(p.outer, all, outside)) return false;
      const bool sums = !p.reduced.empty();
      if (!are_held(p.inner, all,
                    sums ? within(indices_of_sum(p)) : std::function<bool(const Expr&)>(outside)))
        return false;
    }
    return true;
  }

  // Appends a sum as a tensor of its own and returns its target.
  Expr new_sum(const Definition& d, const char* suffix, Definition sum) {
    sum.body = in_range_under(result_, sum.guard, sum.body);
    if (!data_subscripts(sum.body).empty()) {
      const std::set<IndexId> there = domain(sum);
      for (const Expr& c : conditions_) {
        const std::set<IndexId> used = indices(c);
        if (std::includes(there.begin(), there.end(), used.begin(), used.end()))
          sum.guard.insert(c);
      }
    }
    Tensor t;
    t.name = result_[d.target].name + suffix;
    const bool precise = d.body.type() == Type::f64 || sum.body.type() == Type::f64;
    t.storage = precise ? Storage::f64 : Storage::f32;
    for (IndexId i : sum.free) t.extents.push_back(result_[i].extent);
    bool unmaterialised = unmaterialised_.is_unbounded(result_, t.extents);
    std::vector<Expr> subscripts = index_values(sum.free);
    sum.target = result_.new_tensor(std::move(t));
    sum.where = d.where;
    unmaterialised_.set(sum.target, unmaterialised);
    Expr read = result_.read(sum.target, std::move(subscripts));
    result_.definitions.push_back(normal_form(with_fresh_indices(result_, sum).definition));
    return read;
  }

  // Indices in the order of d's left side.
  static std::vector<IndexId> ordered(const Definition& d, std::set<IndexId> wanted) {
    std::vector<IndexId> result;
    for (IndexId i : d.free)
      if (wanted.erase(i)) result.push_back(i);
    result.insert(result.end(), wanted.begin(), wanted.end());
    return result;
  }

  void build(const Definition& d, std::vector<Part>& parts) {
    std::map<TensorId, Expr> made;
    for (const Definition* t : tentative_in(parts)) {
      Definition pair = *t;
      pair.free = ordered(d, {t->free.begin(), t->free.end()});
      made.emplace(t->target, new_sum(d, ".pair", std::move(pair)));
    }
    auto with_made = [&](std::vector<Expr>& factors) {
      for (Expr& f : factors)
        if (f.is(Kind::read))
          if (auto it = made.find(f->tensor); it != made.end()) f = it->second;
    };
    for (Part& p : parts) {
      with_made(p.outer);
      with_made(p.inner);
      Conditions conditions;
      for (Expr c : p.conditions) {
        for (const auto& [tentative, sum] : made) c = replace_reads(c, tentative, sum);
        conditions.merge(conjuncts(c));
      }
      p.conditions = std::move(conditions);
    }
    Definition whole = d;
    if (parts.size() == 1 && parts[0].outer.empty() && !parts[0].reduced.empty()) {
      const Part& p = parts[0];
      whole.reduced = {p.reduced.begin(), p.reduced.end()};
      whole.guard = p.conditions;
      std::set<IndexId> gone(d.reduced.begin(), d.reduced.end());
      for (IndexId i : p.reduced) gone.erase(i);
      whole.body = in_range_under(result_, whole.guard,
                                  times(solve::out_of_sum(result_, p.coefficient, gone), p.inner));
      result_.definitions.push_back(normal_form(std::move(whole)));
      return;
    }
    std::vector<Expr> terms;
    for (const Part& p : parts) terms.push_back(value_of_part(d, p));
    whole.combine = Combine::set;
    whole.reduced.clear();
    whole.guard.clear();
    whole.body = add(std::move(terms));
    result_.definitions.push_back(normal_form(std::move(whole)));
  }

  Expr value_of_part(const Definition& d, const Part& p) {
    std::vector<Expr> factors = p.outer;
    const Expr coefficient =
        solve::out_of_sum(result_, p.coefficient, {d.reduced.begin(), d.reduced.end()});
    if (p.reduced.empty()) {
      factors.insert(factors.end(), p.inner.begin(), p.inner.end());
      Conditions conditions = p.conditions;
      const Expr body = in_range_under(result_, conditions, times(coefficient, factors));
      return where(conditions, body);
    }
    Definition sum;
    sum.combine = Combine::sum;
    sum.reduced = {p.reduced.begin(), p.reduced.end()};
    sum.body = times(1, p.inner);
    Conditions outside;
    for (const Expr& c : p.conditions) {
      std::set<IndexId> used = indices(c);
      bool inside = std::ranges::any_of(used, [&](IndexId i) { return p.reduced.count(i) > 0; });
      (inside ? sum.guard : outside).insert(c);
    }
    std::set<IndexId> free = indices_of_sum(p);
    for (IndexId r : p.reduced) free.erase(r);
    sum.free = ordered(d, std::move(free));
    const Expr outer = in_range_under(result_, outside, times(coefficient, factors));
    const Conditions guard = sum.guard;
    return where(outside, solve::times_sum(result_, outer, new_sum(d, ".part", std::move(sum)),
                                           {d.free.begin(), d.free.end()}, p.reduced, guard));
  }

  const int least_factors_;
  Conditions conditions_;  // of the sum that is bracketed
  Graph result_;
  solve::Unmaterialised unmaterialised_;
  std::vector<bool> saved_;
  std::vector<int> numbers_;
  const Needs needs_;
  Brackets brackets_;
};

}  // namespace

Graph re_bracket(const Graph& g) { return ReBracketing(g, 0).run(g); }

Graph order_products(const Graph& g) { return ReBracketing(g, 3).run(g); }

}  // namespace attn::simplify
