// The report as Markdown: formulas between dollars, tables for what is counted.
#include <fmt/format.h>

#include "compiler/report/counts.h"
#include "compiler/report/report.h"

namespace attn::report {
namespace {

std::string dollars(const std::string& tex) { return "$" + tex + "$"; }

std::string formula(const Formula& f) {
  std::string text = dollars(equation(f));
  if (!f.condition.empty()) text += ", where " + dollars(f.condition);
  return text;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + code(w);
  return text;
}

std::string counted(const Count& c, std::string (*unit)(double)) {
  std::string text = dollars(c.tex);
  if (c.value && c.is_constant) return unit(*c.value);
  if (c.value) return text + " = " + unit(*c.value);
  return c.partly.empty() ? text : text + " = " + dollars(c.partly);
}

std::string big_o(const std::string& order) { return dollars("O(" + order + ")"); }

std::string table(std::initializer_list<const char*> heads) {
  std::string first = "|", second = "|";
  for (const char* head : heads) {
    first += fmt::format(" {} |", head);
    second += " --- |";
  }
  return first + "\n" + second + "\n";
}

std::string changes(const std::vector<Change>& all, const char* indent) {
  std::string text;
  for (const Change& c : all) {
    if (c.before && c.after)
      text += fmt::format("{}- {}\n{}  becomes {}\n", indent, formula(*c.before), indent,
                          formula(*c.after));
    else if (c.after)
      text += fmt::format("{}- new: {}\n", indent, formula(*c.after));
    else
      text += fmt::format("{}- gone: {}\n", indent, formula(*c.before));
  }
  return text;
}

std::string model(const ModelReport& m) {
  std::string text = fmt::format("## {}\n\n", m.name);
  if (!m.doc.empty()) text += m.doc + "\n\n";
  text += fmt::format("From {} to {}.", m.inputs.empty() ? "no input" : list(m.inputs),
                      list(m.outputs));
  std::vector<std::string> sizes;
  for (const SizeLine& s : m.sizes) sizes.push_back(fmt::format("{}: {}", s.name, s.value));
  if (!sizes.empty()) text += fmt::format(" Sizes {}.", list(sizes));
  text += "\n\n### The model\n";
  for (const Section& s : m.sections) {
    text += s.title.empty() ? "\n" : fmt::format("\n#### {}\n\n", code(s.title));
    for (const Formula& f : s.formulas) text += "- " + formula(f) + "\n";
  }
  return text;
}

std::string graph(const Drawing& d) {
  std::string text =
      "\n### Computation graph\n\n" + table({"quantity", "computed by", "from", "with", "place"});
  for (size_t k = 0; k < d.boxes.size(); ++k) {
    std::vector<std::string> from;
    for (const Edge& e : d.layout.edges)
      if (e.to == static_cast<int>(k)) from.push_back(d.boxes[e.from].name);
    const Box& b = d.boxes[k];
    const size_t space = b.title.find(' ');
    const std::string shape = space == std::string::npos ? "" : b.title.substr(space);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", code(b.name + shape), b.detail, list(from),
                        code(b.with),
                        b.look == "tile"       ? "tiles only"
                        : b.look == "function" ? ""
                                               : b.look);
  }
  return text;
}

std::string chains(const ModelReport& m) {
  if (m.chains.empty()) return "";
  std::string text =
      "\n### Chain rule\n\nFor any function $f$ of the outputs, through everything that reads a "
      "quantity:\n\n";
  for (const Chain& c : m.chains) {
    text += "- " + dollars(c.local) + "\n";
    if (!c.expanded.empty()) text += "  and down to the outputs " + dollars(c.expanded) + "\n";
  }
  return text;
}

std::string derivative(const Derivative& d) {
  std::string text = fmt::format("\n### {}\n", d.what);
  if (d.name == "gradient")
    text += "\n$\\mathrm{d}x$ stands for $\\partial f/\\partial x$. Results are marked (result).\n";
  std::string block;
  bool first = true;
  for (const Line& l : d.lines) {
    if (first || l.block != block)
      text += l.block.empty() ? "\n" : fmt::format("\n#### {}\n\n", code(l.block));
    first = false;
    block = l.block;
    text += fmt::format("- {}{}\n", formula(l.formula), l.is_output ? " (result)" : "");
    for (const std::string& r : l.rules) text += fmt::format("  - {}\n", r);
    for (const auto& [pass, made] : l.passes)
      if (pass != "derive")
        text += fmt::format("  - {} {} it\n", pass, made.before ? "rewrote" : "made");
  }
  text += "\n#### Step by step\n\n";
  for (size_t k = 0; k < d.steps.size(); ++k)
    text += fmt::format("{}. **{}**: {}\n{}", k + 1, d.steps[k].pass, d.steps[k].brief,
                        changes(d.steps[k].changes, "   "));
  return text;
}

std::string costs(const ModelReport& m) {
  std::string text = "\n### Parameters, operations, memory\n\n";
  if (!m.parameters.empty()) {
    text += table({"parameter", "shape", "numbers"});
    for (const Parameter& p : m.parameters)
      text += fmt::format("| {} | {} | {} |\n", code(p.name), code(p.shape),
                          counted(p.count, number_text));
    text += fmt::format("| all | | {} |\n\n", counted(m.parameter_count, number_text));
  }
  text += table({"function", "", "formula", "grows like"});
  for (const FunctionReport& f : m.functions) {
    text += fmt::format("| {} | operations | {} | {} |\n", f.name,
                        counted(f.operations, number_text), big_o(f.order));
    if (f.name == "forward" && m.functions.size() > 1)
      text += fmt::format("| | saved, bytes | {} | |\n", counted(f.saved, bytes_text));
    text += fmt::format("| | workspace, bytes | {} | |\n", counted(f.workspace, bytes_text));
  }
  return text;
}

std::string plan(const ModelReport& m) {
  std::string text = "\n### Plan\n";
  for (const FunctionReport& f : m.functions) {
    text += fmt::format("\n#### {}\n\n", f.name) +
            table({"", "kernel", "computes", "in tiles", "reads", "operations", "grows like"});
    int number = 0;
    for (const KernelLine& k : f.kernels)
      text += fmt::format("| {} | {} | {}{} | {} | {} | {} | {} |\n", ++number, k.kind,
                          list(k.writes), k.repair ? " (only where data is not finite)" : "",
                          list(k.tiles), list(k.reads), dollars(k.operations.tex), big_o(k.order));
    text += "\n" + table({"tensor", "shape", "place", "bytes"});
    for (const Stored& s : f.tensors)
      text += fmt::format("| {} | {} | {} | {} |\n", code(s.name), code(s.shape), s.place,
                          s.in_memory ? counted(s.bytes, bytes_text) : "");
  }
  return text;
}

}  // namespace

std::string markdown(const Report& r) {
  std::string text = fmt::format("# {}\n\nWhat attnc {} makes of it.\n\n", r.file, r.version);
  for (size_t k = 0; k < r.models.size(); ++k) {
    const ModelReport& m = r.models[k];
    text += (k ? "\n" : "") + model(m) + graph(m.drawing) + chains(m);
    for (const Derivative& d : m.derivatives) text += derivative(d);
    text += costs(m) + plan(m);
  }
  return text;
}

}  // namespace attn::report
