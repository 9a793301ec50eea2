#include "compiler/driver/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "compiler/driver/files.h"
#include "compiler/lower/lower.h"
#include "compiler/target/target.h"

namespace attn::driver {
namespace {

// "cuda:1", "cuda".
attn_device_id parse(const std::string& text) {
  const size_t colon = text.find(':');
  const std::optional<attn_device_type> type = target::device_called(text.substr(0, colon));
  int32_t ordinal = 0;
  bool is_valid = type.has_value();
  if (is_valid && colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + colon + 1, end, ordinal);
    is_valid = error == std::errc() && at == end && ordinal >= 0;
  }
  if (!is_valid)
    throw UsageError(
        fmt::format("--device takes cpu, cuda, cuda:N, opencl or opencl:N, not `{}`", text));
  return {*type, ordinal};
}

}  // namespace

Device chosen_device(const CommandLine& c) {
  Device device{.id = parse(c.device), .targets = {}};
  if (c.targets.empty()) {
    device.targets = target::names_for(device.id.type);
    if (device.id.type == ATTN_CPU) device.targets = {lower::host_target()};
  } else {
    device.targets = chosen_targets(c.targets);
  }
  for (const std::string& name : device.targets) {
    if (target::named(name).device == device.id.type) continue;
    throw UsageError(fmt::format("--target {} is not for --device {}, which takes {}", name,
                                 c.device, fmt::join(target::names_for(device.id.type), ", ")));
  }
  if (const char* why = attn_device_refusal(device.id))
    throw SystemError(fmt::format("--device {}: {}", c.device, why));
  return device;
}

}  // namespace attn::driver
