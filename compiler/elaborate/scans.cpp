// Recurrences: which names of a scan's body are read before they are defined, what shape these
// have, and what stands for them before the first step.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/blocks.h"

namespace attn::elaborate {
namespace {

bool reads(const dsl::ExprPtr& e, const std::string& name) {
  if (!e) return false;
  if (const auto* a = std::get_if<dsl::Access>(&e->node); a && a->tensor.text == name) return true;
  const std::vector<dsl::ExprPtr> inner = parts(*e);
  return std::any_of(inner.begin(), inner.end(),
                     [&](const dsl::ExprPtr& p) { return reads(p, name); });
}

bool reads(const dsl::Statement& s, const std::string& name) {
  if (const auto* d = std::get_if<dsl::Definition>(&s.node))
    return reads(d->value, name) || reads(d->condition, name);
  if (const auto* c = std::get_if<dsl::BlockCall>(&s.node))
    return std::any_of(c->arguments.begin(), c->arguments.end(), [&](const dsl::Argument& a) {
      return mentions(*a.value, name) || reads(a.value, name);
    });
  if (const auto* r = std::get_if<dsl::Repeat>(&s.node))
    return std::any_of(r->body.begin(), r->body.end(),
                       [&](const dsl::Statement& x) { return reads(x, name); });
  return false;
}

// Where the step stands among the indices of a definition.
std::optional<size_t> step_of(const dsl::Definition& d, const std::string& step) {
  for (size_t k = 0; k < d.indices.size() && !d.leading; ++k)
    if (d.indices[k].name.text == step) return k;
  return std::nullopt;
}

}  // namespace

// The extents of names that a body defines, as far as its subscripts say them.
class Expander::Shapes {
 public:
  using Shape = std::vector<std::optional<ir::Poly>>;

  Shapes(ModelState& model, Scope& scope, const dsl::Scan& scan, const ir::Poly& count)
      : m_(model), scope_(scope), scan_(scan), count_(count) {
    for (const dsl::Statement& s : scan.body)
      if (const auto* d = std::get_if<dsl::Definition>(&s.node); d && !d->leading)
        shapes_.emplace(d->target.text, Shape(d->indices.size()));
    while (look_once()) {
    }
  }

  const Shape& of(const std::string& name) const { return shapes_.at(name); }

 private:
  // Whether something was learnt.
  bool look_once() {
    bool any = false;
    for (const dsl::Statement& s : scan_.body) {
      const auto* d = std::get_if<dsl::Definition>(&s.node);
      if (!d || d->leading) continue;
      Shape& shape = shapes_.at(d->target.text);
      if (shape.size() != d->indices.size()) continue;
      for (size_t k = 0; k < shape.size(); ++k) {
        if (shape[k]) continue;
        shape[k] = extent(*d, d->indices[k]);
        any = any || shape[k].has_value();
      }
    }
    return any;
  }

  std::optional<ir::Poly> extent(const dsl::Definition& d, const dsl::Index& index) {
    if (index.name.text == scan_.index.text) return count_;
    if (index.extent) return m_.size(index.extent, scope_, true);
    for (const dsl::ExprPtr& e : {d.value, d.condition, d.start})
      if (e)
        if (auto found = extent(*e, index.name.text)) return found;
    return std::nullopt;
  }

  // That of a dimension at which the index stands alone.
  std::optional<ir::Poly> extent(const dsl::Expr& e, const std::string& index) {
    if (const auto* a = std::get_if<dsl::Access>(&e.node); a && !a->leading) {
      for (size_t k = 0; k < a->subscripts.size(); ++k) {
        const auto* name = std::get_if<dsl::Name>(&a->subscripts[k]->node);
        if (!name || name->text != index) continue;
        if (auto found = dimension(a->tensor.text, k, a->subscripts.size())) return found;
      }
    }
    for (const dsl::ExprPtr& p : parts(e))
      if (auto found = extent(*p, index)) return found;
    return std::nullopt;
  }

  std::optional<ir::Poly> dimension(const std::string& tensor, size_t k, size_t rank) {
    if (const auto own = shapes_.find(tensor); own != shapes_.end())
      return own->second.size() == rank ? own->second[k] : std::nullopt;
    const Binding* b = scope_.find(tensor);
    if (!b || b->kind != Binding::Kind::tensor) return std::nullopt;
    const std::vector<ir::Poly>& extents = m_.graph[b->tensor].extents;
    return extents.size() == rank ? std::optional(extents[k]) : std::nullopt;
  }

  ModelState& m_;
  Scope& scope_;
  const dsl::Scan& scan_;
  const ir::Poly& count_;
  std::map<std::string, Shape> shapes_;
};

namespace {

// The names that a body computes in f64: those whose values use something in f64, perhaps another
// of these names, and outputs that are declared so.
class WideNames {
 public:
  WideNames(const ModelState& model, Scope& scope, const dsl::Scan& scan)
      : m_(model), scope_(scope) {
    size_t before = 0;
    do {
      before = wide_.size();
      look_once(scan.body);
    } while (wide_.size() > before);
  }

  bool has(const std::string& name) const { return wide_.contains(name); }

 private:
  void look_once(const std::vector<dsl::Statement>& body) {
    for (const dsl::Statement& s : body) {
      if (const auto* d = std::get_if<dsl::Definition>(&s.node)) {
        const dsl::Type* type = scope_.output_type(d->target.text);
        const bool declared = type && !type->dtype.text.empty();
        if (declared ? type->dtype.text == "f64"
                     : computes_wide(d->value) || computes_wide(d->start))
          wide_.insert(d->target.text);
      } else if (const auto* c = std::get_if<dsl::BlockCall>(&s.node)) {
        for (const dsl::Argument& a : c->arguments)
          if (computes_wide(a.value))
            for (const dsl::Identifier& result : c->results) wide_.insert(result.text);
      } else if (const auto* r = std::get_if<dsl::Repeat>(&s.node)) {
        look_once(r->body);
      }
    }
  }

  // What only decides (conditions, subscripts) does not make a value wide.
  bool computes_wide(const dsl::ExprPtr& e) const {
    if (!e) return false;
    if (const auto* n = std::get_if<dsl::Name>(&e->node)) return is_wide(n->text);
    if (const auto* a = std::get_if<dsl::Access>(&e->node)) return is_wide(a->tensor.text);
    if (const auto* c = std::get_if<dsl::Chain>(&e->node); c && c->level < dsl::Level::additive)
      return false;
    if (const auto* c = std::get_if<dsl::Call>(&e->node); c && c->callee.text == "int")
      return false;
    if (const auto* r = std::get_if<dsl::Reduction>(&e->node))
      return r->kind.text != "argmax" && computes_wide(r->operand);
    if (const auto* i = std::get_if<dsl::Conditional>(&e->node))
      return computes_wide(i->yes) || computes_wide(i->no);
    const std::vector<dsl::ExprPtr> inner = parts(*e);
    return std::any_of(inner.begin(), inner.end(),
                       [&](const dsl::ExprPtr& p) { return computes_wide(p); });
  }

  bool is_wide(const std::string& name) const {
    if (wide_.contains(name)) return true;
    const Binding* b = scope_.find(name);
    if (!b || b->kind == Binding::Kind::poisoned) return false;
    const ir::Type type = b->kind == Binding::Kind::tensor
                              ? ir::arithmetic_type(m_.graph[b->tensor].storage)
                              : b->value.expr.type();
    return type == ir::Type::f64;
  }

  const ModelState& m_;
  Scope& scope_;
  std::set<std::string> wide_;
};

}  // namespace

void Expander::scan(const dsl::Scan& s, Scope& scope, Span where) {
  const auto count = m_.size(s.count, scope);
  if (!count) return;
  if (open_scan_) {
    m_.error(where, "a scan stands inside another")
        .others.push_back({open_scan_->where, "which begins here"});
    return;
  }
  Binding* same = scope.find(s.index.text);
  if (same && !m_.is_subscripted(*same)) same->hides_index = true;
  if ((same && same->hides_index) || m_.is_size_name(s.index.text, scope)) {
    m_.error(s.index.where, fmt::format("`{}` has a meaning already", s.index.text)).help =
        "the step of a scan is an index: give it a name of its own";
    return;
  }
  const OpenScan open{s.index.text, *count, s.down, s.index.where};
  std::deque<Carried> all;
  const Shapes shapes(m_, scope, s, *count);
  const int errors_before = m_.error_count();
  for (size_t k = 0; k < s.body.size(); ++k)
    if (const auto* d = std::get_if<dsl::Definition>(&s.body[k].node)) {
      const auto end = s.body.begin() + static_cast<int64_t>(k) + 1;
      const bool awaited = std::any_of(
          s.body.begin(), end, [&](const dsl::Statement& x) { return reads(x, d->target.text); });
      if (d->start || (awaited && step_of(*d, s.index.text)))
        announce(*d, open, shapes, scope, all);
    }
  declare(s, shapes, all, scope);
  open_scan_ = scope.scan = &open;
  body(s.body, scope);
  open_scan_ = scope.scan = nullptr;
  for (Carried& c : all) {
    if (c.from.valid() && !c.is_read_back && m_.error_count() == errors_before &&
        !scope.has_poisoned())
      m_.error(c.from, fmt::format("`{}` is never read one step back, so that it needs no start",
                                   c.definition->target.text))
          .help = "leave out `from …`";
    if (Binding* b = scope.find(c.definition->target.text)) b->carried = nullptr;
  }
}

// A name that is read one step back, perhaps above its definition: elaborates its start.
void Expander::announce(const dsl::Definition& d, const OpenScan& open, const Shapes& shapes,
                        Scope& scope, std::deque<Carried>& all) {
  const std::string& name = d.target.text;
  // One error a name is enough.
  const auto give_up = [&] {
    if (claim(d.target, scope, true, true)) bind_tensor(d.target, scope, std::nullopt);
  };
  const auto step = step_of(d, open.index);
  if (!step) {
    Diagnostic& e = m_.error(d.start->where, fmt::format("`{}` has no `{}` of which there could "
                                                         "be a first",
                                                         name, open.index));
    e.help = d.leading ? "name the indices of what is read one step back, instead of `...`"
                       : fmt::format("write `{}` among its indices", open.index);
    return give_up();
  }
  Carried c{.definition = &d, .scan = &open, .step = *step};
  if (d.start) {
    c.from = d.start->where;
    if (const auto* number = std::get_if<dsl::Number>(&d.start->node)) {
      c.constant = number->is_integer() ? ir::Expr(number->integer()) : ir::Expr(number->real());
    } else {
      dsl::Definition start;
      start.target = {name + ".start", c.from};
      start.value = d.start;
      KnownRanges known;
      for (size_t k = 0; k < d.indices.size(); ++k) {
        if (k == *step || !mentions(*d.start, d.indices[k].name.text)) continue;
        start.indices.push_back(d.indices[k]);
        c.start_dimensions.push_back(k);
        if (const auto& extent = shapes.of(name)[k]) known.emplace(d.indices[k].name.text, *extent);
      }
      const std::string full = target_name(name, scope) + ".start";
      c.start = Statement(m_, scope, start, c.from, full).run(known);
      if (!c.start) return give_up();
    }
  }
  all.push_back(std::move(c));
}

// Gives the announced names their tensors, so that they may be read before they are defined.
void Expander::declare(const dsl::Scan& s, const Shapes& shapes, std::deque<Carried>& all,
                       Scope& scope) {
  const WideNames wide(m_, scope, s);
  std::vector<std::pair<const dsl::Definition*, Binding>> bindings;
  for (Carried& c : all) {
    const dsl::Definition& d = *c.definition;
    if (!claim(d.target, scope, true, true)) continue;
    const dsl::Type* type = scope.output_type(d.target.text);
    ir::Tensor tensor{.name = target_name(d.target.text, scope), .where = d.target.where};
    if (type && !type->dtype.text.empty()) {
      if (const auto storage = storage_of(m_, *type)) tensor.storage = *storage;
    } else if (wide.has(d.target.text)) {
      tensor.storage = ir::Storage::f64;
    }
    const Shapes::Shape& shape = shapes.of(d.target.text);
    bool good = shape.size() == d.indices.size();
    for (size_t k = 0; k < shape.size() && good; ++k) {
      if (shape[k]) {
        tensor.extents.push_back(*shape[k]);
        continue;
      }
      good = false;
      if (scope.has_poisoned()) continue;  // which may be why
      const dsl::Identifier& index = d.indices[k].name;
      Diagnostic& e =
          m_.error(index.where, fmt::format("nothing says what `{}` runs over", index.text));
      e.primary.text = fmt::format(
          "no subscript of what is defined outside of the scan is `{}` alone", index.text);
      e.help = fmt::format("give its range: `{}[{}: …]`", d.target.text, index.text);
    }
    Binding b{.kind = Binding::Kind::poisoned, .where = d.target.where};
    if (good) {
      b.kind = Binding::Kind::tensor;
      b.tensor = m_.new_tensor(std::move(tensor));
      b.carried = &c;
    }
    bindings.emplace_back(&d, b);
  }
  for (const auto& [d, b] : bindings) scope.names[d->target.text] = b;
}

}  // namespace attn::elaborate
