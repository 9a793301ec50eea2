// Where the writer of reversal.attn looks at the string, letter by letter.
#pragma once

#include <attn/attn.hpp>

#include "../common/svg.h"

namespace example {

// look: [1, letter written, letter of the string]; written: [1, letter written], by the numbers of
// letters, of which there are `letters`; the number after them is the end.
inline bool draw_look(const attn::Tensor& look, const attn::Tensor& written,
                      const std::string& string, int32_t letters, const std::string& path) {
  const int64_t rows = look.extent(1), columns = look.extent(2);
  const double cell = 28, left = 70, top = 112;
  Svg svg(left + cell * static_cast<double>(columns) + 110,
          top + cell * static_cast<double>(rows) + 30);
  svg.text(20, 32, "Where the writer looks", 18, "start", true);
  svg.text(20, 52, "Across: the string. Down: what is written.", 13);
  for (int64_t s = 0; s < columns; ++s) {
    svg.text(left + (static_cast<double>(s) + 0.5) * cell, top - 10,
             string.substr(static_cast<size_t>(s), 1), 15, "middle");
  }
  for (int64_t t = 0; t < rows; ++t) {
    const double y = top + static_cast<double>(t) * cell;
    const int32_t letter = written.data<int32_t>()[t];
    svg.text(left - 10, y + cell / 2 + 5,
             letter < letters ? std::string(1, static_cast<char>('a' + letter)) : "end", 15, "end");
    for (int64_t s = 0; s < columns; ++s) {
      svg.fill({left + static_cast<double>(s) * cell, y, cell, cell},
               shade(look.data<float>()[t * columns + s]));
    }
  }
  svg.frame({left, top, cell * static_cast<double>(columns), cell * static_cast<double>(rows)},
            kFaint);
  colour_bar(svg, {left + cell * static_cast<double>(columns) + 24, top, 12, 120}, 0, 1, "weight");
  return svg.save(path);
}

}  // namespace example
