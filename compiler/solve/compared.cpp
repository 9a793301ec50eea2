#include "compiler/solve/compared.h"

#include <algorithm>

namespace attn::solve {

using namespace ir;

namespace {

bool is_operand(const Expr& e) {
  return e.is(Kind::read) || e.is(Kind::literal) || e.is(Kind::index) || e.is(Kind::size);
}

// An operand, or its negative.
bool is_signed_operand(const Expr& e) {
  const auto is_minus_one = [](const Expr& x) {
    return x.is(Kind::literal) && x->number.value() == -1;
  };
  return is_operand(e) || (e.is(Kind::multiply) && e.args().size() == 2 &&
                           is_minus_one(e.args()[0]) && is_operand(e.args()[1]));
}

}  // namespace

std::vector<Expr> comparisons(const Graph& g) {
  std::vector<Expr> result;
  const auto look = [&](const Expr& e) {
    visit(e, [&](const Expr& x) {
      if (x.is(Kind::equal)) result.push_back(x);
      return true;
    });
  };
  for (const Definition& d : g.definitions) {
    look(d.body);
    for (const Expr& c : d.guard) look(c);
  }
  return result;
}

std::vector<bool> compared_tensors(const Graph& g) {
  std::vector<bool> result(g.tensors.size(), false);
  for (const Expr& e : comparisons(g))
    for (TensorId t : tensors(e)) result[t.value] = true;
  return result;
}

bool is_exact(const Expr& e) {
  if (is_operand(e)) return true;
  const std::vector<Expr>& args = e.args();
  if (e.is(Kind::select)) return is_exact(args[1]) && is_exact(args[2]);
  if (args.size() != 2) return false;
  if (e.is(Kind::multiply)) return std::ranges::all_of(args, is_operand);
  return e.is(Kind::add) && std::ranges::all_of(args, is_signed_operand);
}

}  // namespace attn::solve
