// Halide gives each thread the whole of what a block keeps in registers. A thread touches its own
// part alone: without the thread in the index, every index is a number, and the code generator
// keeps the elements in registers.
#include <map>
#include <set>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

class PrivateRegisters : public IRMutator {
  using IRMutator::visit;

  static constexpr int kSamples = 6;

  struct Variables : public IRVisitor {
    using IRVisitor::visit;
    std::set<std::string> names;
    void visit(const Variable* op) override { names.insert(op->name); }
  };
  static std::set<std::string> variables(const Expr& e) {
    Variables found;
    e.accept(&found);
    return found.names;
  }

  // In terms of loops alone.
  Expr expanded(Expr e) const {
    for (;;) {
      std::map<std::string, Expr> values;
      for (const std::string& name : variables(e))
        if (auto let = lets_.find(name); let != lets_.end()) values.insert(*let);
      if (values.empty()) return e;
      e = substitute(values, e);
    }
  }

  // The index in a thread's own part. What threads add to it must be the same in every access: else
  // one would read what another has.
  Expr own(const std::string& name, const Expr& index) {
    Expr full = expanded(index);
    std::map<std::string, Expr> no_thread;
    for (const auto& [thread, extent] : threads_) no_thread[thread] = 0;
    const Expr result = simplify(substitute(no_thread, full), true, bounds_);
    if (const Ramp* ramp = full.as<Ramp>()) full = ramp->base;
    std::vector<int64_t> parts;
    for (int n = 0; n < kSamples; ++n) {
      std::map<std::string, Expr> here, without;
      for (const std::string& v : variables(full)) {
        const size_t hash = std::hash<std::string>()(v) * 31 + static_cast<size_t>(n) * 7919;
        const auto thread = threads_.find(v);
        const int64_t limit = thread == threads_.end() ? 1000 : thread->second;
        here[v] = static_cast<int>(hash % static_cast<size_t>(limit));
        without[v] = thread == threads_.end() ? here[v] : Expr(0);
      }
      const auto part = as_const_int(simplify(substitute(here, full) - substitute(without, full)));
      if (!part) throw InternalError("the index of registers " + name + " is not understood");
      parts.push_back(*part);
    }
    const auto [first, is_new] = parts_.emplace(name, parts);
    if (!is_new && first->second != parts)
      throw InternalError("registers " + name + " are shared between threads");
    return result;
  }

  Stmt visit(const For* op) override {
    const bool is_thread = op->for_type == ForType::GPUThread;
    if (is_thread) {
      const auto extent = as_const_int(op->extent);
      threads_[op->name] = extent ? *extent : 8;
    }
    // Of other loops nobody asks.
    const bool is_asked = !registers_.empty();
    if (is_asked)
      bounds_.push(op->name, Interval(simplify(expanded(op->min), true, bounds_),
                                      simplify(expanded(op->min + op->extent - 1), true, bounds_)));
    Stmt result = IRMutator::visit(op);
    if (is_asked) bounds_.pop(op->name);
    if (is_thread) threads_.erase(op->name);
    return result;
  }
  Stmt visit(const LetStmt* op) override {
    lets_[op->name] = op->value;
    return IRMutator::visit(op);
  }
  Expr visit(const Let* op) override {
    lets_[op->name] = op->value;
    return IRMutator::visit(op);
  }
  Stmt visit(const Allocate* op) override {
    if (op->memory_type == Halide::MemoryType::Register && threads_.empty())
      registers_.insert(op->name);
    return IRMutator::visit(op);
  }
  Expr visit(const Load* op) override {
    if (!registers_.count(op->name)) return IRMutator::visit(op);
    return Load::make(op->type, op->name, own(op->name, op->index), op->image, op->param,
                      mutate(op->predicate), op->alignment);
  }
  Stmt visit(const Store* op) override {
    if (!registers_.count(op->name)) return IRMutator::visit(op);
    return Store::make(op->name, mutate(op->value), own(op->name, op->index), op->param,
                       mutate(op->predicate), op->alignment);
  }

  std::set<std::string> registers_;         // arrays that blocks keep in registers
  std::map<std::string, int64_t> threads_;  // loops over threads that are open, and their extents
  std::map<std::string, Expr> lets_;
  std::map<std::string, std::vector<int64_t>> parts_;  // of threads in the index of an array
  Scope<Interval> bounds_;
};

}  // namespace

void keep_registers_private(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new PrivateRegisters);
}

}  // namespace attn::lower
