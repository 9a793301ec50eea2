#include "compiler/driver/step.h"

#include <attn/train.h>
#include <attn/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/driver/commands.h"

namespace attn::driver {
namespace {

using evaluate::Array;
using evaluate::Arrays;

Array state_before(const Arrays& given, const std::string& name, const Array& like, double value) {
  if (auto it = given.find(name); it != given.end()) return it->second;
  return {like.extents, std::vector<double>(like.values.size(), value)};
}

void require_alike(const std::string& name, const Array& a, const std::string& of,
                   const Array& parameter) {
  if (a.extents == parameter.extents) return;
  throw RefusedError(fmt::format("{} has shape [{}], and {} has [{}]", name,
                                 fmt::join(a.extents, ", "), of,
                                 fmt::join(parameter.extents, ", ")));
}

// The array's elements as the evaluator's graphs of updates have them.
Array in_one_row(Array a) {
  a.extents = {1, static_cast<int64_t>(a.values.size())};
  return a;
}

double norm_reference(const ir::Step& step, const Compiled& model, const Arrays& given) {
  double square = 0;
  if (step.norms.empty()) return 0;
  for (const ir::Tensor& t : model.forward.tensors) {
    auto it = given.find("d" + t.name);
    if (t.role != ir::Role::parameter || it == given.end()) continue;
    const Arrays all = evaluate::evaluate(step.norms[0].graph, {{"g", in_one_row(it->second)}});
    square += all.at("square").values[0];
  }
  return std::sqrt(square);
}

const ir::Graph& update_of(const ir::Step& step, ir::Storage storage) {
  for (const ir::Update& u : step.updates)
    if (u.storage == storage) return u.graph;
  throw InternalError("a parameter whose type has no update");
}

void update_reference(const ir::Step& step, const ir::Graph& g, const StepCall& call, double norm,
                      const std::string& name, const Arrays& given, Arrays& results) {
  const Array& parameter = given.at(name);
  std::vector<std::string> becomes = {name};
  Arrays arguments;
  size_t input = 0;
  for (const ir::Tensor& t : g.tensors) {
    if (t.role == ir::Role::parameter) arguments[t.name] = in_one_row(parameter);
    if (t.role != ir::Role::input) continue;
    const size_t k = input++;
    if (k == 0) {
      arguments[t.name] = in_one_row(given.at("d" + name));
    } else if (k <= step.states.size()) {
      becomes.push_back(state_name(name, t.name));
      arguments[t.name] =
          in_one_row(state_before(given, becomes.back(), parameter, step.states[k - 1].value));
    } else {
      const double value = t.name == ir::kStepNorm ? norm : call.scalars.at(t.name);
      arguments[t.name] = {{}, {value}};
    }
  }
  const Arrays all = evaluate::evaluate(g, arguments);
  for (size_t k = 0; k < becomes.size(); ++k)
    results[becomes[k]] = {parameter.extents, all.at(g[g.outputs[k].tensor].name).values};
}

}  // namespace

std::string state_name(const std::string& parameter, const std::string& state) {
  return fmt::format("state.{}.{}", parameter, state);
}

Arrays step_reference(const Compiled& model, const StepCall& call, const Arrays& given) {
  Arrays results;
  const double norm = norm_reference(*model.step, model, given);
  for (const ir::Tensor& t : model.forward.tensors) {
    if (t.role != ir::Role::parameter || !given.count("d" + t.name)) continue;
    require_alike("d" + t.name, given.at("d" + t.name), t.name, given.at(t.name));
    for (const ir::StepState& s : model.step->states) {
      const std::string name = state_name(t.name, s.name);
      if (given.count(name)) require_alike(name, given.at(name), t.name, given.at(t.name));
    }
    update_reference(*model.step, update_of(*model.step, t.storage), call, norm, t.name, given,
                     results);
  }
  return results;
}

Arrays step_kernels(Loaded& library, const attn_model& m, const StepCall& call,
                    const Arrays& given) {
  Memory memory(library);
  auto tensor = [&](const std::string& name, const Array& a, attn_type type) {
    attn_tensor t{};
    t.type = type;
    t.rank = static_cast<int32_t>(a.extents.size());
    if (t.rank > ATTN_MAX_RANK)
      throw RefusedError(fmt::format("{}: more than {} dimensions", name, ATTN_MAX_RANK));
    std::copy(a.extents.begin(), a.extents.end(), t.extent);
    memory.give(t);
    store(library, name, a, t);
    return t;
  };
  const size_t count = static_cast<size_t>(m.n_params);
  std::vector<attn_tensor> params(count), gradients(count), states(count * m.n_step_states + 1);
  Arrays results;
  for (size_t k = 0; k < count; ++k) {
    const std::string name = m.params[k].name;
    auto gradient = given.find("d" + name);
    if (gradient == given.end()) continue;
    const Array& parameter = given.at(name);
    const attn_type derived = attn_gradient_type(m.params[k].type);
    params[k] = tensor(name, parameter, m.params[k].type);
    gradients[k] = tensor("d" + name, gradient->second, derived);
    for (int32_t s = 0; s < m.n_step_states; ++s) {
      const std::string state = state_name(name, m.step_states[s].name);
      states[s * count + k] =
          tensor(state, state_before(given, state, parameter, m.step_states[s].value), derived);
    }
  }
  std::vector<double> options(static_cast<size_t>(m.n_step_options) + 1);
  for (int32_t k = 0; k < m.n_step_options; ++k)
    options[k] = call.scalars.at(m.step_options[k].name);
  const attn_block workspace = memory.lend(library.call().step_workspace(&m, params.data()));
  library.require(library.call().step(library.context(), &m, options.data(),
                                      static_cast<int64_t>(call.scalars.at(ir::kStepCount)),
                                      params.data(), gradients.data(), states.data(), workspace));
  for (size_t k = 0; k < count; ++k) {
    if (!gradients[k].data) continue;
    results[m.params[k].name] = fetch(library, params[k]);
    for (int32_t s = 0; s < m.n_step_states; ++s)
      results[state_name(m.params[k].name, m.step_states[s].name)] =
          fetch(library, states[s * count + k]);
  }
  return results;
}

}  // namespace attn::driver
