// What a pass over lowered code makes of a statement.
#pragma once

#include <Halide.h>

#include <string>

#include "compiler/lower/halide/passes.h"
#include "compiler/lower/halide/target.h"

namespace attn::lower {

using Halide::Internal::Stmt;

namespace internal {

// Shows the statement that comes, and goes on with another.
class Exchange : public Halide::Internal::IRMutator {
 public:
  Exchange(Stmt& seen, const Stmt& next) : seen_(seen), next_(next) {}
  using IRMutator::mutate;
  Stmt mutate(const Stmt& s) override {
    seen_ = s;
    return next_;
  }

 private:
  Stmt& seen_;
  const Stmt& next_;
};

class Counter : public Halide::Internal::IRVisitor {
 public:
  explicit Counter(std::string name) : name_(std::move(name)) {}
  int count = 0;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Call* op) override {
    count += op->name == name_;
    IRVisitor::visit(op);
  }
  const std::string name_;
};

}  // namespace internal

inline Stmt after(void (*pass)(Halide::Pipeline&), const Stmt& given) {
  Halide::Func any("any");
  any(Var("x")) = 0;
  Halide::Pipeline pipeline(any);
  Stmt own, result;
  pipeline.add_custom_lowering_pass(new internal::Exchange(own, given));
  pass(pipeline);
  pipeline.add_custom_lowering_pass(new internal::Exchange(result, own));
  pipeline.compile_to_module({}, "any", jit_target(host()));
  return result;
}

// How many calls of this name there are.
inline int calls(const std::string& name, const Stmt& s) {
  internal::Counter counter(name);
  s.accept(&counter);
  return counter.count;
}

inline Stmt evaluated(const Expr& e) { return Halide::Internal::Evaluate::make(e); }
inline Expr load(const std::string& name, const Type& type, const Expr& index) {
  return Halide::Internal::Load::make(type, name, index, {}, {}, Halide::Internal::const_true(),
                                      {});
}
inline Stmt store(const std::string& name, const Expr& value, const Expr& index) {
  return Halide::Internal::Store::make(name, value, index, {}, Halide::Internal::const_true(), {});
}

}  // namespace attn::lower
