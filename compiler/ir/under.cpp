#include "compiler/ir/under.h"

#include <unordered_map>
#include <unordered_set>

namespace attn::ir {
namespace {

Conditions with(const Conditions& known, const Expr& condition) {
  Conditions result = known;
  result.merge(conjuncts(condition));
  return result;
}

// What holds where the parts of `e`, a conjunction or a disjunction, that read data are evaluated:
// the parts that read nothing are tried first.
Conditions with_parts_that_read_nothing(const Conditions& known, const Expr& e) {
  Conditions result = known;
  for (const Expr& a : e.args())
    if (tensors(a).empty()) result.merge(conjuncts(e.is(Kind::both) ? a : negation(a)));
  return result;
}

bool is_of_parts(const Expr& e) { return e.is(Kind::both) || e.is(Kind::either); }

class Visitor {
 public:
  using Function = std::function<bool(const Expr&, const Conditions&)>;
  explicit Visitor(const Function& f) : f_(f) {}

  void walk(const Expr& e, const Conditions& known) {
    std::unordered_set<const Node*> seen;
    walk(e, known, seen);
  }

 private:
  void walk(const Expr& e, const Conditions& known, std::unordered_set<const Node*>& seen) {
    if (!e.args().empty() && !seen.insert(&e.node()).second) return;
    if (!f_(e, known)) return;
    if (e.is(Kind::select)) {
      walk(e.args()[0], known, seen);
      walk(e.args()[1], with(known, e.args()[0]));
      walk(e.args()[2], with(known, negation(e.args()[0])));
      return;
    }
    if (is_of_parts(e)) {
      const Conditions first = with_parts_that_read_nothing(known, e);
      for (const Expr& a : e.args())
        first == known || tensors(a).empty() ? walk(a, known, seen) : walk(a, first);
      return;
    }
    for (const Expr& a : e.args()) walk(a, known, seen);
  }

  const Function& f_;
};

class Rewriter {
 public:
  using Function = std::function<Expr(const Expr&, const Conditions&)>;
  explicit Rewriter(const Function& f) : f_(f) {}

  Expr walk(const Expr& e, const Conditions& known) {
    Done done;
    return walk(e, known, done);
  }

 private:
  using Done = std::unordered_map<const Node*, Expr>;  // under one set of conditions

  Expr walk(const Expr& e, const Conditions& known, Done& done) {
    if (e.args().empty()) return f_(e, known);
    if (auto it = done.find(&e.node()); it != done.end()) return it->second;
    std::vector<Expr> args;
    args.reserve(e.args().size());
    if (e.is(Kind::select)) {
      args = {walk(e.args()[0], known, done), walk(e.args()[1], with(known, e.args()[0])),
              walk(e.args()[2], with(known, negation(e.args()[0])))};
    } else if (is_of_parts(e)) {
      const Conditions first = with_parts_that_read_nothing(known, e);
      for (const Expr& a : e.args())
        args.push_back(first == known || tensors(a).empty() ? walk(a, known, done)
                                                            : walk(a, first));
    } else {
      for (const Expr& a : e.args()) args.push_back(walk(a, known, done));
    }
    bool changed = false;
    for (size_t k = 0; k < args.size(); ++k)
      changed = changed || &args[k].node() != &e.args()[k].node();
    Expr result = f_(changed ? rebuild(e, std::move(args)) : e, known);
    done.emplace(&e.node(), result);
    return result;
  }

  const Function& f_;
};

}  // namespace

void visit_under(const Expr& e, const Conditions& known, const Visitor::Function& f) {
  Visitor(f).walk(e, known);
}

Expr rewrite_under(const Expr& e, const Conditions& known, const Rewriter::Function& f) {
  return Rewriter(f).walk(e, known);
}

}  // namespace attn::ir
