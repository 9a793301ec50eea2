// The two pictures of the digits example: how training went, and where the model looks.
#pragma once

#include <attn/attn.hpp>

#include "../common/svg.h"

namespace example {

// Losses, and how many of a hundred digits were misread, after each epoch.
struct History {
  Series loss{"training", "#d95f02", {}}, held_loss{"held out", "#2563ab", {}};
  Series misread{"training", "#d95f02", {}}, held_misread{"held out", "#2563ab", {}};
};

inline bool draw_history(const History& history, const std::string& path) {
  Svg svg(960, 390);
  line_chart(svg, {74, 64, 380, 264},
             {"Loss", "epoch", "cross-entropy", true, {history.loss, history.held_loss}});
  line_chart(
      svg, {556, 64, 380, 264},
      {"Misread digits", "epoch", "per cent", true, {history.misread, history.held_misread}});
  return svg.save(path);
}

// One column for the first image of each class, with the class that was read: the image, and for
// each head how that class looks at the patches. look: [image, class, head, patch].
inline bool draw_attention(const attn::Tensor& images, const attn::Tensor& labels,
                           const std::vector<int64_t>& read, const attn::Tensor& look,
                           const std::string& path) {
  const int64_t classes = look.extent(1), heads = look.extent(2), patches = look.extent(3);
  const int64_t side = images.extent(1), across = std::llround(std::sqrt(patches));
  const double cell = 76, step = cell + 10, left = 84, top = 96;
  const double patch = cell / static_cast<double>(across), pixel = cell / static_cast<double>(side);
  Svg svg(left + classes * step + 84, top + (heads + 1) * step + 14);
  svg.text(20, 32, "Where the model looks", 18, "start", true);
  svg.text(20, 52,
           "The weight that each head gives to each patch, asked by the class that was chosen.",
           13);
  const float* weights = look.data<float>();
  double high = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the first finds the end of the scale
    for (int64_t digit = 0; digit < classes; ++digit) {
      const int32_t* first =
          std::find(labels.data<int32_t>(), labels.data<int32_t>() + labels.count(), digit);
      const int64_t b = first - labels.data<int32_t>();
      if (b == labels.count()) continue;
      const double x = left + digit * step;
      const auto weight = [&](int64_t head, int64_t t) {
        return weights[((b * classes + read[b]) * heads + head) * patches + t];
      };
      if (pass == 0) {
        for (int64_t k = 0; k < heads * patches; ++k) {
          high = std::max<double>(high, weight(k / patches, k % patches));
        }
        continue;
      }
      svg.text(x + cell / 2, top - 10, text_of("read as %d", static_cast<int>(read[b])), 12,
               "middle", read[b] != digit);
      const std::string ink = text_of("ink%d", static_cast<int>(digit));
      const std::string pale = "pale" + ink;
      for (const double opacity : {1.0, 0.35}) {
        svg.begin_shape(opacity == 1 ? ink : pale);
        for (int64_t k = 0; k < side * side; ++k) {
          const double value = images.data<float>()[b * side * side + k];
          if (value <= 0) continue;
          svg.fill({k % side * pixel, k / side * pixel, pixel, pixel}, kInk, opacity * value);
        }
        svg.end_shape();
      }
      for (int64_t row = 0; row <= heads; ++row) {
        const double y = top + row * step;
        for (int64_t t = 0; row > 0 && t < patches; ++t) {
          svg.fill({x + t % across * patch, y + t / across * patch, patch, patch},
                   shade(weight(row - 1, t) / high));
        }
        svg.place(row > 0 ? pale : ink, x, y);
        svg.frame({x, y, cell, cell}, kFaint);
      }
    }
  }
  for (int64_t row = 0; row <= heads; ++row) {
    svg.text(left - 12, top + row * step + cell / 2 + 4,
             row == 0 ? "image" : text_of("head %d", static_cast<int>(row)), 13, "end");
  }
  colour_bar(svg, {left + classes * step + 8, top + step, 14, heads * step - (step - cell)}, 0,
             high, "weight");
  return svg.save(path);
}

}  // namespace example
