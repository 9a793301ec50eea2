// The syntax tree of a .attn file: plain values, every node with the place it came from.
// The parser makes it from text, compiler/text makes it from a graph, and one printer writes both.
// Trees are shallow: sums, products, comparisons, `and` and `or` are flat lists, and the parser
// refuses nesting past kMaxNesting, so that walking a tree may recurse.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/diagnostic.h"

namespace attn::dsl {

inline constexpr int kMaxNesting = 256;

// A name where it is declared or used. Names of parameters and of invented tensors have dots
// between their parts: "attn.wq", "dx.1".
struct Identifier {
  std::string text;
  Span where;
};

// ---------------------------------------------------------------------------------- expressions

struct Expr;
// Never null where an expression is required; null where it is optional. Shared and immutable.
using ExprPtr = std::shared_ptr<const Expr>;

// A literal is never negative: `-1` is Unary{minus, 1}. Integral literals hold an int64_t.
struct Number {
  std::variant<int64_t, double> value;
  std::string text;  // as written; empty for a number that the compiler made
  bool is_integer() const { return value.index() == 0; }
  int64_t integer() const { return std::get<int64_t>(value); }
  double real() const {
    return is_integer() ? static_cast<double>(integer()) : std::get<double>(value);
  }
};

// `true`, `false`.
struct Boolean {
  bool value = false;
};

// `inside`: every access of the expression that the condition belongs to is in range. It stands in
// conditions after `where` only, alone or as an operand of `and`.
struct Inside {};

// `...` among the arguments of a call: the leading indices, as in `uniform(seed, ..., d)`.
struct Leading {};

// A tensor of rank 0, an index, a size, an argument of a `fn`; elaborate knows which.
struct Name {
  std::string text;
};

// `x[b, i + 1]`, `x[..., d]`: `leading` says that the list begins with `...`.
struct Access {
  Identifier tensor;
  bool leading = false;
  std::vector<ExprPtr> subscripts;
};

// `H = 8` in a call; `name` is empty for a positional argument. Only the call of a block, which is
// a statement of its own, names arguments: the parser makes a BlockCall of it.
struct Argument {
  Identifier name;
  ExprPtr value;
};

// A scalar operation, a `fn`, or (alone on the right of a scalar definition) perhaps a block.
struct Call {
  Identifier callee;
  std::vector<Argument> arguments;
};

enum class UnaryOp { minus, logical_not };
struct Unary {
  UnaryOp op = UnaryOp::minus;
  ExprPtr operand;
};

// `base ^ exponent`.
struct Power {
  ExprPtr base, exponent;
};

// The operators of a chain; each level of precedence is one contiguous range.
enum class Op {
  logical_or,
  logical_and,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
};
enum class Level { logical_or, logical_and, comparison, additive, multiplicative };
Level level_of(Op op);
std::string_view spelling(Op op);  // "<=", "and"

// operands[0] ops[0] operands[1] ops[1] … all of one level; at least two operands. Additive and
// multiplicative chains group to the left. A comparison chain holds where each neighbouring pair
// does: `0 <= j - i < W`. In normal form no first operand is a chain of the same level: `(a + b) +
// c` parses to one flat chain, `a + (b + c)` keeps its brackets as a nested chain.
struct Chain {
  Level level = Level::additive;
  std::vector<ExprPtr> operands;
  std::vector<Op> ops;
};

// `if condition then yes else no`.
struct Conditional {
  ExprPtr condition, yes, no;
};

// An index on the left of a definition or bound by a reduction: `i`, or `k: 3` with its range.
struct Index {
  Identifier name;
  ExprPtr extent;  // null unless given
};

// `sum[h, e where c] operand`. kind is the word: sum max min mean prod argmax logsumexp softmax.
// A softmax does not bind its indices. leading: `mean[...] x[...]`.
struct Reduction {
  Identifier kind;
  bool leading = false;
  std::vector<Index> indices;
  ExprPtr condition;  // null unless given; may contain Inside
  ExprPtr operand;
};

using ExprNode = std::variant<Number, Boolean, Inside, Leading, Name, Access, Call, Unary, Power,
                              Chain, Conditional, Reduction>;

struct Expr {
  ExprNode node;
  Span where;
};

inline ExprPtr make(ExprNode node, Span where = {}) {
  return std::make_shared<const Expr>(Expr{std::move(node), where});
}
// A literal, under a minus when it is negative. The value is finite.
ExprPtr make_number(int64_t value, Span where = {});
ExprPtr make_number(double value, Span where = {});
// The chain of the operands, or the only operand itself.
ExprPtr make_chain(Op op, std::vector<ExprPtr> operands, Span where = {});

// ----------------------------------------------------------------------------------- statements

// The comments that the printer puts back. A line is "# text" or "## text"; "" is a blank line.
struct Comments {
  std::vector<std::string> above;
  std::string beside;  // at the end of the statement's (or the block's first) line
};
// The text of the `##` lines directly above, joined by newlines, without the marks and the blank after
// them.
std::string documentation(const Comments& comments);

// `f32`, `[B, T, D]`, `bf16[..., D]`. Nothing given: an output whose type is inferred.
struct Type {
  Identifier dtype;        // empty text: not given
  bool bracketed = false;  // extents were given; else a scalar (or, for an output, inferred)
  bool leading = false;
  std::vector<ExprPtr> extents;
  Span where;
};

// One of `size B, T`, `size B in 1..64`, `size D = 512`; several stand in one statement.
struct Size {
  Identifier name;
  ExprPtr value;        // `= value`; in a block's list the default
  bool ranged = false;  // `in low..high`
  ExprPtr low, high;    // high is null for `1..`
};
struct SizeStatement {
  std::vector<Size> sizes;
};

struct Param {
  Identifier name;
  Type type;
  ExprPtr initialiser;     // null unless given; a Call or a Name
  Identifier weight_name;  // `@ "weight"`, without the quotes; empty text: not given
};
struct ParamStatement {
  std::vector<Param> params;
};

// `state m = 0, v = 0` of an update; `state keys: bf16[B, S, E]` of a model or a block.
struct State {
  Identifier name;
  bool typed = false;
  Type type;      // of a model's
  ExprPtr value;  // before the first update; null unless given
};
struct StateStatement {
  std::vector<State> states;
};

// `y[b, i: T] = expression where condition`. A target without indices is a scalar, or the result of
// a block when the expression is a Call of one. The text of a target, of a Name and of an accessed
// tensor may end in a prime: "m'" is what the state `m` becomes.
struct Definition {
  Identifier target;
  bool leading = false;
  std::vector<Index> indices;
  std::vector<ExprPtr> subscripts;  // of a target with a prime, instead of indices: `m'[b, n[b] + t]`
  ExprPtr value;
  ExprPtr condition;  // null unless given
  ExprPtr start;      // `from start`, the value before the first step of a scan; null unless given
};

// A call that can only be one of a block: it has several results, names an argument, or says `as`,
// `using` or `@`.
struct BlockCall {
  std::vector<Identifier> results;
  Identifier callee;
  std::vector<Argument> arguments;
  Identifier as;           // empty text: named after the result
  Identifier uses;         // `using body`: the call whose parameters it has; empty text: its own
  Identifier weight_name;  // `@ "attention.self"`, without the quotes; empty text: not given
};

struct Statement;
// `repeat l: L as layers @ "h.{l}" { … }`.
struct Repeat {
  Identifier index;
  ExprPtr count;
  Identifier as;           // empty text: not given
  Identifier weight_name;  // `@ "h.{l}"`, without the quotes; empty text: not given
  std::vector<Statement> body;
  Span braces;                             // from `{` to `}`
  std::vector<std::string> last_comments;  // above the closing brace
};

// `scan t: T { … }`, a recurrence; `scan t: T down { … }` runs from the last step to the first.
struct Scan {
  Identifier index;
  ExprPtr count;
  bool down = false;
  std::vector<Statement> body;
  Span braces;                             // from `{` to `}`
  std::vector<std::string> last_comments;  // above the closing brace
};

using StatementNode = std::variant<SizeStatement, ParamStatement, StateStatement, Definition,
                                   BlockCall, Repeat, Scan>;

struct Statement {
  StatementNode node;
  Span where;
  Comments comments;
};

// --------------------------------------------------------------------------------- declarations

// `use std.norm`, `use "ffn.attn"`.
struct Use {
  std::string path;  // std.norm, or the text between the quotes
  bool quoted = false;
  Span path_where;
};

// `fn gelu(x) = …`.
struct Function {
  Identifier name;
  std::vector<Identifier> parameters;
  ExprPtr body;
};

struct Input {
  Identifier name;
  Type type;
};
struct Output {
  Identifier name;
  Type type;
  bool probe = false;  // computed only for those who ask
};

enum class BlockKind { block, model, train_model };
struct Block {
  BlockKind kind = BlockKind::block;
  Identifier name;
  std::vector<Input> inputs;
  std::vector<Size> sizes;  // size arguments, after the inputs in print
  std::vector<Output> outputs;
  Identifier update;  // `using adamw`; empty text: not given
  std::vector<Statement> body;
  Span braces;                             // from `{` to `}`
  std::vector<std::string> last_comments;  // above the closing brace
};

// `update adamw(w, g, lr, beta1 = 0.9) { … }`: what one element of a parameter becomes.
struct UpdateArgument {
  Identifier name;
  ExprPtr value;  // the default; null unless given
};
struct Update {
  Identifier name;
  std::vector<UpdateArgument> arguments;
  std::vector<Statement> body;
  Span braces;
  std::vector<std::string> last_comments;
};

struct Item {
  std::variant<Use, SizeStatement, Function, Block, Update> node;
  Span where;
  Comments comments;
};

struct File {
  int32_t id = -1;  // in the SourceMap
  std::vector<Item> items;
  std::vector<std::string> last_comments;  // at the end of the file
};

// Equal up to places and the text of numbers; comments count.
bool equal(const ExprPtr& a, const ExprPtr& b);
bool equal(const Statement& a, const Statement& b);
bool equal(const File& a, const File& b);

// The expressions directly inside one.
std::vector<ExprPtr> parts(const Expr& e);
// Whether the name stands in it alone: an index, a size or a scalar.
bool mentions(const Expr& e, const std::string& name);

}  // namespace attn::dsl
