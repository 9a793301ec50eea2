// A program through the phases as `attnc` runs them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/front.h"
#include "compiler/text/text.h"
#include "tests/support/golden.h"

namespace attn::testing {

struct Stages {
  driver::Source source;
  std::vector<driver::Compiled> models;
  std::vector<std::pair<std::string, ir::Graph>> passes;  // each that changed a graph, in order

  std::string messages() const { return render(source.map, source.diagnostics); }
};

inline std::unique_ptr<Stages> stages_of(const std::filesystem::path& path,
                                         driver::Options options = {}) {
  auto s = std::make_unique<Stages>();
  driver::load(s->source, path.string());
  if (!s->source.diagnostics.has_errors()) {
    options.trace = [&](const std::string&, const std::string&, const std::string& pass,
                        const ir::Graph& g) { s->passes.emplace_back(pass, g); };
    s->models = driver::compile(s->source, options);
  }
  EXPECT_FALSE(s->source.diagnostics.has_errors()) << s->messages();
  return s;
}

}  // namespace attn::testing
