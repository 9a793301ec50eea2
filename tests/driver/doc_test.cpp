// What `attnc doc` prints, and that docs/std.md is what it prints of the library.
#include "tests/driver/process.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

class Doc : public Folder {};

TEST_F(Doc, TheIndexOfTheLibraryIsWhatItSays) {
  const Ended e = attnc({"doc", "std"});
  EXPECT_EQ(e.status, 0) << e.error;
  expect_golden(ATTN_SOURCE_DIR "/docs/std.md", e.out);
}

TEST_F(Doc, EveryDeclarationOfTheLibrarySaysWhatItIs) {
  const Ended e = attnc({"doc", "std"});
  EXPECT_EQ(e.out.find("|  |"), std::string::npos) << "a row of the table is empty";
}

TEST_F(Doc, AModuleOfTheLibraryStandsAlone) {
  const Ended all = attnc({"doc", "std"});
  const Ended one = attnc({"doc", "std.norm"});
  EXPECT_EQ(one.status, 0) << one.error;
  const std::string section = one.out.substr(one.out.find("\n## std.norm"));
  EXPECT_NE(section.find("### rms_norm"), std::string::npos) << section;
  EXPECT_NE(all.out.find(section), std::string::npos) << section;
}

TEST_F(Doc, AFileShowsWhatACallerMustKnow) {
  const Ended e = attnc({"doc", file("m.attn",
                                     "# Two layers. Then some.\n"
                                     "use std.norm\n"
                                     "\n"
                                     "## Positions, at most `2 * 3`.\n"
                                     "size T in 1..6\n"
                                     "\n"
                                     "## Scales by 2 * w | w. It is\n"
                                     "##   y = 2 w x\n"
                                     "## of every x.\n"
                                     "block scaled(x: [..., D], size L = 2) -> y {\n"
                                     "  # Not for callers.\n"
                                     "  size E = D / 2\n"
                                     "\n"
                                     "  ## One a feature.\n"
                                     "  param w: [D] = ones\n"
                                     "  h[..., d] = x[..., d] * w[d]\n"
                                     "  repeat l: L as layers {\n"
                                     "    param b: [D]\n"
                                     "    h[..., d] = h[..., d] + b[d]\n"
                                     "  }\n"
                                     "  repeat l: L {\n"
                                     "    h[..., d] = h[..., d] + 1\n"
                                     "  }\n"
                                     "  y[..., d] = h[..., d]\n"
                                     "}\n"
                                     "\n"
                                     "fn twice(x) = 2 * x\n"
                                     "\n"
                                     "update plain(w, g, lr) {\n"
                                     "  w' = w - lr * g\n"
                                     "}\n")});
  EXPECT_EQ(e.status, 0) << e.error;
  const std::string expected =
      "# m.attn\n"
      "\n"
      "| name | what it is |\n"
      "|---|---|\n"
      "| [m.attn](#mattn) | Two layers. |\n"
      "| &emsp;[T](#t) | Positions, at most `2 * 3`. |\n"
      "| &emsp;[scaled](#scaled) | Scales by 2 \\* w \\| w. |\n"
      "| &emsp;[twice](#twice) |  |\n"
      "| &emsp;[plain](#plain) |  |\n"
      "\n"
      "## m.attn\n"
      "\n"
      "In `" +
      path("m.attn") +
      "`.\n"
      "\n"
      "Two layers. Then some.\n"
      "\n"
      "Uses `std.norm`.\n"
      "\n"
      "### T\n"
      "\n"
      "```attn\n"
      "size T in 1..6\n"
      "```\n"
      "\n"
      "Positions, at most `2 * 3`.\n"
      "\n"
      "### scaled\n"
      "\n"
      "```attn\n"
      "block scaled(x: [..., D], size L = 2) -> y {\n"
      "  size E = D / 2\n"
      "  ## One a feature.\n"
      "  param w: [D] = ones\n"
      "  repeat l: L as layers {\n"
      "    param b: [D]\n"
      "  }\n"
      "}\n"
      "```\n"
      "\n"
      "Scales by 2 \\* w \\| w. It is\n"
      "\n"
      "```text\n"
      "y = 2 w x\n"
      "```\n"
      "\n"
      "of every x.\n"
      "\n"
      "### twice\n"
      "\n"
      "```attn\n"
      "fn twice(x) = 2 * x\n"
      "```\n"
      "\n"
      "### plain\n"
      "\n"
      "```attn\n"
      "update plain(w, g, lr)\n"
      "```\n";
  EXPECT_EQ(e.out, expected);
}

TEST_F(Doc, AFileThatDoesNotParseIsNotDescribed) {
  const Ended e = attnc({"doc", file("m.attn", "block f(x: [N] -> y {\n  y[i] = x[i]\n}\n")});
  EXPECT_EQ(e.status, 1);
  EXPECT_EQ(e.out, "");
  EXPECT_NE(e.error.find("m.attn:1:"), std::string::npos) << e.error;
}

TEST_F(Doc, AMisspeltModuleOfTheLibraryIsAnsweredWithTheNearest) {
  const Ended near = attnc({"doc", "std.nrom"});
  EXPECT_EQ(near.status, 2);
  EXPECT_NE(near.error.find("the library has no `std.nrom`; did you mean `std.norm`?\n"),
            std::string::npos)
      << near.error;
  const Ended far = attnc({"doc", "std.frobnicate"});
  EXPECT_EQ(far.status, 2);
  EXPECT_NE(far.error.find("the library has no `std.frobnicate`: it has std."), std::string::npos)
      << far.error;
  // A file may be called so.
  EXPECT_EQ(attnc({"doc", file("std.mine", "fn f(x) = x\n")}).status, 0);
}

}  // namespace
}  // namespace attn::testing
