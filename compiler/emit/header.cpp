// The header that a program includes: C11 structs and functions, and sizes for C++.
#include <attn/abi.h>
#include <fmt/format.h>

#include "compiler/emit/model.h"

namespace attn::emit {
namespace {

using namespace ir;

std::string group_struct(const Graph& g, const Interface& i, const char* group,
                         const std::vector<Argument>& list) {
  std::string out = fmt::format("typedef struct {}_{} {{\n", i.model, group);
  if (list.empty()) out += "  attn_tensor unused;\n";
  for (const Argument& a : list) {
    const Tensor& t = g[a.tensor];
    std::string doc = shape_text(g, t);
    if (a.field != a.name) doc = a.name + ": " + doc;
    if (!t.weight_name.empty()) doc += ", " + quoted(t.weight_name) + " in weight files";
    if (a.is_state) doc += ", changed in place";
    if (!t.doc.empty()) doc += ". " + t.doc;
    out += fmt::format("  attn_tensor {}; /* {} */\n", a.field, comment(doc));
  }
  return out + fmt::format("}} {}_{};\n", i.model, group);
}

std::string step_structs(const Step& step, const Interface& i) {
  std::string text = fmt::format("/* What {} takes beside tensors. */\n", step.name);
  text += fmt::format("typedef struct {}_options {{\n", i.model);
  const std::vector<std::string> fields = option_fields(step);
  for (size_t k = 0; k < fields.size(); ++k)
    text += fmt::format("  double {}; /* {} */\n", fields[k],
                        step.options[k].value ? fmt::format("{} unless set", *step.options[k].value)
                                              : std::string("to be set"));
  if (fields.empty()) text += "  double unused;\n";
  text += fmt::format("}} {0}_options;\n{0}_options {0}_default_options(void);\n", i.model);
  text += fmt::format(
      "/* Shaped like the parameters; of f16 and bf16 parameters f32. attn_initialise_states "
      "fills\n"
      " * them before the first step. */\n"
      "typedef struct {}_states {{\n",
      i.model);
  std::vector<std::string> names;
  for (const StepState& s : step.states) names.push_back(s.name);
  for (const std::string& name : identifiers(names))
    text += fmt::format("  {}_params {};\n", i.model, name);
  if (names.empty()) text += "  attn_tensor unused;\n";
  return text + fmt::format("}} {}_states;\n", i.model);
}

std::string model_text(const ModelPlan& m, const Interface& i) {
  const Graph& g = m.plan.forward_graph;
  std::string out =
      fmt::format("\n/* ---- {}{}{} */\n", i.model, m.doc.empty() ? "" : ": ", comment(m.doc));
  std::string known;
  for (const Size& s : g.sizes)
    if (s.value) known += fmt::format("{}{} = {}", known.empty() ? "" : ", ", s.name, *s.value);
  if (!known.empty()) out += fmt::format("/* Compiled in: {}. */\n", known);
  out += group_struct(g, i, "params", i.params);
  out += group_struct(g, i, "inputs", i.inputs);
  out += group_struct(g, i, "outputs", i.outputs);
  if (m.step) out += step_structs(m.step->step, i);
  out += fmt::format("ATTN_NEEDS({}, {});\n", i.model, archive_symbol(m, i));
  out += fmt::format(
      "/* For generic callers: attn/model.h, attn_model_save, attn::Model and the like. */\n"
      "const attn_model* {0}_model(void);\n",
      i.model);
  for (const Exported& f : exported_functions(m, i))
    out += fmt::format("/* {} */\n{};\n", f.doc, called(f.prototype, f.parameters, 96));
  return out;
}

}  // namespace

std::vector<std::string> option_fields(const Step& step) {
  std::vector<std::string> names;
  for (const StepOption& o : step.options) names.push_back(o.name);
  return identifiers(names);
}

std::string write_header(const std::string& stem, const std::vector<ModelPlan>& models,
                         const std::vector<Interface>& interfaces) {
  std::string guard = identifier(stem);
  for (char& c : guard) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
  std::string out = fmt::format(
      "/* {0}.h - from {0}.attn, written by attnc; C11 and C++17. Link {0}.a and libattn_rt.a.\n"
      " * Tensors are row-major and dense; nothing here aborts, exits or throws: every call "
      "returns a\n"
      " * status, and attn_context_message(context) says what was wrong. */\n"
      "#ifndef ATTN_GENERATED_{1}_H\n#define ATTN_GENERATED_{1}_H\n\n#include <attn/attn.h>\n\n"
      "#if ATTN_ABI_VERSION != {2}\n"
      "#error \"{0}.h is for version {2} of attn/abi.h: compile {0}.attn with the attnc of these "
      "headers\"\n#endif\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
      "ATTN_NEEDS({3}, ATTN_RUNTIME_SYMBOL);\n",
      stem, guard, ATTN_ABI_VERSION, identifier(stem));
  for (size_t k = 0; k < models.size(); ++k) out += model_text(models[k], interfaces[k]);
  out += "\n#ifdef __cplusplus\n}  /* extern \"C\" */\n";
  for (size_t k = 0; k < models.size(); ++k) {
    out += fmt::format("\nnamespace {}_sizes_of {{\n", interfaces[k].model);
    for (const Size& s : models[k].plan.forward_graph.sizes)
      if (s.value) out += fmt::format("constexpr int64_t {} = {};\n", identifier(s.name), *s.value);
    out += "}\n";
  }
  return out + "#endif\n#endif\n";
}

}  // namespace attn::emit
