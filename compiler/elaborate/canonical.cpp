// One order and one set of names for a finished graph.
#include <fmt/format.h>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

class Renumber {
 public:
  explicit Renumber(const ir::Graph& g) : old_(g) {}

  ir::Graph run() {
    new_.name = old_.name;
    number_sizes();
    number_tensors();
    for (const ir::Definition& d : old_.definitions) add(d);
    for (const ir::Output& o : old_.outputs)
      new_.outputs.push_back({o.name, tensors_.at(o.tensor), o.probe,
                              o.updates.valid() ? tensors_.at(o.updates) : o.updates});
    return std::move(new_);
  }

 private:
  // Sizes that something uses, in the order they had: each stands after those it is made of.
  void number_sizes() {
    for (const ir::Tensor& t : old_.tensors)
      for (const ir::Poly& p : t.extents) use(p);
    for (const ir::Definition& d : old_.definitions) {
      for (const ir::IndexId i : d.free) use(old_[i].extent);
      for (const ir::IndexId i : d.reduced) use(old_[i].extent);
      for (const ir::Expr& c : d.guard) use(c);
      for (const ir::Expr& p : d.position) use(p);
      use(d.body);
    }
    for (const ir::SizeId id : used_) {
      sizes_[id] = ir::Poly::size({static_cast<int32_t>(new_.sizes.size())});
      ir::Size s = old_[id];
      if (s.definition) s.definition = renamed(*s.definition);
      if (s.quotient) s.quotient = {renamed(s.quotient->first), renamed(s.quotient->second)};
      new_.sizes.push_back(std::move(s));
    }
  }

  void use(const ir::Poly& p) {
    for (const auto& [monomial, c] : p.terms()) {
      for (auto [id, n] : monomial) {
        if (!used_.insert(id).second) continue;
        const ir::Size& s = old_[id];
        if (s.definition) use(*s.definition);
        if (s.quotient) use(s.quotient->first), use(s.quotient->second);
      }
    }
  }

  void use(const ir::Expr& e) {
    ir::visit(e, [&](const ir::Expr& x) {
      if (x.is(ir::Kind::size)) use(x->size);
      return true;
    });
  }

  ir::Poly renamed(const ir::Poly& p) const { return ir::substitute(p, sizes_); }

  // Inputs, then parameters, then targets.
  void number_tensors() {
    for (const ir::Role role : {ir::Role::input, ir::Role::parameter})
      for (size_t k = 0; k < old_.tensors.size(); ++k)
        if (old_.tensors[k].role == role) take({static_cast<int32_t>(k)});
    for (const ir::Definition& d : old_.definitions) take(d.target);
  }

  void take(ir::TensorId id) {
    tensors_[id] = {static_cast<int32_t>(new_.tensors.size())};
    ir::Tensor t = old_[id];
    for (ir::Poly& p : t.extents) p = renamed(p);
    names_.insert(t.name);
    new_.tensors.push_back(std::move(t));
  }

  // No tensor or size has the name, nor another index of the same definition.
  std::string index_name(const std::string& wanted, std::set<std::string>& taken) const {
    std::string name = wanted;
    for (int k = 2; names_.count(name) || taken.count(name) || new_.find_size(name); ++k)
      name = fmt::format("{}{}", wanted, k);
    taken.insert(name);
    return name;
  }

  void add(const ir::Definition& old) {
    ir::Definition d = old;
    std::map<ir::IndexId, ir::Expr> indices;
    std::set<std::string> taken;
    for (auto* list : {&d.free, &d.reduced}) {
      for (ir::IndexId& i : *list) {
        const ir::IndexId n =
            new_.new_index(index_name(old_[i].name, taken), renamed(old_[i].extent));
        indices.emplace(i, ir::index_value(n));
        i = n;
      }
    }
    const auto translate = [&](const ir::Expr& e) {
      return ir::rewrite(e, [&](const ir::Expr& x) -> ir::Expr {
        if (x.is(ir::Kind::index)) return indices.at(x->index);
        if (x.is(ir::Kind::size)) return ir::size_value(renamed(x->size));
        if (x.is(ir::Kind::read)) return ir::read(tensors_.at(x->tensor), x.type(), x.args());
        return x;
      });
    };
    d.target = tensors_.at(d.target);
    d.body = translate(d.body);
    d.guard.clear();
    for (const ir::Expr& c : old.guard) d.guard.merge(ir::conjuncts(translate(c)));
    for (ir::Expr& p : d.position) p = translate(p);
    new_.definitions.push_back(ir::normal_form(std::move(d)));
  }

  const ir::Graph& old_;
  ir::Graph new_;
  std::set<ir::SizeId> used_;
  std::map<ir::SizeId, ir::Poly> sizes_;
  std::map<ir::TensorId, ir::TensorId> tensors_;
  std::set<std::string> names_;
};

}  // namespace

ir::Graph canonical(const ir::Graph& g) { return Renumber(g).run(); }

}  // namespace attn::elaborate
