// Which tensors are stored though they are much larger than all that they are made of.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/plan/plan.h"

namespace attn::plan {

// Judges the tensors of a function by one rule, whatever is known of sizes: a size counts by its
// value or by its greatest value; one of which neither is known counts as large.
class Excess {
 public:
  // `large`: what forward has saved though it is much larger than all that it is made of.
  Excess(const Function& f, const Costs& costs, const std::set<ir::TensorId>& large);
  // Whether `t`, which a kernel writes, is stored and has many times the elements of all that it is
  // made of, and of every input and output.
  bool operator()(ir::TensorId t) const;

 private:
  // A number times powers of sizes that are not known.
  struct Elements {
    double number = 1;
    std::map<ir::SizeId, int> powers;
  };

  void multiply(Elements& e, const ir::Poly& extent) const;
  Elements elements(const std::vector<ir::Poly>& extents) const;
  Elements read_at(const ir::Expr& site, const Loop* loop) const;
  bool varies(const ir::Expr& site, const Loop& loop) const;
  double times(const Elements& e, const Elements& other) const;
  bool exceeds(const Elements& e, const std::vector<Elements>& others) const;
  void judge(const ir::Definition& d, const Loop* loop);

  const Function& f_;
  const Costs& costs_;
  const std::set<ir::TensorId>& large_;
  std::set<ir::SizeId> of_parameters_;
  std::vector<Elements> given_;  // inputs and outputs
  // Of each tensor that is much larger than all it is made of, stored or not: these.
  std::map<ir::TensorId, std::vector<Elements>> made_of_;
};

}  // namespace attn::plan
