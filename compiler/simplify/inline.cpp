// Substitutes maps into their readers: always where the map costs nothing, in the end also where it
// has a single reader and no element would be computed twice.
#include <algorithm>

#include "compiler/ir/operation.h"
#include "compiler/ir/under.h"
#include "compiler/simplify/passes.h"
#include "compiler/simplify/places.h"
#include "compiler/simplify/products.h"
#include "compiler/solve/compared.h"

namespace attn::simplify {

using namespace ir;

namespace {

// A read whose place is known without data. (A gather stays a tensor: in every reader it would be a
// gather again, and its cotangent a scatter.)
bool is_plain_read(const Expr& e) {
  if (!e.is(Kind::read)) return false;
  for (const Expr& s : e.args())
    if (!tensors(s).empty()) return false;
  return true;
}

// A constant, an index, or one read times constants and at most two scalars.
bool costs_nothing(const Expr& body) {
  if (is_constant(body) || body.is(Kind::index) || is_plain_read(body)) return true;
  if (!body.is(Kind::multiply)) return false;
  int scalars = 0, elements = 0;
  for (const Expr& f : body.args()) {
    if (is_constant(f)) continue;
    if (!is_plain_read(f)) return false;
    ++(f.args().empty() ? scalars : elements);
  }
  return elements <= 1 && elements + scalars <= 3;
}

// Tensors of which some definition takes the logarithm.
std::vector<bool> under_logarithm(const Graph& g) {
  std::vector<bool> result(g.tensors.size(), false);
  for (const Definition& d : g.definitions)
    visit(d.body, [&](const Expr& x) {
      if (meaning(x) == Meaning::logarithm && x.args()[0].is(Kind::read))
        result[x.args()[0]->tensor.value] = true;
      return true;
    });
  return result;
}

// The map m at the subscripts of a read, where `known` holds.
Expr value_at(const Graph& g, const Definition& m, const Expr& read, const Conditions& known) {
  std::map<IndexId, Expr> map = subscript_map(m, read);
  Conditions guard = substitute(m.guard, map);
  if (!guard.empty() && holds(g, known, guard)) guard.clear();
  return where(guard, substitute(m.body, map));
}

enum class Use : uint8_t { none, everywhere, logarithm };

// Substitutes `uses` in definition after definition, so that what goes in is already substituted.
class Inliner {
 public:
  explicit Inliner(const Graph& g) : result_(g), maps_(g.tensors.size()), use_(g.tensors.size()) {
    std::fill(use_.begin(), use_.end(), Use::none);
  }

  // `use_of(d)` says where reads of d's target are replaced; d is final then.
  Graph run(const std::function<Use(const Definition&)>& use_of) {
    for (Definition& d : result_.definitions) {
      if (touches(d)) into(d);
      Use use = d.combine == Combine::set && d.body->weight <= kMostInlined ? use_of(d) : Use::none;
      use_[d.target.value] = use;
      if (use != Use::none) maps_[d.target.value] = &d;
    }
    return std::move(result_);
  }

 private:
  bool touches(const Definition& d) const {
    for (TensorId t : reads(d))
      if (use_[t.value] != Use::none) return true;
    return false;
  }

  void into(Definition& d) {
    Conditions guard;
    for (const Expr& c : d.guard) guard.merge(conjuncts(substituted(c, {})));
    d.guard = std::move(guard);
    d.body = substituted(d.body, d.guard);
    d = normal_form(std::move(d));
  }

  Expr substituted(const Expr& e, const Conditions& known) const {
    return rewrite_under(e, known, [&](const Expr& x, const Conditions& here) -> Expr {
      if (x.is(Kind::read) && use_[x->tensor.value] == Use::everywhere)
        return value_at(result_, *maps_[x->tensor.value], x, here);
      if (meaning(x) == Meaning::logarithm && x.args()[0].is(Kind::read) &&
          use_[x.args()[0]->tensor.value] == Use::logarithm) {
        Expr value = value_at(result_, *maps_[x.args()[0]->tensor.value], x.args()[0], here);
        if (!value.is(Kind::select)) return call(*x->operation, {value});
      }
      return x;
    });
  }

  Graph result_;
  std::vector<const Definition*> maps_;
  std::vector<Use> use_;
};

// The only read of a tensor, and its reader.
struct Reader {
  int reads = 0;
  bool in_body = false;
  const Definition* definition = nullptr;
  Expr read;
};

std::vector<Reader> readers(const Graph& g) {
  std::vector<Reader> result(g.tensors.size());
  for (const Definition& d : g.definitions) {
    auto record = [&](const Expr& e, bool in_body) {
      visit(e, [&](const Expr& x) {
        if (!x.is(Kind::read)) return true;
        Reader& r = result[x->tensor.value];
        ++r.reads;
        r.in_body = in_body;
        r.definition = &d;
        r.read = x;
        return true;
      });
    };
    for (const Expr& c : d.guard) record(c, false);
    record(d.body, true);
  }
  return result;
}

// Whether each element of the map is read at no more than one point of its only reader.
bool is_read_once(const Reader& r) {
  if (r.reads != 1 || !r.in_body) return false;
  auto subscripts = plain_subscripts(r.read);
  if (!subscripts) return false;
  std::set<IndexId> covered(subscripts->begin(), subscripts->end());
  std::set<IndexId> needed = domain(*r.definition);
  return std::includes(covered.begin(), covered.end(), needed.begin(), needed.end());
}

}  // namespace

Graph inline_trivial(const Graph& g) {
  std::vector<bool> is_fixed = fixed_tensors(g);
  std::vector<bool> logarithm = under_logarithm(g);
  std::vector<bool> is_compared = solve::compared_tensors(g);
  return Inliner(g).run([&](const Definition& d) {
    if (is_fixed[d.target.value] || !stores_exactly(g, d.target)) return Use::none;
    if (costs_nothing(d.body) && (!is_compared[d.target.value] || cost(d.body) == 0))
      return Use::everywhere;
    if (logarithm[d.target.value] && meaning(d.body) == Meaning::exponential) return Use::logarithm;
    return Use::none;
  });
}

Graph inline_single(const Graph& g) {
  std::vector<bool> is_fixed = fixed_tensors(g);
  std::vector<Reader> reader = readers(g);
  return Inliner(g).run([&](const Definition& d) {
    if (is_fixed[d.target.value] || !stores_exactly(g, d.target)) return Use::none;
    return is_read_once(reader[d.target.value]) ? Use::everywhere : Use::none;
  });
}

}  // namespace attn::simplify
