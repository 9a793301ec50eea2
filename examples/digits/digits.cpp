// Trains the model of digits.attn on four fifths of the 1,797 digits, tests it on the last fifth,
// saves the weights, reads them into a model of their own, and draws what happened.
//   digits FOLDER_OF_DIGITS FOLDER_FOR_RESULTS [EPOCHS]
#include "digits.h"

#include <algorithm>
#include <attn/attn.hpp>
#include <numeric>
#include <random>

#include "../common/accuracy.h"
#include "../common/must.h"
#include "../common/progress.h"
#include "../common/rate.h"
#include "pictures.h"

namespace {

using example::accuracy, example::load, example::must, example::text_of;

constexpr int64_t kBatch = 32, kEpochs = 40;
constexpr double kRate = 3e-3, kNoise = 0.2, kWanted = 0.97;

struct Digits {
  attn::Tensor images, labels;
  int64_t count() const { return labels.count(); }
  Digits chosen(const int64_t* which, int64_t n) const {
    return {images.gather(which, n), labels.gather(which, n)};
  }
};

example::History train(attn::Model& model, const Digits& learned, const Digits& held,
                       int64_t epochs, std::mt19937& random) {
  example::History history;
  const int64_t batches = learned.count() / kBatch, steps = batches * epochs;
  std::vector<int64_t> order(static_cast<size_t>(learned.count()));
  std::iota(order.begin(), order.end(), 0);
  std::normal_distribution<float> noise(0, kNoise);
  example::Progress progress(steps);
  for (int64_t epoch = 0, step = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0, right = 0;
    for (int64_t batch = 0; batch < batches; ++batch, ++step) {
      Digits now = learned.chosen(&order[batch * kBatch], kBatch);
      // Noise stands in for the digits that nobody wrote down.
      for (int64_t k = 0; k < now.images.count(); ++k) now.images.data<float>()[k] += noise(random);
      must(model.forward({now.images, now.labels}));
      must(model.backward());
      must(model.step({{"lr", example::rate_at(step, steps, kRate)}}));
      sum += *model.output("loss").data<float>();
      right += accuracy(model.output("logit"), now.labels);
      progress.step(
          text_of("loss %.4f  accuracy %.1f %%", sum / (batch + 1), 100 * right / (batch + 1)));
    }
    must(model.forward({held.images, held.labels}));
    const double loss = *model.output("loss").data<float>();
    const double part = accuracy(model.output("logit"), held.labels), at = epoch + 1;
    history.loss.points.emplace_back(at, sum / batches);
    history.held_loss.points.emplace_back(at, loss);
    history.misread.points.emplace_back(at, 100 - 100 * right / batches);
    history.held_misread.points.emplace_back(at, 100 - 100 * part);
    progress.milestone(text_of("epoch %2.0f: loss %.4f; held out: loss %.4f, accuracy %.2f %%", at,
                               sum / batches, loss, 100 * part));
  }
  progress.milestone(text_of("%d steps in %.1f s", static_cast<int>(steps), progress.seconds()));
  return history;
}

}  // namespace

int main(int count, char** words) {
  const int64_t epochs = count == 4 ? std::atoll(words[3]) : kEpochs;
  if (count < 3 || count > 4 || epochs < 1) {
    std::fprintf(stderr, "usage: digits FOLDER_OF_DIGITS FOLDER_FOR_RESULTS [EPOCHS]\n");
    return 2;
  }
  const std::string from = words[1], to = words[2], weights = to + "/digits.safetensors";
  attn::Context context;
  const Digits all = {load(context, from + "/images.npy", ATTN_F32),
                      load(context, from + "/labels.npy", ATTN_I32)};
  std::mt19937 random(1);
  std::vector<int64_t> order(static_cast<size_t>(all.count()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const int64_t fifth = all.count() / 5;
  const Digits held = all.chosen(&order[0], fifth);
  const Digits learned = all.chosen(&order[fifth], all.count() - fifth);

  attn::Model model(context, digits_model());
  must(model.init(1));
  const example::History history = train(model, learned, held, epochs, random);
  must(model.save(weights));

  attn::Model reader(context, digits_read_model());
  must(reader.load(weights));
  must(reader.forward({held.images}));
  const double trained = accuracy(model.output("logit"), held.labels);
  const double loaded = accuracy(reader.output("logit"), held.labels);
  std::vector<int64_t> read;
  for (int64_t b = 0; b < fifth; ++b) read.push_back(example::best(reader.output("logit"), b));
  const std::string loss = to + "/loss.svg", attention = to + "/attention.svg";
  if (!example::draw_history(history, loss) ||
      !example::draw_attention(held.images, held.labels, read, reader.output("look"), attention)) {
    std::fprintf(stderr, "digits: cannot write to %s\n", to.c_str());
    return 1;
  }
  std::printf("accuracy on %d held-out digits: %.2f %%; with the weights read back: %.2f %%\n",
              static_cast<int>(fifth), 100 * trained, 100 * loaded);
  std::printf("wrote %s, %s and %s\n", weights.c_str(), loss.c_str(), attention.c_str());
  return (loaded >= kWanted || epochs < kEpochs) && loaded == trained ? 0 : 1;
}
