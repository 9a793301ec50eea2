// The cache of compiled objects: what lies in it becomes code.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

class Cached : public Folder {
 protected:
  Cached() { file("m.attn", kScaled); }
  Ended build(const std::vector<std::string>& environment = {}) {
    How how{.environment = environment};
    how.environment.push_back("ATTNC_CACHE_DIR=" + path("cache"));
    return attnc({"build", "m.attn", "-t", "host", "-o", "out"}, how);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const std::string& name : names_in(path("cache")))
      all.push_back(folder() / "cache" / name);
    return all;
  }
};

TEST_F(Cached, ADamagedEntryCountsAsAbsentAndIsReplaced) {
  ASSERT_EQ(build().status, 0);
  const std::string archive = read_bytes(path("out/m.a"));
  std::vector<std::string> good;
  for (const fs::path& e : entries()) good.push_back(read_bytes(e));
  ASSERT_EQ(good.size(), 2u);
  using Damage = std::function<std::string(std::string)>;
  const Damage damages[] = {
      [](const std::string&) { return std::string(); },
      [](const std::string& text) { return text.substr(0, 500); },
      [](const std::string& text) { return text + "x"; },
      [](std::string text) {
        text[text.size() / 2] ^= 1;
        return text;
      },
      [](std::string text) {
        text[20] = text[20] == '0' ? '1' : '0';  // of the hash
        return text;
      },
      [](const std::string&) { return std::string(500, '\0'); },
  };
  for (const Damage& damage : damages) {
    for (const fs::path& e : entries()) {
      const std::string damaged = damage(read_bytes(e));
      std::ofstream(e, std::ios::binary) << damaged;
    }
    fs::remove_all(path("out"));
    const Ended e = build();
    ASSERT_EQ(e.status, 0) << e.error;
    EXPECT_TRUE(read_bytes(path("out/m.a")) == archive);
    for (size_t k = 0; k < good.size(); ++k) EXPECT_TRUE(read_bytes(entries()[k]) == good[k]);
  }
}

TEST_F(Cached, IsOursAlone) {
  const mode_t before = umask(0);
  ASSERT_EQ(build().status, 0);
  umask(before);
  EXPECT_EQ(fs::status(path("cache")).permissions(), fs::perms::owner_all);
  for (const fs::path& e : entries())
    EXPECT_EQ(fs::status(e).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Cached, IsNotUsedWhereOthersMayWrite) {
  fs::create_directory(path("cache"));
  fs::permissions(path("cache"), fs::perms::all);
  Ended e = build();
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(
      e.error.find("note: the cache " + path("cache") + " is not used: others may write to it\n"),
      0u)
      << e.error;
  EXPECT_EQ(e.error.find("note: ", 1), std::string::npos) << "said twice:\n" << e.error;
  EXPECT_TRUE(entries().empty());
  fs::permissions(path("cache"), fs::perms::owner_all);
  if (geteuid() != 0 || chown(path("cache").c_str(), 1, static_cast<gid_t>(-1)) != 0) return;
  e = build();
  EXPECT_NE(e.error.find("is not used: belongs to somebody else\n"), std::string::npos) << e.error;
  EXPECT_TRUE(entries().empty());
}

TEST_F(Cached, SaysWhyTheFolderAboveItIsNotMade) {
  // Nobody makes folders there.
  const std::string folder = "/sys/attnc/cache/here";
  if (!fs::exists("/sys/kernel") || mkdir("/sys/attnc", 0700) == 0) GTEST_SKIP();
  const std::string why = std::strerror(errno);
  const Ended e = attnc({"build", "m.attn", "-t", "host", "-o", "out"},
                        {.environment = {"ATTNC_CACHE_DIR=" + folder}});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.error.find("note: the cache " + folder + " is not used: " + why + "\n"), 0u)
      << e.error;
}

TEST_F(Cached, SaysOnceThatItsDiskIsFull) {
  fs::create_directory(path("cache"));
  const auto mounted = [&](const char* command) {
    const std::string script =
        std::string("mount -t tmpfs -o size=4k,mode=700 tmpfs cache && ") + command;
    return run_program({"unshare", "-m", "sh", "-c", script, ATTNC},
                       {.folder = folder(), .environment = {"ATTNC_CACHE_DIR=" + path("cache")}});
  };
  if (mounted("true").status != 0) GTEST_SKIP() << "this user mounts nothing";
  const Ended e = mounted("exec \"$0\" build m.attn -t host -o out");
  EXPECT_EQ(e.status, 0) << e.error;
  const std::string note =
      "note: the cache " + path("cache") + " cannot be written: No space left on device\n";
  EXPECT_EQ(e.error.find(note), 0u) << e.error;
  EXPECT_EQ(e.error.find("note: ", 1), std::string::npos) << "said twice:\n" << e.error;
}

TEST_F(Cached, FollowsNoLink) {
  ASSERT_EQ(build().status, 0);
  const fs::path entry = entries()[0];
  fs::rename(entry, path("elsewhere"));
  fs::create_symlink(path("elsewhere"), entry);
  ASSERT_EQ(build().status, 0);
  EXPECT_FALSE(fs::is_symlink(entry));
  EXPECT_EQ(read_bytes(entry), read_bytes(path("elsewhere")));
}

TEST_F(Cached, LosesWhatWasUsedLeastRecently) {
  ASSERT_EQ(build().status, 0);
  EXPECT_EQ(entries().size(), 2u);
  // 1 MB of an entry that nobody has used for long, and a file that is none.
  const fs::path old = folder() / "cache" / (std::string(64, '0') + ".object");
  std::ofstream(old) << std::string(1 << 20, 'x');
  file("cache/README", "mine");
  const timespec long_ago[] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, old.c_str(), long_ago, 0);
  file("m.attn", std::string(kScaled).replace(std::string(kScaled).find("* w"), 1, "+"));
  ASSERT_EQ(build({"ATTNC_CACHE_MAX=1"}).status, 0);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_EQ(entries().size(), 5u);
  file("m.attn", std::string(kScaled).replace(std::string(kScaled).find("* w"), 1, "-"));
  ASSERT_EQ(build({"ATTNC_CACHE_MAX=0"}).status, 0);
  EXPECT_EQ(names_in(path("cache")), std::vector<std::string>{"README"});
}

TEST_F(Cached, RefusesASizeThatIsNoNumber) {
  for (const std::string size : {"abc", "12x", "-1", "99999999999999999999"}) {
    const Ended e = build({"ATTNC_CACHE_MAX=" + size});
    EXPECT_EQ(e.status, 2) << size;
    EXPECT_NE(e.error.find("ATTNC_CACHE_MAX takes megabytes, not `" + size + "`"),
              std::string::npos)
        << e.error;
  }
  EXPECT_EQ(build({"ATTNC_CACHE_MAX="}).status, 0);
}

}  // namespace
}  // namespace attn::testing
