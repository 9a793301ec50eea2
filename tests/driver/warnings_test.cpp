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

TEST_F(Warnings, SayWhyAReductionIsAPlainLoop) {
  const std::string text =
      of("model m(q: [B, T, D], k: [B, S, D]) -> z {\n"
         "  z[d] = prod[b,i,j] (1 + q[b,i,d] * k[b,j,d])\n}\n");
  EXPECT_NE(text.find("`z` lowers slowly: its prod is a plain loop over all"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace attn::testing
