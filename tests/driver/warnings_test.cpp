// What lowers slowly says so: which tensor, for whom, and why; and nothing else does.
#include "tests/driver/process.h"

namespace attn::testing {
namespace {

class Warnings : public Folder {
 protected:
  std::string of(const std::string& text) {
    const Ended e = attnc({"check", file("m.attn", "size B, T, S, D\n" + text)});
    EXPECT_EQ(e.status, 0) << e.error;
    return e.out + e.error;
  }
};

constexpr const char* kScores = "  s[b,i,j] = sum[d] q[b,i,d] * k[b,j,d]\n";

TEST_F(Warnings, NameTheTensorThatIsStoredAndItsReaders) {
  const std::string text =
      of(std::string("model m(q: [B, T, D], k: [B, S, D]) -> y, z {\n") + kScores +
         "  y[b,i] = max[j] s[b,i,j]\n"
         "  z[b,j] = sum[i] exp(s[b,i,j])\n}\n");
  EXPECT_NE(text.find("`s[B, T, S]` of forward is stored in memory as a whole, for `y`, `z`"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("no input or output is as large"), std::string::npos) << text;
}

// What the caller stores anyway.
TEST_F(Warnings, AreNotOfWhatIsAsLargeAsAnArgument) {
  for (const char* head : {"model m(q: [B, T, D], k: [B, S, D], a: [B, T, S]) -> y {\n",
                           "model m(q: [B, T, D], k: [B, S, D]) -> y, s {\n"})
    EXPECT_EQ(of(std::string(head) + kScores +
                 (std::string(head).find("a:") == std::string::npos
                      ? "  y[b,i] = max[j] s[b,i,j]\n}\n"
                      : "  y[b,i] = max[j] (s[b,i,j] + a[b,i,j])\n}\n")),
              "");
}

// Of what kernels cannot address; of a size that is known at a call, the call says so.
TEST_F(Warnings, AreErrorsWhereATensorIsTooLarge) {
  const std::string body =
      "model m(x: [2, N, 8]) -> y {\n"
      "  s[b,i,j] = sum[d] x[b,i,d] * x[b,j,d]\n"
      "  a[b,i]   = max[j] s[b,i,j]\n"
      "  y[b,j]   = sum[i] s[b,i,j] * a[b,i]\n}\n";
  const Ended e = attnc({"check", file("m.attn", "size N = 50000\n" + body)});
  EXPECT_EQ(e.status, 1) << e.error;
  EXPECT_NE(e.error.find("error: `s[2, N, N]` of forward is too large for its kernels\n"
                         "  --> "),
            std::string::npos)
      << e.error;
  for (const char* sizes : {"size N = 40000\n", "size N\n"})
    EXPECT_EQ(attnc({"check", file("m.attn", sizes + body)}).status, 0);
  for (const char* given : {"[N, N, N]", "[2, N, N]"})
    EXPECT_EQ(attnc({"check", file("m.attn", "size N = 100000\nmodel m(x: " + std::string(given) +
                                                 ") -> y {\n  y[i,j,k] = 2 * x[i,j,k]\n}\n")})
                  .status,
              1);
}

TEST_F(Warnings, SayWhyAReductionIsAPlainLoop) {
  const std::string text =
      of("model m(q: [B, T, D], k: [B, S, D]) -> z {\n"
         "  z[d] = prod[b,i,j] (1 + q[b,i,d] * k[b,j,d])\n}\n");
  EXPECT_NE(text.find("`z` lowers slowly: its prod is a plain loop over all"), std::string::npos)
      << text;
}

// The maxima of 2 x 2 points, as fast as memory. Those of 8 x 8 are not, nor those along memory.
TEST_F(Warnings, AreNotOfPoolsAlongMemory) {
  EXPECT_EQ(of("model m(x: [B, 2*T, 2*S, 64]) -> y {\n"
               "  y[b, t: T, s: S, d] = max[i: 2, j: 2] x[b, 2*t + i, 2*s + j, d]\n}\n"),
            "");
  EXPECT_NE(of("model m(x: [B, 8*T, 8*S, 64]) -> y {\n"
               "  y[b, t: T, s: S, d] = max[i: 8, j: 8] x[b, 8*t + i, 8*s + j, d]\n}\n"),
            "");
  EXPECT_NE(of("model m(x: [B, 64, 2*T, 2*S]) -> y {\n"
               "  y[b, d, t: T, s: S] = max[i: 2, j: 2] x[b, d, 2*t + i, 2*s + j]\n}\n"),
            "");
}

// A size that is known when compiling hides nothing.
TEST_F(Warnings, AreOfKnownSizesToo) {
  const std::string text =
      of("model m(x: [512, 16]) -> y, z {\n"
         "  d[i: 512, j: 512, e: 16] = tanh(x[i, e] - x[j, e])\n"
         "  y[i] = max[j] logsumexp[e] d[i, j, e]\n"
         "  z[j, e] = max[i] d[i, j, e]\n}\n");
  EXPECT_NE(text.find("`d[512, 512, 16]` of forward is stored in memory as a whole"),
            std::string::npos)
      << text;
}

// One rule, whatever is known of sizes: the scores are stored with any length, and are many times
// the features where it is long.
TEST_F(Warnings, AreTheSameForALengthThatIsKnown) {
  const std::string body =
      ", E = 16\ntrain model m(q: [B, N, E], k: [B, N, E], v: [B, N, E]) -> z, m {\n"
      "  s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]\n"
      "  m[b,i] = max[j] s[b,i,j]\n"
      "  c[b,j] = sum[i] exp(s[b,i,j])\n"
      "  z[b,i,e] = sum[j] s[b,i,j] / c[b,j] * v[b,j,e]\n}\n";
  const auto expect = [&](const std::string& length, const std::string& tensor) {
    const std::string text = of(length + body);
    EXPECT_NE(text.find(tensor + " is stored in memory as a whole"), std::string::npos) << text;
  };
  for (const char* length : {"size N", "size N = 512", "size N = 4096"})
    expect(length, "`s[B, N, N]` of forward");
  // Forward saves them for backward.
  expect("size N = 4096", "`ds[B, N, N]` of backward");
  EXPECT_EQ(of("size N = 64" + body), "");
}

// T / 64 blocks of 64 are T.
TEST_F(Warnings, AreNotOfBlocksOfWhatIsGiven) {
  EXPECT_EQ(of("size E = 64, N = T / 64\n"
               "model m(q: [B, T, E], k: [B, T, E], v: [B, T, E]) -> z {\n"
               "  s[b, n: N, i: 64, j: 64] = sum[e] q[b, 64*n + i, e] * k[b, 64*n + j, e]\n"
               "  a[b,n,i,e] = sum[j] softmax[j] (s[b,n,i,j]) * v[b, 64*n + j, e]\n"
               "  z[b, t: T, e] = a[b, t // 64, t % 64, e]\n}\n"),
            "");
}

// Features that a parameter adds, and rows that data picks, are not large.
TEST_F(Warnings, AreNotOfWideLayers) {
  const std::string text =
      of("size R = 4, C = 4096\n"
         "train model m(token: int[B, T]) -> loss {\n"
         "  param table: [100, R], w: [C, R]\n"
         "  x[b,t,r] = table[token[b,t], r]\n"
         "  y[b,t,c] = tanh(sum[r] x[b,t,r] * w[c,r])\n"
         "  m[b,c] = max[t] y[b,t,c]\n"
         "  loss = mean[b,t,c] (y[b,t,c] - m[b,c])^2\n}\n");
  EXPECT_EQ(text.find("is stored"), std::string::npos) << text;
}

// The gradient of a weight that data chooses, where it is no sum over matrices that data picks; not
// that of an embedding, which memory bounds.
TEST_F(Warnings, AreOfProductsThatAreAddedWhereDataSays) {
  const std::string gathered =
      of("train model m(x: [B, T, D], at: int[B, T], w: [8, D, D]) -> y {\n"
         "  y[b, t, o] = max[d] x[b, t, d] * w[clamp(at[b, t], 0, 7), o, d]\n}\n");
  EXPECT_NE(gathered.find("`dw` lowers slowly: its products are added one by one"),
            std::string::npos)
      << gathered;
  EXPECT_EQ(of("train model m(x: [8, D], at: int[B, T]) -> y {\n"
               "  y[b, t, d] = x[clamp(at[b, t], 0, 7), d]\n}\n"),
            "");
}

}  // namespace
}  // namespace attn::testing
