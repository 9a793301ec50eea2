// The range of every index of a definition: from the places where it stands alone as a subscript,
// which must agree, unless it was given.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/elaborate/statement.h"
#include "compiler/ops/table.h"

namespace attn::elaborate {

std::optional<Ranges> RangeFinder::run() {
  count_leading(definition_.value);
  if (definition_.condition) count_leading(definition_.condition);
  for (const dsl::ExprPtr& e : definition_.subscripts) count_leading(e);
  if (!leading_ && scope_.outermost().has_leading)
    leading_ = static_cast<int>(scope_.outermost().leading.size());
  if (failed_) return std::nullopt;
  ranges_.left = bind(definition_.leading, definition_.indices, true);
  place_output();
  open_.push_back(&ranges_.left);
  scan(definition_.value);
  if (definition_.condition) scan(definition_.condition);
  for (const dsl::ExprPtr& e : definition_.subscripts) scan(e);
  if (failed_) return std::nullopt;
  bool good = resolve(ranges_.left, definition_.target.text);
  for (auto& [reduction, bound] : ranges_.reductions)
    if (!resolve(bound, reduction->kind.text)) good = false;
  if (!good) return std::nullopt;
  return std::move(ranges_);
}

// All accesses with `...` must leave the same number of dimensions to it.
void RangeFinder::count_leading(const dsl::ExprPtr& e) {
  if (const auto* access = std::get_if<dsl::Access>(&e->node); access && access->leading) {
    const Binding* b = scope_.find(access->tensor.text);
    if (b && b->kind == Binding::Kind::tensor) {
      const ir::Tensor& t = m_.graph[b->tensor];
      const int count =
          static_cast<int>(t.extents.size()) - static_cast<int>(access->subscripts.size());
      const std::string says = fmt::format("`{}` is {}: `...` is {} of its dimensions",
                                           access->tensor.text, m_.shape(t), count);
      if (count < 0) {
        m_.error(e->where,
                 fmt::format("`{}` has only {} dimensions", access->tensor.text, t.extents.size()))
            .others.push_back(
                {t.where, fmt::format("`{}` is {}", access->tensor.text, m_.shape(t))});
        failed_ = true;
      } else if (leading_ && *leading_ != count) {
        Diagnostic& d =
            m_.error(e->where, "`...` stands for the same indices in a whole statement");
        d.primary.text = says;
        d.others.push_back({leading_where_, leading_says_});
        failed_ = true;
      } else if (!leading_) {
        leading_ = count;
        leading_where_ = e->where;
        leading_says_ = says;
      }
    }
  }
  for (const dsl::ExprPtr& p : parts(*e)) count_leading(p);
}

bool RangeFinder::check_name(const dsl::Identifier& name, const std::vector<dsl::Index>& siblings,
                             size_t position) {
  const std::string& text = name.text;
  for (size_t k = 0; k < position; ++k) {
    if (siblings[k].name.text != text) continue;
    m_.error(name.where, fmt::format("index `{}` is bound twice", text))
        .others.push_back({siblings[k].name.where, "first here"});
    return false;
  }
  for (const Bound* b : open_) {
    for (const Binder& other : b->named) {
      if (other.name != text) continue;
      Diagnostic& d = m_.error(name.where, fmt::format("index `{}` is bound already", text));
      d.others.push_back({other.where, "here"});
      d.help = "give the inner index another name";
      return false;
    }
  }
  // A tensor has subscripts where it is read; a number would be told apart by nothing.
  if (Binding* b = scope_.find(text);
      b && b->kind != Binding::Kind::poisoned && !m_.is_subscripted(*b)) {
    if (std::exchange(b->hides_index, true)) return false;
    Diagnostic& d = m_.error(name.where, fmt::format("an index may not be called like the number "
                                                     "`{}`",
                                                     text));
    d.primary.text = "here it would be an index";
    d.others.push_back({b->where, fmt::format("`{}` is defined here", text)});
    d.help = "rename one of the two";
    return false;
  }
  if (m_.is_size_name(text, scope_)) {
    m_.error(name.where, fmt::format("`{}` is a size", text)).help =
        fmt::format("an index needs a name of its own, by custom a small letter: `{}: {}`",
                    static_cast<char>(std::tolower(text[0])), text);
    return false;
  }
  return true;
}

// The step of a scan is bound by the left side alone, with the range that it has.
bool RangeFinder::takes_step(const dsl::Index& index, const OpenScan& scan, bool on_left) {
  if (!on_left) {
    Diagnostic& d =
        m_.error(index.name.where, fmt::format("index `{}` is bound already", scan.index));
    d.others.push_back({scan.where, "it is the step of this scan"});
    d.help = "give the inner index another name";
    return false;
  }
  if (!index.extent) return true;
  const auto given = m_.size(index.extent, scope_);
  if (!given || m_.graph.same(*given, scan.count)) return given.has_value();
  Diagnostic& d =
      m_.error(index.extent->where, fmt::format("`{}` runs over {} and over {}", scan.index,
                                                m_.text(scan.count), m_.text(*given)));
  d.others.push_back({scan.where, "it is the step of this scan"});
  d.help = fmt::format("leave out its range: `{}[…, {}, …]`", definition_.target.text, scan.index);
  return false;
}

Bound RangeFinder::bind(bool leading, const std::vector<dsl::Index>& indices, bool on_left) {
  Bound bound;
  bound.has_leading = leading;
  if (leading) {
    if (!leading_) {
      incomplete_ = true;  // only an unknown tensor has the `...` that would say it
      if (!scope_.has_poisoned())
        m_.error(definition_.target.where, "nothing says what `...` stands for").help =
            "read a tensor with `...` on the right, or name the indices";
      failed_ = true;
      return bound;
    }
    for (int k = 0; k < *leading_; ++k) bound.leading.push_back({.where = {}, .on_left = on_left});
  }
  for (size_t k = 0; k < indices.size(); ++k) {
    const dsl::Index& index = indices[k];
    if (!check_name(index.name, indices, k)) failed_ = true;
    Binder binder{.name = index.name.text, .where = index.name.where, .on_left = on_left};
    index_names_.insert(binder.name);
    const OpenScan* scan = scope_.scan_around();
    if (scan && scan->index == binder.name) {
      if (!takes_step(index, *scan, on_left)) failed_ = true;
      binder.given = scan->count;
    } else if (index.extent) {
      binder.given = m_.size(index.extent, scope_);
      binder.broken = !binder.given;
      if (binder.given && !on_left && m_.with_numbers(*binder.given).integer().value_or(1) <= 0) {
        m_.error(cover(index.name.where, index.extent->where), "a reduction over nothing")
            .primary.text = fmt::format("`{}` takes no value", binder.name);
        failed_ = true;
      }
    }
    bound.named.push_back(std::move(binder));
  }
  return bound;
}

// `-> y: [B, T]` gives ranges to the left side of y.
void RangeFinder::place_output() {
  const dsl::Type* type = scope_.output_type(definition_.target.text);
  if (!type || !type->bracketed) return;
  std::vector<Binder*> left;
  for (Binder& b : ranges_.left.leading) left.push_back(&b);
  for (Binder& b : ranges_.left.named) left.push_back(&b);
  std::vector<ir::Poly> extents;
  if (type->leading) extents = scope_.outermost().leading;
  for (const dsl::ExprPtr& e : type->extents) {
    const auto p = m_.size(e, scope_);
    if (!p) {
      failed_ = true;
      return;
    }
    extents.push_back(*p);
  }
  if (extents.size() != left.size()) {
    Diagnostic& d = m_.error(definition_.target.where,
                             fmt::format("`{}` has {} dimension{} here", definition_.target.text,
                                         left.size(), left.size() == 1 ? "" : "s"));
    d.others.push_back({type->where, fmt::format("and {} here", extents.size())});
    failed_ = true;
    return;
  }
  for (size_t k = 0; k < left.size(); ++k) {
    const std::string says = fmt::format("{} of `{}`: {}", ordinal_dimension(static_cast<int>(k)),
                                         definition_.target.text, m_.with_value(extents[k]));
    const Span where = left[k]->where.valid() ? left[k]->where : definition_.target.where;
    left[k]->places.push_back({where, extents[k], says, type->where, "declared here"});
  }
}

void RangeFinder::scan(const dsl::ExprPtr& e) {
  m_.count_step();
  if (const auto* access = std::get_if<dsl::Access>(&e->node)) {
    scan_access(*access, e->where);
    return;
  }
  if (const auto* reduction = std::get_if<dsl::Reduction>(&e->node)) {
    scan_reduction(*reduction);
    return;
  }
  if (std::holds_alternative<dsl::Leading>(e->node)) leading_binder(e->where);
  if (const auto* name = std::get_if<dsl::Name>(&e->node)) {
    const Binding* b = scope_.find(name->text);
    if (b && b->kind == Binding::Kind::poisoned) incomplete_ = true;
    // `x + w` for `x[i] + w[i]` is the mistake here.
    if (b && b->kind == Binding::Kind::tensor && m_.is_subscripted(*b) && !is_index(name->text) &&
        !m_.is_size_name(name->text, scope_)) {
      m_.report_without_subscripts(e->where, name->text, m_.graph[b->tensor]);
      incomplete_ = true;
    }
  }
  // `x(b, d)` for `x[b, d]` is the mistake, not the ranges that are missing then.
  if (const auto* call = std::get_if<dsl::Call>(&e->node)) {
    const Callable* callable = scope_.unit->find(call->callee.text);
    if (callable ? !callable->function : !ops::find(call->callee.text)) {
      incomplete_ = true;
      return;
    }
  }
  for (const dsl::ExprPtr& p : parts(*e)) scan(p);
}

Bound* RangeFinder::leading_binder(Span where) {
  Bound* binder = nullptr;
  for (Bound* o : open_)
    if (o->has_leading) binder = o;
  if (!binder) {
    m_.error(where, "`...` is bound neither on the left side nor by a reduction").help =
        fmt::format("write `{}[...{}] = …`, or reduce over it: `mean[...]`",
                    definition_.target.text, definition_.indices.empty() ? "" : ", …");
    failed_ = true;
  }
  return binder;
}

void RangeFinder::scan_access(const dsl::Access& access, Span where) {
  for (const dsl::ExprPtr& s : access.subscripts) scan(s);
  const Binding* b = scope_.find(access.tensor.text);
  if (!b || b->kind != Binding::Kind::tensor) {
    incomplete_ = true;
    return;
  }
  const ir::Tensor& t = m_.graph[b->tensor];
  const size_t leading = access.leading ? leading_.value_or(0) : 0;
  if (leading + access.subscripts.size() != t.extents.size()) {
    incomplete_ = true;
    return;
  }
  auto place = [&](Binder& binder, Span at, size_t dimension) {
    const std::string says =
        fmt::format("{} of `{}`: {}", ordinal_dimension(static_cast<int>(dimension)),
                    access.tensor.text, m_.with_value(t.extents[dimension]));
    binder.places.push_back({at, t.extents[dimension], says, t.where,
                             fmt::format("`{}` is {}", access.tensor.text, m_.shape(t))});
  };
  if (access.leading) {
    Bound* binder = leading_binder(where);
    if (!binder) return;
    for (size_t k = 0; k < leading && k < binder->leading.size(); ++k)
      place(binder->leading[k], where, k);
  }
  for (size_t k = 0; k < access.subscripts.size(); ++k) {
    const dsl::Expr& subscript = *access.subscripts[k];
    const size_t dimension = leading + k;
    const auto* name = std::get_if<dsl::Name>(&subscript.node);
    for (auto o = open_.rbegin(); o != open_.rend(); ++o) {
      for (Binder& binder : (*o)->named) {
        if (name && name->text == binder.name) {
          place(binder, subscript.where, dimension);
        } else if (!name && mentions(subscript, binder.name)) {
          binder.mentions.push_back({&subscript, t.extents[dimension]});
        }
      }
    }
  }
}

void RangeFinder::scan_reduction(const dsl::Reduction& reduction) {
  if (reduction.kind.text == "softmax") {  // binds nothing
    if (reduction.condition) scan(reduction.condition);
    scan(reduction.operand);
    return;
  }
  Bound& bound = ranges_.reductions[&reduction];
  bound = bind(reduction.leading, reduction.indices, false);
  open_.push_back(&bound);
  if (reduction.condition) scan(reduction.condition);
  scan(reduction.operand);
  open_.pop_back();
}

bool RangeFinder::resolve(Bound& bound, const std::string& word) {
  bool good = true;
  for (Binder& b : bound.leading) good = resolve(b, word) && good;
  if (good) name_leading(bound);
  for (Binder& b : bound.named) good = resolve(b, word) && good;
  if (!good) return false;
  for (auto* list : {&bound.leading, &bound.named})
    for (Binder& b : *list) b.id = m_.graph.new_index(b.name, *b.given);
  return true;
}

bool RangeFinder::resolve(Binder& binder, const std::string& word) {
  if (binder.broken) return false;
  if (binder.given) return true;
  if (binder.places.empty()) {
    const auto& leading = scope_.outermost().leading;
    const auto position = static_cast<size_t>(&binder - ranges_.left.leading.data());
    if (binder.name.empty() && binder.on_left && position < leading.size()) {
      binder.given = leading[position];
      return true;
    }
    if (const auto known = known_.find(binder.name); known != known_.end() && binder.on_left) {
      binder.given = known->second;
      return true;
    }
    if (!incomplete_) report_rangeless(binder, word);
    return false;
  }
  const Place& first = binder.places.front();
  for (const Place& p : binder.places) {
    if (m_.is_one_extent(p.extent, first.extent)) continue;
    if (incomplete_) return false;
    const std::string who =
        binder.name.empty() ? "an index of `...`" : fmt::format("index `{}`", binder.name);
    const std::string one = m_.text(first.extent), other = m_.text(p.extent);
    Diagnostic& d = m_.error(p.where, fmt::format("{} runs over {} and over {}{}", who, one,
                                                  one == other ? "another " : "", other));
    d.primary.text = p.says;
    d.others.push_back({first.where, first.says});
    if (first.declared.valid()) d.others.push_back({first.declared, first.declares});
    if (p.declared.valid() && !(p.declared == first.declared))
      d.others.push_back({p.declared, p.declares});
    if (const auto now = m_.graph.known(p.extent); now && now == m_.graph.known(first.extent))
      d.message += fmt::format(", which are both {} here", *now);
    if (!binder.name.empty())
      d.help = fmt::format("make the two sizes one, or give the range: `{}[{}: {}]`", word,
                           binder.name, one);
    return false;
  }
  binder.given = first.extent;
  return true;
}

// The indices of `...` are named after their sizes: B gives b.
void RangeFinder::name_leading(Bound& bound) {
  int number = 0;
  for (Binder& b : bound.leading) {
    std::string base;
    if (const auto id = m_.with_numbers(*b.given).single()) base = m_.graph[*id].name;
    if (const size_t dot = base.rfind('.'); dot != std::string::npos) base = base.substr(dot + 1);
    std::transform(base.begin(), base.end(), base.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    auto free = [&](const std::string& n) {
      return !n.empty() && !std::isdigit(static_cast<unsigned char>(n[0])) &&
             !index_names_.count(n) && !m_.name_taken(n) && !m_.graph.find_size(n);
    };
    b.name = base;
    while (!free(b.name)) b.name = fmt::format("n{}", ++number);
    index_names_.insert(b.name);
  }
}

}  // namespace attn::elaborate
