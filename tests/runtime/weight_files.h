// Weight files as bytes, and the fixture of their tests.
#pragma once

#include <attn/safetensors.h>
#include <attn/types.h>

#include <string>

#include "files.h"

namespace attn_test {

inline std::string file(const std::string& header, const std::string& data = "") {
  return little(header.size(), 8) + header + data;
}

inline std::string tensor(const std::string& name, const std::string& type,
                          const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

class Weights : public Files {
 protected:
  ~Weights() override { attn_weights_close(weights_); }

  // The message, or "" when the bytes were accepted.
  std::string parse(const std::string& bytes) {
    attn_weights_close(weights_);
    bytes_ = bytes;  // an opened file reads from it later
    const attn_status status = attn_weights_parse(context_, "f", bytes_.data(),
                                                  static_cast<int64_t>(bytes_.size()), &weights_);
    if (status == ATTN_OK) return "";
    EXPECT_EQ(status, ATTN_BAD_FILE);
    EXPECT_EQ(weights_, nullptr);
    return message();
  }
  // One tensor "a" over `bytes` bytes of data.
  std::string parse_one(const std::string& type, const std::string& shape,
                        const std::string& offsets, size_t bytes) {
    return parse(file("{" + tensor("a", type, shape, offsets) + "}", std::string(bytes, '\1')));
  }

  std::string bytes_;
  attn_weights* weights_ = nullptr;
};

}  // namespace attn_test
