// Random index maps: results and gradients of the evaluator and of kernels agree, and a gradient
// takes about as many points as what it is the gradient of.
#include "tests/support/random_index_maps.h"

#include <gtest/gtest.h>

#include "compiler/solve/equalities.h"
#include "judge.h"
#include "seeds.h"

namespace attn::testing {
namespace {

// The points that all definitions visit at these sizes, where equalities are solved as kernels and
// the evaluator solve them.
int64_t points(ir::Graph g, const std::vector<int64_t>& sizes) {
  int64_t sum = 0;
  for (const ir::Definition& d : std::vector<ir::Definition>(g.definitions)) {
    const ir::Definition solved = solve::solve_equalities(g, d);
    std::set<ir::IndexId> visited(solved.free.begin(), solved.free.end());
    visited.insert(solved.reduced.begin(), solved.reduced.end());
    // Every point is added at one element along it.
    for (const solve::Scatter& s : solve::find_scatters(solved))
      visited.erase(solved.free[s.dimension]);
    int64_t own = 1;
    for (ir::IndexId i : visited) own *= std::max<int64_t>(0, g.value(g[i].extent, sizes));
    sum += own;
  }
  return sum;
}

// A gradient visits each point of forward twice at most, and has each element of what it is taken
// by, once for every read and once for their sum.
int64_t allowed(const ir::Graph& forward, const std::vector<int64_t>& sizes) {
  const auto elements = [&](ir::TensorId t) {
    int64_t product = 1;
    for (const ir::Poly& e : forward[t].extents)
      product *= std::max<int64_t>(0, forward.value(e, sizes));
    return product;
  };
  int64_t sum = 2 * points(forward, sizes);
  for (size_t k = 0; k < forward.tensors.size(); ++k)
    if (ir::is_argument(forward.tensors[k].role)) sum += elements({static_cast<int32_t>(k)});
  for (const ir::Definition& d : forward.definitions)
    for (ir::TensorId t : ir::reads(d)) sum += elements(t);
  return sum;
}

std::vector<int64_t> sizes_of(const ir::Graph& g, const std::map<std::string, int64_t>& call) {
  std::vector<int64_t> sizes;
  for (const ir::Size& s : g.sizes) {
    const auto run_time = call.find(s.name);
    sizes.push_back(s.value ? *s.value : run_time == call.end() ? 0 : run_time->second);
  }
  g.complete(sizes);
  return sizes;
}

constexpr const char* kSeeds = "ATTN_RANDOM_INDEX_MAPS";

TEST(RandomIndexMaps, MeanTheSameSimplifiedAndHaveTheirDerivatives) {
  const auto [first, last] = seeds(kSeeds, 200);
  for (uint64_t seed = first; seed <= last; ++seed) {
    const RandomProgram program = random_index_maps(seed);
    const Verdict v = judge_graphs(program);
    EXPECT_FALSE(v) << "seed " << seed << ": " << v.message << "\n" << program.text;
  }
}

TEST(RandomIndexMaps, GiveWhatTheEvaluatorGives) {
  const auto [first, last] = seeds(kSeeds, 6);
  for (uint64_t seed = first; seed <= last; ++seed) {
    const RandomProgram program = random_index_maps(seed);
    const Verdict v = judge(program, target_in_turn(seed));
    EXPECT_FALSE(v) << "seed " << seed << ": " << v.message << "\n" << program.text;
  }
}

// The gradient of a program with one kind of maps.
struct Gradient {
  RandomProgram program;
  driver::Compiled model;
};

Gradient gradient_of(uint64_t seed, const std::string& kind) {
  Gradient result{random_index_maps(seed, {kind}), {}};
  std::vector<driver::Compiled> models;
  const Verdict v = front(result.program, models);
  EXPECT_FALSE(v) << v.message << "\n" << result.program.text;
  if (!v) result.model = std::move(models[0]);
  return result;
}

// A kind that is solved from now on goes from these lists.
const std::set<std::string> kCostly = {"several of digits"};
const std::set<std::string> kScattered = {"rows reversed", "several of digits"};

TEST(RandomIndexMaps, CostAsMuchBackwards) {
  for (const std::string& kind : index_map_kinds())
    for (uint64_t seed = 1; seed <= 20 && !kCostly.count(kind); ++seed) {
      const Gradient g = gradient_of(seed, kind);
      const ir::Graph &forward = g.model.forward, &gradient = *g.model.gradient;
      const std::map<std::string, int64_t>& call = g.program.calls[0];
      EXPECT_LE(points(gradient, sizes_of(gradient, call)),
                allowed(forward, sizes_of(forward, call)))
          << kind << " seed " << seed << "\n"
          << g.program.text;
    }
}

// Each element of a gradient is computed where it stands, which threads and lanes can share.
TEST(RandomIndexMaps, AreGatheredBackwards) {
  for (const std::string& kind : index_map_kinds())
    for (uint64_t seed = 1; seed <= 20 && !kScattered.count(kind); ++seed) {
      Gradient g = gradient_of(seed, kind);
      ir::Graph& gradient = *g.model.gradient;
      for (const ir::Definition& d : std::vector<ir::Definition>(gradient.definitions))
        EXPECT_TRUE(solve::find_scatters(solve::solve_equalities(gradient, d)).empty())
            << kind << " seed " << seed << ", " << gradient[d.target].name << "\n"
            << g.program.text;
    }
}

}  // namespace
}  // namespace attn::testing
