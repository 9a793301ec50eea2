// A folder that is removed at the end, byte strings, and a context for tests of files.
#pragma once

#include <attn/attn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace attn_test {

class Files : public testing::Test {
 protected:
  Files() {
    attn_context_options options = {};
    options.threads = 2;
    attn_context_create(&options, &context_);
    std::string pattern = (std::filesystem::temp_directory_path() / "attn_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override {
    attn_context_destroy(context_);
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t file_count() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }
  std::string message() const { return attn_context_message(context_); }

  attn_context* context_ = nullptr;
  std::string folder_;
};

// `bytes` bytes of a number, lowest first.
inline std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += static_cast<char>(value >> (8 * k));
  return text;
}

// The elements as they lie in memory.
template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

}  // namespace attn_test
