// Reverse mode: from the last definition to the first, each hands its cotangent down to what it
// reads. Leaves tidying to simplify: the result recomputes freely and holds plain copies.
#include "compiler/derive/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "compiler/derive/combine_vjp.h"
#include "compiler/derive/contributions.h"
#include "compiler/derive/interface.h"
#include "compiler/derive/walk.h"
#include "compiler/ir/recurrence.h"

namespace attn::derive {
namespace {

using ir::Expr;
using ir::Role;
using ir::TensorId;

// The first real output without dimensions.
const ir::Output* loss_of(const ir::Graph& g) {
  for (const ir::Output& o : g.outputs)
    if (is_real(g[o.tensor]) && g[o.tensor].extents.empty()) return &o;
  return nullptr;
}

class Reverse {
 public:
  Reverse(const ir::Graph& forward, Diagnostics& diagnostics, const Names& by)
      : g_(forward), unmaterialised_(forward), diagnostics_(diagnostics), by_(by) {}

  // The vector-Jacobian product, for cotangents that the caller gives.
  ir::Graph run() {
    constexpr Companion companions[] = {kGradient, kCotangent};
    if (cannot_derive(g_, companions, by_, diagnostics_)) return g_;
    make_room(g_, companions, by_);
    return derive(std::move(g_.outputs), std::nullopt);
  }

  // The gradient of the loss, fit to be derived once more.
  ir::Graph run_of_loss() {
    constexpr Companion companions[] = {kGradient, kTangent, kProduct};
    const ir::Output* found = loss_of(g_);
    if (!found)
      diagnostics_.error(
          g_[g_.outputs.at(0).tensor].where,
          fmt::format("a Hessian product needs a real scalar output, which `{}` has not", g_.name));
    if (!found || cannot_derive(g_, companions, by_, diagnostics_)) return g_;
    const ir::Output loss = *found;
    make_room(g_, companions, by_);
    again_ = true;
    return derive({loss}, loss);
  }

  const std::vector<Origin>& origins() const { return origins_; }

 private:
  // Of `results`; `loss` is the one whose cotangent is 1, where not all are given.
  ir::Graph derive(const std::vector<ir::Output> results, const std::optional<ir::Output>& loss) {
    g_.outputs.clear();
    for (ir::Tensor& t : g_.tensors)
      if (t.role == Role::output) t.role = Role::interior;
    find_live(results);
    store_operands(g_, live_);
    ATTN_CHECK(!ir::arrange(g_), "operands have torn a recurrence");
    find_live(results);
    find_names();
    Growth growth(g_, "gradient");
    const size_t forward_end = g_.definitions.size();
    if (loss)
      contributions_[loss->tensor].push_back({.value = Expr(1.0), .where = g_[loss->tensor].where});
    else
      for (const ir::Output& o : results) take_cotangent(o);
    make_gradients();
    std::vector<ir::Recurrence> recurrences = ir::recurrences(g_);
    for (size_t k = forward_end; k-- > 0;) {
      if (!recurrences.empty() && recurrences.back().end() == k + 1) {
        step_back(recurrences.back());
        k = recurrences.back().first;
        recurrences.pop_back();
        growth.limit(g_, g_.definitions[k].target);
        continue;
      }
      const ir::Definition d = g_.definitions[k];  // a copy: the list grows
      if (live_.count(d.target)) {
        total(d.target);
        if (cotangents_.count(d.target)) hand_down(d);
      }
      growth.limit(g_, d.target);
    }
    for (const auto& [x, dx] : gradients_) {
      define_gradient(x, dx, forward_end);
      growth.limit(g_, x);
    }
    ATTN_CHECK(!ir::arrange(g_), "cotangents that need each other");
    ir::verify(g_, "derive");
    return std::move(g_);
  }

  bool is_wanted(const ir::Tensor& t) const {
    return is_given(t) && is_real(t) && is_chosen(t, by_);
  }

  // live_: real tensors that depend on something given, real and chosen, and that a result depends
  // on.
  void find_live(const std::vector<ir::Output>& results) {
    reaches_.clear();
    live_.clear();
    for (const ir::Output& o : results)
      if (is_real(g_[o.tensor])) reaches_.insert(o.tensor);
    // Once is enough but for recurrences.
    for (size_t before = 0; before != reaches_.size();) {
      before = reaches_.size();
      for (auto d = g_.definitions.rbegin(); d != g_.definitions.rend(); ++d)
        if (reaches_.count(d->target)) reaches_.merge(ir::reads(*d));
    }
    for (TensorId t : reaches_)
      if (is_wanted(g_[t])) live_.insert(t);
    for (size_t before = 0; before != live_.size();) {
      before = live_.size();
      for (const ir::Definition& d : g_.definitions) {
        if (!reaches_.count(d.target) || !is_real(g_[d.target])) continue;
        if (d.combine == ir::Combine::argmax) continue;
        for (TensorId t : ir::tensors(d.body))
          if (live_.count(t)) live_.insert(d.target);
      }
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
          if (std::ranges::find(found, name) == found.end()) found[k] = name;
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

  void take_cotangent(const ir::Output& o) {
    const ir::Tensor y = g_[o.tensor];
    if (!is_real(y)) return;
    const TensorId dy = companion(g_, kCotangent, o.tensor, o.name, Role::cotangent);
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

  // A cotangent that the caller gives, element by element. A sum adds each element several times.
  bool is_given_as_it_is(const Contribution& c) const {
    return c.value.is(ir::Kind::read) && g_[c.value->tensor].role == Role::cotangent &&
           c.guard.empty() && c.value.args() == c.at && c.domain.size() == c.at.size();
  }

  // Gives x its cotangent, unless nothing reached it.
  void total(TensorId x) {
    auto found = contributions_.find(x);
    if (found == contributions_.end()) return;
    const std::vector<Contribution>& all = found->second;
    if (all.size() == 1 && is_given_as_it_is(all[0])) {
      cotangents_[x] = all[0].value->tensor;  // an output that nothing else reads
      return;
    }
    cotangents_[x] = new_cotangent(x);
    add_all(x, cotangents_[x]);
  }

  void add_all(TensorId x, TensorId dx) {
    const std::vector<Contribution>& all = contributions_[x];
    const std::vector<TensorId> places = add_up(g_, dx, names(x), all, unmaterialised_);
    for (size_t k = 0; k < all.size(); ++k) origins_.push_back({places[k], x, all[k].through});
  }

  TensorId new_cotangent(TensorId x, ir::Storage storage = ir::Storage::f32) {
    std::string name = "d" + g_[x].name;
    if (g_.find(name)) name += ".total";
    return g_.new_tensor(tensor(name, storage, g_[x].extents, g_[x].where));
  }

  // A recurrence, whose cotangents need each other one step ahead: all are named before any is
  // defined. What they are is a recurrence again, in the other direction.
  void step_back(const ir::Recurrence& r) {
    const std::vector<ir::Definition> members(
        g_.definitions.begin() + static_cast<int64_t>(r.first),
        g_.definitions.begin() + static_cast<int64_t>(r.end()));
    // Each may be a factor of any other.
    bool in_f64 = false;
    for (const ir::Definition& d : members) {
      in_f64 = in_f64 || d.body.type() == ir::Type::f64;
      for (const Contribution& c : contributions_[d.target])
        in_f64 = in_f64 || c.value.type() == ir::Type::f64;
    }
    Steps steps;
    for (size_t n = 0; n < members.size(); ++n) {
      const TensorId x = members[n].target;
      steps.emplace(x, r.step[n]);
      if (live_.count(x))
        cotangents_[x] = new_cotangent(x, in_f64 ? ir::Storage::f64 : ir::Storage::f32);
    }
    for (size_t n = members.size(); n-- > 0;)
      if (live_.count(members[n].target)) hand_down(members[n], steps, members[n].free[r.step[n]]);
    for (size_t n = members.size(); n-- > 0;) {
      const TensorId x = members[n].target;
      if (live_.count(x)) add_all(x, cotangents_.at(x));
    }
  }

  // The dimension of each tensor of a recurrence along which it steps.
  using Steps = std::map<TensorId, size_t>;

  // What is added at t - 1 is added at n for t = n + 1, so that it is read one step ahead.
  void scatter_at_step(Contribution& c, size_t dimension, ir::IndexId step) {
    c.step = dimension;
    const Expr ahead = ir::index_value(step) - c.at[dimension];
    if (ahead.is_zero()) return;
    const ir::Index of = g_[step];
    const ir::IndexId n = g_.new_index(of.name, of.extent);
    const Expr t = ir::index_value(n) + ahead;
    const std::map<ir::IndexId, Expr> value{{step, t}};
    for (Expr& s : c.at) s = ir::substitute(s, value);
    c.guard = ir::substitute(c.guard, value);
    c.guard.merge(ir::conjuncts(ir::at_least_zero(t)));
    c.guard.merge(ir::conjuncts(ir::less(t, ir::size_value(of.extent))));
    c.value = ir::substitute(c.value, value);
    std::ranges::replace(c.domain, step, n);
  }

  void hand_down(const ir::Definition& d, const Steps& steps = {}, ir::IndexId step = {}) {
    std::vector<Expr> subscripts = index_values(d.free);
    const Expr dy = g_.read(cotangents_.at(d.target), std::move(subscripts));
    std::vector<ir::IndexId> domain = d.free;
    domain.insert(domain.end(), d.reduced.begin(), d.reduced.end());
    const std::vector<Flow> flows = combine_vjp(g_, d, dy, again_);
    for (ReadContribution& r :
         body_vjp(d.body, flows, [&](TensorId t) { return live_.count(t) > 0; })) {
      refuse_infinite(g_, r.flow.value, d, diagnostics_);
      Contribution c{r.read.args(),           domain,  std::move(r.flow.path),
                     std::move(r.flow.value), d.where, d.target};
      if (auto own = steps.find(r.read->tensor); own != steps.end())
        scatter_at_step(c, own->second, step);
      contributions_[r.read->tensor].push_back(std::move(c));
    }
  }

  // The outputs dNAME of all that is wanted. Made before any other tensor, so that they get
  // these very names.
  void make_gradients() {
    const size_t count = g_.tensors.size();
    for (size_t k = 0; k < count; ++k) {
      const TensorId x{static_cast<int32_t>(k)};
      if (!is_wanted(g_[x])) continue;
      const TensorId dx = companion(g_, kGradient, x, g_[x].name, Role::output);
      gradients_.emplace_back(x, dx);
      g_.outputs.push_back({g_[dx].name, dx});
    }
  }

  // 0 where nothing reached x. For a second derivative the first has warned.
  void define_gradient(TensorId x, TensorId dx, size_t forward_end) {
    add_all(x, dx);
    const ir::Definition& d = g_.definitions.back();
    if (!again_ && g_[x].role == Role::parameter && d.body.is_zero() && reaches_.count(x))
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
  const solve::Unmaterialised unmaterialised_;  // of forward's tensors
  Diagnostics& diagnostics_;
  const Names& by_;
  bool again_ = false;  // the result will be derived once more
  std::set<TensorId> reaches_, live_;
  std::map<TensorId, std::vector<std::string>> names_;
  std::map<TensorId, std::vector<Contribution>> contributions_;
  std::map<TensorId, TensorId> cotangents_;
  std::vector<std::pair<TensorId, TensorId>> gradients_;
  std::vector<Origin> origins_;
};

}  // namespace

ir::Graph gradient(const ir::Graph& g, Diagnostics& diagnostics, const Names& by,
                   std::vector<Origin>* origins) {
  Reverse reverse(g, diagnostics, by);
  ir::Graph result = reverse.run();
  if (origins) *origins = reverse.origins();
  return result;
}

bool has_loss(const ir::Graph& g) { return loss_of(g) != nullptr; }

ir::Graph loss_gradient(const ir::Graph& g, Diagnostics& diagnostics, const Names& by) {
  return Reverse(g, diagnostics, by).run_of_loss();
}

}  // namespace attn::derive
