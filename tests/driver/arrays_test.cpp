// attnc run: what it says of arrays and weight files that do not fit, or are not there.
#include "tests/driver/run.h"

namespace attn::testing {
namespace {

constexpr const char* kScaled =
    "size B, D = 4\n"
    "model scaled(x: [B, D], seed: int) -> y {\n"
    "  param w: [D] = normal(0, 1), u: [D]\n"
    "  y[b,d] = x[b,d] * w[d] + u[d] + float(seed)\n"
    "}\n";

class Arrays : public Run {
 protected:
  Arrays() {
    file("m.attn", kScaled);
    npy("x.npy", {ATTN_F32, {1, 4}, {1, 2, 3, 4}});
    npy("w.npy", {ATTN_F32, {4}, {1, 2, 3, 4}});
  }
  std::vector<std::string> run(const std::vector<std::string>& more) {
    return with({"run", "m.attn", "--reference", "--out", "out"}, more);
  }
  std::vector<std::string> call(const std::vector<std::string>& more) {
    return with(run({"--in", "x=x.npy", "--in", "seed=3"}), more);
  }
};

TEST_F(Arrays, RandomParametersAreSaid) {
  Ended e = attnc(call({}));
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.error.find("note: 2 of 2 parameters are initialised at random (seed 1): give "
                         "--weights FILE\n"),
            std::string::npos)
      << e.error;
  e = attnc(call({"--in", "w=w.npy"}));
  EXPECT_NE(e.error.find("note: 1 of 2 parameters are initialised"), std::string::npos) << e.error;
  const std::string some = weights("w.safetensors", "w", {ATTN_F32, {4}, {1, 2, 3, 4}});
  e = attnc(call({"--weights", some, "--init-missing"}));
  EXPECT_NE(e.error.find("note: 1 of 2 parameters are initialised at random (seed 1)\n"),
            std::string::npos)
      << e.error;
  // Who names a seed has asked for them; who gives all has none.
  for (const std::vector<std::string>& quiet :
       {std::vector<std::string>{"--seed", "7"}, {"--in", "w=w.npy", "--in", "u=w.npy"}})
    EXPECT_EQ(attnc(call(quiet)).error.find("initialised"), std::string::npos);
}

TEST_F(Arrays, WhatIsNoWeightFileIsNamed) {
  file("zip.pt", "PK\x03\x04 and more bytes than eight");
  file("text.txt", "some text of more than eight bytes");
  const struct {
    const char* name;
    const char* said;
  } cases[] = {{"w.npy", "w.npy: is an .npy file, not a safetensors file"},
               {"zip.pt", "zip.pt: is a zip file, as .npz and .pt are, not a safetensors file"},
               {"text.txt", "text.txt: is not a safetensors file"}};
  for (const auto& c : cases) {
    expect_refused(call({"--weights", c.name}), 3, c.said);
    expect_refused(call({"--weights", c.name}), 3,
                   "; --weights takes a safetensors file with one tensor for each parameter: w, u");
  }
}

TEST_F(Arrays, ATensorThatIsMissingIsLookedForUnderOtherNames) {
  const Array four{ATTN_F32, {4}, {1, 2, 3, 4}};
  weights("prefix.safetensors", "model.w", four);
  expect_refused(call({"--weights", "prefix.safetensors"}), 3,
                 "has no tensor `w`: it has model.w; did you mean `model.w`?");
  expect_refused(call({"--in", "w=prefix.safetensors"}), 3, "did you mean `model.w`?");
  weights("other.safetensors", "bias", four);
  expect_refused(call({"--weights", "other.safetensors"}), 3, "has no tensor `w`: it has bias\n");
}

TEST_F(Arrays, ANumberThatTheTypeDoesNotHoldIsRefused) {
  npy("big.npy", {ATTN_F64, {2, 4}, {1, 2, 3, 4, 5, 6, -1e300, 8}});
  const std::vector<std::string> base = {"run",       "m.attn", "--in", "seed=3", "--in",
                                         "x=big.npy", "--out",  "out",  "--seed", "1"};
  for (const char* how : {"--reference", "--threads=1"})
    expect_refused(with(base, {how}), 5, "big.npy: x[1, 2] is -1e+300, which f32 does not hold");
  npy("seed.npy", {ATTN_F64, {}, {3}});
  expect_refused(run({"--in", "x=x.npy", "--in", "seed=3e9"}), 5,
                 "seed is 3000000000, which int does not hold");
  // Infinities are what they are.
  npy("inf.npy", {ATTN_F64, {1, 4}, {1, 2, INFINITY, 4}});
  EXPECT_EQ(attnc(run({"--in", "x=inf.npy", "--in", "seed=3", "--seed", "1"})).status, 0);
}

TEST_F(Arrays, AShapeIsShownBesideTheDeclaredOne) {
  npy("x2.npy", {ATTN_F32, {2, 3}, {1, 2, 3, 4, 5, 6}});
  expect_refused(run({"--in", "x=x2.npy", "--in", "seed=1"}), 5,
                 "x2.npy is [2, 3], x is [B, D = 4]");
  expect_refused(run({"--in", "x=w.npy", "--in", "seed=1"}), 5, "w.npy is [4], x is [B, D = 4]");
}

TEST_F(Arrays, WhatHasNoDimensionsMayBeANumber) {
  npy("zero.npy", {ATTN_F32, {4}, {0, 0, 0, 0}});
  const std::vector<std::string> parameters = {"--in", "w=zero.npy", "--in", "u=zero.npy"};
  ASSERT_EQ(attnc(call(parameters)).status, 0);
  EXPECT_EQ(loaded("out/y.npy").values, (std::vector<double>{3, 3, 3, 3}));
  std::filesystem::remove_all(path("out"));
  expect_refused(run({"--in", "x=x.npy", "--in", "seed=1.5"}), 5, "seed is int, not 1.5");
  expect_refused(run({"--in", "x=1", "--in", "seed=1"}), 2,
                 "x is [B, D = 4], and a number is for what has no dimensions");
}

TEST_F(Arrays, AnUnknownNameListsTheKnown) {
  expect_refused(run({"--in", "zz=x.npy"}), 2,
                 "has no input or parameter `zz`: it has x, seed, w, u");
  expect_refused(run({"--in", "X=x.npy"}), 2, "did you mean `x`?");
}

}  // namespace
}  // namespace attn::testing
