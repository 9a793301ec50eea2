// A graph as a file of the language: its sizes, and one model with its definitions in order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/recurrence.h"
#include "compiler/text/text.h"
#include "compiler/text/writer.h"
#include "dsl/print.h"

namespace attn::text {
namespace {

using dsl::ExprPtr;

dsl::Comments documented(const std::string& doc) {
  dsl::Comments comments;
  size_t begin = 0;
  while (begin < doc.size()) {
    const size_t end = std::min(doc.find('\n', begin), doc.size());
    comments.above.push_back("## " + doc.substr(begin, end - begin));
    begin = end + 1;
  }
  return comments;
}

// Every extent that a place gives to an index which stands alone there. Tensors of `open` are not
// defined yet.
std::map<ir::IndexId, std::vector<ir::Poly>> ranges_given(const ir::Graph& g,
                                                          const ir::Definition& d,
                                                          const std::set<ir::TensorId>& open) {
  std::map<ir::IndexId, std::vector<ir::Poly>> result;
  auto collect = [&](const ir::Expr& e) {
    ir::visit(e, [&](const ir::Expr& x) {
      if (!x.is(ir::Kind::read) || open.count(x->tensor)) return true;
      for (size_t k = 0; k < x.args().size(); ++k)
        if (x.args()[k].is(ir::Kind::index))
          result[x.args()[k]->index].push_back(g[x->tensor].extents[k]);
      return true;
    });
  };
  collect(d.body);
  for (const ir::Expr& c : d.guard) collect(c);
  return result;
}

class TreeOf {
 public:
  explicit TreeOf(const ir::Graph& g) : g_(g), context_(g), writer_(context_, nullptr) {}

  dsl::File file() const {
    dsl::File result;
    add_sizes(result);
    dsl::Block block;
    block.kind = dsl::BlockKind::model;
    block.name.text = g_.name.empty() ? "unnamed" : g_.name;
    for (const ir::Tensor& t : g_.tensors)
      if (ir::is_argument(t.role) && t.role != ir::Role::parameter && !is_state(t))
        block.inputs.push_back({{t.name, {}}, type(t)});
    for (const ir::Output& o : g_.outputs)
      if (!o.updates.valid()) block.outputs.push_back({{o.name, {}}, result_type(o), o.probe});
    add_states(block);
    add_parameters(block);
    bool first = !block.body.empty();
    auto add = [&](dsl::StatementNode node, Span where) {
      block.body.push_back({std::move(node), where, {}});
      if (std::exchange(first, false)) block.body.back().comments.above.push_back("");
    };
    const std::vector<ir::Recurrence> recurrences = ir::recurrences(g_);
    auto next = recurrences.begin();
    for (size_t k = 0; k < g_.definitions.size(); ++k) {
      const ir::Definition& d = g_.definitions[k];
      if (next != recurrences.end() && next->first == k) {
        add(scan(*next), d.where);
        k = next++->end() - 1;
      } else {
        add(definition(d), d.where);
      }
    }
    for (const ir::Output& o : g_.outputs)
      if (g_[o.tensor].name != o.name) block.body.push_back({copy(o), {}, {}});
    result.items.push_back({std::move(block), {}, {}});
    return result;
  }

  // `step`: of the recurrence that the definition belongs to, with its other definitions in `open`.
  dsl::Definition definition(const ir::Definition& d, const Step& step = {},
                             const std::set<ir::TensorId>& open = {}) const {
    const Writer writer(context_, &d, step);
    const auto given = ranges_given(g_, d, open);
    auto index = [&](ir::IndexId i) {
      dsl::Index result{{writer.name(i), {}}, nullptr};
      if (i == step.index) return result;
      auto places = given.find(i);
      bool inferred = places != given.end();
      if (inferred)
        for (const ir::Poly& p : places->second) inferred = inferred && g_.same(p, g_[i].extent);
      if (!inferred) result.extent = writer.size(g_[i].extent);
      return result;
    };
    dsl::Definition result;
    result.target.text = g_[d.target].name;
    if (d.position.empty())
      for (ir::IndexId i : d.free) result.indices.push_back(index(i));
    for (const ir::Expr& p : d.position) result.subscripts.push_back(writer.expression(p));
    if (g_.updated_by(d.target).valid()) name_places(result);
    if (d.combine == ir::Combine::set) {
      result.value = writer.expression(d.body);
      result.condition = writer.conditions(d.guard);
      return result;
    }
    dsl::Reduction reduction;
    reduction.kind.text = ir::name_of(d.combine);
    for (ir::IndexId i : d.reduced) reduction.indices.push_back(index(i));
    const bool linear = d.combine == ir::Combine::sum;
    const auto [body, outside] = linear ? scaled(d.body) : std::pair(d.body, ir::Expr(1));
    reduction.operand = writer.expression(body);
    // A sum is 0 over nothing, so what concerns the left side alone may stand at the end.
    ir::Conditions inner, outer;
    for (const ir::Expr& c : d.guard) {
      bool bound = !linear;
      for (ir::IndexId i : d.reduced) bound = bound || ir::uses(c, i);
      (bound ? inner : outer).insert(c);
    }
    reduction.condition = writer.conditions(inner);
    result.condition = writer.conditions(outer);
    result.value = writer.scale(dsl::make(std::move(reduction)), outside);
    return result;
  }

  // Names indices as they occur.
  const Writer& excerpt() const { return writer_; }

 private:
  dsl::Scan scan(const ir::Recurrence& r) const {
    auto step_of = [&](size_t k) { return g_.definitions[k].free[r.step[k - r.first]]; };
    dsl::Scan result;
    result.down = r.down;
    result.count = writer_.size(g_[step_of(r.first)].extent);
    const std::string own = Writer(context_, &g_.definitions[r.first]).name(step_of(r.first));
    result.index.text = own;
    std::set<ir::TensorId> open;
    for (size_t k = r.first; k < r.end(); ++k) open.insert(g_.definitions[k].target);
    for (size_t k = r.first; k < r.end(); ++k) {
      const ir::Definition& d = g_.definitions[k];
      result.body.push_back({definition(d, {step_of(k), own}, open), d.where, {}});
    }
    return result;
  }

  // The body of a sum and the sign and the divisors of sizes that are written around the sum.
  static std::pair<ir::Expr, ir::Expr> scaled(const ir::Expr& body) {
    if (!body.is(ir::Kind::multiply)) return {body, 1};
    std::vector<ir::Expr> inside, outside;
    for (const ir::Expr& f : body.args()) {
      const bool divisor = f.is(ir::Kind::power) && f.args()[1].is(ir::Kind::literal) &&
                           f.args()[1]->number.value() < 0 && ir::indices(f).empty() &&
                           ir::tensors(f).empty();
      (divisor || f.is_literal(-1) ? outside : inside).push_back(f);
    }
    if (inside.empty()) return {body, 1};
    return {ir::multiply(std::move(inside)), ir::multiply(std::move(outside))};
  }

  void add_sizes(dsl::File& file) const {
    int last = -1;
    for (const ir::Size& s : g_.sizes) {
      dsl::Size size{{s.name, {}}, nullptr, false, nullptr, nullptr};
      int kind = 0;
      if (s.quotient) {
        size.value = chain({writer_.size(s.quotient->first), writer_.size(s.quotient->second)},
                           {dsl::Op::floor_divide});
        kind = 1;
      } else if (s.definition && (!s.value || g_.expand(*s.definition).integer() == s.value)) {
        size.value = writer_.size(*s.definition);
        kind = 1;
      } else if (s.value) {
        size.value = dsl::make_number(*s.value);
        kind = 1;
      } else if (s.lower != 0 || s.upper) {
        size.ranged = true;
        size.low = dsl::make_number(s.lower);
        if (s.upper) size.high = dsl::make_number(*s.upper);
      }
      if (kind == last && s.doc.empty()) {
        std::get<dsl::SizeStatement>(file.items.back().node).sizes.push_back(std::move(size));
        continue;
      }
      file.items.push_back({dsl::SizeStatement{{std::move(size)}}, {}, documented(s.doc)});
      last = s.doc.empty() ? kind : -1;
    }
  }

  bool is_state(const ir::Tensor& t) const {
    return std::ranges::any_of(
        g_.outputs, [&](const ir::Output& o) { return o.updates.valid() && &g_[o.updates] == &t; });
  }

  void add_states(dsl::Block& block) const {
    for (const ir::Tensor& t : g_.tensors)
      if (is_state(t))
        block.body.push_back(
            {dsl::StateStatement{{{{t.name, {}}, true, type(t), nullptr}}}, {}, {}});
  }

  // The indices of what a state becomes stand as subscripts; its type gives their ranges.
  static void name_places(dsl::Definition& d) {
    for (const dsl::Index& i : d.indices) d.subscripts.push_back(dsl::make(dsl::Name{i.name.text}));
    d.indices.clear();
  }

  // One statement for neighbours of one shape.
  void add_parameters(dsl::Block& block) const {
    const ir::Tensor* last = nullptr;
    for (const ir::Tensor& t : g_.tensors) {
      if (t.role != ir::Role::parameter) continue;
      dsl::Param p{{t.name, {}}, type(t), initialiser(t.init), {t.weight_name, {}}};
      const bool joins = last && last->doc.empty() && t.doc.empty() && !p.initialiser &&
                         t.weight_name.empty() && last->weight_name.empty() &&
                         last->init.kind == ir::Initialiser::Kind::automatic &&
                         last->extents == t.extents && last->storage == t.storage;
      last = &t;
      if (joins) {
        std::get<dsl::ParamStatement>(block.body.back().node).params.push_back(std::move(p));
      } else {
        block.body.push_back({dsl::ParamStatement{{std::move(p)}}, {}, documented(t.doc)});
      }
    }
  }

  dsl::Type type(const ir::Tensor& t) const {
    dsl::Type result;
    result.bracketed = !t.extents.empty();
    if (t.storage != ir::Storage::f32 || t.extents.empty())
      result.dtype.text = ir::name_of(t.storage);
    for (const ir::Poly& p : t.extents) result.extents.push_back(writer_.size(p));
    return result;
  }

  // Given where it is not f32 from an expression in f32.
  dsl::Type result_type(const ir::Output& o) const {
    dsl::Type result;
    const ir::Tensor& t = g_[o.tensor];
    const ir::Definition* d = g_.definition_of(o.tensor);
    if (t.storage != ir::Storage::f32 || (d && d->body.type() == ir::Type::f64))
      result.dtype.text = ir::name_of(t.storage);
    return result;
  }

  static ExprPtr initialiser(const ir::Initialiser& init) {
    using Kind = ir::Initialiser::Kind;
    constexpr const char* names[] = {"",       "zeros",   "ones",   "constant",
                                     "normal", "uniform", "xavier", "orthogonal"};
    if (init.kind == Kind::automatic) return nullptr;
    const std::string name = names[static_cast<int>(init.kind)];
    auto number = [](double x) {
      return x == std::floor(x) && std::abs(x) < 1e15 ? dsl::make_number(static_cast<int64_t>(x))
                                                      : dsl::make_number(x);
    };
    dsl::Call call{{name, {}}, {}};
    if (init.kind == Kind::constant) {
      call.arguments = {{{}, number(init.a)}};
    } else if (init.kind == Kind::normal || init.kind == Kind::uniform) {
      call.arguments = {{{}, number(init.a)}, {{}, number(init.b)}};
    } else {
      return dsl::make(dsl::Name{name});
    }
    return dsl::make(std::move(call));
  }

  // An output that shares its tensor with another name.
  dsl::Definition copy(const ir::Output& o) const {
    dsl::Definition result;
    result.target.text = o.name;
    dsl::Access access{{g_[o.tensor].name, {}}, false, {}};
    for (size_t k = 0; k < g_[o.tensor].extents.size(); ++k) {
      std::string name = fmt::format("i{}", k);
      while (context_.taken.count(name)) name += "_";
      result.indices.push_back({{name, {}}, nullptr});
      access.subscripts.push_back(dsl::make(dsl::Name{name}));
    }
    result.value = access.subscripts.empty() ? dsl::make(dsl::Name{access.tensor.text})
                                             : dsl::make(std::move(access));
    return result;
  }

  const ir::Graph& g_;
  Context context_;
  Writer writer_;
};

}  // namespace

dsl::File to_tree(const ir::Graph& g) { return TreeOf(g).file(); }

std::vector<dsl::Definition> trees_of(const ir::Graph& g, const std::vector<size_t>& which) {
  const TreeOf tree(g);
  std::vector<dsl::Definition> result;
  for (size_t k : which) result.push_back(tree.definition(g.definitions.at(k)));
  return result;
}

std::string to_string(const ir::Graph& g) { return dsl::print(to_tree(g)); }

std::string to_string(const std::vector<const ir::Graph*>& graphs) {
  dsl::File file;
  std::set<std::string> declared;
  for (const ir::Graph* g : graphs) {
    for (dsl::Item& item : to_tree(*g).items) {
      if (auto* sizes = std::get_if<dsl::SizeStatement>(&item.node)) {
        std::erase_if(sizes->sizes,
                      [&](const dsl::Size& s) { return !declared.insert(s.name.text).second; });
        if (sizes->sizes.empty()) continue;
      }
      file.items.push_back(std::move(item));
    }
  }
  return dsl::print(file);
}

class Printer::Parts : public TreeOf {
 public:
  using TreeOf::TreeOf;
};

Printer::Printer(const ir::Graph& g) : parts_(std::make_unique<Parts>(g)) {}
Printer::~Printer() = default;

std::string Printer::operator()(const ir::Definition& d) const {
  std::string text = dsl::print(std::vector<dsl::Statement>{{parts_->definition(d), {}, {}}});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string Printer::operator()(const ir::Expr& e) const {
  return dsl::print(parts_->excerpt().expression(e));
}

std::string Printer::operator()(const ir::Conditions& c) const {
  return c.empty() ? "true" : dsl::print(parts_->excerpt().conditions(c));
}

std::string Printer::operator()(const ir::Poly& p) const {
  return dsl::print(parts_->excerpt().size(p));
}

std::string to_string(const ir::Graph& g, const ir::Definition& d) { return Printer(g)(d); }
std::string to_string(const ir::Graph& g, const ir::Expr& e) { return Printer(g)(e); }
std::string to_string(const ir::Graph& g, const ir::Poly& p) { return Printer(g)(p); }

}  // namespace attn::text
