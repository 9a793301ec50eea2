#include <algorithm>
#include <limits>
#include <set>

#include "compiler/plan/function.h"
#include "compiler/plan/verify.h"

namespace attn::plan {
namespace {

using namespace ir;

// Runs the kernels on names: which tensors memory holds, where all that may share memory does.
class Run {
 public:
  Run(const Function& f, const std::vector<Life>& lives)
      : f_(f), all_(lives), is_intact_(f.graph.tensors.size(), false) {
    lives_.resize(f.graph.tensors.size());
    for (const Life& life : lives) {
      require(may_live(life.tensor), life.tensor, "a life of what is elsewhere");
      require(!life_of(life.tensor), life.tensor, "two lives");
      require(!life.of_step || lies_by_step(life.tensor), life.tensor,
              "a step of what does not lie step by step");
      lives_[life.tensor.value] = &life;
      is_intact_[life.tensor.value] = is_argument(f.graph[life.tensor].role);
    }
    for (const Life& life : lives) require_over(life);
    for (const Life& life : lives) require_in_step(life);
    for (const Life& life : lives) require_if_saved(life);
  }

  void run() {
    for (const Kernel& k : f_.checks) call(k);
    size_t end = 0;
    for (const Loop& loop : f_.loops) {
      ATTN_CHECK(loop.first >= end && loop.end >= loop.first && loop.end <= f_.kernels.size(),
                 "loops that overlap");
      run_to(loop.first, end);
      // The second step finds what the first leaves.
      for (int step = 0; step < 2; ++step) {
        step_ = step;
        forget_steps();
        end = loop.first;
        run_to(loop.end, end);
      }
      step_ = -1;
    }
    run_to(f_.kernels.size(), end);
    for (const Output& o : f_.graph.outputs) {
      const bool is_result = f_.places.at(o.tensor.value) == Place::result;
      require(written_.count(o.tensor) || (!is_result && !o.updates.valid()), o.tensor,
              "a result that no kernel writes");
      require(!is_result || !life_of(o.tensor) || is_intact_[o.tensor.value], o.tensor,
              "a result whose memory went to another");
    }
  }

 private:
  void require(bool holds, TensorId t, std::string_view what) const {
    plan::require(holds, f_, t, what);
  }

  Place place_of(TensorId t) const { return f_.places.at(t.value); }
  const Life* life_of(TensorId t) const { return lives_.at(t.value); }

  bool may_live(TensorId t) const {
    const Place p = place_of(t);
    return p == Place::workspace || p == Place::saved || p == Place::result ||
           (p == Place::given && is_derivative(f_.graph[t].role));
  }

  // A step finds nothing of another in what holds one of them.
  void forget_steps() {
    for (const Life& life : all_)
      if (life.of_step) is_intact_[life.tensor.value] = false;
  }

  bool lies_by_step(TensorId t) const {
    const auto slice = std::ranges::find(f_.slices, t, &Slice::whole);
    return slice != f_.slices.end() && plan::lies_by_step(f_, *slice);
  }

  // What memory must hold of what a kernel takes.
  bool needs_life(TensorId t) const {
    return may_live(t) && (place_of(t) != Place::result || f_.kind != FunctionKind::update);
  }

  void require_over(const Life& life) const {
    if (!life.over.valid()) return;
    const Life* other = life_of(life.over);
    const auto is_own = [&](TensorId t) {
      return place_of(t) == Place::workspace || place_of(t) == Place::saved;
    };
    require(other && (is_own(life.tensor) || place_of(life.tensor) == Place::result) &&
                is_own(life.over) && other->last == life.first,
            life.tensor, "in the memory of what does not end");
    const auto is_written_over = [&](const Kernel& k) {
      const auto taken = [&](const Life& of) {
        return of.of_step ? taken_of(f_, k, of.tensor) : of.tensor;
      };
      return writes_over(f_.graph, k.form, k.writes, taken(life), taken(*other));
    };
    require(life.first > 0 && life.first <= static_cast<int>(f_.kernels.size()) &&
                is_written_over(f_.kernels[life.first - 1]),
            life.tensor, "written over while it is read");
  }

  void require_if_saved(const Life& life) const {
    if (!life.if_saved) return;
    require(f_.kind == FunctionKind::forward && place_of(life.tensor) == Place::saved, life.tensor,
            "left out, though a call may want it");
    for (const auto* list : {&f_.checks, &f_.kernels})
      for (const Kernel& k : *list)
        for (TensorId t : k.arguments())
          require(whole_of(f_, t) != life.tensor || kept_of(k.form) == t, life.tensor,
                  "left out, though a kernel needs it");
  }

  // What a loop's first step leaves alone before a kernel, or after one of what forward saved.
  void require_in_step(const Life& life) const {
    if (!life.in_step) return;
    const bool is_kernel = life.in_step > 0 && life.in_step <= static_cast<int>(f_.kernels.size());
    const Loop* loop = is_kernel ? loop_of(f_, life.in_step - 1) : nullptr;
    require(loop != nullptr, life.tensor, "a step of no loop");
    const bool is_saved = is_argument(f_.graph[life.tensor].role);
    const bool ends = ends_by_blocks(life, *loop);
    if (is_saved) {
      const bool is_all = std::ranges::all_of(f_.slices, [&](const Slice& s) {
        return s.whole != life.tensor || is_taken_by(f_, s.tensor, *loop);
      });
      require(lies_by_step(life.tensor) && place_of(life.tensor) == Place::saved && is_all,
              life.tensor, "taken by steps that are not its own");
    } else if (!ends) {
      require(life.first == static_cast<int>(loop->first) + 1, life.tensor,
              "needed before the loop");
    }
    for (const Kernel& k : f_.checks)
      for (TensorId t : k.arguments())
        require(ends || t != life.tensor, t, "needed at another time in a step");
    for (size_t n = 0; n < f_.kernels.size(); ++n) {
      const int moment = static_cast<int>(n) + 1;
      if (ends && loop_of(f_, n) != loop) continue;
      for (TensorId t : f_.kernels[n].arguments()) {
        if (whole_of(f_, t) != life.tensor) continue;
        require(is_saved || ends
                    ? t != life.tensor && loop_of(f_, n) == loop && moment <= life.in_step
                    : moment >= life.in_step,
                life.tensor, "needed at another time in a step");
      }
    }
  }

  // Of what is in the workspace from before a loop until its end, each step takes a block.
  bool ends_by_blocks(const Life& life, const Loop& loop) const {
    return place_of(life.tensor) == Place::workspace &&
           life.first <= static_cast<int>(loop.first) && life.last == static_cast<int>(loop.end) &&
           std::ranges::all_of(f_.slices, [&](const Slice& s) {
             return s.whole != life.tensor || (s.block > 0 && is_taken_by(f_, s.tensor, loop));
           });
  }

  void run_to(size_t end, size_t& n) {
    for (; n < end; ++n) {
      now_ = static_cast<int>(n) + 1;
      call(f_.kernels[n]);
    }
  }

  void call(const Kernel& k) {
    for (TensorId t : k.reads) read(t);
    for (TensorId t : k.writes) write(t);
    for (TensorId t : k.arguments()) {
      require_alive(whole_of(f_, t));
      const Life* life = life_of(t);
      require(!life || !life->of_step, t, "taken as a whole, of which a step is in memory");
    }
  }

  void require_alive(TensorId t) const {
    if (!needs_life(t)) return;
    const Life* life = life_of(t);
    require(life && life->first <= now_ && now_ <= life->last, t, "needed outside its life");
    // What is zeroed for who does not give it is so before the first kernel.
    require(place_of(t) != Place::given || life->first == 0, t, "given after the first kernel");
  }

  void read(TensorId t) {
    const Output* next = f_.graph.update_of(t);
    require(!next || !written_.count(next->tensor), t, "a read of a state that has changed");
    // The first step reads nothing of the one before.
    const TensorId in_memory = whole_of(f_, t);
    if (step_ == 0 && in_memory == t && is_whole(t)) return;
    require(is_argument(f_.graph[in_memory].role) || written_.count(in_memory), t,
            "a read before it is written");
    require(!life_of(in_memory) || is_intact_[in_memory.value], t,
            "a read after its memory went to another");
  }

  bool is_whole(TensorId t) const {
    return std::ranges::any_of(f_.slices, [&](const Slice& s) { return s.whole == t; });
  }

  // The memory of a result is its own from its first kernel on; that of what forward saved, until
  // its last.
  bool may_share(const Life& a, const Life& b) const {
    constexpr int kEnd = std::numeric_limits<int>::max();
    const auto first = [&](const Life& life) {
      return is_argument(f_.graph[life.tensor].role) ? 0 : life.first;
    };
    const auto last = [&](const Life& life) {
      return place_of(life.tensor) == Place::result ? kEnd : life.last;
    };
    return last(a) < first(b) || last(b) < first(a) || (a.over == b.tensor && b.last == a.first) ||
           (b.over == a.tensor && a.last == b.first);
  }

  void write(TensorId t) {
    const TensorId in_memory = whole_of(f_, t);
    const Place place = place_of(in_memory);
    require(place == Place::result || place == Place::updated || place == Place::workspace ||
                (place == Place::saved && !is_argument(f_.graph[in_memory].role)),
            t, "written where it has no place");
    const bool is_first = written_.insert(in_memory).second;
    require(is_first || step_ == 1, t, "written twice");
    const Life* life = life_of(in_memory);
    if (!life) return;
    // A step leaves those before it as they are.
    if (is_first || t == in_memory || life->of_step) is_intact_[in_memory.value] = true;
    for (const Life& other : all_)
      if (other.tensor != in_memory && may_share(*life, other))
        is_intact_[other.tensor.value] = false;
  }

  const Function& f_;
  const std::vector<Life>& all_;
  std::vector<const Life*> lives_;  // by tensor
  std::vector<bool> is_intact_;     // by tensor: it was written, and nothing over it since
  std::set<TensorId> written_;
  int now_ = 0;    // the kernel that runs; 0: a check
  int step_ = -1;  // of the loop that runs: 0, 1
};

}  // namespace

void verify_memory(const Function& f) {
  Run(f, f.lives).run();
  if (f.unsaved_lives.empty()) return;
  require(std::ranges::equal(f.unsaved_lives, f.lives, {}, &Life::tensor, &Life::tensor), f,
          f.unsaved_lives[0].tensor, "other tensors where nothing is saved");
  Run(f, f.unsaved_lives).run();
}

}  // namespace attn::plan
