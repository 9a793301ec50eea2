// The exported functions that need no other call before, and the checks of what is given to them.
#include <fmt/format.h>

#include "compiler/emit/model.h"

namespace attn::emit {

const std::vector<Argument>& arguments_of(const Interface& i, Group::Of of) {
  return of == Group::params ? i.params : of == Group::inputs ? i.inputs : i.outputs;
}

const char* name_of(Group::Of of) {
  constexpr const char* names[] = {"params", "inputs", "outputs"};
  return names[of];
}

std::vector<Group> groups_of(plan::FunctionKind function) {
  std::vector<Group> groups = {{.name = "param_tangents", .of = Group::params, .kind = "tangent"},
                               {.name = "input_tangents", .of = Group::inputs, .kind = "tangent"}};
  if (function == plan::FunctionKind::jvp) {
    groups.push_back({.name = "outputs", .of = Group::outputs, .kind = "output", .written = true});
    groups.push_back(
        {.name = "output_tangents", .of = Group::outputs, .kind = "tangent", .written = true});
  } else {
    groups.push_back({.name = "param_products",
                      .of = Group::params,
                      .kind = "Hessian product",
                      .written = true});
    groups.push_back({.name = "input_products",
                      .of = Group::inputs,
                      .kind = "Hessian product",
                      .written = true});
  }
  return groups;
}

std::string parameters_of(const Interface& i, plan::FunctionKind function) {
  std::string text = fmt::format(
      "attn_context* context, const {0}_params* params,\n    const {0}_inputs* inputs", i.model);
  for (const Group& g : groups_of(function))
    text += fmt::format(",\n    const {}_{}* {}", i.model, name_of(g.of), g.name);
  return text + ", void* workspace";
}

std::string check_given(const Interface& i, const Group& group, const std::string& wanted) {
  const std::vector<Argument>& list = arguments_of(i, group.of);
  if (list.empty()) return "";
  const bool derived = std::string(group.kind) != "output";
  return fmt::format(
      "  for (int k = 0; {0} && k < {1} && !status; ++k)\n"
      "    if (((const attn_tensor*){0})[k].data) {{\n"
      "      attn_argument argument = {2}_{3}_table[k];\n"
      "{4}"
      "      status = attn_check_tensor(context, \"{5}\", &argument,\n"
      "                                 (const attn_tensor*){0} + k, &{6}[k], 1);\n    }}\n",
      group.name, list.size(), i.model, name_of(group.of),
      derived ? "      argument.type = attn_gradient_type(argument.type);\n" : "", group.kind,
      wanted);
}

std::string check_overlap(const Interface& i, const std::vector<Group>& groups,
                          const std::string& result) {
  size_t count = result.empty() ? 1 : 2;
  for (const Group& g : groups) count += arguments_of(i, g.of).size();
  std::string text = fmt::format(
      "  const attn_tensor* all[{0}];\n  const char* names[{0}];\n  int written[{0}], count = 0;\n",
      count);
  for (const Group& g : groups) {
    const size_t size = arguments_of(i, g.of).size();
    if (size == 0) continue;
    text += fmt::format(
        "  for (int k = 0; {0} && k < {1}; ++k) {{\n"
        "    all[count] = (const attn_tensor*){0} + k;\n"
        "    names[count] = {2}_{3}_table[k].name;\n"
        "    written[count++] = {4};\n"
        "  }}\n",
        g.name, size, i.model, name_of(g.of), g.written ? 1 : 0);
  }
  if (!result.empty())
    text += fmt::format("  all[count] = result;\n  names[count] = {};\n  written[count++] = 1;\n",
                        quoted(result));
  return text +
         "  status = attn_check_overlap(context, count, all, names, written);\n"
         "  if (status) return status;\n";
}

std::string write_alone(const plan::Function& f, const Interface& i) {
  const std::vector<Group> groups = groups_of(f.kind);
  std::string text = fmt::format(
      "attn_status {0}_{1}({2}) {{\n"
      "  int64_t size[{3}];\n"
      "  if (!context) return ATTN_REFUSED;\n",
      i.model, f.name, parameters_of(i, f.kind), i.sizes.size() + 1);
  if (!i.params.empty())
    text += fmt::format(
        "  if (!params) return attn_fail(context, ATTN_REFUSED, \"{}: no parameters\");\n",
        i.model);
  text += fmt::format(
      "  attn_status status = {0}_sizes_read(context, (const attn_tensor*)params,\n"
      "                                     (const attn_tensor*)inputs, size);\n"
      "  if (status) return status;\n"
      "  if (!workspace || (uintptr_t)workspace % 64)\n"
      "    return attn_fail(context, ATTN_REFUSED, \"{0}: the workspace must be aligned to 64 "
      "bytes\");\n"
      "  attn_tensor wanted_params[{1}], wanted_inputs[{2}], wanted_outputs[{3}];\n"
      "  {0}_shapes(size, wanted_params, wanted_inputs, wanted_outputs);\n",
      i.model, i.params.size() + 1, i.inputs.size() + 1, i.outputs.size() + 1);
  for (const Group& g : groups) text += check_given(i, g, fmt::format("wanted_{}", name_of(g.of)));
  text += "  if (status) return status;\n";
  std::vector<Group> all = {{.name = "params", .of = Group::params},
                            {.name = "inputs", .of = Group::inputs}};
  all.insert(all.end(), groups.begin(), groups.end());
  text += check_overlap(i, all) + "  const uint32_t control = attn_begin_call(context);\n";
  std::string arguments;
  for (const Group& g : groups) arguments += fmt::format(", (const attn_tensor*){}", g.name);
  return text + fmt::format(
                    "  status = {}_{}_run(context, (const attn_tensor*)params, (const "
                    "attn_tensor*)inputs, size,\n"
                    "      (char*)workspace{});\n"
                    "  attn_end_call(context, control);\n"
                    "  return status;\n}}\n\n",
                    i.model, f.name, arguments);
}

std::string write_any(const Interface& i, plan::FunctionKind function) {
  std::string parameters, arguments;
  for (const Group& g : groups_of(function)) {
    parameters += ",\n    const attn_tensor* " + g.name;
    arguments += fmt::format(",\n      (const {}_{}*){}", i.model, name_of(g.of), g.name);
  }
  return fmt::format(
      "static attn_status {0}_{1}_any(attn_context* context, const attn_tensor* params,\n"
      "    const attn_tensor* inputs{2}, void* workspace) {{\n"
      "  return {0}_{1}(context, (const {0}_params*)params, (const {0}_inputs*)inputs{3},\n"
      "      workspace);\n}}\n",
      i.model, name_of(function), parameters, arguments);
}

}  // namespace attn::emit
