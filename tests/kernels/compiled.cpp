#include "compiled.h"

#include <attn/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>

#include "call_memory.h"
#include "compiler/base/check.h"
#include "compiler/derive/derive.h"
#include "compiler/driver/call.h"
#include "compiler/simplify/pass.h"
#include "compiler/simplify/passes.h"
#include "compiler/target/target.h"
#include "tests/support/random_graph.h"

namespace attn::testing {

std::vector<driver::Compiled> compile_file(const std::string& path,
                                           const elaborate::Overrides& sizes, Derive derive,
                                           plan::Precision precision) {
  driver::Source source;
  driver::load(source, path);
  std::vector<driver::Compiled> models;
  if (!source.diagnostics.has_errors())
    models = driver::compile(source, {.sizes = sizes,
                                      .all_gradients = derive >= Derive::gradients,
                                      .jvp = derive == Derive::all || derive == Derive::tangents,
                                      .hvp = derive == Derive::all,
                                      .precision = precision});
  if (source.diagnostics.has_errors())
    throw std::runtime_error(render(source.map, source.diagnostics));
  return models;
}

std::vector<driver::Compiled> compile_text(const std::string& text,
                                           const elaborate::Overrides& sizes, Derive derive,
                                           plan::Precision precision) {
  driver::Scratch scratch;
  std::string path = scratch.path() + "/model.attn";
  std::ofstream(path) << text;
  return compile_file(path, sizes, derive, precision);
}

driver::Compiled compile_graph(const std::string& name, ir::Graph graph, bool derived) {
  graph.name = name;
  driver::Compiled c{.name = name, .doc = ""};
  Diagnostics diagnostics;
  const target::Costs& costs = target::costs(target::Arch::x86_64);
  c.raw = simplify::spread_guards(graph);
  c.forward = simplify::simplify(c.raw);
  c.raw_gradient = simplify::spread_guards(derive::gradient(c.forward, diagnostics));
  std::vector<ir::TensorId> outputs;
  for (const ir::Output& o : c.forward.outputs) outputs.push_back(o.tensor);
  const std::vector<ir::TensorId> kept = plan::kept_maps(c.forward, costs);
  c.gradient = simplify::simplify_gradient(*c.raw_gradient, outputs, kept);
  const plan::Gradient gradient{*c.gradient, c.forward.tensors.size(), kept};
  c.plan = plan::make_plan(c.forward, &gradient, costs, diagnostics);
  auto finished = [](const ir::Graph& raw) {
    return simplify::simplify_gradient(simplify::spread_guards(raw), {});
  };
  if (derived) {
    c.jvp = finished(derive::jvp(c.forward, diagnostics));
    const ir::Graph first = finished(derive::loss_gradient(c.forward, diagnostics));
    c.hvp = finished(derive::hessian_product(first, diagnostics));
    c.plan->jvp = plan::plan_derivative(plan::FunctionKind::jvp, *c.jvp, costs, diagnostics);
    c.plan->hvp = plan::plan_derivative(plan::FunctionKind::hvp, *c.hvp, costs, diagnostics);
  }
  if (diagnostics.has_errors()) throw std::runtime_error("errors in a graph");
  return c;
}

Library::Library(std::vector<driver::Compiled> models, int threads, const std::string& target) {
  std::vector<emit::ModelPlan> plans;
  driver::Source none;
  // Kernels are found again only where the caller keeps a cache for it.
  driver::BuildOptions options{.targets = {target},
                               .cache = getenv("ATTNC_CACHE_DIR") != nullptr,
                               .progress = driver::Progress::off};
  emit::Library library = driver::make_library("library", none, models, plans, options.targets);
  loaded_ = std::make_unique<driver::Loaded>(driver::link_shared(library, scratch_, options));
  device_ = {target::named(target).device, 0};
  loaded_->open(threads, device_);
  only_ = models.at(0).name;
  for (driver::Compiled& m : models) models_.emplace(m.name, std::move(m));
}

const driver::Compiled& Library::model(const std::string& name) const {
  return models_.at(name.empty() ? only_ : name);
}

const attn_model& Library::interface(const std::string& name) const {
  return loaded_->model(name.empty() ? only_ : name);
}

Arrays Library::reference(const Arrays& given, const std::string& name,
                          const CallOptions& options) const {
  return driver::call_reference(model(name), {.given = given,
                                              .gradient = options.gradient,
                                              .jvp = options.jvp,
                                              .hvp = options.hvp,
                                              .probes = options.probes});
}

Outcome Library::call(const Arrays& given, const CallOptions& options, const std::string& name) {
  const attn_model& m = interface(name);
  CallMemory memory(*loaded_);
  const auto shown = [&](const auto& host) { return memory.shown(host); };
  auto fill = [&](const attn_argument* table, int32_t n, const std::string& prefix) {
    std::vector<attn_tensor> tensors(static_cast<size_t>(n) + 1);
    for (int32_t k = 0; k < n; ++k) {
      attn_tensor& t = tensors[k];
      t.type = prefix.empty() ? table[k].type : attn_gradient_type(table[k].type);
      t.rank = table[k].rank;
      t.device = device_;
      auto it = given.find(prefix + table[k].name);
      if (it == given.end()) continue;
      t.rank = static_cast<int32_t>(it->second.extents.size());
      std::copy(it->second.extents.begin(), it->second.extents.end(), t.extent);
      t.data = memory.tensor(t);
      driver::store(it->first, it->second, t);
      const bool is_state = prefix.empty() && table == m.inputs && k >= n - m.n_states;
      if (!is_state) memory.protect_last();
    }
    return tensors;
  };
  std::vector<attn_tensor> params = fill(m.params, m.n_params, "");
  std::vector<attn_tensor> inputs = fill(m.inputs, m.n_inputs, "");
  std::vector<attn_tensor> outputs(static_cast<size_t>(m.n_outputs) + 1);
  Outcome outcome;
  auto failed = [&](attn_status status) {
    if (status == ATTN_OK) loaded_->wait();
    memory.read_back();
    outcome.status = status;
    if (status != ATTN_OK) outcome.message = loaded_->message();
    outcome.untouched = memory.results_untouched();
    return status != ATTN_OK;
  };
  attn_context* context = loaded_->context();
  std::vector<int64_t> sizes(static_cast<size_t>(m.n_sizes) + 1);
  const driver::Loaded::Functions& f = loaded_->call();
  if (failed(f.read_sizes(context, &m, shown(params).data(), shown(inputs).data(), sizes.data())))
    return outcome;
  if (failed(f.shapes(&m, sizes.data(), nullptr, nullptr, outputs.data()))) return outcome;
  for (int32_t k = 0; k < m.n_outputs; ++k) {
    outputs[k].device = device_;
    outputs[k].data = memory.result(outputs[k]);
  }
  attn_sizes bytes{};
  if (failed(f.call_sizes(context, &m, shown(params).data(), shown(inputs).data(), &bytes)))
    return outcome;
  void* saved = memory.block(bytes.saved, 64);
  const auto saved_block = [&] { return attn_block{memory.shown(saved), bytes.saved}; };
  // The tensors of a call have their memory by now.
  auto workspace = [&](int64_t size) {
    void* block = memory.block(size, 64);
    memory.fill_mirror();
    return attn_block{memory.shown(block), size};
  };
  const bool saves = options.gradient || options.probes;
  const auto forward = [&](const std::vector<attn_tensor>& results, attn_block kept, int64_t size) {
    const attn_block memory_of_call = workspace(size);
    return failed(f.forward(context, &m, shown(params).data(), shown(inputs).data(),
                            shown(results).data(), kept, memory_of_call));
  };
  // Without a saved block it is in other memory, and gives the same.
  std::vector<attn_tensor> unsaved(outputs);
  if (saves && m.n_states == 0) {
    for (int32_t k = 0; k < m.n_outputs; ++k) unsaved[k].data = memory.result(unsaved[k]);
    if (forward(unsaved, {}, bytes.forward_workspace)) return outcome;
  }
  if (forward(outputs, saves ? saved_block() : attn_block{},
              saves ? bytes.training_workspace : bytes.forward_workspace))
    return outcome;
  for (int32_t k = 0; k < m.n_outputs; ++k) {
    outcome.values[m.outputs[k].name] = driver::fetch(outputs[k]);
    if (!saves || m.n_states > 0) continue;
    if (same_bits(driver::fetch(outputs[k]).values, driver::fetch(unsaved[k]).values)) continue;
    outcome.status = ATTN_REFUSED;
    outcome.message = fmt::format("`{}` is another without a saved block", m.outputs[k].name);
    return outcome;
  }
  for (int32_t k = m.n_inputs - m.n_states; k < m.n_inputs; ++k)
    outcome.values[std::string(m.inputs[k].name) + "'"] = driver::fetch(inputs[k]);
  for (int32_t k = 0; options.probes && k < m.n_probes; ++k) {
    attn_tensor result{};
    if (failed(f.probe_shape(&m, k, sizes.data(), &result))) return outcome;
    result.device = device_;
    result.data = memory.result(result);
    const attn_block memory_of_call = workspace(bytes.probe_workspace);
    if (failed(f.probe(context, &m, k, shown(params).data(), shown(inputs).data(),
                       shown(outputs).data(), saved_block(),
                       shown(std::vector<attn_tensor>{result}).data(), memory_of_call)))
      return outcome;
    outcome.values[m.probes[k].name] = driver::fetch(result);
  }
  auto wanted = [&](const attn_argument* table, int32_t n, const std::string& prefix,
                    std::vector<attn_tensor> tensors) {
    for (int32_t k = 0; k < n; ++k) {
      bool want =
          table[k].differentiable &&
          (options.wanted.empty() ||
           std::count(options.wanted.begin(), options.wanted.end(), prefix + table[k].name) > 0);
      tensors[k].type = attn_gradient_type(table[k].type);
      tensors[k].data = want ? memory.result(tensors[k]) : nullptr;
    }
    return tensors;
  };
  auto collect = [&](const attn_argument* table, int32_t n, const std::string& prefix,
                     const std::vector<attn_tensor>& from) {
    for (int32_t k = 0; k < n; ++k)
      if (from[k].data) outcome.values[prefix + table[k].name] = driver::fetch(from[k]);
  };
  std::vector<attn_tensor> tparams = fill(m.params, m.n_params, "t");
  std::vector<attn_tensor> tinputs = fill(m.inputs, m.n_inputs, "t");
  if (options.jvp) {
    std::vector<attn_tensor> again(outputs);
    for (int32_t k = 0; k < m.n_outputs; ++k) again[k].data = memory.result(again[k]);
    std::vector<attn_tensor> tangents = wanted(m.outputs, m.n_outputs, "t", outputs);
    const attn_block memory_of_call = workspace(bytes.jvp_workspace);
    if (failed(f.jvp(context, &m, shown(params).data(), shown(inputs).data(), shown(tparams).data(),
                     shown(tinputs).data(), shown(again).data(), shown(tangents).data(),
                     memory_of_call)))
      return outcome;
    collect(m.outputs, m.n_outputs, "", again);
    collect(m.outputs, m.n_outputs, "t", tangents);
  }
  if (options.hvp) {
    std::vector<attn_tensor> hparams = wanted(m.params, m.n_params, "h", params);
    std::vector<attn_tensor> hinputs = wanted(m.inputs, m.n_inputs, "h", inputs);
    const attn_block memory_of_call = workspace(bytes.hvp_workspace);
    if (failed(f.hvp(context, &m, shown(params).data(), shown(inputs).data(), shown(tparams).data(),
                     shown(tinputs).data(), shown(hparams).data(), shown(hinputs).data(),
                     memory_of_call)))
      return outcome;
    collect(m.params, m.n_params, "h", hparams);
    collect(m.inputs, m.n_inputs, "h", hinputs);
  }
  if (!options.gradient) return outcome;

  std::vector<attn_tensor> cotangents = fill(m.outputs, m.n_outputs, "d");
  std::vector<attn_tensor> dparams = wanted(m.params, m.n_params, "d", params);
  std::vector<attn_tensor> dinputs = wanted(m.inputs, m.n_inputs, "d", inputs);
  const attn_block memory_of_call = workspace(bytes.backward_workspace);
  if (failed(f.backward(context, &m, shown(params).data(), shown(inputs).data(),
                        shown(outputs).data(), saved_block(), shown(cotangents).data(),
                        shown(dparams).data(), shown(dinputs).data(), memory_of_call)))
    return outcome;
  collect(m.params, m.n_params, "d", dparams);
  collect(m.inputs, m.n_inputs, "d", dinputs);
  if (m.n_states > 0) return outcome;

  // In one call, where other tensors lie in the same memory, the same comes out.
  std::vector<attn_tensor> outputs_at_once(outputs);
  for (int32_t k = 0; k < m.n_outputs; ++k)
    outputs_at_once[k].data = memory.result(outputs_at_once[k]);
  std::vector<attn_tensor> params_at_once = wanted(m.params, m.n_params, "d", params);
  std::vector<attn_tensor> inputs_at_once = wanted(m.inputs, m.n_inputs, "d", inputs);
  int64_t at_once = 0;
  if (failed(f.forward_backward_workspace(context, &m, shown(params).data(), shown(inputs).data(),
                                          shown(cotangents).data(), shown(params_at_once).data(),
                                          shown(inputs_at_once).data(), &at_once)))
    return outcome;
  outcome.unsaved = bytes.forward_workspace;
  outcome.apart = bytes.saved + bytes.training_workspace;
  outcome.at_once = at_once;
  const attn_block memory_at_once = workspace(at_once);
  if (failed(f.forward_backward(context, &m, shown(params).data(), shown(inputs).data(),
                                shown(outputs_at_once).data(), shown(cotangents).data(),
                                shown(params_at_once).data(), shown(inputs_at_once).data(),
                                memory_at_once)))
    return outcome;
  const auto compare = [&](const attn_argument* table, int32_t n, const std::string& prefix,
                           const std::vector<attn_tensor>& one,
                           const std::vector<attn_tensor>& two) {
    for (int32_t k = 0; k < n; ++k) {
      if (!one[k].data || same_bits(driver::fetch(one[k]).values, driver::fetch(two[k]).values))
        continue;
      outcome.status = ATTN_REFUSED;
      outcome.message = fmt::format("`{}{}` is another in one call", prefix, table[k].name);
    }
  };
  compare(m.outputs, m.n_outputs, "", outputs_at_once, outputs);
  compare(m.params, m.n_params, "d", params_at_once, dparams);
  compare(m.inputs, m.n_inputs, "d", inputs_at_once, dinputs);
  return outcome;
}

double as_stored(double value, ir::Storage storage) {
  switch (storage) {
    case ir::Storage::f16:
      return attn_f32_from_f16(attn_f16_from_f64(value));
    case ir::Storage::bf16:
      return attn_f32_from_bf16(attn_bf16_from_f64(value));
    case ir::Storage::f32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

Arrays random_call(const driver::Compiled& model, const std::map<std::string, int64_t>& sizes,
                   uint64_t seed, int64_t integers) {
  const ir::Graph& g = model.forward;
  std::vector<int64_t> values;
  for (const ir::Size& s : g.sizes) {
    auto it = sizes.find(s.name);
    values.push_back(s.value ? *s.value : it == sizes.end() ? 0 : it->second);
  }
  g.complete(values);
  Arrays given = random_inputs(g, values, seed, integers);
  for (const ir::Tensor& t : g.tensors)
    if (auto it = given.find(t.name); it != given.end())
      for (double& v : it->second.values) v = as_stored(v, t.storage);
  std::mt19937_64 random(seed + 77);
  std::mt19937_64 other(seed + 78);
  for (const ir::Tensor& t : g.tensors) {
    if (!ir::is_argument(t.role) || !ir::is_real(ir::arithmetic_type(t.storage))) continue;
    Array tangent = given.at(t.name);
    for (double& v : tangent.values)
      v = as_stored(static_cast<double>(other() % 2001) / 1000 - 1, ir::Storage::f32);
    given["t" + t.name] = std::move(tangent);
  }
  for (const ir::Output& o : g.outputs) {
    const ir::Tensor& t = g[o.tensor];
    if (!ir::is_real(ir::arithmetic_type(t.storage))) continue;
    Array a;
    int64_t n = 1;
    for (const ir::Poly& p : t.extents) {
      a.extents.push_back(std::max<int64_t>(g.value(p, values), 0));
      n *= a.extents.back();
    }
    for (int64_t k = 0; k < n; ++k)
      a.values.push_back(
          as_stored(static_cast<double>(random() % 2001) / 1000 - 1, ir::Storage::f32));
    given["d" + o.name] = std::move(a);
  }
  return given;
}

}  // namespace attn::testing
