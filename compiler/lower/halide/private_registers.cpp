// Halide gives each thread the whole of what a block keeps in registers. A thread touches its own
// part alone: without the thread in the index, every index is a number, and the code generator
// keeps the elements in registers.
#include <algorithm>
#include <map>
#include <optional>
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

  // With the values of the lets for which `is_wanted` holds, or as it is.
  template <class F>
  Expr expanded(const Expr& e, F is_wanted) const {
    std::map<std::string, Expr> values;
    for (const std::string& name : variables(e))
      if (auto let = lets_.find(name); let != lets_.end() && is_wanted(name)) values.insert(*let);
    return values.empty() ? e : substitute(values, e);
  }

  // In terms of threads: lets that do not depend on them stay, since what they stand for is large.
  Expr by_threads(Expr e) const {
    for (Expr before; !before.same_as(e);) {
      before = e;
      e = expanded(before, [&](const std::string& name) { return of_threads_.count(name) > 0; });
    }
    return e;
  }

  // A number, if it is one: values of lets are looked at only as deep as that needs.
  Expr simplified(Expr e) const {
    for (Expr before;; before = e) {
      e = simplify(e, true, bounds_);
      const Ramp* ramp = e.as<Ramp>();
      if (is_const(ramp ? ramp->base : e) || e.same_as(before)) return e;
      const Expr deeper = expanded(e, [](const std::string&) { return true; });
      if (deeper.same_as(e)) return e;
      e = deeper;
    }
  }

  // The index in a thread's own part. What threads add to it must be the same in every access: else
  // one would read what another has.
  Expr own(const std::string& name, const Expr& index) {
    Expr full = by_threads(index);
    std::map<std::string, Expr> no_thread;
    for (const auto& [thread, extent] : threads_) no_thread[thread] = 0;
    const Expr result = simplified(substitute(no_thread, full));
    see(name, result);
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

  // Keeps the last index that is used; -1 where some index is no number.
  void see(const std::string& name, const Expr& index) {
    const Ramp* ramp = index.as<Ramp>();
    const auto first = as_const_int(ramp ? ramp->base : index);
    const auto stride = ramp ? as_const_int(ramp->stride) : std::optional<int64_t>(0);
    const int64_t lanes = ramp ? ramp->lanes : 1;
    const bool is_known = first && stride && *stride >= 0;
    const int64_t last = is_known ? *first + *stride * (lanes - 1) : -1;
    const auto [found, is_new] = last_.emplace(name, last);
    if (!is_new)
      found->second = std::min(last, found->second) < 0 ? -1 : std::max(last, found->second);
  }

  void keep(const std::string& name, const Expr& value) {
    lets_[name] = value;
    for (const std::string& v : variables(value))
      if (threads_.count(v) || of_threads_.count(v)) of_threads_.insert(name);
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
      bounds_.push(op->name, Interval(simplify(op->min, true, bounds_),
                                      simplify(op->min + op->extent - 1, true, bounds_)));
    Stmt result = IRMutator::visit(op);
    if (is_asked) bounds_.pop(op->name);
    if (is_thread) threads_.erase(op->name);
    return result;
  }
  Stmt visit(const LetStmt* op) override {
    keep(op->name, op->value);
    return IRMutator::visit(op);
  }
  Expr visit(const Let* op) override {
    keep(op->name, op->value);
    return IRMutator::visit(op);
  }
  Stmt visit(const Allocate* op) override {
    if (op->memory_type != Halide::MemoryType::Register || !threads_.empty())
      return IRMutator::visit(op);
    registers_.insert(op->name);
    const Stmt body = mutate(op->body);
    // A thread's own part of it is all that there is, where every index is a number.
    std::vector<Expr> extents = op->extents;
    if (const auto last = last_.find(op->name); last != last_.end() && last->second >= 0)
      extents = {static_cast<int>(last->second + 1)};
    return Allocate::make(op->name, op->type, op->memory_type, extents, op->condition, body,
                          op->new_expr, op->free_function, op->padding);
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
  std::set<std::string> of_threads_;  // lets that depend on threads
  std::map<std::string, int64_t> last_;
  std::map<std::string, std::vector<int64_t>> parts_;  // of threads in the index of an array
  Scope<Interval> bounds_;
};

}  // namespace

void keep_registers_private(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new PrivateRegisters);
}

}  // namespace attn::lower
