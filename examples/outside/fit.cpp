// Learns the weights 3 and -1 from three points.
#include "fit.h"

#include <attn/attn.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

static void must(const attn::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.text().c_str());
  std::exit(1);
}

int main() {
  attn::Tensor x(ATTN_F32, {3, 2}), wanted(ATTN_F32, {3});
  const float points[] = {1, 0, 0, 1, 1, 1}, values[] = {3, -1, 2};
  for (int64_t i = 0; i < x.count(); ++i) x.data<float>()[i] = points[i];
  for (int64_t i = 0; i < wanted.count(); ++i) wanted.data<float>()[i] = values[i];

  attn::Context context;
  attn::Model model(context, fit_model());
  must(model.init(1));
  for (int step = 0; step < 100; ++step) {
    must(model.forward({x, wanted}));
    must(model.backward());
    must(model.step({{"lr", 0.5}}));
  }
  must(model.forward({x, wanted}));
  const float loss = *model.output("loss").data<float>();
  std::printf("loss %.6f\n", loss);
  return loss < 1e-6f ? 0 : 1;
}
