// `attnc report` as a command: where it writes, and how it ends.
#include <fstream>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

constexpr const char* kModels =
    "size T, D = 4\n"
    "\n"
    "model scaled(x: [T, D]) -> y {\n"
    "  param w: [D]\n"
    "  y[i,d] = x[i,d] * w[d]\n"
    "}\n"
    "\n"
    "train model summed(x: [T, D]) -> s {\n"
    "  s[i] = sum[d] x[i,d]\n"
    "}\n";

class ReportCommand : public Folder {};

TEST_F(ReportCommand, WritesToStandardOutputOrToAFile) {
  file("m.attn", kModels);
  const Ended out = attnc({"report", "m.attn"});
  EXPECT_EQ(out.status, 0) << out.error;
  EXPECT_EQ(out.out.substr(0, 15), "<!DOCTYPE html>");
  const Ended to_file = attnc({"report", "m.attn", "-o", "m.html"});
  EXPECT_EQ(to_file.status, 0) << to_file.error;
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(read_bytes(folder() / "m.html"), out.out);
}

TEST_F(ReportCommand, HoldsAllModelsOrOne) {
  file("m.attn", kModels);
  const Ended all = attnc({"report", "m.attn"});
  EXPECT_NE(all.out.find(">scaled</h2>"), std::string::npos);
  EXPECT_NE(all.out.find(">summed</h2>"), std::string::npos);
  // Only the second says `train`.
  EXPECT_EQ(all.out.find(">Gradient</h3>"), all.out.rfind(">Gradient</h3>"));
  const Ended one = attnc({"report", "m.attn", "--model", "scaled", "--derive=gradient"});
  EXPECT_EQ(one.out.find(">summed</h2>"), std::string::npos);
  EXPECT_NE(one.out.find("dw[d] = sum[i]"), std::string::npos) << one.out;
}

TEST_F(ReportCommand, SaysWhatIsWrongWithTheCommand) {
  file("m.attn", kModels);
  const struct {
    std::vector<std::string> arguments;
    const char* said;
    int status;
  } cases[] = {
      {{"report"}, "FILE is required", 2},
      {{"report", "m.attn", "--format=pdf"}, "--format=pdf", 2},
      {{"report", "m.attn", "-D", "D"}, "-D takes SIZE=n", 2},
      {{"report", "m.attn", "-D", "Q=3"}, "Q", 1},
      {{"report", "m.attn", "--model", "other"}, "has no model `other`", 2},
      {{"report", "m.attn", "--derive=gradient", "--wrt", "v"}, "--wrt v: no real input", 2},
      {{"report", "m.attn", "--size", "T"}, "--size takes SIZE=n", 2},
      {{"report", "m.attn", "--size", "D=8"}, "has no size `D` that is known when it runs", 2},
      {{"report", "m.attn", "-o", "m.attn"}, "m.attn would be written over by its report", 2},
      {{"report", "m.attn", "-o", "no/folder.html"}, "no/folder.html", 3},
      {{"report", "gone.attn"}, "gone.attn: No such file or directory", 3},
      {{"reprot", "m.attn"}, "did you mean `report`?", 2},
  };
  for (const auto& c : cases) {
    const Ended e = attnc(c.arguments);
    EXPECT_EQ(e.status, c.status) << c.said << "\n" << e.error;
    EXPECT_NE(e.error.find(c.said), std::string::npos) << c.said << " is not in\n" << e.error;
    EXPECT_EQ(e.out, "") << c.said;
  }
  EXPECT_EQ(names_in(folder()), std::vector<std::string>{"m.attn"});
  EXPECT_EQ(read_bytes(folder() / "m.attn"), kModels);
}

TEST_F(ReportCommand, ErrorsInTheSourceLeaveTheOldReport) {
  file("m.attn", "model m(x: [3]) -> y {\n  y[i] = z[i]\n}\n");
  file("m.html", "old");
  const Ended e = attnc({"report", "m.attn", "-o", "m.html"});
  EXPECT_EQ(e.status, 1);
  EXPECT_NE(e.error.find("m.attn:2:10"), std::string::npos) << e.error;
  EXPECT_EQ(read_bytes(folder() / "m.html"), "old");
}

TEST_F(ReportCommand, AFullDiskLeavesTheOldReportAndNothingHalf) {
  file("m.attn", kModels);
  file("m.html", "old");
  const Ended e = attnc({"report", "m.attn", "-o", "m.html"}, {.largest_file = 1000});
  EXPECT_EQ(e.status, 3) << e.error;
  EXPECT_EQ(read_bytes(folder() / "m.html"), "old");
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"m.attn", "m.html"}));
  const Ended out =
      run_program({"sh", "-c", "\"$0\" report m.attn > /dev/full", ATTNC}, {.folder = folder()});
  EXPECT_EQ(out.status, 3);
  EXPECT_EQ(out.error, "attnc: standard output cannot be written\n");
}

TEST_F(ReportCommand, HelpEndsWithExamples) {
  const Ended e = attnc({"report", "--help"});
  EXPECT_EQ(e.status, 0);
  for (const char* part : {"--size", "-D", "Examples:", "attnc report model.attn -o model.html"})
    EXPECT_NE(e.out.find(part), std::string::npos) << part << " is not in\n" << e.out;
}

}  // namespace
}  // namespace attn::testing
