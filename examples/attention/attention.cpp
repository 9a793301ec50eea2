// Teaches the model of attention.attn to give back the previous token of a random sequence.
#include "attention.h"

#include <attn/attn.hpp>
#include <cstdio>
#include <cstdlib>
#include <random>

static void must(const attn::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.text().c_str());
  std::exit(1);
}

int main() {
  const int64_t batch = 4, length = 32, width = 256;
  attn::Tensor x(ATTN_F32, {batch, length, width}), wanted = attn::Tensor::like(x.view());
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = normal(random);
  for (int64_t i = width; i < x.count(); ++i) {
    if (i / width % length != 0) wanted.data<float>()[i] = x.data<float>()[i - width];
  }

  attn::Context context;
  attn::Model model(context, attention_model());
  must(model.init(42));
  for (int step = 0; step <= 100; ++step) {
    must(model.forward({x, wanted}));
    const float loss = *model.output("loss").data<float>();
    if (step % 20 == 0) std::printf("step %3d  loss %.4f\n", step, loss);
    must(model.backward());
    must(model.step({{"lr", 1e-3}}));
  }
  must(model.save("attention.safetensors"));
}
