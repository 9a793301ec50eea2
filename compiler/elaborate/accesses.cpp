// Reads of tensors, and the proofs that their subscripts are in range.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/statement.h"
#include "compiler/ops/table.h"
#include "compiler/solve/prove.h"

namespace attn::elaborate {
namespace {

// Whether the expression is a quotient or a product by `/`.
bool is_ratio(const dsl::ExprPtr& e) {
  const auto* chain = std::get_if<dsl::Chain>(&e->node);
  return chain &&
         std::find(chain->ops.begin(), chain->ops.end(), dsl::Op::divide) != chain->ops.end();
}

bool has_read(const ir::Expr& e) { return !ir::tensors(e).empty(); }

}  // namespace

MaybeValue Statement::access(const dsl::Access& a, Span where) {
  const std::string& name = a.tensor.text;
  if (!functions_.empty()) {
    unknown_name(name, a.tensor.where, true);
    return std::nullopt;
  }
  Binding* b = scope_.find(name);
  if (!b) {
    for (const dsl::ExprPtr& s : a.subscripts) (void)expression(s);
    unknown_name(name, a.tensor.where, true);
    return std::nullopt;
  }
  b->used = true;
  if (b->kind == Binding::Kind::poisoned) return std::nullopt;
  if (b->kind == Binding::Kind::scalar) {
    m_.error(where, fmt::format("`{}` is a number, without subscripts", name))
        .others.push_back({b->where, "given here"});
    return std::nullopt;
  }
  const ir::TensorId tensor = b->tensor;
  std::vector<ir::Expr> subscripts;
  std::vector<Span> places;
  if (a.leading) {
    if (leading_.empty()) return std::nullopt;  // reported with the ranges
    for (const ir::IndexId i : leading_.back()) {
      subscripts.push_back(ir::index_value(i));
      places.push_back(where);
    }
  }
  if (!check_rank(a, where, tensor, subscripts.size())) return std::nullopt;
  bool good = true;
  for (const dsl::ExprPtr& s : a.subscripts) {
    ++in_subscript_;
    const MaybeValue v = expression(s);
    --in_subscript_;
    if (!v) {
      good = false;
      continue;
    }
    if (v->sort == Sort::truth || v->expr.type() != ir::Type::integer) {
      m_.error(s->where, "a subscript must be an integer").help =
          v->sort == Sort::truth ? fmt::format("write `if {} then 1 else 0`", m_.source(s->where))
          : is_ratio(s)
              ? "the quotient of integers, rounded down, is written `//`"
              : fmt::format("convert it, and say where it may point: `clamp(int({}), 0, {})`",
                            m_.source(s->where),
                            m_.text(m_.graph[tensor].extents[subscripts.size()] - ir::Poly(1)));
      good = false;
      continue;
    }
    subscripts.push_back(v->expr);
    places.push_back(s->where);
  }
  if (!good) return std::nullopt;
  if (b->carried) return read_carried(*b, a, std::move(subscripts), places);
  return read(tensor, std::move(subscripts), places);
}

MaybeValue Statement::read_carried(const Binding& b, const dsl::Access& a,
                                   std::vector<ir::Expr> subscripts,
                                   const std::vector<Span>& places) {
  Carried& c = *b.carried;
  const std::string &name = a.tensor.text, &t = c.scan->index;
  const std::string_view back = c.scan->down ? "+ 1" : "- 1";
  const auto step =
      std::find_if(visible_.begin(), visible_.end(), [&](const Visible& v) { return v.name == t; });
  const ir::Expr at = subscripts[c.step];
  const ir::Expr ahead = step == visible_.end() ? at : at - ir::index_value(step->id);
  const bool is_back = step != visible_.end() && ahead.is_literal(c.scan->down ? 1 : -1);
  if (!c.is_defined && !is_back) {
    Diagnostic& d = m_.error(places[c.step], fmt::format("`{}` is not computed yet", name));
    d.others.push_back({c.definition->target.where, "defined here"});
    if (step == visible_.end()) {
      d.primary.text =
          fmt::format("the definition of `{}` has no `{}`", definition_.target.text, t);
      d.help = fmt::format("write `{}` among the indices on the left", t);
    } else if (ahead.is_literal(0)) {
      d.primary.text = fmt::format("at `{}` itself", t);
      d.help = fmt::format("read the step before, at `{} {}`, or move its definition up", t, back);
    } else if (ahead.is_literal(c.scan->down ? -1 : 1)) {
      d.primary.text = fmt::format("the scan runs {}", c.scan->down ? "down" : "up");
      d.help = fmt::format("read it at `{} {}`, or run the scan {}", t, back,
                           c.scan->down ? "up: leave out `down`" : "down: `scan … down {`");
    } else {
      d.primary.text = fmt::format("what is not defined yet is there at `{} {}` only", t, back);
      d.help = fmt::format(
          "carry it along: read `before[…, {0}, …] = {1}[…, {0} {2}, …]` at "
          "`{0} {2}`",
          t, name, back);
    }
    return std::nullopt;
  }
  if (!is_back) return read(b.tensor, std::move(subscripts), places);
  c.is_read_back = true;
  const ir::Expr is_there =
      c.scan->down ? ir::less(at, m_.number(c.scan->count)) : ir::at_least_zero(at);
  if (!c.from.valid()) {
    if (!c.is_defined && !solve::proves(m_.graph, path_, is_there)) {
      Diagnostic& d =
          m_.error(places[c.step], fmt::format("`{}` has no value before the first step", name));
      d.others.push_back({c.definition->target.where, "defined here"});
      d.help = fmt::format("give it one: `{}[…] = … from 0`", name);
      return std::nullopt;
    }
    return read(b.tensor, std::move(subscripts), places);
  }
  const ir::Conditions saved = path_;
  path_.merge(ir::conjuncts(is_there));
  MaybeValue value = read(b.tensor, subscripts, places);
  path_ = saved;
  path_.merge(ir::conjuncts(ir::negation(is_there)));
  ir::Expr start = c.constant.value_or(ir::Expr(0));
  if (c.start) {
    std::vector<ir::Expr> there;
    std::vector<Span> spans;
    for (size_t k : c.start_dimensions) {
      there.push_back(subscripts[k]);
      spans.push_back(places[k]);
    }
    start = read(*c.start, std::move(there), spans)->expr;
    if (ir::is_real(value->expr.type()) && start.type() == ir::Type::integer)
      start = ir::call(*ops::find("float"), {start});
  }
  path_ = saved;
  value->expr = ir::select(is_there, value->expr, start);
  return value;
}

bool Statement::check_rank(const dsl::Access& a, Span where, ir::TensorId tensor, size_t leading) {
  const ir::Tensor& t = m_.graph[tensor];
  const size_t rank = t.extents.size(), count = leading + a.subscripts.size();
  if (count == rank) return true;
  const std::string& name = a.tensor.text;
  Diagnostic& d = m_.error(
      where, rank == 0 ? fmt::format("`{}` is a scalar, and takes no subscripts", name)
                       : fmt::format("`{}` needs {} subscript{}, and here {} {}", name, rank,
                                     rank == 1 ? "" : "s", count == 1 ? "is" : "are", count));
  if (rank > 0) d.primary.text = fmt::format("`{}` is {}", name, m_.shape(t));
  d.others.push_back({t.where, "declared here"});
  return false;
}

MaybeValue Statement::read(ir::TensorId tensor, std::vector<ir::Expr> subscripts,
                           const std::vector<Span>& places) {
  const std::vector<ir::Poly> extents = m_.graph[tensor].extents;
  ir::Conditions points;
  for (size_t k = 0; k < subscripts.size(); ++k) {
    const ir::Expr& s = subscripts[k];
    if (s.is(ir::Kind::index) && m_.graph.same(m_.graph[s->index].extent, extents[k])) continue;
    pending_.push_back({.known = path_,
                        .subscript = s,
                        .low = ir::at_least_zero(s),
                        .high = ir::at_least_zero(m_.number(extents[k]) - s - 1),
                        .extent = extents[k],
                        .tensor = tensor,
                        .dimension = static_cast<int>(k),
                        .where = places[k]});
    const ir::Conditions needed = needed_points(pending_.back());
    pending_.back().known.insert(needed.begin(), needed.end());
    points.insert(needed.begin(), needed.end());
  }
  ir::Expr e = m_.graph.read(tensor, std::move(subscripts));
  if (e.type() == ir::Type::boolean)
    e = ir::all_of({ir::all_of(points), e});
  else
    e = ir::where(points, e);
  const Sort sort = e.type() == ir::Type::boolean   ? Sort::truth
                    : e.type() == ir::Type::integer ? Sort::integer
                                                    : Sort::real;
  return Value{e, sort};
}

std::set<ir::SizeId> Statement::run_time_sizes(const ir::Conditions& limits) const {
  std::set<ir::SizeId> result;
  for (const ir::Expr& limit : limits)
    ir::visit(limit, [&](const ir::Expr& x) {
      if (!x.is(ir::Kind::size)) return true;
      const ir::Poly expanded = m_.graph.expand(x->size);
      for (const auto& [monomial, c] : expanded.terms())
        for (const auto& [id, power] : monomial) result.insert(id);
      return true;
    });
  return result;
}

// An index in sight has a value, which keeps `x[(m + S) % T]` in range where some index runs over
// T. What is computed from the read alone has no such index: the read asks for it.
ir::Conditions Statement::needed_points(const Pending& p) const {
  ir::Conditions points;
  const std::set<ir::SizeId> sizes = run_time_sizes({p.low, p.high});
  for (const Visible& v : visible_) {
    const ir::Expr has_value = is_not_empty(m_.with_numbers(m_.graph[v.id].extent));
    const std::set<ir::SizeId> of_range = run_time_sizes({has_value});
    if (std::ranges::any_of(of_range, [&](ir::SizeId id) { return sizes.count(id) > 0; }) &&
        !ir::uses(p.subscript, v.id) && !solve::proves(m_.graph, p.known, has_value))
      points.merge(ir::conjuncts(has_value));
  }
  if (points.empty() || is_proved(p, p.known)) return {};
  ir::Conditions all = p.known;
  all.insert(points.begin(), points.end());
  return is_proved(p, all) ? points : ir::Conditions();
}

bool Statement::is_proved_where(const ir::Expr& condition, const Pending& p) const {
  ir::Conditions known = p.known;
  known.insert(condition);
  return is_proved(p, known);
}

bool Statement::is_proved(const Pending& p, const ir::Conditions& known) const {
  return solve::proves(m_.graph, known, p.low) && solve::proves(m_.graph, known, p.high);
}

// Whole data that comes from int and bool inputs alone: a call can check it before it begins.
bool Statement::is_whole_data(ir::TensorId tensor) {
  auto [it, fresh] = whole_data_.try_emplace(tensor, false);
  if (!fresh) return it->second;
  const ir::Tensor& t = m_.graph[tensor];
  bool whole = !ir::is_real(ir::arithmetic_type(t.storage));
  if (whole && t.role != ir::Role::input) {
    const ir::Definition* d = m_.graph.definition_of(tensor);
    whole = d != nullptr;
    if (d)
      for (const ir::TensorId read : ir::reads(*d)) whole = whole && is_whole_data(read);
  }
  return whole_data_[tensor] = whole;
}

void Statement::check_pending(const std::vector<Pending>& pending) {
  for (const Pending& p : pending) {
    if (p.settled || is_proved(p, p.known)) continue;
    const std::set<ir::TensorId> data = ir::tensors(p.subscript);
    if (!data.empty() &&
        std::all_of(data.begin(), data.end(), [&](ir::TensorId t) { return is_whole_data(t); }))
      continue;  // checked when the model is called
    report_unproved(p);
  }
}

void Statement::report_unproved(const Pending& p) {
  const ir::Tensor& t = m_.graph[p.tensor];
  const std::string subscript(m_.source(p.where));
  const std::string extent = m_.text(p.extent);
  const bool data = has_read(p.subscript);
  const char* happens = p.is_written ? "written" : "read";
  std::string message = fmt::format("`{}` may be {} out of range", t.name, happens);
  const auto known_extent = m_.graph.known(p.extent);
  if (p.subscript.is(ir::Kind::literal) && known_extent)
    message = fmt::format("`{}` is {} out of range", t.name, happens);
  Diagnostic& d = m_.error(p.where, message);
  const ir::Poly last = p.extent - ir::Poly(1);
  const std::string limits = fmt::format("{} of `{}` has extent {}", ordinal_dimension(p.dimension),
                                         t.name, m_.with_value(p.extent));
  const std::string wanted = fmt::format("must lie in 0 .. {}", m_.with_value(last));
  const solve::Range range = data ? solve::Range{} : solve::range_of(m_.graph, p.subscript);
  if (p.subscript.is(ir::Kind::literal) || p.subscript.is(ir::Kind::size)) {
    d.primary.text = limits;
  } else if (range.lowest || range.highest) {
    // A bound that is no whole size polynomial is left open.
    d.primary.text =
        fmt::format("runs over {} .. {}, and {}", range.lowest ? m_.with_value(*range.lowest) : "?",
                    range.highest ? m_.with_value(*range.highest) : "?", wanted);
  } else {
    d.primary.text = data ? fmt::format("is computed from data, and {}", wanted) : wanted;
  }
  if (t.where.valid())
    d.others.push_back({t.where, fmt::format("`{}` is {}", t.name, m_.shape(t))});
  if (data) {
    // No place is in range where there is none.
    const auto size = m_.with_numbers(p.extent).single();
    const bool promise = size && !solve::nonnegative(m_.graph, last, ir::indices(p.subscript));
    const bool kept = promise && is_proved_where(is_not_empty(p.extent), p);
    if (!kept)
      d.help = fmt::format("keep it in range: `clamp({}, 0, {})`", subscript, m_.text(last));
    if (promise)
      d.help += fmt::format("{}`size {} in 1..` promises that there is an element",
                            kept ? "" : ", and ", m_.graph[*size].name);
    return;
  }
  if (p.subscript.is(ir::Kind::literal) || p.subscript.is(ir::Kind::size)) {
    const auto size = p.extent.single();
    if (!size || known_extent) return;
    const ir::Poly place =
        p.subscript.is(ir::Kind::size) ? p.subscript->size : ir::Poly(p.subscript->number.integer);
    // Counted from the end it is there from that length on, `x[T-2]` from 2.
    const auto from_end = (p.extent - place).integer();
    d.help = fmt::format("`size {} in {}..` promises that it is there", m_.graph[*size].name,
                         from_end ? std::to_string(*from_end) : m_.text(ir::Poly(1) + place));
    return;
  }
  // A divisor that may be 0, as T in `i % T`.
  for (const ir::SizeId id : run_time_sizes({p.low, p.high})) {
    if (!is_proved_where(is_not_empty(ir::Poly::size(id)), p)) continue;
    const std::string& name = m_.graph[id].name;
    d.help = fmt::format(
        "it is in range where `{0}` is not 0: promise it, `size {0} in 1..`, or "
        "ask for it, `where {0} > 0` or `if {0} > 0 then …`",
        name);
    return;
  }
  const bool low = solve::proves(m_.graph, p.known, p.low);
  const bool high = solve::proves(m_.graph, p.known, p.high);
  const std::string condition = low    ? fmt::format("{} < {}", subscript, extent)
                                : high ? fmt::format("0 <= {}", subscript)
                                       : fmt::format("0 <= {} < {}", subscript, extent);
  if (p.is_written)
    d.help = fmt::format("say where it is in range: `where {}`", condition);
  else
    d.help = fmt::format("say where it is in range: `where {}`, `where inside`, or `if {} then …`",
                         condition, condition);
  if (low && known_extent && range.highest)
    d.help += promise_of_at_most(*known_extent - 1, *range.highest);
}

// The promise that a size is so small that a subscript is at most `last`; "": there is none.
std::string Statement::promise_of_at_most(int64_t last, const ir::Poly& highest) const {
  for (const ir::SizeId id : run_time_sizes({ir::size_value(highest)})) {
    const auto beyond = (highest - ir::Poly::size(id)).integer();
    const ir::Size& size = m_.graph[id];
    if (!beyond || size.definition || size.lower > last - *beyond) continue;
    return fmt::format("; or promise it: `size {} in {}..{}`", size.name, size.lower,
                       last - *beyond);
  }
  return "";
}

ir::Conditions Statement::take_inside(const std::vector<ir::IndexId>& hidden) {
  ir::Conditions result;
  for (Pending& p : pending_) {
    if (p.settled) continue;
    const std::set<ir::IndexId> used = ir::indices(p.subscript);
    if (std::any_of(hidden.begin(), hidden.end(), [&](ir::IndexId i) { return used.count(i); }))
      continue;
    for (const ir::Expr* bound : {&p.low, &p.high})
      if (!solve::proves(m_.graph, p.known, *bound)) result.merge(ir::conjuncts(*bound));
    p.settled = true;
  }
  return result;
}

}  // namespace attn::elaborate
