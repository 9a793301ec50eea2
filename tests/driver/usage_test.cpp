// Exit status and message of every kind of end.
#include <fstream>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

constexpr const char* kModel =
    "size T, D = 4\n"
    "\n"
    "model scaled(x: [T, D]) -> y {\n"
    "  param w: [D]\n"
    "  y[i,d] = x[i,d] * w[d]\n"
    "}\n";

class Usage : public Folder {};

TEST_F(Usage, IsAnErrorOfStatusTwo) {
  file("m.attn", kModel);
  const struct {
    std::vector<std::string> arguments;
    const char* said;
  } cases[] = {
      {{}, "subcommand is required"},
      {{"biuld", "m.attn"}, "no command `biuld`: did you mean `build`?"},
      {{"frobnicate"},
       "no command `frobnicate`: there are build, check, emit, report, run, bench, fmt"},
      {{"check"}, "FILE is required"},
      {{"check", "m.attn", "n.attn"}, "n.attn"},
      {{"check", "m.attn", "--frob"}, "--frob"},
      {{"check", "m.attn", "-D"}, "-D"},
      {{"check", "m.attn", "-D", "D"}, "-D takes SIZE=n with an integer from 0"},
      {{"check", "m.attn", "-D", "=3"}, "-D takes SIZE=n"},
      {{"check", "m.attn", "-D", "D="}, "-D takes SIZE=n"},
      {{"check", "m.attn", "-D", "D=3x"}, "`D=3x`"},
      {{"check", "m.attn", "-D", "D=-1"}, "`D=-1`"},
      {{"check", "m.attn", "-D", "D=1.5"}, "`D=1.5`"},
      {{"check", "m.attn", "-D", "D=99999999999999999999"}, "D=99999999999999999999"},
      {{"check", "m.attn", "-D", "D=3", "-D", "D=4"}, "-D D is given twice"},
      {{"build", "m.attn", "-o", "a", "-o", "b"}, "--out-dir"},
      {{"build", "m.attn", "--target", "sse9"},
       "no target `sse9`: there are host, x86-64-v2, x86-64-v3, x86-64-v4"},
      {{"build", "m.attn", "--name", "a/b"}, "--name takes letters"},
      {{"build", "m.attn", "--progress", "maybe"}, "--progress"},
      {{"build", "m.attn", "-j", "many"}, "many"},
      {{"emit", "m.attn"}, "--stage is required"},
      {{"emit", "m.attn", "--stage=assembly"},
       "ast,graph,gradient,jvp,hvp,probe,step,plan,statement,tex,dot"},
      {{"emit", "m.attn", "--stage=graph", "--after=magic"}, "no pass `magic`: there are graph"},
      {{"emit", "m.attn", "--stage=gradient", "--wrt", "other"}, "--wrt other: no real input"},
      {{"emit", "m.attn", "--stage=plan", "--derive=hessian"}, "gradient,jvp,hvp"},
      {{"emit", "m.attn", "--stage=graph", "--model", "other"}, "has no model `other`"},
      {{"run", "m.attn"}, "scaled needs the input `x`: --in x=FILE.npy"},
      {{"run", "m.attn", "--in", "x"}, "--in takes NAME=FILE, not `x`"},
      {{"run", "m.attn", "--in", "xx=a.npy"}, "no input or parameter `xx`; did you mean `x`?"},
      {{"run", "m.attn", "--seed", "random"}, "random"},
  };
  for (const auto& c : cases) {
    const Ended e = attnc(c.arguments);
    EXPECT_EQ(e.status, 2) << c.said << "\n" << e.error;
    EXPECT_NE(e.error.find(c.said), std::string::npos) << c.said << " is not in\n" << e.error;
    EXPECT_EQ(e.out, "") << c.said;
  }
  EXPECT_EQ(names_in(folder()), std::vector<std::string>{"m.attn"});
}

TEST_F(Usage, AnOptionTakesOneWordAndTheFileMayFollow) {
  file("m.attn", kModel);
  EXPECT_EQ(attnc({"check", "-D", "D=3", "m.attn"}).status, 0);
  const Ended e = attnc({"emit", "--stage=graph", "-D", "D=3", "m.attn", "-D", "T=2"});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.out.find("T = 2"), std::string::npos) << e.out;
  EXPECT_NE(e.out.find("D = 3"), std::string::npos) << e.out;
}

TEST_F(Usage, HelpAndVersionAreNoErrors) {
  for (const char* command : {"build", "check", "emit", "report", "run", "bench", "fmt"}) {
    const Ended e = attnc({command, "--help"});
    EXPECT_EQ(e.status, 0) << command;
    EXPECT_NE(e.out.find("FILE"), std::string::npos) << e.out;
    EXPECT_EQ(e.error, "");
  }
  EXPECT_EQ(attnc({"--help"}).status, 0);
  EXPECT_EQ(attnc({"--version"}).out.substr(0, 6), "attnc ");
}

TEST_F(Usage, ErrorsInTheSourceAreOfStatusOne) {
  file("m.attn", "model m(x: [3]) -> y {\n  y[i] = z[i]\n}\n");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"check", "m.attn"},
                                                    {"emit", "m.attn", "--stage=plan"},
                                                    {"build", "m.attn", "-o", "out"},
                                                    {"run", "m.attn"}}) {
    const Ended e = attnc(arguments);
    EXPECT_EQ(e.status, 1) << e.error;
    EXPECT_NE(e.error.find("m.attn:2:10"), std::string::npos) << e.error;
    EXPECT_EQ(e.out, "");
  }
  EXPECT_EQ(attnc({"check", file("d.attn", kModel), "-D", "Q=3"}).status, 1);
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"d.attn", "m.attn"}));
}

TEST_F(Usage, LimitsAreOfStatusFour) {
  file("deep.attn", "model m(x: [3]) -> y {\n  y[i] = " + std::string(100000, '(') + "x[i]\n}\n");
  file("long.attn", std::string(1100000, '#') + "\n");
  const std::string long_name(300, 'a');
  file("name.attn", "model " + long_name + "(x: [3]) -> y {\n  y[i] = x[i]\n}\n");
  for (const char* name : {"deep.attn", "long.attn", "name.attn"}) {
    for (const char* command : {"check", "fmt"}) {
      const Ended e = attnc({command, name});
      EXPECT_EQ(e.status, 4) << name << ": " << e.error.substr(0, 500);
    }
  }
}

TEST_F(Usage, ADefectOfAttncIsOfStatusSeventy) {
  // A C compiler that refuses the tables shows what a defect of them would.
  file("m.attn", kModel);
  const Ended e = attnc({"build", "m.attn", "-t", "host", "-o", "out"},
                        {.environment = {"CC=sh " + file("cc.sh", kRefusingCompiler)}});
  EXPECT_EQ(e.status, 70) << e.error;
  EXPECT_NE(e.error.find("internal error"), std::string::npos) << e.error;
  EXPECT_EQ(names_in(folder() / "out"), std::vector<std::string>{});
}

TEST_F(Usage, AFullStandardErrorOrOutputIsNoDeath) {
  file("m.attn", kModel);
  file("wrong.attn", "model m(x: [3]) -> y {\n  y[i] = z[i]\n}\n");
  EXPECT_EQ(attnc({"check", "wrong.attn"}, {.standard_error = "/dev/full"}).status, 1);
  EXPECT_EQ(attnc({"frob"}, {.standard_error = "/dev/full"}).status, 2);
  const Ended e = run_program({"sh", "-c", "\"$0\" emit m.attn --stage=graph > /dev/full", ATTNC},
                              {.folder = folder()});
  EXPECT_EQ(e.status, 3);
  EXPECT_EQ(e.error, "attnc: standard output cannot be written\n");
}

TEST_F(Usage, FmtPrintsOrChecks) {
  file("plain.attn", kModel);
  const Ended same = attnc({"fmt", "plain.attn"});
  EXPECT_EQ(same.status, 0);
  EXPECT_EQ(same.out, kModel);
  EXPECT_EQ(attnc({"fmt", "--check", "plain.attn"}).status, 0);
  file("wild.attn", "size T,D=4\nmodel scaled(x:[T,D])->y{param w:[D]\ny[i,d]=x[i,d]*w[d]}");
  const Ended other = attnc({"fmt", "wild.attn", "--check"});
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.out, "");
  EXPECT_EQ(other.error, "wild.attn: not in the canonical layout; `attnc fmt` prints it\n");
  const Ended printed = attnc({"fmt", "wild.attn"});
  EXPECT_EQ(printed.status, 0) << printed.error;
  file("wild.attn", printed.out);
  EXPECT_EQ(attnc({"fmt", "wild.attn", "--check"}).status, 0) << printed.out;
}

}  // namespace
}  // namespace attn::testing
