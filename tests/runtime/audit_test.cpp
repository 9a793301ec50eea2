// What the archive may not refer to, and that it keeps no state. Sanitizers add both.
#ifndef ATTN_SANITIZED
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace {

std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), n);
  }
  return text;
}

TEST(Archive, NeedsNoCxxLibraryAndEndsNoProcess) {
  const std::string symbols = output_of("nm -u '" ATTN_RT_ARCHIVE "'");
  ASSERT_NE(symbols.find("posix_memalign"), std::string::npos);
  // _Zn and _Zd are operators new and delete; _ZSt, _ZNSt and _ZNKSt the standard library.
  for (const char* word : {" abort\n", " exit\n", "_exit\n", " __cxa_", " __gxx_", " _Unwind_",
                           " _Zn", " _Zd", " _ZSt", " _ZNSt", " _ZNKSt", " __assert", " printf\n",
                           " puts\n", " getenv\n", " raise\n", " stderr\n", " stdout\n"}) {
    EXPECT_EQ(symbols.find(word), std::string::npos) << word;
  }
}

TEST(Archive, HasNoStaticInitialisersAndLittleState) {
  const std::string sections = output_of("readelf -SW '" ATTN_RT_ARCHIVE "'");
  ASSERT_NE(sections.find(".text"), std::string::npos);
  EXPECT_EQ(sections.find(".init_array"), std::string::npos);
  EXPECT_EQ(sections.find(".ctors"), std::string::npos);
  // The variables are the pointer by which a thread knows the pool it works for, and the count of
  // kernels' objects that have run on a device.
  // Tables of constant addresses count as data, too.
  const std::string variables =
      output_of("nm -C '" ATTN_RT_ARCHIVE "' | grep -E ' [bBdDcCuV] ' | grep -v '::k[A-Z]'");
  EXPECT_NE(variables.find("t_worker\n"), std::string::npos) << variables;
  EXPECT_NE(variables.find("::objects\n"), std::string::npos) << variables;
  EXPECT_EQ(std::count(variables.begin(), variables.end(), '\n'), 2) << variables;
}

}  // namespace
#endif
