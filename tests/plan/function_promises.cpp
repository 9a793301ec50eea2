#include <algorithm>

#include "promises.h"

namespace attn::testing {
namespace {

using namespace ir;
using plan::Function;
using plan::Place;
using plan::Plan;

// Two loops of a kernel each, then one of y; the steps of h and g are saved.
constexpr const char* kScans = R"(
size B, T, N
train model scans(x: [B, T, N]) -> y {
  param u: [N, N]
  scan t: T {
    h[b,t,n] = tanh(x[b,t,n] + (sum[m] h[b,t-1,m] * u[n,m])) from 0
  }
  scan t: T down {
    g[b,t,n] = tanh(h[b,t,n] + (sum[m] g[b,t+1,m] * u[n,m])) from 0
  }
  y[b,n] = max[t] g[b,t,n]
}
)";

// A state of which two steps are kept, and what is computed with each.
constexpr const char* kRolls = R"(
size B, T, N, E
model rolls(q: [B, T, E], k: [B, T, E], v: [B, T, N]) -> z {
  scan t: T { s[b,t,e,n] = s[b,t-1,e,n] + k[b,t,e] * v[b,t,n] from 0 }
  z[b,t,n] = sum[e] q[b,t,e] * s[b,t,e,n]
}
)";

constexpr const char* kKeeps = R"(
size B, T, N
model keeps(x: [B, T, N]) -> y {
  scan t: T { h[b,t,n] = tanh(h[b,t-1,n] + x[b,t,n]) from 0 }
  y[b,n] = max[t] h[b,t,n]
}
)";

// The steps of h roll; each adds its term to y, which a kernel of its own stores.
constexpr const char* kSums = R"(
size B, D, N = 512, R = 3
model sums(x: [B, N, D]) -> y {
  scan r: R { h[r,b,n,d] = tanh(h[r-1,b,n,d] + x[b,n,d]) from 0 }
  y[d] = sum[r,b,n] h[r,b,n,d]
}
)";

// Three checks of data: the least and the greatest of token, and two scalars.
constexpr const char* kEmbed = R"(
size T, V, D
model embed(token: int[T], place: int, other: int, bias: [V, D]) -> y {
  param table: [V, D]
  y[i,d] = table[token[i], d] + bias[place,d] * bias[other,d]
}
)";

constexpr const char* kUpdate = R"(
update descend(w, g, lr) {
  w' = w - lr * g
}
size B, D
train model line(x: [B, D]) -> loss using descend {
  param w: [D]
  loss = mean[b] (sum[d] x[b,d] * w[d])
}
)";

// Each reads all of the one before.
constexpr const char* kChain = R"(
size N
model chain(x: [N, N]) -> y {
  a[i,j] = sum[k] x[i,k] * x[k,j]
  b[i,j] = sum[k] a[i,k] * x[k,j]
  y[i,j] = sum[k] b[i,k] * x[k,j]
}
)";

// Each step reads a, which comes from before the loop, and then writes d.
constexpr const char* kSteps = R"(
size B, T, N
model steps(x: [B, T, N], v: [N, N], u: [N, N]) -> h {
  a[n,m] = sum[k] v[n,k] * u[k,m]
  scan t: T {
    c[b,t,n] = sum[m] h[b,t-1,m] * a[n,m]
    d[b,t,n] = sum[m] c[b,t,m] * u[n,m]
    h[b,t,n] = tanh(x[b,t,n] + (sum[m] d[b,t,m] * v[n,m])) from 0
  }
}
)";

plan::Life& life(Function& f, const char* name) {
  return *std::ranges::find(f.lives, *f.graph.find(name), &plan::Life::tensor);
}
plan::Life& unsaved_life(Function& f, const char* name) {
  return *std::ranges::find(f.unsaved_lives, *f.graph.find(name), &plan::Life::tensor);
}

Place& place(Function& f, TensorId t) { return f.places.at(t.value); }
TensorId id(const Function& f, const char* name) { return *f.graph.find(name); }
Place& place(Function& f, const char* name) { return place(f, id(f, name)); }

// The place of the first tensor that is at `p`.
Place& first_at(Function& f, Place p) { return *std::find(f.places.begin(), f.places.end(), p); }

// The loop's last kernel, y.r[d] = (if r.step >= 1 then y[d] else 0) + y.term.r[d], with other
// nodes of one kind.
void change_sum(Function& f, Kind kind, const std::function<Expr(const Expr&)>& other) {
  auto& form = std::get<plan::LoopsForm>(f.kernels.at(f.loops.at(0).end - 1).form);
  Definition& d = f.kernels[f.loops[0].end - 1].definitions.at(0);
  d.body = rewrite(d.body, [&](const Expr& x) { return x.is(kind) ? other(x) : x; });
  form.definition = d;
  for (Definition& all : f.graph.definitions)
    if (all.target == d.target) all = d;
}

void repeat_kernel(Function& f, const plan::Kernel& k, const char* suffix) {
  f.kernels.push_back(plan::Kernel(k));
  f.kernels.back().name += suffix;
}

// The caller has h.steps, of which a kernel writes a step.
void write_to_given(Function& f) {
  const TensorId whole = f.slices[0].whole;
  f.graph[whole].role = Role::input;
  place(f, whole) = Place::given;
  std::erase(f.saved, whole);
  std::erase_if(f.lives, [&](const plan::Life& life) { return life.tensor == whole; });
}

}  // namespace

std::vector<Promise> function_promises() {
  return {
      {"a tensor that does not exist", kGate,
       [](Plan& p) { p.forward.graph.outputs.push_back({.name = "z", .tensor = {999}}); }},

      // Claims.
      {"two kernels named gate_forward_0_h", kGate,
       [](Plan& p) { repeat_kernel(p.forward, p.forward.kernels[0], ""); }},
      {"defined twice", kGate,
       [](Plan& p) {
         auto& definitions = p.forward.graph.definitions;
         definitions.push_back(Definition(definitions[0]));
       }},
      {"computed, though nothing defines it", kGate,
       [](Plan& p) { p.forward.graph.definitions.pop_back(); }},
      {"claimed as another definition", kGate,
       [](Plan& p) { p.forward.graph.definitions.back().body = Expr(1.0); }},
      {"claimed twice", kGate,
       [](Plan& p) { repeat_kernel(p.forward, p.forward.kernels[0], "_again"); }},
      {"claimed by no kernel", kGate, [](Plan& p) { p.forward.kernels.pop_back(); }},

      // Places.
      {"tensors without a place", kGate, [](Plan& p) { p.forward.places.pop_back(); }},
      {"given, though it is computed", kGate,
       [](Plan& p) { place(*p.backward, "dh") = Place::given; }},
      {"saved, though nothing computes it", kNorm,
       [](Plan& p) { first_at(p.forward, Place::none) = Place::saved; }},
      {"a result that is no output", kGate,
       [](Plan& p) { place(*p.backward, "dh") = Place::result; }},
      {"in the place of no state", kState, [](Plan& p) { place(p.forward, "y") = Place::updated; }},
      {"a read of a state that has changed", kState,
       [](Plan& p) { std::swap(p.forward.kernels[0], p.forward.kernels[1]); }},
      {"in memory, though nothing needs it", kNorm,
       [](Plan& p) { first_at(p.forward, Place::none) = Place::workspace; }},
      {"not in memory", kGate, [](Plan& p) { place(*p.backward, "dh") = Place::none; }},
      {"an output that is no result", kGate,
       [](Plan& p) { place(p.forward, "y") = Place::workspace; }},
      {"a tensor saved twice", kGate,
       [](Plan& p) { p.forward.saved.push_back(TensorId(p.forward.saved[0])); }},
      {"in the saved block and elsewhere", kGate, [](Plan& p) { p.forward.saved.clear(); }},

      // Steps and loops.
      {"the step of two tensors", kScans,
       [](Plan& p) { p.forward.slices[1].tensor = p.forward.slices[0].tensor; }},
      {"a step that has its own place", kScans,
       [](Plan& p) { first_at(p.forward, Place::step) = Place::workspace; }},
      {"a step of itself", kScans,
       [](Plan& p) { p.forward.slices[0].whole = p.forward.slices[0].tensor; }},
      {"a step of other extents", kScans, [](Plan& p) { p.forward.slices[0].dimension = 1; }},
      {"a step of what is not saved", kGated,
       [](Plan& p) { place(*p.backward, "c") = Place::given; }},
      {"a step that no loop takes", kGated,
       [](Plan& p) {
         Function& f = *p.backward;
         const auto own = std::ranges::find(f.slices, id(f, "c"), &plan::Slice::whole);
         const Tensor step = f.graph[own->tensor];
         f.slices.push_back({f.graph.new_tensor(step), own->whole});
         f.places.push_back(Place::step);
       }},
      {"a step of another loop", kRounds,
       [](Plan& p) { p.backward->loops[0].steps.count = Poly(7); }},
      {"blocks of another loop", kExperts,
       [](Plan& p) { p.forward.graph[id(p.forward, "a")].extents[1] = Poly(2304); }},
      {"blocks from the last to the first", kExperts,
       [](Plan& p) { p.backward->loops[0].steps.down = true; }},
      {"a read of blocks that are not done", kExperts,
       [](Plan& p) {
         Function& f = p.forward;
         std::vector<TensorId>& reads = f.kernels[f.loops[0].first].reads;
         reads.insert(std::ranges::upper_bound(reads, id(f, "a")), id(f, "a"));
       }},
      {"a step of other extents", kExperts, [](Plan& p) { p.forward.slices[0].block = 512; }},
      {"a step of nothing", kScans, [](Plan& p) { p.forward.slices.pop_back(); }},
      {"a step that no loop writes", kScans, [](Plan& p) { p.forward.loops.pop_back(); }},
      {"a loop of no kernels", kScans,
       [](Plan& p) {
         p.forward.loops.push_back({p.forward.loops[0].steps, 2, 2});
       }},
      {"a loop around another kernel's work", kScans, [](Plan& p) { ++p.forward.loops[1].end; }},
      {"a loop of another number of steps", kScans,
       [](Plan& p) { p.forward.loops[0].steps.count = Poly(7); }},
      {"a read of a step that is not done", kScans,
       [](Plan& p) { p.forward.loops[0].steps.down = true; }},
      {"a loop of another number of steps", kRolls,
       [](Plan& p) {
         plan::Function& f = p.forward;
         f.graph[f.slices[0].whole].extents[0] = Poly(3);
       }},
      {"a read of steps that are not kept", kKeeps,
       [](Plan& p) {
         plan::Function& f = p.forward;
         f.graph[f.slices[0].whole].extents[0] = Poly(plan::kRolled);
       }},
      {"a read of a step that is gone", kRolls,
       [](Plan& p) {
         plan::Function& f = p.forward;
         const plan::Loop& loop = f.loops[0];
         ir::Definition& d = f.kernels[loop.first].definitions[0];
         const ir::Expr now = ir::size_value(Poly::size(loop.steps.step));
         const ir::Expr other = plan::step_before(loop.steps);
         ir::map_exprs(d, [&](const ir::Expr& e) {
           return ir::rewrite(e, [&](const ir::Expr& x) { return x == other ? now : x; });
         });
         form<plan::LoopsForm>(f).definition = d;
         for (ir::Definition& all : f.graph.definitions)
           if (all.target == d.target) all = d;
       }},
      {"a sum over steps of which there may be none", kSums,
       [](Plan& p) { p.forward.loops[0].steps.count = Poly(0); }},
      {"a read of a sum that is not complete", kSums,
       [](Plan& p) {
         Function& f = p.forward;
         f.kernels[f.loops[0].first].reads.push_back(id(f, "y"));
       }},
      {"a sum that is written over while it is read", kSums,
       [](Plan& p) {
         change_sum(p.forward, Kind::read,
                    [&](const Expr& x) { return p.forward.graph.read(x->tensor, {0}); });
       }},
      {"a sum that does not begin at the first step", kSums,
       [](Plan& p) {
         const Poly step = Poly::size(p.forward.loops[0].steps.step);
         const Expr later = at_least_zero(size_value(step - 2));
         change_sum(p.forward, Kind::select,
                    [&](const Expr& x) { return select(later, x.args()[1], x.args()[2]); });
       }},
      {"an update that needs the old values", kUpdate,
       [](Plan& p) { form<plan::RowForm>(p.forward).in_place = false; }},

      // Checks of data.
      {"a check of data that no kernel computes", kEmbed,
       [](Plan& p) { p.forward.data_checks[0] = p.forward.data_checks[1]; }},
      {"a check of two things", kEmbed,
       [](Plan& p) {
         std::swap(p.forward.data_checks[1].highest, p.forward.data_checks[2].highest);
       }},
      {"a check of no least and greatest", kEmbed,
       [](Plan& p) {
         std::swap(p.forward.data_checks[0].lowest, p.forward.data_checks[0].highest);
       }},
      {"a check that is turned", kEmbed,
       [](Plan& p) {
         std::swap(p.forward.data_checks[1].lowest, p.forward.data_checks[1].highest);
       }},
      {"a check of no tensor", kEmbed, [](Plan& p) { p.forward.data_checks[0].read = "nothing"; }},
      {"a check against another extent", kEmbed,
       [](Plan& p) { p.forward.data_checks[0].extent = Poly(7); }},
      {"a range of data that nothing compares", kEmbed,
       [](Plan& p) { p.forward.data_checks.pop_back(); }},

      // Memory.
      {"a life of what is elsewhere", kGate,
       [](Plan& p) {
         p.forward.lives.push_back({*p.forward.graph.find("x"), 1, 1, {}});
       }},
      {"two lives", kGate,
       [](Plan& p) { p.backward->lives.push_back(plan::Life(p.backward->lives[0])); }},
      {"loops that overlap", kScans,
       [](Plan& p) { p.forward.loops.push_back(plan::Loop(p.forward.loops[1])); }},
      {"a result that no kernel writes", kNorm,
       [](Plan& p) { p.forward.kernels[0].writes.pop_back(); }},
      {"a read before it is written", kGate,
       [](Plan& p) { std::swap(p.backward->kernels[0], p.backward->kernels[1]); }},
      {"a read after its memory went to another", kSteps,
       [](Plan& p) { life(p.forward, "a").last = 2; }},
      {"a result whose memory went to another", kDelta,
       [](Plan& p) { life(p.forward, "z").first = 3; }},
      {"written over while it is read", kChain,
       [](Plan& p) { life(p.forward, "b").over = *p.forward.graph.find("a"); }},
      {"in the memory of what does not end", kGate,
       [](Plan& p) { life(*p.backward, "dh").over = *p.backward->graph.find("dy"); }},
      {"a step of what does not lie step by step", kGated,
       [](Plan& p) { unsaved_life(p.forward, "y").of_step = true; }},
      {"taken as a whole, of which a step is in memory", kGated,
       [](Plan& p) { unsaved_life(p.forward, "h").of_step = true; }},
      {"left out, though a call may want it", kGate,
       [](Plan& p) { life(p.forward, "y").if_saved = true; }},
      {"left out, though a kernel needs it", kGated,
       [](Plan& p) { life(p.forward, "c").if_saved = true; }},
      {"a step of no loop", kRounds, [](Plan& p) { life(*p.backward, "dx").in_step = 6; }},
      {"taken by steps that are not its own", kRounds,
       [](Plan& p) { life(*p.backward, "h").in_step = 4; }},
      {"needed before the loop", kRounds, [](Plan& p) { life(*p.backward, "dx").in_step = 4; }},
      {"needed at another time in a step", kRounds,
       [](Plan& p) { --life(*p.backward, "c").in_step; }},
      {"needed at another time in a step", kRounds,
       [](Plan& p) { ++life(*p.backward, "dw.1").in_step; }},
      {"a step of no loop", kExperts, [](Plan& p) { --life(*p.backward, "da").in_step; }},
      {"needed at another time in a step", kExperts,
       [](Plan& p) {
         Function& f = *p.backward;
         const auto da = std::ranges::find(f.slices, id(f, "da"), &plan::Slice::whole);
         std::vector<TensorId>& reads = f.kernels[f.loops[0].end - 1].reads;
         reads.insert(std::ranges::upper_bound(reads, da->tensor), da->tensor);
       }},
      {"needed before the loop", kExperts, [](Plan& p) { ++life(*p.backward, "da").last; }},
      {"other tensors where nothing is saved", kGated,
       [](Plan& p) { p.forward.unsaved_lives.pop_back(); }},
      {"needed outside its life", kGated, [](Plan& p) { unsaved_life(p.forward, "c").last = 1; }},
      {"a read before it is written", kGated,
       [](Plan& p) { std::swap(p.forward.kernels[0], p.forward.kernels[1]); }},
      {"given after the first kernel", kGate, [](Plan& p) { life(*p.backward, "dy").first = 1; }},
      {"written where it has no place", kScans, [](Plan& p) { write_to_given(p.forward); }},
      {"written twice", kAttend,
       [](Plan& p) { repeat_kernel(*p.backward, p.backward->kernels.back(), "_again"); }},
      {"needed outside its life", kGate, [](Plan& p) { p.backward->lives.clear(); }},

      // What forward leaves behind.
      {"no output of forward", kGate, [](Plan& p) { place(*p.backward, "x") = Place::forwarded; }},
      {"given again, though forward computes it", kGate,
       [](Plan& p) { place(*p.backward, "y") = Place::given; }},
      {"not in the saved block of forward, or turned", kScans,
       [](Plan& p) { std::reverse(p.backward->saved.begin(), p.backward->saved.end()); }},
      {"something is saved that nothing wants", kGate,
       [](Plan& p) {
         place(*p.backward, "h") = Place::given;
         p.backward->saved.clear();
         const TensorId h = *p.backward->graph.find("h");
         std::erase_if(p.backward->lives, [&](const plan::Life& life) { return life.tensor == h; });
       }},
  };
}

}  // namespace attn::testing
