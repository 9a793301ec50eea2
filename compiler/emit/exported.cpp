// The functions that a library exports: those of attn/model.h with a model's own types.
#include <fmt/format.h>

#include "compiler/emit/model.h"

namespace attn::emit {
namespace {

// A parameter of a group of tensors: `const MODEL_params* param_gradients`.
struct Group {
  const char *type, *name;
};

class Exporter {
 public:
  Exporter(const ModelPlan& m, const Interface& i) : m_(m), i_(i) {}

  std::vector<Exported> list() {
    const plan::Plan& plan = m_.plan;
    const Group params{"params", "params"}, inputs{"inputs", "inputs"},
        outputs{"outputs", "outputs"};
    add("Bytes of workspace and saved block for these arguments. Smaller blocks are refused.",
        "sizes", "call_sizes", {params, inputs}, "", "attn_sizes* sizes");
    add("`saved` may be zeroed where no backward follows.", "forward", "forward",
        {params, inputs, outputs}, "attn_block saved", "attn_block workspace");
    if (plan.backward)
      add("A cotangent with null data is 0; a gradient with null data is not wanted. Of f16 and "
          "bf16\n * tensors both are f32.",
          "backward", "backward", {params, inputs, outputs}, "attn_block saved",
          "attn_block workspace",
          {{"outputs", "cotangents"},
           {"params", "param_gradients"},
           {"inputs", "input_gradients"}});
    if (plan.backward) {
      const std::vector<Group> derivatives = {
          {"outputs", "cotangents"}, {"params", "param_gradients"}, {"inputs", "input_gradients"}};
      add("Bytes of workspace for forward_backward with these arguments, of which some may have "
          "null "
          "data.",
          "forward_backward_workspace", "forward_backward_workspace", {params, inputs}, "",
          "int64_t* bytes", derivatives);
      add("Forward and backward in one call, which needs no saved block and less memory than the "
          "two.",
          "forward_backward", "forward_backward", {params, inputs, outputs}, "",
          "attn_block workspace", derivatives);
    }
    const std::vector<Group> tangents = {{"params", "param_tangents"},
                                         {"inputs", "input_tangents"}};
    if (plan.jvp)
      add("The outputs, and how they change along the tangents. A tangent with null data is 0; a "
          "result\n * with null data is not wanted. No other call need come before.",
          "jvp", "jvp",
          {params, inputs, tangents[0], tangents[1], outputs, {"outputs", "output_tangents"}}, "",
          "attn_block workspace");
    if (plan.hvp)
      add("How the gradient of the first scalar output changes along the tangents. Nulls as for "
          "jvp.",
          "hvp", "hvp",
          {params,
           inputs,
           tangents[0],
           tangents[1],
           {"params", "param_products"},
           {"inputs", "input_products"}},
          "", "attn_block workspace");
    for (size_t k = 0; k < plan.probes.size(); ++k) probe(k);
    if (m_.step) step();
    return std::move(list_);
  }

 private:
  void add(const std::string& doc, const std::string& name, const std::string& function,
           const std::vector<Group>& groups, const std::string& saved, const std::string& last,
           const std::vector<Group>& more = {}, const std::string& before = "") {
    std::vector<std::string> declared = {"attn_context* context"}, given = {"context"};
    given.push_back(fmt::format("&{}_description", i_.model));
    if (!before.empty()) given.push_back(before);
    auto add_groups = [&](const std::vector<Group>& list) {
      for (const Group& g : list) {
        declared.push_back(fmt::format("const {}_{}* {}", i_.model, g.type, g.name));
        given.push_back(fmt::format("(const attn_tensor*){}", g.name));
      }
    };
    auto add_plain = [&](const std::string& parameter) {
      declared.push_back(parameter);
      given.push_back(parameter.substr(parameter.rfind(' ') + 1));
    };
    add_groups(groups);
    if (!saved.empty()) add_plain(saved);
    add_groups(more);
    if (function == "probe") add_plain("const attn_tensor* result");
    add_plain(last);
    add(doc, "attn_status", name, declared, function, given);
  }

  void add(const std::string& doc, const std::string& result, const std::string& name,
           const std::vector<std::string>& declared, const std::string& function,
           const std::vector<std::string>& given) {
    list_.push_back({doc, fmt::format("{} {}_{}", result, i_.model, name), declared,
                     "attn_" + function, given});
  }

  void probe(size_t k) {
    const plan::Function& f = m_.plan.probes[k];
    const ir::Output& output = f.graph.outputs.at(0);
    const ir::Tensor& t = f.graph[output.tensor];
    std::string doc = fmt::format("{}: {}", output.name, shape_text(f.graph, t));
    if (!t.doc.empty()) doc += ". " + t.doc;
    doc += fmt::format(
        "\n * For the forward call with these parameters, inputs, outputs and saved block{}.",
        f.saved.empty() ? ", which may be zeroed" : "");
    add(comment(doc), i_.probes[k], "probe",
        {{"params", "params"}, {"inputs", "inputs"}, {"outputs", "outputs"}}, "attn_block saved",
        "attn_block workspace", {}, std::to_string(k));
  }

  void step() {
    const std::string params = fmt::format("const {}_params* ", i_.model),
                      about = fmt::format("&{}_description", i_.model);
    add("Bytes of workspace; a zeroed block will do for 0.", "int64_t", "step_workspace",
        {params + "params"}, "step_workspace", {about, "(const attn_tensor*)params"});
    add("Updates parameters and states in place; `step` counts from 1. A parameter whose gradient "
        "has\n * null data stays as it is.",
        "attn_status", "step",
        {"attn_context* context", fmt::format("const {}_options* options", i_.model),
         "int64_t step", params + "params", params + "gradients",
         fmt::format("const {}_states* states", i_.model), "attn_block workspace"},
        "step",
        {"context", about, "(const double*)options", "step", "(const attn_tensor*)params",
         "(const attn_tensor*)gradients", "(const attn_tensor*)states", "workspace"});
  }

  const ModelPlan& m_;
  const Interface& i_;
  std::vector<Exported> list_;
};

}  // namespace

std::string called(const std::string& name, std::vector<std::string> list, size_t width) {
  list[0] = name + "(" + list[0];
  for (size_t k = 0; k + 1 < list.size(); ++k) list[k] += ",";
  const std::string text = wrapped(list, "    ", width);
  return text.substr(4, text.size() - 5) + ")";
}

std::vector<Exported> exported_functions(const ModelPlan& m, const Interface& i) {
  return Exporter(m, i).list();
}

std::string archive_symbol(const ModelPlan& m, const Interface& i) {
  return fmt::format("{}_archive_of_{:016x}", i.model, m.source_hash);
}

std::string write_exported(const ModelPlan& m, const Interface& i) {
  std::string text = fmt::format(
      "const char {1} = 0;\n"
      "const attn_model* {0}_model(void) {{ return &{0}_description; }}\n",
      i.model, archive_symbol(m, i));
  for (const Exported& f : exported_functions(m, i))
    text += fmt::format("{} {{\n  return {};\n}}\n", called(f.prototype, f.parameters, kTableWidth),
                        called(f.function, f.arguments, kTableWidth));
  if (!m.step) return text;
  std::string values;
  for (const ir::StepOption& o : m.step->step.options)
    values += (values.empty() ? "" : ", ") + c_number(o.value);
  return text +
         fmt::format("{0}_options {0}_default_options(void) {{ return ({0}_options){{{1}}}; }}\n",
                     i.model, values.empty() ? "0" : values);
}

}  // namespace attn::emit
