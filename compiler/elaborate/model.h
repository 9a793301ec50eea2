// What one model's elaboration carries along: the graph being built, its sizes, the names taken,
// the scopes of expanded blocks, and how errors are reported.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/elaborate/files.h"
#include "compiler/ir/graph.h"

namespace attn::elaborate {

// What kind of number an expression is, from the least committed to the most: `literal` is a whole
// number without a type, `position` is made of indices and sizes and counts as a number anywhere,
// `integer` is whole data, which enters real arithmetic only through float().
enum class Sort { truth, literal, position, integer, real };

struct Value {
  ir::Expr expr;
  Sort sort = Sort::real;
};

// A scan whose body is being elaborated.
struct OpenScan {
  std::string index;  // the step
  ir::Poly count;
  bool down = false;
  Span where;
};

// A name that the body of a scan reads one step back, or above its definition.
struct Carried {
  const dsl::Definition* definition = nullptr;
  const OpenScan* scan = nullptr;
  size_t step = 0;  // its dimension that the steps run along
  // Its value before the first step: a constant, or a tensor over these of its dimensions.
  std::optional<ir::Expr> constant;
  std::optional<ir::TensorId> start;
  std::vector<size_t> start_dimensions;
  Span from;  // where that was given
  bool is_defined = false, is_read_back = false;
};

// What a name stands for inside a block.
struct Binding {
  enum class Kind { tensor, scalar, poisoned };
  Kind kind = Kind::tensor;
  ir::TensorId tensor;  // tensor
  Value value;          // scalar: what a call gave for a scalar input
  Span where;           // where the name got its meaning
  bool used = false;
  bool hides_index = false;    // reported: one error is enough
  Carried* carried = nullptr;  // while the body of its scan is elaborated
};

// What the rounds of a `repeat` make one tensor of: `all[l, b] = …` in `repeat l: L`.
struct Stack {
  Span where;            // of the name, in the body
  size_t dimension = 0;  // of the tensor, that of the rounds
  std::vector<ir::TensorId> rounds;
  bool is_broken = false;  // a round had an error
};
struct Stacks {
  std::string index;  // of the `repeat`
  size_t round = 0;   // that is being expanded
  std::map<std::string, Stack> by_name;
};

// The names of one expansion of a block, or of one round of a `repeat` in it.
struct Scope {
  const Unit* unit = nullptr;
  Scope* outer = nullptr;  // of a round of `repeat`: what stands around it
  std::map<std::string, Binding> names;
  std::map<std::string, ir::Poly> sizes;          // bound by the call, arguments, or local
  ir::SizeId first_size;                          // of those that the call or its body makes
  std::set<std::string> broken_sizes;             // had an error already
  std::map<std::string, std::string> full_names;  // of outputs: the name of the caller's result
  std::map<std::string, const dsl::Type*> output_types;
  std::map<std::string, const dsl::State*> states;  // whose tensors are inputs of the model
  std::vector<ir::Poly> leading;                    // what `...` of the inputs stands for
  bool has_leading = false;
  std::string path;        // "attn." before the names of inner tensors
  std::string parameters;  // before those of parameters: the same, but of a call that shares them
  std::string weights;     // before those in a weight file
  Span weights_where;      // where `@` gave that, if it did
  bool shares = false;     // the parameters are those of an earlier call
  std::vector<const dsl::Statement*> statements;  // of the body, for errors about order
  const OpenScan* scan = nullptr;                 // whose body this is
  Stacks* stacks = nullptr;                       // of a round of `repeat`
  bool own = false;  // the body of the model itself, whose unused names are worth a warning

  Binding* find(const std::string& name);
  const ir::Poly* find_size(const std::string& name) const;
  bool is_broken_size(const std::string& name) const;
  const std::string* full_name(const std::string& name) const;
  const dsl::Type* output_type(const std::string& name) const;
  // The state `keys` for the name `keys'`.
  const dsl::State* state_of(const std::string& name) const;
  // The scan around a round of `repeat` is around what stands in it.
  const OpenScan* scan_around() const;
  // All names of tensors in sight, for "did you mean".
  std::vector<std::string> tensor_names() const;
  // Whether some name in sight had an error.
  bool has_poisoned() const;
  const Scope& outermost() const { return outer ? outer->outermost() : *this; }
};

// A call whose parameters later ones may share.
struct NamedCall {
  const Callable* callable;
  Span where;
  std::map<std::string, ir::Poly> sizes;  // its size arguments, once they are bound
};

// The call of a block or a function that is being expanded.
struct OpenCall {
  const Callable* callable;
  Span where;
};

class ModelState {
 public:
  ModelState(const SourceMap& all_sources, const Unit& main_file, const Overrides& given,
             Diagnostics& diagnostics)
      : sources(all_sources), main(main_file), overrides(given), diagnostics_(diagnostics) {}

  const SourceMap& sources;
  const Unit& main;
  const Overrides& overrides;
  ir::Graph graph;
  std::vector<OpenCall> calls, function_calls;
  std::map<std::string, NamedCall> named_calls;  // by what stands before their parameters: "attn."
  std::map<std::string, Span> parameters;        // full name -> where it was declared
  std::map<std::string, Span> weight_names;      // full name of a parameter -> where `@` names it
  bool trains = false;                           // it exports gradients
  // What the model remembers from call to call, and what that becomes; nothing until it is defined.
  struct Remembered {
    ir::TensorId state;
    std::optional<ir::TensorId> next;
    Span where;
    bool is_defined = false;  // perhaps with an error
  };
  std::vector<Remembered> states;

  // An error at a place; says in which call when that place is inside an expanded block. The same
  // error at the same place is reported once, however often a block is expanded.
  Diagnostic& error(Span where, std::string message);
  Diagnostic& warning(Span where, std::string category, std::string message);
  // An error that names a limit of the compiler.
  Diagnostic& limit(Span where, std::string message);
  // That a tensor with extents stands somewhere without subscripts.
  void report_without_subscripts(Span where, const std::string& name, const ir::Tensor& t);
  // How an element of a tensor with extents is written, where all of it stands.
  std::string one_element(const std::string& name, const ir::Tensor& t) const;
  bool has_errors() const { return diagnostics_.has_errors(); }
  int error_count() const { return diagnostics_.error_count(); }

  // A new tensor of this name, or of a name made from it where it is taken.
  ir::TensorId new_tensor(ir::Tensor tensor);
  void rename(ir::TensorId id, const std::string& name);
  bool name_taken(const std::string& name) const { return names_.count(name) > 0; }
  std::string fresh_name(const std::string& base) const;
  void add_definition(ir::Definition d);

  // ---- sizes
  // A size expression in a scope; nothing after an error. `quiet` reports none.
  std::optional<ir::Poly> size(const dsl::ExprPtr& e, const Scope& scope, bool quiet = false);
  // A tensor that is read with subscripts only, so that its name alone may mean something else.
  bool is_subscripted(const Binding& b) const {
    return b.kind == Binding::Kind::tensor && !graph[b.tensor].extents.empty();
  }
  // The size of this name, if it is one.
  std::optional<ir::Poly> size_named(const std::string& name, const Scope& scope);
  // Reports a size of the file `unit` that is, or is computed from, one of a name which `scope`
  // binds to something else.
  bool check_not_rebound(const std::string& name, const Unit& unit, const Scope& scope, Span where,
                         bool in_function = false);
  bool is_size_name(const std::string& name, const Scope& scope) const;
  // floor(a / b) for sizes: exact where it divides, else a size symbol of its own.
  std::optional<ir::Poly> quotient(const ir::Poly& a, const ir::Poly& b);
  std::vector<std::string> size_names(const Scope& scope) const;
  // Whether two extents are one, also if the sizes in them had other values: `H` and `E` are not
  // because both are 8, `D` and `H*E` are where `size E = D / H`. A number is equal to what it is
  // equal to.
  bool is_one_extent(const ir::Poly& a, const ir::Poly& b) const;
  // Binds a size of the block whose scope is `owner`. What is a number has the block's name for it
  // in extents until the model is done. `e`, in `scope`, says what it is computed from, if anything
  // does.
  void bind_size(Scope& owner, const std::string& name, const ir::Poly& p, const dsl::ExprPtr& e,
                 const Scope& scope);
  // Binds a size that stands alone as an extent of the block's input, unless the call gave it. A
  // number that the call gave is told apart as the size that the input has.
  void bind_extent(Scope& owner, const std::string& name, const ir::Poly& extent);
  // The same with sizes of blocks as numbers: all of them, or those from `first` on that are
  // numbers or computed from one.
  ir::Poly with_numbers(const ir::Poly& p, ir::SizeId first = {}) const;
  ir::Tensor with_numbers(ir::Tensor t, ir::SizeId first = {}) const;
  // Leaves no size of a block in the graph.
  void number_block_sizes();
  // A size as a number to compute with.
  ir::Expr number(const ir::Poly& p) const { return ir::size_value(with_numbers(p)); }

  // A name that `@` gives, with the values of the sizes that it encloses: "h.{l}". Nothing after an
  // error.
  std::optional<std::string> weight_name(const dsl::Identifier& name, const Scope& scope);

  // ---- texts for messages
  std::string text(const ir::Poly& p) const;
  std::string with_value(const ir::Poly& p) const;  // "D = 8" where the value is known
  std::string shape(const ir::Tensor& t) const;     // "[B, T, D]"
  std::string_view source(Span where) const { return sources.text(where); }

  // Counts work, so that a small program cannot ask for an endless expansion.
  void count_step();

 private:
  // The name that `scope` binds otherwise than the file does, among those that `e` is computed
  // from.
  std::string rebound(const dsl::Expr& e, const Unit& unit, const Scope& scope);
  std::optional<ir::Poly> file_size(const Unit& unit, const std::string& name);
  void name_quotients();
  // A value for each size, other than the real one, that follows its definition: by these, extents
  // are told apart that are equal by chance.
  double stand_in(const ir::Poly& p) const;
  std::optional<double> stand_in(const dsl::ExprPtr& e, const Scope& scope);
  // The newest size of a block that is a number and that `e` is computed from, `own` where `e` has
  // a number by another name.
  ir::SizeId newest_number(const dsl::Expr& e, const Scope& scope, ir::SizeId own);
  // A declared size that is divided by this one says that it is not 0, which every call checks.
  void promise_positive(const ir::Poly& divisor);
  std::optional<ir::Poly> divide(const dsl::Expr& at, const ir::Poly& a, const ir::Poly& b);
  void give_value(ir::Size& size, const dsl::Size& declared, const Unit& unit);
  std::optional<ir::SizeId> make_size(const Unit& unit, const std::string& name);
  std::optional<int64_t> bound(const dsl::ExprPtr& e, const Unit& unit);

  // A size of a block that is known when compiling. The graph has it without a name.
  struct BlockSize {
    std::string name;
    ir::SizeId newest;  // of the numbers that it is computed from; itself if it is one
  };

  Diagnostics& diagnostics_;
  Diagnostic discarded_;
  std::set<std::tuple<int32_t, uint32_t, uint32_t, std::string>> reported_;
  std::set<std::string> names_;
  std::map<std::pair<const Unit*, std::string>, std::optional<ir::SizeId>> sizes_;
  std::vector<const dsl::Size*> open_sizes_;
  std::map<std::pair<ir::Poly, ir::Poly>, ir::SizeId> quotients_;
  std::map<ir::SizeId, double> stand_ins_;  // of sizes with a formula
  std::map<ir::SizeId, BlockSize> block_sizes_;
  // Of those that are numbers: all rounds of a `repeat` have one of each name and value.
  std::map<std::tuple<ir::SizeId, std::string, int64_t>, ir::SizeId> numbers_;
  int64_t steps_ = 0;
};

// "dimension 2" and the like count from one.
std::string ordinal_dimension(int position);
// What to do about a block or a function that is not there; may be empty.
std::string help_for_callee(const Unit& unit, const std::string& name);
// ": did you mean `x`?" or "".
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace attn::elaborate
