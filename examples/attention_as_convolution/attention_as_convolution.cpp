// Shows that K^2 heads of attention become a convolution as alpha grows, for several widths and
// dilations, and trains a classifier whose heads learn where to look.
//   attention_as_convolution FOLDER_OF_IMAGES FOLDER_FOR_RESULTS [EPOCHS]
// The folder has the digits (images.npy, labels.npy) or CIFAR-10's binary version.
#include "attention_as_convolution.h"

#include <attn/attn.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "../common/accuracy.h"
#include "../common/must.h"
#include "../common/progress.h"
#include "../common/rate.h"
#include "images.h"
#include "pictures.h"

namespace {

using example::Images, example::must, example::Series, example::text_of;

constexpr int64_t kBatch = 32, kEpochs = 30, kLayers = 3;
constexpr double kRate = 6e-3, kAlphaEnd = 20;

attn::Tensor random_tensor(std::initializer_list<int64_t> extents, std::mt19937& random) {
  attn::Tensor result(ATTN_F32, extents);
  std::normal_distribution<float> normal;
  for (int64_t k = 0; k < result.count(); ++k) result.data<float>()[k] = normal(random);
  return result;
}

double largest_difference(const attn::Tensor& a, const attn::Tensor& b) {
  double most = 0;
  for (int64_t k = 0; k < a.count(); ++k) {
    most = std::max<double>(most, std::abs(a.data<float>()[k] - b.data<float>()[k]));
  }
  return most;
}

// The largest difference of heads and convolution for one alpha after the other. `rest` gets what
// the surest weight of any head lacks of 1.
Series differences(attn::Context& context, const Images& images, int width, int dilation,
                   const char* colour, Series& rest) {
  std::mt19937 random(7);
  const int64_t channels = images.pixels.extent(3), made = 3, k = width;
  const attn::Tensor w = random_tensor({k, k, channels, made}, random);
  const attn::Tensor bias = random_tensor({made}, random);
  std::vector<int64_t> first(8);
  std::iota(first.begin(), first.end(), 0);
  const Images some = images.chosen(first.data(), 8);
  const int32_t shift = dilation;
  attn::Model convolution(context, convolution_model()), heads(context, heads_model());
  must(convolution.init(1));
  must(heads.init(1));
  must(convolution.forward({some.pixels, w, bias, attn::View(&shift, {})}));
  Series result{
      text_of(dilation == 1 ? "%d x %d" : "%d x %d, %d apart", width, width, dilation), colour, {}};
  rest.points.clear();
  for (double alpha = 0.5; alpha <= kAlphaEnd; alpha += 0.5) {
    const float sharp = static_cast<float>(alpha);
    must(heads.forward({some.pixels, w, bias, attn::View(&shift, {}), attn::View(&sharp, {})}));
    result.points.emplace_back(alpha,
                               largest_difference(heads.output("y"), convolution.output("y")));
    rest.points.emplace_back(alpha, 1 - *heads.output("least").data<float>());
  }
  std::printf("%-15s apart by %.2g at alpha = 1, %.2g at 10, %.2g at 20\n", result.name.c_str(),
              result.points[1].second, result.points[19].second, result.points[39].second);
  return result;
}

double held_accuracy(attn::Model& model, const Images& held) {
  double sum = 0;
  std::vector<int64_t> which(kBatch * 8);
  for (int64_t first = 0; first < held.count(); first += std::ssize(which)) {
    const int64_t n = std::min<int64_t>(std::ssize(which), held.count() - first);
    std::iota(which.begin(), which.end(), first);
    const Images some = held.chosen(which.data(), n);
    must(model.forward({some.pixels, some.labels}));
    sum += example::accuracy(model.output("score"), some.labels) * static_cast<double>(n);
  }
  return sum / static_cast<double>(held.count());
}

// Trains, and returns the held-out accuracy, and where the heads look.
double train(attn::Model& model, const Images& learned, const Images& held, int64_t epochs,
             example::Centres& centres) {
  const int64_t batches = learned.count() / kBatch, steps = batches * epochs;
  std::vector<int64_t> order(static_cast<size_t>(learned.count()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  example::Progress progress(steps);
  double part = 0;
  centres.push_back(example::centres_of(model, kLayers));
  for (int64_t epoch = 0, step = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0;
    for (int64_t batch = 0; batch < batches; ++batch, ++step) {
      const Images now = learned.chosen(&order[batch * kBatch], kBatch);
      must(model.forward({now.pixels, now.labels}));
      sum += *model.output("loss").data<float>();
      must(model.backward());
      must(model.step({{"lr", example::rate_at(step, steps, kRate)}, {"clip", 1}}));
      progress.step(text_of("loss %.4f", sum / (batch + 1)));
    }
    part = held_accuracy(model, held);
    centres.push_back(example::centres_of(model, kLayers));
    progress.milestone(text_of("epoch %2d: loss %.4f, held out %.1f %%", (int)epoch + 1,
                               sum / static_cast<double>(batches), 100 * part));
  }
  progress.milestone(text_of("%d steps in %.0f s", (int)steps, progress.seconds()));
  return part;
}

}  // namespace

int main(int count, char** words) {
  const int64_t epochs = count == 4 ? std::atoll(words[3]) : kEpochs;
  if (count < 3 || count > 4 || epochs < 1) {
    std::fprintf(stderr,
                 "usage: attention_as_convolution FOLDER_OF_IMAGES FOLDER_FOR_RESULTS [EPOCHS]\n");
    return 2;
  }
  const std::string to = words[2];
  attn::Context context;
  const auto [learned, held] = example::read_images(context, words[1]);
  must(learned.count() >= kBatch, "there are fewer images than one batch of 32");

  Series rest{"all heads", "#2563ab", {}};
  const std::vector<Series> errors = {differences(context, held, 3, 1, "#2563ab", rest),
                                      differences(context, held, 3, 2, "#d95f02", rest),
                                      differences(context, held, 3, 4, "#1b9e77", rest),
                                      differences(context, held, 5, 1, "#7570b3", rest)};
  must(example::draw_limit(errors, rest, to + "/limit.svg"), "cannot write " + to + "/limit.svg");

  attn::Model model(context, classifier_model());
  must(model.init(1, {{"C", held.pixels.extent(3)}}));
  example::Centres centres;
  const double part = train(model, learned, held, epochs, centres);
  must(example::draw_centres(centres, to + "/centres.svg"), "cannot write " + to + "/centres.svg");
  must(model.save(to + "/classifier.safetensors"));
  std::printf("held out: %.2f %%; wrote %s/limit.svg, centres.svg and classifier.safetensors\n",
              100 * part, to.c_str());
  bool equal = true;
  for (const Series& error : errors) equal = equal && error.points.back().second < 1e-5;
  return equal ? 0 : 1;
}
