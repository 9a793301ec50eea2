// One translation, and how much each head looks at each word of the source while it writes a word.
#pragma once

#include <attn/attn.hpp>

#include "../common/svg.h"

namespace example {

// The k-th of eight shapes, in a square of 14 around (x, y). `filled` tells the languages apart.
inline void draw_shape(Svg& svg, int k, double x, double y, bool filled) {
  std::vector<std::pair<double, double>> points;
  const int corners = 3 + k % 4, steps = k < 4 ? corners : 2 * corners;  // the last four are stars
  for (int n = 0; n <= steps; ++n) {
    const double angle = 2 * M_PI * n / steps - M_PI / 2, r = k >= 4 && n % 2 == 1 ? 3 : 7;
    points.emplace_back(x + r * std::cos(angle), y + r * std::sin(angle));
  }
  svg.line(points, filled ? "#d95f02" : "#2563ab", filled ? 2.5 : 1.5);
}

// look: [1, head, word written, word of the source]; source and translation by the numbers of
// shapes.
inline bool draw_look(const attn::Tensor& look, const std::vector<int32_t>& source,
                      const std::vector<int32_t>& translation, const std::string& path) {
  const int64_t heads = look.extent(1), rows = look.extent(2), columns = look.extent(3);
  const double cell = 20, left = 60, top = 110, step = cell * static_cast<double>(columns) + 40;
  Svg svg(left + static_cast<double>(heads) * step + 60,
          top + cell * static_cast<double>(rows) + 30);
  svg.text(20, 32, "Where the decoder looks", 18, "start", true);
  svg.text(20, 52, "Across: the source. Down: its translation, word by word.", 13);
  for (int64_t h = 0; h < heads; ++h) {
    const double x0 = left + static_cast<double>(h) * step;
    svg.text(x0, top - 34, text_of("head %d", static_cast<int>(h) + 1), 13);
    for (int64_t j = 0; j < columns; ++j) {
      draw_shape(svg, source[j], x0 + (static_cast<double>(j) + 0.5) * cell, top - 14, false);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const double y = top + static_cast<double>(i) * cell;
      draw_shape(svg, translation[i], x0 - 14, y + cell / 2, true);
      for (int64_t j = 0; j < columns; ++j) {
        svg.fill({x0 + static_cast<double>(j) * cell, y, cell, cell},
                 shade(look.data<float>()[(h * rows + i) * columns + j]));
      }
    }
    svg.frame({x0, top, cell * static_cast<double>(columns), cell * static_cast<double>(rows)},
              kFaint);
  }
  colour_bar(svg, {left + static_cast<double>(heads) * step - 16, top, 12, 120}, 0, 1, "weight");
  return svg.save(path);
}

}  // namespace example
