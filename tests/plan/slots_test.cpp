// Which tensors of the workspace share memory.
#include <gtest/gtest.h>

#include "compiler/plan/function.h"
#include "tests/support/build_graph.h"

namespace attn::testing {
namespace {

using namespace ir;
using plan::Place;

// A function whose tensors are all in the workspace, with kernels that only say what they read and
// write.
class Slots {
 public:
  // `tensors`: definitions, as of build_graph.
  explicit Slots(const char* tensors) {
    f_.graph = build_graph(tensors);
    f_.places.assign(f_.graph.tensors.size(), Place::workspace);
  }

  void place(const char* tensor, Place p) { f_.places[id(tensor).value] = p; }
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
  // `step` is kept in `whole`, which has the steps along its first dimension.
  void slice(const char* step, const char* whole) {
    place(step, Place::step);
    f_.slices.push_back({id(step), id(whole), 0});
  }

  // "a c | b": two slots.
  std::string assigned() const { return text_of(plan::assign_slots(f_)); }
  std::string unsaved() const { return text_of(plan::assign_unsaved_slots(f_)); }

 private:
  std::string text_of(const std::vector<plan::Slot>& slots) const {
    std::string text;
    for (const plan::Slot& s : slots) {
      if (!text.empty()) text += " | ";
      for (size_t n = 0; n < s.tensors.size(); ++n)
        text += (n ? " " : "") + f_.graph[s.tensors[n]].name;
    }
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

// All of 8 elements.
constexpr const char* kEqual =
    "a[i: 8] = 1.0; b[i: 8] = 1.0; c[i: 8] = 1.0; d[i: 8] = 1.0; e[i: 8] = 1.0";

TEST(Slots, AreSharedByLivesThatDoNotOverlap) {
  Slots s(kEqual);
  s.kernel("", "a");
  s.kernel("a", "b");
  s.kernel("b", "c");
  s.kernel("c", "d");
  EXPECT_EQ(s.assigned(), "a c | b d");
}

TEST(Slots, AreApartForWhatOneKernelReadsAndWrites) {
  Slots s(kEqual);
  s.kernel("", "ab");
  s.kernel("a", "c");
  s.kernel("bc", "d");
  EXPECT_EQ(s.assigned(), "a d | b | c");
}

TEST(Slots, HoldWhatIsReadAgainUntilItsLastReader) {
  Slots s(kEqual);
  s.kernel("", "a");
  s.kernel("a", "b");
  s.kernel("b", "c");
  s.kernel("ac", "d");
  s.kernel("d", "e");
  EXPECT_EQ(s.assigned(), "a e | b d | c");
}

TEST(Slots, HoldAlsoWhatNothingReads) {
  Slots s(kEqual);
  s.kernel("", "ab");
  s.kernel("", "c");
  EXPECT_EQ(s.assigned(), "a c | b");
}

TEST(Slots, HoldOnlyTheWorkspace) {
  Slots s(kEqual);
  s.place("a", Place::given);
  s.place("c", Place::saved);
  s.place("d", Place::result);
  s.place("e", Place::none);
  s.kernel("a", "b");
  s.kernel("b", "cd");
  EXPECT_EQ(s.assigned(), "b");
}

// A map may write over what it reads at its own point, for the last time.
TEST(Slots, AreWrittenOverByMaps) {
  const auto slots = [](const std::string& b, bool reads_later = false) {
    Slots s(("size T; input x[T]; a[i: T] = x[i]; b[i: T] = " + b + "; c[i: T] = b[i]").c_str());
    s.map("", "a");
    s.map("a", "b");
    s.map(reads_later ? "ab" : "b", "");
    return s.assigned();
  };
  EXPECT_EQ(slots("exp(a[i]) + a[i]"), "a b");
  EXPECT_EQ(slots("a[i] + x[T - 1 - i]"), "a b");
  EXPECT_EQ(slots("a[T - 1 - i]"), "a | b");
  EXPECT_EQ(slots("a[i] + a[0]"), "a | b");
  EXPECT_EQ(slots("sum[j: T] a[i] * x[j]"), "a | b");
  EXPECT_EQ(slots("exp(a[i])", true), "a | b");
}

TEST(Slots, HoldWhatWouldBeSavedWhereItIsNot) {
  Slots s(kEqual);
  s.place("b", Place::saved);
  s.place("c", Place::saved);
  s.place("e", Place::result);
  s.kernel("", "a");
  s.kernel("a", "b");
  s.kernel("b", "cd");
  s.kernel("d", "e");
  EXPECT_EQ(s.assigned(), "a d");
  EXPECT_EQ(s.unsaved(), "a c | b | d");
}

TEST(Slots, OfChecksLiveAtOnceAndEndBeforeTheKernels) {
  Slots s(kEqual);
  s.check("a");
  s.check("b");
  s.kernel("", "c");
  s.kernel("c", "d");
  EXPECT_EQ(s.assigned(), "a c | b d");
}

// So that a slot is as large as its first tensor.
TEST(Slots, AreAssignedInOrderOfSize) {
  Slots s("size T; a[i: 8] = 1.0; b[i: T] = 1.0; c[i: 64, j: T] = 1.0; d[i: 16] = 1.0");
  s.kernel("", "a");
  s.kernel("", "b");
  s.kernel("", "c");
  s.kernel("", "d");
  EXPECT_EQ(s.assigned(), "c b d a");
}

TEST(Slots, CountBytes) {
  // Integers take four bytes, truth values one.
  Slots s("a[i: 32] = i < 3; b[i: 16] = i");
  s.kernel("", "a");
  s.kernel("", "b");
  EXPECT_EQ(s.assigned(), "b a");
}

// The next step reads a again, after c was written.
TEST(Slots, KeepWhatComesFromBeforeALoopToItsEnd) {
  Slots plain(kEqual), looped(kEqual);
  for (Slots* s : {&plain, &looped}) {
    s->kernel("", "a");
    s->kernel("a", "");
    s->kernel("", "c");
  }
  looped.loop(1, 3);
  EXPECT_EQ(plain.assigned(), "a c");
  EXPECT_EQ(looped.assigned(), "a | c");
}

// Each step writes b, which the last one leaves, and c before it.
TEST(Slots, KeepWhatIsReadAfterALoopFromItsBeginning) {
  Slots plain(kEqual), looped(kEqual);
  for (Slots* s : {&plain, &looped}) {
    s->kernel("", "c");
    s->kernel("", "b");
    s->kernel("b", "");
  }
  looped.loop(0, 2);
  EXPECT_EQ(plain.assigned(), "b c");
  EXPECT_EQ(looped.assigned(), "b | c");
}

TEST(Slots, AreSharedByWhatLivesWithinAStep) {
  Slots s(kEqual);
  s.kernel("", "a");
  s.kernel("a", "b");
  s.kernel("b", "c");
  s.kernel("c", "d");
  s.loop(0, 4);
  EXPECT_EQ(s.assigned(), "a c | b d");
}

// e is written at the step, as a slice of w, before the loop's last kernel.
TEST(Slots, KeepWhatStepsLeaveThroughTheLoop) {
  Slots s("size T; a[i: 8] = 1.0; b[i: 8] = 1.0; w[t: T, i: 8] = 1.0; e[i: 8] = 1.0");
  s.slice("e", "w");
  s.kernel("", "a");
  s.kernel("a", "e");
  s.kernel("", "b");
  s.loop(0, 3);
  EXPECT_EQ(s.assigned(), "w | a b");
}

TEST(Slots, AreGivenBackAfterTheLoop) {
  Slots s("size T; a[i: 8] = 1.0; b[t: T, i: 8] = 1.0; w[t: T, i: 8] = 1.0; e[i: 8] = 1.0");
  s.slice("e", "w");
  s.kernel("", "e");
  s.kernel("w", "a");
  s.kernel("a", "b");
  s.loop(0, 1);
  EXPECT_EQ(s.assigned(), "b w | a");
}

}  // namespace
}  // namespace attn::testing
