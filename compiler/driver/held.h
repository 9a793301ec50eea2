// What the calls of a model hold in memory.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace attn::driver {

// What training holds beside inputs and outputs, in bytes.
struct Held {
  int64_t parameters = 0, gradients = 0, states = 0, saved = 0, workspace = 0;
  int64_t one_call = 0;  // the workspace of forward and backward in one call; 0: no backward
};

inline std::string to_text(const Held& h) {
  std::string text = fmt::format(
      "bytes: parameters {}, gradients {}, states of the update {}, saved block {}, workspace {}",
      h.parameters, h.gradients, h.states, h.saved, h.workspace);
  if (h.one_call > 0) text += fmt::format("; in one call instead of the last two {}", h.one_call);
  return text + "\n";
}

inline std::string to_json(const Held& h) {
  return fmt::format(
      R"({{"parameters": {}, "gradients": {}, "states": {}, "saved": {}, "workspace": {}, "one_call": {}}})",
      h.parameters, h.gradients, h.states, h.saved, h.workspace, h.one_call);
}

}  // namespace attn::driver
