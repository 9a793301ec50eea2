// attnc run --step: an update without a program, by kernels and by the evaluator.
#include "tests/driver/run.h"

namespace attn::testing {
namespace {

constexpr const char* kTrained =
    "use std.optim\n"
    "size B, D = 5\n"
    "train model line(x: [B, D], y: [B]) -> loss using adamw {\n"
    "  param w: [D] = normal(0, 1), b: f32, half: bf16[D] = ones\n"
    "  loss = mean[i] ((sum[d] x[i,d] * w[d] * half[d]) + b - y[i])^2\n"
    "}\n";

class Step : public Run {
 protected:
  Step() {
    file("m.attn", kTrained);
    Array x{ATTN_F32, {3, 5}, {}}, y{ATTN_F32, {3}, {1, -2, 0.5}}, dw{ATTN_F32, {5}, {}};
    for (int k = 0; k < 15; ++k) x.values.push_back(std::sin(3 * k));
    for (int k = 0; k < 5; ++k) dw.values.push_back(k - 2);
    npy("x.npy", x), npy("y.npy", y), npy("dw.npy", dw), npy("w.npy", dw);
  }
  std::vector<std::string> step(const std::vector<std::string>& more) {
    return with({"run", "m.attn", "--in", "lr=0.125"}, more);
  }
  const std::vector<std::string> data_ = {"--in", "x=x.npy", "--in", "y=y.npy"};
};

TEST_F(Step, UpdatesByTheModelsGradients) {
  const auto base = with(step(data_), {"--step", "w,b", "--in", "clip=0.5", "--in", "step=3"});
  Ended e = attnc(with(base, {"--out", "kernels"}));
  ASSERT_EQ(e.status, 0) << e.error;
  e = attnc(with(base, {"--out", "truth", "--reference"}));
  ASSERT_EQ(e.status, 0) << e.error;
  const std::vector<std::string> names = names_in(path("kernels"));
  EXPECT_EQ(names, (std::vector<std::string>{"b.npy", "loss.npy", "state.b.m.npy", "state.b.v.npy",
                                             "state.w.m.npy", "state.w.v.npy", "w.npy"}));
  EXPECT_EQ(names, names_in(path("truth")));
  for (const std::string& name : names) expect_near("kernels/" + name, "truth/" + name, 1e-5);
  // The states of one step are the beginning of the next.
  const auto next = with(base, {"--in", "state.w.m=kernels/state.w.m.npy", "--in",
                                "state.w.v=kernels/state.w.v.npy", "--in", "w=kernels/w.npy"});
  ASSERT_EQ(attnc(with(next, {"--out", "kernels2"})).status, 0);
  ASSERT_EQ(attnc(with(next, {"--out", "truth2", "--reference"})).status, 0);
  for (const std::string& name : names) expect_near("kernels2/" + name, "truth2/" + name, 1e-5);
  EXPECT_NE(loaded("kernels2/w.npy").values, loaded("kernels/w.npy").values);
}

TEST_F(Step, NeedsNoModelWhereTheGradientIsGiven) {
  const auto base =
      step({"--step", "w", "--in", "dw=dw.npy", "--in", "w=w.npy", "--in", "decay=0"});
  for (const char* way : {"--threads=1", "--reference"}) {
    const Ended e = attnc(with(base, {way, "--out", "out"}));
    ASSERT_EQ(e.status, 0) << e.error;
    EXPECT_EQ(names_in(path("out")),
              (std::vector<std::string>{"state.w.m.npy", "state.w.v.npy", "w.npy"}));
    // Adam's first step goes by the rate in the direction of each element's gradient.
    const Array w = loaded("out/w.npy");
    for (int k = 0; k < 5; ++k) {
      const double sign = k < 2 ? -1 : k > 2 ? 1 : 0;
      EXPECT_NEAR(w.values[k], k - 2 - 0.125 * sign, 1e-6) << way;
    }
  }
}

TEST_F(Step, SaysWhatIsMissing) {
  expect_refused(with({"run", "m.attn", "--step", "w", "--out", "out"}, data_), 2,
                 "adamw needs lr: --in lr=NUMBER");
  expect_refused(with(step(data_), {"--step", "v", "--out", "out"}), 2,
                 "--step v: no parameter is called so");
  expect_refused(step({"--step", "w", "--in", "dw=dw.npy", "--out", "out"}), 2,
                 "a step of `w` needs its value: --in w=FILE.npy or --weights");
  expect_refused(step({"--step", "w", "--out", "out"}), 2,
                 "line needs the input `x`: --in x=FILE.npy");
  expect_refused(with(step(data_), {"--step", "w", "--in", "step=0.5", "--out", "out"}), 2,
                 "steps are counted from 1");
  file("plain.attn", "train model m(x: [3]) -> y {\n  param w: [3]\n  y = sum[i] x[i] * w[i]\n}\n");
  expect_refused({"run", "plain.attn", "--step", "w", "--in", "x=x.npy", "--out", "out"}, 2,
                 "m names no update: `train model m(…) -> … using adamw`");
}

TEST_F(Step, FindsParametersUnderTheirNamesInWeightFiles) {
  file("named.attn",
       "model m(x: [2]) -> y {\n  param w: [2] @ \"encoder.0/w\"\n  y[i] = x[i] * w[i]\n}\n");
  npy("two.npy", {ATTN_F32, {2}, {3, 4}});
  weights("named.safetensors", "encoder.0/w", {ATTN_F32, {2}, {10, 100}});
  const std::vector<std::string> base = {"run", "named.attn", "--in", "x=two.npy", "--out", "out"};
  Ended e = attnc(with(base, {"--weights", "named.safetensors"}));
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(loaded("out/y.npy").values, (std::vector<double>{30, 400}));
  e = attnc(with(base, {"--in", "w=named.safetensors"}));
  EXPECT_EQ(e.status, 0) << e.error;
  weights("own.safetensors", "w", {ATTN_F32, {2}, {10, 100}});
  e = attnc(with(base, {"--weights", "own.safetensors"}));
  EXPECT_EQ(e.status, 3);
  EXPECT_NE(e.error.find("own.safetensors: has no tensor `encoder.0/w`"), std::string::npos);
}

}  // namespace
}  // namespace attn::testing
