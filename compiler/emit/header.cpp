// The header that a program includes: C11 structs and functions, and a typed C++ layer.
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
    if (!t.doc.empty()) doc += ". " + t.doc;
    out += fmt::format("  attn_tensor {}; /* {} */\n", a.field, comment(doc));
  }
  return out + fmt::format("}} {}_{};\n", i.model, group);
}

}  // namespace

std::string comment(std::string text) {
  for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at))
    text.replace(at, 2, "* /");
  return text;
}

std::string shape_text(const Graph& g, const Tensor& t) {
  std::string text(name_of(t.storage));
  text += "[";
  for (size_t k = 0; k < t.extents.size(); ++k)
    text += (k ? ", " : "") + plan::poly_text(g, t.extents[k]);
  return text + "]";
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
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
      stem, guard);
  for (size_t k = 0; k < models.size(); ++k) {
    const plan::Plan& plan = models[k].plan;
    const Graph& g = plan.forward_graph;
    const Interface& i = interfaces[k];
    out += fmt::format("\n/* ---- {}{}{} */\n", i.model, models[k].doc.empty() ? "" : ": ",
                       comment(models[k].doc));
    std::string known;
    for (const Size& s : g.sizes)
      if (s.value) known += fmt::format("{}{} = {}", known.empty() ? "" : ", ", s.name, *s.value);
    if (!known.empty()) out += fmt::format("/* Compiled in: {}. */\n", known);
    out += group_struct(g, i, "params", i.params);
    out += group_struct(g, i, "inputs", i.inputs);
    out += group_struct(g, i, "outputs", i.outputs);
    out += fmt::format(
        "/* For generic callers: attn_model_save, attn::Model and the like. */\n"
        "const attn_model* {0}_model(void);\n"
        "/* Bytes of workspace and saved block for these arguments; both aligned to 64 bytes. */\n"
        "attn_status {0}_sizes(attn_context* context, const {0}_params* params,\n"
        "    const {0}_inputs* inputs, attn_sizes* sizes);\n"
        "/* `saved` may be null where no backward follows. */\n"
        "attn_status {0}_forward(attn_context* context, const {0}_params* params,\n"
        "    const {0}_inputs* inputs, const {0}_outputs* outputs, void* saved, void* "
        "workspace);\n",
        i.model);
    if (plan.backward)
      out += fmt::format(
          "/* A cotangent with null data is 0; a gradient with null data is not wanted. Of f16 and "
          "bf16\n"
          " * tensors both are f32. */\n"
          "attn_status {0}_backward(attn_context* context, const {0}_params* params,\n"
          "    const {0}_inputs* inputs, const {0}_outputs* outputs, const void* saved,\n"
          "    const {0}_outputs* cotangents, const {0}_params* param_gradients,\n"
          "    const {0}_inputs* input_gradients, void* workspace);\n",
          i.model);
    if (plan.jvp)
      out +=
          "/* The outputs, and how they change along the tangents. A tangent with null data is 0; "
          "a "
          "result\n"
          " * with null data is not wanted. No other call need come before. */\n" +
          fmt::format("attn_status {}_jvp({});\n", i.model,
                      parameters_of(i, plan::FunctionKind::jvp));
    if (plan.hvp)
      out +=
          "/* How the gradient of the first scalar output changes along the tangents. Nulls as "
          "for jvp. */\n" +
          fmt::format("attn_status {}_hvp({});\n", i.model,
                      parameters_of(i, plan::FunctionKind::hvp));
    out += probe_header(plan, i);
    if (models[k].step) out += step_header(models[k].step->step, i);
  }
  out += "\n#ifdef __cplusplus\n}  /* extern \"C\" */\n";
  for (size_t k = 0; k < models.size(); ++k) {
    const Graph& g = models[k].plan.forward_graph;
    const Interface& i = interfaces[k];
    out += fmt::format("\nnamespace {}_sizes_of {{\n", i.model);
    for (const Size& s : g.sizes)
      if (s.value) out += fmt::format("constexpr int64_t {} = {};\n", identifier(s.name), *s.value);
    out += "}\n";
  }
  return out + "#endif\n#endif\n";
}

}  // namespace attn::emit
