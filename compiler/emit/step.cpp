// The glue of an update: the model's tensors one after the other, each dealt out to rows of
// elements for kernels that know neither rank nor shape.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/model.h"

namespace attn::emit {
namespace {

using namespace ir;

// Long enough that what is computed once a row costs nothing, short enough for the first cache.
constexpr int kRowElements = 2048;

class StepWriter {
 public:
  StepWriter(const plan::StepPlan& plan, const Interface& i, const Symbols& symbols,
             const std::vector<std::string>& targets)
      : plan_(plan), step_(plan.step), i_(i), symbols_(symbols), targets_(targets) {}

  std::string write() {
    tables();
    for (const plan::Plan& p : plan_.norms) norm_part(p);
    for (const plan::Plan& p : plan_.updates) update_part(p);
    dispatch();
    workspace();
    defaults();
    step();
    return out_;
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  // NAN where the caller must say.
  static std::string value_text(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "NAN";
  }

  void tables() {
    line("static const attn_step_option {}_step_options[] = {{", i_.model);
    for (const StepOption& o : step_.options)
      line("  {{{}, {}}},", quoted(o.name), value_text(o.value));
    line("  {{0, 0}}}};");
    line("static const attn_step_state {}_step_states[] = {{", i_.model);
    for (const StepState& s : step_.states) line("  {{{}, {}}},", quoted(s.name), s.value);
    line("  {{0, 0}}}};\n");
  }

  std::string function_of(const plan::Plan& p) {
    const Interface own = interface_of(p);
    // Nothing is kept for a later call.
    line("static int64_t {}_saved_layout(const int64_t* size, int64_t* at) {{", own.model);
    line("  (void)size, (void)at;\n  return 0;\n}}");
    out_ += write_function(p, p.forward, own, symbols_, targets_);
    return own.model;
  }

  void norm_part(const plan::Plan& p) {
    const std::string name = function_of(p);
    const int bytes = plan::element_bytes(p.forward_graph.tensors.at(0).storage);
    line("static attn_status {}_part(attn_context* context, const attn_tensor* gradient,", name);
    line("    int64_t begin, int64_t rows, int64_t columns, void* workspace, double* square) {{");
    line("  const int64_t size[2] = {{rows, columns}};");
    line("  attn_tensor inputs[1], outputs[1];");
    line("  inputs[0].data = (char*)gradient->data + {} * begin;", bytes);
    line("  outputs[0].data = square;");
    line("  return {}_forward_run(context, 0, inputs, outputs, size, 0, (char*)workspace);\n}}\n",
         name);
  }

  void update_part(const plan::Plan& p) {
    const std::string name = function_of(p);
    const Graph& g = p.forward_graph;
    size_t scalars = 0, inputs = 0;
    Storage storage = Storage::f32;
    for (const Tensor& t : g.tensors) {
      if (t.role == Role::parameter) storage = t.storage;
      inputs += t.role == Role::input;
      scalars += t.role == Role::input && t.extents.empty();
    }
    const int bytes = plan::element_bytes(storage),
              others = plan::element_bytes(gradient_storage(storage));
    const size_t states = step_.states.size();
    line("static attn_status {}_part(attn_context* context, const attn_tensor* param,", name);
    line("    const attn_tensor* gradient, const attn_tensor* states, double* scalars,");
    line("    int64_t begin, int64_t rows, int64_t columns) {{");
    line("  const int64_t size[2] = {{rows, columns}};");
    line("  attn_tensor params[1], inputs[{}], outputs[{}];", inputs, 1 + states);
    line("  params[0].data = (char*)param->data + {} * begin;", bytes);
    line("  inputs[0].data = (char*)gradient->data + {} * begin;", others);
    line("  for (int k = 0; k < {}; ++k)", states);
    line("    inputs[1 + k].data = (char*)states[k * {}].data + {} * begin;", i_.params.size(),
         others);
    line("  for (int k = 0; k < {}; ++k) inputs[{} + k].data = scalars + k;", scalars, 1 + states);
    line("  outputs[0].data = params[0].data; /* in place, the states as well */");
    line("  for (int k = 0; k < {0}; ++k) outputs[1 + k].data = inputs[1 + k].data;", states);
    line("  (void)states, (void)scalars;");
    line("  return {}_forward_run(context, params, inputs, outputs, size, 0, 0);\n}}\n", name);
  }

  // The kernels of a parameter's type, for `rows` of `columns` elements from `begin`.
  void dispatch() {
    auto by_type = [&](const std::vector<plan::Plan>& plans, const auto& list, const char* given,
                       const char* arguments) {
      line("  switch ({}) {{", given);
      for (size_t k = 0; k < plans.size(); ++k)
        line("    case {}: return {}_part({});", c_type(list[k].storage),
             identifier(plans[k].model), arguments);
      line("    default: return attn_fail(context, ATTN_INTERNAL, \"{}: no such type\");",
           i_.model);
      line("  }}\n}}\n");
    };
    if (!plan_.norms.empty()) {
      line("static attn_status {}_norm_of(attn_context* context, const attn_tensor* gradient,",
           i_.model);
      line("    int64_t begin, int64_t rows, int64_t columns, void* workspace, double* square) {{");
      by_type(plan_.norms, step_.norms, "gradient->type",
              "context, gradient, begin, rows, columns, workspace, square");
    }
    line("static attn_status {}_update_of(attn_context* context, const attn_tensor* param,",
         i_.model);
    line("    const attn_tensor* gradient, const attn_tensor* states, double* scalars,");
    line("    int64_t begin, int64_t rows, int64_t columns) {{");
    by_type(plan_.updates, step_.updates, "param->type",
            "context, param, gradient, states, scalars, begin, rows, columns");
  }

  void workspace() {
    line("int64_t {0}_step_workspace(const {0}_params* params) {{", i_.model);
    line("  const attn_tensor* p = (const attn_tensor*)params;");
    line("  int64_t most = 0;");
    if (!plan_.norms.empty()) {
      line("  for (int k = 0; k < {}; ++k) {{", i_.params.size());
      line("    const int64_t count = attn_element_count(&p[k]);");
      line("    const int64_t whole[2] = {{count / {0}, {0}}}, rest[2] = {{1, count % {0}}};",
           kRowElements);
      for (const plan::Plan& n : plan_.norms) {
        line("    most = attn_larger(most, {}_forward_layout(whole, 0));", identifier(n.model));
        line("    most = attn_larger(most, {}_forward_layout(rest, 0));", identifier(n.model));
      }
      line("  }}");
    }
    line("  (void)p;\n  return most;\n}}\n");
  }

  void defaults() {
    line("{0}_options {0}_default_options(void) {{", i_.model);
    line("  {}_options options;", i_.model);
    const std::vector<std::string> fields = option_fields(step_);
    for (size_t k = 0; k < fields.size(); ++k)
      line("  options.{} = {};", fields[k], value_text(step_.options[k].value));
    if (fields.empty()) line("  options.unused = 0;");
    line("  return options;\n}}\n");
  }

  // The scalars of the update, in the order of its arguments.
  std::string scalars() const {
    std::string text;
    for (const Tensor& t : step_.updates.at(0).graph.tensors) {
      if (t.role != Role::input || !t.extents.empty()) continue;
      std::string one = t.name == kStepCount ? "(double)step" : "norm";
      for (size_t k = 0; k < step_.options.size(); ++k)
        if (step_.options[k].name == t.name) one = fmt::format("option[{}]", k);
      text += one + ", ";
    }
    return text + "0";
  }

  // Elements of a parameter as C expressions.
  struct Part {
    std::string begin, rows, columns, condition;
  };
  // Whole rows of parameter k, and what is left of it: `call` gives statements for each.
  template <class Call>
  void for_parts(const Call& call) {
    line("  for (int k = 0; k < {} && !status; ++k) {{", i_.params.size());
    line("    const int64_t count = attn_element_count(&p[k]);");
    line("    if (!dp[k].data || count == 0) continue;");
    line("    const int64_t rows = count / {0}, begin = rows * {0};", kRowElements);
    out_ += call(Part{"0", "rows", std::to_string(kRowElements), "rows > 0"});
    out_ += call(Part{"begin", "1", "count - begin", "!status && count > begin"});
    line("  }}");
  }

  void step() {
    line("attn_status {0}_step({1}) {{", i_.model, step_parameters(i_));
    line(
        "  const attn_tensor *p = (const attn_tensor*)params, *dp = (const "
        "attn_tensor*)gradients,");
    line("                    *held = (const attn_tensor*)states;");
    line("  const double* option = (const double*)options;");
    line("  if (!context) return ATTN_REFUSED;");
    line("  attn_status status =");
    line("      attn_check_step(context, {}_model(), option, step, p, dp, held);", i_.model);
    line("  if (status) return status;");
    line("  const uint32_t control = attn_begin_call(context);");
    line("  double norm = 0;");
    if (!plan_.norms.empty()) norms();
    line("  double scalars[] = {{{}}};", scalars());
    line("  (void)held, (void)option, (void)workspace, (void)norm;");
    for_parts([&](const Part& part) {
      return fmt::format(
          "    if ({}) status = {}_update_of(context, &p[k], &dp[k], held ? held + k : 0,\n"
          "        scalars, {}, {}, {});\n",
          part.condition, i_.model, part.begin, part.rows, part.columns);
    });
    line("  attn_end_call(context, control);");
    line("  return status;\n}}\n");
  }

  void norms() {
    line("  if (!workspace || (uintptr_t)workspace % 64)");
    line("    status = attn_fail(context, ATTN_REFUSED,");
    line("                       \"{}: the workspace must be aligned to 64 bytes\");", i_.model);
    line("  double square = 0;");
    for_parts([&](const Part& part) {
      return fmt::format(
          "    if ({0}) status = {1}_norm_of(context, &dp[k], {2}, {3}, {4}, workspace,\n"
          "                                  &square);\n"
          "    if ({0}) norm += square;\n",
          part.condition, i_.model, part.begin, part.rows, part.columns);
    });
    line("  norm = sqrt(norm);");
  }

  const plan::StepPlan& plan_;
  const Step& step_;
  const Interface& i_;
  const Symbols& symbols_;
  const std::vector<std::string>& targets_;
  std::string out_;
};

}  // namespace

std::vector<std::string> option_fields(const Step& step) {
  std::vector<std::string> names;
  for (const StepOption& o : step.options) names.push_back(o.name);
  return identifiers(names);
}

std::string step_parameters(const Interface& i) {
  return fmt::format(
      "attn_context* context, const {0}_options* options, int64_t step,\n"
      "    const {0}_params* params, const {0}_params* gradients, const {0}_states* states,\n"
      "    void* workspace",
      i.model);
}

std::string step_header(const Step& step, const Interface& i) {
  std::string text = fmt::format("/* What {} takes beside tensors. */\n", step.name);
  text += fmt::format("typedef struct {}_options {{\n", i.model);
  const std::vector<std::string> fields = option_fields(step);
  for (size_t k = 0; k < fields.size(); ++k)
    text += fmt::format("  double {}; /* {} */\n", fields[k],
                        step.options[k].value ? fmt::format("{} unless set", *step.options[k].value)
                                              : std::string("to be set"));
  if (fields.empty()) text += "  double unused;\n";
  text += fmt::format("}} {}_options;\n", i.model);
  text += fmt::format("{0}_options {0}_default_options(void);\n", i.model);
  text +=
      "/* Shaped like the parameters; of f16 and bf16 parameters f32. attn_initialise_states "
      "fills\n"
      " * them before the first step. */\n";
  text += fmt::format("typedef struct {}_states {{\n", i.model);
  std::vector<std::string> names;
  for (const StepState& s : step.states) names.push_back(s.name);
  for (const std::string& name : identifiers(names))
    text += fmt::format("  {}_params {};\n", i.model, name);
  if (names.empty()) text += "  attn_tensor unused;\n";
  text += fmt::format("}} {}_states;\n", i.model);
  text += fmt::format(
      "/* Bytes of workspace, aligned to 64 bytes; null will do for 0. */\n"
      "int64_t {0}_step_workspace(const {0}_params* params);\n"
      "/* Updates parameters and states in place; `step` counts from 1. A parameter whose gradient "
      "has\n"
      " * null data stays as it is. */\n"
      "attn_status {0}_step({1});\n",
      i.model, step_parameters(i));
  return text;
}

std::string write_step(const plan::StepPlan& plan, const Interface& i, const Symbols& symbols,
                       const std::vector<std::string>& targets) {
  return StepWriter(plan, i, symbols, targets).write();
}

std::string write_step_any(const Interface& i) {
  return fmt::format(
      "static int64_t {0}_step_workspace_any(const attn_tensor* p) {{\n"
      "  return {0}_step_workspace((const {0}_params*)p);\n}}\n"
      "static attn_status {0}_step_any(attn_context* c, const double* options, int64_t step,\n"
      "    const attn_tensor* p, const attn_tensor* dp, const attn_tensor* states, void* "
      "workspace) {{\n"
      "  return {0}_step(c, (const {0}_options*)options, step, (const {0}_params*)p,\n"
      "      (const {0}_params*)dp, (const {0}_states*)states, workspace);\n}}\n",
      i.model);
}

}  // namespace attn::emit
