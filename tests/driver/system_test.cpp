// What the system denies: temporary folders, memory, programs; and signals that end attnc.
#include <algorithm>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModel =
    "size T, D = 4\n"
    "model scaled(x: [T, D]) -> y {\n"
    "  y[i,d] = 2 * x[i,d]\n"
    "}\n";

// Kernels that take a while to compile.
constexpr const char* kLong =
    "size B, T, D = 64, H = 8\n"
    "train model long(x: [B, T, D]) -> y {\n"
    "  param wq: [H, D, D], wk: [H, D, D]\n"
    "  q[b,h,i,e] = sum[d] x[b,i,d] * wq[h,e,d]\n"
    "  k[b,h,j,e] = sum[d] x[b,j,d] * wk[h,e,d]\n"
    "  p[b,h,i,j] = softmax[j where j <= i] (sum[e] q[b,h,i,e] * k[b,h,j,e])\n"
    "  y[b,h,i,d] = sum[j] p[b,h,i,j] * x[b,j,d]\n"
    "}\n";

class System : public Folder {
 protected:
  Ended build(const std::vector<std::string>& environment, const std::string& model = kModel) {
    file("m.attn", model);
    return attnc({"build", "m.attn", "-t", "host", "-o", "out", "--no-cache"},
                 {.environment = environment});
  }
};

TEST_F(System, ATemporaryFolderThatIsNotThereIsNamed) {
  file("plain", "");
  for (const char* name : {"missing", "plain"}) {
    const Ended e = build({"TMPDIR=" + path(name)});
    EXPECT_EQ(e.status, 3);
    EXPECT_EQ(e.error.find("attnc: the temporary folder " + path(name) + " ($TMPDIR): "), 0u)
        << e.error;
    EXPECT_EQ(e.error.find("defect"), std::string::npos) << e.error;
  }
}

TEST_F(System, AFileThatDoesNotFitIsNoDefect) {
  file("m.attn", kLong);
#ifdef __SANITIZE_ADDRESS__  // which warns in more letters than fit
  const long smallest = 1000;
#else
  const long smallest = 100;
#endif
  for (const long bytes : {smallest, 5000L, 20000L}) {
    const Ended e = attnc({"build", "m.attn", "-t", "host", "-o", "out", "--no-cache"},
                          {.environment = {"TMPDIR=" + folder().string()}, .largest_file = bytes});
    EXPECT_EQ(e.status, 3) << bytes << ": " << e.error;
    EXPECT_EQ(e.error.find("attnc: " + path("attnc-")), 0u) << e.error;
    EXPECT_NE(e.error.find(": File too large\n"), std::string::npos) << e.error;
    EXPECT_EQ(e.error.find("LLVM"), std::string::npos) << e.error;
  }
  EXPECT_EQ(names_in(folder()), (std::vector<std::string>{"m.attn", "out"}));
}

TEST_F(System, AFolderWithoutProgramsIsNamed) {
  file("m.attn", "model m(x: f32) -> y { y = 2 * x }\n");
  fs::create_directory(path("tmp"));
  const auto mounted = [&](const char* command) {
    const std::string script = std::string("mount -t tmpfs -o noexec tmpfs tmp && ") + command;
    return run_program({"unshare", "-m", "sh", "-c", script, ATTNC}, {.folder = folder()});
  };
  if (mounted("true").status != 0) GTEST_SKIP() << "this user mounts nothing";
  const Ended e = mounted("TMPDIR=$PWD/tmp exec \"$0\" run m.attn --in x=1 --out out");
  EXPECT_EQ(e.status, 3);
  EXPECT_EQ(e.error.find("attnc: the temporary folder " + path("tmp") +
                         " ($TMPDIR) is on a file "
                         "system without programs (noexec): set TMPDIR"),
            0u)
      << e.error;
}

TEST_F(System, WantOfMemoryIsALimit) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a program with the address sanitizer does not start with so little memory";
#endif
  file("m.attn", kLong);
  bool any = false;
  for (const char* kilobytes : {"200000", "230000", "240000"}) {
    const Ended e = run_program({"sh", "-c",
                                 std::string("ulimit -v ") + kilobytes +
                                     "; exec \"$0\" build m.attn -o out --no-cache -j 1 -t host",
                                 ATTNC},
                                {.folder = folder()});
    // 127: the dynamic linker has no memory for the libraries; 0: it is enough on this machine.
    EXPECT_TRUE(e.status == 4 || e.status == 127 || e.status == 0) << e.status << e.error;
    any = any || e.status == 4;
    if (e.status == 4) {
      EXPECT_NE(e.error.find("out of memory"), std::string::npos) << e.error;
    }
  }
  EXPECT_TRUE(any) << "no limit was too low";
}

TEST_F(System, TheCompilerOfCMayHaveWords) {
  file("cc.sh", "test \"$1\" = first || exit 9\nshift\nexec cc \"$@\"\n");
  const Ended e = build({"CC=sh " + path("cc.sh") + "  first"});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.error.find("warning"), std::string::npos) << e.error;
}

TEST_F(System, ACompilerOfCThatTakesNothingIsNoDefect) {
  file("cc.sh", kRefusingCompiler);
  file("m.attn", "model m(x: f32) -> y { y = 2 * x }\n");
  const std::vector<std::string> commands[] = {
      {"build", "m.attn", "-t", "host", "-o", "out"},
      {"run", "m.attn", "--in", "x=1", "--out", "out"},
  };
  const struct {
    std::string compiler, said;
  } cases[] = {
      {"gcc --nonsense", "--nonsense"},
      {"ls", "ls: "},
      {"sh " + path("cc.sh"), "no\n"},
  };
  for (const auto& c : cases) {
    for (const std::vector<std::string>& command : commands) {
      const Ended e = attnc(command, {.environment = {"CC=" + c.compiler}});
      EXPECT_EQ(e.status, 3) << e.error;
      const std::string named = "by the C compiler that CC names, `" + c.compiler + "`: ";
      const size_t at = e.error.find(named);
      ASSERT_NE(at, std::string::npos) << e.error;
      EXPECT_NE(e.error.find(c.said, at + named.size()), std::string::npos) << e.error;
      EXPECT_EQ(std::count(e.error.begin(), e.error.end(), '\n'), 1) << e.error;
    }
  }
}

TEST_F(System, AnArchiveWithoutTablesIsNotCalledWhole) {
  const struct {
    const char* compiler;
    const char* said;
  } cases[] = {
      {"CC=nocc --fast", "warning: the C compiler `nocc --fast` does not run: No such file"},
      {"CC=false", "warning: the C compiler `false` does not run: exit status 1"},
      {"CC=true", "warning: the C compiler `true` writes no object"},
  };
  for (const auto& c : cases) {
    const Ended e = build({c.compiler});
    EXPECT_EQ(e.status, 0) << e.error;
    EXPECT_EQ(e.error.find(c.said), 0u) << e.error;
    EXPECT_NE(e.error.find("compile out/m.c and link its object too"), std::string::npos);
    EXPECT_NE(e.error.find("out/m.a (kernels only)"), std::string::npos) << e.error;
  }
}

TEST_F(System, HalidesVariablesChangeNothing) {
  const Ended plain = build({});
  const std::string archive = read_bytes(path("out/m.a"));
  const Ended e = build({"HL_DEBUG_CODEGEN=2", "HL_LLVM_ARGS=-nonsense"});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out, "");
  EXPECT_EQ(e.error.find("wrote "), 0u) << e.error.substr(0, 300);
  EXPECT_TRUE(read_bytes(path("out/m.a")) == archive);
}

TEST_F(System, ASignalLeavesNothing) {
  file("m.attn", kLong);
  const struct {
    const char* name;
    int status;
  } signals[] = {{"INT", 130}, {"TERM", 143}, {"HUP", 129}};
  for (const auto& s : signals) {
    fs::create_directory(path("tmp"));
    // Its processes are all that have its model on their command line.
    const std::string script =
        std::string("env --default-signal=") + s.name +
        " TMPDIR=$PWD/tmp \"$0\" build $PWD/m.attn -o out --no-cache & "
        "p=$!; until [ \"$(ls tmp/attnc-* 2>/dev/null)\" ]; do sleep 0.02; done; "
        "kill -" +
        s.name +
        " $p; wait $p; status=$?; "
        "pgrep -f \"build $PWD/m.attn\" && exit 1; exit $status";
    const Ended e = run_program({"bash", "-c", script, ATTNC}, {.folder = folder()});
    EXPECT_EQ(e.status, s.status) << s.name << e.out << e.error;
    EXPECT_EQ(names_in(path("tmp")), std::vector<std::string>{}) << s.name;
    EXPECT_TRUE(names_in(path("out")).empty());
    fs::remove_all(path("tmp"));
  }
}

TEST_F(System, ProgressIsSaidWithoutATerminal) {
  file("m.attn", kModel);
  const auto with = [&](const char* how) {
    return attnc(
               {"build", "m.attn", "-t", "x86-64-v2", "-o", "out", "--no-cache", "--progress", how})
        .error;
  };
  const std::string on = with("on");
  EXPECT_EQ(on.find("[1/1] scaled_forward_0_y_v2\ncompiled 1 kernel in "), 0u) << on;
  EXPECT_NE(on.find(", 0 from the cache\nwrote "), std::string::npos) << on;
  for (const char* how : {"off", "auto"}) EXPECT_EQ(with(how).find("wrote "), 0u);
}

}  // namespace
}  // namespace attn::testing
