// One field of a plan is changed at a time: the verifier, or the evaluation of the form, refuses
// every change that changes what the kernels compute.
#include <gtest/gtest.h>

#include <map>

#include "compiler/plan/verify.h"
#include "forms.h"
#include "mutations.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

struct Count {
  int verifier = 0, evaluation = 0, kept = 0;
  std::string first;  // that was kept
};

class Mutations {
 public:
  explicit Mutations(const PlannedFile& file) {
    for (const driver::Compiled& m : file.models) {
      run(*m.plan);
      if (!m.step_plan) continue;
      for (const auto* list : {&m.step_plan->updates, &m.step_plan->norms})
        for (const plan::Plan& p : *list) run(p);
    }
  }

  std::map<std::string, Count> counts;

 private:
  void run(const plan::Plan& original) {
    plan::Plan changed = original;
    const std::vector<plan::Function*> functions = plan::functions(changed);
    for (size_t n = 0; n < functions.size(); ++n)
      run(*plan::functions(original)[n], changed, *functions[n]);
  }

  void run(const plan::Function& original, const plan::Plan& plan, plan::Function& f) {
    std::map<std::string, int> tried;
    each_mutation(f, [&](const std::string& what, const plan::Kernel* k) {
      // Some of a kind in each function say what more would.
      if (++tried[what] > 2) return;
      Count& count = counts[what];
      try {
        if (k) plan::verify(f.graph, *k);
        plan::verify(f);
        if (!k) plan::verify(plan);
      } catch (const InternalError&) {
        ++count.verifier;
        return;
      }
      if (k && !same(original, f, *k)) {
        ++count.evaluation;
        return;
      }
      if (count.kept++ == 0) count.first = f.name + (k ? " " + k->name : "");
    });
  }

  static bool same(const plan::Function& original, const plan::Function& f, const plan::Kernel& k) {
    const bool is_check = &k >= f.checks.data() && &k < f.checks.data() + f.checks.size();
    const plan::Kernel& was =
        is_check ? original.checks[&k - f.checks.data()] : original.kernels[&k - f.kernels.data()];
    try {
      for (uint64_t seed = 1; seed <= 6; ++seed)
        if (!FormCheck({&original, &was}, seed).difference(k.form).empty()) return false;
    } catch (const std::exception&) {
      return false;  // it reads outside a tensor
    }
    return true;
  }
};

// Changes of a plan that change nothing of what it computes, with the reason.
const std::map<std::string, std::string> kNeutral = {
    {"contraction.product.left_guard: one fewer", "the other factor has the condition too"},
    {"contraction.product.right_guard: one fewer", "the other factor has the condition too"},
    {"contraction.product.reduced: reversed", "a sum in another order"},
    {"function.checks: reversed", "checks are independent"},
    {"function.data_checks: reversed", "checks are independent"},
    {"function.kernels: two swapped", "kernels that do not need one another"},
    {"function.slices: reversed", "a set"},
    {"function.lives: reversed", "a set"},
    {"life.first: plus one", "a loop in which nothing else needs that memory"},
    {"life.if_saved: always", "more memory than it needs"},
    {"life.in_step: plus one", "a longer time, of what is saved"},
    {"life.in_step: less one", "a longer time, of what is added to"},
    {"life.in_step: none", "a longer time"},
    {"life.last: less one", "a loop in which nothing else needs that memory"},
    {"life.of_step: the whole", "more memory than it needs"},
    {"life.over: none", "a permission"},
    {"kernel.definitions: reversed", "the form has the order"},
    {"kernel.sizes: reversed", "arguments in another order"},
    {"loops.along: none", "a sum for each result, of the same terms"},
    {"loops.reduced: reversed", "a reduction in another order"},
    {"result.panel_guard: one fewer", "the tile has the condition too"},
    {"row.columns: reversed", "loops in another order"},
    {"row.rows: reversed", "loops in another order"},
    {"row.definition.reduced: reversed", "a reduction in another order"},
    {"row.in_place: on", "a permission that no caller of the kernel uses"},
    {"tile.dot.reduced: reversed", "a sum in another order"},
    {"tile.dot.right: plus one", "a softmax of shifted scores, where their sum is not stored"},
    {"tile.value: plus one", "a softmax of shifted scores, where their sum is not stored"},
    {"tile.dot: factors swapped", "a product whose factors are computed at each point"},
    {"tile.visible: one fewer", "a later tile has the condition too"},
    {"tiles.batch: reversed", "loops in another order"},
    {"tiles.bounds: none", "bounds leave out what counts nothing"},
    {"tiles: row and column swapped", "a scatter has no kept index"},
};

TEST(Mutations, AreRefused) {
  std::map<std::string, Count> all;
  for (const fs::path& path : files_with_plans()) {
    const auto file = planned(path);
    for (const auto& [what, n] : Mutations(*file).counts) {
      Count& sum = all[what];
      sum.verifier += n.verifier;
      sum.evaluation += n.evaluation;
      if (sum.kept == 0) sum.first = path.stem().string() + " " + n.first;
      sum.kept += n.kept;
    }
  }
  int refused = 0;
  for (const auto& [what, n] : all) {
    refused += n.verifier + n.evaluation;
    if (n.kept == 0) continue;
    EXPECT_TRUE(kNeutral.count(what)) << what << ": kept " << n.kept << " times, in " << n.first;
  }
  for (const auto& [what, reason] : kNeutral)
    EXPECT_TRUE(all.count(what) && all.at(what).kept > 0) << what << " is refused: take it off";
  EXPECT_GT(all.size(), 250u) << "kinds of change";
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace attn::testing
