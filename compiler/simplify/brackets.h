// The search of re-bracketing: other ways to write one sum of products,
//   Y = sum[R where C] a * b * c,
// that read sums which exist already, look through sums and maps, or sum pairs of factors first.
// re_bracket.cpp decides whether what the search finds is worth having.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/simplify/products.h"
#include "compiler/solve/points.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::simplify {

// coefficient * outer * (sum[reduced where conditions] inner); no sum when `reduced` is empty.
struct Part {
  ir::Expr coefficient = 1;
  std::vector<ir::Expr> outer;  // factors free of the reduced indices
  std::vector<ir::Expr> inner;
  std::set<ir::IndexId> reduced;
  ir::Conditions conditions;
};

struct Bracketing {
  double cost = 0;  // points, weighed by what they read
  std::vector<Part> parts;
};

class Brackets {
 public:
  // New indices go to `g`. `numbers` are the sweep numbers of its tensors.
  Brackets(ir::Graph& g, solve::Unmaterialised& unmaterialised, std::vector<int>& numbers);

  // The definition stands before everything that is bracketed from now on.
  void learn(const ir::Definition& d);

  // A definition that is bracketed later: sums of a pair of factors that serve both cost half.
  void expect(const ir::Definition& d);

  // The cheapest bracketing found for d, whose body is the sum of `terms`.
  std::optional<Bracketing> plan(const ir::Definition& d, const std::vector<Product>& terms);

  // Sums that the last plan may read although no graph has them: their tensors are tentative.
  const ir::Definition* tentative(ir::TensorId t) const;

  bool is_unmaterialised(ir::TensorId t) const;
  int sweep_number(ir::TensorId t) const;
  double points(const std::set<ir::IndexId>& indices) const { return points_.of(g_, indices); }

 private:
  struct KnownSum {
    const ir::Definition* definition;
    std::vector<Product> terms;
    std::set<ir::TensorId> reads;
  };
  // What is left to bracket: sum[reduced where conditions] of the product of the factors.
  struct Task {
    std::vector<ir::Expr> factors;
    std::set<ir::IndexId> reduced;
    ir::Conditions conditions;
    int depth;  // how often the search may still look through a read; -1: no pairs either
  };
  // A task taken apart: what depends on the reduced indices, and what does not.
  struct Split {
    std::vector<ir::Expr> outer, inner;
    ir::Conditions inside;  // conditions on the reduced indices
  };
  // A known sum found among the factors of a product or of several.
  struct Found {
    ir::Expr read;
    ir::Expr scale;  // 1 / the sum's coefficient, or mine / its
    std::vector<ir::Expr> rest;
    std::set<ir::IndexId> gone;
    ir::Conditions conditions;  // on the indices that are gone
  };

  std::optional<Bracketing> plan_terms(const std::vector<Product>& terms, const Task& around);
  std::optional<Bracketing> plan_known_terms(const std::vector<Product>& terms, const Task& around);
  Bracketing plan_product(Task task);
  Bracketing as_it_stands(const Task& t, const Split& s) const;
  void try_existing(const Task& t, const Split& s, Bracketing& best);
  void try_pairs(const Task& t, const Split& s, Bracketing& best);
  void try_looking_through(const Task& t, const Split& s, Bracketing& best);
  std::optional<ir::Expr> weights_sum(const Task& t, const Split& s) const;
  std::optional<Found> accept(const KnownSum& sum, const class Bindings& b,
                              const std::vector<ir::Expr>& rest, const Task& t) const;
  std::vector<const KnownSum*> candidates(const std::vector<ir::Expr>& factors, bool several) const;
  ir::Conditions not_proved(const ir::Conditions& c) const;
  // Where a sum has no term and a factor is of that row, say a logsumexp.
  bool may_be_infinite(const std::vector<ir::Expr>& factors) const;
  // Where factors count that stood in the terms of `sum`, which is over `gone` where `guard`: it
  // may have no term, and they be infinite then.
  ir::Conditions has_terms(const ir::Expr& sum, const std::vector<ir::Expr>& factors,
                           const std::set<ir::IndexId>& gone, const ir::Conditions& guard) const;
  ir::TensorId new_tentative(ir::Definition d);
  // What an expression mentions, remembered while one definition is planned.
  struct Mentions {
    ir::Expr holder;  // keeps the node alive, whose address is the key
    std::set<ir::IndexId> indices;
    std::set<ir::TensorId> tensors;
  };
  const Mentions& mentions(const ir::Expr& e) const;

  ir::Graph& g_;
  solve::Unmaterialised& unmaterialised_;
  std::vector<int>& numbers_;
  solve::Points points_;
  std::deque<ir::Definition> store_;
  std::vector<const ir::Definition*> by_target_;
  std::deque<KnownSum> sums_;
  std::map<ir::TensorId, std::vector<const KnownSum*>> by_tensor_;

  std::set<std::set<ir::TensorId>> expected_;  // what products of two read, which others scale

  // Of the definition that is being planned.
  std::set<ir::IndexId> free_;
  bool reads_unmaterialised_ = false;
  bool precise_ = false;  // in f64
  int steps_ = 0;
  std::deque<ir::Definition> tentative_;
  mutable std::unordered_map<const ir::Node*, Mentions> mentions_;
};

}  // namespace attn::simplify
