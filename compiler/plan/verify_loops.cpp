// The checker of loops: which kernels are in them, and what each step takes of the others.
#include <algorithm>

#include "compiler/ir/under.h"
#include "compiler/plan/function.h"
#include "compiler/plan/verify.h"
#include "compiler/solve/prove.h"

namespace attn::plan {
namespace {

using namespace ir;

class LoopChecker {
 public:
  explicit LoopChecker(const Function& f) : f_(f) {}

  // A kernel is in the loop whose step it takes; it reads what steps before have left.
  void run() const {
    std::set<TensorId> steps;
    for (const Slice& s : f_.slices) {
      steps.insert(s.tensor);
      if (is_argument(f_.graph[s.tensor].role))
        check_given(s);
      else
        require(std::ranges::any_of(f_.loops,
                                    [&](const Loop& loop) { return written_in(s.tensor, loop); }),
                s.tensor, "a step that no loop writes");
    }
    for (const Loop& loop : f_.loops) {
      require(loop.first < loop.end && loop.end <= f_.kernels.size(), "a loop of no kernels");
      std::set<TensorId> done;  // of this step
      for (size_t n = 0; n < f_.kernels.size(); ++n) {
        const Kernel& k = f_.kernels[n];
        const auto any = [&](const std::vector<TensorId>& list, const std::set<TensorId>& of) {
          return std::ranges::any_of(list, [&](TensorId t) { return of.count(t) > 0; });
        };
        const bool takes = std::ranges::count(k.sizes, loop.steps.step);
        const bool inside = n >= loop.first && n < loop.end;
        require(inside ? takes || any(k.arguments(), steps) || any(k.reads, done) : !takes,
                k.writes[0], "a loop around another kernel's work");
        if (inside) done.insert(k.writes.begin(), k.writes.end());
      }
      for (const Slice& s : f_.slices)
        if (written_in(s.tensor, loop)) {
          if (!s.dimension) {
            check_summed(s, loop);
            continue;
          }
          if (s.block > 0) check_blocks(s, loop);
          if (is_rolled(f_, s)) check_rolled(s, loop);
          check_carried(s, loop);
        }
    }
  }

 private:
  void require(bool holds, std::string_view what) const { plan::require(holds, f_, what); }
  void require(bool holds, TensorId t, std::string_view what) const {
    plan::require(holds, f_, t, what);
  }

  // Blocks are all that there is of a tensor, and no step takes those of others.
  void check_blocks(const Slice& s, const Loop& loop) const {
    require(is_taken_by(f_, s.tensor, loop), s.tensor, "blocks of another loop");
    require(!loop.steps.down, s.tensor, "blocks from the last to the first");
    for (size_t n = loop.first; n < loop.end; ++n)
      require(!std::ranges::count(f_.kernels[n].reads, s.whole), s.tensor,
              "a read of blocks that are not done");
  }

  // What is given is taken by the steps of one loop.
  void check_given(const Slice& s) const {
    const Loop* loop = nullptr;
    for (size_t n = 0; n < f_.kernels.size(); ++n) {
      if (!std::ranges::count(f_.kernels[n].reads, s.tensor)) continue;
      const Loop* own = loop_of(f_, n);
      require(own && (!loop || own == loop) && is_taken_by(f_, s.tensor, *own), s.tensor,
              "a step of another loop");
      loop = own;
    }
    require(loop, s.tensor, "a step that no loop takes");
  }

  bool written_in(TensorId t, const Loop& loop) const {
    for (size_t n = loop.first; n < loop.end; ++n)
      if (std::ranges::count(f_.kernels[n].writes, t)) return true;
    return false;
  }

  // Of a sum over steps each step reads what those before it have left, where it writes it anew.
  void check_summed(const Slice& s, const Loop& loop) const {
    const auto count = f_.graph.known(loop.steps.count);
    require(count && *count > 0, s.tensor, "a sum over steps of which there may be none");
    for (size_t n = loop.first; n < loop.end; ++n) {
      const Kernel& k = f_.kernels[n];
      const bool writes = std::ranges::count(k.writes, s.tensor) > 0;
      require(!std::ranges::count(k.reads, s.tensor) &&
                  (writes || !std::ranges::count(k.reads, s.whole)),
              s.tensor, "a read of a sum that is not complete");
      if (!writes) continue;
      require(writes_over(f_.graph, k.form, k.writes, s.tensor, s.whole), s.tensor,
              "a sum that is written over while it is read");
      for (const Definition& d : k.definitions)
        require(reads_only_if(is_later(loop.steps), d.body, s.whole), s.tensor,
                "a sum that does not begin at the first step");
    }
  }

  static bool reads_only_if(const Expr& condition, const Expr& e, TensorId t) {
    bool result = true;
    visit(e, [&](const Expr& x) {
      if (x.is(Kind::read) && x->tensor == t) result = false;
      if (!x.is(Kind::select) || !(x.args()[0] == condition)) return true;
      result = result && !tensors(x.args()[2]).count(t);
      return false;
    });
    return result;
  }

  // What has two steps in memory is read in its loop, and the last step later.
  void check_rolled(const Slice& s, const Loop& loop) const {
    require(f_.graph[s.whole].extents[*s.dimension] == kRolled &&
                f_.places.at(s.whole.value) == Place::workspace,
            s.tensor, "a loop of another number of steps");
    const auto is_at_end = [&](const Expr& read) {
      return f_.graph.known(loop.steps.count) &&
             read.args()[*s.dimension] == step_at_end(f_.graph, loop.steps);
    };
    for (size_t n = 0; n < f_.kernels.size(); ++n)
      for (const Definition& d : f_.kernels[n].definitions)
        require((n >= loop.first && n < loop.end) ||
                    std::ranges::all_of(read_sites(d, {s.whole}), is_at_end),
                s.tensor, "a read of steps that are not kept");
  }

  // The whole of what a loop writes is read there at steps that are done.
  void check_carried(const Slice& s, const Loop& loop) const {
    const Expr step = size_value(Poly::size(loop.steps.step));
    const bool rolls = is_rolled(f_, s);
    const auto check = [&](const Expr& read, const Conditions& known) {
      if (!read.is(Kind::read) || read->tensor != s.whole) return true;
      const Expr& at = read.args()[*s.dimension];
      if (rolls) {
        require(is_step_before(at, loop, known), s.tensor, "a read of a step that is gone");
        return true;
      }
      const Expr back = step - at;
      require(back.is(Kind::literal) &&
                  (loop.steps.down ? back->number.value() < 0 : back->number.value() > 0),
              s.tensor, "a read of a step that is not done");
      return true;
    };
    for (size_t n = loop.first; n < loop.end; ++n)
      for (const Definition& d : f_.kernels[n].definitions) {
        for (const Expr& c : d.guard) visit_under(c, {}, check);
        for (const Expr& p : d.position) visit_under(p, d.guard, check);
        visit_under(d.body, d.guard, check);
      }
  }

  // Conditions may have made it simpler.
  bool is_step_before(const Expr& at, const Loop& loop, const Conditions& known) const {
    const Expr before = step_before(loop.steps);
    return at == before ||
           solve::assume(f_.graph, at, known) == solve::assume(f_.graph, before, known);
  }

  const Function& f_;
};

}  // namespace

void verify_loops(const Function& f) { LoopChecker(f).run(); }

}  // namespace attn::plan
