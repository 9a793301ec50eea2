// `attnc emit`: prints what a stage made of the models.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "compiler/driver/commands.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/signature.h"
#include "compiler/lower/lower.h"
#include "compiler/simplify/pass.h"
#include "compiler/target/target.h"
#include "compiler/text/dot.h"
#include "compiler/text/formula.h"
#include "compiler/text/text.h"
#include "dsl/print.h"

namespace attn::driver {
namespace {

// A word that `--after` takes.
void require_pass(const std::string& name) {
  std::string known = "graph, derive";
  bool found = name == "graph" || name == "derive";
  for (const simplify::Pass& pass : simplify::pipeline()) {
    known += fmt::format(", {}", pass.name);
    found = found || name == pass.name;
  }
  if (!found) throw UsageError(fmt::format("no pass `{}`: there are {}", name, known));
}

bool prints_kernels(const CommandLine& c) { return c.stage == "statement" || c.stage == "device"; }

// A kernel by one of its schedules.
struct Scheduled {
  const plan::Function& function;
  const plan::Kernel& kernel;
  bool few_rows;
};

// The kernels of these models, on the CPU in all of their schedules. There, `repeated` gets a line
// for each that does the work of one before.
std::vector<Scheduled> kernels_of(const std::vector<Compiled>& models, bool on_cpu,
                                  std::string& repeated) {
  std::vector<Scheduled> kernels;
  std::map<std::string, std::string> first;  // signature -> the name of the first such kernel
  const auto add = [&](const auto& plan) {
    for (const plan::Function* f : plan::functions(plan))
      for (const auto* list : {&f->kernels, &f->checks})
        for (const plan::Kernel& k : *list) {
          if (on_cpu) {
            const auto [same, is_new] = first.try_emplace(emit::signature(*f, k), k.name);
            if (!is_new) {
              repeated += fmt::format("// {}: the code of {}\n", k.name, same->second);
              continue;
            }
          }
          kernels.push_back({*f, k, false});
          if (on_cpu && plan::few_rows_of(f->graph, k.form)) kernels.push_back({*f, k, true});
        }
  };
  for (const Compiled& m : models) {
    add(*m.plan);
    if (m.step_plan) add(*m.step_plan);
  }
  return kernels;
}

// The loops of the kernels, or their programs of a device.
std::string kernels_text(const CommandLine& c, const std::vector<Compiled>& models) {
  const std::string target =
      chosen_targets(c.targets.empty() ? std::vector<std::string>{"host"} : c.targets).back();
  const bool is_device = c.stage == "device", on_cpu = target::named(target).device == ATTN_CPU;
  if (is_device && on_cpu)
    throw UsageError(fmt::format("--stage=device is of GPUs: --target {} or {}",
                                 fmt::join(target::names_for(ATTN_OPENCL), ", "),
                                 fmt::join(target::names_for(ATTN_CUDA), ", ")));
  std::string out, repeated;
  const std::vector<Scheduled> kernels = kernels_of(models, on_cpu, repeated);
  ProgressLine progress(progress_of(c), kernels.size(), 0);
  for (const auto& [f, k, few_rows] : kernels) {
    out += is_device ? fmt::format("// {} {}\n{}\n", plan::title(f), emit::title(f, k),
                                   lower::device_program(f, k, target))
                     : lower::statement(f, k, target, few_rows);
    progress.finished(k.name);
  }
  return out + repeated;
}

// What a plan says of each kernel on the last of the targets, where that is a GPU's.
plan::Schedule schedule_on(const std::vector<std::string>& targets) {
  if (targets.empty()) return nullptr;
  const std::string target = chosen_targets(targets).back();
  if (target::named(target).device == ATTN_CPU) return nullptr;
  return [target](const plan::Function& f, const plan::Kernel& k) {
    return fmt::format("on {}: {}", target, lower::schedule(f, k, target));
  };
}

// Why a stage of these models is empty.
std::string nothing_to_print(const CommandLine& c, const std::vector<Compiled>& models) {
  const std::string who = models.size() == 1 ? "`" + models[0].name + "`" : "no model of " + c.file;
  const std::string has = models.size() == 1 ? " has no " : " has a ";
  if (c.stage == "probe") return who + has + "probe: `model … -> y, probe NAME` declares one";
  if (c.stage == "step")
    return who + has + "update: `train model … using adam`, with `use std.optim`, names one";
  return fmt::format("{}{}{}", who, has, c.stage);
}

// What a stage prints as a program; nothing where it is not one, or no model has it.
std::vector<const ir::Graph*> graphs_of(const std::string& stage,
                                        const std::vector<Compiled>& models) {
  std::vector<const ir::Graph*> graphs;
  for (const Compiled& m : models) {
    if (stage == "graph") graphs.push_back(&m.raw);
    if (stage == "gradient" && m.gradient) graphs.push_back(&*m.gradient);
    if (stage == "jvp" && m.jvp) graphs.push_back(&*m.jvp);
    if (stage == "hvp" && m.hvp) graphs.push_back(&*m.hvp);
    if (stage == "probe")
      for (const Probe& p : m.probes) graphs.push_back(&p.graph);
    if (stage == "step" && m.step)
      for (const ir::Update& u : m.step->updates) graphs.push_back(&u.graph);
  }
  return graphs;
}

}  // namespace

int emit(const CommandLine& c) {
  Source source;
  load(source, c.file);
  if (source.diagnostics.has_errors()) {
    report(source);
    return source.failure();
  }
  if (c.stage == "ast") {
    report(source);
    print_out(dsl::print(source.tree));
    return 0;
  }
  Options options = options_of(c);
  const bool of_one = c.stage == "gradient" || c.stage == "jvp" || c.stage == "hvp";
  if (c.stage == "gradient" || (c.after == "derive" && !of_one)) options.all_gradients = true;
  options.jvp = options.jvp || c.stage == "jvp";
  options.hvp = options.hvp || c.stage == "hvp";
  options.plan = c.stage == "plan" || prints_kernels(c);
  std::map<std::string, ir::Graph> after;  // by model
  if (!c.after.empty()) {
    require_pass(c.after);
    options.trace = [&](const std::string& model, const std::string& function,
                        const std::string& pass, const ir::Graph& g) {
      if (pass == c.after && (!of_one || function == c.stage)) after[model] = g;
    };
  }
  std::vector<Compiled> models = compile(source, options);
  if (report(source)) return source.failure();
  require_model(c, models);
  require_chosen(c, models);
  if (!c.after.empty()) {
    std::vector<const ir::Graph*> graphs;
    for (const Compiled& m : models)
      if (auto it = after.find(m.name); it != after.end()) graphs.push_back(&it->second);
    if (graphs.empty())
      throw UsageError(fmt::format("the pass `{}` changed nothing here", c.after));
    print_out(text::to_string(graphs));
    return 0;
  }
  const std::vector<const ir::Graph*> graphs = graphs_of(c.stage, models);
  if (!graphs.empty()) {
    print_out(text::to_string(graphs));
    return 0;
  }
  std::string out = prints_kernels(c) ? kernels_text(c, models) : "";
  const plan::Schedule schedule = schedule_on(c.targets);
  for (const Compiled& m : models) {
    if (!out.empty() && !prints_kernels(c)) out += "\n";
    if (c.stage == "plan") {
      out += plan::to_string(*m.plan, schedule);
      if (m.step_plan) out += plan::to_string(*m.step_plan, schedule);
    }
    if (c.stage == "tex" || c.stage == "dot") {
      auto print = c.stage == "tex" ? text::to_tex : text::to_dot;
      out += print(m.raw, nullptr, "");
      if (m.gradient) out += "\n" + print(*m.gradient, &m.forward, "gradient");
      if (m.jvp) out += "\n" + print(*m.jvp, &m.forward, "jvp");
      if (m.hvp) out += "\n" + print(*m.hvp, &m.forward, "hvp");
    }
  }
  if (out.empty()) throw UsageError(nothing_to_print(c, models));
  print_out(out);
  return 0;
}

}  // namespace attn::driver
