// The checker that runs after every pass: what must hold in every graph.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/graph.h"
#include "compiler/ir/operation.h"
#include "compiler/ir/recurrence.h"

namespace attn::ir {
namespace {

class Verifier {
 public:
  Verifier(const Graph& g, std::string_view pass) : g_(g), pass_(pass) {}

  void run() {
    std::unordered_set<std::string_view> names;
    std::set<TensorId> given;
    for (size_t k = 0; k < g_.tensors.size(); ++k) {
      const Tensor& t = g_.tensors[k];
      if (is_argument(t.role)) given.insert({static_cast<int32_t>(k)});
      require(names.insert(t.name).second, "name used twice", t.name);
    }
    run(std::move(given));
  }

  void run(std::set<TensorId> given) {
    defined_ = std::move(given);
    for (const Definition& d : g_.definitions) check_ranks(d);
    for (const Recurrence& r : recurrences(g_))
      for (size_t k = r.first; k < r.end(); ++k) recurrence_[g_.definitions[k].target] = r.first;
    for (const Definition& d : g_.definitions) check(d);
    for (const Output& o : g_.outputs) {
      require(defined_.count(o.tensor), "an output that is not defined", o.name);
      if (o.updates.valid()) check_update(o);
    }
  }

 private:
  void require(bool holds, std::string_view what, std::string_view where) const {
    if (!holds)
      throw InternalError(fmt::format("after {}: {}: {} in {}", pass_, g_.name, what, where));
  }

  bool is_tensor(TensorId t) const {
    return t.valid() && t.value < static_cast<int32_t>(g_.tensors.size());
  }

  // An output that takes the place of a state is like it.
  void check_update(const Output& o) const {
    require(is_tensor(o.updates) && g_[o.updates].role == Role::input, "an update of no input",
            o.name);
    const Tensor &state = g_[o.updates], &next = g_[o.tensor];
    require(state.storage == next.storage && state.extents.size() == next.extents.size(),
            "an update of another type", o.name);
    for (size_t k = 0; k < state.extents.size(); ++k)
      require(g_.same(state.extents[k], next.extents[k]), "an update of another shape", o.name);
  }

  void check_ranks(const Definition& d) {
    require(is_tensor(d.target), "a target that is no tensor", "the graph");
    name_ = g_[d.target].name;
    const size_t rank = d.position.empty() ? d.free.size() : d.position.size();
    require(rank == g_[d.target].extents.size(), "left side of the wrong rank", name_);
    const auto look = [&](const Expr& e) {
      visit(e, [&](const Expr& x) {
        if (!x.is(Kind::read)) return true;
        require(is_tensor(x->tensor), "a read of no tensor", name_);
        require(x.args().size() == g_[x->tensor].extents.size(), "subscripts of the wrong number",
                name_);
        return true;
      });
    };
    look(d.body);
    for (const Expr& c : d.guard) look(c);
    for (const Expr& p : d.position) look(p);
  }

  void check(const Definition& d) {
    const Tensor& t = g_[d.target];
    name_ = t.name;
    target_ = d.target;
    require(!defined_.count(d.target), "a second definition", name_);
    require((d.combine == Combine::set) == d.reduced.empty(), "reduced indices", name_);
    require(d.combine != Combine::argmax || d.reduced.size() == 1, "argmax over one index", name_);
    bound_.clear();
    for (size_t k = 0; k < d.free.size(); ++k) {
      require(bound_.insert(d.free[k]).second, "an index bound twice", name_);
      if (d.position.empty())
        require(g_.same(g_[d.free[k]].extent, t.extents[k]), "the extent of an index", name_);
    }
    if (!d.position.empty()) {
      require(d.combine == Combine::set, "a position of no map", name_);
      require(g_.updated_by(d.target).valid(), "a position in what is no state", name_);
    }
    for (const Expr& p : d.position) {
      require(p.type() == Type::integer, "a position that is not whole", name_);
      check(p);
    }
    for (IndexId i : d.reduced) require(bound_.insert(i).second, "an index bound twice", name_);
    Type type = d.body.type(), wanted = arithmetic_type(t.storage);
    if (d.combine == Combine::argmax)
      require(wanted == Type::integer, "argmax into a tensor that is not int", name_);
    else if (is_real(wanted))
      require(type != Type::boolean, "a truth value in a real tensor", name_);
    else
      require(type == wanted || d.body.is(Kind::literal), "a body of another type", name_);
    Definition normal = normal_form(d);
    require(normal.guard == d.guard && normal.body == d.body, "a guard left in the body", name_);
    for (const Expr& c : d.guard) {
      require(c.type() == Type::boolean && !c.is_true() && !c.is(Kind::both), "a guard", name_);
      check(c);
    }
    check(d.body);
    defined_.insert(d.target);
  }

  void check(const Expr& e) {
    visit(e, [&](const Expr& x) {
      if (x.is(Kind::index)) require(bound_.count(x->index), "an index that is not bound", name_);
      if (x.is(Kind::read)) {
        require(defined_.count(x->tensor) || needs_itself(x->tensor),
                "a read before its definition", name_);
        const Tensor& t = g_[x->tensor];
        require(x.type() == arithmetic_type(t.storage), "a read of the wrong type", name_);
        for (const Expr& s : x.args())
          require(s.type() == Type::integer, "a subscript that is not whole", name_);
      }
      if (!x.args().empty() && !x.is(Kind::read))
        require(rebuild(x, x.args()) == x, "an expression that is not in normal form", name_);
      return true;
    });
  }

  // Whether the definition that is checked is in one recurrence with that of `read`.
  bool needs_itself(TensorId read) const {
    const auto own = recurrence_.find(target_), other = recurrence_.find(read);
    return own != recurrence_.end() && other != recurrence_.end() && own->second == other->second;
  }

  const Graph& g_;
  std::string_view pass_;
  std::string name_;
  TensorId target_;
  std::map<TensorId, size_t> recurrence_;  // the place of its first definition
  std::set<TensorId> defined_;
  std::set<IndexId> bound_;
};

}  // namespace

void verify(const Graph& g, std::string_view pass) { Verifier(g, pass).run(); }

void verify_part(const Graph& g, const std::set<TensorId>& given, std::string_view pass) {
  Verifier(g, pass).run(given);
}

}  // namespace attn::ir
