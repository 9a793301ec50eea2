// Trains the two models of reversal.attn, without and with attention, on the same random strings in
// the same way, compares them on held-out strings, and draws where the second one looks.
//   reversal FOLDER_FOR_RESULTS [EPOCHS]
#include "reversal.h"

#include <algorithm>
#include <attn/attn.hpp>
#include <numeric>
#include <random>

#include "../common/accuracy.h"
#include "../common/must.h"
#include "../common/progress.h"
#include "../common/rate.h"
#include "pictures.h"
#include "strings.h"

namespace {

using example::must, example::Series, example::Strings, example::text_of;

constexpr int64_t kBatch = 40, kLearned = 3000, kHeld = 1000, kEpochs = 30;
constexpr double kRate = 2e-3;

// The part of the letters and ends that the model finds likeliest after the right ones before
// them.
double letters_right(attn::Model& model, const std::vector<Strings>& held) {
  double right = 0, count = 0;
  for (const Strings& now : held) {
    must(model.forward({now.source, now.before, now.wanted}));
    const double letters = static_cast<double>(now.wanted.count());
    right += letters * example::accuracy(model.output("score"), now.wanted);
    count += letters;
  }
  return right / count;
}

// The part of the strings that come out whole where the model reads what it has written itself.
double strings_right(attn::Model& writer, const std::vector<Strings>& held) {
  int64_t right = 0;
  for (const Strings& now : held) {
    must(writer.forward({now.source}));
    const int64_t length = now.wanted.extent(1);
    const int32_t* written = writer.output("written").data<int32_t>();
    for (int64_t k = 0; k < kBatch; ++k, written += length) {
      right += std::equal(written, written + length, now.wanted.data<int32_t>() + k * length);
    }
  }
  return static_cast<double>(right) / static_cast<double>(std::ssize(held) * kBatch);
}

// Trains, and returns the part of held-out letters that are right after each epoch, in percent.
Series train(attn::Model& model, const std::vector<Strings>& learned,
             const std::vector<Strings>& held, int64_t epochs, const Series& empty) {
  Series result = empty;
  std::mt19937 random(1);
  std::vector<size_t> order(learned.size());
  std::iota(order.begin(), order.end(), 0);
  example::Progress progress(epochs * std::ssize(learned));
  for (int64_t epoch = 1, step = 0; epoch <= epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double sum = 0;
    for (size_t k = 0; k < order.size(); ++k, ++step) {
      const Strings& now = learned[order[k]];
      must(model.forward({now.source, now.before, now.wanted}));
      sum += *model.output("loss").data<float>();
      must(model.backward());
      const double rate = example::rate_at(step, epochs * std::ssize(learned), kRate);
      must(model.step({{"lr", rate}, {"clip", 1}}));
      progress.step(text_of("%s: loss %.4f", empty.name.c_str(), sum / (double)(k + 1)));
    }
    const double part = 100 * letters_right(model, held);
    result.points.emplace_back(epoch, part);
    progress.milestone(text_of("%s, epoch %2d: loss %.4f, held out %.2f %%", empty.name.c_str(),
                               (int)epoch, sum / (double)order.size(), part));
  }
  progress.milestone(text_of("%.0f s", progress.seconds()));
  return result;
}

}  // namespace

int main(int count, char** words) {
  const int64_t epochs = count == 3 ? std::atoll(words[2]) : kEpochs;
  if (count < 2 || count > 3 || epochs < 1) {
    std::fprintf(stderr, "usage: reversal FOLDER_FOR_RESULTS [EPOCHS]\n");
    return 2;
  }
  const std::string to = words[1];
  const std::vector<Strings> learned = example::random_strings(kLearned / kBatch, kBatch, 1);
  const std::vector<Strings> held = example::random_strings(kHeld / kBatch, kBatch, 2);

  attn::Context context;
  attn::Model plain(context, plain_model()), attending(context, attending_model());
  attn::Model plain_writer(context, plain_writes_model());
  attn::Model writer(context, attending_writes_model());
  must(plain.init(1));
  must(attending.init(1));
  const Series without = train(plain, learned, held, epochs, {"without attention", "#d95f02", {}});
  const Series with = train(attending, learned, held, epochs, {"with attention", "#2563ab", {}});
  must(plain.save(to + "/plain.safetensors"));
  must(attending.save(to + "/attending.safetensors"));
  must(plain_writer.load(to + "/plain.safetensors"));
  must(writer.load(to + "/attending.safetensors"));
  std::printf("held out: %.2f %% of letters, %.2f %% of strings without attention\n",
              without.points.back().second, 100 * strings_right(plain_writer, held));
  std::printf("held out: %.2f %% of letters, %.2f %% of strings with attention\n",
              with.points.back().second, 100 * strings_right(writer, held));

  example::Svg chart(560, 400);
  line_chart(chart, {74, 70, 460, 264},
             {"Held-out letters that are right", "epoch", "percent", false, {without, with}});
  must(chart.save(to + "/accuracy.svg"), "cannot write " + to + "/accuracy.svg");
  const std::string string = "abacadabacc";
  std::vector<int32_t> numbers;
  for (const char letter : string) numbers.push_back(letter - 'a');
  must(writer.forward({attn::View(numbers.data(), {1, std::ssize(numbers)})}));
  must(example::draw_look(writer.output("look"), writer.output("written"), string,
                          example::kLetters, to + "/look.svg"),
       "cannot write " + to + "/look.svg");
  std::printf("wrote %s/accuracy.svg, look.svg, plain.safetensors and attending.safetensors\n",
              to.c_str());
  const bool contrast = without.points.back().second <= 90 && with.points.back().second >= 99.5;
  return contrast || epochs < kEpochs ? 0 : 1;
}
