// Elaborates one definition: its index ranges, its expression, and the proofs that reads are in
// range. Reductions inside the expression become definitions of their own before it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/elaborate/model.h"

namespace attn::elaborate {

using MaybeValue = std::optional<Value>;  // nothing: an error was reported

// Where an index stands alone as a subscript, or where its range was written.
struct Place {
  Span where;
  ir::Poly extent;
  std::string says;      // "`x` has extent D here"
  Span declared;         // of the tensor
  std::string declares;  // "`x` is [B, T, D]"
};

// A subscript that is more than the index which it mentions, and the extent of its dimension.
struct Mention {
  const dsl::Expr* subscript;
  ir::Poly extent;
};

// An index that the left side or a reduction binds.
struct Binder {
  std::string name;
  Span where;
  std::optional<ir::Poly> given;
  bool broken = false;  // its range had an error already
  std::vector<Place> places;
  std::vector<Mention> mentions;  // from which help guesses its range
  ir::IndexId id;
  bool on_left = false;
};

// The indices that one reduction, or the left side, binds. Those of `...` come first.
struct Bound {
  std::vector<Binder> leading;
  std::vector<Binder> named;
  bool has_leading = false;
};

// The ranges of all indices of a definition.
struct Ranges {
  Bound left;
  std::map<const dsl::Reduction*, Bound> reductions;
};

// The ranges of indices that no subscript tells, by name.
using KnownRanges = std::map<std::string, ir::Poly>;

// Finds the range of every index; nothing after an error.
class RangeFinder {
 public:
  RangeFinder(ModelState& model, Scope& scope, const dsl::Definition& definition,
              const KnownRanges& known = {})
      : m_(model), scope_(scope), definition_(definition), known_(known) {}
  std::optional<Ranges> run();

 private:
  void count_leading(const dsl::ExprPtr& e);
  void scan(const dsl::ExprPtr& e);
  bool is_index(const std::string& name) const {
    for (const Bound* bound : open_)
      for (const Binder& b : bound->named)
        if (b.name == name) return true;
    return false;
  }
  // What binds `...` at this place, innermost; reports where nothing does.
  Bound* leading_binder(Span where);
  void scan_access(const dsl::Access& access, Span where);
  void scan_reduction(const dsl::Reduction& reduction);
  Bound bind(bool leading, const std::vector<dsl::Index>& indices, bool on_left);
  bool check_name(const dsl::Identifier& name, const std::vector<dsl::Index>& siblings,
                  size_t position);
  bool takes_step(const dsl::Index& index, const OpenScan& scan, bool on_left);
  bool resolve(Bound& bound, const std::string& word);
  bool resolve(Binder& binder, const std::string& word);
  void report_rangeless(const Binder& binder, const std::string& word);
  // The range with which the index fills the dimension, where the subscript tells one.
  std::optional<ir::Poly> range_told_by(const Mention& mention, const std::string& index);
  void name_leading(Bound& bound);
  void place_output();

  ModelState& m_;
  Scope& scope_;
  const dsl::Definition& definition_;
  const KnownRanges known_;
  Ranges ranges_;
  std::vector<Bound*> open_;    // innermost last
  std::optional<int> leading_;  // how many indices `...` stands for
  Span leading_where_;
  std::string leading_says_;
  std::set<std::string> index_names_;
  bool incomplete_ = false;  // something could not be looked at; others report it
  bool failed_ = false;
};

// The storage that a type names; f32 where it names none.
std::optional<ir::Storage> storage_of(ModelState& model, const dsl::Type& type);

// The condition that a range has a value.
inline ir::Expr is_not_empty(const ir::Poly& extent) {
  return ir::at_least_zero(ir::size_value(extent - ir::Poly(1)));
}

// Explains a name that is read above its definition, or in a cycle of definitions; false where the
// name is defined nowhere in the body.
bool report_order(ModelState& model, Scope& scope, const dsl::Definition& reader,
                  const std::string& name, Span where);

class Statement {
 public:
  Statement(ModelState& model, Scope& scope, const dsl::Definition& definition, Span where,
            std::string full_name)
      : m_(model),
        scope_(scope),
        definition_(definition),
        where_(where),
        full_name_(std::move(full_name)) {}

  // The tensor that the definition makes; nothing after an error.
  std::optional<ir::TensorId> run(const KnownRanges& known = {});

  // An expression without indices, such as an argument for a scalar input. Only expression() may
  // be called after this constructor.
  static MaybeValue scalar(ModelState& model, Scope& scope, const dsl::ExprPtr& e,
                           const std::string& full_name);
  // Int data as a real number, anything else as it is.
  static Value as_real(Value v);

 private:
  // A read whose subscript still has to be proved in range, where `known` holds.
  struct Pending {
    ir::Conditions known;
    ir::Expr subscript, low, high;  // low: subscript >= 0; high: subscript < extent
    ir::Poly extent;
    ir::TensorId tensor;
    int dimension = 0;
    Span where;            // the subscript
    bool settled = false;  // `inside` makes it hold
    bool is_written = false;
  };
  struct Condition {
    ir::Conditions conjuncts;
    bool inside = false;
  };
  // A combination over indices, before it is a definition.
  struct Part {
    ir::Combine combine = ir::Combine::sum;
    std::vector<ir::IndexId> reduced;
    ir::Conditions guard;
    Value body;
  };
  struct Visible {
    std::string name;
    ir::IndexId id;
  };

  // ---- expressions.cpp
  MaybeValue expression(const dsl::ExprPtr& e);
  MaybeValue name(const dsl::Name& n, Span where);
  MaybeValue unary(const dsl::Unary& u);
  MaybeValue power(const dsl::Power& p, Span where);
  MaybeValue chain(const dsl::Chain& c, Span where);
  MaybeValue logic(const dsl::Chain& c);
  MaybeValue comparison(const dsl::Chain& c);
  MaybeValue arithmetic(const dsl::Chain& c);
  MaybeValue operate(dsl::Op op, Value a, const dsl::ExprPtr& at_a, Value b,
                     const dsl::ExprPtr& at_b);
  MaybeValue conditional(const dsl::Conditional& c);
  MaybeValue whole_division(dsl::Op op, const Value& a, const Value& b, const dsl::Expr& divisor);
  std::optional<ir::Expr> truth(const dsl::ExprPtr& e, std::string_view of);
  // The sort that two operands have together: int data among real numbers becomes real. Reports
  // truth values.
  std::optional<Sort> together(Value& a, Span at_a, Value& b, Span at_b);
  bool require_number(const Value& v, Span where);
  bool make_real(Value& v, Span where);
  // Of `x.T` and `x.view`, where `x` is a tensor; else empty.
  std::string help_for_member(const std::string& name);
  void unknown_name(const std::string& name, Span where, bool subscripted);
  void report_unbound(const std::string& name, Span where, const dsl::Reduction* binder);

  // ---- functions.cpp
  MaybeValue call(const dsl::Call& c, Span where);
  // The function that a call means; reports where there is none.
  bool check_callee(const dsl::Call& c, Span where, const Callable*& callable,
                    const ir::Operation*& op);
  MaybeValue expand(const dsl::Call& c, const Callable& callable, std::vector<Value> arguments);
  MaybeValue apply(const std::vector<dsl::ExprPtr>& sources, const ir::Operation& op,
                   std::vector<Value> arguments, Span where);

  // ---- accesses.cpp
  MaybeValue access(const dsl::Access& a, Span where);
  // A read of what its scan carries from step to step: its start, before the first.
  MaybeValue read_carried(const Binding& b, const dsl::Access& a, std::vector<ir::Expr> subscripts,
                          const std::vector<Span>& places);
  bool check_rank(const dsl::Access& a, Span where, ir::TensorId tensor, size_t leading);
  MaybeValue read(ir::TensorId tensor, std::vector<ir::Expr> subscripts,
                  const std::vector<Span>& places);
  ir::Conditions needed_points(const Pending& p) const;
  // The sizes in conditions that only a call knows.
  std::set<ir::SizeId> run_time_sizes(const ir::Conditions& conditions) const;
  bool is_proved(const Pending& p, const ir::Conditions& known) const;
  bool is_proved_where(const ir::Expr& condition, const Pending& p) const;
  bool is_whole_data(ir::TensorId tensor);
  void report_unproved(const Pending& p);
  std::string promise_of_at_most(int64_t last, const ir::Poly& highest) const;
  // Settles what `inside` covers; gives the conditions that it stands for.
  ir::Conditions take_inside(const std::vector<ir::IndexId>& hidden);
  void check_pending(const std::vector<Pending>& pending);

  // ---- reductions.cpp
  std::optional<Condition> condition(const dsl::ExprPtr& e);
  MaybeValue reduction(const dsl::Reduction& r, Span where);
  std::optional<Part> part(const dsl::Reduction& r, Span where);
  MaybeValue softmax(const dsl::Reduction& r, Span where);
  std::optional<ir::Combine> combine_of(const dsl::Reduction& r) const;
  MaybeValue over_count(const std::vector<ir::IndexId>& reduced, const ir::Conditions& guard,
                        Span where);
  // Makes the part a definition of its own, named after the target, and reads it.
  Value extract(std::string_view suffix, Part part, std::vector<Pending> pending, Span where);

  // ---- statement.cpp
  struct TopReduction {
    const dsl::Reduction* reduction = nullptr;
    Span where;
    std::vector<std::pair<dsl::ExprPtr, bool>> factors;  // true: divides
    bool negative = false;
  };
  std::optional<TopReduction> top_reduction(const dsl::ExprPtr& e) const;
  bool is_constant(const dsl::ExprPtr& e) const;
  std::optional<Part> whole(const dsl::ExprPtr& e);
  std::optional<ir::TensorId> finish(Part part);
  // The places of what a state becomes, and its definition there.
  bool find_position();
  ir::TensorId place(ir::Definition d, const ir::Tensor& value);
  bool takes_place_of(const ir::Tensor& declared, const ir::Tensor& defined);
  // As declared, else as the value is. A state that is declared without a type is f32.
  std::optional<ir::Storage> storage(const Value& body, const dsl::Type* declared, bool is_state);
  void check_names(const dsl::ExprPtr& e);
  void push(const Bound& bound);
  void pop(const Bound& bound);

  ModelState& m_;
  Scope& scope_;
  const dsl::Definition& definition_;
  Span where_;
  std::string full_name_;
  Ranges ranges_;
  std::vector<Visible> visible_;                   // bound indices, innermost last
  std::vector<std::vector<ir::IndexId>> leading_;  // what `...` stands for, innermost last
  ir::Conditions path_;                            // what holds at the present point
  std::vector<Pending> pending_;
  std::vector<ir::Expr> position_;  // of what a state becomes
  ir::Conditions outer_;            // of the definition's own `where`
  int inside_ = 0;                  // open conditions that say `inside`
  bool in_condition_ = false;
  int in_subscript_ = 0;  // how many subscripts are around
  std::map<ir::TensorId, bool> whole_data_;
  // Inside a `fn`: its arguments, and the file whose sizes and functions it sees.
  struct Function {
    const Callable* callable;
    std::map<std::string, Value> arguments;
    Scope scope;
  };
  std::vector<Function*> functions_;
  // The body of the definition being made, for reads by nested statements.
  const Scope& lexical() const { return functions_.empty() ? scope_ : functions_.back()->scope; }
};

}  // namespace attn::elaborate
