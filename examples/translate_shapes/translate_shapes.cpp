// Trains the encoder and decoder of translate_shapes.attn on random sentences, counts how many
// held-out sentences it translates without any error, and draws where it looks.
//   translate_shapes FOLDER_FOR_RESULTS [STEPS]
#include "translate_shapes.h"

#include <attn/attn.hpp>
#include <random>

#include "../common/accuracy.h"
#include "../common/must.h"
#include "../common/progress.h"
#include "../common/rate.h"
#include "pictures.h"

namespace {

using example::must, example::text_of;

constexpr int32_t kShapes = 8, kBegin = kShapes;
constexpr int64_t kBatch = 32, kSteps = 1500, kShortest = 5, kLongest = 12, kHeld = 512;
constexpr double kRate = 3e-3;

// Sentences of one length, and their translations: the other way round, shape k being 3 k + 5
// there.
struct Sentences {
  attn::Tensor source, before, wanted;

  Sentences(int64_t n, int64_t length, std::mt19937& random)
      : source(ATTN_I32, {n, length}),
        before(ATTN_I32, {n, length}),
        wanted(ATTN_I32, {n, length}) {
    for (int64_t k = 0; k < n; ++k) {
      int32_t* from = source.data<int32_t>() + k * length;
      int32_t* to = wanted.data<int32_t>() + k * length;
      int32_t* read = before.data<int32_t>() + k * length;
      for (int64_t t = 0; t < length; ++t) from[t] = static_cast<int32_t>(random() % kShapes);
      for (int64_t t = 0; t < length; ++t) to[t] = (3 * from[length - 1 - t] + 5) % kShapes;
      read[0] = kBegin;
      std::copy_n(to, length - 1, read + 1);
    }
  }
};

// Translates word by word, the likeliest each time, reading what was written.
attn::Tensor translated(attn::Model& model, const attn::Tensor& source) {
  const int64_t n = source.extent(0), length = source.extent(1);
  attn::Tensor words(ATTN_I32, {n, length});
  for (int64_t t = 0; t < length; ++t) {
    attn::Tensor before(ATTN_I32, {n, t + 1});
    for (int64_t k = 0; k < n; ++k) {
      before.data<int32_t>()[k * (t + 1)] = kBegin;
      std::copy_n(words.data<int32_t>() + k * length, t, before.data<int32_t>() + k * (t + 1) + 1);
    }
    must(model.forward({source, before}));
    for (int64_t k = 0; k < n; ++k) {
      words.data<int32_t>()[k * length + t] =
          static_cast<int32_t>(example::best(model.output("score"), k));
    }
  }
  return words;
}

// The part of held-out sentences, of all lengths, that are translated without an error.
double held_part(attn::Model& model) {
  std::mt19937 random(99);
  int64_t right = 0, count = 0;
  for (int64_t length = kShortest; length <= kLongest; ++length) {
    const int64_t n = kHeld / (kLongest - kShortest + 1);
    const Sentences held(n, length, random);
    const attn::Tensor words = translated(model, held.source);
    for (int64_t k = 0; k < n; ++k, ++count) {
      right +=
          std::equal(words.data<int32_t>() + k * length, words.data<int32_t>() + (k + 1) * length,
                     held.wanted.data<int32_t>() + k * length);
    }
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace

int main(int count, char** words) {
  const int64_t steps = count == 3 ? std::atoll(words[2]) : kSteps;
  if (count < 2 || count > 3 || steps < 1) {
    std::fprintf(stderr, "usage: translate_shapes FOLDER_FOR_RESULTS [STEPS]\n");
    return 2;
  }
  const std::string to = words[1], weights = to + "/translate_shapes.safetensors";
  attn::Context context;
  attn::Model model(context, translate_model());
  must(model.init(1));
  example::Progress progress(steps);
  std::mt19937 random(1);
  double sum = 0;
  const int64_t part = std::max<int64_t>(steps / 10, 1);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t length = kShortest + static_cast<int64_t>(random() % (kLongest - kShortest + 1));
    const Sentences now(kBatch, length, random);
    must(model.forward({now.source, now.before, now.wanted}));
    sum += *model.output("loss").data<float>();
    must(model.backward());
    must(model.step({{"lr", example::rate_at(step, steps, kRate)}, {"clip", 1}}));
    progress.step(text_of("loss %.4f", sum / static_cast<double>(step % part + 1)));
    if ((step + 1) % part != 0) continue;
    progress.milestone(text_of("step %5d: loss %.4f", (int)step + 1, sum / (double)part));
    sum = 0;
  }
  progress.milestone(text_of("%.0f s", progress.seconds()));
  must(model.save(weights));

  attn::Model writer(context, translate_next_model());
  must(writer.load(weights));
  const double part_right = held_part(writer);
  const Sentences one(1, kLongest, random);
  const attn::Tensor result = translated(writer, one.source);
  const std::string picture = to + "/look.svg";
  must(example::draw_look(writer.output("look"),
                          {one.source.data<int32_t>(), one.source.data<int32_t>() + kLongest},
                          {result.data<int32_t>(), result.data<int32_t>() + kLongest}, picture),
       "cannot write " + picture);
  std::printf("held out: %.2f %% of %d sentences without an error; wrote %s and %s\n",
              100 * part_right, static_cast<int>(kHeld), weights.c_str(), picture.c_str());
  return part_right >= 0.99 || steps < kSteps ? 0 : 1;
}
