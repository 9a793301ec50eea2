#include "compiler/report/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/report/units.h"
#include "compiler/text/formula.h"

namespace attn::report {
namespace {

using ir::Expr;
using ir::IndexId;
using ir::TensorId;
using text::Math;

// By dimension of a reader: the dimension of what it reads that it always equals, if any.
using Ties = std::vector<std::optional<size_t>>;

// An index as it stands in a formula: a name and primes.
using Name = std::string;

Math math(const Name& name) {
  const size_t primes = std::min(name.find('\''), name.size());
  return text::primes(text::index_name(name.substr(0, primes)), name.size() - primes);
}

Math math(const std::vector<Name>& names) {
  std::vector<Math> result;
  for (const Name& n : names) result.push_back(math(n));
  return text::joined(result, {text::comma()});
}

// Calls f with every read through which a derivative may pass.
void visit_reads(const Expr& e, const std::function<void(const Expr&)>& f) {
  ir::visit(e, [&](const Expr& x) {
    if (!ir::is_real(x.type())) return false;
    if (!x.is(ir::Kind::read)) return true;
    f(x);
    return false;
  });
}

// A summand on the way: the sum's indices, and derivatives from f's to that by the quantity.
struct Path {
  std::vector<Name> over;
  std::vector<Math> factors;
};

Math math(const Path& p) {
  const Math product = text::joined(p.factors, {text::thin_space()});
  return p.over.empty() ? product : text::row({text::limits("sum", math(p.over)), product});
}

Math sum_of(const std::vector<Path>& paths) {
  std::vector<Math> terms;
  for (const Path& p : paths) terms.push_back(math(p));
  return text::joined(terms, {text::sign("+")});
}

class Chains {
 public:
  explicit Chains(const ir::Graph& g) : g_(g), units_(g), names_(text::tensor_names(g)) {
    for (const ir::Output& o : g.outputs)
      if (ir::is_real(ir::arithmetic_type(g[o.tensor].storage))) outputs_.insert(o.tensor);
    for (const Unit& u : units_.all()) add_reads(u);
  }

  Chain of(TensorId x) const {
    const std::vector<Name> own = names_of(x);
    const std::set<Name> used(own.begin(), own.end());
    Chain result{g_[x].name, {}, {}};
    auto equals = [left = derivative(f(), with(x, own))](const Math& right) {
      return text::row({left, text::sign("="), right});
    };
    std::vector<Path> steps;
    for (const auto& [reader, ties] : readers_of(x)) {
      std::set<Name> taken = used;
      Path& p = steps.emplace_back();
      const std::vector<Name> names = names_in(reader, ties, own, taken, p.over);
      p.factors = {derivative(f(), with(reader, names)),
                   derivative(with(reader, names), with(x, own))};
    }
    const Math sum = steps.empty() ? text::number("0") : sum_of(steps);
    result.local = equals(sum);
    std::vector<Path> paths;
    if (steps.empty() || !follow(x, own, used, {}, paths) || paths.empty()) return result;
    if (const Math all = sum_of(paths); all != sum) result.expanded = equals(all);
    return result;
  }

 private:
  static constexpr size_t kMostPaths = 4, kMostFactors = 5;

  void add_reads(const Unit& u) {
    const ir::Definition& own = *u.definitions.back();
    for (const ir::Definition* d : u.definitions)
      visit_reads(d->body, [&](const Expr& read) {
        if (units_.of(read->tensor) == u.target) return;
        const Ties ties = d == &own ? ties_of(own, read) : ties_through(u, *d, read);
        auto& list = readers_[read->tensor];
        for (auto& [reader, known] : list) {
          if (reader != u.target) continue;
          for (size_t k = 0; k < known.size(); ++k)
            if (known[k] != ties[k]) known[k].reset();
          return;
        }
        list.emplace_back(u.target, ties);
      });
  }

  // By a read in the definition of the reader itself.
  static Ties ties_of(const ir::Definition& d, const Expr& read) {
    Ties result(d.free.size());
    for (size_t k = 0; k < d.free.size(); ++k)
      for (size_t n = 0; n < read.args().size() && !result[k]; ++n)
        if (read.args()[n].is(ir::Kind::index) && read.args()[n]->index == d.free[k]) result[k] = n;
    return result;
  }

  // By a read in a helper: the helper's dimensions are tied to the reader's where every read of the
  // helper, perhaps in another helper, ties them.
  Ties ties_through(const Unit& u, const ir::Definition& helper, const Expr& read) const {
    const Ties inner = ties_of(helper, read);
    std::optional<Ties> result;
    for (const ir::Definition* d : u.definitions)
      visit_reads(d->body, [&](const Expr& of_helper) {
        if (of_helper->tensor != helper.target) return;
        const bool own = d == u.definitions.back();
        Ties outer = own ? ties_of(*d, of_helper) : ties_through(u, *d, of_helper);
        for (auto& tie : outer)
          if (tie) tie = inner[*tie];
        if (!result) {
          result = outer;
          return;
        }
        for (size_t k = 0; k < outer.size(); ++k)
          if ((*result)[k] != outer[k]) (*result)[k].reset();
      });
    return result.value_or(Ties(u.definitions.back()->free.size()));
  }

  const std::vector<std::pair<TensorId, Ties>>& readers_of(TensorId x) const {
    static const std::vector<std::pair<TensorId, Ties>> none;
    const auto it = readers_.find(x);
    return it == readers_.end() ? none : it->second;
  }

  // The indices of a tensor's definition, or those that its first reader has, or letters.
  std::vector<Name> names_of(TensorId x) const {
    std::vector<Name> result(g_[x].extents.size());
    std::set<Name> used;
    auto take = [&](size_t k, const Name& name) {
      if (result[k].empty() && used.insert(name).second) result[k] = name;
    };
    if (const ir::Definition* d = g_.definition_of(x))
      for (size_t k = 0; k < result.size(); ++k) take(k, g_[d->free[k]].name);
    for (const ir::Definition& d : g_.definitions)
      ir::visit(d.body, [&](const Expr& e) {
        if (e.is(ir::Kind::read) && e->tensor == x)
          for (size_t k = 0; k < result.size(); ++k)
            if (e.args()[k].is(ir::Kind::index)) take(k, g_[e.args()[k]->index].name);
        return true;
      });
    for (size_t k = 0; k < result.size(); ++k)
      for (char c = 'i'; result[k].empty() && c <= 'z'; ++c) take(k, Name(1, c));
    return result;
  }

  // The reader's indices: the quantity's where tied, else its own with primes until they are new;
  // those are summed over.
  std::vector<Name> names_in(TensorId reader, const Ties& ties,
                             const std::vector<Name>& of_quantity, std::set<Name>& used,
                             std::vector<Name>& over) const {
    std::vector<Name> result = names_of(reader);
    for (size_t k = 0; k < result.size(); ++k) {
      if (ties[k]) {
        result[k] = of_quantity[*ties[k]];
        continue;
      }
      while (!used.insert(result[k]).second) result[k] += '\'';
      over.push_back(result[k]);
    }
    return result;
  }

  Math with(TensorId t, const std::vector<Name>& names) const {
    const Math& name = names_.at(static_cast<size_t>(t.value));
    return names.empty() ? name : text::below(name, math(names));
  }

  static Math f() { return text::letters("f"); }
  static Math derivative(const Math& of, const Math& by) {
    const Math d = text::partial();
    return text::fraction(text::row({d, of}), text::row({d, by}));
  }

  // Appends every path from f to x; false where there are too many or too long ones.
  bool follow(TensorId x, const std::vector<Name>& names, const std::set<Name>& used,
              const Path& below, std::vector<Path>& paths) const {
    if (below.factors.size() >= kMostFactors) return false;
    if (outputs_.count(x)) {
      Path p = below;
      p.factors.insert(p.factors.begin(), derivative(f(), with(x, names)));
      paths.push_back(std::move(p));
      if (paths.size() > kMostPaths) return false;
    }
    for (const auto& [reader, ties] : readers_of(x)) {
      std::set<Name> taken = used;
      Path p = below;
      const std::vector<Name> inner = names_in(reader, ties, names, taken, p.over);
      p.factors.insert(p.factors.begin(), derivative(with(reader, inner), with(x, names)));
      if (!follow(reader, inner, taken, p, paths)) return false;
    }
    return true;
  }

  const ir::Graph& g_;
  Units units_;
  std::vector<Math> names_;
  std::set<TensorId> outputs_;
  std::map<TensorId, std::vector<std::pair<TensorId, Ties>>> readers_;
};

}  // namespace

std::vector<Chain> chains(const ir::Graph& g, const std::vector<TensorId>& wanted) {
  const Chains all(g);
  std::vector<Chain> result;
  for (TensorId x : wanted) result.push_back(all.of(x));
  return result;
}

}  // namespace attn::report
