// Sets of indices and conditions as the search of re-bracketing takes them apart.
#pragma once

#include <algorithm>

#include "compiler/simplify/brackets.h"

namespace attn::simplify {

// How long the search looks for one definition, and how many terms a sum may have that it
// considers.
constexpr int kMostSteps = 400;
constexpr size_t kMostTerms = 4;

inline bool meets(const std::set<ir::IndexId>& a, const std::set<ir::IndexId>& b) {
  return std::ranges::any_of(a, [&](ir::IndexId i) { return b.count(i) > 0; });
}

inline void merge_in(std::set<ir::IndexId>& to, const std::set<ir::IndexId>& more) {
  to.insert(more.begin(), more.end());
}

inline ir::Conditions on(const ir::Conditions& c, const std::set<ir::IndexId>& indices_of) {
  ir::Conditions result;
  for (const ir::Expr& x : c)
    if (meets(ir::indices(x), indices_of)) result.insert(x);
  return result;
}

inline ir::Conditions without(const ir::Conditions& c, const ir::Conditions& taken) {
  ir::Conditions result;
  for (const ir::Expr& x : c)
    if (!taken.count(x)) result.insert(x);
  return result;
}

inline bool includes(const ir::Conditions& all, const ir::Conditions& some) {
  return std::ranges::all_of(some, [&](const ir::Expr& x) { return all.count(x) > 0; });
}

inline std::set<ir::IndexId> without(const std::set<ir::IndexId>& a,
                                     const std::set<ir::IndexId>& taken) {
  std::set<ir::IndexId> result;
  std::set_difference(a.begin(), a.end(), taken.begin(), taken.end(),
                      std::inserter(result, result.end()));
  return result;
}

inline void scale_parts(Bracketing& b, const ir::Expr& factor) {
  if (factor.is_one()) return;
  for (Part& p : b.parts) p.coefficient = p.coefficient * factor;
}

}  // namespace attn::simplify
