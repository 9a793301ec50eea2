// Identity, order, and walks of expressions. The constructors stand in build.cpp and
// conditions.cpp.
#include "compiler/ir/expr.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "compiler/base/check.h"
#include "compiler/ir/build.h"
#include "compiler/ir/operation.h"

namespace attn::ir {
namespace {

// Larger expressions are refused: a chain of doublings grows without bound when written out.
constexpr uint64_t kMostParts = 4'000'000;

uint64_t mixed(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

uint64_t hash_of(const Node& n) {
  uint64_t h = mixed(static_cast<uint64_t>(n.kind), static_cast<uint64_t>(n.type));
  switch (n.kind) {
    case Kind::literal:
      h = mixed(h, n.number.is_integer ? std::hash<int64_t>()(n.number.integer)
                                       : std::hash<double>()(n.number.real));
      break;
    case Kind::size:
      h = mixed(h, n.size.hash());
      break;
    case Kind::index:
      h = mixed(h, n.index.value);
      break;
    case Kind::read:
      h = mixed(h, n.tensor.value);
      break;
    case Kind::call:
      h = mixed(h, std::hash<std::string_view>()(n.operation->name));
      break;
    default:
      break;
  }
  for (const Expr& a : n.args) h = mixed(h, a->hash);
  return h;
}

std::strong_ordering order(const Number& a, const Number& b) {
  if (a.is_integer != b.is_integer) return b.is_integer <=> a.is_integer;
  if (a.is_integer) return a.integer <=> b.integer;
  return a.real < b.real   ? std::strong_ordering::less
         : a.real > b.real ? std::strong_ordering::greater
                           : std::strong_ordering::equal;
}

}  // namespace

Expr Build::make(Node node) {
  node.weight = 1;
  for (const Expr& a : node.args) node.weight += a->weight;
  if (node.weight > kMostParts)
    throw LimitError("an expression has more than 4,000,000 parts when written out");
  node.hash = hash_of(node);
  node.tensors = nullptr;
  node.indices = nullptr;
  return Expr(std::make_shared<const Node>(std::move(node)));
}

Expr::Expr() : Expr(int64_t{0}) {}
Expr::Expr(int value) : Expr(static_cast<int64_t>(value)) {}
Expr::Expr(int64_t value) {
  *this = Build::make({.kind = Kind::literal, .type = Type::integer, .number = {true, value, 0}});
}
Expr::Expr(double value) {
  *this = Build::make({.kind = Kind::literal, .type = Type::f32, .number = {false, 0, value}});
}

bool Expr::is_literal(double value) const {
  return is(Kind::literal) && type() != Type::boolean && node_->number.value() == value;
}
bool Expr::is_true() const {
  return is(Kind::literal) && type() == Type::boolean && node_->number.integer == 1;
}
bool Expr::is_false() const {
  return is(Kind::literal) && type() == Type::boolean && node_->number.integer == 0;
}

bool operator==(const Expr& a, const Expr& b) {
  if (&a.node() == &b.node()) return true;
  if (a->hash != b->hash) return false;
  return (a <=> b) == 0;
}

std::strong_ordering operator<=>(const Expr& a, const Expr& b) {
  const Node &x = a.node(), &y = b.node();
  if (&x == &y) return std::strong_ordering::equal;
  if (auto c = x.kind <=> y.kind; c != 0) return c;
  switch (x.kind) {
    case Kind::literal:
      if (auto c = order(x.number, y.number); c != 0) return c;
      break;
    case Kind::size:
      if (auto c = x.size <=> y.size; c != 0) return c;
      break;
    case Kind::index:
      if (auto c = x.index <=> y.index; c != 0) return c;
      break;
    case Kind::read:
      if (auto c = x.tensor <=> y.tensor; c != 0) return c;
      break;
    case Kind::call:
      if (auto c = x.operation->name <=> y.operation->name; c != 0) return c;
      break;
    default:
      break;
  }
  if (auto c = x.type <=> y.type; c != 0) return c;
  if (auto c = x.args.size() <=> y.args.size(); c != 0) return c;
  for (size_t k = 0; k < x.args.size(); ++k)
    if (auto c = x.args[k] <=> y.args[k]; c != 0) return c;
  return std::strong_ordering::equal;
}

Expr rebuild(const Expr& e, std::vector<Expr> args) {
  switch (e.kind()) {
    case Kind::literal:
    case Kind::size:
    case Kind::index:
      return e;
    case Kind::read:
      return read(e->tensor, e.type(), std::move(args));
    case Kind::power:
      return power(args[0], args[1]);
    case Kind::quotient:
      return quotient(args[0], args[1]);
    case Kind::remainder:
      return remainder(args[0], args[1]);
    case Kind::call:
      return call(*e->operation, std::move(args));
    case Kind::multiply:
      return multiply(std::move(args));
    case Kind::add:
      return add(std::move(args));
    case Kind::select:
      return select(args[0], args[1], args[2]);
    case Kind::at_least_zero:
      return at_least_zero(args[0]);
    case Kind::is_zero:
      return is_zero(args[0]);
    case Kind::not_zero:
      return not_zero(args[0]);
    case Kind::less:
      return less(args[0], args[1]);
    case Kind::at_most:
      return at_most(args[0], args[1]);
    case Kind::equal:
      return equal(args[0], args[1]);
    case Kind::both:
      return all_of(std::move(args));
    case Kind::either:
      return any_of(std::move(args));
    case Kind::negation:
      return negation(args[0]);
  }
  throw InternalError("an expression of unknown kind");
}

Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  std::unordered_map<const Node*, Expr> done;
  std::function<Expr(const Expr&)> walk = [&](const Expr& x) -> Expr {
    if (auto it = done.find(&x.node()); it != done.end()) return it->second;
    std::vector<Expr> args;
    bool changed = false;
    args.reserve(x.args().size());
    for (const Expr& a : x.args()) {
      args.push_back(walk(a));
      changed = changed || &args.back().node() != &a.node();
    }
    Expr result = changed ? rebuild(x, std::move(args)) : x;
    // One of another kind is made of parts that f has had: `(i + 1) - 1` is i, which f put there.
    if (result.kind() == x.kind()) result = f(result);
    done.emplace(&x.node(), result);
    return result;
  };
  return walk(e);
}

Expr substitute(const Expr& e, const std::map<IndexId, Expr>& values) {
  if (values.empty()) return e;
  return rewrite(e, [&](const Expr& x) {
    if (!x.is(Kind::index)) return x;
    auto it = values.find(x->index);
    return it == values.end() ? x : it->second;
  });
}

Conditions substitute(const Conditions& c, const std::map<IndexId, Expr>& values) {
  Conditions result;
  for (const Expr& x : c) result.merge(conjuncts(substitute(x, values)));
  return result;
}

std::optional<Poly> as_size(const Expr& e) {
  if (e.is(Kind::size)) return e->size;
  if (e.is(Kind::literal) && e.type() == Type::integer) return Poly(e->number.integer);
  return std::nullopt;
}

std::vector<Expr> factors_of(const Expr& e) {
  return e.is(Kind::multiply) ? e.args() : std::vector{e};
}

std::vector<Expr> addends_of(const Expr& e) { return e.is(Kind::add) ? e.args() : std::vector{e}; }

Expr real_product(std::vector<Expr> factors) {
  return factors.empty() ? Expr(1.0) : multiply(std::move(factors));
}

std::vector<Expr> read_sites(const Expr& e) {
  std::vector<Expr> result;
  visit(e, [&](const Expr& x) {
    if (x.is(Kind::read)) result.push_back(x);
    return true;
  });
  return result;
}

void visit(const Expr& e, const std::function<bool(const Expr&)>& f) {
  // Most expressions have a dozen parts: a list is searched faster than a hash set, until it is
  // long.
  constexpr size_t kMostInList = 32;
  std::vector<const Node*> few;
  std::unordered_set<const Node*> many;
  auto first_time = [&](const Node* n) {
    if (!many.empty()) return many.insert(n).second;
    for (const Node* old : few)
      if (old == n) return false;
    few.push_back(n);
    if (few.size() > kMostInList) many.insert(few.begin(), few.end());
    return true;
  };
  std::vector<const Expr*> stack{&e};
  while (!stack.empty()) {
    const Expr& x = *stack.back();
    stack.pop_back();
    if (!first_time(&x.node()) || !f(x)) continue;
    for (auto it = x.args().rbegin(); it != x.args().rend(); ++it) stack.push_back(&*it);
  }
}

namespace {

// The ids that `id_of` gives for the parts of `e`; found once, and kept where `kept` says.
template <class Id, class IdOf, class Kept>
const std::set<Id>& ids_in(const Expr& e, IdOf id_of, Kept kept) {
  std::shared_ptr<const std::set<Id>>& own = kept(e.node());
  if (own) return *own;
  std::set<Id> found;
  visit(e, [&](const Expr& x) {
    if (const auto& known = kept(x.node())) {
      insert_all(found, *known);
      return false;
    }
    if (const Id id = id_of(x.node()); id.valid()) found.insert(id);
    return true;
  });
  own = std::make_shared<const std::set<Id>>(std::move(found));
  return *own;
}

template <class Id>
std::set<Id> ids_in(const Conditions& conditions, const std::set<Id>& (*of)(const Expr&)) {
  std::set<Id> result;
  for (const Expr& c : conditions) insert_all(result, of(c));
  return result;
}

}  // namespace

const std::set<IndexId>& indices(const Expr& e) {
  return ids_in<IndexId>(
      e, [](const Node& n) { return n.index; }, [](const Node& n) -> auto& { return n.indices; });
}

std::set<IndexId> indices(Expr&& e) { return indices(e); }

std::set<IndexId> indices(const Conditions& c) { return ids_in<IndexId>(c, indices); }

Expr replace_reads(const Expr& e, TensorId tensor, const Expr& value) {
  return rewrite(
      e, [&](const Expr& x) { return x.is(Kind::read) && x->tensor == tensor ? value : x; });
}

bool any_part(const Expr& e, const std::function<bool(const Expr&)>& f) {
  bool found = false;
  visit(e, [&](const Expr& x) {
    found = found || f(x);
    return !found;
  });
  return found;
}

bool has_division(const Expr& e) {
  return any_part(e, [](const Expr& x) { return x.is(Kind::quotient) || x.is(Kind::remainder); });
}

bool uses(const Expr& e, IndexId index) { return indices(e).count(index) > 0; }

const std::set<TensorId>& tensors(const Expr& e) {
  return ids_in<TensorId>(
      e, [](const Node& n) { return n.tensor; }, [](const Node& n) -> auto& { return n.tensors; });
}

std::set<TensorId> tensors(Expr&& e) { return tensors(e); }

std::set<TensorId> tensors(const Conditions& c) { return ids_in<TensorId>(c, tensors); }

double power_value(double base, double exponent) {
  const bool fraction = std::floor(exponent) != exponent;
  if (std::isnan(base) || std::isnan(exponent) || (base < 0 && fraction))
    return std::numeric_limits<double>::quiet_NaN();
  return std::pow(base, exponent);
}

int64_t cost(const Expr& e) {
  constexpr int64_t kDivision = 4;  // of integers
  int64_t sum = 0;
  for (const Expr& a : e.args()) sum += cost(a);
  switch (e.kind()) {
    case Kind::add:
    case Kind::multiply:
      return sum + static_cast<int64_t>(e.args().size()) - 1;
    case Kind::quotient:
    case Kind::remainder: {
      // Of sizes it is done once.
      const auto is_size = [](const Expr& a) { return a.is(Kind::size) || a.is(Kind::literal); };
      return std::ranges::all_of(e.args(), is_size) ? 0 : sum + kDivision;
    }
    case Kind::call:
      return sum + e->operation->cost;
    // Whole powers are products; a reciprocal or a root is one instruction; others are exp(log).
    case Kind::power: {
      if (!e.args()[1].is(Kind::literal)) return sum + 16;
      double n = e.args()[1]->number.value();
      return sum + (n == 2 || n == -1 || n == 0.5 ? 1 : n == -2 || n == -0.5 || n == 3 ? 2 : 16);
    }
    case Kind::select:
      return sum + 1;
    default:
      return sum;
  }
}

}  // namespace attn::ir
