// The part of the glue around the kernel calls: tables, sizes, checks, and the exported functions.
#include <fmt/format.h>

#include <numeric>
#include <set>

#include "compiler/emit/model.h"

namespace attn::emit {
namespace {

using namespace ir;

class Glue {
 public:
  Glue(const ModelPlan& m, const Interface& i, const Symbols& symbols,
       const std::vector<std::string>& targets)
      : m_(m),
        plan_(m.plan),
        g_(plan_.forward_graph),
        i_(i),
        symbols_(symbols),
        targets_(targets) {}

  std::string write() {
    out_ = fmt::format("\n/* ---- model {} */\n\n", i_.model);
    table("params", i_.params);
    table("inputs", i_.inputs);
    table("outputs", i_.outputs);
    size_names();
    shapes();
    read_sizes();
    saved_layout();
    if (i_.timed) marks();
    out_ += write_function(plan_, plan_.forward, i_, symbols_, targets_);
    for (const plan::Function* f : plan::functions(plan_))
      if (f != &plan_.forward) out_ += write_function(plan_, *f, i_, symbols_, targets_);
    sizes();
    forward();
    if (plan_.backward) backward();
    if (plan_.jvp) out_ += write_alone(*plan_.jvp, i_);
    if (plan_.hvp) out_ += write_alone(*plan_.hvp, i_);
    out_ += write_probes(m_, i_);
    if (m_.step) out_ += write_step(*m_.step, i_, symbols_, targets_);
    model();
    return out_;
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  void table(const char* group, const std::vector<Argument>& arguments) {
    if (arguments.empty()) return;
    line("static const attn_argument {}_{}_table[] = {{", i_.model, group);
    for (const Argument& a : arguments) {
      const Tensor& t = g_[a.tensor];
      Start start = start_of(g_, a.tensor);
      std::string extents;
      for (const Poly& p : t.extents) extents += quoted(plan::poly_text(g_, p)) + ", ";
      line("  {{{}, {}, {}, {{{}}}, {}, {}, {}, {}, {}, {}}},", quoted(a.name), c_type(t.storage),
           t.extents.size(), extents.empty() ? "0" : extents, a.differentiable ? 1 : 0,
           quoted(weight_name(t)), start.init, start.a, start.b, fmt::format("{}u", start.fan_in));
    }
    line("}};");
  }

  void marks() {
    line("void (*{}_mark)(void* data, int32_t kernel, int32_t ends);", i_.model);
    line("void* {}_mark_data;\n", i_.model);
  }

  void size_names() {
    std::string names;
    for (SizeId s : i_.sizes) names += quoted(g_[s].name) + ", ";
    line("static const char* const {}_size_names[] = {{{}0}};\n", i_.model, names);
  }

  void shapes() {
    line("static void {}_shapes(const int64_t* size, attn_tensor* params, attn_tensor* inputs,",
         i_.model);
    line("                      attn_tensor* outputs) {{");
    out_ += size_locals(g_, i_.sizes);
    auto group = [&](const char* name, const std::vector<Argument>& arguments) {
      line("  if ({}) {{", name);
      for (size_t k = 0; k < arguments.size(); ++k) {
        const Tensor& t = g_[arguments[k].tensor];
        std::string extents;
        for (const Poly& p : t.extents) extents += (extents.empty() ? "" : ", ") + c_extent(g_, p);
        line("    attn_shape(&{}[{}], {}, {}, (const int64_t[]){{{}}});", name, k,
             c_type(t.storage), t.extents.size(), extents.empty() ? "0" : extents);
      }
      line("  }}");
    };
    group("params", i_.params);
    group("inputs", i_.inputs);
    group("outputs", i_.outputs);
    line("}}\n");
  }

  // Where a size stands alone, or else one extent that is linear in it.
  void read_sizes() {
    line("static attn_status {}_sizes_read(attn_context* context, const attn_tensor* params,",
         i_.model);
    line("                                  const attn_tensor* inputs, int64_t* size) {{");
    line("  attn_status status = ATTN_OK;");
    if (!i_.inputs.empty())
      line("  if (!inputs) return attn_fail(context, ATTN_REFUSED, \"{}: no inputs\");", i_.model);
    line("  (void)inputs, (void)params;");
    std::set<SizeId> known;
    for (const Argument* a : arguments()) read_alone(*a, known);
    for (const Argument* a : arguments()) read_linear(*a, known);
    for (size_t k = 0; k < i_.sizes.size(); ++k) {
      SizeId s = i_.sizes[k];
      ATTN_CHECK(known.count(s), "a size that no argument determines: " + g_[s].name);
      line("  size[{}] = {};", k, size_variable(g_, s));
    }
    check_arguments();
    check_bounds();
    line("  return status;\n}}\n");
  }

  std::vector<const Argument*> arguments() const {
    std::vector<const Argument*> all;
    for (const Argument& a : i_.inputs) all.push_back(&a);
    for (const Argument& a : i_.params) all.push_back(&a);
    return all;
  }
  std::string place(const Argument& a) const {
    for (size_t k = 0; k < i_.inputs.size(); ++k)
      if (&i_.inputs[k] == &a) return fmt::format("inputs[{}]", k);
    for (size_t k = 0; k < i_.params.size(); ++k)
      if (&i_.params[k] == &a) return fmt::format("params[{}]", k);
    return {};
  }
  bool is_param(const Argument& a) const { return g_[a.tensor].role == Role::parameter; }

  void read_alone(const Argument& a, std::set<SizeId>& known) {
    for (size_t k = 0; k < g_[a.tensor].extents.size(); ++k) {
      auto s = g_.expand(g_[a.tensor].extents[k]).single();
      if (!s || g_[*s].quotient || !known.insert(*s).second) continue;
      line("  const int64_t {} = {}{}.extent[{}];", size_variable(g_, *s),
           is_param(a) ? "!params ? 0 : " : "", place(a), k);
    }
  }

  void read_linear(const Argument& a, std::set<SizeId>& known) {
    for (size_t k = 0; k < g_[a.tensor].extents.size(); ++k) {
      Poly p = g_.expand(g_[a.tensor].extents[k]);
      std::optional<SizeId> wanted;
      bool linear = true;
      for (const auto& [monomial, c] : p.terms())
        for (auto [s, power] : monomial) {
          if (known.count(s)) continue;
          linear = linear && !g_[s].quotient && power == 1 && monomial.size() == 1 &&
                   (!wanted || *wanted == s);
          wanted = s;
        }
      if (!wanted || !linear) continue;
      Rational factor;
      for (const auto& [monomial, c] : p.terms())
        if (monomial == Monomial{{*wanted, 1}}) factor = c;
      Poly rest = p - Poly::term({{*wanted, 1}}, factor);
      known.insert(*wanted);
      std::string name = size_variable(g_, *wanted);
      line("  const int64_t {0}_times = {1}({2}{3}.extent[{4}] - ({5})) * {6};", name,
           factor.num < 0 ? "-" : "", is_param(a) ? "!params ? 0 : " : "", place(a), k,
           c_expression(g_, rest), factor.den);
      line("  const int64_t {0} = {0}_times / {1};", name, std::abs(factor.num));
      line("  if ({0} * {1} != {0}_times || {0} < 0)", name, std::abs(factor.num));
      line(
          "    return attn_fail(context, ATTN_REFUSED, \"{}: extent {} ({}) is %lld: no whole "
          "{}\",",
          a.name, k, plan::poly_text(g_, g_[a.tensor].extents[k]), g_[*wanted].name);
      line("                     (long long){}.extent[{}]);", place(a), k);
    }
  }

  void check_arguments() {
    if (!i_.params.empty()) line("  attn_tensor wanted_params[{}];", i_.params.size());
    if (!i_.inputs.empty()) line("  attn_tensor wanted_inputs[{}];", i_.inputs.size());
    line("  {}_shapes(size, {}, {}, 0);", i_.model, i_.params.empty() ? "0" : "wanted_params",
         i_.inputs.empty() ? "0" : "wanted_inputs");
    auto check = [&](const char* group, const char* kind, const std::vector<Argument>& list) {
      if (list.empty()) return;
      line("  for (int k = 0; {} && k < {} && !status; ++k)", group, list.size());
      line(
          "    status = attn_check_tensor(context, \"{}\", &{}_{}_table[k], &{}[k], &wanted_{}[k], "
          "0);",
          kind, i_.model, group, group, group);
    };
    check("inputs", "input", i_.inputs);
    check("params", "parameter", i_.params);
    line("  if (status) return status;");
  }

  void check_bounds() {
    for (SizeId id : i_.sizes) {
      const Size& s = g_[id];
      std::string name = size_variable(g_, id);
      std::string upper = s.upper ? std::to_string(*s.upper) : "";
      std::string above = s.upper ? upper : "2147483647";
      line("  if ({0} < {1} || {0} > {2})", name, s.lower, above);
      line("    return attn_fail(context, ATTN_REFUSED, \"size {} is %lld, must be in {}..{}\",",
           s.name, s.lower, upper);
      line("                     (long long){});", name);
    }
    for (const Size& s : g_.sizes) {
      if (s.value || !s.definition) continue;
      Poly p = g_.expand(*s.definition);
      int64_t common = 1;
      for (const auto& [monomial, c] : p.terms()) common = std::lcm(common, c.den);
      if (common == 1) continue;
      line("  if (({}) % {} != 0)", c_expression(g_, scale(p, {common, 1})), common);
      line("    return attn_fail(context, ATTN_REFUSED, \"size {} = {} is no whole number\");",
           s.name, plan::poly_text(g_, *s.definition));
    }
  }

  // The saved block begins with the model's hash and the sizes, then one aligned place a tensor.
  void saved_layout() {
    const plan::Function& f = plan_.forward;
    line("static int64_t {}_saved_layout(const int64_t* size, int64_t* at) {{", i_.model);
    out_ += size_locals(g_, i_.sizes);
    line("  int64_t end = attn_align({});", 8 * (1 + i_.sizes.size()));
    for (size_t k = 0; k < f.saved.size(); ++k) {
      line("  if (at) at[{}] = end;", k);
      line("  end += attn_align({}); /* {} */", byte_size(f.graph, f.saved[k]),
           f.graph[f.saved[k]].name);
    }
    line("  (void)at;\n  return end;\n}}\n");
  }

  std::string parameters(bool backward) const {
    std::string p = fmt::format(
        "attn_context* context, const {0}_params* params, const {0}_inputs* inputs", i_.model);
    if (!backward)
      return p +
             fmt::format(", const {0}_outputs* outputs, void* saved, void* workspace", i_.model);
    return p +
           fmt::format(
               ", const {0}_outputs* outputs, const void* saved, const {0}_outputs* cotangents, "
               "const {0}_params* param_gradients, const {0}_inputs* input_gradients, void* "
               "workspace",
               i_.model);
  }

  void sizes() {
    line(
        "attn_status {0}_sizes(attn_context* context, const {0}_params* params, const {0}_inputs* "
        "inputs,",
        i_.model);
    line("    attn_sizes* result) {{");
    line("  int64_t size[{}];", i_.sizes.size() + 1);
    line("  if (!context || !result) return ATTN_REFUSED;");
    line("  attn_status status = {}_sizes_read(context, (const attn_tensor*)params,", i_.model);
    line("                                     (const attn_tensor*)inputs, size);");
    line("  if (status) return status;");
    line("  memset(result, 0, sizeof *result);");
    line("  result->saved = {};", plan_.backward ? i_.model + "_saved_layout(size, 0)" : "0");
    line("  result->forward_workspace = {}_forward_layout(size, 0) + {}_saved_layout(size, 0);",
         i_.model, i_.model);
    line("  result->backward_workspace = {};",
         plan_.backward ? i_.model + "_backward_layout(size, 0)" : "0");
    for (const auto* f : {&plan_.jvp, &plan_.hvp})
      if (*f) line("  result->{0}_workspace = {1}_{0}_layout(size, 0);", (*f)->name, i_.model);
    for (const plan::Function& f : plan_.probes)
      line(
          "  result->probe_workspace = attn_larger(result->probe_workspace, {}_{}_layout(size, "
          "0));",
          i_.model, f.name);
    line("  return ATTN_OK;\n}}\n");
  }

  void forward() {
    line("attn_status {}_forward({}) {{", i_.model, parameters(false));
    out_ += begin_call(i_);
    out_ += check_overlap(i_, {{.name = "params", .of = Group::params},
                               {.name = "inputs", .of = Group::inputs},
                               {.name = "outputs", .of = Group::outputs, .written = true}});
    line("  char* kept = saved ? (char*)saved : (char*)workspace + {}_forward_layout(size, 0);",
         i_.model);
    line("  if ((uintptr_t)kept % 64)");
    line(
        "    return attn_fail(context, ATTN_REFUSED, \"{}: the saved block must be aligned to 64 "
        "bytes\");",
        i_.model);
    line("  const uint32_t control = attn_begin_call(context);");
    line(
        "  status = {}_forward_run(context, (const attn_tensor*)params, (const "
        "attn_tensor*)inputs, out,",
        i_.model);
    line("                          size, kept, (char*)workspace);");
    line("  attn_end_call(context, control);");
    line("  if (!status) {{");
    line("    const uint64_t hash = {}u;", m_.source_hash);
    line("    memcpy(kept, &hash, 8);");
    line("    memcpy(kept + 8, size, {});", 8 * i_.sizes.size());
    line("  }}\n  return status;\n}}\n");
  }

  void backward() {
    line("attn_status {}_backward({}) {{", i_.model, parameters(true));
    out_ += begin_call(i_);
    out_ += check_saved(i_, m_.source_hash);
    line("  if (!cotangents) return attn_fail(context, ATTN_REFUSED, \"{}: no cotangents\");",
         i_.model);
    line("  attn_tensor wanted_params[{}], wanted_inputs[{}];", i_.params.size() + 1,
         i_.inputs.size() + 1);
    line("  {}_shapes(size, wanted_params, wanted_inputs, 0);", i_.model);
    const std::vector<Group> groups = {
        {.name = "params", .of = Group::params},
        {.name = "inputs", .of = Group::inputs},
        {.name = "outputs", .of = Group::outputs},
        {.name = "cotangents", .of = Group::outputs, .kind = "cotangent"},
        {.name = "param_gradients", .of = Group::params, .kind = "gradient", .written = true},
        {.name = "input_gradients", .of = Group::inputs, .kind = "gradient", .written = true}};
    const char* wanted[] = {"", "", "", "wanted", "wanted_params", "wanted_inputs"};
    for (size_t k = 3; k < groups.size(); ++k) out_ += check_given(i_, groups[k], wanted[k]);
    line("  if (status) return status;");
    out_ += check_overlap(i_, groups);
    line("  const uint32_t control = attn_begin_call(context);");
    line(
        "  status = {}_backward_run(context, (const attn_tensor*)params, (const "
        "attn_tensor*)inputs, out,",
        i_.model);
    line(
        "                           size, (char*)saved, (char*)workspace, (const "
        "attn_tensor*)cotangents,");
    line(
        "                           (const attn_tensor*)param_gradients, (const "
        "attn_tensor*)input_gradients);");
    line("  attn_end_call(context, control);");
    line("  return status;\n}}\n");
  }

  void model() {
    // Generic callers pass arrays of tensors; the structs are exactly such arrays.
    line(
        "static attn_status {0}_sizes_any(attn_context* c, const attn_tensor* p, const "
        "attn_tensor* in, attn_sizes* r) {{\n"
        "  return {0}_sizes(c, (const {0}_params*)p, (const {0}_inputs*)in, r);\n}}",
        i_.model);
    line(
        "static attn_status {0}_forward_any(attn_context* c, const attn_tensor* p, const "
        "attn_tensor* in,\n"
        "                                   const attn_tensor* out, void* saved, void* workspace) "
        "{{\n"
        "  return {0}_forward(c, (const {0}_params*)p, (const {0}_inputs*)in, (const "
        "{0}_outputs*)out, saved, workspace);\n}}",
        i_.model);
    if (plan_.backward)
      line(
          "static attn_status {0}_backward_any(attn_context* c, const attn_tensor* p, const "
          "attn_tensor* in,\n"
          "                                    const attn_tensor* out, const void* saved, const "
          "attn_tensor* cot,\n"
          "                                    const attn_tensor* dp, const attn_tensor* din, "
          "void* workspace) {{\n"
          "  return {0}_backward(c, (const {0}_params*)p, (const {0}_inputs*)in, (const "
          "{0}_outputs*)out, saved,\n"
          "                      (const {0}_outputs*)cot, (const {0}_params*)dp, (const "
          "{0}_inputs*)din, workspace);\n}}",
          i_.model);
    for (const auto* f : {&plan_.jvp, &plan_.hvp})
      if (*f) out_ += write_any(i_, (*f)->kind);
    if (m_.step) out_ += write_step_any(i_);
    out_ += write_probe_table(plan_, i_);
    auto table_name = [&](const char* group, const std::vector<Argument>& list) {
      return list.empty() ? std::string("0") : fmt::format("{}_{}_table", i_.model, group);
    };
    line("const attn_model* {}_model(void) {{", i_.model);
    line("  static const attn_model description = {{");
    line("      ATTN_ABI_VERSION, {}, {}u, {}, {}, {}, {},", quoted(plan_.model), m_.source_hash,
         i_.params.size(), i_.inputs.size(), i_.outputs.size(), i_.sizes.size());
    line("      {}, {}, {}, {}_size_names, {},", table_name("params", i_.params),
         table_name("inputs", i_.inputs), table_name("outputs", i_.outputs), i_.model,
         plan_.backward ? 1 : 0);
    auto any = [&](const std::optional<plan::Function>& f) {
      return f ? fmt::format("{}_{}_any", i_.model, f->name) : "0";
    };
    line("      {0}_sizes_read, {0}_shapes, {0}_sizes_any, {0}_forward_any, {1}, {2}, {3},",
         i_.model, any(plan_.backward), any(plan_.jvp), any(plan_.hvp));
    if (m_.step)
      line(
          "      {1}, {2}, {0}_step_options, {0}_step_states, {0}_step_workspace_any, "
          "{0}_step_any,",
          i_.model, m_.step->step.options.size(), m_.step->step.states.size());
    else
      line("      0, 0, 0, 0, 0, 0,");
    line("      {}, {}}};", plan_.probes.size(), plan_.probes.empty() ? "0" : i_.model + "_probes");
    line("  return &description;\n}}");
  }

  const ModelPlan& m_;
  const plan::Plan& plan_;
  const Graph& g_;
  const Interface& i_;
  const Symbols& symbols_;
  const std::vector<std::string>& targets_;
  std::string out_;
};

}  // namespace

std::string write_glue(const ModelPlan& model, const Interface& interface, const Symbols& symbols,
                       const std::vector<std::string>& targets) {
  return Glue(model, interface, symbols, targets).write();
}

}  // namespace attn::emit
