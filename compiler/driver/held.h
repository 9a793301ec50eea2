// What the calls of a model hold in memory.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace attn::driver {

// What training holds beside inputs and outputs, in bytes.
struct Held {
  int64_t parameters = 0, gradients = 0, states = 0, saved = 0, workspace = 0;
};

inline std::string to_text(const Held& h) {
  return fmt::format(
      "bytes: parameters {}, gradients {}, states of the update {}, saved block {}, workspace {}\n",
      h.parameters, h.gradients, h.states, h.saved, h.workspace);
}

inline std::string to_json(const Held& h) {
  return fmt::format(
      R"({{"parameters": {}, "gradients": {}, "states": {}, "saved": {}, "workspace": {}}})",
      h.parameters, h.gradients, h.states, h.saved, h.workspace);
}

}  // namespace attn::driver
