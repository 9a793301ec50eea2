// What an example does with a call that failed.
#pragma once

#include <attn/tensor.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace example {

// Ends the program with the text of a call that failed.
inline void must(const attn::Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.text().c_str());
  std::exit(1);
}
// The same for what is no call of attn: a file that cannot be read or written.
inline void must(bool good, const std::string& complaint) {
  if (!good) must(attn::Status(ATTN_BAD_FILE, complaint));
}

inline attn::Tensor load(attn::Context& context, const std::string& path, attn_type type) {
  attn::Result<attn::Tensor> tensor = attn::Tensor::load(context, path, type);
  must(tensor.status());
  return std::move(*tensor);
}

}  // namespace example
