// The two pictures of this example: how fast heads become a convolution, and where heads look while
// a classifier learns.
#pragma once

#include <attn/attn.hpp>

#include "../common/svg.h"

namespace example {

inline bool draw_limit(const std::vector<Series>& errors, const Series& rest,
                       const std::string& path) {
  Svg svg(1120, 410);
  line_chart(svg, {74, 70, 480, 264},
             {"Heads and convolution are apart", "alpha", "largest difference", true, errors});
  line_chart(svg, {666, 70, 420, 264},
             {"Weight that misses its pixel", "alpha", "1 - least weight", true, {rest}});
  return svg.save(path);
}

// Of each epoch and layer, a row and a column for each head.
using Centres = std::vector<std::vector<std::vector<float>>>;

inline std::vector<std::vector<float>> centres_of(attn::Model& model, int64_t layers) {
  std::vector<std::vector<float>> result;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const attn::Tensor& c = model.param(text_of("layers.%d.attn.centre", static_cast<int>(layer)));
    result.emplace_back(c.data<float>(), c.data<float>() + c.count());
  }
  return result;
}

// Where the heads of each layer look, before training and after each epoch. A path ends in a filled
// square; what a pixel's neighbours are is shaded.
inline bool draw_centres(const Centres& centres, const std::string& path) {
  static const char* const colours[] = {"#2563ab", "#d95f02", "#1b9e77", "#7570b3", "#e7298a",
                                        "#66a61e", "#a6761d", "#636363", "#b2182b"};
  const double side = 270, reach = 5, unit = side / (2 * reach), top = 84;
  const size_t layers = centres[0].size();
  Svg svg(40 + static_cast<double>(layers) * (side + 30), top + side + 50);
  svg.text(20, 32, "Where the heads look", 18, "start", true);
  svg.text(20, 52, "The centre of each head, from before training to after the last epoch.", 13);
  for (size_t layer = 0; layer < layers; ++layer) {
    const double left = 30 + static_cast<double>(layer) * (side + 30);
    const double x0 = left + side / 2, y0 = top + side / 2;
    svg.fill({x0 - 1.5 * unit, y0 - 1.5 * unit, 3 * unit, 3 * unit}, "#fee090", 0.5);
    for (double k = -reach; k <= reach; ++k) {
      svg.line({{x0 + k * unit, top}, {x0 + k * unit, top + side}}, kFaint);
      svg.line({{left, y0 + k * unit}, {left + side, y0 + k * unit}}, kFaint);
    }
    svg.frame({x0 - 0.5 * unit, y0 - 0.5 * unit, unit, unit}, kInk);
    for (size_t head = 0; 2 * head < centres[0][layer].size(); ++head) {
      std::vector<std::pair<double, double>> points;
      for (const auto& epoch : centres) {
        const auto place = [&](float at) { return std::clamp<double>(at, -reach, reach) * unit; };
        points.emplace_back(x0 + place(epoch[layer][2 * head + 1]),
                            y0 + place(epoch[layer][2 * head]));
      }
      const char* colour = colours[head % std::size(colours)];
      svg.line(points, colour, 1.5);
      svg.fill({points.back().first - 4, points.back().second - 4, 8, 8}, colour);
    }
    svg.text(x0, top + side + 22, text_of("layer %d", static_cast<int>(layer) + 1), 13, "middle");
  }
  return svg.save(path);
}

}  // namespace example
