// An update is written for one element. Here its names become reads of tensors over the rows and
// columns that any tensor's elements are dealt out to, and each statement a definition.
#include "compiler/elaborate/updates.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

constexpr const char *kRows = "Rows", *kColumns = "Columns";

// Rewrites a statement for one element as a definition over all of them.
class Spreader {
 public:
  // Names of tensors over the elements; the others are scalars.
  std::set<std::string> elements;
  std::string row = "i", column = "j";

  explicit Spreader(ModelState& model) : m_(model) {}

  bool is_of_elements(const dsl::ExprPtr& e) const {
    bool found = false;
    (void)rewrite(e, [&](const dsl::Name& n, const dsl::ExprPtr& whole) {
      found = found || elements.count(n.text);
      return whole;
    });
    return found;
  }

  dsl::ExprPtr spread(const dsl::ExprPtr& e) const {
    return rewrite(e, [&](const dsl::Name& n, const dsl::ExprPtr& whole) -> dsl::ExprPtr {
      if (!elements.count(n.text)) return whole;
      dsl::Access access{{n.text, whole->where}, false, {}};
      for (const std::string* index : {&row, &column})
        access.subscripts.push_back(dsl::make(dsl::Name{*index}, whole->where));
      return dsl::make(std::move(access), whole->where);
    });
  }

 private:
  // The same expression with every name replaced; reports what an element has not.
  template <typename Replace>
  dsl::ExprPtr rewrite(const dsl::ExprPtr& e, const Replace& replace) const {
    if (!e) return e;
    auto all = [&](auto& list) {
      for (dsl::ExprPtr& x : list) x = rewrite(x, replace);
    };
    dsl::ExprNode node = e->node;
    if (const auto* n = std::get_if<dsl::Name>(&node)) return replace(*n, e);
    if (std::get_if<dsl::Access>(&node)) {
      m_.error(e->where, "an update is written for one element").help =
          "names stand without subscripts";
      return e;
    }
    if (std::get_if<dsl::Reduction>(&node)) {
      m_.error(e->where, "an update sees one element at a time").help =
          "an argument `norm` is the Euclidean norm of all gradients together";
      return e;
    }
    if (auto* c = std::get_if<dsl::Call>(&node))
      for (dsl::Argument& a : c->arguments) a.value = rewrite(a.value, replace);
    if (auto* u = std::get_if<dsl::Unary>(&node)) u->operand = rewrite(u->operand, replace);
    if (auto* c = std::get_if<dsl::Chain>(&node)) all(c->operands);
    if (auto* p = std::get_if<dsl::Power>(&node)) {
      p->base = rewrite(p->base, replace);
      p->exponent = rewrite(p->exponent, replace);
    }
    if (auto* i = std::get_if<dsl::Conditional>(&node))
      for (dsl::ExprPtr* part : {&i->condition, &i->yes, &i->no}) *part = rewrite(*part, replace);
    return dsl::make(std::move(node), e->where);
  }

  ModelState& m_;
};

class UpdateExpander {
 public:
  UpdateExpander(ModelState& model, const UpdateDeclaration& declaration, ir::Storage storage)
      : m_(model), update_(*declaration.update), storage_(storage), spreader_(model) {
    scope_.unit = declaration.home;
  }

  ir::Step head;
  bool reads_norm = false;

  void expand() {
    if (update_.arguments.size() < 2) {
      m_.error(update_.name.where, "an update takes a parameter and its gradient").help =
          fmt::format("write `update {}(w, g, …)`", update_.name.text);
      return;
    }
    make_sizes();
    bool first = true;
    add_element(update_.arguments[0].name, ir::Role::parameter, storage_);
    add_element(update_.arguments[1].name, ir::Role::input, ir::gradient_storage(storage_));
    for (const dsl::UpdateArgument* a : {&update_.arguments[0], &update_.arguments[1]})
      if (a->value)
        m_.error(a->value->where,
                 fmt::format("`{}` is a tensor, and has no default", a->name.text));
    for (const dsl::Statement& s : update_.body)
      if (const auto* states = std::get_if<dsl::StateStatement>(&s.node))
        for (const dsl::State& state : states->states) add_state(state);
    for (const dsl::UpdateArgument& a : update_.arguments) {
      if (&a - update_.arguments.data() < 2) continue;
      add_scalar(a);
    }
    name_indices();
    for (const dsl::Statement& s : update_.body) {
      if (std::get_if<dsl::StateStatement>(&s.node)) continue;
      if (const auto* d = std::get_if<dsl::Definition>(&s.node)) {
        define(*d, s.where);
      } else if (std::exchange(first, false)) {
        m_.error(s.where, "an update consists of states and definitions");
      }
    }
    finish();
  }

 private:
  // The sizes that every tensor is over.
  void make_sizes() {
    for (const char* name : {kRows, kColumns}) {
      scope_.sizes[name] = ir::Poly::size({static_cast<int32_t>(m_.graph.sizes.size())});
      m_.graph.sizes.push_back({.name = name});
    }
  }

  bool claim(const dsl::Identifier& name) {
    const Binding* b = scope_.find(name.text);
    if (b && b->kind != Binding::Kind::poisoned) {
      m_.error(name.where, fmt::format("`{}` is defined twice", name.text))
          .others.push_back({b->where, "first here"});
      return false;
    }
    return true;
  }

  void bind(const dsl::Identifier& name, ir::Tensor tensor) {
    if (!claim(name)) return;
    tensor.name = name.text;
    tensor.where = name.where;
    scope_.names[name.text] = {.kind = Binding::Kind::tensor,
                               .tensor = m_.new_tensor(std::move(tensor)),
                               .where = name.where};
  }

  void add_element(const dsl::Identifier& name, ir::Role role, ir::Storage storage) {
    ir::Tensor t{.storage = storage, .role = role};
    t.extents = {scope_.sizes.at(kRows), scope_.sizes.at(kColumns)};
    bind(name, std::move(t));
    spreader_.elements.insert(name.text);
    targets_.push_back(name);
    storages_.push_back(storage);
  }

  void add_state(const dsl::State& state) {
    const auto value = constant(state.value);
    add_element(state.name, ir::Role::input, ir::gradient_storage(storage_));
    head.states.push_back({state.name.text, value.value_or(0)});
  }

  void add_scalar(const dsl::UpdateArgument& a) {
    bind(a.name, {.storage = ir::Storage::f64, .role = ir::Role::input});
    const bool given = a.name.text == ir::kStepCount || a.name.text == ir::kStepNorm;
    reads_norm = reads_norm || a.name.text == ir::kStepNorm;
    std::optional<double> value;
    if (a.value) value = constant(a.value);
    if (given && a.value)
      m_.error(a.value->where, fmt::format("`{}` has no default", a.name.text)).help =
          a.name.text == ir::kStepCount ? "it counts the updates from 1"
                                        : "it is the norm of all gradients together";
    if (!given) head.options.push_back({a.name.text, value});
  }

  std::optional<double> constant(const dsl::ExprPtr& e) {
    const MaybeValue v = Statement::scalar(m_, scope_, e, "default");
    if (!v) return std::nullopt;
    if (v->expr.is(ir::Kind::literal) && v->sort != Sort::truth) return v->expr->number.value();
    m_.error(e->where, "a number that is known when compiling is needed here");
    return std::nullopt;
  }

  // Indices that nothing in the update is called.
  void name_indices() {
    std::set<std::string> taken;
    for (const auto& [name, binding] : scope_.names) taken.insert(name);
    for (const dsl::Statement& s : update_.body)
      if (const auto* d = std::get_if<dsl::Definition>(&s.node)) taken.insert(d->target.text);
    for (std::string* index : {&spreader_.row, &spreader_.column})
      while (taken.count(*index)) *index += "_";
  }

  void define(const dsl::Definition& d, Span where) {
    if (!check_target(d)) {
      scope_.names[d.target.text] = {.kind = Binding::Kind::poisoned, .where = d.target.where};
      return;
    }
    if (!claim(d.target)) return;
    const int errors_before = m_.error_count();
    const std::string& name = d.target.text;
    const bool primed = name.ends_with('\'');
    dsl::Definition whole = d;
    const bool element =
        primed || spreader_.is_of_elements(d.value) || spreader_.is_of_elements(d.condition);
    if (element && m_.error_count() == errors_before) {
      for (const auto& [index, extent] :
           {std::pair(spreader_.row, kRows), std::pair(spreader_.column, kColumns)})
        whole.indices.push_back({{index, where}, dsl::make(dsl::Name{extent}, where)});
      whole.value = spreader_.spread(d.value);
      whole.condition = spreader_.spread(d.condition);
    }
    Binding binding{.kind = Binding::Kind::poisoned, .where = d.target.where};
    if (m_.error_count() == errors_before) {
      if (primed) declare_type(name);
      const std::string full = primed ? name.substr(0, name.size() - 1) + ".next" : name;
      if (const auto tensor = Statement(m_, scope_, whole, where, full).run()) {
        binding.kind = Binding::Kind::tensor;
        binding.tensor = *tensor;
      }
    }
    scope_.names[name] = binding;
    if (element) spreader_.elements.insert(name);
  }

  bool check_target(const dsl::Definition& d) {
    if (d.leading || !d.indices.empty() || !d.subscripts.empty()) {
      m_.error(d.target.where, "an update is written for one element").help =
          "names stand without subscripts";
      return false;
    }
    const std::string& name = d.target.text;
    if (!name.ends_with('\'')) return true;
    const std::string of = name.substr(0, name.size() - 1);
    if (of == update_.arguments[1].name.text) {
      m_.error(d.target.where, fmt::format("`{}` is the gradient, and stays what it is", of));
      return false;
    }
    const bool changes = std::any_of(targets_.begin(), targets_.end(),
                                     [&](const dsl::Identifier& t) { return t.text == of; });
    if (changes) return true;
    m_.error(d.target.where, fmt::format("`{}` is neither the parameter nor a state", of)).help =
        fmt::format("the parameter is `{}`; declare a state: `state {} = 0`",
                    update_.arguments[0].name.text, of);
    return false;
  }

  // What is updated keeps its type.
  void declare_type(const std::string& primed) {
    const std::string of = primed.substr(0, primed.size() - 1);
    for (size_t k = 0; k < targets_.size(); ++k) {
      if (targets_[k].text != of) continue;
      dsl::Type& type = types_[primed];
      type.dtype.text = ir::name_of(storages_[k]);
      scope_.output_types[primed] = &type;
    }
  }

  // Outputs in the order of what they replace.
  void finish() {
    for (size_t k = 0; k < targets_.size(); ++k) {
      if (k == 1) continue;
      const Binding* b = scope_.find(targets_[k].text + "'");
      if (!b) {
        m_.error(targets_[k].where, fmt::format("`{}` is never updated", targets_[k].text)).help =
            fmt::format("say what it becomes: `{}' = …`", targets_[k].text);
        continue;
      }
      if (b->kind != Binding::Kind::tensor) continue;
      m_.graph[b->tensor].role = ir::Role::output;
      m_.graph.outputs.push_back({m_.graph[b->tensor].name, b->tensor});
    }
    for (size_t k = 2; k < m_.graph.sizes.size(); ++k) {
      const ir::Size& s = m_.graph.sizes[k];
      if (m_.graph.known(ir::Poly::size({static_cast<int32_t>(k)}))) continue;
      m_.error(s.where, fmt::format("an update knows no size `{}`", s.name)).help =
          "sizes that it reads are known when compiling";
    }
  }

  ModelState& m_;
  const dsl::Update& update_;
  ir::Storage storage_;
  Spreader spreader_;
  Scope scope_;
  std::vector<dsl::Identifier> targets_;  // the parameter, its gradient, and the states
  std::vector<ir::Storage> storages_;
  std::map<std::string, dsl::Type> types_;
};

ir::SquaredNorm squared_norm(ir::Storage storage) {
  ir::SquaredNorm result{storage, {}};
  ir::Graph& g = result.graph;
  g.name = "norm";
  for (const char* name : {kRows, kColumns}) g.sizes.push_back({.name = name});
  const ir::Poly rows = ir::Poly::size({0}), columns = ir::Poly::size({1});
  const ir::TensorId of = g.new_tensor(
      {.name = "g", .storage = storage, .extents = {rows, columns}, .role = ir::Role::input});
  const ir::TensorId square =
      g.new_tensor({.name = "square", .storage = ir::Storage::f64, .role = ir::Role::output});
  ir::Definition d{.target = square, .combine = ir::Combine::sum};
  d.reduced = {g.new_index("i", rows), g.new_index("j", columns)};
  const ir::Expr element =
      g.read(of, {ir::index_value(d.reduced[0]), ir::index_value(d.reduced[1])});
  d.body = element * element;
  g.definitions.push_back(ir::normal_form(std::move(d)));
  g.outputs.push_back({"square", square});
  ir::verify(g, "norm");
  return result;
}

}  // namespace

const std::optional<Updates::Elaborated>& Updates::elaborated(const UpdateDeclaration& update,
                                                              ir::Storage storage) {
  auto [it, fresh] = known_.try_emplace({&update, storage});
  if (!fresh) return it->second;
  const Overrides none;
  ModelState state(sources_, *update.home, none, diagnostics_);
  state.graph.name = update.update->name.text;
  const int before = diagnostics_.error_count();
  UpdateExpander expander(state, update, storage);
  expander.expand();
  if (diagnostics_.error_count() > before) return it->second;
  expander.head.name = update.update->name.text;
  ir::Update result{storage, canonical(state.graph)};
  ir::verify(result.graph, "update");
  it->second = {std::move(expander.head), std::move(result), expander.reads_norm};
  return it->second;
}

std::optional<ir::Step> Updates::step(const UpdateDeclaration& update,
                                      const std::set<ir::Storage>& storages) {
  std::optional<ir::Step> step;
  std::set<ir::Storage> gradients;
  for (ir::Storage storage : storages) {
    const auto& one = elaborated(update, storage);
    if (!one) return std::nullopt;
    if (!step) step = one->head;
    step->updates.push_back(one->update);
    if (one->reads_norm) gradients.insert(ir::gradient_storage(storage));
  }
  if (!step) return std::nullopt;
  for (ir::Storage storage : gradients) step->norms.push_back(squared_norm(storage));
  return step;
}

}  // namespace attn::elaborate
