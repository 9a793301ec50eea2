#include "compiler/emit/emit.h"

#include <fmt/format.h>

#include "compiler/emit/model.h"
#include "compiler/emit/signature.h"
#include "compiler/target/target.h"

namespace attn::emit {

using namespace ir;

std::string c_type(Storage s) {
  switch (s) {
    case Storage::boolean:
      return "ATTN_BOOL";
    case Storage::i32:
      return "ATTN_I32";
    case Storage::f16:
      return "ATTN_F16";
    case Storage::bf16:
      return "ATTN_BF16";
    case Storage::f64:
      return "ATTN_F64";
    default:
      return "ATTN_F32";
  }
}

Start start_of(const Graph& g, TensorId parameter) {
  const Tensor& t = g[parameter];
  Start start{.a = t.init.a, .b = t.init.b};
  using Kind = Initialiser::Kind;
  switch (t.init.kind) {
    case Kind::zeros:
      start.init = "ATTN_INIT_ZEROS";
      break;
    case Kind::ones:
      start.init = "ATTN_INIT_ONES";
      break;
    case Kind::constant:
      start.init = "ATTN_INIT_CONSTANT";
      break;
    case Kind::normal:
      start.init = "ATTN_INIT_NORMAL";
      break;
    case Kind::uniform:
      start.init = "ATTN_INIT_UNIFORM";
      break;
    case Kind::xavier:
      start.init = "ATTN_INIT_XAVIER";
      break;
    case Kind::orthogonal:
      start.init = "ATTN_INIT_ORTHOGONAL";
      break;
    case Kind::automatic:
      start.init = t.extents.size() <= 1 ? "ATTN_INIT_ZEROS" : "ATTN_INIT_XAVIER";
  }
  for (const Definition& d : g.definitions) {
    if (!reads(d).count(parameter)) continue;
    std::set<IndexId> reduced(d.reduced.begin(), d.reduced.end());
    visit(d.body, [&](const Expr& e) {
      if (e.is(ir::Kind::read) && e->tensor == parameter)
        for (size_t k = 0; k < e.args().size(); ++k)
          for (IndexId i : indices(e.args()[k]))
            if (reduced.count(i)) start.fan_in |= uint64_t{1} << k;
      return true;
    });
    break;
  }
  return start;
}

namespace {

std::string product(std::string text, const Graph& g, TensorId t) {
  for (const Poly& extent : g[t].extents) {
    std::string e = c_extent(g, extent);
    bool simple = e.find_first_of(" /") == std::string::npos;
    if (!simple) e = "(" + e + ")";
    text = text == "1" ? e : text + " * " + e;
  }
  return text;
}

}  // namespace

std::string element_count(const Graph& g, TensorId t) { return product("1", g, t); }

std::string byte_size(const Graph& g, TensorId t) {
  return product(std::to_string(plan::element_bytes(g[t].storage) * (g[t].split ? 2 : 1)), g, t);
}

namespace {

// Whether a function of the plan takes or gives a derivative by this tensor, or of it.
bool is_derived(const plan::Plan& plan, TensorId t) {
  const Graph& g = plan.forward_graph;
  if (!is_real(arithmetic_type(g[t].storage))) return false;
  for (const auto* f : {&plan.backward, &plan.jvp, &plan.hvp}) {
    if (!*f) continue;
    if (!is_argument(g[t].role)) return true;
    for (const Output& o : (*f)->graph.outputs)
      if ((*f)->graph[o.tensor].companion_of == t) return true;
    for (const Tensor& other : (*f)->graph.tensors)
      if (other.role == Role::tangent && other.companion_of == t) return true;
  }
  return false;
}

}  // namespace

Interface interface_of(const plan::Plan& plan) {
  const Graph& g = plan.forward_graph;
  Interface result{.model = identifier(plan.model), .sizes = run_time_sizes(g)};
  auto add = [&](std::vector<Argument>& group, TensorId t, const std::string& name) {
    Argument a{.tensor = t, .name = name};
    a.differentiable = is_derived(plan, t);
    group.push_back(a);
  };
  for (size_t k = 0; k < g.tensors.size(); ++k) {
    TensorId t{static_cast<int32_t>(k)};
    if (g[t].role == Role::parameter) add(result.params, t, g[t].name);
    if (g[t].role == Role::input) add(result.inputs, t, g[t].name);
  }
  for (const Output& o : g.outputs) add(result.outputs, o.tensor, o.name);
  for (auto* group : {&result.params, &result.inputs, &result.outputs}) {
    std::vector<std::string> names;
    for (const Argument& a : *group) names.push_back(a.name);
    names = identifiers(names);
    for (size_t k = 0; k < group->size(); ++k) (*group)[k].field = names[k];
  }
  for (const plan::Function& f : plan.probes)
    result.probes.push_back("probe_" + f.graph.outputs.at(0).name);
  result.probes = identifiers(result.probes);
  return result;
}

Library emit_library(const std::string& stem, const std::vector<ModelPlan>& models,
                     const std::vector<std::string>& targets) {
  Library library{.stem = stem};
  std::vector<Interface> interfaces;
  for (const ModelPlan& m : models) {
    interfaces.push_back(interface_of(m.plan));
    interfaces.back().timed = m.timed;
  }
  library.header = write_header(stem, models, interfaces);
  library.glue = fmt::format(
      "/* {0}.c - the glue of {0}.attn, written by attnc: checks, workspace, kernel calls in "
      "order.\n"
      " * Compile it with the runtime's headers; {0}.a holds it compiled. */\n"
      "#include \"{0}.h\"\n\n#include <attn/kernel.h>\n#include <attn/types.h>\n#include "
      "<math.h>\n#include <string.h>\n",
      stem);
  Symbols symbols;
  std::map<std::string, std::string> first;  // signature -> the symbol of the first such kernel
  auto add = [&](const plan::Function& f, const std::vector<plan::Kernel>& kernels) {
    for (const plan::Kernel& kernel : kernels) {
      auto [it, fresh] = first.try_emplace(signature(f, kernel), kernel.name);
      symbols[&kernel] = it->second;
      if (!fresh) continue;
      for (const std::string& target : targets)
        library.objects.push_back(
            {&f, &kernel, target, kernel.name + std::string(target::named(target).tail)});
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
  for (size_t k = 0; k < models.size(); ++k)
    library.glue += write_glue(models[k], interfaces[k], symbols, targets);
  return library;
}

}  // namespace attn::emit
