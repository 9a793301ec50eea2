#include "compiler/derive/walk.h"

#include <unordered_map>

#include "compiler/ir/operation.h"
#include "compiler/ops/table.h"

namespace attn::derive {
namespace {

using ir::Conditions;
using ir::Expr;
using ir::Kind;

struct Hash {
  size_t operator()(const Expr& e) const { return e->hash; }
};

// The arguments through which a derivative passes.
std::vector<Expr> passages(const Expr& e) {
  if (!ir::is_real(e.type())) return {};
  switch (e.kind()) {
    case Kind::power:
    case Kind::multiply:
    case Kind::add:
      return e.args();
    case Kind::select:
      return {e.args()[1], e.args()[2]};
    case Kind::call:
      return e->operation->derivative ? e.args() : std::vector<Expr>{};
    default:
      return {};
  }
}

// Of power and its base b and exponent n: b^n by b is n * b^(n-1), which is 0 at n = 0 even where b
// is 0; by n it is b^n * log(b), whose limit at b = 0 is 0.
std::vector<Expr> partials_of_power(const Expr& e) {
  const Expr &b = e.args()[0], &n = e.args()[1];
  const Expr by_base = n * ir::power(b, n - 1);
  if (n.is(Kind::literal)) return {by_base, 0};
  const Expr b_not_zero = ir::negation(ir::equal(b, 0));
  return {ir::select(ir::any_of({ir::negation(ir::equal(n, 0)), b_not_zero}), by_base, 0),
          ir::select(b_not_zero, e * ops::apply("log", {b}), 0)};
}

// d(e)/d(argument) for every one of e's passages, where e is neither a sum nor a select.
std::vector<Expr> partials(const Expr& e) {
  const std::vector<Expr>& args = e.args();
  switch (e.kind()) {
    case Kind::multiply: {
      std::vector<Expr> result;
      for (size_t k = 0; k < args.size(); ++k) {
        std::vector<Expr> others = args;
        others.erase(others.begin() + static_cast<int64_t>(k));
        result.push_back(ir::multiply(std::move(others)));
      }
      return result;
    }
    case Kind::power:
      return partials_of_power(e);
    case Kind::call: {
      std::vector<Expr> result = e->operation->derivative(args, e);
      ATTN_CHECK(result.size() == args.size(),
                 "the derivative of " + std::string(e->operation->name));
      return result;
    }
    default:
      throw InternalError("a node through which no derivative passes");
  }
}

class Walk {
 public:
  explicit Walk(const Wanted& wanted) : wanted_(wanted) {}

  std::vector<ReadContribution> run(const Expr& body, const std::vector<Flow>& flows) {
    if (!arrange(body)) return {};
    for (const Flow& f : flows) give(body, f.path, f.value);
    std::vector<ReadContribution> result;
    for (auto e = order_.rbegin(); e != order_.rend(); ++e) {
      const std::vector<Flow> incoming = received_[*e];
      for (const Flow& f : incoming) {
        if (f.value.is_zero()) continue;
        if (e->is(Kind::read))
          result.push_back({*e, f});
        else
          pass_on(*e, f);
      }
    }
    return result;
  }

 private:
  // Puts the nodes that carry a wanted read into order_, arguments first. False where e does not.
  bool arrange(const Expr& e) {
    if (auto it = active_.find(e); it != active_.end()) return it->second;
    bool active = e.is(Kind::read) && ir::is_real(e.type()) && wanted_(e->tensor);
    const std::vector<Expr> args = passages(e);
    // From the last to the first, so that contributions come out in the order of reading.
    for (auto a = args.rbegin(); a != args.rend(); ++a) active = arrange(*a) || active;
    active_.emplace(e, active);
    if (active) order_.push_back(e);
    return active;
  }

  void give(const Expr& e, Conditions path, Expr value) {
    auto found = active_.find(e);
    if (found == active_.end() || !found->second) return;
    while (value.is(Kind::select) && value.args()[2].is_zero()) {
      path.merge(ir::conjuncts(value.args()[0]));
      value = value.args()[1];
    }
    const Expr all = ir::all_of(path);
    if (value.is_zero() || all.is_false()) return;
    path = ir::conjuncts(all);
    for (Flow& f : received_[e]) {
      if (f.path != path) continue;
      f.value = f.value + value;
      return;
    }
    received_[e].push_back({std::move(path), std::move(value)});
  }

  void pass_on(const Expr& e, const Flow& f) {
    const std::vector<Expr>& args = e.args();
    switch (e.kind()) {
      case Kind::add:
        for (const Expr& a : args) give(a, f.path, f.value);
        return;
      case Kind::select: {
        Conditions yes = f.path, no = f.path;
        yes.merge(ir::conjuncts(args[0]));
        no.merge(ir::conjuncts(ir::negation(args[0])));
        give(args[1], std::move(yes), f.value);
        give(args[2], std::move(no), f.value);
        return;
      }
      default: {
        const std::vector<Expr> by = partials(e);
        for (size_t k = 0; k < args.size(); ++k) give(args[k], f.path, f.value * by[k]);
      }
    }
  }

  const Wanted& wanted_;
  std::unordered_map<Expr, bool, Hash> active_;
  std::vector<Expr> order_;
  std::unordered_map<Expr, std::vector<Flow>, Hash> received_;
};

class Change {
 public:
  explicit Change(const std::function<Expr(const Expr&)>& of) : of_(of) {}

  Expr of(const Expr& e) {
    if (auto it = done_.find(e); it != done_.end()) return it->second;
    Expr result = compute(e);
    done_.emplace(e, result);
    return result;
  }

 private:
  Expr compute(const Expr& e) {
    if (e.is(Kind::read)) return ir::is_real(e.type()) ? of_(e) : Expr(0);
    std::vector<Expr> changes;
    bool any = false;
    for (const Expr& a : passages(e)) {
      changes.push_back(of(a));
      any = any || !changes.back().is_zero();
    }
    if (!any) return 0;
    if (e.is(Kind::add)) return ir::add(std::move(changes));
    if (e.is(Kind::select)) return ir::select(e.args()[0], changes[0], changes[1]);
    const std::vector<Expr> by = partials(e);
    for (size_t k = 0; k < changes.size(); ++k)
      if (!changes[k].is_zero()) changes[k] = changes[k] * by[k];
    return ir::add(std::move(changes));
  }

  const std::function<Expr(const Expr&)>& of_;
  std::unordered_map<Expr, Expr, Hash> done_;
};

}  // namespace

Expr tangent(const Expr& body, const std::function<Expr(const Expr&)>& of) {
  return Change(of).of(body);
}

std::vector<ReadContribution> body_vjp(const Expr& body, const std::vector<Flow>& flows,
                                       const Wanted& wanted) {
  return Walk(wanted).run(body, flows);
}

std::string_view stopped_by(const Expr& body, const Wanted& wanted) {
  auto reads_wanted = [&](const Expr& e) {
    for (ir::TensorId t : ir::tensors(e))
      if (wanted(t)) return true;
    return false;
  };
  std::string_view found;
  ir::visit(body, [&](const Expr& e) {
    if (!found.empty() || !reads_wanted(e)) return false;
    if (e.is(Kind::read)) {
      for (const Expr& s : e.args())
        if (reads_wanted(s)) found = "a subscript";
      return false;
    }
    if (ir::meaning(e) == ir::Meaning::stop) return false;  // as the user wants it
    if (e.is(Kind::call) && !e->operation->derivative)
      found = e->operation->name;
    else if (e.type() == ir::Type::boolean)
      found = "a comparison";
    else if (e.type() == ir::Type::integer)
      found = "integers";
    return found.empty();
  });
  return found;
}

}  // namespace attn::derive
