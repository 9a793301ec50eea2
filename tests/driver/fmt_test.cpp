// attnc fmt: what it prints, what it writes, and what it leaves alone.
#include <sys/stat.h>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWild =
    "size T,D=4\nmodel scaled(x:[T,D])->y{param w:[D]\ny[i,d]=x[i,d]*w[d]}";

class Fmt : public Folder {
 protected:
  Ended shell(const std::string& command) {
    return run_program({"sh", "-c", command, ATTNC}, {.folder = folder()});
  }
};

TEST_F(Fmt, FmtPrintsOrChecks) {
  file("plain.attn", kScaled);
  const Ended same = attnc({"fmt", "plain.attn"});
  EXPECT_EQ(same.status, 0);
  EXPECT_EQ(same.out, kScaled);
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

TEST_F(Fmt, ReadsStandardInput) {
  file("wild.attn", kWild);
  const std::string printed = attnc({"fmt", "wild.attn"}).out;
  const Ended e = shell("\"$0\" fmt - < wild.attn");
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out, printed);
  EXPECT_EQ(shell("cat wild.attn | \"$0\" check -").status, 0);
  const Ended wrong = shell("echo 'modle m' | \"$0\" fmt -");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.error.find("--> <stdin>:1:1"), std::string::npos) << wrong.error;
}

TEST_F(Fmt, WritesSeveralFilesInPlace) {
  file("a.attn", kWild);
  file("b.attn", kScaled);
  file("c.attn", kWild);
  fs::permissions(path("a.attn"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("c.attn", path("link.attn"));
  const std::string printed = attnc({"fmt", "a.attn"}).out;
  const auto untouched = fs::last_write_time(path("b.attn"));
  const Ended e = attnc({"fmt", "-w", "a.attn", "b.attn", "link.attn"});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out + e.error, "");
  EXPECT_EQ(read_bytes(path("a.attn")), printed);
  EXPECT_EQ(read_bytes(path("c.attn")), printed);
  EXPECT_TRUE(fs::is_symlink(path("link.attn")));
  EXPECT_EQ(fs::last_write_time(path("b.attn")), untouched);
  EXPECT_EQ(fs::status(path("a.attn")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(names_in(folder()).size(), 4u);
}

TEST_F(Fmt, AnErrorInOneFileLeavesItAndDoesTheOthers) {
  file("wrong.attn", "modle");
  file("wild.attn", kWild);
  EXPECT_EQ(attnc({"fmt", "-w", "wrong.attn", "wild.attn"}).status, 1);
  EXPECT_EQ(read_bytes(path("wrong.attn")), "modle");
  EXPECT_EQ(attnc({"fmt", "--check", "wild.attn"}).status, 0);
}

TEST_F(Fmt, ShowsWhatWouldChange) {
  file("wild.attn", kWild);
  file("plain.attn", kScaled);
  const Ended e = attnc({"fmt", "--diff", "wild.attn", "plain.attn"});
  EXPECT_EQ(e.status, 1);
  EXPECT_EQ(e.out.find("--- wild.attn\n+++ wild.attn (canonical)\n@@ "), 0u) << e.out;
  EXPECT_NE(e.out.find("\n-size T,D=4\n"), std::string::npos) << e.out;
  EXPECT_EQ(read_bytes(path("wild.attn")), kWild);
  EXPECT_EQ(attnc({"fmt", "--diff", "plain.attn"}).status, 0);
}

TEST_F(Fmt, SaysWhyAFileMayBeEmpty) {
  file("m.attn", kScaled);
  const Ended e = shell("\"$0\" fmt m.attn > m.attn");
  EXPECT_EQ(e.status, 1);
  EXPECT_EQ(e.error,
            "attnc: m.attn is empty (did the shell truncate it? use `attnc fmt -w m.attn`)\n");
}

}  // namespace
}  // namespace attn::testing
