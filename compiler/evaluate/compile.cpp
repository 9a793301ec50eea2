// Turns a definition into flat code. Every subexpression is computed in the outermost loop that
// binds its indices. Conditions come first in each loop; sides of selects, `and` and `or` are
// computed only where they are reached, unless they move to an outer loop, where a read out of
// range gives NaN that nothing uses. Reads at places that depend on data never move, because they
// are checked.
#include <algorithm>
#include <unordered_map>

#include "compiler/evaluate/affine.h"
#include "compiler/evaluate/program.h"

namespace attn::evaluate {

using ir::Expr;
using ir::IndexId;
using ir::Kind;

namespace {

struct HashOf {
  size_t operator()(const Expr& e) const { return e->hash; }
};
template <class Value>
using ByExpr = std::unordered_map<Expr, Value, HashOf>;

// 0: no reads, 1: reads, 2: reads whose place depends on data. Conditions are tried in this order:
// the former may protect the latter.
enum class Reading { none, plain, from_data };

class Compiler {
 public:
  Compiler(const ir::Graph& g, const ir::Definition& d, const std::vector<int64_t>& sizes,
           const std::vector<Storage>& tensors, IndexId step)
      : g_(g), d_(d), sizes_(sizes), tensors_(tensors), step_(step) {}

  Program run() {
    choose_scattered();
    p_.loops.resize(1);
    for (IndexId i : d_.free)
      if (!placed_.count(i)) add_loop(i);
    p_.free_loops = static_cast<int>(p_.loops.size()) - 1;
    for (IndexId i : d_.reduced) add_loop(i);
    if (step_.valid()) p_.step_loop = loop_of_.at(step_);
    open_.resize(p_.loops.size());
    guards();
    strict_ = true;
    p_.result = emit(d_.body);
    place_target();
    return std::move(p_);
  }

 private:
  int64_t extent(IndexId i) const { return std::max<int64_t>(0, g_.value(g_[i].extent, sizes_)); }

  void add_loop(IndexId i) {
    loop_of_[i] = static_cast<int>(p_.loops.size());
    p_.loops.push_back({extent(i), new_register(0), {}});
  }

  // Free indices that an equality gives need no loop: n == token[b,i].
  void choose_scattered() {
    guard_ = std::vector<Expr>(d_.guard.begin(), d_.guard.end());
    if (d_.combine != ir::Combine::sum && d_.combine != ir::Combine::set) return;
    std::set<IndexId> used;  // by the values of indices placed before
    for (const Expr& c : d_.guard) {
      if (!c.is(Kind::is_zero) || reading(c) == Reading::from_data) continue;
      const Expr& e = c.args()[0];
      std::vector<Expr> terms = e.is(Kind::add) ? e.args() : std::vector<Expr>{e};
      for (const Expr& t : terms) {
        ir::Scaled s = ir::split_coefficient(t);
        int64_t sign = s.coefficient.integer;
        if (!s.rest.is(Kind::index) || (sign != 1 && sign != -1)) continue;
        IndexId n = s.rest->index;
        if (n == step_) continue;
        if (std::find(d_.free.begin(), d_.free.end(), n) == d_.free.end()) continue;
        Expr value = sign == 1 ? t - e : e - t;
        std::set<IndexId> needs = ir::indices(value);
        bool circular = used.count(n) || needs.count(n) ||
                        std::any_of(needs.begin(), needs.end(),
                                    [&](IndexId i) { return placed_.count(i) > 0; });
        if (circular || placed_.count(n)) continue;
        placed_[n] = value;
        used.merge(needs);
        std::erase(guard_, c);
        for (IndexId i : d_.reduced) p_.scattered = p_.scattered || ir::uses(value, i);
        break;
      }
    }
  }

  void guards() {
    for (const auto& [n, value] : placed_) {
      Expr last = Expr(extent(n)) - 1 - value;
      guard_.push_back(ir::at_least_zero(value));
      guard_.push_back(ir::at_least_zero(last));
    }
    for (const Expr& c : guard_)
      if (reading(c) != Reading::from_data) guard_loop_ = std::max(guard_loop_, loop(c));
    for (const Expr& c : guard_) guard_loop_ = std::max(guard_loop_, loop(c));
    std::stable_sort(guard_.begin(), guard_.end(), [&](const Expr& a, const Expr& b) {
      return std::pair(reading(a), loop(a)) < std::pair(reading(b), loop(b));
    });
    for (const Expr& c : guard_) {
      int32_t value = emit(c);
      append(loop(c), {Code::require, 0, value, 0});
    }
  }

  void place_target() {
    const std::vector<Expr> at = d_.position.empty() ? ir::index_values(d_.free) : d_.position;
    const std::vector<ir::Poly>& extents = g_[d_.target].extents;
    int64_t stride = 1;
    for (size_t k = at.size(); k-- > 0;) {
      const int64_t n = std::max<int64_t>(0, g_.value(extents[k], sizes_));
      p_.place.push_back({emit(at[k]), stride, n});
      stride *= n;
    }
  }

  // ---- facts about expressions

  Reading reading(const Expr& e) {
    if (auto it = readings_.find(e); it != readings_.end()) return it->second;
    Reading r = Reading::none;
    for (const Expr& a : e.args()) r = std::max(r, reading(a));
    if (e.is(Kind::read)) r = r == Reading::none ? Reading::plain : Reading::from_data;
    readings_.emplace(e, r);
    return r;
  }

  // The outermost loop that may compute e.
  int loop(const Expr& e) {
    int result = 0;
    if (reading(e) == Reading::from_data) result = std::max(guard_loop_, innermost_open());
    return std::max(result, innermost_index(e));
  }

  int innermost_index(const Expr& e) {
    if (auto it = loops_.find(e); it != loops_.end()) return it->second;
    int result = 0;
    if (e.is(Kind::index)) {
      auto it = placed_.find(e->index);
      result = it == placed_.end() ? loop_of_.at(e->index) : innermost_index(it->second);
    }
    for (const Expr& a : e.args()) result = std::max(result, innermost_index(a));
    loops_.emplace(e, result);
    return result;
  }

  int innermost_open() const {
    for (size_t k = open_.size(); k-- > 0;)
      if (open_[k]) return static_cast<int>(k);
    return 0;
  }

  // ---- code

  int32_t new_register(double value) {
    p_.registers.push_back(value);
    return static_cast<int32_t>(p_.registers.size()) - 1;
  }

  int32_t constant(double value) {
    auto [it, fresh] = constants_.try_emplace(value, 0);
    if (fresh) it->second = new_register(value);
    return it->second;
  }

  void append(int at, Instruction i) { p_.loops[at].code.push_back(i); }
  int32_t next(int at) const { return static_cast<int32_t>(p_.loops[at].code.size()); }

  int32_t put(int at, Code code, int32_t a, int32_t b = 0) {
    int32_t target = new_register(0);
    append(at, {code, target, a, b});
    return target;
  }

  int32_t emit(const Expr& e) {
    if (e.is(Kind::literal)) return constant(e->number.value());
    if (e.is(Kind::size)) return constant(static_cast<double>(g_.value(e->size, sizes_)));
    if (e.is(Kind::index)) {
      auto it = placed_.find(e->index);
      return it == placed_.end() ? p_.loops[loop_of_.at(e->index)].index : emit(it->second);
    }
    if (auto it = values_.find(e); it != values_.end()) return it->second;
    int at = loop(e);
    int32_t value = emit_at(e, at);
    values_.emplace(e, value);
    // What is computed on one side of a branch is not known after it.
    if (open_[at]) scopes_.back().push_back(e);
    return value;
  }

  int32_t emit_at(const Expr& e, int at) {
    const auto& x = e.args();
    switch (e.kind()) {
      case Kind::read:
        return emit_read(e, at);
      case Kind::add:
        return emit_chain(Code::add, x);
      case Kind::multiply:
        return emit_chain(Code::multiply, x);
      case Kind::power:
        return emit_power(e, at);
      case Kind::quotient:
        return emit_binary(Code::quotient, x[0], x[1], at);
      case Kind::remainder:
        return emit_binary(Code::remainder, x[0], x[1], at);
      case Kind::call:
        return emit_call(e, at);
      case Kind::select:
        return emit_select(e, at);
      case Kind::at_least_zero:
        return emit_unary(Code::at_least_zero, x[0], at);
      case Kind::is_zero:
        return emit_unary(Code::is_zero, x[0], at);
      case Kind::not_zero:
        return emit_unary(Code::not_zero, x[0], at);
      case Kind::negation:
        return emit_unary(Code::negation, x[0], at);
      case Kind::less:
        return emit_binary(Code::less, x[0], x[1], at);
      case Kind::at_most:
        return emit_binary(Code::at_most, x[0], x[1], at);
      case Kind::equal:
        return emit_binary(Code::equal, x[0], x[1], at);
      case Kind::both:
        return emit_lazily(x, Code::jump_if_false, at);
      case Kind::either:
        return emit_lazily(x, Code::jump_if_true, at);
      default:
        ATTN_CHECK(false, "an expression of no known kind");
    }
  }

  int32_t emit_unary(Code code, const Expr& a, int at) { return put(at, code, emit(a)); }

  int32_t emit_binary(Code code, const Expr& a, const Expr& b, int at) {
    int32_t left = emit(a), right = emit(b);
    return put(at, code, left, right);
  }

  // Outer loops first, so that what does not change is combined once.
  int32_t emit_chain(Code code, std::vector<Expr> x) {
    std::stable_sort(x.begin(), x.end(),
                     [&](const Expr& a, const Expr& b) { return loop(a) < loop(b); });
    int32_t value = emit(x[0]);
    int at = loop(x[0]);
    for (size_t k = 1; k < x.size(); ++k) {
      int32_t next_value = emit(x[k]);
      at = std::max(at, loop(x[k]));
      value = put(at, code, value, next_value);
    }
    return value;
  }

  int32_t emit_power(const Expr& e, int at) {
    const Expr &b = e.args()[0], &n = e.args()[1];
    if (n.is_literal(-1)) return emit_unary(Code::reciprocal, b, at);
    if (n.is_literal(2)) return emit_unary(Code::square, b, at);
    if (n.is_literal(-2)) return put(at, Code::reciprocal, emit_unary(Code::square, b, at));
    if (n.is_literal(0.5)) return emit_unary(Code::square_root, b, at);
    if (n.is_literal(-0.5)) return put(at, Code::reciprocal, emit_unary(Code::square_root, b, at));
    return emit_binary(Code::power, b, n, at);
  }

  int32_t emit_call(const Expr& e, int at) {
    Call call{e->operation, {}};
    for (const Expr& a : e.args()) call.args.push_back(emit(a));
    p_.calls.push_back(std::move(call));
    return put(at, Code::call, static_cast<int32_t>(p_.calls.size()) - 1);
  }

  // A piece of code that runs only sometimes.
  int32_t emit_branch(const Expr& e, int at, int32_t target) {
    ++open_[at];
    scopes_.emplace_back();
    int32_t value = emit(e);
    append(at, {Code::copy, target, value, 0});
    for (const Expr& local : scopes_.back()) values_.erase(local);
    scopes_.pop_back();
    --open_[at];
    return target;
  }

  int32_t emit_select(const Expr& e, int at) {
    int32_t condition = emit(e.args()[0]), target = new_register(0);
    int32_t to_else = next(at);
    append(at, {Code::jump_if_false, 0, condition, 0});
    emit_branch(e.args()[1], at, target);
    int32_t to_end = next(at);
    append(at, {Code::jump, 0, 0, 0});
    p_.loops[at].code[to_else].b = next(at);
    emit_branch(e.args()[2], at, target);
    p_.loops[at].code[to_end].a = next(at);
    return target;
  }

  int32_t emit_lazily(std::vector<Expr> x, Code leave, int at) {
    std::stable_sort(x.begin(), x.end(),
                     [&](const Expr& a, const Expr& b) { return reading(a) < reading(b); });
    int32_t target = new_register(0);
    std::vector<int32_t> jumps;
    for (size_t k = 0; k < x.size(); ++k) {
      if (k == 0) {
        int32_t value = emit(x[k]);
        append(at, {Code::copy, target, value, 0});
      } else {
        jumps.push_back(next(at));
        append(at, {leave, 0, target, 0});
        emit_branch(x[k], at, target);
      }
    }
    for (int32_t j : jumps) p_.loops[at].code[j].b = next(at);
    return target;
  }

  // ---- reads

  int32_t emit_read(const Expr& e, int at) {
    const Storage& s = tensors_.at(e->tensor.value);
    ATTN_CHECK(s.data, "a read of a tensor that has no value: " + g_[e->tensor].name);
    Access access;
    access.tensor = e->tensor;
    access.data = s.data;
    access.strides.resize(p_.loops.size());
    bool simple = true;
    int64_t stride = 1;
    for (size_t k = e.args().size(); k-- > 0;) {
      const auto a = affine_of(e.args()[k], {g_, sizes_, loop_of_}, p_.loops.size());
      simple = simple && a && always_in_range(*a, p_.loops, s.extents[k]);
      if (!simple) break;
      access.base += stride * a->constant;
      for (size_t l = 0; l < access.strides.size(); ++l)
        access.strides[l] += stride * a->coefficients[l];
      stride *= s.extents[k];
    }
    int32_t id = static_cast<int32_t>(p_.accesses.size());
    if (simple) {
      access.offset = access.base;
      bool moves = std::any_of(access.strides.begin(), access.strides.begin() + at,
                               [](int64_t c) { return c != 0; });
      p_.accesses.push_back(std::move(access));
      if (moves) append(at - 1, {Code::locate, 0, id, at});
      return put(at, Code::load, id, at);
    }
    access.from_data = reading(e) == Reading::from_data;
    access.strict = access.from_data || (strict_ && at >= guard_loop_ && innermost_open() <= at);
    stride = 1;
    for (size_t k = e.args().size(); k-- > 0; stride *= s.extents[k])
      access.subscripts.push_back({emit(e.args()[k]), s.extents[k], stride});
    id = static_cast<int32_t>(p_.accesses.size());
    p_.accesses.push_back(std::move(access));
    return put(at, Code::load_at, id);
  }

  const ir::Graph& g_;
  const ir::Definition& d_;
  const std::vector<int64_t>& sizes_;
  const std::vector<Storage>& tensors_;
  const IndexId step_;
  Program p_;
  std::vector<Expr> guard_;
  std::map<IndexId, Expr> placed_;  // free indices that an equality gives
  std::map<IndexId, int> loop_of_;
  int guard_loop_ = 0;     // the innermost loop in which a condition is tried
  bool strict_ = false;    // all conditions have been tried
  std::vector<int> open_;  // by loop: whether its code is now on one side of a branch
  std::vector<std::vector<Expr>> scopes_;
  ByExpr<int32_t> values_;
  ByExpr<Reading> readings_;
  ByExpr<int> loops_;
  std::map<double, int32_t> constants_;
};

}  // namespace

Program compile(const ir::Graph& g, const ir::Definition& d, const std::vector<int64_t>& sizes,
                const std::vector<Storage>& tensors, IndexId step) {
  return Compiler(g, d, sizes, tensors, step).run();
}

}  // namespace attn::evaluate
