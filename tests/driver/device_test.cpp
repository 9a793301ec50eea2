// `attnc run --device`, `attnc bench --device`: the same figures on a device as on the CPU, and
// what is refused.
#include <attn/device.h>

#include "tests/driver/run.h"

namespace attn::testing {
namespace {

class OnDevice : public Run {
 protected:
  // Whether there is OpenCL; skips the test aloud where there is none.
  void need_opencl() {
    if (const char* why = attn_device_refusal({ATTN_OPENCL, 0})) GTEST_SKIP() << why;
  }
  void expect_same(const std::vector<std::string>& more) {
    const Ended host = attnc(with(inputs(), with(more, {"--out", "host"})));
    ASSERT_EQ(host.status, 0) << host.error;
    const Ended there =
        attnc(with(inputs(), with(more, {"--out", "there", "--device", "opencl:0"})));
    ASSERT_EQ(there.status, 0) << there.error;
    ASSERT_EQ(names_in(path("there")), names_in(path("host")));
    for (const std::string& name : names_in(path("host")))
      expect_near("there/" + name, "host/" + name, 1e-4);
  }
};

TEST_F(OnDevice, OutputsAndGradientsAreThoseOfTheCpu) {
  need_opencl();
  if (IsSkipped()) return;
  expect_same({"--seed", "3", "--gradient", "--cotangent",
               "y=" + npy("dy.npy", {ATTN_F32, {5, 4}, std::vector<double>(20, 0.5)})});
}

TEST_F(OnDevice, AStepIsThatOfTheCpu) {
  need_opencl();
  if (IsSkipped()) return;
  file("step.attn",
       "use std.optim\n"
       "size T, D = 4\n"
       "train model fit(x: [T, D]) -> loss using sgd {\n"
       "  param w: [D] = normal(0, 1)\n"
       "  loss = mean[i] (sum[d] x[i,d] * w[d])^2\n"
       "}\n");
  const std::string x = npy("x.npy", {ATTN_F32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}});
  const std::vector<std::string> step = {"run", "step.attn", "--in",   "x=" + x, "--seed",
                                         "1",   "--in",      "lr=0.1", "--step", "w"};
  for (const char* device : {"cpu", "opencl"}) {
    const Ended e = attnc(with(step, {"--device", device, "--out", device}));
    ASSERT_EQ(e.status, 0) << e.error;
  }
  expect_near("opencl/w.npy", "cpu/w.npy", 1e-5);
}

TEST_F(OnDevice, RefusesIntegersOutOfRange) {
  need_opencl();
  if (IsSkipped()) return;
  std::vector<std::string> arguments = inputs();
  npy("token.npy", {ATTN_I32, {5}, {0, 5, 6, 3, 1}});
  expect_refused(with(arguments, {"--out", "out", "--device", "opencl"}), 5,
                 "token: reads table at 0..6, must be in 0..5");
}

TEST_F(OnDevice, TracesEveryKernel) {
  need_opencl();
  if (IsSkipped()) return;
  const Ended e = attnc(with(inputs(), {"--out", "out", "--device", "opencl:0", "--trace"}));
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.out.find("words forward"), std::string::npos) << e.out;
  EXPECT_NE(e.out.find("together"), std::string::npos) << e.out;
}

TEST_F(OnDevice, IsMeasured) {
  need_opencl();
  if (IsSkipped()) return;
  file("m.attn", kModel);
  std::vector<std::string> bench = {"bench",     "m.attn", "--size",   "T=33",
                                    "--seconds", "0",      "--device", "opencl"};
  Ended e = attnc(bench);
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out.find("words with T = 33, 1 call on opencl:0, waiting for each kernel\n"), 0u)
      << e.out;
  EXPECT_EQ(e.out.find("peak"), std::string::npos) << e.out;
  e = attnc(with(bench, {"--json"}));
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.out.find("\"device\": \"opencl:0\",\n"), std::string::npos) << e.out;
}

TEST_F(OnDevice, ThatIsNoneIsRefused) {
  const std::vector<std::string> run = with(inputs(), {"--out", "out"});
  for (const char* text : {"gpu", "cuda:", "cuda:x", "cuda:-1", "opencl:0:1", ":1", "other"})
    expect_refused(
        with(run, {"--device", text}), 2,
        std::string("--device takes cpu, cuda, cuda:N, opencl or opencl:N, not `") + text + "`");
  expect_refused(with(run, {"--device", "cpu:1"}), 3,
                 "--device cpu:1: there is one CPU, of ordinal 0");
  if (const char* why = attn_device_refusal({ATTN_CUDA, 99}))
    expect_refused(with(run, {"--device", "cuda:99"}), 3, std::string("--device cuda:99: ") + why);
}

TEST_F(OnDevice, TakesItsOwnTargets) {
  const std::vector<std::string> run = with(inputs(), {"--out", "out"});
  expect_refused(with(run, {"--device", "opencl", "--target", "host"}), 2,
                 "is not for --device opencl, which takes opencl");
  expect_refused(with(run, {"--target", "cuda"}), 2, "is not for --device cpu, which takes x86-64");
  expect_refused(with(run, {"--device", "cuda", "--reference"}), 2,
                 "--reference is by the evaluator: not with --device or --target");
  const Ended e = attnc(with(run, {"--target", "x86-64-v2"}));
  EXPECT_EQ(e.status, 0) << e.error;
}

}  // namespace
}  // namespace attn::testing
