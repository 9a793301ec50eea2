#include "compiler/emit/emit.h"

#include <fmt/format.h>

#include "compiler/emit/model.h"
#include "compiler/emit/signature.h"
#include "compiler/plan/kinds.h"
#include "compiler/target/target.h"

namespace attn::emit {
namespace {

const char* device_name(attn_device_type device) {
  switch (device) {
    case ATTN_CUDA:
      return "ATTN_CUDA";
    case ATTN_OPENCL:
      return "ATTN_OPENCL";
    default:
      return "ATTN_CPU";
  }
}

// What processors and devices must have for the code of kernels.
std::string targets_table(const std::vector<std::string>& targets) {
  std::string rows;
  for (const std::string& name : targets) {
    const target::Target& t = target::named(name);
    rows += fmt::format("  {{{}, {}, {}, {{{:#x}}}}},\n", quoted(name), device_name(t.device),
                        t.capability, fmt::join(t.features, ", "));
  }
  return fmt::format("static const attn_target targets[] = {{\n{}}};\n", rows);
}

// Declares the code of a kernel.
std::string code_macro(const std::vector<std::string>& targets) {
  std::string declared, listed;
  for (const std::string& target : targets) {
    const std::string symbol = fmt::format("k##{}_argv", target::named(target).tail);
    declared += fmt::format("{}{}(void**)", declared.empty() ? "" : ", ", symbol);
    listed += (listed.empty() ? "" : ", ") + symbol;
  }
  return fmt::format("#define CODE(k) int {}; static const attn_kernel_code k[] = {{{}}};\n",
                     declared, listed);
}

// Lists the models of a shared library, where no two files' can meet.
std::string index_of(const std::string& stem, const std::vector<Interface>& interfaces) {
  std::string cases;
  for (size_t k = 0; k < interfaces.size(); ++k)
    cases += fmt::format("    case {}: return {}_model();\n", k, interfaces[k].model);
  return fmt::format(
      "#include \"{}.h\"\n#include <attn/describe.h>\n"
      "const attn_model* attn_library_model(int32_t k) {{\n"
      "  switch (k) {{\n{}    default: return 0;\n  }}\n}}\n",
      stem, cases);
}

}  // namespace

std::string title(const plan::Function& f, const plan::Kernel& kernel) {
  std::string text = plan::kind_of(kernel.form).name;
  for (ir::TensorId t : kernel.writes) text += " " + f.graph[t].name;
  return text;
}

Library emit_library(const std::string& stem, const std::vector<ModelPlan>& models,
                     const std::vector<std::string>& targets) {
  Library library{.stem = stem};
  std::vector<Interface> interfaces;
  for (const ModelPlan& m : models) interfaces.push_back(interface_of(m.plan));
  library.header = write_header(stem, models, interfaces);
  library.index = index_of(stem, interfaces);
  library.tables = fmt::format(
      "/* {0}.c - the tables of {0}.attn, written by attnc in the words of attn/tables.h.\n"
      " * Compile it with the runtime's headers; {0}.a holds it compiled. */\n"
      "#include \"{0}.h\"\n\n#include <attn/tables.h>\n\n{1}{2}",
      stem, targets_table(targets), code_macro(targets));
  Symbols symbols;
  std::map<std::string, std::string> first;  // signature -> the symbol of the first such kernel
  std::vector<std::string> codes;
  auto add = [&](const plan::Function& f, const std::vector<plan::Kernel>& kernels) {
    for (const plan::Kernel& kernel : kernels) {
      auto [it, is_new] = first.try_emplace(signature(f, kernel), kernel.name);
      symbols[&kernel] = it->second;
      if (!is_new) continue;
      for (const bool few_rows : {false, true}) {
        if (few_rows && !plan::few_rows_of(f.graph, kernel.form)) continue;
        const std::string symbol = kernel.name + (few_rows ? kFewRowsTail : "");
        codes.push_back(fmt::format("CODE({})", symbol));
        for (const std::string& target : targets)
          library.objects.push_back(
              {&f, &kernel, target, symbol + std::string(target::named(target).tail), few_rows});
      }
    }
  };
  for (const ModelPlan& m : models) {
    for (const plan::Function* f : plan::functions(m.plan)) {
      add(*f, f->checks);
      add(*f, f->kernels);
    }
    if (!m.step) continue;
    for (const plan::Function* f : plan::functions(*m.step)) add(*f, f->kernels);
  }
  library.tables += wrapped(codes, "", kTableWidth);
  for (size_t k = 0; k < models.size(); ++k) {
    const ModelPlan& m = models[k];
    library.tables += fmt::format("\n/* ---- {} */\n\n", interfaces[k].model);
    library.tables +=
        write_tables(m.plan, m.step ? &*m.step : nullptr, m.source_hash, interfaces[k], symbols);
    library.tables += write_exported(m, interfaces[k]);
  }
  return library;
}

}  // namespace attn::emit
