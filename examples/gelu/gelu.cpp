// The two forms of GELU and their derivatives: how far they are from libm's, how far from each
// other, and a picture.
//   gelu FOLDER_FOR_RESULTS
#include "gelu.h"

#include <attn/attn.hpp>
#include <chrono>
#include <cmath>

#include "../common/must.h"
#include "../common/svg.h"

namespace {

using example::must, example::text_of;

constexpr int64_t kPoints = 6001;
constexpr double kEnd = 6;  // from -6 to 6

// A function and its derivative at every point, from the compiled model.
struct Curve {
  std::vector<double> value, slope;
};

Curve curve(attn::Context& context, const attn_model* description, const attn::Tensor& x) {
  attn::Model model(context, description);
  must(model.init(1));
  must(model.forward({x}));
  attn::Tensor ones = attn::Tensor::like(x.view()), slope = attn::Tensor::like(x.view());
  std::fill_n(ones.data<float>(), kPoints, 1.0f);
  must(model.backward({ones}, {slope}));
  const float *y = model.output("y").data<float>(), *dy = slope.data<float>();
  return {{y, y + kPoints}, {dy, dy + kPoints}};
}

// x Phi(x) and Phi(x) + x phi(x), in float64.
Curve from_libm(const std::vector<double>& x) {
  Curve result;
  for (const double v : x) {
    const double part = 0.5 * std::erfc(-v / std::sqrt(2));
    result.value.push_back(v * part);
    result.slope.push_back(part + v * std::exp(-v * v / 2) / std::sqrt(2 * M_PI));
  }
  return result;
}

std::vector<std::pair<double, double>> points(const std::vector<double>& x,
                                              const std::vector<double>& y, double scale = 1) {
  std::vector<std::pair<double, double>> result;
  for (size_t k = 0; k < x.size(); k += 20) result.emplace_back(x[k], scale * y[k]);
  return result;
}

std::vector<double> distances(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (size_t k = 0; k < a.size(); ++k) result.push_back(std::abs(a[k] - b[k]));
  return result;
}

// Prints the largest distance and where it is, and returns it.
double report(const char* what, const std::vector<double>& x, const std::vector<double>& distance) {
  const auto most = std::max_element(distance.begin(), distance.end());
  std::printf("%-42s at most %.3g, at x = %.3f\n", what, *most, x[most - distance.begin()]);
  return *most;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: gelu FOLDER_FOR_RESULTS\n");
    return 2;
  }
  attn::Context context;
  attn::Tensor input(ATTN_F32, {kPoints});
  std::vector<double> x;
  for (int64_t k = 0; k < kPoints; ++k) {
    input.data<float>()[k] = static_cast<float>(kEnd * (2.0 * k / (kPoints - 1) - 1));
    x.push_back(input.data<float>()[k]);
  }
  const Curve exact = curve(context, gelu_exact_model(), input);
  const Curve tanh = curve(context, gelu_by_tanh_model(), input), libm = from_libm(x);

  const std::vector<double> apart = distances(exact.value, tanh.value);
  const std::vector<double> slopes_apart = distances(exact.slope, tanh.slope);
  const double wrong =
      report("exact, from libm in float64:", x, distances(exact.value, libm.value));
  const double wrong_slope = report("its derivative:", x, distances(exact.slope, libm.slope));
  const double far = report("exact and by tanh are apart:", x, apart);
  const double far_slope = report("their derivatives:", x, slopes_apart);

  using example::Svg, example::line_chart;
  const char *const blue = "#2563ab", *const orange = "#d95f02";
  Svg svg(1180, 400);
  line_chart(svg, {64, 70, 290, 264},
             {"GELU",
              "x",
              "value",
              false,
              {{"exact", blue, points(x, exact.value)}, {"tanh", orange, points(x, tanh.value)}}});
  line_chart(svg, {452, 70, 290, 264},
             {"Derivative",
              "x",
              "slope",
              false,
              {{"exact", blue, points(x, exact.slope)}, {"tanh", orange, points(x, tanh.slope)}}});
  line_chart(
      svg, {850, 70, 290, 264},
      {"How far they are apart",
       "x",
       "distance, thousandths",
       false,
       {{"value", blue, points(x, apart, 1e3)}, {"slope", orange, points(x, slopes_apart, 1e3)}}});
  const std::string path = std::string(words[1]) + "/gelu.svg";
  must(svg.save(path), "cannot write " + path);
  std::printf("wrote %s\n", path.c_str());
  // The first two are the rounding of float32 near 4, the others how good the approximation is.
  return std::max(wrong, wrong_slope) < 1e-6 && far < 5e-4 && far_slope < 1e-3 ? 0 : 1;
}
