// A model as tables: its arguments, sizes, shapes and functions.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/base/check.h"
#include "compiler/emit/function.h"

namespace attn::emit {
namespace {

using namespace ir;

class TableWriter {
 public:
  TableWriter(const plan::Plan& plan, const plan::UpdatePlan* step, uint64_t source_hash,
              const Interface& i, const Symbols& symbols)
      : plan_(plan),
        step_(step),
        source_hash_(source_hash),
        g_(plan_.forward_graph),
        i_(i),
        symbols_(symbols),
        shared_(g_),
        values_(shared_.values, g_) {}

  std::string write() {
    for (const plan::Function* f : plan::functions(plan_))
      if (f->kind != plan::FunctionKind::probe) function(*f);
    probes();
    if (step_) {
      out_ += write_update(*step_, i_, symbols_);
      program_.push_back(fmt::format(".step = &{}_step_program,", i_.model));
    }
    description();
    program();
    return out_ + model_;
  }

 private:
  std::vector<std::string> arguments(const std::vector<Argument>& list) {
    std::vector<std::string> rows;
    for (const Argument& a : list) {
      const Tensor& t = g_[a.tensor];
      rows.push_back(t.role == Role::parameter
                         ? parameter(a, t)
                         : argument(values_, g_, t, a.name, a.differentiable));
    }
    return rows;
  }

  static std::string extents(const Graph& g, const Tensor& t) {
    std::string text;
    for (const Poly& p : t.extents)
      text += (text.empty() ? "" : ", ") + quoted(plan::poly_text(g, p));
    return fmt::format("{}, {{{}}}", t.extents.size(), text.empty() ? "0" : text);
  }

  std::string argument(GraphValues& values, const Graph& g, const Tensor& t,
                       const std::string& name, bool differentiable) {
    return fmt::format("ARGUMENT({}, {}, {}, {}, {})", quoted(name), c_type(t.storage),
                       shared_.shape(values, t), differentiable ? 1 : 0, extents(g, t));
  }

  std::string parameter(const Argument& a, const Tensor& t) {
    const std::string weight = weight_name(t);
    const std::string names = weight == a.name
                                  ? fmt::format("PARAM({}", quoted(a.name))
                                  : fmt::format("WEIGHT({}, {}", quoted(a.name), quoted(weight));
    const Start start = start_of(g_, a.tensor);
    return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {})", names, c_type(t.storage),
                       shared_.shape(values_, t), a.differentiable ? 1 : 0, c_start(start.kind),
                       start.a, start.b, start.fan_in, extents(g_, t));
  }

  // Where a size stands alone, or else one extent that is linear in it.
  std::vector<std::string> size_rules() {
    std::vector<std::string> list;
    std::set<SizeId> known;
    for (const bool alone : {true, false}) {
      for (size_t k = 0; k < i_.inputs.size(); ++k)
        read(i_.inputs[k], "INPUTS", k, alone, known, list);
      for (size_t k = 0; k < i_.params.size(); ++k)
        read(i_.params[k], "PARAMS", k, alone, known, list);
    }
    for (SizeId s : i_.sizes)
      ATTN_CHECK(known.count(s), "a size that no argument determines: " + g_[s].name);
    return list;
  }

  void read(const Argument& a, const char* group, size_t position, bool alone,
            std::set<SizeId>& known, std::vector<std::string>& list) {
    for (size_t k = 0; k < g_[a.tensor].extents.size(); ++k) {
      const Poly p = g_.expand(g_[a.tensor].extents[k]);
      const std::optional<SizeId> wanted = alone ? p.single() : unknown(p, known);
      if (!wanted || g_[*wanted].quotient || known.count(*wanted)) continue;
      Rational factor;
      for (const auto& [monomial, c] : p.terms())
        if (monomial == Monomial{{*wanted, 1}}) factor = c;
      const Poly rest = p - Poly::term({{*wanted, 1}}, factor);
      known.insert(*wanted);
      list.push_back(fmt::format("{{{}, ATTN_{}, {}, {}, {}, {}, {}}}", values_.of(*wanted), group,
                                 position, k, values_.entry(rest),
                                 factor.num < 0 ? -factor.den : factor.den, std::abs(factor.num)));
    }
  }

  // The one size in `p` that is not known, where `p` is linear in it.
  std::optional<SizeId> unknown(const Poly& p, const std::set<SizeId>& known) const {
    std::optional<SizeId> wanted;
    for (const auto& [monomial, c] : p.terms())
      for (auto [s, power] : monomial) {
        if (known.count(s)) continue;
        const bool linear = !g_[s].quotient && power == 1 && monomial.size() == 1;
        if (!linear || (wanted && *wanted != s)) return std::nullopt;
        wanted = s;
      }
    return wanted;
  }

  std::vector<std::string> divisions() {
    std::vector<std::string> list;
    for (const Size& s : g_.sizes) {
      if (s.value || !s.definition) continue;
      const Poly p = g_.expand(*s.definition);
      int64_t common = 1;
      for (const auto& [monomial, c] : p.terms()) common = std::lcm(common, c.den);
      if (common == 1) continue;
      list.push_back(fmt::format("{{{}, {}, {}, {}}}", values_.index(scale(p, {common, 1})), common,
                                 quoted(s.name), quoted(plan::poly_text(g_, *s.definition))));
    }
    return list;
  }

  std::vector<std::string> saved() {
    const plan::Function& f = plan_.forward;
    GraphValues values(shared_.values, f.graph);
    std::vector<std::string> list;
    for (TensorId t : f.saved)
      list.push_back(fmt::format("{{{}, {}, 0}}", c_type(f.graph[t].storage),
                                 shared_.shape(values, f.graph[t])));
    return list;
  }

  void function(const plan::Function& f) {
    const std::string name = fmt::format("{}_{}_function", i_.model, f.name);
    out_ += table("attn_function", name, function_members(plan_, f, i_, symbols_, shared_));
    program_.push_back(fmt::format(".{} = &{},", f.name, name));
  }

  void probes() {
    std::vector<std::string> functions, results;
    for (const plan::Function& f : plan_.probes) {
      std::string members;
      for (const std::string& m : function_members(plan_, f, i_, symbols_, shared_))
        members += (m.empty() || members.empty() ? "" : "\n  ") + m;
      functions.push_back("{" + members + "}");
      GraphValues values(shared_.values, f.graph);
      const Output& output = f.graph.outputs.at(0);
      results.push_back(argument(values, f.graph, f.graph[output.tensor], output.name, false));
    }
    if (functions.empty()) return;
    out_ += fmt::format("static const attn_function {}_probes[] = {{\n", i_.model);
    for (const std::string& f : functions) out_ += "  " + f + ",\n";
    out_ += "};\n";
    program_.push_back(fmt::format(".probes = {}_probes,", i_.model));
    probes_ = rows("attn_argument", "probes", results);
  }

  void program() {
    std::vector<std::string> bounds;
    for (SizeId s : i_.sizes)
      bounds.push_back(fmt::format("{{{}, {}}}", g_[s].lower, g_[s].upper.value_or(-1)));
    program_.push_back(rows("attn_local", "saved", saved()));
    program_.push_back(rows("attn_size_rule", "size_rules", size_rules()));
    program_.push_back(fmt::format(".size_bounds = {},", array("attn_size_bound", bounds)));
    program_.push_back(rows("attn_division", "divisions", divisions()));
    program_.push_back(rows("attn_shape", "shapes", shared_.shapes));
    const std::string values = shared_.values.write(i_.model + "_values");
    out_ += values + shared_.values.write_operations(i_.model + "_operations");
    program_.push_back(
        fmt::format("{}.n_values = {}, .n_operations = {}, .operations = {}_operations, TARGETS,",
                    values.empty() ? "" : fmt::format(".values = {}_values, ", i_.model),
                    shared_.values.count(), shared_.values.operations_count(), i_.model));
    out_ += table("attn_program", i_.model + "_program", program_);
  }

  static std::string array(const std::string& type, const std::vector<std::string>& list) {
    if (list.empty()) return "0";
    return fmt::format("(const {}[]){{{}}}", type, fmt::join(list, ", "));
  }

  std::string states() const {
    const auto count = std::ranges::count(i_.inputs, true, &Argument::is_state);
    return count ? fmt::format(".n_states = {},", count) : "";
  }

  static std::string has(const char* what, bool is_there) {
    return is_there ? fmt::format(".has_{} = 1,", what) : "";
  }

  void description() {
    std::vector<std::string> sizes;
    for (SizeId s : i_.sizes) sizes.push_back(quoted(g_[s].name));
    std::vector<std::string> members = {
        fmt::format("ATTN_ABI_VERSION, {}, {}u, .program = &{}_program,", quoted(plan_.model),
                    source_hash_, i_.model),
        has("backward", plan_.backward.has_value()),
        has("jvp", plan_.jvp.has_value()),
        has("hvp", plan_.hvp.has_value()),
        has("step", step_ != nullptr),
        fmt::format(".n_sizes = {}, .size_names = {},", sizes.size(), array("char* const", sizes)),
        rows("attn_argument", "inputs", arguments(i_.inputs)),
        states(),
        rows("attn_argument", "outputs", arguments(i_.outputs)),
        rows("attn_argument", "params", arguments(i_.params)),
        probes_};
    if (step_) {
      std::vector<std::string> options, states;
      for (const StepOption& o : step_->step.options)
        options.push_back(fmt::format("{{{}, {}}}", quoted(o.name), c_number(o.value)));
      for (const StepState& s : step_->step.states)
        states.push_back(fmt::format("{{{}, {}}}", quoted(s.name), c_number(s.value)));
      members.push_back(rows("attn_step_option", "step_options", options));
      members.push_back(rows("attn_step_state", "step_states", states));
    }
    model_ = table("attn_model", i_.model + "_description", members);
  }

  const plan::Plan& plan_;
  const plan::UpdatePlan* step_;
  uint64_t source_hash_;
  const Graph& g_;
  const Interface& i_;
  const Symbols& symbols_;
  Shared shared_;
  GraphValues values_;
  std::vector<std::string> program_;  // members of attn_program
  std::string out_, model_, probes_;
};

}  // namespace

std::string rows(const std::string& type, const std::string& field,
                 const std::vector<std::string>& list, bool one_a_line) {
  if (list.empty()) return {};
  std::vector<std::string> items = list;
  for (size_t k = 0; k + 1 < items.size(); ++k) items[k] += ",";
  std::string body;
  if (!one_a_line) {
    items[0] = fmt::format("ROWS({}, {}, {}", type, field, items[0]);
    body = wrapped(items, "    ", kTableWidth);
    return body.substr(4, body.size() - 5) + "),";
  }
  for (const std::string& item : items) body += "\n    " + item;
  return fmt::format("ROWS({}, {},{}),", type, field, body);
}

std::string table(const std::string& type, const std::string& name,
                  const std::vector<std::string>& members) {
  std::vector<std::string> given;
  std::copy_if(members.begin(), members.end(), std::back_inserter(given),
               [](const std::string& m) { return !m.empty(); });
  return fmt::format("static const {} {} = {{\n{}}};\n", type, name,
                     wrapped(given, "  ", kTableWidth));
}

std::string write_tables(const plan::Plan& plan, const plan::UpdatePlan* step, uint64_t source_hash,
                         const Interface& i, const Symbols& symbols) {
  return TableWriter(plan, step, source_hash, i, symbols).write();
}

}  // namespace attn::emit
