// An expensive subexpression over fewer indices than its definition becomes a map of its own:
//   dx[b,i,d] = ... / sqrt(var[b,i] + eps)   ->   r[b,i] = 1 / sqrt(var[b,i] + eps),  ... * r[b,i]
// The reverse of inlining, which never puts a map where its elements would be computed twice.
// The map is computed also where a sum that it is taken out of has no point, and is finite there.
#include <algorithm>
#include <cmath>

#include "compiler/ir/operation.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/simplify/products.h"
#include "compiler/solve/unmaterialised.h"

namespace attn::simplify {

using namespace ir;

namespace {

// A call that costs as much as a transcendental function.
constexpr int kExpensive = 8;

bool is_root(const Expr& e) {
  return e.is(Kind::power) && e.args()[1].is(Kind::literal) && !e.args()[1]->number.is_integer;
}

bool is_expensive(const Expr& e) {
  if (e.is(Kind::call)) return is_real(e.type()) && e->operation->cost >= kExpensive;
  return is_root(e) || (e.is(Kind::power) && !e.args()[1].is(Kind::literal));
}

// x^-1.5 as (x^-0.5)^3, so that every such power shares one root.
struct Root {
  Expr root;
  int power = 1;
};
Root root_of(const Expr& e) {
  if (!is_root(e)) return {e, 1};
  double twice = 2 * e.args()[1]->number.value();
  if (twice != std::floor(twice) || std::abs(twice) > 8) return {e, 1};
  return {power(e.args()[0], twice < 0 ? -0.5 : 0.5), static_cast<int>(std::abs(twice))};
}

class Hoister {
 public:
  explicit Hoister(const Graph& g) : given_(g), result_(g), unmaterialised_(g) {
    result_.definitions.clear();
  }

  Graph run() {
    for (const Definition& old : given_.definitions) {
      Definition d = old;
      whole_ = &old;
      domain_ = domain(old);
      made_.clear();
      d.body = hoisted(old.body, old.guard);
      result_.definitions.push_back(normal_form(std::move(d)));
    }
    return std::move(result_);
  }

 private:
  // Parents first: what is inside a hoisted expression goes with it.
  Expr hoisted(const Expr& e, const Conditions& known) {
    if (e.args().empty() || e.is(Kind::read)) return e;
    if (is_expensive(e))
      if (auto read = as_map(e, known)) return *read;
    std::vector<Expr> args;
    bool changed = false;
    for (size_t k = 0; k < e.args().size(); ++k) {
      Conditions here = known;
      if (e.is(Kind::select) && k > 0)
        here.merge(conjuncts(k == 1 ? e.args()[0] : negation(e.args()[0])));
      if (e.is(Kind::both) || e.is(Kind::either)) here.merge(tried_before(e, k));
      args.push_back(hoisted(e.args()[k], here));
      changed = changed || &args.back().node() != &e.args()[k].node();
    }
    return changed ? rebuild(e, std::move(args)) : e;
  }

  // What holds where operand k of an `and` or `or` is computed: those that read nothing are tried
  // before those that do.
  static Conditions tried_before(const Expr& e, size_t k) {
    Conditions result;
    if (tensors(e.args()[k]).empty()) return result;
    for (const Expr& c : e.args())
      if (tensors(c).empty()) result.merge(conjuncts(e.is(Kind::both) ? c : negation(c)));
    return result;
  }

  std::optional<Expr> as_map(const Expr& e, const Conditions& known) {
    std::set<IndexId> used = indices(e);
    if (used.size() >= domain_.size() || is_constant(e) || is_in_tiles(used)) return std::nullopt;
    auto guard = conditions_alone(result_, e, known);
    if (!guard) return std::nullopt;
    Root root = root_of(e);
    auto key = std::make_pair(root.root, *guard);
    auto found = made_.find(key);
    if (found == made_.end()) found = made_.emplace(key, new_map(root.root, used, *guard)).first;
    return power(found->second, root.power);
  }

  // A decay or bias of two sequence axes that is the same for the whole batch: in the tiles of the
  // scores it costs less than memory of its size does.
  bool is_in_tiles(const std::set<IndexId>& used) const {
    const std::vector<IndexId>& reduced = whole_->reduced;
    return std::ranges::all_of(reduced, [&](IndexId i) { return used.count(i) > 0; }) &&
           unmaterialised_.is_unbounded(result_, result_.extents({used.begin(), used.end()}));
  }

  Expr new_map(const Expr& value, std::set<IndexId> used, const Conditions& guard) {
    Definition map;
    std::vector<Expr> subscripts;
    for (const std::vector<IndexId>* order : {&whole_->free, &whole_->reduced})
      for (IndexId i : *order)
        if (used.erase(i)) {
          map.free.push_back(i);
          subscripts.push_back(index_value(i));
        }
    map.guard = guard;
    map.body = in_range_under(result_, map.guard, finite_everywhere(value));
    map.where = whole_->where;
    Tensor t;
    t.name = result_[whole_->target].name + ".u";
    t.storage = value.type() == Type::f64 ? Storage::f64 : Storage::f32;
    for (IndexId i : map.free) t.extents.push_back(result_[i].extent);
    map.target = result_.new_tensor(std::move(t));
    Expr read = result_.read(map.target, std::move(subscripts));
    result_.definitions.push_back(normal_form(with_fresh_indices(result_, map).definition));
    return read;
  }

  // exp(x - Y), a weight of Y = logsumexp[R] x: of a row without terms Y is the lowest number, and
  // the weight is 0.
  Expr finite_everywhere(const Expr& value) const {
    if (meaning(value) != Meaning::exponential) return value;
    for (const Expr& addend : addends_of(value.args()[0])) {
      const Expr y = negate(addend);
      const Definition* d = y.is(Kind::read) ? given_.definition_of(y->tensor) : nullptr;
      if (d && d->combine == Combine::logsumexp) return where({less(-3e38, y)}, value);
    }
    return value;
  }

  const Graph& given_;
  Graph result_;
  const solve::Unmaterialised unmaterialised_;
  const Definition* whole_ = nullptr;
  std::set<IndexId> domain_;
  std::map<std::pair<Expr, Conditions>, Expr> made_;
};

}  // namespace

Graph hoist(const Graph& g) { return Hoister(g).run(); }

}  // namespace attn::simplify
