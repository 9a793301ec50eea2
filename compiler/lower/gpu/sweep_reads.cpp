// What formulas of tiles read at a thread's places.
#include <algorithm>
#include <utility>

#include "compiler/lower/gpu/sweep.h"

namespace attn::lower::gpu {

namespace {

using namespace Halide::Internal;

const char *const kOwn = "own_position", *const kOther = "other_position";

Expr position(const char* name) { return Variable::make(Halide::Int(32), name); }

}  // namespace

// Gives positions their indices. Beyond the last, what is read repeats the last; what is computed
// of the index is not asked for.
class Sweep::AtPlaces : public IRMutator {
 public:
  explicit AtPlaces(Sweep& sweep) : sweep_(sweep) {}

 private:
  using IRMutator::visit;

  Expr visit(const Call* op) override {
    if (op->call_type != Call::Halide && op->call_type != Call::Image) return IRMutator::visit(op);
    if (!in_subscript_ && op->type.bits() == 32 && expr_uses_var(op, kOther) &&
        !expr_uses_var(op, kOwn))
      return sweep_.shared_read(op);
    const bool before = std::exchange(in_subscript_, true);
    Expr read = IRMutator::visit(op);
    in_subscript_ = before;
    return read;
  }
  Expr visit(const Variable* op) override {
    const bool is_own = expr_uses_var(op, kOwn);
    if (!is_own && !expr_uses_var(op, kOther)) return op;
    const Expr index = is_own ? sweep_.own_index() : sweep_.other_index();
    if (!in_subscript_) return hidden_index(index);
    return cut(index, is_own ? sweep_.own_extent_ : sweep_.other_extent_);
  }

  Sweep& sweep_;
  bool in_subscript_ = false;
};

Expr Sweep::at_places(const std::function<Expr(const Point&)>& formula) {
  const Expr own = position(kOwn), other = position(kOther);
  const Point symbols{batch(), of_.of_rows ? own : other, of_.of_rows ? other : own};
  return AtPlaces(*this).mutate(formula(symbols));
}

// What depends on the other position alone is read once a chunk, by all threads of the block, and
// shared by them. Its memory is there before that of anything else of the block: what comes later
// takes memory that is free again, however little of it.
void Sweep::add_reads() {
  const auto unknown = [](int) -> Expr { return 0.0f; };
  for (int k = 0; k <= of_.tile; ++k)
    at_places([&](const Point& p) { return spec_.value(k, p, 0.0f, unknown); });
  if (sum_) addend(0.0f, unknown);
  if (reads_.empty()) return;
  shared_reads_ = Func("out_reads");
  std::vector<Var> args = {m_, c_};
  args.insert(args.end(), summed_.begin(), summed_.end());
  args.push_back(h_);
  std::vector<Expr> values;
  for (const Expr& read : reads_)
    values.push_back(substitute(kOther, cut(c_ * scores_.columns() + m_, other_extent_), read));
  shared_reads_(args) = Tuple(values);
  Var across("across"), down("down");
  shared_reads_.bound(m_, 0, scores_.columns()).split(m_, down, across, scores_.threads_across);
  shared_reads_.gpu_threads(across, down).store_in(Halide::MemoryType::GPUShared);
  shared_reads_.compute_at(of_chunk());
  for (size_t n = 1; n < args.size(); ++n) shared_reads_.bound_extent(args[n], 1);
}

Expr Sweep::shared_read(const Expr& read) {
  const auto same = [&](const Expr& r) { return equal(r, read); };
  const auto found = std::ranges::find_if(reads_, same);
  const int number = static_cast<int>(found - reads_.begin());
  if (found == reads_.end()) reads_.push_back(read);
  if (!shared_reads_.defined()) return make_zero(read.type());
  std::vector<Expr> here = {scores_.column(u_, t_), c_};
  here.insert(here.end(), summed_.begin(), summed_.end());
  here.emplace_back(h_);
  return reads_.size() == 1 ? Expr(shared_reads_(here)) : Expr(shared_reads_(here)[number]);
}

}  // namespace attn::lower::gpu
