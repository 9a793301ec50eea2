// Trains the model of digits.attn by several processes that each take a part of every batch.
//   mpirun -n PROCESSES many FOLDER_OF_DIGITS FOLDER_FOR_RESULTS [EPOCHS [BATCH]]
// Any number of processes gives the same parameters, but for rounding: the gradients of a mean over
// the batch are the sum over the processes of those of their parts, each by its share of the batch.
#include <attn/attn.hpp>
#include <chrono>
#include <numeric>
#include <random>

#include "../common/accuracy.h"
#include "../common/rate.h"
#include "digits.h"
#include "processes.h"

namespace {

using example::hash, example::Processes;
using Clock = std::chrono::steady_clock;

constexpr int64_t kBatch = 32, kEpochs = 40;
constexpr double kRate = 3e-3, kWanted = 0.97;
constexpr float kNoise = 0.2f;

struct Digits {
  attn::Tensor images, labels;
  int64_t count() const { return labels.count(); }
  Digits chosen(const int64_t* which, int64_t n) const {
    return {images.gather(which, n), labels.gather(which, n)};
  }
};

attn::Tensor load(const Processes& processes, attn::Context& context, const std::string& path,
                  attn_type type) {
  attn::Result<attn::Tensor> tensor = attn::Tensor::load(context, path, type);
  processes.must(tensor.status());
  return std::move(*tensor);
}

// The noise of an image depends on its place in the batch of a step, not on who computes it.
void add_noise(attn::Tensor& images, int64_t step, int64_t batch, int64_t first) {
  const int64_t n = images.extent(0), pixels = images.count() / n;
  for (int64_t k = 0; k < n; ++k) {
    std::mt19937_64 random(static_cast<uint64_t>(step * batch + first + k));
    std::normal_distribution<float> noise(0, kNoise);
    for (int64_t p = 0; p < pixels; ++p) images.data<float>()[k * pixels + p] += noise(random);
  }
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The part of these digits that the model reads right. Each process reads some.
double accuracy(Processes& processes, attn::Model& model, const Digits& held) {
  const Processes::Part mine = processes.part_of(held.count());
  std::vector<int64_t> which(static_cast<size_t>(mine.size()));
  std::iota(which.begin(), which.end(), mine.begin);
  std::vector<double> right{0};
  if (mine.size() > 0) {
    const Digits now = held.chosen(which.data(), mine.size());
    processes.must(model.forward({now.images, now.labels}));
    right[0] = example::accuracy(model.output("logit"), now.labels) * (double)mine.size();
  }
  processes.sum(right);
  return right[0] / static_cast<double>(held.count());
}

double train(Processes& processes, attn::Model& model, const Digits& learned, const Digits& held,
             int64_t epochs, int64_t batch, std::mt19937& random) {
  const int64_t batches = learned.count() / batch, steps = batches * epochs;
  const Processes::Part mine = processes.part_of(batch);
  const double share = static_cast<double>(mine.size()) / static_cast<double>(batch);
  std::vector<int64_t> order(static_cast<size_t>(learned.count()));
  std::iota(order.begin(), order.end(), 0);
  const Clock::time_point begin = Clock::now();
  double waited = 0, right = 0;
  for (int64_t epoch = 0, step = 0; epoch < epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);  // alike everywhere
    std::vector<double> loss{0};
    for (int64_t k = 0; k < batches; ++k, ++step) {
      Digits now = learned.chosen(&order[k * batch + mine.begin], mine.size());
      add_noise(now.images, step, batch, mine.begin);
      processes.must(model.forward({now.images, now.labels}));
      loss[0] += share * *model.output("loss").data<float>();
      processes.must(model.backward());
      processes.must(model.scale_gradients(share));
      const Clock::time_point before = Clock::now();
      for (const attn::Tensor& gradient : model.gradients()) processes.start_sum(gradient);
      processes.wait();
      waited += seconds_since(before);
      processes.must(model.step({{"lr", example::rate_at(step, steps, kRate)}}));
    }
    processes.sum(loss);
    right = accuracy(processes, model, held);
    if (processes.first())
      std::printf("epoch %2d: loss %.4f; held out: accuracy %.2f %%\n", (int)epoch + 1,
                  loss[0] / static_cast<double>(batches), 100 * right);
  }
  const double all = seconds_since(begin);
  if (processes.first())
    std::printf("processes: %d; %d steps in %.2f s, %.2f s of them for sums of gradients\n",
                processes.count(), (int)steps, all, waited);
  return right;
}

}  // namespace

int main(int count, char** words) {
  Processes processes(&count, &words);
  const int64_t epochs = count > 3 ? std::atoll(words[3]) : kEpochs;
  const int64_t batch = count > 4 ? std::atoll(words[4]) : kBatch;
  if (count < 3 || count > 5 || epochs < 1 || batch < 1) {
    if (processes.first())
      std::fprintf(stderr, "usage: many FOLDER_OF_DIGITS FOLDER_FOR_RESULTS [EPOCHS [BATCH]]\n");
    return 2;
  }
  processes.must(batch >= processes.count(), "there are fewer images in a batch than processes");

  const std::string from = words[1], weights = std::string(words[2]) + "/many.safetensors";
  attn::Context context;
  const Digits all = {load(processes, context, from + "/images.npy", ATTN_F32),
                      load(processes, context, from + "/labels.npy", ATTN_I32)};
  const uint64_t settings = static_cast<uint64_t>(epochs * 1000003 + batch);
  processes.must_agree(hash(all.labels, hash(all.images, settings)),
                       "the processes have different data or arguments");
  std::mt19937 random(1);
  std::vector<int64_t> order(static_cast<size_t>(all.count()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  const int64_t fifth = all.count() / 5;
  const Digits held = all.chosen(&order[0], fifth);
  const Digits learned = all.chosen(&order[fifth], all.count() - fifth);
  processes.must(learned.count() >= batch, "there are fewer digits than a batch has");

  // Every process makes parameters; those of the first are then everywhere.
  attn::Model model(context, digits_model());
  processes.must(model.init(static_cast<uint64_t>(processes.rank()) + 1));
  for (const attn::Tensor& parameter : model.params()) processes.broadcast(parameter);
  const double right = train(processes, model, learned, held, epochs, batch, random);

  uint64_t learnt = hash(model.params()[0]);
  for (const attn::Tensor& parameter : model.params()) learnt = hash(parameter, learnt);
  processes.must_agree(learnt, "the processes have come to different parameters");
  if (processes.first()) {
    processes.must(model.save(weights));
    std::printf("accuracy on %d held-out digits: %.2f %%; wrote %s\n", static_cast<int>(fifth),
                100 * right, weights.c_str());
  }
  return right >= kWanted || epochs < kEpochs ? 0 : 1;
}
