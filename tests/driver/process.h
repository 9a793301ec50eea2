// Runs attnc in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace attn::testing {

struct Ended {
  int status = -1;  // 128 + n where signal n ended it
  std::string out, error;
};

struct How {
  std::filesystem::path folder;          // to run in; empty: the test's
  std::vector<std::string> environment;  // "NAME=value", beside what there is
  long largest_file = -1;                // bytes; a file that grows further is an error
  std::string standard_error;            // a path; empty: captured
};

// attnc with these arguments. A death by signal is a failure of the test.
Ended attnc(const std::vector<std::string>& arguments, const How& how = {});
Ended run_program(const std::vector<std::string>& command, const How& how = {});

// A folder for one test, removed after it.
class Folder : public ::testing::Test {
 protected:
  Folder();
  ~Folder() override;
  const std::filesystem::path& folder() const { return folder_; }
  // Writes a file there and gives its path.
  std::string file(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Ended attnc(const std::vector<std::string>& arguments, How how = {}) const;

 private:
  std::filesystem::path folder_;
};

// A model of one kernel, with a parameter, in the canonical layout.
inline constexpr const char* kScaled =
    "size T, D = 4\n"
    "\n"
    "model scaled(x: [T, D]) -> y {\n"
    "  param w: [D]\n"
    "  y[i,d] = x[i,d] * w[d]\n"
    "}\n";

// A shell script: a C compiler that runs, and takes no file.
inline constexpr const char* kRefusingCompiler =
    "case \"$*\" in *--version*) echo cc 1.0 ;; *) echo no; exit 1 ;; esac\n";

std::string read_bytes(const std::filesystem::path& path);
// Names of everything in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace attn::testing
