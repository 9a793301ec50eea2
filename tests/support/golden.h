// Golden files: what a program says, compared with a file that is reviewed like source.
// ATTN_UPDATE_GOLDENS=1 in the environment rewrites the files instead of comparing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace attn::testing {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) ADD_FAILURE() << "cannot read " << path;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

inline bool updating_goldens() {
  const char* value = std::getenv("ATTN_UPDATE_GOLDENS");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

// Compares `actual` with the text of the file, or writes it there when goldens are being updated.
// A missing file is a failure, so that a golden cannot be forgotten.
inline void expect_golden(const std::filesystem::path& path, const std::string& actual) {
  if (updating_goldens()) {
    if (std::filesystem::exists(path) && read_text(path) == actual) return;
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  if (!std::filesystem::exists(path)) {
    ADD_FAILURE() << path << " is missing; ATTN_UPDATE_GOLDENS=1 writes it:\n" << actual;
    return;
  }
  EXPECT_EQ(read_text(path), actual) << "in " << path << " (ATTN_UPDATE_GOLDENS=1 rewrites it)";
}

// The same for a part of a page: what stands between the line `<!-- NAME -->` and `<!-- end -->`.
inline void expect_golden_part(const std::filesystem::path& page, const std::string& name,
                               const std::string& actual) {
  const std::string text = read_text(page), head = "<!-- " + name + " -->\n";
  const size_t at = text.find(head), begin = at + head.size();
  const size_t end = at == std::string::npos ? at : text.find("<!-- end -->", begin);
  ASSERT_NE(end, std::string::npos) << page << " has no part " << name;
  expect_golden(page, text.substr(0, begin) + actual + text.substr(end));
}

// The files of a folder with the given extension (".attn"), sorted by name.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == extension) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Runs every NAME.attn of the folder through `run`, which returns what the user would see, and
// compares it with NAME.expected (or another extension). The names of files in messages should not
// depend on the machine: give sources the path's filename().
inline void expect_goldens_in(const std::filesystem::path& folder,
                              const std::function<std::string(const std::filesystem::path&)>& run,
                              const std::string& expected_extension = ".expected") {
  const auto files = files_in(folder, ".attn");
  EXPECT_FALSE(files.empty()) << "no .attn file in " << folder;
  for (std::filesystem::path file : files) {
    SCOPED_TRACE(file.string());
    const std::string actual = run(file);
    expect_golden(file.replace_extension(expected_extension), actual);
  }
}

}  // namespace attn::testing
