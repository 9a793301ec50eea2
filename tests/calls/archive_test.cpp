// What the archives define and what they need.
#ifndef ATTN_SANITIZED
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <string>

namespace attn::testing {
namespace {

std::set<std::string> symbols(const std::string& options, const std::string& archive) {
  const std::string command = "nm --format=posix " + options + " '" + archive + "'";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), n);
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.ends_with(':'))
      continue;  // the name of a member, behind the archive's path
    else if (const size_t space = line.find(' '); space != std::string::npos)
      names.insert(line.substr(0, space));
  return names;
}

bool begins(const std::string& name, std::initializer_list<const char*> prefixes) {
  for (const char* p : prefixes)
    if (name.rfind(p, 0) == 0) return true;
  return false;
}

TEST(Archives, DefineTheirModelsOnly) {
  const auto calls = symbols("--defined-only --extern-only", ATTN_CALLS_ARCHIVE);
  EXPECT_TRUE(calls.count("word_forward") && calls.count("word_model"));
  for (const std::string& name : calls) EXPECT_TRUE(begins(name, {"word_"})) << name;
  const auto names = symbols("--defined-only --extern-only", ATTN_NAMES_ARCHIVE);
  EXPECT_TRUE(names.count("double__forward") && names.count("word2_model"));
  for (const std::string& name : names) EXPECT_TRUE(begins(name, {"double_", "word2_"})) << name;
}

TEST(Archives, NeedTheRuntimeAndLittleOfC) {
  for (const char* archive : {ATTN_CALLS_ARCHIVE, ATTN_NAMES_ARCHIVE}) {
    for (const std::string& name : symbols("--undefined-only", archive)) {
      const bool mathematics = begins(name, {"sin", "cos", "tan", "atan", "exp", "log", "pow",
                                             "floor", "sqrt", "fmod", "trunc", "ceil", "round"});
      EXPECT_TRUE(mathematics || begins(name, {"attn_", "word_", "double_", "word2_", "mem",
                                               "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}))
          << archive << " needs " << name;
    }
  }
}

TEST(Archives, KeepNoStateAndRunNothingBeforeMain) {
  for (const char* archive : {ATTN_CALLS_ARCHIVE, ATTN_NAMES_ARCHIVE}) {
    const std::string command = std::string("readelf -SW '") + archive +
                                "' | grep -cE 'init_array|\\.ctors|\\.fini_array' || true";
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char line[32] = "";
    ASSERT_NE(fgets(line, sizeof line, pipe.get()), nullptr);
    EXPECT_STREQ(line, "0\n") << archive;
  }
}

}  // namespace
}  // namespace attn::testing
#endif
