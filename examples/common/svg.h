// Pictures as SVG files: boxes, lines, text, a scale of colours, and line charts with axes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace example {

inline const char* const kInk = "#1b2a41";    // text and drawn lines
inline const char* const kFaint = "#d9dee5";  // grids and frames

// `printf` into a string.
template <class... Values>
std::string text_of(const char* format, Values... values) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {
    fill({0, 0, width, height}, "#ffffff");
  }

  void fill(const Box& box, const std::string& colour, double opacity = 1) {
    body_ += text_of(
        "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s' "
        "fill-opacity='%.3f'/>\n",
        box.x, box.y, box.width, box.height, colour.c_str(), opacity);
  }
  void frame(const Box& box, const std::string& colour, double width = 1) {
    body_ += text_of(
        "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='none' stroke='%s' "
        "stroke-width='%.2f'/>\n",
        box.x, box.y, box.width, box.height, colour.c_str(), width);
  }
  void line(const std::vector<std::pair<double, double>>& points, const std::string& colour,
            double width = 1) {
    body_ += "<polyline fill='none' stroke-linejoin='round' stroke='" + colour +
             "' stroke-width='" + text_of("%.2f", width) + "' points='";
    for (const auto& [x, y] : points) body_ += text_of("%.2f,%.2f ", x, y);
    body_ += "'/>\n";
  }
  // `anchor` is start, middle or end; y is the line on which the letters stand.
  void text(double x, double y, const std::string& words, double size = 12,
            const std::string& anchor = "start", bool bold = false, double turn = 0) {
    body_ += text_of(
        "<text x='%.2f' y='%.2f' font-size='%.1f' text-anchor='%s' "
        "font-weight='%s' transform='rotate(%.0f %.2f %.2f)'>",
        x, y, size, anchor.c_str(), bold ? "bold" : "normal", turn, x, y);
    for (const char c : words) {
      body_ += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
    }
    body_ += "</text>\n";
  }

  // What is drawn between begin_shape and end_shape is not shown there; place() shows it, moved by
  // (x, y), as often as one likes.
  void begin_shape(const std::string& id) { body_ += "<defs><g id='" + id + "'>\n"; }
  void end_shape() { body_ += "</g></defs>\n"; }
  void place(const std::string& id, double x, double y) {
    body_ += text_of("<use href='#%s' x='%.2f' y='%.2f'/>\n", id.c_str(), x, y);
  }

  bool save(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const std::string all =
        text_of(
            "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
            "viewBox='0 0 %.0f %.0f' font-family='Helvetica, Arial, sans-serif' fill='%s'>\n",
            width_, height_, width_, height_, kInk) +
        body_ + "</svg>\n";
    const bool written = std::fwrite(all.data(), 1, all.size(), file) == all.size();
    return std::fclose(file) == 0 && written;
  }

 private:
  double width_, height_;
  std::string body_;
};

// A colour for a part from 0 to 1 of the whole scale: white, yellow, orange, red.
inline std::string shade(double part) {
  static const double stops[4][3] = {
      {255, 255, 255}, {254, 224, 144}, {253, 160, 84}, {215, 72, 52}};
  const double at = std::clamp(part, 0.0, 1.0) * 3;
  const int below = std::min(static_cast<int>(at), 2);
  int colour[3];
  for (int k = 0; k < 3; ++k) {
    colour[k] = static_cast<int>(
        std::lround(stops[below][k] + (at - below) * (stops[below + 1][k] - stops[below][k])));
  }
  return text_of("#%02x%02x%02x", colour[0], colour[1], colour[2]);
}

// The scale of shade() with the values at its ends and its middle, to be read beside heat maps.
inline void colour_bar(Svg& svg, const Box& box, double low, double high,
                       const std::string& caption) {
  const int steps = 48;
  for (int k = 0; k < steps; ++k) {
    svg.fill(
        {box.x, box.y + box.height * (steps - 1 - k) / steps, box.width, box.height / steps + 0.5},
        shade((k + 0.5) / steps));
  }
  svg.frame(box, kFaint);
  for (const double part : {0.0, 0.5, 1.0}) {
    svg.text(box.x + box.width + 5, box.y + box.height * (1 - part) + 4,
             text_of("%.2g", low + part * (high - low)), 11);
  }
  svg.text(box.x + box.width + 44, box.y + box.height / 2, caption, 12, "middle", false, 90);
}

struct Series {
  std::string name, colour;
  std::vector<std::pair<double, double>> points;
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_y = false;
  std::vector<Series> series;
};

// Round numbers that divide the range into about five parts; on a logarithmic scale 1, 2 and 5
// times the powers of ten.
inline std::vector<double> ticks(double low, double high, bool logarithmic) {
  std::vector<double> result;
  if (logarithmic) {
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = digit * power;
        if (digit != 1 && high / low > 1e3) continue;
        if (value >= low * 0.999 && value <= high * 1.001) result.push_back(value);
      }
    }
    return result;
  }
  const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power > 5   ? 10
                               : rough / power > 2 ? 5
                               : rough / power > 1 ? 2
                                                   : 1);
  for (double k = std::ceil(low / step - 1e-6); k * step <= high + step * 1e-6; ++k) {
    result.push_back(k * step + 0.0);  // no -0
  }
  return result;
}

// The chart's plane fills the box; its labels stand left of and below it, about 65 wide. Points
// that a logarithmic axis cannot show are left out.
inline void line_chart(Svg& svg, const Box& box, const Chart& chart) {
  double x_low = 1e300, x_high = -1e300, y_low = 1e300, y_high = -1e300;
  std::vector<Series> shown = chart.series;
  for (Series& series : shown) {
    std::erase_if(series.points, [&](const auto& point) {
      return !std::isfinite(point.second) || (chart.log_y && point.second <= 0);
    });
    for (const auto& [x, y] : series.points) {
      x_low = std::min(x_low, x), x_high = std::max(x_high, x);
      y_low = std::min(y_low, y), y_high = std::max(y_high, y);
    }
  }
  if (x_low > x_high) x_low = y_low = 1, x_high = y_high = 2;  // no points: empty axes
  if (x_low == x_high) x_high = x_low + 1;
  if (y_low == y_high) y_high = y_low * (chart.log_y ? 2 : 1) + (chart.log_y ? 0 : 1);
  const auto level = [&](double y) { return chart.log_y ? std::log(y) : y; };
  const double bottom = level(y_low), top = level(y_high), margin = 0.04 * (top - bottom);
  const auto right = [&](double x) { return box.x + box.width * (x - x_low) / (x_high - x_low); };
  const auto up = [&](double y) {
    return box.y + box.height * (top + margin - level(y)) / (top - bottom + 2 * margin);
  };

  svg.text(box.x, box.y - 30, chart.title, 15, "start", true);
  for (const double y : ticks(y_low, y_high, chart.log_y)) {
    svg.line({{box.x, up(y)}, {box.x + box.width, up(y)}}, kFaint);
    svg.text(box.x - 7, up(y) + 4, text_of("%g", y), 11, "end");
  }
  for (const double x : ticks(x_low, x_high, false)) {
    svg.line({{right(x), box.y + box.height}, {right(x), box.y + box.height + 5}}, kInk);
    svg.text(right(x), box.y + box.height + 18, text_of("%g", x), 11, "middle");
  }
  svg.line({{box.x, box.y}, {box.x, box.y + box.height}, {box.x + box.width, box.y + box.height}},
           kInk);
  svg.text(box.x + box.width / 2, box.y + box.height + 38, chart.x_label, 12, "middle");
  svg.text(box.x - 54, box.y + box.height / 2, chart.y_label, 12, "middle", false, -90);
  double legend = box.x;
  for (const Series& series : shown) {
    std::vector<std::pair<double, double>> path;
    for (const auto& [x, y] : series.points) path.emplace_back(right(x), up(y));
    svg.line(path, series.colour, 2);
    svg.line({{legend, box.y - 14}, {legend + 22, box.y - 14}}, series.colour, 3);
    svg.text(legend + 28, box.y - 10, series.name, 12);
    legend += 50 + 7 * static_cast<double>(series.name.size());
  }
}

}  // namespace example
