// Functions that compute one probe each, after a forward call: what the header says of them, and
// the glue.
#include <fmt/format.h>

#include "compiler/emit/model.h"

namespace attn::emit {

using namespace ir;

namespace {

// What the function computes; its place in memory is of the caller.
const Tensor& tensor_of(const plan::Function& f) { return f.graph[f.graph.outputs.at(0).tensor]; }
const std::string& name_of(const plan::Function& f) { return f.graph.outputs.at(0).name; }

std::string parameters(const Interface& i) {
  return fmt::format(
      "attn_context* context, const {0}_params* params,\n    const {0}_inputs* inputs, const "
      "{0}_outputs* outputs, const void* saved,\n    const attn_tensor* result, void* workspace",
      i.model);
}

std::string shape(const plan::Function& f, const Interface& i) {
  const Tensor& t = tensor_of(f);
  std::string extents;
  for (const Poly& p : t.extents) extents += (extents.empty() ? "" : ", ") + c_extent(f.graph, p);
  return fmt::format(
      "static void {}_{}_shape(const int64_t* size, attn_tensor* result) {{\n{}"
      "  attn_shape(result, {}, {}, (const int64_t[]){{{}}});\n}}\n"
      "static int64_t {}_{}_workspace(const int64_t* size) {{ return {}_{}_layout(size, 0); }}\n\n",
      i.model, f.name, size_locals(f.graph, i.sizes), c_type(t.storage), t.extents.size(),
      extents.empty() ? "0" : extents, i.model, f.name, i.model, f.name);
}

std::string row(const plan::Function& f, const Interface& i) {
  const Tensor& t = tensor_of(f);
  std::string extents;
  for (const Poly& p : t.extents) extents += quoted(plan::poly_text(f.graph, p)) + ", ";
  const std::string name = quoted(name_of(f));
  return fmt::format(
      "static const attn_argument {}_{}_row = {{{}, {}, {}, {{{}}}, 0, {}, ATTN_INIT_ZEROS, 0, 0, "
      "0u}};\n",
      i.model, f.name, name, c_type(t.storage), t.extents.size(), extents.empty() ? "0" : extents,
      name);
}

}  // namespace

std::string probe_header(const plan::Plan& plan, const Interface& i) {
  std::string text;
  for (size_t k = 0; k < plan.probes.size(); ++k) {
    const plan::Function& f = plan.probes[k];
    const Tensor& t = tensor_of(f);
    std::string doc = fmt::format("{}: {}", name_of(f), shape_text(f.graph, t));
    if (!t.doc.empty()) doc += ". " + t.doc;
    text += fmt::format(
        "/* {}\n * For the forward call with these parameters, inputs, outputs and saved "
        "block{}. */\n"
        "attn_status {}_{}({});\n",
        comment(doc), f.saved.empty() ? ", which may be null" : "", i.model, i.probes[k],
        parameters(i));
  }
  return text;
}

std::string begin_call(const Interface& i) {
  std::string text = fmt::format("  int64_t size[{}];\n  if (!context) return ATTN_REFUSED;\n",
                                 i.sizes.size() + 1);
  if (!i.params.empty())
    text += fmt::format(
        "  if (!params) return attn_fail(context, ATTN_REFUSED, \"{}: no parameters\");\n",
        i.model);
  return text +
         fmt::format(
             "  attn_status status = {0}_sizes_read(context, (const attn_tensor*)params,\n"
             "                                     (const attn_tensor*)inputs, size);\n"
             "  if (status) return status;\n"
             "  attn_tensor wanted[{1}];\n"
             "  {0}_shapes(size, 0, 0, wanted);\n"
             "  if (!outputs) return attn_fail(context, ATTN_REFUSED, \"{0}: no outputs\");\n"
             "  const attn_tensor* out = (const attn_tensor*)outputs;\n"
             "  for (int k = 0; k < {2} && !status; ++k)\n"
             "    status = attn_check_tensor(context, \"output\", &{0}_outputs_table[k], &out[k], "
             "&wanted[k], 0);\n"
             "  if (status) return status;\n"
             "  if (!workspace || (uintptr_t)workspace % 64)\n"
             "    return attn_fail(context, ATTN_REFUSED, \"{0}: the workspace must be aligned to "
             "64 bytes\");\n",
             i.model, std::max<size_t>(i.outputs.size(), 1), i.outputs.size());
}

std::string check_saved(const Interface& i, uint64_t source_hash) {
  return fmt::format(
      "  if (!saved || (uintptr_t)saved % 64)\n"
      "    return attn_fail(context, ATTN_REFUSED, \"{0}: the saved block must be aligned to 64 "
      "bytes\");\n"
      "  uint64_t hash = 0;\n  memcpy(&hash, saved, 8);\n"
      "  if (hash != {1}u || memcmp((const char*)saved + 8, size, {2}))\n"
      "    return attn_fail(context, ATTN_REFUSED, \"{0}: the saved block is of another "
      "call\");\n",
      i.model, source_hash, 8 * i.sizes.size());
}

std::string write_probes(const ModelPlan& model, const Interface& i) {
  std::string text;
  for (size_t k = 0; k < i.probes.size(); ++k) {
    const plan::Function& f = model.plan.probes[k];
    text += row(f, i) + shape(f, i);
    text += fmt::format("attn_status {}_{}({}) {{\n", i.model, i.probes[k], parameters(i));
    text += begin_call(i);
    if (!f.saved.empty()) text += check_saved(i, model.source_hash);
    text += fmt::format(
        "  attn_tensor shape;\n  {0}_{1}_shape(size, &shape);\n"
        "  status = attn_check_tensor(context, \"output\", &{0}_{1}_row, result, &shape, 0);\n"
        "  if (status) return status;\n",
        i.model, f.name);
    text += check_overlap(i,
                          {{.name = "params", .of = Group::params},
                           {.name = "inputs", .of = Group::inputs},
                           {.name = "outputs", .of = Group::outputs}},
                          name_of(f));
    text += fmt::format(
        "  const uint32_t control = attn_begin_call(context);\n"
        "  status = {}_{}_run(context, (const attn_tensor*)params, (const attn_tensor*)inputs, "
        "out,\n      size, (char*)saved, (char*)workspace, result);\n"
        "  attn_end_call(context, control);\n"
        "  return status;\n}}\n\n",
        i.model, f.name);
  }
  return text;
}

std::string write_probe_table(const plan::Plan& plan, const Interface& i) {
  if (plan.probes.empty()) return {};
  std::string calls, rows;
  for (size_t k = 0; k < i.probes.size(); ++k) {
    const std::string& own = plan.probes[k].name;
    calls += fmt::format(
        "static attn_status {0}_{1}_any(attn_context* c, const attn_tensor* p, const attn_tensor* "
        "in,\n"
        "    const attn_tensor* out, const void* saved, const attn_tensor* result, void* "
        "workspace) {{\n"
        "  return {0}_{2}(c, (const {0}_params*)p, (const {0}_inputs*)in, (const "
        "{0}_outputs*)out, saved,\n      result, workspace);\n}}\n",
        i.model, own, i.probes[k]);
    rows += fmt::format("  {{&{0}_{1}_row, {0}_{1}_shape, {0}_{1}_workspace, {0}_{1}_any}},\n",
                        i.model, own);
  }
  return fmt::format("{}static const attn_probe {}_probes[] = {{\n{}}};\n", calls, i.model, rows);
}

}  // namespace attn::emit
