// Reverse mode: from the last definition to the first, each hands its cotangent down to what it
// reads. Leaves tidying to simplify: the result recomputes freely and holds plain copies.
#include "compiler/derive/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "compiler/derive/land.h"
#include "compiler/derive/walk.h"
#include "compiler/derive/weights.h"

namespace attn::derive {
namespace {

using ir::Expr;
using ir::Role;
using ir::TensorId;

// A gradient has a few times the operations of its function. Beyond this it is a sign of a body
// that should be cut into definitions. Small functions get some freedom.
constexpr uint64_t kMostGrowth = 20;
constexpr uint64_t kAlwaysAllowed = 20'000;

bool is_given(const ir::Tensor& t) { return t.role == Role::input || t.role == Role::parameter; }
bool is_real(const ir::Tensor& t) { return ir::is_real(ir::arithmetic_type(t.storage)); }

uint64_t parts_of(const ir::Graph& g, size_t from = 0) {
  uint64_t sum = 0;
  for (size_t k = from; k < g.definitions.size(); ++k) {
    sum += g.definitions[k].body->weight;
    for (const Expr& c : g.definitions[k].guard) sum += c->weight;
  }
  return sum;
}

class Reverse {
 public:
  Reverse(const ir::Graph& forward, Diagnostics& diagnostics)
      : g_(forward), diagnostics_(diagnostics) {}

  ir::Graph run() {
    if (names_clash()) return g_;
    make_room();
    forward_parts_ = parts_of(g_);
    std::vector<ir::Output> results = std::move(g_.outputs);
    for (ir::Tensor& t : g_.tensors)
      if (t.role == Role::output) t.role = Role::interior;
    find_live(results);
    store_operands(g_, live_);
    find_live(results);
    find_names();
    const size_t forward_end = g_.definitions.size();
    for (const ir::Output& o : results) take_cotangent(o);
    make_gradients();
    counted_ = forward_end;
    for (size_t k = forward_end; k-- > 0;) {
      const ir::Definition d = g_.definitions[k];  // a copy: the list grows
      if (live_.count(d.target)) {
        total(d.target);
        if (cotangents_.count(d.target)) hand_down(d);
      }
      limit_growth(d.target);
    }
    for (const auto& [x, dx] : gradients_) {
      define_gradient(x, dx, forward_end);
      limit_growth(x);
    }
    ir::verify(g_, "derive");
    return std::move(g_);
  }

 private:
  // Counts what was appended since the last call.
  void limit_growth(TensorId at) {
    parts_ += parts_of(g_, counted_);
    counted_ = g_.definitions.size();
    if (parts_ <= std::max(kMostGrowth * forward_parts_, kAlwaysAllowed)) return;
    throw LimitError(
        fmt::format("the gradient of {} has more than {} times its parts ({} against {}), at `{}`",
                    g_.name, kMostGrowth, parts_, forward_parts_, g_[at].name));
  }

  // The caller sees the names dX of gradients and dY of cotangents beside those of the model.
  bool names_clash() {
    bool clash = false;
    auto visible = [](const ir::Tensor& t) { return is_given(t) || t.role == Role::output; };
    auto what = [](const ir::Tensor& t) { return t.role == Role::output ? "output" : "input"; };
    auto report = [&](const ir::Tensor& holder, const ir::Tensor& x, std::string_view derivative) {
      Diagnostic& d = diagnostics_.error(
          holder.where, fmt::format("the {} `{}` has the name that the {} of the {} `{}` takes",
                                    what(holder), holder.name, derivative, what(x), x.name));
      d.others.push_back({x.where, fmt::format("`{}` is defined here", x.name)});
      d.help = "rename one of the two";
      clash = true;
    };
    for (const ir::Tensor& x : g_.tensors) {
      if (!visible(x) || !is_real(x)) continue;
      const auto holder = g_.find("d" + x.name);
      if (holder && visible(g_[*holder]))
        report(g_[*holder], x, x.role == Role::output ? "cotangent" : "gradient");
    }
    for (const ir::Output& o : g_.outputs) {
      if (!is_given(g_[o.tensor]) || !is_real(g_[o.tensor])) continue;
      diagnostics_.error(g_[o.tensor].where,
                         fmt::format("the output `{0}` is an input, so that `d{0}` would be both "
                                     "its cotangent and its gradient",
                                     o.name));
      clash = true;
    }
    return clash;
  }

  // Interior tensors give way to the names that the caller will see.
  void make_room() {
    std::set<std::string> needed;
    for (const ir::Tensor& t : g_.tensors)
      if (is_given(t) && is_real(t)) needed.insert("d" + t.name);
    for (const ir::Output& o : g_.outputs) needed.insert("d" + o.name);
    for (ir::Tensor& t : g_.tensors) {
      if (!needed.count(t.name)) continue;
      const std::string base = t.name + ".inner";
      std::string name = base;
      for (int k = 2; g_.find(name) || needed.count(name); ++k)
        name = fmt::format("{}.{}", base, k);
      t.name = name;
    }
  }

  // live_: real tensors that depend on something given and real, and that a result depends on.
  void find_live(const std::vector<ir::Output>& results) {
    reaches_.clear();
    live_.clear();
    for (const ir::Output& o : results)
      if (is_real(g_[o.tensor])) reaches_.insert(o.tensor);
    for (auto d = g_.definitions.rbegin(); d != g_.definitions.rend(); ++d)
      if (reaches_.count(d->target)) reaches_.merge(ir::reads(*d));
    for (TensorId t : reaches_)
      if (is_given(g_[t]) && is_real(g_[t])) live_.insert(t);
    for (const ir::Definition& d : g_.definitions) {
      if (!reaches_.count(d.target) || !is_real(g_[d.target])) continue;
      if (d.combine == ir::Combine::argmax) continue;
      for (TensorId t : ir::tensors(d.body))
        if (live_.count(t)) live_.insert(d.target);
    }
  }

  // A cotangent carries the index names of its tensor's definition, or of the first place that
  // reads the tensor.
  void find_names() {
    for (const ir::Definition& d : g_.definitions) {
      std::vector<std::string>& own = names_[d.target];
      own.clear();
      for (ir::IndexId i : d.free) own.push_back(g_[i].name);
      std::set<std::string> bound(own.begin(), own.end());
      for (ir::IndexId i : d.reduced) bound.insert(g_[i].name);
      ir::visit(d.body, [&](const Expr& e) {
        if (!e.is(ir::Kind::read) || names_.count(e->tensor)) return true;
        std::vector<std::string> found(e.args().size());
        for (size_t k = 0; k < found.size(); ++k) {
          const Expr& s = e.args()[k];
          if (!s.is(ir::Kind::index)) continue;
          const std::string& name = g_[s->index].name;
          if (std::find(found.begin(), found.end(), name) == found.end()) found[k] = name;
        }
        names_[e->tensor] = completed(e->tensor, std::move(found), bound);
        return true;
      });
    }
  }

  // Gives axes without a name the small letter of their size, or the first letter that is free.
  std::vector<std::string> completed(TensorId x, std::vector<std::string> found,
                                     std::set<std::string> used) const {
    used.insert(found.begin(), found.end());
    for (size_t k = 0; k < found.size(); ++k) {
      if (!found[k].empty()) continue;
      std::vector<std::string> letters;
      if (const auto size = g_[x].extents[k].single()) {
        const char c = static_cast<char>(std::tolower(g_[*size].name[0]));
        if (c != '_') letters.emplace_back(1, c);
      }
      for (const char* c : {"n", "m", "i", "j", "k", "l", "u", "v", "w"}) letters.emplace_back(c);
      for (const std::string& c : letters)
        if (found[k].empty() && used.insert(c).second) found[k] = c;
      if (found[k].empty()) found[k] = fmt::format("n{}", k);
    }
    return found;
  }

  std::vector<std::string> names(TensorId x) const {
    auto it = names_.find(x);
    if (it != names_.end()) return it->second;
    return completed(x, std::vector<std::string>(g_[x].extents.size()), {});
  }

  // A tensor like `of` that the caller sees, in a type that arithmetic has.
  TensorId visible(std::string name, const ir::Tensor& of, Role role, const std::string& doc) {
    ir::Tensor t =
        tensor(std::move(name), storage_of(ir::arithmetic_type(of.storage)), of.extents, of.where);
    t.role = role;
    t.doc = doc + ".";
    return g_.new_tensor(std::move(t));
  }

  void take_cotangent(const ir::Output& o) {
    const ir::Tensor y = g_[o.tensor];
    if (!is_real(y)) return;
    const TensorId dy = visible("d" + o.name, y, Role::cotangent, "The cotangent of " + o.name);
    if (!live_.count(o.tensor)) return;
    Contribution c;
    const std::vector<std::string> own = names(o.tensor);
    for (size_t k = 0; k < y.extents.size(); ++k) {
      c.domain.push_back(g_.new_index(own[k], y.extents[k]));
      c.at.push_back(ir::index_value(c.domain.back()));
    }
    c.value = g_.read(dy, c.at);
    c.where = y.where;
    contributions_[o.tensor].push_back(std::move(c));
  }

  // Gives x its cotangent, unless nothing reached it.
  void total(TensorId x) {
    auto found = contributions_.find(x);
    if (found == contributions_.end()) return;
    const std::vector<Contribution>& all = found->second;
    if (all.size() == 1 && all[0].value.is(ir::Kind::read) && all[0].guard.empty() &&
        g_[all[0].value->tensor].role == Role::cotangent && all[0].value.args() == all[0].at) {
      cotangents_[x] = all[0].value->tensor;  // an output that nothing else reads
      return;
    }
    std::string name = "d" + g_[x].name;
    if (g_.find(name)) name += ".total";
    const TensorId dx = g_.new_tensor(tensor(name, ir::Storage::f32, g_[x].extents, g_[x].where));
    cotangents_[x] = dx;
    add_up(g_, dx, names(x), all);
  }

  void hand_down(const ir::Definition& d) {
    std::vector<Expr> subscripts;
    for (ir::IndexId i : d.free) subscripts.push_back(ir::index_value(i));
    const Expr dy = g_.read(cotangents_.at(d.target), std::move(subscripts));
    std::vector<ir::IndexId> domain = d.free;
    domain.insert(domain.end(), d.reduced.begin(), d.reduced.end());
    const std::vector<Flow> flows = weights(g_, d, dy);
    for (Share& s : shares(d.body, flows, [&](TensorId t) { return live_.count(t) > 0; })) {
      refuse_infinite(s.flow.value, d);
      contributions_[s.access->tensor].push_back(
          {s.access.args(), domain, std::move(s.flow.path), std::move(s.flow.value), d.where});
    }
  }

  void refuse_infinite(const Expr& value, const ir::Definition& d) {
    bool infinite = false;
    ir::visit(value, [&](const Expr& e) {
      infinite = infinite || (e.is(ir::Kind::literal) && !std::isfinite(e->number.value())) ||
                 (e.is(ir::Kind::power) && e.args()[0].is_zero());
      return !infinite;
    });
    if (infinite)
      diagnostics_.error(
          d.where, fmt::format("the derivative of `{}` is infinite everywhere", g_[d.target].name));
  }

  // The outputs dNAME of everything given and real. Made before any other tensor, so that they get
  // these very names.
  void make_gradients() {
    g_.outputs.clear();
    const size_t count = g_.tensors.size();
    for (size_t k = 0; k < count; ++k) {
      const TensorId x{static_cast<int32_t>(k)};
      const ir::Tensor of = g_[x];
      if (!is_given(of) || !is_real(of)) continue;
      const TensorId dx = visible("d" + of.name, of, Role::output, "The gradient of " + of.name);
      gradients_.emplace_back(x, dx);
      g_.outputs.push_back({g_[dx].name, dx});
    }
  }

  // 0 where nothing reached x.
  void define_gradient(TensorId x, TensorId dx, size_t forward_end) {
    add_up(g_, dx, names(x), contributions_[x]);
    const ir::Definition& d = g_.definitions.back();
    if (g_[x].role == Role::parameter && d.body.is_zero() && reaches_.count(x))
      warn_of_zero(x, forward_end);
  }

  // Names the first place on the way from x to the results at which the derivative is 0.
  void warn_of_zero(TensorId x, size_t forward_end) {
    std::set<TensorId> from{x};
    auto wanted = [&](TensorId t) { return from.count(t) > 0; };
    for (size_t k = 0; k < forward_end; ++k) {
      const ir::Definition& d = g_.definitions[k];
      if (!reaches_.count(d.target)) continue;
      std::string_view stop = stopped_by(d.body, wanted);
      for (const Expr& c : d.guard)
        if (stop.empty()) stop = stopped_by(c, wanted);
      bool depends = false;
      for (TensorId t : ir::reads(d)) depends = depends || wanted(t);
      if (depends && d.combine == ir::Combine::argmax) stop = "argmax";
      if (depends) from.insert(d.target);
      if (stop.empty()) continue;
      Diagnostic& warning =
          diagnostics_.warning(g_[x].where, "gradient",
                               fmt::format("the gradient of `{}` is zero everywhere", g_[x].name));
      warning.others.push_back(
          {d.where, fmt::format("here it passes through {}, whose derivative is 0", stop)});
      return;
    }
  }

  ir::Graph g_;
  Diagnostics& diagnostics_;
  uint64_t forward_parts_ = 0, parts_ = 0;
  size_t counted_ = 0;  // definitions
  std::set<TensorId> reaches_, live_;
  std::map<TensorId, std::vector<std::string>> names_;
  std::map<TensorId, std::vector<Contribution>> contributions_;
  std::map<TensorId, TensorId> cotangents_;
  std::vector<std::pair<TensorId, TensorId>> gradients_;
};

}  // namespace

ir::Graph gradient(const ir::Graph& g, Diagnostics& diagnostics) {
  return Reverse(g, diagnostics).run();
}

}  // namespace attn::derive
