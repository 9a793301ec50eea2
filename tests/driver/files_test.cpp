// Files that are missing, strange or in the way; and what a build leaves in its folder.
#include <attn/describe.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/driver/process.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPart = "block half(x: [...]) -> y { y[...] = 0.5 * x[...] }\n";

std::string using_part(const std::string& path) {
  return "use \"" + path + "\"\nsize T\nmodel m(x: [T]) -> y { y = half(x) }\n";
}

class Files : public Folder {};

TEST_F(Files, TheMainFileMustBeReadable) {
  fs::create_directory(path("folder.attn"));
  ASSERT_EQ(mkfifo(path("pipe.attn").c_str(), 0600), 0);
  fs::create_symlink("nothing", path("dangling.attn"));
  const struct {
    const char* name;
    const char* said;
  } cases[] = {{"missing.attn", "attnc: missing.attn: No such file or directory\n"},
               {"folder.attn", "attnc: folder.attn: is a directory\n"},
               {"pipe.attn", "attnc: pipe.attn: is not a regular file\n"},
               {"dangling.attn", "attnc: dangling.attn: No such file or directory\n"},
               {"/dev/null", "attnc: /dev/null: is not a regular file\n"}};
  for (const auto& c : cases) {
    for (const char* command : {"check", "build", "fmt", "run"}) {
      const Ended e = attnc({command, c.name});
      EXPECT_EQ(e.status, 3) << c.name;
      EXPECT_EQ(e.error, c.said);
    }
  }
}

TEST_F(Files, StandardInputIsForFmtAndCheck) {
  for (const char* command : {"build", "run"}) {
    const Ended e = attnc({command, "-"});
    EXPECT_EQ(e.status, 3);
    EXPECT_EQ(e.error, "attnc: -: standard input is not read; name a file\n");
  }
}

TEST_F(Files, APartIsFoundBesideAndBelow) {
  file("half.attn", kPart);
  file("parts/half.attn", kPart);
  file("parts/through.attn",
       "use \"../half.attn\"\nblock quarter(x: [...]) -> y { a = half(x)\n y = half(a) }\n");
  file("a.attn", using_part("half.attn"));
  file("b.attn", using_part("parts/../parts/half.attn"));
  file("c.attn",
       "use \"parts/through.attn\"\nuse \"half.attn\"\nsize T\n"
       "model m(x: [T]) -> y { a = half(x)\n y = quarter(a) }\n");
  for (const char* name : {"a.attn", "b.attn", "c.attn"})
    EXPECT_EQ(attnc({"check", name}).status, 0) << attnc({"check", name}).error;
  // The folder of the program is its root, from wherever attnc is called.
  EXPECT_EQ(attnc({"check", path("c.attn")}, {.folder = "/"}).status, 0);
}

TEST_F(Files, APartOutsideOrNoRegularFileIsRefused) {
  file("half.attn", kPart);
  fs::create_directories(path("root/folder.attn"));
  fs::create_symlink("../half.attn", path("root/link.attn"));
  fs::create_symlink("..", path("root/up"));
  fs::create_symlink("inside.attn", path("root/friend.attn"));
  file("root/inside.attn", kPart);
  ASSERT_EQ(mkfifo(path("root/pipe.attn").c_str(), 0600), 0);
  const struct {
    std::string name;
    const char* said;
  } cases[] = {
      {"../half.attn", "it lies outside the folder of the program"},
      {"x/../../half.attn", "it lies outside the folder of the program"},
      {"../../etc/passwd", "it lies outside the folder of the program"},
      {path("half.attn"), "write a path relative to this file"},
      {"~/half.attn", "write a path relative to this file"},
      {"\\\\\\\\host\\\\half.attn", "use"},
      {"link.attn", "is a symbolic link"},
      {"friend.attn", "is a symbolic link"},
      {"up/half.attn", "is a symbolic link"},
      {"pipe.attn", "is not a regular file"},
      {"folder.attn", "is a directory"},
      {"missing.attn", "No such file or directory"},
      {"Inside.attn", "No such file or directory"},
      {"inside.attn/half.attn", "Not a directory"},
  };
  for (const auto& c : cases) {
    const Ended e = attnc({"check", file("root/m.attn", using_part(c.name))});
    EXPECT_EQ(e.status, 1) << c.name;
    EXPECT_NE(e.error.find(c.said), std::string::npos) << c.name << "\n" << e.error;
    EXPECT_NE(e.error.find("m.attn:1:"), std::string::npos) << e.error;
  }
}

TEST_F(Files, PartsInACircleAreShown) {
  file("a.attn", "use \"b.attn\"\nblock a(x: [...]) -> y { y[...] = x[...] }\n");
  file("b.attn", "use \"a.attn\"\n" + std::string(kPart));
  file("m.attn", using_part("a.attn"));
  file("self.attn", using_part("self.attn"));
  for (const char* name : {"m.attn", "self.attn", "./self.attn"}) {
    const Ended e = attnc({"check", name});
    EXPECT_EQ(e.status, 1) << name;
    EXPECT_NE(e.error.find("files use each other in a cycle"), std::string::npos) << e.error;
  }
}

TEST_F(Files, DiamondsAreReadOnce) {
  // 2^30 paths lead to the last file.
  file("p0.attn", kPart);
  for (int k = 1; k <= 30; ++k) {
    const std::string below = std::to_string(k - 1);
    const std::string uses = "use \"" + std::string(k == 1 ? "p" : "l") + below + ".attn\"\n" +
                             (k == 1 ? "" : "use \"r" + below + ".attn\"\n");
    file("l" + std::to_string(k) + ".attn",
         uses + "block l" + std::to_string(k) + "(x: [...]) -> y { y[...] = x[...] }\n");
    file("r" + std::to_string(k) + ".attn",
         uses + "block r" + std::to_string(k) + "(x: [...]) -> y { y[...] = x[...] }\n");
  }
  file("m.attn",
       "use \"l30.attn\"\nuse \"r30.attn\"\nsize T\nmodel m(x: [T]) -> y { a = l30(x)\n y = r30(a) "
       "}\n");
  const Ended e = attnc({"check", "m.attn"});
  EXPECT_EQ(e.status, 0) << e.error;
}

TEST_F(Files, ManyLargePartsAreALimit) {
  std::string uses;
  for (int k = 0; k < 18; ++k) {
    const std::string name = "p" + std::to_string(k) + ".attn";
    file(name, std::string(1000000, '#') + "\n");
    uses += "use \"" + name + "\"\n";
  }
  file("m.attn", uses + kScaled);
  EXPECT_EQ(attnc({"check", "m.attn"}).status, 4);
}

// ---- what is written

class Outputs : public Folder {
 protected:
  Ended build(std::vector<std::string> options, const How& how = {}) {
    std::vector<std::string> all{"build", "--target", "host", "--progress", "off"};
    all.insert(all.end(), options.begin(), options.end());
    return attnc(all, how);
  }
};

TEST_F(Outputs, AreThreeFilesAndNothingElse) {
  file("m.attn", kScaled);
  const Ended e = build({"m.attn", "-o", "out/deep"});
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.out, "");
  EXPECT_EQ(names_in(path("out/deep")), (std::vector<std::string>{"m.a", "m.c", "m.h"}));
  const Ended named = build({"m.attn", "-o", "out/deep", "--name", "other"});
  ASSERT_EQ(named.status, 0) << named.error;
  EXPECT_EQ(names_in(path("out/deep")).size(), 6u);
  // Where no folder is named, it is `generated`.
  ASSERT_EQ(build({"m.attn"}).status, 0);
  EXPECT_EQ(names_in(path("generated")).size(), 3u);
}

TEST_F(Outputs, AreTheSameBytesWhereverAndWheneverTheyAreBuilt) {
  file("one/m.attn", kScaled);
  file("two words/m.attn", kScaled);
  ASSERT_EQ(build({"m.attn", "-o", "out"}, {.folder = path("one")}).status, 0);
  const Ended e = build(
      {path("two words/m.attn"), "-o", path("two words/out"), "--no-cache"},
      {.folder = "/",
       .environment = {"LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo", "TMPDIR=" + path("two words")}});
  ASSERT_EQ(e.status, 0) << e.error;
  for (const char* name : {"m.h", "m.c", "m.a"}) {
    const std::string bytes = read_bytes(folder() / "one/out" / name);
    EXPECT_GT(bytes.size(), 100u);
    EXPECT_TRUE(bytes == read_bytes(folder() / "two words/out" / name)) << name;
    EXPECT_EQ(bytes.find("/tmp/"), std::string::npos) << name << " names a folder";
  }
  // And nothing of the temporary files is left.
  EXPECT_EQ(names_in(path("two words")), (std::vector<std::string>{"m.attn", "out"}));
}

TEST_F(Outputs, ComeFromTheCacheWhereNothingChanged) {
  file("m.attn", kScaled);
  const std::string compiler =
      file("cc.sh", "#!/bin/sh\necho \"$@\" >> \"$LOG\"\nexec cc \"$@\"\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  // How often the C compiler has compiled.
  const auto compilations = [&] {
    const std::string log = read_bytes(path("log"));
    size_t n = 0;
    for (size_t at = log.find(" -c "); at != std::string::npos; at = log.find(" -c ", at + 1)) ++n;
    return n;
  };
  const How how{
      .environment = {"CC=" + compiler, "LOG=" + path("log"), "ATTNC_CACHE_DIR=" + path("cache")}};
  ASSERT_EQ(build({"m.attn", "-o", "out"}, how).status, 0);
  EXPECT_EQ(compilations(), 1u);
  const std::string first = read_bytes(path("out/m.a"));
  const std::vector<std::string> cached = names_in(path("cache"));
  ASSERT_EQ(build({"m.attn", "-o", "out"}, how).status, 0);
  EXPECT_EQ(compilations(), 1u);
  EXPECT_TRUE(read_bytes(path("out/m.a")) == first);
  EXPECT_EQ(names_in(path("cache")), cached);
  // The name is in the tables.
  ASSERT_EQ(build({"m.attn", "-o", "out", "--name", "other"}, how).status, 0);
  EXPECT_EQ(compilations(), 2u);
  ASSERT_EQ(build({"m.attn", "-o", "out", "--no-cache"}, how).status, 0);
  EXPECT_EQ(compilations(), 3u);
  EXPECT_TRUE(read_bytes(path("out/m.a")) == first);
}

TEST_F(Outputs, ASharedLibraryListsItsModelsAndHasTheRuntime) {
  file("m.attn", std::string(kScaled) + "model twice(x: [T]) -> y { y[i] = 2 * x[i] }\n");
  const Ended e = build({"m.attn", "-o", "out", "--shared"});
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.error.find("wrote out/m.h, out/m.c, out/m.a, out/m.so: "), std::string::npos);
  const std::string first = read_bytes(path("out/m.so"));
  ASSERT_EQ(build({"m.attn", "-o", "elsewhere/out", "--shared", "--no-cache"}).status, 0);
#ifndef __SANITIZE_ADDRESS__  // which names temporary files in what it makes
  EXPECT_TRUE(read_bytes(path("elsewhere/out/m.so")) == first);
  void* library = dlopen(path("out/m.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto model =
      reinterpret_cast<decltype(&attn_library_model)>(dlsym(library, "attn_library_model"));
  auto describe =
      reinterpret_cast<decltype(&attn_describe_model)>(dlsym(library, "attn_describe_model"));
  ASSERT_TRUE(model != nullptr && describe != nullptr);
  EXPECT_STREQ(model(0)->name, "scaled");
  EXPECT_STREQ(model(1)->name, "twice");
  EXPECT_EQ(model(2), nullptr);
  EXPECT_EQ(model(-1), nullptr);
  char text[1000];
  EXPECT_LT(describe(model(1), text, sizeof text), 1000);
  EXPECT_EQ(std::string(text).substr(0, 15), "{\"name\":\"twice\"");
  dlclose(library);
#endif
}

TEST_F(Outputs, ASharedLibraryNeedsACompiler) {
  file("m.attn", kScaled);
  const How how{.environment = {"CC=no-such-cc"}};
  EXPECT_EQ(build({"m.attn", "-o", "out"}, how).status, 0);
  const Ended e = build({"m.attn", "-o", "shared", "--shared"}, how);
  EXPECT_EQ(e.status, 3);
  EXPECT_EQ(e.error,
            "attnc: a shared library is linked by a C compiler (the C compiler "
            "`no-such-cc` does not run: No such file or directory): install "
            "one, name it in CC, or take a library that was built elsewhere\n");
  EXPECT_TRUE(names_in(path("shared")).empty());
}

TEST_F(Outputs, OldOnesStayWhereTheNewOnesFail) {
  file("m.attn", kScaled);
  ASSERT_EQ(build({"m.attn", "-o", "out"}).status, 0);
  const std::string old = read_bytes(path("out/m.h"));
  const auto unchanged = [&](const std::vector<std::string>& names) {
    EXPECT_EQ(names_in(path("out")), names);
    EXPECT_TRUE(read_bytes(path("out/m.h")) == old);
  };
  // Other text, so that every file would change.
  std::string text = kScaled;
  text.replace(text.find("w: [D]"), 6, "u: [D]").replace(text.find("w[d]"), 4, "u[d]");

  file("m.attn", text + "model broken(x: [2]) -> y { y = }\n");
  EXPECT_EQ(build({"m.attn", "-o", "out"}).status, 1);
  unchanged({"m.a", "m.c", "m.h"});

  file("m.attn", text);
  const std::string compiler = "CC=sh " + file("cc.sh", kRefusingCompiler);
  EXPECT_EQ(build({"m.attn", "-o", "out"}, {.environment = {compiler}}).status, 3);
  unchanged({"m.a", "m.c", "m.h"});

  // Disks that are full at some byte.
  const long archive = static_cast<long>(fs::file_size(path("out/m.a")));
  for (const long bytes : {100L, archive / 2, archive - 100}) {
    const Ended e = build({"m.attn", "-o", "out"}, {.largest_file = bytes});
    EXPECT_TRUE(e.status == 3 || e.status == 70) << e.status << e.error;
    unchanged({"m.a", "m.c", "m.h"});
  }

  // A folder where the archive should be.
  fs::remove(path("out/m.a"));
  fs::create_directory(path("out/m.a"));
  const Ended e = build({"m.attn", "-o", "out"});
  EXPECT_EQ(e.status, 3);
  EXPECT_EQ(e.error, "attnc: out/m.a: Is a directory\n");
  unchanged({"m.a", "m.c", "m.h"});
}

TEST_F(Outputs, NeedAFolderThatCanBeMade) {
  file("m.attn", kScaled);
  const Ended e = build({"m.attn", "-o", "m.attn/out"});
  EXPECT_EQ(e.status, 3);
  EXPECT_NE(e.error.find("m.attn/out"), std::string::npos) << e.error;
  EXPECT_EQ(build({"m.attn", "-o", "/proc/out"}).status, 3);
}

TEST_F(Outputs, NeverTakeThePlaceOfAPipeOrADevice) {
  file("m.attn", kScaled);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link"));
  // Without a reader there is nothing to write to.
  for (const char* name : {"pipe", "link"}) {
    const Ended e = attnc({"report", "m.attn", "-o", name});
    EXPECT_EQ(e.status, 3);
    EXPECT_EQ(e.error, std::string("attnc: ") + name + ": No such device or address\n");
  }
  // With one, it gets the report.
  const Ended e =
      run_program({"sh", "-c", "cat pipe > read & \"$0\" report m.attn -o link && wait $!", ATTNC},
                  {.folder = folder()});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_NE(read_bytes(path("read")).find("<html"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  // A link to the standard output stays one, whatever that is.
  fs::create_symlink("/proc/self/fd/1", path("stdout"));
  EXPECT_NE(attnc({"report", "m.attn", "-o", "stdout"}).out.find("<html"), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(path("stdout")));
}

TEST_F(Outputs, FollowNoLinkThatWaitsForThem) {
  file("m.attn", kScaled);
  file("precious", "mine");
  // The name by which a part was once found: that of the process.
  const Ended e = run_program({"bash", "-c",
                               "ln -s precious r.html.$$.part && exec \"$0\" report "
                               "m.attn -o r.html",
                               ATTNC},
                              {.folder = folder()});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(read_bytes(path("precious")), "mine");
}

TEST_F(Outputs, NeverReplaceTheSource) {
  file("m.c", kScaled);
  const Ended e = build({"m.c", "-o", "."});
  EXPECT_EQ(e.status, 2);
  EXPECT_NE(e.error.find("m.c would be written over"), std::string::npos) << e.error;
  EXPECT_EQ(read_bytes(path("m.c")), kScaled);
}

TEST_F(Outputs, ReplaceALinkAndNotWhatItNames) {
  file("m.attn", kScaled);
  file("precious", "mine");
  fs::create_directory(path("out"));
  fs::create_symlink("../precious", path("out/m.h"));
  ASSERT_EQ(build({"m.attn", "-o", "out"}).status, 0);
  EXPECT_FALSE(fs::is_symlink(path("out/m.h")));
  EXPECT_EQ(read_bytes(path("precious")), "mine");
}

TEST_F(Outputs, OfFilesWithAwkwardNames) {
  for (const char* name :
       {"a b.attn", "quote\"s.attn", "new\nline.attn", "caf\xe9.attn", "$(x);.attn"}) {
    file(name, kScaled);
    const Ended e = build({name, "-o", "out here"});
    EXPECT_EQ(e.status, 0) << e.error;
  }
  EXPECT_EQ(names_in(path("out here")).size(), 15u);
  for (const std::string& name : names_in(path("out here")))
    EXPECT_EQ(name.find_first_of(" \"\n\xe9$();"), std::string::npos) << name;
}

TEST_F(Outputs, OfTwoBuildsAtOnceAreWhole) {
  file("m.attn", kScaled);
  const std::string both =
      "\"$0\" build m.attn -t host -o out & \"$0\" build m.attn -t host -o out "
      "--no-cache; a=$?; wait $! && exit $a";
  const Ended e = run_program({"sh", "-c", both, ATTNC}, {.folder = folder()});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(names_in(path("out")), (std::vector<std::string>{"m.a", "m.c", "m.h"}));
}

}  // namespace
}  // namespace attn::testing
