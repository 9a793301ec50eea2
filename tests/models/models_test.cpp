// Published architectures, examples/models/NAME.attn: their plans at the published sizes, with few
// layers, are goldens beside this file, and kernels of small sizes give the values and gradients of
// the evaluator.
#include <gtest/gtest.h>

#include <memory>

#include "tests/kernels/compiled.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;
using Sizes = elaborate::Overrides;

// The sizes with which a file is planned, and those with which it is compiled and called. These are
// the same where they can be, so that kernels are too.
struct Compiled {
  Sizes planned, called;
};

const std::map<std::string, Compiled> kModels = {
    {"bert", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"V", 11}, {"F", 32}}}},
    {"cached", {{{"L", 2}}, {{"D", 16}, {"H", 4}, {"L", 2}, {"V", 11}, {"F", 32}}}},
    {"differential", {{{"L", 1}}, {{"D", 16}, {"H", 2}, {"L", 1}, {"V", 11}, {"F", 32}}}},
    {"gpt2", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"V", 11}}}},
    {"gpt2_heads", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"V", 11}}}},
    {"gpt2_indexed", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"V", 11}}}},
    {"linear_attention", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}}}},
    {"llama", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"V", 11}, {"G", 2}, {"F", 32}}}},
    {"mamba", {{{"L", 1}}, {{"D", 16}, {"L", 1}, {"V", 11}, {"N", 4}, {"R", 3}}}},
    {"mixtral", {{}, {{"D", 16}, {"F", 32}, {"X", 3}}}},
    {"perceiver", {{{"L", 1}}, {{"D", 16}, {"L", 1}, {"C", 6}, {"N", 5}, {"R", 2}, {"K", 5}}}},
    {"retention", {{}, {{"D", 16}, {"H", 4}}}},
    {"sigmoid", {{{"L", 1}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"F", 32}}}},
    {"swin",
     {{{"L2", 0}, {"L3", 0}, {"L4", 0}},
      {{"D", 12}, {"I", 16}, {"P", 2}, {"M", 2}, {"K", 5}, {"L2", 0}, {"L3", 0}, {"L4", 0}}}},
    {"switch", {{}, {{"D", 16}, {"F", 32}, {"X", 3}}}},
    {"t5",
     {{{"L", 2}},
      {{"D", 16}, {"H", 4}, {"L", 1}, {"V", 11}, {"E", 4}, {"F", 32}, {"N", 8}, {"M", 6}}}},
    {"talking_heads", {{}, {{"D", 16}, {"H", 4}}}},
    {"vit", {{{"L", 2}}, {{"D", 16}, {"H", 4}, {"L", 1}, {"I", 6}, {"P", 2}, {"K", 5}}}}};

const std::vector<fs::path> kFiles =
    files_in(fs::path(ATTN_SOURCE_DIR) / "examples" / "models", ".attn");

class Models : public ::testing::TestWithParam<fs::path> {
 protected:
  const Compiled& sizes() const { return kModels.at(GetParam().stem().string()); }
};

TEST_P(Models, PlanAsTheGoldenSays) {
  driver::Source source;
  driver::load(source, GetParam().string());
  std::string plans;
  for (const driver::Compiled& model : driver::compile(source, {.sizes = sizes().planned}))
    plans += plan::to_string(*model.plan);
  std::string said;
  for (const Diagnostic& d : source.diagnostics.all()) said += "warning: " + d.message + "\n";
  expect_golden(fs::path(ATTN_SOURCE_DIR) / "tests/models" / (GetParam().stem().string() + ".plan"),
                said + plans);
}

// All models at small sizes in one library, in which equal kernels are one.
struct Called {
  std::map<fs::path, std::vector<std::string>> names;  // of a file's models
  std::unique_ptr<Library> library;
};

const Called& called() {
  static const Called all = [] {
    Called made;
    std::vector<driver::Compiled> models;
    for (const fs::path& file : kFiles) {
      for (driver::Compiled& model :
           compile_file(file.string(), kModels.at(file.stem().string()).called)) {
        made.names[file].push_back(model.name);
        models.push_back(std::move(model));
      }
    }
    // The smallest instruction set, whose kernels are compiled soonest.
    made.library = std::make_unique<Library>(std::move(models), 2, target_in_turn(0));
    return made;
  }();
  return all;
}

TEST_P(Models, GiveWhatTheEvaluatorGives) {
  Library& library = *called().library;
  for (const std::string& name : called().names.at(GetParam())) {
    for (auto [t, s] : {std::pair{1, 1}, {7, 5}, {49, 33}}) {
      const bool remembers = library.interface(name).n_states > 0;
      const std::map<std::string, int64_t> sizes = {
          {"B", 2}, {"T", t}, {"S", remembers ? s + t : s}, {"P", s}};
      Arrays given = random_call(library.model(name), sizes, static_cast<uint64_t>(t), 10);
      if (given.count("length")) given["length"].values = {static_cast<double>(s), 1};
      if (given.count("label")) given["label"].values = {1, 4};
      if (given.count("at")) given["at"].values = {static_cast<double>(s), 1};
      const Outcome o = library.call(given, {.gradient = !remembers}, name);
      ASSERT_EQ(o.status, ATTN_OK) << o.message;
      EXPECT_EQ(differ_beyond_rounding(library, name, given, o.values, 1e-5, 0), "")
          << name << " T=" << t << " S=" << s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Models, ::testing::ValuesIn(kFiles),
                         [](const auto& which) { return which.param.stem().string(); });

}  // namespace
}  // namespace attn::testing
