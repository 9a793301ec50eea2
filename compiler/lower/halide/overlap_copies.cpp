// A block of threads copies what it multiplies to shared memory, meets, multiplies, and meets
// again: all of them wait for memory each time. Here what the next phase of a loop needs is copied
// while the block works on this one:
//
//   loop { copy 1; meet; work 1; meet; copy 2; meet; work 2; meet }
//
// becomes, if copies are begun, and waited for where threads meet (write_shared_addresses),
//
//   copy 1;  loop { meet; copy 2; work 1; meet; copy 1 of the next round; work 2 }
//
// Each copy gets memory of its own, two of it where a round's is still read while the next round's
// is written. A loop that this does not describe stays as it is.
#include <optional>
#include <utility>

#include "compiler/lower/halide/block_phases.h"
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

// Bytes that a block takes: one fits on a multiprocessor of 100 KB, two on an H100's.
constexpr int64_t kMostShared = 96 << 10;

const Type kWord = Halide::UInt(32);

Stmt meeting() {
  constexpr int kShared = 2;
  return Evaluate::make(
      Call::make(Halide::Int(32), Call::gpu_thread_barrier, {kShared}, Call::Intrinsic));
}

// Evaluated only where the condition holds; else 0.
Expr where(const Expr& condition, const Expr& word) {
  return Call::make(kWord, Call::if_then_else, {condition, word, make_zero(kWord)},
                    Call::PureIntrinsic);
}

// Where a region is instead.
struct Place {
  SharedRange before;
  int64_t at = 0, odd = 0;  // the first byte; and in odd rounds
};

// Shared memory at its new places.
class Moved : public IRMutator {
 public:
  // Of places that hold the same byte, the first counts. `odd`: 1 in odd rounds, else 0.
  Moved(const std::string& shared, const std::vector<Place>& places, const Expr& odd,
        const Bounds& bounds)
      : shared_(shared), places_(places), odd_(odd) {
    bounds_.set_containing_scope(&bounds);
  }

  std::vector<BlockItem> moved(std::vector<BlockItem> items) {
    for (BlockItem& item : items) {
      item_ = &item;
      item.stmt = mutate(item.stmt);
    }
    return items;
  }

 private:
  using IRMutator::visit;

  Expr moved(const Type& type, const Expr& index) {
    const int bytes = type.bytes();
    const Interval i = bounds_of_expr_in_scope(index, bounds_);
    const auto first = as_const_int(simplify(i.min));
    if (!first || item_->own().holds({*first * bytes, *first * bytes})) return index;
    for (const Place& p : places_) {
      if (!p.before.holds({*first * bytes, *first * bytes})) continue;
      Expr by = static_cast<int>((p.at - p.before.first) / bytes);
      if (p.odd != p.at) by = by + odd_ * static_cast<int>((p.odd - p.at) / bytes);
      return index + by;
    }
    return index;
  }
  Expr visit(const Let* op) override {
    BoundName bound(bounds_, op->name, op->value);
    return IRMutator::visit(op);
  }
  Stmt visit(const LetStmt* op) override {
    BoundName bound(bounds_, op->name, op->value);
    return IRMutator::visit(op);
  }
  Stmt visit(const For* op) override {
    BoundName bound(bounds_, *op);
    return IRMutator::visit(op);
  }
  Expr visit(const Load* op) override {
    if (!(shared_ == op->name)) return IRMutator::visit(op);
    return Load::make(op->type, op->name, moved(op->type.element_of(), mutate(op->index)),
                      op->image, op->param, mutate(op->predicate), ModulusRemainder());
  }
  Stmt visit(const Store* op) override {
    if (!(shared_ == op->name)) return IRMutator::visit(op);
    return Store::make(op->name, mutate(op->value),
                       moved(op->value.type().element_of(), mutate(op->index)), op->param,
                       mutate(op->predicate), ModulusRemainder());
  }

  const std::string& shared_;
  const std::vector<Place> places_;
  const Expr odd_;
  const BlockItem* item_ = nullptr;
  Bounds bounds_;
};

class OverlapCopies : public IRMutator {
  using IRMutator::visit;

  // ---- what is around the loop
  Stmt visit(const Allocate* op) override {
    const bool is_shared = op->memory_type == Halide::MemoryType::GPUShared;
    if (!is_shared && in_kernel_) memory_.own.insert(op->name);
    if (!is_shared || !memory_.shared.empty()) return IRMutator::visit(op);
    const auto extent = op->extents.size() == 1 ? as_const_int(op->extents[0]) : std::nullopt;
    if (!extent) return IRMutator::visit(op);
    memory_.shared = op->name;
    shared_bytes_ = (*extent * op->type.bytes() + 15) / 16 * 16;
    added_bytes_ = 0;
    const Stmt body = mutate(op->body);
    const int64_t all = shared_bytes_ + added_bytes_;
    memory_.shared.clear();
    return Allocate::make(op->name, op->type, op->memory_type,
                          {static_cast<int>(all / op->type.bytes())}, op->condition, body);
  }
  Stmt visit(const LetStmt* op) override {
    BoundName bound(bounds_, op->name, op->value);
    return IRMutator::visit(op);
  }
  Stmt visit(const For* op) override {
    if (op->for_type == ForType::GPUThread) {
      BoundName bound(bounds_, *op);
      return IRMutator::visit(op);
    }
    if (op->for_type == ForType::GPUBlock && !in_kernel_) {
      in_kernel_ = true;
      Stmt s = IRMutator::visit(op);
      in_kernel_ = false;
      return s;
    }
    if (op->for_type != ForType::Serial || memory_.shared.empty()) return IRMutator::visit(op);
    if (const Stmt s = overlapped(*op); s.defined()) return s;
    return IRMutator::visit(op);
  }

  // ---- the loop
  struct Guard {
    std::string name;  // of a let; empty: a condition
    Expr value;
  };
  // Lets and conditions around all of the body.
  static Stmt within(Stmt s, std::vector<Guard>& guards) {
    while (true) {
      const auto* let = s.as<LetStmt>();
      const auto* test = s.as<IfThenElse>();
      if (let != nullptr) {
        guards.push_back({let->name, let->value});
        s = let->body;
      } else if (test != nullptr && !test->else_case.defined()) {
        guards.push_back({"", test->condition});
        s = test->then_case;
      } else {
        return s;
      }
    }
  }
  // The places of all regions, by phase and name; what is added to the memory of the block.
  using Places = std::vector<std::map<std::string, Place>>;
  std::pair<Places, int64_t> places_of(const std::vector<BlockPhase>& phases) const {
    Places places(phases.size());
    int64_t added = 0;
    std::vector<SharedRange> kept;
    for (const BlockPhase& p : phases)
      for (const BlockItem& item : p.works)
        kept.insert(kept.end(), item.stores.begin(), item.stores.end());
    const auto take = [&](const CopiedRegion& r) {
      added += r.bytes();
      return shared_bytes_ + added - r.bytes();
    };
    for (size_t k = 0; k < phases.size(); ++k) {
      for (const auto& [name, r] : phases[k].regions) {
        const auto meets = [&, &r = r](const SharedRange& other) { return other.meets(r.at); };
        const bool stays = std::ranges::none_of(kept, meets);
        if (stays) kept.push_back(r.at);
        Place& p = places[k][name];
        p.before = r.at;
        p.at = stays ? r.at.first : take(r);
        p.odd = k == 0 && r.last_use + 1 == phases.size() ? take(r) : p.at;
      }
    }
    return {places, added};
  }

  // `items`, and the lets that they ask for.
  static Stmt in_order(const std::vector<BlockItem>& items, const std::vector<BlockItem>& lets) {
    Stmt s;
    for (size_t n = items.size(); n-- > 0;)
      s = s.defined() ? Block::make(items[n].stmt, s) : items[n].stmt;
    for (size_t n = lets.size(); n-- > 0;)
      if (s.defined() && lets[n].kind == BlockItem::let && stmt_uses_var(s, lets[n].name))
        s = LetStmt::make(lets[n].name, lets[n].value, s);
    return s;
  }

  Stmt overlapped(const For& loop) {
    std::vector<Guard> guards;
    Bounds bounds;
    bounds.set_containing_scope(&bounds_);
    const Stmt body = within(loop.body, guards);
    for (const Guard& g : guards) {
      if (reads_block_memory(g.value, memory_, bounds)) return {};
      if (!g.name.empty()) bounds.push(g.name, bounds_of_expr_in_scope(g.value, bounds));
    }
    const std::vector<BlockItem> items = items_of(body, memory_, bounds);
    const std::vector<BlockPhase> phases = phases_of(items);
    if (phases.empty()) return {};
    const auto [places, added] = places_of(phases);
    if (shared_bytes_ + added > kMostShared) return {};
    added_bytes_ = std::max(added_bytes_, added);

    const Expr round = Variable::make(Halide::Int(32), loop.name);
    std::vector<Stmt> copies, works;
    std::vector<Place> of_phase;  // the latest first
    for (size_t k = 0; k < phases.size(); ++k) {
      for (const auto& [name, p] : places[k]) of_phase.insert(of_phase.begin(), p);
      Moved move(memory_.shared, of_phase, round & 1, bounds);
      copies.push_back(in_order(move.moved(phases[k].copies), items));
      works.push_back(in_order(move.moved(phases[k].works), items));
      if (!works.back().defined()) return {};
    }
    // Whether the body of a round is not skipped.
    Expr word = make_one(kWord);
    for (size_t n = guards.size(); n-- > 0;)
      word = guards[n].name.empty() ? where(guards[n].value, word)
                                    : Let::make(guards[n].name, guards[n].value, word);
    const auto with_lets = [&](Stmt s) {
      for (size_t n = guards.size(); n-- > 0;)
        if (!guards[n].name.empty() && stmt_uses_var(s, guards[n].name))
          s = LetStmt::make(guards[n].name, guards[n].value, s);
      return s;
    };
    const Expr is_next =
        where(round + 1 < loop.min + loop.extent, substitute(loop.name, round + 1, word));
    const auto if_next = [&](const Stmt& s) {
      return IfThenElse::make(is_next != make_zero(kWord), s);
    };
    const Stmt copy_next = substitute(loop.name, round + 1, with_lets(copies[0]));
    Stmt of_round;
    for (size_t k = phases.size(); k-- > 0;) {
      const Stmt copy = k + 1 < phases.size() ? copies[k + 1] : if_next(copy_next);
      const Stmt phase = Block::make({meeting(), copy, works[k]});
      of_round = of_round.defined() ? Block::make(phase, of_round) : phase;
    }
    const auto rounds = [&](const Expr& first, const Stmt& s) {
      return For::make(loop.name, first, loop.min + loop.extent - first, loop.for_type,
                       loop.partition_policy, loop.device_api, s);
    };
    if (std::ranges::all_of(guards, [](const Guard& g) { return !g.name.empty(); })) {
      const Stmt first = substitute(loop.name, loop.min, with_lets(copies[0]));
      return Block::make({IfThenElse::make(loop.extent > 0, Block::make(meeting(), first)),
                          rounds(loop.min, with_lets(of_round)), meeting()});
    }
    // The round before the first, and one that is skipped, copy for the next alone.
    const Expr is_round = where(round >= loop.min, word) != make_zero(kWord);
    const Stmt either =
        IfThenElse::make(is_round, with_lets(of_round), if_next(Block::make(meeting(), copy_next)));
    return Block::make(rounds(loop.min - 1, either), meeting());
  }

  bool in_kernel_ = false;
  BlockMemory memory_;
  int64_t shared_bytes_ = 0, added_bytes_ = 0;
  Bounds bounds_;
};

}  // namespace

void overlap_copies(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new OverlapCopies);
}

}  // namespace attn::lower
