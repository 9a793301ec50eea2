// When tensors are needed in memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/plan/function.h"
#include "forms.h"
#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

using namespace ir;
using plan::Place;

// A function whose tensors are all in the workspace, with kernels that only say what they read and
// write.
class Function {
 public:
  // `tensors`: definitions, as of build_graph.
  explicit Function(const char* tensors) {
    f_.graph = build_graph(tensors);
    f_.places.assign(f_.graph.tensors.size(), Place::workspace);
  }

  void place(const char* tensor, Place p) { f_.places[id(tensor).value] = p; }
  void role(const char* tensor, Role r) { f_.graph[id(tensor)].role = r; }
  void check(const char* writes) { f_.checks.push_back({.writes = ids(writes)}); }
  void kernel(const char* reads, const char* writes) {
    f_.kernels.push_back({.reads = ids(reads), .writes = ids(writes)});
  }
  // One that computes the definition of the one tensor that it writes.
  void map(const char* reads, const char* writes) {
    kernel(reads, writes);
    for (TensorId t : f_.kernels.back().writes) {
      f_.kernels.back().definitions = {*f_.graph.definition_of(t)};
      f_.kernels.back().form = plan::LoopsForm{*f_.graph.definition_of(t)};
    }
  }
  void loop(size_t first, size_t end) { f_.loops.push_back({.first = first, .end = end}); }
  void loop_of(size_t first, size_t end, int64_t steps) {
    f_.loops.push_back({{.count = Poly(steps)}, first, end});
  }
  // As many steps as the tensor has along its first dimension.
  void loop(size_t first, size_t end, const char* whole) {
    f_.loops.push_back({{.count = f_.graph[id(whole)].extents[0]}, first, end});
  }
  // `step` is kept in `whole`, which has the steps along its first dimension.
  void slice(const char* step, const char* whole) {
    place(step, Place::step);
    f_.slices.push_back({id(step), id(whole), 0});
  }
  // Each step has `block` elements of a dimension.
  void block(const char* step, const char* whole, size_t dimension, int64_t block) {
    place(step, Place::step);
    f_.slices.push_back({id(step), id(whole), dimension, block});
  }

  // Each step writes all of `whole`, as `step`.
  void sum(const char* step, const char* whole) {
    slice(step, whole);
    f_.slices.back().dimension.reset();
  }
  void kind(plan::FunctionKind k) { f_.kind = k; }

  // "a 1..2 b 2..3": in the order of their names; "b/a": may take the memory of a; "w.": a step;
  // "c 1..3 at 2": the kernel in a step.
  std::string lives() const { return text_of(plan::lives_of(f_)); }
  std::string unsaved_lives() {
    f_.lives = plan::lives_of(f_);
    return text_of(plan::unsaved_lives_of(f_));
  }

 private:
  std::string text_of(std::vector<plan::Life> all) const {
    std::ranges::sort(all, {}, [&](const plan::Life& life) { return f_.graph[life.tensor].name; });
    std::string text;
    for (const plan::Life& life : all)
      text += fmt::format("{}{}{}{} {}..{}", text.empty() ? "" : ", ", f_.graph[life.tensor].name,
                          life.of_step ? "." : "",
                          life.over.valid() ? "/" + f_.graph[life.over].name : "", life.first,
                          life.last) +
              (life.in_step ? fmt::format(" at {}", life.in_step) : "");
    return text;
  }

  TensorId id(const std::string& name) const { return *f_.graph.find(name); }
  // Each letter names a tensor.
  std::vector<TensorId> ids(std::string_view names) const {
    std::vector<TensorId> all;
    for (char c : names) all.push_back(id(std::string(1, c)));
    return all;
  }

  plan::Function f_;
};

constexpr const char* kEqual =
    "a[i: 8] = 1.0; b[i: 8] = 1.0; c[i: 8] = 1.0; d[i: 8] = 1.0; e[i: 8] = 1.0";

TEST(Lives, AreFromTheFirstKernelToTheLast) {
  Function f(kEqual);
  f.kernel("", "ab");
  f.kernel("a", "c");
  f.kernel("bc", "d");
  f.kernel("", "e");
  EXPECT_EQ(f.lives(), "a 1..2, b 1..3, c 2..3, d 3..3, e 4..4");
}

TEST(Lives, AreOfWhatMayBeInMemoryOfTheCall) {
  Function f(kEqual);
  f.place("a", Place::given);
  f.place("c", Place::saved);
  f.place("d", Place::result);
  f.place("e", Place::none);
  f.kernel("a", "b");
  f.kernel("b", "cd");
  EXPECT_EQ(f.lives(), "b 1..2, c 2..2, d 2..2");
}

// A cotangent that is not given is zeroed before the kernels.
TEST(Lives, OfDerivativesThatAreGivenBeginBeforeTheKernels) {
  Function f(kEqual);
  f.place("a", Place::given);
  f.role("a", Role::cotangent);
  f.kernel("", "b");
  f.kernel("a", "c");
  EXPECT_EQ(f.lives(), "a 0..2, b 1..1, c 2..2");
}

// A map may write over what it reads at its own point, for the last time.
TEST(Lives, AreTakenOverByMaps) {
  const auto lives = [](const std::string& b, bool reads_later = false) {
    Function f(("size T; input x[T]; a[i: T] = x[i]; b[i: T] = " + b + "; c[i: T] = b[i]").c_str());
    f.place("x", Place::given);
    f.map("x", "a");
    f.map("a", "b");
    f.map(reads_later ? "ab" : "b", "");
    return f.lives();
  };
  EXPECT_EQ(lives("exp(a[i]) + a[i]"), "a 1..2, b/a 2..3");
  EXPECT_EQ(lives("a[i] + x[T - 1 - i]"), "a 1..2, b/a 2..3");
  EXPECT_EQ(lives("a[T - 1 - i]"), "a 1..2, b 2..3");
  EXPECT_EQ(lives("a[i] + a[0]"), "a 1..2, b 2..3");
  EXPECT_EQ(lives("sum[j: T] a[i] * x[j]"), "a 1..2, b 2..3");
  EXPECT_EQ(lives("exp(a[i])", true), "a 1..3, b 2..3");
}

// "y/a ": y may take the memory of a, in forward or backward of the one model of a text.
std::string taken_over(const std::string& model, bool backward = false) {
  const auto file = planned_text(model);
  const plan::Plan& plan = *file->models.at(0).plan;
  const plan::Function& f = backward ? *plan.backward : plan.forward;
  std::string text;
  for (const plan::Life& life : f.lives)
    if (life.over.valid()) text += f.graph[life.tensor].name + "/" + f.graph[life.over].name + " ";
  return text;
}

// So may a contraction, in what it adds to its sum: also a result of the caller. Not one that reads
// it as a factor, or that would finish some sums a second time, where what is hidden is not finite.
TEST(Lives, AreTakenOverByContractions) {
  const auto over = [](const std::string& y) {
    return taken_over(fmt::format(R"(
size T, D = 32
model m(x: [T, D], k: [T, T]) -> y {{
  param w1: [D, D], w2: [D, D], w3: [D, D]
  a[t,d] = tanh(sum[e] w1[d,e] * x[t,e])
  h[t,d] = tanh(sum[e] w2[d,e] * a[t,e])
  y[t,d] = {}
}})",
                                  y));
  };
  EXPECT_EQ(over("a[t,d] + sum[e] w3[d,e] * h[t,e]"), "y/a ");
  EXPECT_EQ(over("tanh(a[t,d]) * (a[t,d] + sum[e] w3[d,e] * h[t,e])"), "y/a ");
  EXPECT_EQ(over("a[t,d] + sum[e] w3[d,e] * x[t,e] * h[t,e]"), "y/a ");
  EXPECT_EQ(over("a[t,d] + sum[e] w3[d,e] * a[t,e] * h[t,e]"), "");
  EXPECT_EQ(over("a[T - 1 - t,d] + sum[e] w3[d,e] * h[t,e]"), "");
  EXPECT_EQ(over("a[t,d] + sum[j: T where j <= t] k[t,j] * h[j,d]"), "");
}

// One that keeps its sum too writes over what only the other result reads: a gate, whose gradient
// reads both factors. The sum itself is written over nothing.
TEST(Lives, AreTakenOverByContractionsThatKeepTheirSum) {
  EXPECT_EQ(taken_over(R"(
size T, D = 32, F = 48
train model m(x: [T, D]) -> y {
  param w1: [F, D], w2: [F, D], w3: [D, F]
  g[t,f] = sum[d] w1[f,d] * x[t,d]
  u[t,f] = sum[d] w2[f,d] * x[t,d]
  h[t,f] = g[t,f] * sigmoid(g[t,f]) * u[t,f]
  y[t,d] = sum[f] h[t,f] * w3[d,f]
})"),
            "h/g ");
}

// So may a row kernel, of which all of a row is read before any of it is written, if it writes
// nothing else.
TEST(Lives, AreTakenOverByRows) {
  const auto over = [](const std::string& y, const char* outputs = "y") {
    return taken_over(fmt::format(R"(
size T, D = 32
model m(x: [T, D]) -> {} {{
  param w: [D, D]
  a[t,d] = tanh(sum[e] w[d,e] * x[t,e])
  n[t] = sum[d] a[t,d]^2
  y[t,d] = {}
}})",
                                  outputs, y));
  };
  EXPECT_EQ(over("a[t,d] * rsqrt(n[t])"), "y/a ");
  EXPECT_EQ(over("softmax[d] (a[t,d] * n[t])"), "y/a ");
  EXPECT_EQ(over("a[t,d] * rsqrt(n[t])", "y, n"), "");
  EXPECT_EQ(over("a[t,d] * rsqrt(n[t]) + a[t,0]"), "");
  EXPECT_EQ(over("a[T - 1 - t,d] * rsqrt(n[t])"), "");
}

// So may a sum of few planes, which are all summed before one of them is written.
TEST(Lives, AreTakenOverByMixedPlanes) {
  const auto over = [](const std::string& y) {
    return taken_over(fmt::format(R"(
size B, T, D = 32, H = 6, G = 4
model m(x: [B, H, T, D], w: [D, D], u: [H, H], v: [G, H]) -> y {{
  a[b,h,t,d] = tanh(sum[e] w[d,e] * x[b,h,t,e])
  y[b: B, g, t: T, d: D] = {}
}})",
                                  y));
  };
  EXPECT_EQ(over("sum[h] u[g,h] * a[b,h,t,d]"), "y/a ");
  EXPECT_EQ(over("sum[h] v[g,h] * a[b,h,t,d]"), "");
  EXPECT_EQ(over("sum[h] u[g,h] * a[b,h,t,D - 1 - d] * 2"), "");
  EXPECT_EQ(over("sum[h] u[g,h] * x[b,h,t,d] * a[b,g,t,d]"), "");
}

// So may a scatter that starts from it.
TEST(Lives, AreTakenOverByScatters) {
  EXPECT_EQ(taken_over(R"(
size T, V, D = 32
train model m(token: int[T], x: [T, D]) -> z {
  param table: [V, D]
  z[t,v] = sum[d] tanh(table[token[t], d]) * table[v,d]
})",
                       true),
            "dtable/dtable.part ");
}

TEST(Lives, OfChecksEndBeforeTheKernels) {
  Function f(kEqual);
  f.check("a");
  f.check("b");
  f.kernel("", "c");
  f.kernel("c", "d");
  EXPECT_EQ(f.lives(), "a 0..0, b 0..0, c 1..2, d 2..2");
}

// The next step reads a again, after c was written.
TEST(Lives, OfWhatComesFromBeforeALoopLastToItsEnd) {
  Function plain(kEqual), looped(kEqual);
  for (Function* f : {&plain, &looped}) {
    f->kernel("", "a");
    f->kernel("a", "");
    f->kernel("", "c");
  }
  looped.loop(1, 3);
  EXPECT_EQ(plain.lives(), "a 1..2, c 3..3");
  EXPECT_EQ(looped.lives(), "a 1..3, c 3..3");
}

// What forward saved is there before the loop, too.
TEST(Lives, OfArgumentsLastToTheEndOfALoop) {
  Function f(kEqual);
  f.place("a", Place::saved);
  f.role("a", Role::input);
  f.map("a", "b");
  f.kernel("", "c");
  f.loop(0, 2);
  EXPECT_EQ(f.lives(), "a 1..2, b 1..1, c 2..2");
}

// Each step writes b, which the last one leaves, and c before it.
TEST(Lives, OfWhatIsReadAfterALoopAreFromItsBeginning) {
  Function plain(kEqual), looped(kEqual);
  for (Function* f : {&plain, &looped}) {
    f->kernel("", "c");
    f->kernel("", "b");
    f->kernel("b", "");
  }
  looped.loop(0, 2);
  EXPECT_EQ(plain.lives(), "b 2..3, c 1..1");
  EXPECT_EQ(looped.lives(), "b 1..3, c 1..1");
}

TEST(Lives, MayBeWithinAStep) {
  Function f(kEqual);
  f.kernel("", "a");
  f.kernel("a", "b");
  f.kernel("b", "c");
  f.loop(0, 3);
  EXPECT_EQ(f.lives(), "a 1..2, b 2..3, c 3..3");
}

// e is written at the step, as a slice of w, before the loop's last kernel.
TEST(Lives, OfWhatStepsLeaveLastThroughTheLoop) {
  Function f("size T; a[i: 8] = 1.0; b[i: 8] = 1.0; w[t: T, i: 8] = 1.0; e[i: 8] = 1.0");
  f.slice("e", "w");
  f.kernel("", "a");
  f.kernel("a", "e");
  f.kernel("", "b");
  f.loop(0, 3);
  EXPECT_EQ(f.lives(), "a 1..2, b 3..3, w 1..3");
}

// Each step writes e and reads it once; its slices make up w, which is saved.
struct Stepped : Function {
  explicit Stepped(const char* last_reads)
      : Function(
            "size T; a[t: T, i: 8] = 1.0; w[t: T, i: 8] = 1.0; e[i: 8] = 1.0; "
            "b[i: 8] = exp(e[i]); c[i: 8] = 1.0") {
    place("w", Place::saved);
    slice("e", "w");
    kernel("", "e");
    map("e", "b");
    kernel("b", "c");
    loop(0, 3, "w");
    kernel(last_reads, "");
  }
};

TEST(Lives, AreOfOneStepWhereNothingIsSaved) {
  Stepped f("c");
  EXPECT_EQ(f.lives(), "b 2..3, c 1..4, w 1..3");
  EXPECT_EQ(f.unsaved_lives(), "b/w 2..3, c 1..4, w. 1..2");
}

// Of two blocks of w, each step writes one as e.
TEST(Lives, AreOfOneBlockWhereNothingIsSaved) {
  Function f(
      "size T; w[t: T, i: 8] = 1.0; e[t: T, i: 4] = 1.0; b[t: T, i: 4] = exp(e[t, i]); "
      "c[t: T] = 1.0");
  f.place("w", Place::saved);
  f.block("e", "w", 1, 4);
  f.kernel("", "e");
  f.map("e", "b");
  f.kernel("b", "c");
  f.loop_of(0, 3, 2);
  f.kernel("c", "");
  EXPECT_EQ(f.lives(), "b 2..3, c 1..4, w 1..3");
  EXPECT_EQ(f.unsaved_lives(), "b/w 2..3, c 1..4, w. 1..2");
  Function other("size T; w[t: T, i: 8] = 1.0; e[t: T, i: 4] = 1.0; b[t: T, i: 4] = exp(e[t, i])");
  other.place("w", Place::saved);
  other.block("e", "w", 1, 4);
  other.kernel("", "e");
  other.map("e", "b");
  other.loop_of(0, 2, 3);  // no blocks of w
  EXPECT_EQ(other.unsaved_lives(), "");
}

// Each step takes its own of w, which forward saved, as e; s grows with each step, as d.
struct Returned : Function {
  explicit Returned(const char* other_reads)
      : Function(
            "size T; w[t: T, i: 8] = 1.0; e[i: 8] = 1.0; d[i: 8] = 1.0; s[i: 8] = 1.0; "
            "a[i: 8] = 1.0; b[i: 8] = 1.0") {
    kind(plan::FunctionKind::backward);
    for (const char* given : {"w", "e"}) role(given, Role::input);
    place("w", Place::saved);
    slice("e", "w");
    sum("d", "s");
    kernel("", "a");
    kernel("e", "b");
    kernel("eb", "a");
    kernel("sa", "d");
    loop(1, 4, "w");
    kernel(other_reads, "");
  }
};

TEST(Lives, OfBackwardHaveAKernelInAStep) {
  EXPECT_EQ(Returned("").lives(), "a 1..4, b 2..3, s 2..4 at 4, w 2..4 at 3");
}

TEST(Lives, OfAllStepsHaveNoneInAStep) {
  EXPECT_EQ(Returned("w").lives(), "a 1..4, b 2..3, s 2..4 at 4, w 2..5");
  Returned other("");
  other.kind(plan::FunctionKind::hvp);
  EXPECT_EQ(other.lives(), "a 1..4, b 2..3, s 2..4, w 2..4");
}

TEST(Lives, AreOfAllStepsThatAreReadLater) { EXPECT_EQ(Stepped("w").unsaved_lives(), ""); }

TEST(Lives, AreOfAllStepsOfWhatIsNotSaved) {
  Stepped f("c");
  f.place("w", Place::result);
  EXPECT_EQ(f.unsaved_lives(), "");
}

}  // namespace
}  // namespace attn::testing
