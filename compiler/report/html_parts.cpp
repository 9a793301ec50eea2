#include <fmt/format.h>

#include "compiler/report/html.h"
#include "compiler/report/mathml.h"

namespace attn::report {

using text::Math;

namespace {

std::string math(const Formula& f) { return mathml(equation(f), f.text); }

std::string where(const Formula& f) {
  if (f.condition.empty()) return "";
  return fmt::format(" <span class=\"soft\" aria-hidden=\"true\">where {}</span>",
                     mathml(f.condition));
}

std::string change(const Change& c) {
  std::string text;
  if (c.before)
    text += fmt::format("<div class=\"old\"><span class=\"sign\">−</span>{}{}</div>",
                        math(*c.before), where(*c.before));
  if (c.after)
    text += fmt::format("<div class=\"new\"><span class=\"sign\">+</span>{}{}</div>",
                        math(*c.after), where(*c.after));
  return fmt::format("<div class=\"change\">{}</div>\n", text);
}

std::string line(const Line& l) {
  std::string chips, why;
  for (const auto& [pass, made] : l.passes) {
    if (pass == "derive") continue;
    const std::string chip = fmt::format("<span class=\"chip\">{}</span>", escaped_xml(pass));
    if (chips.find(chip) == std::string::npos) chips += chip;
  }
  for (const std::string& r : l.rules) why += fmt::format("<li>{}</li>", r);
  if (!why.empty()) why = fmt::format("<ul>{}</ul>", why);
  for (const auto& [pass, made] : l.passes)
    why += fmt::format("<div><b>{}</b>{}</div>{}", escaped_xml(pass),
                       pass == "derive" ? " writes"
                       : made.before    ? " rewrites"
                                        : " makes",
                       change(made));
  return fmt::format("<details{}><summary>{}</summary><div class=\"why\">{}</div></details>\n",
                     l.is_output ? " class=\"result\"" : "", row_with(l.formula, chips), why);
}

std::string count_of(size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string names(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& name : list) text += (text.empty() ? "" : ", ") + escaped_xml(name);
  return fmt::format("<span class=\"name\">{}</span>", text);
}

}  // namespace

std::string row_with(const Formula& f, const std::string& more) {
  const std::string where = f.condition.empty() ? "" : mathml(f.condition);
  return fmt::format(
      "<span class=\"eq\"><span aria-hidden=\"true\">{}</span><span>{}</span><span{}>{}</span>"
      "<span class=\"more\">{}</span></span>\n",
      mathml(f.left, f.name), mathml(text::row({text::sign("="), f.right}), f.text),
      where.empty() ? "" : " class=\"where\" aria-hidden=\"true\"", where, more);
}

std::string row(const Formula& f) { return row_with(f, ""); }

std::string fold(const std::string& summary, const std::string& inside, bool open) {
  return fmt::format(
      "<details class=\"fold\"{}><summary>{}</summary><div class=\"inside\">\n{}</div></details>\n",
      open ? " open=\"open\"" : "", summary, inside);
}

std::string formula_of(const Count& c) { return mathml(c.formula, c.text); }

std::string value_of(const Count& c, UnitText unit) {
  if (c.value) return escaped_xml(unit(*c.value));
  return c.partly.empty() ? "" : mathml(text::row({text::sign("="), c.partly}));
}

std::string big_o(const Math& order) { return mathml(text::call(text::letters("O"), {order})); }

std::string derivation(const Derivative& d) {
  const bool gradient = d.kind == plan::FunctionKind::backward;
  const Math x = text::letters("x"), d_ = text::partial();
  std::string text = fmt::format(
      "<p>{} Open a line to see the rules that made it and the passes that changed it. Lines with "
      "a "
      "coloured edge are results.</p>\n",
      gradient ? mathml(text::row({text::upright("d"), x})) + " stands for " +
                     mathml(text::row({d_, text::letters("f"), text::sign("/"), d_, x})) + "."
               : "");
  std::string lines, block;
  for (const Line& l : d.lines) {
    if (l.block != block)
      lines += fmt::format("<div class=\"block name\">{}</div>\n",
                           escaped_xml(l.block.empty() ? "top level" : l.block));
    block = l.block;
    lines += line(l);
  }
  text += fmt::format("<div class=\"lines\">\n{}</div>\n", lines);
  std::string steps;
  for (size_t k = 0; k < d.steps.size(); ++k) {
    const Step& s = d.steps[k];
    std::string changes;
    for (const Change& c : s.changes) changes += change(c);
    steps +=
        fold(fmt::format("{}. {} <span class=\"soft\">{}; {}</span>", k + 1, escaped_xml(s.pass),
                         escaped_xml(s.brief), count_of(s.changes.size(), "line")),
             changes, false);
  }
  return text + fold(fmt::format("Step by step <span class=\"soft\">{} in which something changed"
                                 "</span>",
                                 count_of(d.steps.size(), "step")),
                     steps, false);
}

std::string plan_of(const FunctionReport& f) {
  std::string rows;
  int number = 0;
  for (const KernelLine& k : f.kernels) {
    std::string what = names(k.writes);
    if (!k.tiles.empty())
      what += fmt::format("<br/><span class=\"soft\">tiles</span> {}", names(k.tiles));
    std::string share;
    if (k.operations.value && f.operations.value && *f.operations.value > 0)
      share = fmt::format("{:.0f} %", 100 * *k.operations.value / *f.operations.value);
    rows += fmt::format(
        "<tr><td class=\"n\">{}</td><td title=\"{}\">{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>\n",
        ++number, escaped_xml(k.brief), escaped_xml(k.kind), what, names(k.reads),
        formula_of(k.operations), big_o(k.order), share);
  }
  std::string text = fmt::format(
      "<h4>{}: {}</h4>\n<div class=\"scroll\"><table><tr><th></th><th>kernel</th><th>computes</th>"
      "<th>reads</th><th>operations</th><th>grows like</th><th></th></tr>\n{}</table></div>\n",
      escaped_xml(f.name), count_of(f.kernels.size(), "kernel"), rows);
  std::string tensors;
  for (const Stored& s : f.tensors)
    tensors += fmt::format(
        "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td><span class=\"mark "
        "{}\"></span>"
        "{}</td><td>{}</td></tr>\n",
        escaped_xml(s.name), escaped_xml(s.shape),
        s.in_memory        ? "stored"
        : s.unmaterialised ? "tile"
                           : "inline",
        escaped_xml(s.place), s.in_memory ? formula_of(s.bytes) : "");
  return text +
         fold(fmt::format("Where the {} are", count_of(f.tensors.size(), "tensor")),
              fmt::format("<div class=\"scroll\"><table><tr><th>tensor</th><th>shape</th><th>"
                          "place</th><th>bytes</th></tr>\n{}</table></div>\n",
                          tensors),
              false);
}

}  // namespace attn::report
