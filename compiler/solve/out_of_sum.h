// What is taken out of the terms of a sum, where the sum may have none.
#pragma once

#include <functional>

#include "compiler/ir/graph.h"

namespace attn::solve {

// A factor of a sum over `reduced` where `guard` in which none of these occurs, as it is written
// outside of the sum, where it is computed also if the sum has no term: 1 / n becomes 1 / max(n, 1)
// where n, a size or data, is at least 1 for every term.
ir::Expr out_of_sum(const ir::Graph& g, const ir::Expr& factor,
                    const std::set<ir::IndexId>& reduced, const ir::Conditions& guard = {});

// Whether a factor is finite also where a sum that had it in its terms has none: it reads nothing,
// or is a product of parameters. 1 / n of n terms is not, nor is what no row sees.
bool is_finite(const ir::Graph& g, const ir::Expr& factor);

// Whether the sum over `reduced` where `guard`, for each of `free`, has a term as far as is known.
bool has_a_term(const ir::Graph& g, const std::set<ir::IndexId>& free,
                const std::set<ir::IndexId>& reduced, const ir::Conditions& guard);

// Whether a factor is infinite where a real number that it divides by is 0, or where a logarithm or
// a logsumexp that it reads is one of nothing. Maps are looked through; `definition_of` gives them.
// What has a positive constant added, as a variance plus epsilon, is taken to be no 0.
using DefinitionOf = std::function<const ir::Definition*(ir::TensorId)>;
bool has_pole(const DefinitionOf& definition_of, const ir::Expr& factor);

// `sum`, over `reduced` where `guard` for each of `free`, times `factor`, which was in its terms. A
// sum of no terms is 0, whatever the factor is. So where the sum may have no terms, and the factor
// need not be finite, the product is `if sum != 0 then factor * sum else 0`.
ir::Expr times_sum(const ir::Graph& g, const ir::Expr& factor, const ir::Expr& sum,
                   const std::set<ir::IndexId>& free, const std::set<ir::IndexId>& reduced,
                   const ir::Conditions& guard);
// The same of any sum, of which it is not known whether it has terms.
ir::Expr times_sum(const ir::Graph& g, const ir::Expr& factor, const ir::Expr& sum);

}  // namespace attn::solve
