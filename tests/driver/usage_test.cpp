// Exit status and message of every kind of end.
#include <fstream>
#include <sstream>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

class Usage : public Folder {};

TEST_F(Usage, IsAnErrorOfStatusTwo) {
  file("m.attn", kScaled);
  const struct {
    std::vector<std::string> arguments;
    const char* said;
  } cases[] = {
      {{}, "a command is required: there are build, check, emit, report, run, bench, fmt, doc\n"},
      {{"biuld", "m.attn"}, "no command `biuld`: did you mean `build`?"},
      {{"frobnicate"},
       "no command `frobnicate`: there are build, check, emit, report, run, bench, fmt"},
      {{"check"}, "FILE is required"},
      {{"check", "m.attn", "n.attn"}, "n.attn"},
      {{"check", "m.attn", "--frob"}, "check: there is no option `--frob`\n"},
      {{"check", "m.attn", "--wtr", "x"}, "there is no option `--wtr`; did you mean `--wrt`?"},
      {{"check", "m.attn", "--size", "T=3"}, "; -D SIZE=n sets a size when compiling"},
      {{"--nonsense"}, "there is no option `--nonsense` in front of the command\n"},
      {{"--verison", "check"}, "did you mean `--version`?"},
      {{"run", "m.attn", "--threads", "-3"}, "--threads: Value -3 not in range 1 to 1024"},
      {{"run", "m.attn", "--threads", "0"}, "--threads"},
      {{"build", "m.attn", "-j", "-1"}, "--jobs: Value -1 not in range 1 to"},
      {{"run", "m.attn", "--seed", "-1"}, "--seed: takes an integer from 0, not -1"},
      {{"run", "m.attn", "--seed", "99999999999999999999"}, "--seed: takes an integer"},
      {{"build", "m.attn", "-o", ""}, "--out-dir: takes a name"},
      {{"build", "m.attn", "--name", ""}, "--name: takes a name"},
      {{"bench", "m.attn", "--seconds", "-1"}, "--seconds"},
      {{"build", "m.attn", "--model", "other"}, "has no model `other`"},
      {{"build", "m.attn", "-t", "avx2"}, "; `avx2` is x86-64-v3"},
      {{"build", "m.attn", "-t", "metal"}, "; kernels are for x86-64, OpenCL and CUDA so far"},
      {{"build", "m.attn", "-t", "x86-64-v5"}, "; did you mean `x86-64-v2`?"},
      {{"emit", "m.attn", "--stage=probe"}, "`scaled` has no probe: `model … -> y, probe NAME`"},
      {{"emit", "m.attn", "--stage=step"}, "`scaled` has no update: `train model … using adam`"},
      {{"fmt", "m.attn", "m.attn"}, "one file is printed; -w writes several"},
      {{"fmt", "-w", "--check", "m.attn"}, "-w writes the files"},
      {{"fmt", "-w", "-"}, "-w writes files, and `-` is standard input"},
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
       "no target `sse9`: there are host, cuda, x86-64-v2, x86-64-v3, x86-64-v4"},
      {{"build", "m.attn", "--name", "a/b"}, "--name takes letters"},
      {{"build", "m.attn", "--progress", "maybe"}, "--progress"},
      {{"build", "m.attn", "-j", "many"}, "many"},
      {{"emit", "m.attn"}, "--stage is required"},
      {{"emit", "m.attn", "--stage=assembly"},
       "ast,graph,gradient,jvp,hvp,probe,step,plan,statement,device,tex,dot"},
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
  file("m.attn", kScaled);
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
  EXPECT_EQ(attnc({"help"}).out, attnc({"--help"}).out);
  EXPECT_EQ(attnc({"help", "build"}).out, attnc({"build", "--help"}).out);
  EXPECT_EQ(attnc({"--version"}).out.substr(0, 6), "attnc ");
}

TEST_F(Usage, HelpNamesTheProgramItsStatusesAndItsEnvironment) {
  const std::string help = attnc({"--help"}).out;
  for (const char* text : {"Usage: attnc ", "Exit status:", "  70 a defect", "ATTNC_CACHE_DIR",
                           "ATTNC_CACHE_MAX", "TMPDIR", "NO_COLOR", "\n  CC "})
    EXPECT_NE(help.find(text), std::string::npos) << text;
  for (const std::string command : {"build", "check", "emit", "report", "run", "bench", "fmt"}) {
    const std::string text = attnc({command, "--help"}).out;
    EXPECT_NE(text.find("Usage: attnc " + command), std::string::npos) << text;
    // Its examples are its own.
    const size_t examples = text.find("Examples:\n");
    ASSERT_NE(examples, std::string::npos) << command;
    std::istringstream lines(text.substr(examples + 10));
    for (std::string line; std::getline(lines, line);)
      EXPECT_EQ(line.find("  attnc " + command + " "), 0u) << line;
  }
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
  EXPECT_EQ(attnc({"check", file("d.attn", kScaled), "-D", "Q=3"}).status, 1);
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
  file("m.attn", kScaled);
  file("bin/cc", std::string("#!/bin/sh\n") + kRefusingCompiler);
  std::filesystem::permissions(path("bin/cc"), std::filesystem::perms::owner_all);
  const Ended e = attnc({"build", "m.attn", "-t", "host", "-o", "out"},
                        {.environment = {"CC=", "PATH=" + path("bin") + ":/usr/bin:/bin"}});
  EXPECT_EQ(e.status, 70) << e.error;
  EXPECT_NE(e.error.find("internal error"), std::string::npos) << e.error;
  EXPECT_EQ(names_in(folder() / "out"), std::vector<std::string>{});
}

TEST_F(Usage, AFullStandardErrorOrOutputIsNoDeath) {
  file("m.attn", kScaled);
  file("wrong.attn", "model m(x: [3]) -> y {\n  y[i] = z[i]\n}\n");
  EXPECT_EQ(attnc({"check", "wrong.attn"}, {.standard_error = "/dev/full"}).status, 1);
  EXPECT_EQ(attnc({"frob"}, {.standard_error = "/dev/full"}).status, 2);
  const Ended e = run_program({"sh", "-c", "\"$0\" emit m.attn --stage=graph > /dev/full", ATTNC},
                              {.folder = folder()});
  EXPECT_EQ(e.status, 3);
  EXPECT_EQ(e.error, "attnc: standard output cannot be written\n");
  for (const char* words : {"--help", "--version", "help build"}) {
    const Ended help =
        run_program({"sh", "-c", std::string("\"$0\" ") + words + " > /dev/full", ATTNC});
    EXPECT_EQ(help.status, 3) << words;
  }
}

TEST_F(Usage, ADumbTerminalHasNoColours) {
  file("wrong.attn", "model m(x: [3]) -> y {\n  y[i] = z[i]\n}\n");
  const auto shown = [&](const char* kind) {
    const std::string command = std::string("TERM=") + kind + " " + ATTNC + " check wrong.attn";
    return run_program({"script", "-qec", command, "/dev/null"}, {.folder = folder()});
  };
  const Ended coloured = shown("xterm");
  if (coloured.status == 127) GTEST_SKIP() << "there is no program `script`";
  EXPECT_NE(coloured.out.find("\x1b["), std::string::npos) << coloured.out;
  EXPECT_EQ(shown("dumb").out.find("\x1b["), std::string::npos);
}

TEST_F(Usage, AMisspeltFileHasANeighbour) {
  file("model.attn", kScaled);
  file("parts/model.attn", kScaled);
  EXPECT_EQ(attnc({"check", "modle.attn"}).error,
            "attnc: modle.attn: No such file or directory; did you mean `model.attn`?\n");
  EXPECT_EQ(attnc({"check", "parts/model"}).error,
            "attnc: parts/model: No such file or directory; did you mean `parts/model.attn`?\n");
  EXPECT_EQ(attnc({"check", "other.attn"}).error, "attnc: other.attn: No such file or directory\n");
}

TEST_F(Usage, ASizeIsFoundInAnyCase) {
  file("m.attn", kScaled);
  const Ended e = attnc({"check", "m.attn", "-D", "d=64"});
  EXPECT_EQ(e.status, 1);
  EXPECT_NE(e.error.find("did you mean `D`?"), std::string::npos) << e.error;
}

TEST_F(Usage, DiagnosticsAreObjectsForPrograms) {
  file("wrong.attn", "model m(x: [3]) -> y {\n  y[i] = \"\xff\n  y[i] = xx[i]\n}\n");
  Ended e = attnc({"check", "wrong.attn", "--diagnostics=json"});
  EXPECT_EQ(e.status, 1);
  std::istringstream lines(e.error);
  size_t n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    EXPECT_EQ(line.find(R"({"severity":"error","message":")"), 0u) << line;
    EXPECT_NE(line.find(R"("file":"wrong.attn","line":)"), std::string::npos) << line;
    EXPECT_EQ(line.back(), '}') << line;
  }
  EXPECT_GE(n, 1u) << e.error;
  file("near.attn", "model m(x: [3]) -> y {\n  y[i] = xx[i]\n}\n");
  e = attnc({"build", "near.attn", "--diagnostics", "json"});
  EXPECT_NE(e.error.find(R"("line":2,"column":10,"end_line":2,"end_column":12)"), std::string::npos)
      << e.error;
  EXPECT_NE(e.error.find(R"("help":"did you mean `x`? Or )"), std::string::npos) << e.error;
  file("good.attn", kScaled);
  EXPECT_EQ(attnc({"check", "good.attn", "--diagnostics=json"}).error, "");
  e = attnc({"build", "good.attn", "--diagnostics=json", "-t", "x86-64-v2"});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.error.find(R"({"severity":"note","message":"wrote generated/good.h, )"), 0u)
      << e.error;
  EXPECT_EQ(std::count(e.error.begin(), e.error.end(), '\n'), 1) << e.error;
}

TEST_F(Usage, ARepeatOfTooManyRoundsIsALimitAtItsPlace) {
  file("m.attn", "size N\nmodel m(x: [N]) -> y {\n  repeat l: 100000 {\n  }\n  y[i] = x[i]\n}\n");
  const Ended e = attnc({"check", "m.attn"});
  EXPECT_EQ(e.status, 4) << e.error;
  EXPECT_NE(e.error.find("m.attn:3:13"), std::string::npos) << e.error;
}

TEST_F(Usage, WhatIsWrongWithTheCommandLineIsAnObjectToo) {
  file("m.attn", kScaled);
  struct Case {
    std::vector<std::string> words;
    int status;
    std::string said;
  };
  const Case cases[] = {
      {{"check", "m.attn", "--diagnostics=json", "--nonsense"},
       2,
       "there is no option `--nonsense`"},
      {{"check", "m.attn", "-D", "D=x", "--diagnostics", "json"}, 2, "-D takes SIZE=n"},
      {{"check", "m.attn", "--model", "n", "--diagnostics=json"}, 2, "has no model `n`"},
      {{"chekc", "m.attn", "--diagnostics=json"}, 2, "chekc"},
      {{"build", "m.attn", "--diagnostics=json", "-t", "avx3"}, 2, "no target `avx3`"},
      {{"check", "none.attn", "--diagnostics=json"}, 3, "none.attn: No such file"},
  };
  for (const Case& c : cases) {
    const Ended e = attnc(c.words);
    EXPECT_EQ(e.status, c.status) << e.error;
    EXPECT_EQ(e.error.find(R"({"severity":"error","message":")"), 0u) << e.error;
    EXPECT_NE(e.error.find(c.said), std::string::npos) << e.error;
    EXPECT_EQ(std::count(e.error.begin(), e.error.end(), '\n'), 1) << e.error;
    EXPECT_EQ(e.out, "");
  }
  EXPECT_EQ(attnc({"check", "none.attn", "--diagnostics=text"}).error.find("attnc: none.attn"), 0u);
}

}  // namespace
}  // namespace attn::testing
