// attnc report: what the phases made of a file, as one document.
#include "compiler/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/driver/build.h"
#include "compiler/driver/commands.h"
#include "compiler/simplify/pass.h"

namespace attn::driver {
namespace {

constexpr const char* kDerive =
    "apply the rules of differentiation, from the last line to the first";

std::string brief_of(const std::string& pass) {
  for (const simplify::Pass& p : simplify::pipeline())
    if (pass == p.name) return p.brief;
  return pass == "derive" ? kDerive : "";
}

// By model and derivative.
using Stages = std::map<std::pair<std::string, std::string>, std::vector<report::Stage>>;

// Sizes to compute numbers with; UsageError for one that no model has or that is known already.
std::map<std::string, int64_t> given_sizes(const CommandLine& c,
                                           const std::vector<Compiled>& models) {
  const elaborate::Overrides given = size_overrides(c.run_time_sizes, "--size");
  std::vector<std::string> names;
  for (const Compiled& m : models)
    for (const ir::Size& s : m.raw.sizes)
      if (!s.value && !s.definition && !s.quotient) names.push_back(s.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = nearest(name, names);
    throw UsageError(fmt::format("{} has no size `{}` that is known when it runs{}", c.file, name,
                                 near.empty() ? "; -D sets one known when compiling"
                                              : fmt::format("; did you mean `{}`?", near)));
  }
  return {given.begin(), given.end()};
}

report::Subject subject_of(const Compiled& m, Stages& stages) {
  report::Subject s{m.name, m.doc, &m.raw, &*m.plan, {}, {}};
  using plan::FunctionKind;
  auto add = [&](FunctionKind kind, const char* name, const std::optional<ir::Graph>& graph) {
    if (!graph) return;
    report::Derived d{kind, std::move(stages[{m.name, name}]), {}, &*graph};
    if (kind == FunctionKind::backward) d.origins = m.origins;
    s.derived.push_back(std::move(d));
  };
  add(FunctionKind::backward, "gradient", m.gradient);
  add(FunctionKind::jvp, "jvp", m.jvp);
  add(FunctionKind::hvp, "hvp", m.hvp);
  return s;
}

}  // namespace

int report(const CommandLine& c) {
  std::error_code error;
  if (!c.out.empty() && std::filesystem::equivalent(c.out, c.file, error))
    throw UsageError(fmt::format("{} would be written over by its report", c.file));
  Source source;
  load(source, c.file);
  std::vector<Compiled> models;
  Stages stages;
  Options options = options_of(c);
  options.trace = [&](const std::string& model, const std::string& function,
                      const std::string& pass, const ir::Graph& g) {
    if (function != "forward") stages[{model, function}].push_back({pass, brief_of(pass), g});
  };
  if (!source.diagnostics.has_errors()) models = compile(source, options);
  if (report(source)) return source.failure();
  require_model(c, models);
  require_chosen(c, models);
  report::Report r{std::filesystem::path(c.file).filename().string(), ATTN_VERSION, {}};
  const std::map<std::string, int64_t> sizes = given_sizes(c, models);
  for (const Compiled& m : models) {
    report::Subject subject = subject_of(m, stages);
    subject.sizes = sizes;
    r.models.push_back(report::collect(subject));
  }
  const std::string text = report::html(r);
  if (c.out.empty())
    print_out(text);
  else
    write_file(c.out, text);
  return 0;
}

}  // namespace attn::driver
