// attnc run --probe: what a model shows to those who ask.
#include "tests/driver/run.h"

namespace attn::testing {
namespace {

constexpr const char* kProbed =
    "size T, D = 4\n"
    "train model m(x: [T, D]) -> loss, probe map, probe dx, probe best, y {\n"
    "  param w: [D, D]\n"
    "  s[i,j] = sum[d,e] x[i,d] * w[d,e] * x[j,e]\n"
    "  map[i,j] = softmax[j] (s[i,j])\n"
    "  y[i,d] = sum[j] map[i,j] * x[j,d]\n"
    "  best[i] = argmax[j] map[i,j]\n"
    "  dx[i,j] = s[i,j] - s[j,i]\n"
    "  loss = sum[i,d] y[i,d]^2\n"
    "}\n";

class Probe : public Run {
 protected:
  std::vector<std::string> call() {
    file("p.attn", kProbed);
    Array x{ATTN_F32, {5, 4}, {}};
    for (int k = 0; k < 20; ++k) x.values.push_back(std::sin(3 * k));
    return {"run", "p.attn", "--in", "x=" + npy("x.npy", x)};
  }
};

TEST_F(Probe, KernelsAndTheEvaluatorWriteWhatWasAskedFor) {
  const auto base = with(call(), {"--probe", "map,best", "--probe", "dx"});
  Ended e = attnc(with(base, {"--out", "kernels"}));
  ASSERT_EQ(e.status, 0) << e.error;
  ASSERT_EQ(attnc(with(base, {"--out", "truth", "--reference"})).status, 0);
  const std::vector<std::string> names = names_in(path("kernels"));
  EXPECT_EQ(names,
            (std::vector<std::string>{"best.npy", "dx.npy", "loss.npy", "map.npy", "y.npy"}));
  EXPECT_EQ(names, names_in(path("truth")));
  for (const std::string& name : names) {
    // `dx` is a difference of scores far larger than itself: their rounding counts for more.
    const double tolerance = name == "dx.npy" ? 1e-4 : 2e-5;
    expect_near("kernels/" + name, "truth/" + name, tolerance);
  }
  EXPECT_EQ(loaded("kernels/best.npy").extents, (std::vector<int64_t>{5}));
}

TEST_F(Probe, OnlyThoseWhoAskGetOne) {
  ASSERT_EQ(attnc(with(call(), {"--out", "none", "--reference"})).status, 0);
  EXPECT_EQ(names_in(path("none")), (std::vector<std::string>{"loss.npy", "y.npy"}));
  const Ended e = attnc({"emit", "p.attn", "--stage=probe"});
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.out.find("-> map {"), std::string::npos) << e.out;
  EXPECT_NE(e.out.find("-> best: int {"), std::string::npos) << e.out;
  EXPECT_EQ(e.out.find("loss"), std::string::npos) << e.out;
}

TEST_F(Probe, BesideAGradient) {
  Array dy{ATTN_F32, {5, 4}, std::vector<double>(20, 0.5)};
  const auto base =
      with(call(), {"--probe", "map", "--gradient", "--cotangent", "y=" + npy("dy.npy", dy)});
  ASSERT_EQ(attnc(with(base, {"--out", "kernels"})).status, 0);
  ASSERT_EQ(attnc(with(base, {"--out", "truth", "--reference"})).status, 0);
  for (const std::string name : {"map.npy", "dx.npy", "dw.npy"})
    expect_near("kernels/" + name, "truth/" + name, 2e-5);
}

TEST_F(Probe, RefusesWhatIsNone) {
  const auto base = with(call(), {"--reference", "--out", "out"});
  expect_refused(with(base, {"--probe", "mep"}), 2, "m has no probe `mep`; did you mean `map`?");
  expect_refused(with(base, {"--probe", "y"}), 2, "`y` is no probe but an output");
  expect_refused(with(base, {"--probe", "dx", "--gradient"}), 2,
                 "the probe `dx` and the gradient of `x` would both be dx.npy");
}

}  // namespace
}  // namespace attn::testing
