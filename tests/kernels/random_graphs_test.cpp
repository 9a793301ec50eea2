// Random graphs: forward and gradient kernels give what the evaluator gives, at several sizes,
// empty ones among them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiled.h"
#include "compiler/text/text.h"
#include "seeds.h"
#include "tests/support/random_graph.h"
#include "tests/support/with_loss.h"

namespace attn::testing {
namespace {

constexpr const char* kSeeds = "ATTN_RANDOM_GRAPHS";

// Inputs as f32 holds them, and cotangents for every real output.
Arrays given_for(const driver::Compiled& model, const RandomGraph& random) {
  Arrays given;
  for (const auto& [name, array] : random.inputs) {
    given[name] = array;
    ir::Storage s = model.forward[*model.forward.find(name)].storage;
    for (double& v : given[name].values) v = as_stored(v, s);
  }
  std::map<std::string, int64_t> sizes;
  for (size_t k = 0; k < random.graph.sizes.size(); ++k)
    sizes[random.graph.sizes[k].name] = random.sizes[k];
  for (auto& [name, array] : random_call(model, sizes, random.seed))
    if (!given.count(name)) given[name] = array;
  return given;
}

TEST(RandomGraphs, GiveWhatTheEvaluatorGives) {
  const Seeds all = seeds(kSeeds, 16);
  constexpr uint64_t kTogether = 8;
  for (uint64_t start = all.first; start <= all.last; start += kTogether) {
    std::vector<driver::Compiled> models;
    std::map<std::string, std::vector<RandomGraph>> calls;
    for (uint64_t seed = start; seed < start + kTogether && seed <= all.last; ++seed) {
      // The same graph at sizes of either kind: only the values of run-time sizes differ.
      std::string name = fmt::format("r{}", seed);
      RandomOptions options{.definitions = 4};
      for (bool empty : {false, true}) {
        options.empty_sizes = empty;
        RandomGraph random = random_graph(seed, options);
        if (!calls[name].empty() &&
            text::to_string(random.graph) != text::to_string(calls[name][0].graph))
          continue;
        calls[name].push_back(std::move(random));
      }
      models.push_back(compile_graph(name, calls[name][0].graph));
    }
    Library library(std::move(models));
    for (const auto& [name, graphs] : calls) {
      for (const RandomGraph& random : graphs) {
        const driver::Compiled& model = library.model(name);
        Arrays given = given_for(model, random);
        Outcome o = library.call(given, {}, name);
        if (o.status == ATTN_OK)
          o.message = differ(library.reference(given, name), o.values, 1e-4, 0.05);
        EXPECT_EQ(o.message, "") << name << "\n"
                                 << text::to_string(model.forward)
                                 << text::to_string(*model.gradient)
                                 << plan::to_string(*model.plan);
      }
    }
  }
}

TEST(RandomGraphs, HaveJacobianAndHessianProductsThatTheEvaluatorGives) {
  std::vector<driver::Compiled> models;
  std::map<std::string, RandomGraph> graphs;
  for (uint64_t seed = 500; seed < 508; ++seed) {
    const std::string name = fmt::format("r{}", seed);
    graphs[name] = random_graph(seed, {.definitions = 3});
    models.push_back(compile_graph(name, with_loss(graphs[name].graph), true));
  }
  Library library(std::move(models));
  for (const auto& [name, random] : graphs) {
    const driver::Compiled& model = library.model(name);
    const Arrays given = given_for(model, random);
    const CallOptions options{.jvp = true, .hvp = true};
    Outcome o = library.call(given, options, name);
    if (o.status == ATTN_OK)
      o.message = differ(library.reference(given, name, options), o.values, 1e-4, 0.05);
    EXPECT_EQ(o.message, "") << name << "\n"
                             << text::to_string(*model.jvp) << text::to_string(*model.hvp);
  }
}

}  // namespace
}  // namespace attn::testing
