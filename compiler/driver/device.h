// The device that `run` and `bench` call a model on.
#pragma once

#include <attn/device.h>

#include <string>
#include <vector>

#include "compiler/driver/commands.h"

namespace attn::driver {

struct Device {
  attn_device_id id = {};
  std::vector<std::string> targets;  // to compile for
};

// From --device, and --target where it is given. UsageError where the two do not fit, SystemError
// where the device cannot be had.
Device chosen_device(const CommandLine& c);

}  // namespace attn::driver
