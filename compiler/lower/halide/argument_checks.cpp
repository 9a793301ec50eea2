#include <set>
#include <string>
#include <vector>

#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using Halide::Internal::AssertStmt;
using Halide::Internal::Block;
using Halide::Internal::Call;
using Halide::Internal::Let;
using Halide::Internal::Stmt;

// Of the functions of Halide's runtime, those that say what is wrong with an argument.
const std::set<std::string> kArgumentErrors = {
    "halide_error_access_out_of_bounds",
    "halide_error_bad_dimensions",
    "halide_error_bad_type",
    "halide_error_buffer_allocation_too_large",
    "halide_error_buffer_extents_negative",
    "halide_error_buffer_extents_too_large",
    "halide_error_constraint_violated",
    "halide_error_constraints_make_required_region_smaller",
    "halide_error_host_is_null",
    "halide_error_device_dirty_with_no_device_support",
};

bool checks_argument(const Stmt& statement) {
  const auto* check = statement.as<AssertStmt>();
  if (!check) return false;
  Expr message = check->message;
  while (const Let* let = message.as<Let>()) message = let->body;
  const auto* call = message.as<Call>();
  return call && kArgumentErrors.count(call->name);
}

class Join : public Halide::Internal::IRMutator {
  using IRMutator::visit;

  Stmt visit(const Block* block) override {
    std::vector<Stmt> statements;
    Stmt rest = block;
    for (const Block* b = block; b; b = rest.as<Block>()) {
      statements.push_back(b->first);
      rest = b->rest;
    }
    statements.push_back(rest);
    std::vector<Stmt> joined;
    Expr all;
    for (const Stmt& statement : statements) {
      if (checks_argument(statement)) {
        const Expr& condition = statement.as<AssertStmt>()->condition;
        all = all.defined() ? all && condition : condition;
        continue;
      }
      if (all.defined()) joined.push_back(failing(all));
      all = {};
      joined.push_back(mutate(statement));
    }
    if (all.defined()) joined.push_back(failing(all));
    return Block::make(joined);
  }

  static Stmt failing(const Expr& condition) {
    std::vector<Expr> said = {Expr("its buffers"), Expr("they are not what it was compiled for")};
    return AssertStmt::make(
        condition,
        Call::make(Halide::Int(32), "halide_error_requirement_failed", said, Call::Extern));
  }
};

}  // namespace

void join_argument_checks(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new Join);
}

}  // namespace attn::lower
