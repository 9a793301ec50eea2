// Whether two graphs are the same program: b is rebuilt under the ids of a, by names, and compared.
#include <fmt/format.h>

#include <stdexcept>

#include "compiler/ir/key.h"
#include "compiler/text/text.h"

namespace attn::text {
namespace {

struct Differs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Args>
void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
  if (!holds) throw Differs(fmt::format(text, std::forward<Args>(args)...));
}

std::vector<std::string> names(const ir::Graph& g, bool parameters) {
  std::vector<std::string> result;
  for (const ir::Tensor& t : g.tensors)
    if (ir::is_argument(t.role) && (t.role == ir::Role::parameter) == parameters)
      result.push_back(t.name);
  return result;
}

class Comparison {
 public:
  Comparison(const ir::Graph& a, const ir::Graph& b) : a_(a), b_(b) {}

  void run() {
    compare_sizes();
    for (bool parameters : {false, true}) {
      const auto x = names(a_, parameters), y = names(b_, parameters);
      require(x == y, "{}: {} against {}", parameters ? "parameters" : "inputs", fmt::join(x, ", "),
              fmt::join(y, ", "));
    }
    for (size_t k = 0; k < a_.tensors.size(); ++k)
      if (ir::is_argument(a_.tensors[k].role)) compare_tensor({static_cast<int32_t>(k)});
    require(a_.definitions.size() == b_.definitions.size(), "{} definitions against {}",
            a_.definitions.size(), b_.definitions.size());
    for (size_t k = 0; k < a_.definitions.size(); ++k)
      compare(a_.definitions[k], b_.definitions[k]);
    require(a_.outputs.size() == b_.outputs.size(), "{} outputs against {}", a_.outputs.size(),
            b_.outputs.size());
    for (size_t k = 0; k < a_.outputs.size(); ++k) {
      const ir::Output &x = a_.outputs[k], &y = b_.outputs[k];
      require(x.name == y.name && a_[x.tensor].name == b_[y.tensor].name,
              "output {} is {} against {}", k, x.name, y.name);
      require(x.probe == y.probe, "one is a probe, the other none: {}", x.name);
      const auto state = [](const ir::Graph& g, const ir::Output& o) {
        return o.updates.valid() ? g[o.updates].name : std::string();
      };
      require(state(a_, x) == state(b_, y), "the state of {}", x.name);
    }
  }

 private:
  void compare_sizes() {
    for (size_t k = 0; k < b_.sizes.size(); ++k) {
      const ir::Size& y = b_.sizes[k];
      if (auto id = a_.find_size(y.name)) sizes_[{static_cast<int32_t>(k)}] = ir::Poly::size(*id);
    }
    for (const ir::Size& y : b_.sizes) {
      auto id = a_.find_size(y.name);
      if (!id) continue;
      const ir::Size& x = a_[*id];
      require(a_.known(ir::Poly::size(*id)) == b_.known(ir::Poly::size(*b_.find_size(y.name))),
              "the value of size {}", y.name);
      require(x.lower == y.lower && x.upper == y.upper, "the bounds of size {}", y.name);
      if (x.value) continue;
      require(x.definition.has_value() == y.definition.has_value() &&
                  x.quotient.has_value() == y.quotient.has_value(),
              "the kind of size {}", y.name);
      if (x.definition)
        require(a_.same(*x.definition, rebuilt(*y.definition)), "the definition of size {}",
                y.name);
      if (x.quotient)
        require(a_.same(x.quotient->first, rebuilt(y.quotient->first)) &&
                    a_.same(x.quotient->second, rebuilt(y.quotient->second)),
                "the quotient of size {}", y.name);
    }
  }

  // A polynomial of b over the sizes of a.
  ir::Poly rebuilt(const ir::Poly& p) const {
    for (const auto& [m, c] : p.terms())
      for (const auto& [id, n] : m)
        require(sizes_.count(id), "size {} is missing in the first", b_[id].name);
    return ir::substitute(p, sizes_);
  }

  ir::Expr rebuilt(const ir::Expr& e) const {
    return ir::rewrite(e, [&](const ir::Expr& x) {
      if (x.is(ir::Kind::size)) return ir::size_value(rebuilt(x->size));
      if (x.is(ir::Kind::index)) return ir::index_value(indices_.at(x->index));
      if (x.is(ir::Kind::read)) {
        const std::string& name = b_[x->tensor].name;
        const auto id = a_.find(name);
        require(id.has_value(), "tensor {} is missing in the first", name);
        return a_.read(*id, x.args());
      }
      return x;
    });
  }

  void compare_tensor(ir::TensorId id) const {
    const ir::Tensor& x = a_[id];
    const auto other = b_.find(x.name);
    require(other.has_value(), "tensor {} is missing in the second", x.name);
    const ir::Tensor& y = b_[*other];
    // The language gives types to what is given and to outputs; between them only arithmetic
    // counts.
    const bool between = x.role == ir::Role::interior && y.role == ir::Role::interior;
    require(x.storage == y.storage ||
                (between && ir::arithmetic_type(x.storage) == ir::arithmetic_type(y.storage)),
            "tensor {} is {} against {}", x.name, ir::name_of(x.storage), ir::name_of(y.storage));
    require(ir::is_argument(x.role) == ir::is_argument(y.role), "the role of {}", x.name);
    require(ir::weight_name(x) == ir::weight_name(y), "the name of {} in a weight file", x.name);
    require(x.extents.size() == y.extents.size(), "the rank of {}", x.name);
    for (size_t k = 0; k < x.extents.size(); ++k)
      require(a_.same(x.extents[k], rebuilt(y.extents[k])), "extent {} of {} is {} against {}", k,
              x.name, to_string(a_, x.extents[k]), to_string(b_, y.extents[k]));
    if (x.role == ir::Role::parameter)
      require(x.init.kind == y.init.kind && x.init.a == y.init.a && x.init.b == y.init.b,
              "the initialiser of {}", x.name);
  }

  void compare(const ir::Definition& x, const ir::Definition& y) {
    const std::string& name = a_[x.target].name;
    require(name == b_[y.target].name, "a definition of {} against one of {}", name,
            b_[y.target].name);
    compare_tensor(x.target);
    try {
      compare_parts(x, y);
    } catch (const Differs& d) {
      throw Differs(fmt::format("{}: {}\n  {}\nagainst\n  {}", name, d.what(), to_string(a_, x),
                                to_string(b_, y)));
    }
  }

  void compare_parts(const ir::Definition& x, const ir::Definition& y) {
    ir::Graph g = a_;
    indices_.clear();
    auto own = [&](const std::vector<ir::IndexId>& indices) {
      std::vector<ir::IndexId> result;
      for (ir::IndexId i : indices)
        result.push_back(indices_[i] = g.new_index(b_[i].name, rebuilt(b_[i].extent)));
      return result;
    };
    ir::Definition z{.target = x.target, .combine = y.combine};
    z.free = own(y.free);
    z.reduced = own(y.reduced);
    for (const ir::Expr& c : y.guard) z.guard.merge(ir::conjuncts(rebuilt(c)));
    z.body = rebuilt(y.body);
    for (const ir::Expr& p : y.position) z.position.push_back(rebuilt(p));
    // A constant may be written 1 or 1.0; its tensor has the type.
    const bool constants = x.body.is(ir::Kind::literal) && z.body.is(ir::Kind::literal) &&
                           x.body->number.value() == z.body->number.value();
    if (constants) z.body = x.body;
    require(ir::key(g, x) == ir::key(g, z), "what it computes");
  }

  const ir::Graph &a_, &b_;
  std::map<ir::SizeId, ir::Poly> sizes_;
  std::map<ir::IndexId, ir::IndexId> indices_;
};

}  // namespace

bool same_graph(const ir::Graph& a, const ir::Graph& b, std::string* difference) {
  try {
    Comparison(a, b).run();
    return true;
  } catch (const Differs& d) {
    if (difference) *difference = d.what();
    return false;
  }
}

}  // namespace attn::text
