#include "compiler/driver/call.h"

#include <attn/attn.h>
#include <attn/train.h>
#include <attn/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "compiler/driver/commands.h"
#include "compiler/driver/loaded.h"
#include "compiler/driver/step.h"
#include "compiler/emit/model.h"

namespace attn::driver {
namespace {

using evaluate::Array;
using evaluate::Arrays;

attn_type type_of(ir::Storage s) {
  switch (s) {
    case ir::Storage::boolean:
      return ATTN_BOOL;
    case ir::Storage::i32:
      return ATTN_I32;
    case ir::Storage::f16:
      return ATTN_F16;
    case ir::Storage::bf16:
      return ATTN_BF16;
    case ir::Storage::f64:
      return ATTN_F64;
    default:
      return ATTN_F32;
  }
}

// Both list them in one order; ours begins with the automatic one.
attn_init init_of(ir::Initialiser::Kind kind) {
  return static_cast<attn_init>(static_cast<int>(kind) - 1);
}
static_assert(static_cast<int>(ir::Initialiser::Kind::orthogonal) - 1 == ATTN_INIT_ORTHOGONAL);

}  // namespace

namespace {

Array zeros_like(Array a) {
  std::fill(a.values.begin(), a.values.end(), 0.0);
  return a;
}

void add_outputs(const ir::Graph& g, const Arrays& given, Arrays& results) {
  const Arrays all = evaluate::evaluate(g, given);
  for (const ir::Output& o : g.outputs) results[o.name] = all.at(g[o.tensor].name);
}

// As for kernels, a cotangent or tangent that is not given is zero.
Arrays with_zeros(const Compiled& model, const Arrays& given, const Arrays& outputs) {
  Arrays all = given;
  for (const ir::Output& o : model.forward.outputs)
    all.emplace("d" + o.name, zeros_like(outputs.at(o.name)));
  for (const ir::Tensor& t : model.forward.tensors)
    if (ir::is_argument(t.role)) all.emplace("t" + t.name, zeros_like(given.at(t.name)));
  return all;
}

// One call of a compiled model: arguments in memory that the library takes, results out of it.
class KernelCall {
 public:
  KernelCall(Loaded& library, const attn_model& m, const Arrays& given)
      : library_(library), m_(m), given_(given), memory_(library) {
    params_ = filled(m.params, m.n_params, "");
    inputs_ = filled(m.inputs, m.n_inputs, "");
    sizes_.resize(m.n_sizes + 1);
    library.require(
        call().read_sizes(context(), &m_, params_.data(), inputs_.data(), sizes_.data()));
    outputs_.resize(m.n_outputs);
    library.require(call().shapes(&m_, sizes_.data(), nullptr, nullptr, outputs_.data()));
    for (attn_tensor& t : outputs_) memory_.give(t);
    library.require(call().call_sizes(context(), &m_, params_.data(), inputs_.data(), &bytes_));
  }

  Arrays run(const Call& call) {
    if (call.gradient || call.probes || !call.jvp || !m_.has_jvp)
      forward(call.gradient || call.probes);
    if (call.probes) probes();
    if (call.gradient && m_.has_backward) backward();
    if (!call.jvp && !call.hvp) return std::move(results_);
    param_tangents_ = filled(m_.params, m_.n_params, "t");
    input_tangents_ = filled(m_.inputs, m_.n_inputs, "t");
    if (call.jvp && m_.has_jvp) jvp();
    if (call.hvp && m_.has_hvp) hvp();
    return std::move(results_);
  }

 private:
  using Tensors = std::vector<attn_tensor>;

  attn_context* context() { return library_.context(); }
  const Loaded::Functions& call() const { return library_.call(); }

  // Those whose name after the prefix is given.
  Tensors filled(const attn_argument* table, int32_t count, const std::string& prefix) {
    Tensors tensors(static_cast<size_t>(count));
    for (size_t k = 0; k < tensors.size(); ++k) {
      attn_tensor& t = tensors[k];
      t.type = prefix.empty() ? table[k].type : attn_gradient_type(table[k].type);
      auto it = given_.find(prefix + table[k].name);
      if (it == given_.end()) continue;
      t.rank = static_cast<int32_t>(it->second.extents.size());
      if (t.rank > ATTN_MAX_RANK)
        throw RefusedError(
            fmt::format("{}: more than {} dimensions", table[k].name, ATTN_MAX_RANK));
      std::copy(it->second.extents.begin(), it->second.extents.end(), t.extent);
      memory_.give(t);
      store(library_, it->first, it->second, t);
    }
    return tensors;
  }

  // Room for a derivative of each that has one.
  Tensors wanted(const attn_argument* table, Tensors tensors) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      tensors[k].type = attn_gradient_type(table[k].type);
      tensors[k].data = nullptr;
      if (table[k].differentiable) memory_.give(tensors[k]);
    }
    return tensors;
  }

  void collect(const attn_argument* table, const Tensors& tensors, const std::string& prefix) {
    for (size_t k = 0; k < tensors.size(); ++k)
      if (tensors[k].data) results_[prefix + table[k].name] = fetch(library_, tensors[k]);
  }

  void forward(bool saves) {
    saved_ = memory_.lend(bytes_.saved);
    const attn_block workspace =
        memory_.lend(saves ? bytes_.training_workspace : bytes_.forward_workspace);
    library_.require(call().forward(context(), &m_, params_.data(), inputs_.data(), outputs_.data(),
                                    saves ? saved_ : attn_block{}, workspace));
    collect(m_.outputs, outputs_, "");
    for (int32_t k = m_.n_inputs - m_.n_states; k < m_.n_inputs; ++k)
      results_[std::string(m_.inputs[k].name) + "'"] =
          fetch(library_, inputs_[static_cast<size_t>(k)]);
  }

  void probes() {
    for (int32_t k = 0; k < m_.n_probes; ++k) {
      attn_tensor result{};
      library_.require(call().probe_shape(&m_, k, sizes_.data(), &result));
      memory_.give(result);
      const attn_block workspace = memory_.lend(bytes_.probe_workspace);
      library_.require(call().probe(context(), &m_, k, params_.data(), inputs_.data(),
                                    outputs_.data(), saved_, &result, workspace));
      results_[m_.probes[k].name] = fetch(library_, result);
    }
  }

  void backward() {
    const Tensors cotangents = filled(m_.outputs, m_.n_outputs, "d");
    const Tensors params = wanted(m_.params, params_), inputs = wanted(m_.inputs, inputs_);
    const attn_block workspace = memory_.lend(bytes_.backward_workspace);
    library_.require(call().backward(context(), &m_, params_.data(), inputs_.data(),
                                     outputs_.data(), saved_, cotangents.data(), params.data(),
                                     inputs.data(), workspace));
    collect(m_.params, params, "d");
    collect(m_.inputs, inputs, "d");
  }

  void jvp() {
    const Tensors tangents = wanted(m_.outputs, outputs_);
    const attn_block workspace = memory_.lend(bytes_.jvp_workspace);
    library_.require(call().jvp(context(), &m_, params_.data(), inputs_.data(),
                                param_tangents_.data(), input_tangents_.data(), outputs_.data(),
                                tangents.data(), workspace));
    collect(m_.outputs, outputs_, "");
    collect(m_.outputs, tangents, "t");
  }

  void hvp() {
    const Tensors params = wanted(m_.params, params_), inputs = wanted(m_.inputs, inputs_);
    const attn_block workspace = memory_.lend(bytes_.hvp_workspace);
    library_.require(call().hvp(context(), &m_, params_.data(), inputs_.data(),
                                param_tangents_.data(), input_tangents_.data(), params.data(),
                                inputs.data(), workspace));
    collect(m_.params, params, "h");
    collect(m_.inputs, inputs, "h");
  }

  Loaded& library_;
  const attn_model& m_;
  const Arrays& given_;
  Memory memory_;
  std::vector<int64_t> sizes_;
  Tensors params_, inputs_, outputs_, param_tangents_, input_tangents_;
  attn_block saved_{};
  attn_sizes bytes_{};
  Arrays results_;
};

}  // namespace

namespace {

Arrays model_reference(const Compiled& model, const Call& call) {
  const Arrays all = evaluate::evaluate(model.forward, call.given);
  Arrays results;
  for (const ir::Output& o : model.forward.outputs)
    results[o.name] = all.at(model.forward[o.tensor].name);
  if (call.probes)
    for (const Probe& p : model.probes) add_outputs(p.graph, call.given, results);
  const Arrays given = with_zeros(model, call.given, results);
  if (call.gradient && model.gradient) add_outputs(*model.gradient, given, results);
  if (call.jvp && model.jvp) add_outputs(*model.jvp, given, results);
  if (call.hvp && model.hvp) add_outputs(*model.hvp, given, results);
  return results;
}

// What a step is given, and the gradients that the call has found.
Arrays with_gradients(const ir::Graph& forward, const Arrays& given, const Arrays& results) {
  Arrays all = given;
  for (const ir::Tensor& t : forward.tensors) {
    const auto gradient = results.find("d" + t.name);
    if (t.role == ir::Role::parameter && gradient != results.end()) all.insert(*gradient);
  }
  return all;
}

}  // namespace

Arrays call_reference(const Compiled& model, const Call& call) {
  Arrays results;
  if (call.calls_model) results = model_reference(model, call);
  if (call.step)
    results.merge(
        step_reference(model, *call.step, with_gradients(model.forward, call.given, results)));
  return results;
}

Arrays call_kernels(const Source& source, Compiled& model, const Call& call,
                    const BuildOptions& options) {
  Scratch scratch;
  std::vector<emit::ModelPlan> plans;
  const std::string name = model.name;
  std::vector<Compiled> one;
  one.push_back(std::move(model));
  const emit::Library compiled = make_library("model", source, one, plans, options.targets);
  Loaded library(link_shared(compiled, scratch, options));
  library.open(call.threads, call.device);
  if (call.trace) library.call().set_trace(library.context(), Trace::record, call.trace);
  const attn_model& m = library.model(name);
  Arrays results;
  if (call.calls_model) results = KernelCall(library, m, call.given).run(call);
  if (call.step)
    results.merge(
        step_kernels(library, m, *call.step, with_gradients(one[0].forward, call.given, results)));
  return results;
}

void begin_states(const Compiled& model, Arrays& given) {
  const ir::Graph& g = model.forward;
  std::vector<int64_t> sizes;
  for (const ir::Output& o : g.outputs) {
    if (!o.updates.valid() || given.count(g[o.updates].name)) continue;
    if (sizes.empty()) sizes = evaluate::read_sizes(g, given);
    Array zeros;
    int64_t count = 1;
    for (const ir::Poly& e : g[o.updates].extents) {
      zeros.extents.push_back(std::max<int64_t>(g.value(e, sizes), 0));
      count *= zeros.extents.back();
    }
    zeros.values.resize(static_cast<size_t>(count));
    given.emplace(g[o.updates].name, std::move(zeros));
  }
}

void initialise_missing(const Compiled& model, uint64_t seed, Arrays& given) {
  const ir::Graph& g = model.forward;
  Arrays forward_only;
  for (const auto& [name, array] : given)
    if (g.find(name)) forward_only.emplace(name, array);
  std::vector<int64_t> sizes = evaluate::read_sizes(g, forward_only);
  attn_context* context = nullptr;
  if (attn_context_create(nullptr, &context) != ATTN_OK) throw SystemError("out of memory");
  std::unique_ptr<attn_context, void (*)(attn_context*)> owner(context, attn_context_destroy);
  for (size_t k = 0; k < g.tensors.size(); ++k) {
    const ir::Tensor& t = g.tensors[k];
    if (t.role != ir::Role::parameter || given.count(t.name)) continue;
    emit::Start start = emit::start_of(g, {static_cast<int32_t>(k)});
    attn_argument argument{};
    argument.name = t.name.c_str();
    argument.type = type_of(t.storage);
    argument.rank = static_cast<int32_t>(t.extents.size());
    argument.init = init_of(start.kind);
    argument.init_a = start.a;
    argument.init_b = start.b;
    argument.fan_in_mask = start.fan_in;
    attn_tensor tensor{};
    tensor.type = argument.type;
    tensor.rank = argument.rank;
    for (int32_t d = 0; d < tensor.rank; ++d)
      tensor.extent[d] = std::max<int64_t>(g.value(t.extents[d], sizes), 0);
    Memory memory;
    memory.give(tensor);
    if (attn_initialise(context, &argument, &tensor, seed) != ATTN_OK)
      throw RefusedError(attn_context_message(context));
    given.emplace(t.name, fetch(tensor));
  }
}

}  // namespace attn::driver
