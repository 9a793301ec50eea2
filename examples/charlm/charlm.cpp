// Trains the letter model of charlm.attn on nine tenths of a text, compares it on the last tenth
// with a 5-gram model, writes some text of its own, and goes on where it was stopped.
//   charlm TEXT FOLDER_FOR_RESULTS [STEPS [STOP]]
// A run that stops before STEPS leaves files from which the same command goes on.
#include "charlm.h"

#include <attn/attn.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "../common/must.h"
#include "../common/progress.h"
#include "../common/rate.h"
#include "../common/svg.h"
#include "ngram.h"

namespace {

using example::must, example::text_of;

constexpr int64_t kBatch = 16, kWindow = 128, kSteps = 2000, kOrder = 5;
constexpr double kRate = 3e-3;

// The letters of a file by number, and the bytes that they stand for.
struct Text {
  std::vector<int32_t> letters;
  std::string bytes;
  size_t held;  // the first letter that is held out
};

Text read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(file), {});
  must(!file.bad() && all.size() >= 20 * kWindow,
       path + ": cannot be read, or is shorter than " + std::to_string(20 * kWindow) + " letters");
  std::map<char, int32_t> number;
  for (const char c : all) number[c] = 0;
  Text text;
  for (auto& [c, n] : number) n = static_cast<int32_t>(text.bytes.size()), text.bytes += c;
  for (const char c : all) text.letters.push_back(number[c]);
  text.held = all.size() / 10 * 9;
  return text;
}

// Windows of letters, and the letter after each.
struct Windows {
  attn::Tensor letter, next;
  explicit Windows(int64_t n) : letter(ATTN_I32, {n, kWindow}), next(ATTN_I32, {n, kWindow}) {}
  void set(int64_t n, const int32_t* from) {
    std::copy_n(from, kWindow, letter.data<int32_t>() + n * kWindow);
    std::copy_n(from + 1, kWindow, next.data<int32_t>() + n * kWindow);
  }
};

// The loss over the held-out letters. Windows overlap by half, and only their second halves count,
// so that every letter has at least half a window before it.
double held_loss(attn::Model& model, const Text& text) {
  constexpr int64_t kStep = kWindow / 2;
  const int64_t first = static_cast<int64_t>(text.held) - kStep;
  const int64_t count = (std::ssize(text.letters) - 1 - first - kWindow) / kStep + 1;
  double sum = 0;
  for (int64_t at = 0; at < count; at += kBatch) {
    const int64_t n = std::min(kBatch, count - at);
    Windows now(n);
    for (int64_t k = 0; k < n; ++k) now.set(k, &text.letters[first + (at + k) * kStep]);
    must(model.forward({now.letter, now.next}));
    sum += *model.output("late").data<float>() * static_cast<double>(n);
  }
  return sum / static_cast<double>(count);
}

// Letters that the model writes after `start`, a window: that at once, then a letter a call.
std::string written(attn::Model& model, const Text& text, const int32_t* start, int count) {
  attn::States memory;
  must(model.begin(memory, {{"B", 1}, {"S", kWindow + count}}));
  std::vector<int32_t> now(start, start + kWindow);
  int32_t place = 0;
  std::mt19937 random(1);
  std::string result;
  for (int k = 0; k < count; ++k) {
    const int64_t length = std::ssize(now);
    must(model.forward({attn::View(now.data(), {1, length}), attn::View(&place, {1})}, memory));
    place += static_cast<int32_t>(length);
    const float* score = model.output("score").data<float>();
    std::vector<double> weight;
    for (size_t v = 0; v < text.bytes.size(); ++v) weight.push_back(std::exp(score[v] / 0.8));
    now = {std::discrete_distribution<int32_t>(weight.begin(), weight.end())(random)};
    result += text.bytes[static_cast<size_t>(now[0])];
  }
  return result;
}

}  // namespace

int main(int count, char** words) {
  const int64_t steps = count > 3 ? std::atoll(words[3]) : kSteps;
  const int64_t stop = count > 4 ? std::min(std::atoll(words[4]), steps * 1LL) : steps;
  if (count < 3 || count > 5 || stop < 1) {
    std::fprintf(stderr, "usage: charlm TEXT FOLDER_FOR_RESULTS [STEPS [STOP]]\n");
    return 2;
  }
  const std::string to = words[2], weights = to + "/charlm.safetensors";
  const std::string states = to + "/training.safetensors";
  const Text text = read(words[1]);
  const std::vector<int32_t> learned(text.letters.begin(), text.letters.begin() + text.held);
  const example::NGram counted(learned, kOrder, static_cast<int>(text.bytes.size()));
  const double to_beat = counted.loss(text.letters, text.held);
  std::printf("%zu letters of %zu kinds; 5-gram on the last tenth: %.4f nats a letter\n",
              text.letters.size(), text.bytes.size(), to_beat);

  attn::Context context;
  attn::Model model(context, charlm_model());
  must(model.init(1, {{"V", static_cast<int64_t>(text.bytes.size())}}));
  if (std::filesystem::exists(states)) {
    must(model.load(weights));
    must(model.load_states(states));
    std::printf("goes on after step %d\n", (int)model.steps());
  }
  example::Series train{"training", "#d95f02", {}}, held{"held out", "#2563ab", {}};
  example::Progress progress(stop - model.steps());
  double sum = 0, loss = model.steps() < stop ? 0 : held_loss(model, text);
  int since = 0;  // steps in `sum`
  Windows now(kBatch);
  while (model.steps() < stop) {
    // The windows of a step depend on its number only, so that resuming changes nothing.
    std::mt19937_64 random(static_cast<uint64_t>(model.steps()));
    for (int64_t k = 0; k < kBatch; ++k)
      now.set(k, &learned[random() % (learned.size() - kWindow)]);
    must(model.forward({now.letter, now.next}));
    sum += *model.output("loss").data<float>();
    must(model.backward());
    must(model.step({{"lr", example::rate_at(model.steps(), steps, kRate)}, {"clip", 1}}));
    const int64_t part = std::max<int64_t>(steps / 20, 1), at = model.steps();
    progress.step(text_of("loss %.3f", sum / ++since));
    if (at % part != 0 && at != stop) continue;
    loss = held_loss(model, text);
    train.points.emplace_back(at, sum / since), held.points.emplace_back(at, loss);
    progress.milestone(text_of("step %5d: loss %.4f, held out %.4f", (int)at, sum / since, loss));
    sum = since = 0;
  }
  progress.milestone(text_of("%.0f s", progress.seconds()));
  must(model.save(weights));
  must(model.save_states(states));

  attn::Model writer(context, charlm_next_model());
  must(writer.load(weights));
  const std::string sample = written(writer, text, &text.letters[text.held], 600);
  std::printf("\n%s\n\nheld out: %.4f nats a letter (%.3f bits), 5-gram %.4f (%.3f bits)\n",
              sample.c_str(), loss, loss / M_LN2, to_beat, to_beat / M_LN2);
  example::Svg svg(560, 400);
  const example::Series line{
      "5-gram", example::kInk, {{0.0, to_beat}, {static_cast<double>(stop), to_beat}}};
  line_chart(svg, {74, 70, 460, 264},
             {"Loss", "step", "nats a letter", false, {train, held, line}});
  must(svg.save(to + "/loss.svg"), "cannot write " + to + "/loss.svg");
  std::printf("wrote %s/charlm.safetensors and loss.svg\n", to.c_str());
  return loss < to_beat || stop < kSteps ? 0 : 1;
}
