// The page: well-formed XML that is HTML too, with everything in it.
#include "compiler/report/html.h"

#include <fmt/format.h>

#include "compiler/report/counts.h"
#include "compiler/report/drawing.h"
#include "compiler/report/mathml.h"
#include "compiler/report/style.h"

namespace attn::report {
namespace {

struct Chapter {
  const char* anchor;
  const char* title;
};
constexpr Chapter kModel{"model", "The model"}, kGraph{"graph", "Computation graph"},
    kChains{"chain", "Chain rule"}, kCosts{"costs", "Parameters, operations, memory"},
    kPlan{"plan", "Plan"};

// Of a block in a long model.
constexpr size_t kManyFormulas = 30;

std::string anchor(size_t model, std::string_view chapter) {
  return fmt::format("m{}-{}", model, chapter);
}

std::string heading(size_t model, const Chapter& c) {
  return fmt::format("<h3 id=\"{}\">{}</h3>\n", anchor(model, c.anchor), c.title);
}

std::string header(const ModelReport& m, size_t number) {
  std::string text =
      fmt::format("<h2 id=\"{}\">{}</h2>\n", anchor(number, "top"), escaped_xml(m.name));
  if (!m.doc.empty()) text += fmt::format("<p class=\"doc\">{}</p>\n", escaped_xml(m.doc));
  auto list = [](const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& w : words)
      all += fmt::format("{}<code>{}</code>", all.empty() ? "" : ", ", escaped_xml(w));
    return all;
  };
  text += fmt::format("<p>From {} to {}.</p>\n", m.inputs.empty() ? "no input" : list(m.inputs),
                      list(m.outputs));
  std::vector<std::string> sizes;
  for (const SizeLine& s : m.sizes) sizes.push_back(fmt::format("{}: {}", s.name, s.value));
  if (!sizes.empty()) text += fmt::format("<p class=\"soft\">Sizes {}.</p>\n", list(sizes));
  return text;
}

// The few figures that one looks for first.
std::string glance(const ModelReport& m) {
  auto card = [](const std::string& what, const std::string& value) {
    return fmt::format("<div><span class=\"soft\">{}</span><b>{}</b></div>\n", what, value);
  };
  auto known = [](const Count& c) {
    return mathml(c.partly.empty() ? c.formula : c.partly, c.text);
  };
  auto bytes = [&](const Count& c) { return c.value ? bytes_text(*c.value) : known(c) + " bytes"; };
  const Count& all = m.parameter_count;
  std::string cards = card("parameters", all.value ? number_text(*all.value) : known(all));
  for (const FunctionReport& f : m.functions) {
    cards += card(f.name + ", operations",
                  f.operations.value ? number_text(*f.operations.value) : big_o(f.order));
    if (f.kind == plan::FunctionKind::forward && m.functions.size() > 1)
      cards += card("saved for backward", bytes(f.saved));
    cards += card(f.name + ", workspace", bytes(f.workspace));
  }
  return "<div class=\"glance\">\n" + cards + "</div>\n";
}

// What a block defines, without its name: "q, k, v".
std::string defined_in(const Section& s) {
  std::string text;
  for (const Formula& f : s.formulas) {
    const bool own = !s.title.empty() && f.name.starts_with(s.title + ".");
    text += (text.empty() ? "" : ", ") + f.name.substr(own ? s.title.size() + 1 : 0);
  }
  return text;
}

std::string model_formulas(const ModelReport& m, size_t number) {
  std::string text = heading(number, kModel);
  size_t count = 0;
  for (const Section& s : m.sections) count += s.formulas.size();
  for (const Section& s : m.sections) {
    std::string rows;
    for (const Formula& f : s.formulas) rows += row(f);
    rows = fmt::format("<div class=\"eqs\">\n{}</div>\n", rows);
    if (s.title.empty() && count <= kManyFormulas)
      text += rows;
    else
      text += fold(
          fmt::format("<span class=\"name\">{}</span> <span class=\"soft name\">{}</span>",
                      escaped_xml(s.title.empty() ? m.name : s.title), escaped_xml(defined_in(s))),
          rows, count <= kManyFormulas);
  }
  return text;
}

std::string legend(bool of_model) {
  std::string text = "<div class=\"legend\">";
  auto entry = [&](const char* look, const char* words) {
    text += fmt::format("<span><span class=\"mark {}\"></span>{}</span>", look, words);
  };
  entry("input", of_model ? "input" : "given cotangent or tangent");
  entry("stored", "stored in memory");
  entry("tile", "unmaterialised: in tiles only, never stored");
  entry("inline", "computed where it is read");
  entry("output", "output");
  text += fmt::format("<span class=\"with\">{}</span></div>\n",
                      of_model ? "parameters read" : "read of the forward pass, and parameters");
  return text;
}

std::string drawing(const Drawing& d, bool of_model) {
  return legend(of_model) +
         fmt::format(
             "<input type=\"checkbox\" class=\"full-size\" aria-label=\"full size\" /> "
             "<span class=\"soft\">full size</span>\n"
             "<div class=\"drawing\" tabindex=\"0\">\n{}</div>\n",
             svg(d));
}

std::string chapter_of_chains(const ModelReport& m, size_t number) {
  if (m.chains.empty()) return "";
  std::string rows;
  for (const Chain& c : m.chains) {
    rows += fmt::format("<div class=\"chain\" id=\"{}\"><div>{}</div>",
                        anchor(number, "chain-" + c.tensor), mathml(c.local));
    if (!c.expanded.empty()) rows += fmt::format("<div>{}</div>", mathml(c.expanded));
    rows += "</div>\n";
  }
  constexpr size_t kMany = 10;
  std::string text = heading(number, kChains);
  text +=
      "<p>How a function <i>f</i> of the outputs depends on each input and parameter: through "
      "everything that reads it. The second line of each puts the chain down to the outputs; the "
      "partial derivatives are worked out below.</p>\n";
  if (m.chains.size() <= kMany) return text + rows;
  return text + fold(fmt::format("{} inputs and parameters", m.chains.size()), rows, false);
}

std::string parameters_table(const ModelReport& m) {
  if (m.parameters.empty()) return "<p>The model has no parameters.</p>\n";
  std::string rows;
  for (const Parameter& p : m.parameters)
    rows += fmt::format(
        "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td>{}</td>"
        "<td class=\"n\">{}</td></tr>\n",
        escaped_xml(p.name), escaped_xml(p.shape), formula_of(p.count),
        value_of(p.count, number_text));
  rows += fmt::format(
      "<tr class=\"sum\"><td>all</td><td></td><td>{}</td><td class=\"n\">{}</td>"
      "</tr>\n",
      formula_of(m.parameter_count), value_of(m.parameter_count, number_text));
  const std::string table = fmt::format(
      "<div class=\"scroll\"><table><tr><th>parameter</th><th>shape</th><th>numbers</th><th "
      "class=\"n\"></th></tr>\n{}</table></div>\n",
      rows);
  constexpr size_t kMany = 24;
  if (m.parameters.size() <= kMany) return table;
  return fold(fmt::format("{} parameters", m.parameters.size()), table, false);
}

std::string costs(const ModelReport& m, size_t number) {
  std::string text = heading(number, kCosts) + "<h4>Parameters</h4>\n" + parameters_table(m);
  text +=
      "<h4>Operations and memory</h4>\n"
      "<p class=\"soft\">An addition or a multiplication is one operation; what a condition hides "
      "is counted too. <i>Saved</i> is what forward keeps for backward, <i>workspace</i> what a "
      "call needs besides.</p>\n";
  std::string rows;
  for (const FunctionReport& f : m.functions) {
    auto line = [&](const char* what, const Count& c, UnitText unit, const std::string& order) {
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}<br/><b>{}</b></td><td>{}</td></tr>\n",
                          f.name, what, formula_of(c), value_of(c, unit), order);
    };
    line("operations", f.operations, number_text, big_o(f.order));
    if (f.kind == plan::FunctionKind::forward && m.functions.size() > 1)
      line("saved, bytes", f.saved, bytes_text, "");
    line("workspace, bytes", f.workspace, bytes_text, "");
  }
  return text + fmt::format(
                    "<div class=\"scroll\"><table><tr><th>function</th><th></th><th>formula"
                    "</th><th>grows like</th></tr>\n{}</table></div>\n",
                    rows);
}

}  // namespace

std::string html(const Report& r) {
  std::string body, contents;
  for (size_t n = 0; n < r.models.size(); ++n) {
    const ModelReport& m = r.models[n];
    std::string items;
    auto item = [&](std::string_view at, std::string_view title) {
      items += fmt::format("<li><a href=\"#{}\">{}</a></li>", anchor(n, at), escaped_xml(title));
    };
    body += "<section>\n" + header(m, n) + glance(m) + model_formulas(m, n);
    item(kModel.anchor, kModel.title);
    body += heading(n, kGraph) + drawing(m.drawing, true);
    item(kGraph.anchor, kGraph.title);
    body += chapter_of_chains(m, n);
    if (!m.chains.empty()) item(kChains.anchor, kChains.title);
    for (const Derivative& d : m.derivatives) {
      body += fmt::format("<h3 id=\"{}\">{}</h3>\n", anchor(n, d.name), d.what) + derivation(d);
      if (d.drawing) body += fold("As a graph", drawing(*d.drawing, false), false);
      item(d.name, d.what);
    }
    body += costs(m, n);
    item(kCosts.anchor, kCosts.title);
    body += heading(n, kPlan);
    for (const FunctionReport& f : m.functions) body += plan_of(f);
    item(kPlan.anchor, kPlan.title);
    body += "</section>\n";
    contents += fmt::format("<li><a href=\"#{}\">{}</a><ul>{}</ul></li>\n", anchor(n, "top"),
                            escaped_xml(m.name), items);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<div class=\"page\">\n<nav aria-label=\"Contents\">\n"
      "<ul>\n{2}</ul>\n</nav>\n<main>\n<h1>{0}</h1>\n<p class=\"soft\">What attnc {3} makes of it."
      "</p>\n{4}<footer>Written by <code>attnc report</code>; nothing in this page is loaded from "
      "elsewhere.</footer>\n</main>\n</div>\n</body>\n</html>\n",
      escaped_xml(r.file), kStyle, contents, escaped_xml(r.version), body);
}

}  // namespace attn::report
