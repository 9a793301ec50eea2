#include "compiler/simplify/matching.h"

#include <algorithm>

namespace attn::simplify {

using namespace ir;

namespace {

// Searches end after this many steps, found or not: equal factors permute without bound.
constexpr int kMostSteps = 4000;

bool is_commutative(Kind k) {
  return k == Kind::add || k == Kind::multiply || k == Kind::both || k == Kind::either ||
         k == Kind::equal;
}

}  // namespace

const Expr* Bindings::find(IndexId i) const {
  for (const auto& [index, value] : values_)
    if (index == i) return &value;
  return nullptr;
}

Matcher::Matcher(std::vector<IndexId> variables) : variables_(std::move(variables)) {
  std::ranges::sort(variables_);
}

bool Matcher::is_variable(IndexId i) const {
  return std::binary_search(variables_.begin(), variables_.end(), i);
}

bool Matcher::match(const Expr& pattern, const Expr& e, const Found& found) {
  bindings_ = {};
  steps_ = 0;
  return one(pattern, e, [&] { return found(bindings_); });
}

bool Matcher::match_some(const std::vector<Expr>& patterns, const std::vector<Expr>& elements,
                         const FoundSome& found) {
  return match_more({}, patterns, elements, found);
}

bool Matcher::match_more(const Bindings& start, const std::vector<Expr>& patterns,
                         const std::vector<Expr>& elements, const FoundSome& found) {
  if (patterns.size() > elements.size()) return false;
  bindings_ = start;
  steps_ = 0;
  std::vector<bool> used(elements.size(), false);
  return subset(patterns, elements, 0, used, [&] {
    std::vector<Expr> left_over;
    for (size_t k = 0; k < elements.size(); ++k)
      if (!used[k]) left_over.push_back(elements[k]);
    return found(bindings_, left_over);
  });
}

bool Matcher::one(const Expr& p, const Expr& e, const Next& next) {
  if (++steps_ > kMostSteps) return false;
  if (p.is(Kind::index) && is_variable(p->index)) {
    if (const Expr* bound = bindings_.find(p->index)) return *bound == e && next();
    if (e.type() != Type::integer) return false;
    size_t size = bindings_.size();
    bindings_.push(p->index, e);
    bool done = next();
    bindings_.shrink(size);
    return done;
  }
  if (p.kind() != e.kind() || p.type() != e.type()) return false;
  if (p.args().empty()) return p == e && next();
  if (p.args().size() != e.args().size()) return false;
  if (p.is(Kind::read) && p->tensor != e->tensor) return false;
  if (p.is(Kind::call) && p->operation != e->operation) return false;
  if (!is_commutative(p.kind())) return sequence(p.args(), e.args(), 0, next);
  std::vector<bool> used(e.args().size(), false);
  return subset(p.args(), e.args(), 0, used, next);
}

bool Matcher::sequence(const std::vector<Expr>& p, const std::vector<Expr>& e, size_t k,
                       const Next& next) {
  if (k == p.size()) return next();
  return one(p[k], e[k], [&] { return sequence(p, e, k + 1, next); });
}

bool Matcher::subset(const std::vector<Expr>& p, const std::vector<Expr>& e, size_t k,
                     std::vector<bool>& used, const Next& next) {
  if (k == p.size()) return next();
  for (size_t n = 0; n < e.size(); ++n) {
    if (used[n]) continue;
    used[n] = true;
    bool done = one(p[k], e[n], [&] { return subset(p, e, k + 1, used, next); });
    used[n] = false;
    if (done) return true;
  }
  return false;
}

}  // namespace attn::simplify
