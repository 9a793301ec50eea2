#include "compiler/lower/halide/block_phases.h"

#include <iterator>
#include <string_view>

#include "compiler/lower/terms/translate.h"

namespace attn::lower {

using namespace Halide::Internal;

namespace {

bool is_meeting(const Stmt& s) {
  const auto* evaluate = s.as<Evaluate>();
  const Call* call = evaluate ? evaluate->value.as<Call>() : nullptr;
  return call != nullptr && call->is_intrinsic(Call::gpu_thread_barrier);
}

// What a statement does to the memory of a block.
class Effects : public IRVisitor {
 public:
  Effects(const BlockMemory& memory, const Bounds& bounds) : memory_(memory) {
    bounds_.set_containing_scope(&bounds);
  }

  std::vector<SharedRange> loads, stores;  // of shared memory
  bool loads_own = false, has_meeting = false;
  bool is_known = true;                  // all ranges are
  std::set<std::string> loaded, stored;  // what else

  bool is_copy() const {
    return is_known && loads.empty() && !loads_own && stored.empty() && !has_meeting &&
           !stores.empty();
  }

 private:
  using IRVisitor::visit;

  void add(std::vector<SharedRange>& ranges, const Type& type, const Expr& index) {
    const Interval i = bounds_of_expr_in_scope(index, bounds_);
    const auto first = i.has_lower_bound() ? as_const_int(simplify(i.min)) : std::nullopt;
    const auto last = i.has_upper_bound() ? as_const_int(simplify(i.max)) : std::nullopt;
    if (!first || !last) {
      is_known = false;
      return;
    }
    ranges.push_back({*first * type.bytes(), (*last + 1) * type.bytes() - 1});
  }
  template <class Op>
  void bind(const Op* op) {
    op->value.accept(this);
    BoundName bound(bounds_, op->name, op->value);
    op->body.accept(this);
  }

  void visit(const Let* op) override { bind(op); }
  void visit(const LetStmt* op) override { bind(op); }
  void visit(const For* op) override {
    op->min.accept(this);
    op->extent.accept(this);
    BoundName bound(bounds_, *op);
    op->body.accept(this);
  }
  void visit(const Load* op) override {
    if (memory_.shared == op->name) {
      add(loads, op->type.element_of(), op->index);
    } else {
      loads_own = loads_own || memory_.own.contains(op->name);
      loaded.insert(op->name);
    }
    IRVisitor::visit(op);
  }
  void visit(const Store* op) override {
    if (memory_.shared == op->name) {
      add(stores, op->value.type().element_of(), op->index);
    } else {
      stored.insert(op->name);
    }
    IRVisitor::visit(op);
  }
  void visit(const Call* op) override {
    has_meeting = has_meeting || op->is_intrinsic(Call::gpu_thread_barrier);
    if (!begins_copy(*op)) return IRVisitor::visit(op);
    const Load* to = op->args[0].as<Load>();
    add(stores, to->type, to->index);
    to->index.accept(this);
    for (size_t k = 1; k < op->args.size(); ++k) op->args[k].accept(this);
  }

  const BlockMemory& memory_;
  Bounds bounds_;
};

bool has_meeting(const Stmt& s) {
  const BlockMemory none;
  const Bounds unknown;
  Effects effects(none, unknown);
  s.accept(&effects);
  return effects.has_meeting;
}

class Items {
 public:
  Items(const BlockMemory& memory, Bounds& bounds) : memory_(memory), bounds_(bounds) {}

  std::vector<BlockItem> all;

  // Copies of a later round are what they were if no work changes what they read.
  bool have_constant_copies() const {
    return std::ranges::none_of(copied_, [&](const auto& name) { return stored_.contains(name); });
  }

  bool add(const Stmt& s, const std::string& producer) {
    if (const auto* block = s.as<Block>())
      return add(block->first, producer) && add(block->rest, producer);
    if (const auto* produce = s.as<ProducerConsumer>())
      return add(produce->body, produce->is_producer ? produce->name : producer);
    if (const auto* let = s.as<LetStmt>()) {
      // What is read changes from phase to phase: that let is part of the work.
      if (!reads_block_memory(let->value, memory_, bounds_)) {
        const std::string name = unique_name(let->name);  // it is for all that follow
        bounds_.push(name, bounds_of_expr_in_scope(let->value, bounds_));
        all.push_back({BlockItem::let, name, let->value, {}, {}, {}});
        return add(substitute(let->name, Variable::make(let->value.type(), name), let->body),
                   producer);
      }
    }
    const auto* test = s.as<IfThenElse>();
    const bool has_parts = test != nullptr && !test->else_case.defined() &&
                           (has_meeting(s) || test->then_case.as<ProducerConsumer>() != nullptr) &&
                           !reads_block_memory(test->condition, memory_, bounds_);
    if (has_parts) {
      // The same for all threads where they meet.
      const size_t first = all.size();
      if (!add(test->then_case, producer)) return false;
      for (size_t n = first; n < all.size(); ++n)
        if (all[n].kind == BlockItem::copy || all[n].kind == BlockItem::work)
          all[n].stmt = IfThenElse::make(test->condition, all[n].stmt);
      return true;
    }
    if (is_meeting(s)) {
      all.push_back({BlockItem::meeting, "", {}, s, {}, {}});
      return true;
    }
    Effects effects(memory_, bounds_);
    s.accept(&effects);
    const auto kind = effects.is_copy() ? BlockItem::copy : BlockItem::work;
    all.push_back({kind, producer, {}, s, effects.loads, effects.stores});
    if (effects.is_copy()) copied_.merge(effects.loaded);
    stored_.merge(effects.stored);
    return effects.is_known && !(effects.has_meeting && s.as<For>() == nullptr);
  }

 private:
  const BlockMemory& memory_;
  Bounds& bounds_;
  std::set<std::string> copied_, stored_;  // names of what copies read, and works store
};

constexpr size_t kNone = SIZE_MAX, kUnclear = SIZE_MAX - 1;
// The last phase up to `k` that copies what is loaded.
size_t use_of(const std::vector<BlockPhase>& phases, size_t k, const SharedRange& load) {
  for (size_t n = k + 1; n-- > 0;) {
    for (const auto& [name, r] : phases[n].regions) {
      if (r.at.holds(load)) return n;
      if (r.at.meets(load)) return kUnclear;
    }
  }
  // What was copied in a round before would be lost.
  for (const BlockPhase& p : phases)
    for (const auto& [name, r] : p.regions)
      if (r.at.meets(load)) return kUnclear;
  return kNone;
}

// Finds which phase reads what is copied; whether that is all clear.
bool find_uses(std::vector<BlockPhase>& phases) {
  for (size_t k = 0; k < phases.size(); ++k) {
    std::vector<const CopiedRegion*> here;
    for (auto& [name, r] : phases[k].regions) {
      r.last_use = k;
      for (const CopiedRegion* other : here)
        if (other->at.meets(r.at)) return false;
      here.push_back(&r);
    }
    for (const BlockItem& item : phases[k].works) {
      for (const SharedRange& load : item.loads) {
        if (item.own().holds(load)) continue;
        if (item.own().meets(load)) return false;
        const size_t n = use_of(phases, k, load);
        if (n == kUnclear) return false;
        if (n == kNone) continue;
        for (auto& [name, r] : phases[n].regions)
          if (r.at.holds(load)) r.last_use = k;
      }
    }
  }
  return true;
}

}  // namespace

bool begins_copy(const Call& call) {
  constexpr std::string_view kBeginning[] = {kCopyCall, kCopyNumberCall};
  return std::ranges::find(kBeginning, call.name) != std::end(kBeginning);
}

BoundName::BoundName(Bounds& bounds, const std::string& name, const Expr& value)
    : bounds_(bounds), name_(name) {
  bounds.push(name, bounds_of_expr_in_scope(value, bounds));
}

BoundName::BoundName(Bounds& bounds, const For& loop) : bounds_(bounds), name_(loop.name) {
  const Interval first = bounds_of_expr_in_scope(loop.min, bounds);
  const Interval last = bounds_of_expr_in_scope(loop.min + loop.extent - 1, bounds);
  bounds.push(name_, Interval(first.min, last.max));
}

bool reads_block_memory(const Expr& value, const BlockMemory& memory, const Bounds& bounds) {
  Effects effects(memory, bounds);
  value.accept(&effects);
  return effects.loads_own || !effects.loads.empty() || !effects.is_known;
}

std::vector<BlockItem> items_of(const Stmt& body, const BlockMemory& memory, Bounds& bounds) {
  Items items(memory, bounds);
  const bool is_known = items.add(body, "") && items.have_constant_copies();
  return is_known ? items.all : std::vector<BlockItem>();
}

std::vector<BlockPhase> phases_of(const std::vector<BlockItem>& items) {
  std::vector<BlockPhase> phases;
  // Where threads do not meet, not all of them need be there.
  const auto meets = [](const BlockItem& item) { return item.kind == BlockItem::meeting; };
  if (std::ranges::none_of(items, meets)) return {};
  std::vector<BlockItem> before;  // of the first copy
  bool works = true;
  for (const BlockItem& item : items) {
    if (item.kind == BlockItem::copy) {
      if (works || phases.empty()) phases.emplace_back();
      works = false;
      phases.back().copies.push_back(item);
      for (const SharedRange& r : item.stores) phases.back().regions[item.name].at.add(r);
      continue;
    }
    if (item.kind == BlockItem::let) continue;
    if (item.kind == BlockItem::meeting) {
      // Where works follow in the same phase; else it is the phase's own.
      if (!phases.empty() && !phases.back().works.empty()) phases.back().works.push_back(item);
      continue;
    }
    if (phases.empty() && !(item.loads.empty() && item.stores.empty())) return {};
    if (!item.loads.empty()) works = true;
    (phases.empty() ? before : phases.back().works).push_back(item);
  }
  for (BlockPhase& p : phases)
    while (!p.works.empty() && p.works.back().kind == BlockItem::meeting) p.works.pop_back();
  if (!phases.empty())
    phases[0].works.insert(phases[0].works.begin(), before.begin(), before.end());
  return find_uses(phases) ? phases : std::vector<BlockPhase>();
}

}  // namespace attn::lower
