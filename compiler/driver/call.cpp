#include "compiler/driver/call.h"

#include <attn/attn.h>
#include <attn/train.h>
#include <attn/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "compiler/driver/commands.h"
#include "compiler/driver/loaded.h"
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

attn_init init_of(const std::string& name) {
  constexpr const char* kNames[] = {
      "ATTN_INIT_ZEROS",   "ATTN_INIT_ONES",   "ATTN_INIT_CONSTANT",  "ATTN_INIT_NORMAL",
      "ATTN_INIT_UNIFORM", "ATTN_INIT_XAVIER", "ATTN_INIT_ORTHOGONAL"};
  for (int k = 0; k < 7; ++k)
    if (name == kNames[k]) return static_cast<attn_init>(k);
  throw InternalError("an initialiser without a name: " + name);
}

}  // namespace

evaluate::Arrays call_reference(const Compiled& model, const Call& call) {
  Arrays results, all = evaluate::evaluate(model.forward, call.given);
  for (const ir::Output& o : model.forward.outputs)
    results[o.name] = all.at(model.forward[o.tensor].name);
  if (!call.gradient) return results;
  // As for kernels, a cotangent that is not given is zero.
  Arrays given = call.given;
  for (const ir::Output& o : model.forward.outputs) {
    Array zero = results.at(o.name);
    std::fill(zero.values.begin(), zero.values.end(), 0.0);
    given.emplace("d" + o.name, std::move(zero));
  }
  all = evaluate::evaluate(*model.gradient, given);
  for (const ir::Output& o : model.gradient->outputs)
    results[o.name] = all.at((*model.gradient)[o.tensor].name);
  return results;
}

evaluate::Arrays call_kernels(const Source& source, Compiled& model, const Call& call,
                              const BuildOptions& options) {
  Scratch scratch;
  std::vector<emit::ModelPlan> plans;
  std::string name = model.name;
  std::vector<Compiled> one;
  one.push_back(std::move(model));
  emit::Library compiled = make_library("model", source, one, plans, options.targets);
  Loaded library(link_shared(compiled, scratch, options));
  library.open(call.threads);
  const attn_model& m = library.model(name);
  Memory memory;
  std::vector<attn_tensor> params(m.n_params), inputs(m.n_inputs), outputs(m.n_outputs);
  auto fill = [&](const attn_argument* table, std::vector<attn_tensor>& tensors,
                  const std::string& prefix) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      attn_tensor& t = tensors[k];
      t.type = prefix.empty() ? table[k].type : attn_gradient_type(table[k].type);
      auto it = call.given.find(prefix + table[k].name);
      if (it == call.given.end()) continue;
      t.rank = static_cast<int32_t>(it->second.extents.size());
      if (t.rank > ATTN_MAX_RANK)
        throw RefusedError(
            fmt::format("{}: more than {} dimensions", table[k].name, ATTN_MAX_RANK));
      std::copy(it->second.extents.begin(), it->second.extents.end(), t.extent);
      t.data = memory.allocate(count_of(t) * 8);
      store(it->first, it->second, t);
    }
  };
  fill(m.params, params, "");
  fill(m.inputs, inputs, "");
  std::vector<int64_t> sizes(m.n_sizes + 1);
  library.require(m.read_sizes(library.context(), params.data(), inputs.data(), sizes.data()));
  std::vector<attn_tensor> param_gradients(params), input_gradients(inputs),
      cotangents(m.n_outputs);
  m.shapes(sizes.data(), nullptr, nullptr, outputs.data());
  for (attn_tensor& t : outputs) t.data = memory.allocate(count_of(t) * 8);
  attn_sizes bytes{};
  library.require(m.sizes(library.context(), params.data(), inputs.data(), &bytes));
  void* saved = memory.allocate(bytes.saved);
  void* workspace = memory.allocate(std::max(bytes.forward_workspace, bytes.backward_workspace));
  library.require(m.forward(library.context(), params.data(), inputs.data(), outputs.data(),
                            call.gradient ? saved : nullptr, workspace));
  Arrays results;
  for (int32_t k = 0; k < m.n_outputs; ++k) results[m.outputs[k].name] = fetch(outputs[k]);
  if (!call.gradient) return results;
  fill(m.outputs, cotangents, "d");
  auto wanted = [&](const attn_argument* table, std::vector<attn_tensor>& tensors) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      tensors[k].type = attn_gradient_type(table[k].type);
      tensors[k].data =
          table[k].differentiable ? memory.allocate(count_of(tensors[k]) * 8) : nullptr;
    }
  };
  wanted(m.params, param_gradients);
  wanted(m.inputs, input_gradients);
  library.require(m.backward(library.context(), params.data(), inputs.data(), outputs.data(), saved,
                             cotangents.data(), param_gradients.data(), input_gradients.data(),
                             workspace));
  auto collect = [&](const attn_argument* table, const std::vector<attn_tensor>& tensors) {
    for (size_t k = 0; k < tensors.size(); ++k)
      if (table[k].differentiable) results[std::string("d") + table[k].name] = fetch(tensors[k]);
  };
  collect(m.params, param_gradients);
  collect(m.inputs, input_gradients);
  return results;
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
    argument.init = init_of(start.init);
    argument.init_a = start.a;
    argument.init_b = start.b;
    argument.fan_in_mask = start.fan_in;
    attn_tensor tensor{};
    tensor.type = argument.type;
    tensor.rank = argument.rank;
    for (int32_t d = 0; d < tensor.rank; ++d)
      tensor.extent[d] = std::max<int64_t>(g.value(t.extents[d], sizes), 0);
    Memory memory;
    tensor.data = memory.allocate(count_of(tensor) * 8);
    if (attn_initialise(context, &argument, &tensor, seed) != ATTN_OK)
      throw RefusedError(attn_context_message(context));
    given.emplace(t.name, fetch(tensor));
  }
}

}  // namespace attn::driver
