#include <algorithm>

#include "compiler/plan/function.h"
#include "compiler/plan/verify.h"

namespace attn::plan {
namespace {

using namespace ir;

// Runs the kernels on names: what each place in memory holds.
class Run {
 public:
  Run(const Function& f, const std::vector<Slot>& slots, bool with_saved)
      : f_(f), with_saved_(with_saved) {
    for (size_t n = 0; n < slots.size(); ++n)
      for (TensorId t : slots[n].tensors) {
        require(has_slot(f.places[t.value]), t, "in a slot though it lives elsewhere");
        require(slots_.emplace(t, n).second, t, "in two slots");
      }
  }

  void run() {
    for (const Kernel& k : f_.checks) call(k);
    size_t end = 0;
    for (const Loop& loop : f_.loops) {
      ATTN_CHECK(loop.first >= end && loop.end >= loop.first && loop.end <= f_.kernels.size(),
                 "loops that overlap");
      for (; end < loop.first; ++end) call(f_.kernels[end]);
      // The second step finds what the first leaves.
      for (int step = 0; step < 2; ++step) {
        step_ = step;
        for (size_t n = loop.first; n < loop.end; ++n) call(f_.kernels[n]);
      }
      step_ = -1;
      end = loop.end;
    }
    for (; end < f_.kernels.size(); ++end) call(f_.kernels[end]);
    for (const Output& o : f_.graph.outputs)
      require(written_.count(o.tensor) ||
                  (f_.places.at(o.tensor.value) != Place::result && !o.updates.valid()),
              o.tensor, "a result that no kernel writes");
  }

 private:
  void require(bool holds, TensorId t, std::string_view what) const {
    plan::require(holds, f_, t, what);
  }

  bool has_slot(Place p) const {
    return p == Place::workspace || (p == Place::saved && with_saved_);
  }

  void call(const Kernel& k) {
    for (TensorId t : k.reads) read(t);
    for (TensorId t : k.writes) check_written_over(k, t);
    for (TensorId t : k.writes) write(t);
  }

  void read(TensorId t) {
    const Place place = f_.places.at(t.value);
    const Output* next = f_.graph.update_of(t);
    require(!next || !written_.count(next->tensor), t, "a read of a state that has changed");
    if (place == Place::given || place == Place::forwarded) return;
    // Forward saves what backward finds saved; the first step reads nothing of the one before.
    const bool is_argument = f_.graph[t].role == Role::input;
    const TensorId in_memory = whole_of(f_, t);
    if (place == Place::saved && is_argument) return;
    if (step_ == 0 && in_memory == t && is_whole(t)) return;
    require(written_.count(in_memory), t, "a read before it is written");
    if (auto slot = slots_.find(in_memory); slot != slots_.end())
      require(holds_[slot->second] == in_memory, t, "a read after its slot went to another");
  }

  // What a kernel reads is not written over before it is read.
  void check_written_over(const Kernel& k, TensorId t) const {
    const auto slot = slots_.find(whole_of(f_, t));
    const auto held = slot == slots_.end() ? holds_.end() : holds_.find(slot->second);
    if (held == holds_.end() || held->second == slot->first) return;
    for (TensorId r : k.reads)
      require(whole_of(f_, r) != held->second || writes_over(f_.graph, k, t, r), r,
              "written over while it is read");
  }

  bool is_whole(TensorId t) const {
    return std::ranges::any_of(f_.slices, [&](const Slice& s) { return s.whole == t; });
  }

  void write(TensorId t) {
    const TensorId in_memory = whole_of(f_, t);
    const Place place = f_.places.at(in_memory.value);
    require(place == Place::result || place == Place::updated || place == Place::workspace ||
                place == Place::saved,
            t, "written where it has no place");
    require(written_.insert(in_memory).second || step_ == 1, t, "written twice");
    if (!has_slot(place)) return;
    auto slot = slots_.find(in_memory);
    require(slot != slots_.end(), t, "in the workspace without a slot");
    holds_[slot->second] = in_memory;
  }

  const Function& f_;
  const bool with_saved_;  // what would be saved has slots, too
  std::map<TensorId, size_t> slots_;
  std::map<size_t, TensorId> holds_;
  std::set<TensorId> written_;
  int step_ = -1;  // of the loop that runs: 0, 1
};

}  // namespace

void verify_memory(const Function& f) {
  Run(f, f.workspace, false).run();
  if (f.kind == FunctionKind::forward && !f.saved.empty()) Run(f, f.unsaved, true).run();
}

}  // namespace attn::plan
