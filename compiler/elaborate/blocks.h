// Expands a model: its statements in order, and the blocks that they call, into one graph.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/elaborate/statement.h"

namespace attn::elaborate {

class Expander {
 public:
  explicit Expander(ModelState& model) : m_(model) {}

  // Fills the graph of the state; worth keeping only if there were no errors.
  void expand_model(const Callable& model);

 private:
  struct CallSite {
    const Callable* callable = nullptr;
    const std::vector<dsl::Argument>* arguments = nullptr;
    std::vector<dsl::Identifier> results;
    dsl::Identifier as, uses, weight_name;
    Span where;
  };

  // ---- blocks.cpp: statements
  void body(const std::vector<dsl::Statement>& statements, Scope& scope);
  void define(const dsl::Definition& d, const dsl::Statement& s, Scope& scope);
  void local_sizes(const dsl::SizeStatement& sizes, Scope& scope);

  // ---- states.cpp: what a model remembers from call to call
  void states(const dsl::StateStatement& statement, Scope& scope);
  void define_next(const dsl::Definition& d, const dsl::Statement& s, Scope& scope);
  void state_outputs();
  bool claim(const dsl::Identifier& name, Scope& scope, bool may_rebind, bool subscripted);
  bool check_not_size(const dsl::Identifier& name, const Scope& scope);
  std::string target_name(const std::string& name, const Scope& scope) const;
  bool rebinds(const std::string& name, const Scope& scope) const;
  void bind_tensor(const dsl::Identifier& name, Scope& scope, std::optional<ir::TensorId> tensor);
  // What the caller gives, of this type; nothing after an error. `what` has a shape that is written
  // in full, "a parameter", for which `help` is given.
  std::optional<ir::Tensor> declared(const std::string& full_name, const dsl::Identifier& name,
                                     const dsl::Type& type, ir::Role role, std::string_view what,
                                     std::string_view help, const Scope& scope);

  // ---- repeats.cpp: rounds
  void repeat(const dsl::Repeat& r, Scope& scope);
  std::optional<size_t> index_of_rounds(const dsl::Definition& d, const Scope& scope);
  void stack(const dsl::Definition& d, const dsl::Statement& s, Scope& scope, size_t at);
  void join(const std::string& name, const Stack& stack, const dsl::Repeat& r,
            const ir::Poly& count, Scope& scope);

  // ---- scans.cpp: recurrences
  class Shapes;
  void scan(const dsl::Scan& s, Scope& scope, Span where);
  void announce(const dsl::Definition& d, const OpenScan& open, const Shapes& shapes, Scope& scope,
                std::deque<Carried>& all);
  void declare(const dsl::Scan& s, const Shapes& shapes, std::deque<Carried>& all, Scope& scope);

  // ---- parameters.cpp: what is trained, its names, and who shares it
  void parameters(const dsl::ParamStatement& p, const dsl::Statement& s, Scope& scope);
  std::optional<ir::TensorId> own_parameter(ir::Tensor tensor, const dsl::Param& p,
                                            const Scope& scope);
  std::optional<ir::TensorId> shared_parameter(const ir::Tensor& tensor);
  std::optional<ir::Initialiser> initialiser(const dsl::ExprPtr& e, Scope& scope);
  bool name_call(const CallSite& site, Scope& scope, Scope& inner);
  bool share_call(const CallSite& site, Scope& scope, Scope& inner);
  // Whether the size arguments are those of the first call with these parameters.
  bool check_shared_sizes(const CallSite& site, const Scope& inner);

  // ---- calls.cpp: calls of blocks
  void call(const CallSite& site, Scope& scope);
  bool bind_arguments(const CallSite& site, Scope& caller, Scope& inner);
  bool bind_input(const CallSite& site, const dsl::Input& input, const dsl::ExprPtr& argument,
                  Scope& caller, Scope& inner);
  bool bind_scalar(const CallSite& site, const dsl::Input& input, const dsl::ExprPtr& argument,
                   Scope& caller, Scope& inner);
  bool bind_sizes(const CallSite& site, Scope& inner);
  bool check_extents(const CallSite& site, const dsl::Input& input, const dsl::ExprPtr& argument,
                     Scope& inner);
  bool check_declaration(const dsl::Block& block);
  bool is_open(const Callable& callable, Span where);
  void collect_outputs(const CallSite& site, Scope& inner, Scope& caller, int32_t first_tensor);

  // ---- models.cpp: the interface of a model
  void model_inputs(const dsl::Block& block, Scope& scope);
  void model_outputs(const dsl::Block& block, Scope& scope);
  void warn_of_order(const dsl::Identifier& output, const ir::Tensor& t);
  bool check_size_limits(const ir::Tensor& t, Span where);
  void check_sizes_are_read(const dsl::Block& block);
  void warn_unused(const Scope& scope);
  void warn_names(const Scope& scope);

  ModelState& m_;
  const OpenScan* open_scan_ = nullptr;       // around all that is being expanded
  std::map<ir::TensorId, Span> definitions_;  // of the model's own body, for warnings
};

// The same graph with inputs, parameters and targets in order, sizes and indices that are used, and
// index names that no tensor has: printing and elaborating it gives it again.
ir::Graph canonical(const ir::Graph& g);

}  // namespace attn::elaborate
