// Scalar expressions: immutable trees that share their parts and are always in normal form.
//
// The constructors below build the normal form, on which every comparison of expressions leans: `+`
// and `*` are n-ary, flat and sorted, with like terms and powers collected and one literal
// coefficient in front; a/b is a * b^-1 and -a is -1 * a; integer products are distributed over
// sums, real ones never; `if c then a else 0` is hoisted out of products and joined over sums.
// Integer comparisons become `e >= 0`, `e == 0`, `e != 0`. Nothing builds a node except through
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/id.h"
#include "compiler/ir/poly.h"

namespace attn::ir {

struct Operation;  // ir/operation.h
class Expr;

// The type that arithmetic has; storage types (f16, bf16) widen to f32 when read.
enum class Type : uint8_t { boolean, integer, f32, f64 };
inline bool is_real(Type t) { return t >= Type::f32; }

enum class Kind : uint8_t {
  literal,    // a number or a truth value
  size,       // a polynomial of sizes, as an integer
  index,      // the value of an index
  read,       // tensor[args...]
  power,      // args[0] ^ args[1]
  remainder,  // args[0] - args[1] * quotient, of integers
  quotient,   // args[0] / args[1], rounded down, of integers; 0 where args[1] is 0
  call,       // operation(args...)
  multiply,   // n-ary
  add,        // n-ary
  select,     // if args[0] then args[1] else args[2]
  // Conditions.
  at_least_zero,  // args[0] >= 0, integer
  is_zero,        // args[0] == 0, integer
  not_zero,       // args[0] != 0, integer
  less,           // args[0] < args[1], real
  at_most,        // args[0] <= args[1], real
  equal,          // args[0] == args[1], real
  both,           // n-ary and
  either,         // n-ary or
  negation,       // not args[0]
};

// A literal: exact while it is an integer.
struct Number {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0;
  double value() const { return is_integer ? static_cast<double>(integer) : real; }
  bool operator==(const Number&) const = default;
};

struct Node {
  Kind kind = Kind::literal;
  Type type = Type::integer;
  Number number;                         // literal; a boolean literal is 0 or 1
  Poly size;                             // size
  IndexId index;                         // index
  TensorId tensor;                       // read
  const Operation* operation = nullptr;  // call
  std::vector<Expr> args;
  uint64_t hash = 0;
  uint64_t weight = 1;  // nodes when written out as a tree; saturates
  // What tensors() and indices() have found, once they were asked.
  mutable std::shared_ptr<const std::set<TensorId>> tensors;
  mutable std::shared_ptr<const std::set<IndexId>> indices;
};

class Expr {
 public:
  Expr();           // the integer 0
  Expr(int value);  // integer literal
  Expr(int64_t value);
  Expr(double value);  // real literal
  const Node& node() const { return *node_; }
  const Node* operator->() const { return node_.get(); }
  Kind kind() const { return node_->kind; }
  Type type() const { return node_->type; }
  const std::vector<Expr>& args() const { return node_->args; }
  bool is(Kind kind) const { return node_->kind == kind; }
  bool is_literal(double value) const;  // a numeric literal of this value, integer or real
  bool is_zero() const { return is_literal(0); }
  bool is_one() const { return is_literal(1); }
  bool is_true() const;
  bool is_false() const;

 private:
  friend struct Build;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// Structural equality and a total order that depends on structure and ids only.
bool operator==(const Expr& a, const Expr& b);
std::strong_ordering operator<=>(const Expr& a, const Expr& b);

// ---- constructors
Expr literal(Number value);
Expr truth(bool value);
Expr size_value(const Poly& size);
Expr index_value(IndexId index);
std::vector<Expr> index_values(const std::vector<IndexId>& indices);
Expr read(TensorId tensor, Type type, std::vector<Expr> subscripts);
Expr add(std::vector<Expr> terms);
Expr multiply(std::vector<Expr> factors);
Expr power(const Expr& base, const Expr& exponent);
Expr quotient(const Expr& a, const Expr& b);   // a // b, of integers
Expr remainder(const Expr& a, const Expr& b);  // a % b, of integers
Expr select(const Expr& condition, const Expr& then, const Expr& otherwise);
Expr call(const Operation& operation, std::vector<Expr> args);
Expr negate(const Expr& a);  // -a
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);  // real division
Expr operator-(const Expr& a);

// ---- conditions
Expr at_least_zero(const Expr& a);
Expr is_zero(const Expr& a);
Expr not_zero(const Expr& a);
Expr less(const Expr& a, const Expr& b);  // any types; integers go to at_least_zero
Expr at_most(const Expr& a, const Expr& b);
Expr equal(const Expr& a, const Expr& b);
Expr all_of(std::vector<Expr> conditions);  // true for none
Expr all_of(std::initializer_list<Expr> conditions);
Expr any_of(std::vector<Expr> conditions);  // false for none
Expr negation(const Expr& condition);

// A condition as a sorted set of conjuncts; empty: always true.
using Conditions = std::set<Expr>;
Conditions conjuncts(const Expr& condition);
Expr all_of(const Conditions& conditions);
// `if condition then value else 0`.
Expr where(const Conditions& conditions, const Expr& value);

// ---- taking apart and rebuilding
// e as coefficient * rest; rest has no literal factor. (coefficient is 1 where there is none.)
struct Scaled {
  Number coefficient;
  Expr rest;
};
Scaled split_coefficient(const Expr& e);

// A size or an integer as a polynomial.
std::optional<Poly> as_size(const Expr& e);

// The arguments of a product, or of a sum, or e alone.
std::vector<Expr> factors_of(const Expr& e);
std::vector<Expr> addends_of(const Expr& e);
// The product in a real type, 1.0 of none.
Expr real_product(std::vector<Expr> factors);

// The same node with other arguments, rebuilt through the constructors.
Expr rebuild(const Expr& e, std::vector<Expr> args);
// Bottom up: f gets each rebuilt node and returns it or another. Shared parts are done once. What f
// returns is not given to f again, nor is what becomes a node of another kind by it.
Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& f);
Expr substitute(const Expr& e, const std::map<IndexId, Expr>& values);
// Every read of the tensor, wherever it is read, gives `value` instead.
Expr replace_reads(const Expr& e, TensorId tensor, const Expr& value);
Conditions substitute(const Conditions& c, const std::map<IndexId, Expr>& values);
// Calls f on every distinct node, parents first; f returns false to skip a node's arguments.
void visit(const Expr& e, const std::function<bool(const Expr&)>& f);
// Whether f holds for some node.
bool any_part(const Expr& e, const std::function<bool(const Expr&)>& f);
// All reads, parents first.
std::vector<Expr> read_sites(const Expr& e);
// They live as long as the expression; of one that does not, they are a copy.
const std::set<IndexId>& indices(const Expr& e);
std::set<IndexId> indices(Expr&& e);
std::set<IndexId> indices(const Conditions& c);
bool uses(const Expr& e, IndexId index);
bool has_division(const Expr& e);  // a quotient or remainder of integers
const std::set<TensorId>& tensors(const Expr& e);
std::set<TensorId> tensors(Expr&& e);
std::set<TensorId> tensors(const Conditions& c);

// The value of a power: NaN where an argument is, and of a negative number by a fraction, -inf
// among them; else as C has it.
double power_value(double base, double exponent);

// Nodes of a body that goes into its readers. What is longer gains nothing there, and a chain of
// definitions would be copied at each of them.
constexpr uint64_t kMostInlined = 1000;

// Operations that one evaluation costs: 1 for + and *, more for functions (Operation::cost).
int64_t cost(const Expr& e);

}  // namespace attn::ir
