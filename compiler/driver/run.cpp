// attnc run: reads arrays, calls the model, writes arrays.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>

#include "compiler/driver/array_files.h"
#include "compiler/driver/call.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/device.h"
#include "compiler/driver/interrupts.h"
#include "compiler/driver/step.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;
using evaluate::Array;
using evaluate::Arrays;

constexpr uint64_t kDefaultSeed = 1;

std::pair<std::string, std::string> name_and_path(const std::string& option,
                                                  const std::string& text) {
  size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(fmt::format("{} takes NAME=FILE, not `{}`", option, text));
  return {text.substr(0, at), text.substr(at + 1)};
}

const ir::Tensor& find_argument(const Compiled& m, const std::string& name) {
  std::vector<std::string> names;
  for (const ir::Tensor& t : m.forward.tensors) {
    if (t.role != ir::Role::input && t.role != ir::Role::parameter) continue;
    if (t.name == name) return t;
    names.push_back(t.name);
  }
  const std::string near = nearest(name, names);
  throw UsageError(fmt::format("{} has no input or parameter `{}`{}", m.name, name,
                               !near.empty() ? fmt::format("; did you mean `{}`?", near)
                               : names.empty()
                                   ? std::string()
                                   : fmt::format(": it has {}", fmt::join(names, ", "))));
}

// A gradient or a state of a parameter; nothing where it is not called so.
std::optional<ir::Tensor> find_companion(const Compiled& m, const std::string& name) {
  for (ir::Tensor t : m.forward.tensors) {
    if (t.role != ir::Role::parameter) continue;
    bool found = name == "d" + t.name;
    for (const ir::StepState& s : m.step->states)
      found = found || name == state_name(t.name, s.name);
    if (!found) continue;
    t.name = t.weight_name = name;
    t.storage = ir::gradient_storage(t.storage);
    return t;
  }
  return std::nullopt;
}

// What only a step takes; false where `name` is none of it.
bool take_step_input(const Compiled& m, const FileContext& context, const std::string& name,
                     const std::string& text, Call& call) {
  if (!call.step) return false;
  bool scalar = name == ir::kStepCount;
  for (const ir::StepOption& o : m.step->options) scalar = scalar || o.name == name;
  bool fresh = true;
  if (scalar)
    fresh = call.step->scalars.emplace(name, load_scalar(context, name, text)).second;
  else if (const auto t = find_companion(m, name))
    fresh = call.given.emplace(name, load_array(context, m.forward, *t, text)).second;
  else
    return false;
  if (!fresh) throw UsageError(fmt::format("--in {} is given twice", name));
  return true;
}

void begin_step(const CommandLine& c, const Compiled& m, Call& call) {
  if (c.steps.empty()) return;
  if (!m.step)
    throw UsageError(
        fmt::format("{} names no update: `train model {}(…) -> … using adamw`", m.name, m.name));
  call.step.emplace();
  for (const std::string& name : c.steps) {
    std::vector<std::string> names;
    bool found = false;
    for (const ir::Tensor& t : m.forward.tensors) {
      if (t.role != ir::Role::parameter) continue;
      found = found || derive::is_chosen(t, {name});
      names.push_back(t.name);
    }
    if (found) continue;
    const std::string near = nearest(name, names);
    throw UsageError(fmt::format("--step {}: no parameter is called so{}", name,
                                 near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
  }
}

// Gives options their defaults, and finds out whether the model has to be called for a gradient.
void finish_step(const CommandLine& c, const Compiled& m, Call& call) {
  if (!call.step) return;
  auto& scalars = call.step->scalars;
  const double step = scalars.emplace(ir::kStepCount, 1).first->second;
  if (!(step >= 1 && step < 9e15 && step == std::floor(step)))
    throw UsageError(fmt::format("--in step={}: steps are counted from 1", step));
  for (const ir::StepOption& o : m.step->options) {
    if (scalars.count(o.name)) continue;
    if (!o.value)
      throw UsageError(fmt::format("{} needs {}: --in {}=NUMBER", m.step->name, o.name, o.name));
    scalars.emplace(o.name, *o.value);
  }
  call.calls_model = false;
  for (const ir::Tensor& t : m.forward.tensors)
    if (t.role == ir::Role::parameter && derive::is_chosen(t, c.steps))
      call.calls_model = call.calls_model || !call.given.count("d" + t.name);
  call.gradient = call.gradient || call.calls_model;
  call.calls_model = call.calls_model || call.probes;
  if (call.calls_model) return;
  for (const ir::Tensor& t : m.forward.tensors)
    if (t.role == ir::Role::parameter && call.given.count("d" + t.name) &&
        !call.given.count(t.name))
      throw UsageError(fmt::format("a step of `{}` needs its value: --in {}=FILE.npy or --weights",
                                   t.name, t.name));
}

// Of what a step has made, what was asked for.
void keep_chosen(const CommandLine& c, const Compiled& m, Arrays& results) {
  if (c.steps.empty()) return;
  for (const ir::Tensor& t : m.forward.tensors) {
    if (t.role != ir::Role::parameter) continue;
    if (!c.gradient) results.erase("d" + t.name);
    if (derive::is_chosen(t, c.steps)) {
      if (!results.count(t.name))
        throw UsageError(fmt::format("--wrt leaves out `{}`, which --step names", t.name));
      continue;
    }
    results.erase(t.name);
    for (const ir::StepState& s : m.step->states) results.erase(state_name(t.name, s.name));
  }
  if (!c.gradient)
    for (const ir::Tensor& t : m.forward.tensors)
      if (t.role == ir::Role::input) results.erase("d" + t.name);
}

bool is_state(const ir::Graph& g, const ir::Tensor& t) {
  return std::any_of(g.outputs.begin(), g.outputs.end(), [&](const ir::Output& o) {
    return o.updates.valid() && g[o.updates].name == t.name;
  });
}

// States that no file holds begin as zeros; a size that only they have is to be known.
void begin_missing(const Compiled& m, Arrays& given) {
  try {
    begin_states(m, given);
  } catch (const evaluate::CallError& e) {
    throw UsageError(fmt::format(
        "{}; a size that only a state has is given as -D NAME=NUMBER, or by --in STATE=FILE.npy",
        e.what()));
  }
}

// Random parameters give plausible results, so a call that did not ask for them by --seed is told.
void initialise(const CommandLine& c, const Compiled& m, Arrays& given) {
  size_t missing = 0, all = 0;
  for (const ir::Tensor& t : m.forward.tensors) {
    if (t.role != ir::Role::parameter) continue;
    ++all;
    missing += given.count(t.name) ? 0 : 1;
  }
  initialise_missing(m, c.seed.value_or(kDefaultSeed), given);
  if (missing == 0 || c.seed) return;
  say(fmt::format("note: {} of {} parameter{} initialised at random (seed {}){}\n", missing, all,
                  all == 1 ? " is" : "s are", kDefaultSeed,
                  c.weights.empty() ? ": give --weights FILE" : ""));
}

void take_inputs(const CommandLine& c, const Compiled& m, const FileContext& context, Call& call) {
  Arrays& given = call.given;
  for (const std::string& text : c.inputs) {
    auto [name, path] = name_and_path("--in", text);
    if (take_step_input(m, context, name, path, call)) continue;
    const ir::Tensor& t = find_argument(m, name);
    if (!given.emplace(name, load_array(context, m.forward, t, path)).second)
      throw UsageError(fmt::format("--in {} is given twice", name));
  }
  if (!c.weights.empty()) {
    std::vector<std::string> notes;
    load_weights(context, m.forward, c.weights, c.may_miss, given, notes);
    for (const std::string& note : notes) say(fmt::format("warning: {}\n", note));
  }
  finish_step(c, m, call);
  if (!call.calls_model) return;
  for (const ir::Tensor& t : m.forward.tensors)
    if (t.role == ir::Role::input && !given.count(t.name) && !is_state(m.forward, t))
      throw UsageError(
          fmt::format("{} needs the input `{}`: --in {}=FILE.npy", m.name, t.name, t.name));
}

void take_cotangents(const CommandLine& c, const Compiled& m, const FileContext& context,
                     Arrays& given) {
  std::map<std::string, std::string> paths;
  for (const std::string& text : c.cotangents) {
    auto [name, path] = name_and_path("--cotangent", text);
    if (!paths.emplace(name, path).second)
      throw UsageError(fmt::format("--cotangent {} is given twice", name));
  }
  for (const ir::Output& o : m.forward.outputs) {
    const ir::Tensor& t = m.forward[o.tensor];
    if (!ir::is_real(ir::arithmetic_type(t.storage))) continue;
    ir::Tensor cotangent = t;
    cotangent.name = "d" + o.name;
    cotangent.storage = ir::gradient_storage(t.storage);
    if (auto it = paths.find(o.name); it != paths.end()) {
      given.emplace(cotangent.name, load_array(context, m.forward, cotangent, it->second));
      paths.erase(it);
    } else if (t.extents.empty()) {
      given.emplace(cotangent.name, Array{{}, {1}});
    } else {
      throw UsageError(fmt::format("the output `{}` needs a cotangent: --cotangent {}=FILE.npy",
                                   o.name, o.name));
    }
  }
  if (!paths.empty())
    throw UsageError(fmt::format("{} has no real output `{}`", m.name, paths.begin()->first));
}

void take_tangents(const CommandLine& c, const Compiled& m, const FileContext& context,
                   Arrays& given) {
  if (!c.tangents.empty() && !c.jvp && !c.hvp) throw UsageError("--tangent is for --jvp and --hvp");
  for (const std::string& text : c.tangents) {
    auto [name, path] = name_and_path("--tangent", text);
    ir::Tensor tangent = find_argument(m, name);
    if (!ir::is_real(ir::arithmetic_type(tangent.storage)))
      throw UsageError(fmt::format("`{}` is not real, and has no tangent", name));
    if (!derive::is_chosen(tangent, c.by))
      throw UsageError(fmt::format("--wrt leaves out `{}`, whose tangent is given", name));
    tangent.name = tangent.weight_name = "t" + name;
    tangent.storage = ir::gradient_storage(tangent.storage);
    if (!given.emplace(tangent.name, load_array(context, m.forward, tangent, path)).second)
      throw UsageError(fmt::format("--tangent {} is given twice", name));
  }
}

// What a probe and a derivative would both be called.
void require_own_file(const CommandLine& c, const Compiled& m, const std::string& probe) {
  auto refuse = [&](char prefix, const ir::Tensor& t, const char* what) {
    if (probe == prefix + t.name)
      throw UsageError(fmt::format("the probe `{0}` and the {1} of `{2}` would both be {0}.npy",
                                   probe, what, t.name));
  };
  for (const ir::Tensor& t : m.forward.tensors) {
    if (c.jvp && t.role == ir::Role::output) refuse('t', t, "tangent");
    if (!ir::is_argument(t.role)) continue;
    if (c.gradient) refuse('d', t, "gradient");
    if (c.hvp) refuse('h', t, "Hessian product");
  }
}

void require_probes(const CommandLine& c, const Compiled& m) {
  std::vector<std::string> names;
  for (const ir::Output& o : m.raw.outputs)
    if (o.probe) names.push_back(o.name);
  for (const std::string& name : c.probes) {
    require_own_file(c, m, name);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    for (const ir::Output& o : m.forward.outputs)
      if (o.name == name)
        throw UsageError(fmt::format("`{}` is no probe but an output: it is written anyway", name));
    const std::string near = nearest(name, names);
    throw UsageError(fmt::format("{} has no probe `{}`{}", m.name, name,
                                 near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
  }
}

// The declared type of every result that a call may have, by its name; the evaluator's stay
// float64.
std::map<std::string, ir::Storage> result_types(const Compiled& m) {
  std::map<std::string, ir::Storage> types;
  for (const ir::Output& o : m.forward.outputs) types[o.name] = m.forward[o.tensor].storage;
  for (const Probe& p : m.probes) types[p.name] = p.graph[p.graph.outputs[0].tensor].storage;
  // What has a name of its own keeps it: that of a derivative is then not among the results.
  for (const ir::Tensor& t : m.forward.tensors) {
    if (t.role == ir::Role::parameter) types.emplace(t.name, t.storage);
    const ir::Storage derived = ir::gradient_storage(t.storage);
    for (const char* prefix : {"d", "t", "h"}) types.emplace(prefix + t.name, derived);
    if (!m.step) continue;
    for (const ir::StepState& s : m.step->states)
      types.emplace(state_name(t.name, s.name), derived);
  }
  return types;
}

}  // namespace

int run(const CommandLine& c) {
  if (c.trace && c.reference) throw UsageError("--trace is of kernels: not with --reference");
  if (c.reference && (c.device != "cpu" || !c.targets.empty()))
    throw UsageError("--reference is by the evaluator: not with --device or --target");
  const Device device = chosen_device(c);
  Source source;
  load(source, c.file);
  std::vector<Compiled> models;
  if (!source.diagnostics.has_errors()) {
    Options options = options_of(c);
    options.plan = !c.reference;
    options.probes = c.probes;
    models = compile(source, options);
  }
  if (report(source)) return source.failure();
  require_chosen(c, models);
  Compiled& m = only_model(c, models);
  const FileContext context;
  require_probes(c, m);
  Call call{.gradient = c.gradient,
            .jvp = c.jvp,
            .hvp = c.hvp,
            .probes = !c.probes.empty(),
            .threads = c.threads,
            .device = device.id};
  Trace trace;
  if (c.trace) call.trace = &trace;
  begin_step(c, m, call);
  take_inputs(c, m, context, call);
  if (call.gradient) take_cotangents(c, m, context, call.given);
  take_tangents(c, m, context, call.given);
  Arrays results;
  const std::map<std::string, ir::Storage> types = result_types(m);
  const Compiled before = m;
  try {
    if (call.calls_model) begin_missing(m, call.given);
    if (call.calls_model) initialise(c, m, call.given);
    results = c.reference
                  ? call_reference(m, call)
                  : call_kernels(
                        source, m, call,
                        {.targets = device.targets, .cache = c.cache, .progress = progress_of(c)});
  } catch (const evaluate::CallError& e) {
    throw RefusedError(e.what());
  }
  print_out(trace.text());
  keep_chosen(c, before, results);
  std::string folder = c.out.empty() ? "." : c.out;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw SystemError(fmt::format("{}: {}", folder, error.message()));
  std::vector<std::string> written;
  for (const auto& [name, array] : results) {
    ir::Storage s = types.at(name);
    if (c.reference && ir::is_real(ir::arithmetic_type(s))) s = ir::Storage::f64;
    // What a state becomes is found under its name, for the next call.
    const std::string stem = name.substr(0, name.find('\''));
    written.push_back((fs::path(c.out) / (stem + ".npy")).string());
    const auto lock = uninterrupted();
    save_array(context, written.back(), array, s);
  }
  if (written.size() > 8) written = {fmt::format("{} files in {}", written.size(), folder)};
  say(fmt::format("wrote {}\n", fmt::join(written, ", ")));
  return 0;
}

}  // namespace attn::driver
