// A LaTeX article; needs amsmath, longtable, geometry and TikZ, which every distribution has.
#include <fmt/format.h>

#include "compiler/report/counts.h"
#include "compiler/report/report.h"

namespace attn::report {
namespace {

// Text outside formulas.
std::string plain(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (std::string_view("_&%#${}").find(c) != std::string_view::npos)
      result += std::string("\\") + c;
    else if (c == '\\')
      result += "\\textbackslash{}";
    else if (c == '~' || c == '^')
      result += fmt::format("\\{}{{}}", c);
    else if (c == '<' || c == '>' || c == '|')
      result += fmt::format("${}$", c);
    else
      result += c;
  }
  return result;
}

std::string code(std::string_view text) { return "\\texttt{" + plain(text) + "}"; }

// Words with formulas between dollars.
std::string rich(std::string_view text) {
  std::string result;
  for (bool formula = false; !text.empty(); formula = !formula) {
    const size_t end = text.find('$');
    const std::string_view part = text.substr(0, end);
    result += formula ? fmt::format("${}$", part) : plain(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + code(w);
  return text;
}

std::string aligned(const Formula& f) {
  std::string text = fmt::format("  {} &= {}", f.left, f.right);
  if (!f.condition.empty()) text += fmt::format(" && {}", f.condition);
  return text;
}

std::string aligned(const std::vector<Formula>& formulas) {
  std::string lines;
  for (const Formula& f : formulas) lines += (lines.empty() ? "" : " \\\\\n") + aligned(f);
  return fmt::format("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines);
}

std::string inline_formula(const Formula& f) {
  std::string text = fmt::format("${}$", equation(f));
  if (!f.condition.empty()) text += fmt::format(" where ${}$", f.condition);
  return text;
}

std::string counted(const Count& c, std::string (*unit)(double)) {
  std::string text = fmt::format("${}$", c.tex);
  if (c.value && c.is_constant) return plain(unit(*c.value));
  if (c.value) return text + " = " + plain(unit(*c.value));
  return c.partly.empty() ? text : fmt::format("{} = ${}$", text, c.partly);
}

std::string table(const char* columns, const char* heads, const std::string& rows) {
  return fmt::format(
      "{{\\small\\begin{{longtable}}{{{}}}\n{} \\\\ \\hline\\endhead\n{}\\end{{longtable}}}}\n",
      columns, heads, rows);
}

std::string graph(const Drawing& d) {
  const Layout& l = d.layout;
  std::string parts;
  auto rectangle = [&](const char* style, Point p, double width, double height) {
    parts += fmt::format("\\draw[{}] ({:.1f},{:.1f}) rectangle ({:.1f},{:.1f});\n", style, p.x,
                         -p.y, p.x + width, -(p.y + height));
  };
  auto words = [&](double x, double y, const char* style, const std::string& text) {
    if (!text.empty())
      parts += fmt::format("\\node[{}] at ({:.1f},{:.1f}) {{{}}};\n", style, x, -y, code(text));
  };
  for (size_t k = 0; k < l.groups.size(); ++k) {
    const Group& g = l.groups[k];
    rectangle("gray,rounded corners=2pt", g.corner, g.width, g.height);
    words(g.corner.x + 6, g.corner.y + 11, "anchor=west,gray", d.titles[k]);
  }
  for (const Edge& e : l.edges) {
    parts += fmt::format("\\draw[->] ({:.1f},{:.1f})", e.points[0].x, -e.points[0].y);
    for (size_t k = 1; k < e.points.size(); ++k) {
      const Point a = e.points[k - 1], b = e.points[k];
      const double middle = -(a.y + b.y) / 2;
      parts += a.x == b.x ? fmt::format(" -- ({:.1f},{:.1f})", b.x, -b.y)
                          : fmt::format(
                                " .. controls ({:.1f},{:.1f}) and ({:.1f},{:.1f}) .. "
                                "({:.1f},{:.1f})",
                                a.x, middle, b.x, middle, b.x, -b.y);
    }
    parts += ";\n";
  }
  for (size_t k = 0; k < l.nodes.size(); ++k) {
    const Node& n = l.nodes[k];
    const Box& b = d.boxes[k];
    const char* style = b.look == "tile"     ? "fill=yellow!12,dashed"
                        : b.look == "inline" ? "fill=white,dotted"
                        : b.look == "input"  ? "fill=blue!8"
                        : b.look == "output" ? "fill=green!10,thick"
                                             : "fill=white";
    rectangle(style, n.corner, n.width, n.height);
    double y = n.corner.y + 12;
    for (const std::string* line : {&b.title, &b.detail, &b.with}) {
      words(n.corner.x + n.width / 2, y, "", *line);
      y += line->empty() ? 0 : 16;
    }
  }
  // As wide as the page, or as high.
  const char* size = l.height > 1.35 * l.width ? "!}{0.9\\textheight" : "\\textwidth}{!";
  return fmt::format(
      "\\begin{{center}}\\resizebox*{{{}}}{{%\n\\begin{{tikzpicture}}[x=1pt,y=1pt,font=\\small]\n"
      "{}\\end{{tikzpicture}}}}\n\\end{{center}}\nDashed: in tiles only, never stored; dotted: "
      "computed where it is read.\n",
      size, parts);
}

std::string derivative(const Derivative& d) {
  std::vector<Formula> formulas;
  std::string rules, steps;
  for (const Line& l : d.lines) {
    formulas.push_back(l.formula);
    for (const std::string& r : l.rules)
      rules += fmt::format("\\item ${}$: {}.\n", l.formula.left, rich(r));
  }
  for (const Step& s : d.steps) {
    if (s.pass == "derive") continue;
    std::string changes;
    for (const Change& c : s.changes) {
      if (c.before) changes += fmt::format("\\item[$-$] {}\n", inline_formula(*c.before));
      if (c.after) changes += fmt::format("\\item[$+$] {}\n", inline_formula(*c.after));
    }
    steps += fmt::format("\\item \\textbf{{{}}}: {}\n\\begin{{itemize}}\n{}\\end{{itemize}}\n",
                         plain(s.pass), plain(s.brief), changes);
  }
  std::string text = fmt::format("\\subsection*{{{}}}\n", d.what) + aligned(formulas);
  if (!rules.empty()) text += "\\paragraph{Rules}\n\\begin{itemize}\n" + rules + "\\end{itemize}\n";
  if (!steps.empty())
    text += "\\paragraph{Rewrites}\n\\begin{enumerate}\n" + steps + "\\end{enumerate}\n";
  return text;
}

std::string costs(const ModelReport& m) {
  std::string text = "\\subsection*{Parameters, operations, memory}\n", rows;
  for (const Parameter& p : m.parameters)
    rows += fmt::format("{} & {} & {} \\\\\n", code(p.name), code(p.shape),
                        counted(p.count, number_text));
  if (!rows.empty())
    text += table(
        "lll", "parameter & shape & numbers",
        rows + fmt::format("\\hline all & & {} \\\\\n", counted(m.parameter_count, number_text)));
  rows.clear();
  for (const FunctionReport& f : m.functions) {
    rows += fmt::format("{} & operations & {} & $O\\left({}\\right)$ \\\\\n", plain(f.name),
                        counted(f.operations, number_text), f.order);
    if (f.name == "forward" && m.functions.size() > 1)
      rows += fmt::format(" & saved, bytes & {} & \\\\\n", counted(f.saved, bytes_text));
    rows += fmt::format(" & workspace, bytes & {} & \\\\\n", counted(f.workspace, bytes_text));
  }
  text += table("llp{0.5\\textwidth}l", "function & & formula & grows like", rows);
  for (const FunctionReport& f : m.functions) {
    rows.clear();
    for (const KernelLine& k : f.kernels)
      rows += fmt::format("{} & {}{} & {} & ${}$ \\\\\n", plain(k.kind), list(k.writes),
                          k.tiles.empty() ? "" : "; tiles " + list(k.tiles), list(k.reads),
                          k.operations.tex);
    text += fmt::format("\\subsection*{{Plan: {}}}\n", plain(f.name)) +
            table("lp{0.28\\textwidth}p{0.24\\textwidth}p{0.3\\textwidth}",
                  "kernel & computes & reads & operations", rows);
  }
  return text;
}

std::string model(const ModelReport& m) {
  std::string text = fmt::format("\\section{{{}}}\n", plain(m.name));
  if (!m.doc.empty()) text += plain(m.doc) + "\n\n";
  text += fmt::format("From {} to {}.\n", m.inputs.empty() ? "no input" : list(m.inputs),
                      list(m.outputs));
  text += "\\subsection*{The model}\n";
  for (const Section& s : m.sections) {
    if (!s.title.empty()) text += fmt::format("\\paragraph{{{}}}\n", code(s.title));
    text += aligned(s.formulas);
  }
  text += "\\subsection*{Computation graph}\n" + graph(m.drawing);
  if (!m.chains.empty()) text += "\\subsection*{Chain rule}\n";
  for (const Chain& c : m.chains) {
    text += fmt::format("\\[ {} \\]\n", c.local);
    if (!c.expanded.empty()) text += fmt::format("\\[ {} \\]\n", c.expanded);
  }
  for (const Derivative& d : m.derivatives) text += derivative(d);
  return text + costs(m);
}

}  // namespace

std::string article(const Report& r) {
  std::string text = fmt::format(
      "\\documentclass[10pt]{{article}}\n\\usepackage[T1]{{fontenc}}\n\\usepackage[margin=2cm]"
      "{{geometry}}\n\\usepackage{{amsmath,longtable,tikz}}\n\\allowdisplaybreaks\n\\title{{{}}}\n"
      "\\date{{attnc {}}}\n\\begin{{document}}\n\\maketitle\n",
      code(r.file), r.version);
  for (const ModelReport& m : r.models) text += model(m);
  return text + "\\end{document}\n";
}

}  // namespace attn::report
