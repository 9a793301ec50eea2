// A drawing as SVG; colours are the page's, by class.
#include <fmt/format.h>

#include "compiler/report/drawing.h"
#include "compiler/report/mathml.h"

namespace attn::report {
namespace {

std::string path(const std::vector<Point>& points) {
  std::string d = fmt::format("M{:.1f} {:.1f}", points[0].x, points[0].y);
  for (size_t k = 1; k < points.size(); ++k) {
    const Point a = points[k - 1], b = points[k];
    const double middle = (a.y + b.y) / 2;
    if (a.x == b.x)
      d += fmt::format("V{:.1f}", b.y);
    else
      d += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, middle, b.x, middle, b.x,
                       b.y);
  }
  return d;
}

std::string box(const Node& n, const Box& b) {
  constexpr double kLine = 16;
  std::string lines;
  double y = n.corner.y + 16;
  auto line = [&](const std::string& text, const char* kind) {
    if (text.empty()) return;
    lines += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kind,
                         n.corner.x + n.width / 2, y, escaped_xml(text));
    y += kLine;
  };
  line(b.title, "title");
  line(b.detail, "detail");
  line(b.with, "with");
  return fmt::format(
      "<g class=\"box {}\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\" rx=\"5\"/>{}</g>\n",
      b.look, escaped_xml(b.hint), n.corner.x, n.corner.y, n.width, n.height, lines);
}

}  // namespace

std::string svg(const Drawing& drawing) {
  const Layout& l = drawing.layout;
  std::string parts;
  for (size_t k = 0; k < l.groups.size(); ++k) {
    const Group& g = l.groups[k];
    parts += fmt::format(
        "<g class=\"group\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"8\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
        g.corner.x, g.corner.y, g.width, g.height, g.corner.x + 10, g.corner.y + 15,
        escaped_xml(drawing.titles[k]));
  }
  for (const Edge& e : l.edges)
    parts +=
        fmt::format("<path class=\"edge\" d=\"{}\"><title>{} → {}</title></path>\n", path(e.points),
                    escaped_xml(drawing.boxes[e.from].name), escaped_xml(drawing.boxes[e.to].name));
  // The head of each arrow, pointing down.
  for (const Edge& e : l.edges) {
    const Point end = e.points.back();
    parts +=
        fmt::format("<path class=\"head\" d=\"M{0:.1f} {1:.1f}l-3.5 -6h7z\"/>\n", end.x, end.y);
  }
  for (size_t k = 0; k < l.nodes.size(); ++k) parts += box(l.nodes[k], drawing.boxes[k]);
  return fmt::format(
      "<svg class=\"graph\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n{3}</svg>\n",
      l.width, l.height, escaped_xml(drawing.caption), parts);
}

}  // namespace attn::report
