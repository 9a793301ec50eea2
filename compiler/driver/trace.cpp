#include "compiler/driver/trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::driver {

void Trace::Row::add(const attn_trace_event& event) {
  ++calls;
  milliseconds += event.milliseconds;
  bytes += event.bytes_read + event.bytes_written;
  operations += event.operations;
}

void Trace::record(void* trace, const attn_trace_event* event) {
  std::vector<Function>& functions = static_cast<Trace*>(trace)->functions_;
  const std::string name = fmt::format("{} {}", event->model, event->function);
  auto f = std::find_if(functions.begin(), functions.end(),
                        [&](const Function& known) { return known.name == name; });
  if (f == functions.end()) f = functions.insert(f, {.name = name, .kernels = {}, .whole = {}});
  if (event->index < 0) return f->whole.add(*event);
  const size_t k = static_cast<size_t>(event->index);
  if (f->kernels.size() <= k) f->kernels.resize(k + 1);
  f->kernels[k].name = event->kernel;
  f->kernels[k].add(*event);
}

std::string Trace::line(const Row& row, size_t width, double all_milliseconds) {
  const double seconds = std::max(row.milliseconds / 1e3, 1e-9);
  return fmt::format("  {:<{}} {:>6} {:>10.3f} {:>7.1f} % {:>9.2f} {:>8.2f} {:>8.2f}\n", row.name,
                     width, row.calls, row.milliseconds,
                     100 * row.milliseconds / std::max(all_milliseconds, 1e-9), row.bytes / 1e6,
                     row.bytes / seconds / 1e9, row.operations / seconds / 1e9);
}

std::string Trace::text() const {
  size_t width = 30;
  for (const Function& f : functions_)
    for (const Row& row : f.kernels) width = std::max(width, row.name.size());
  std::string text;
  for (const Function& f : functions_) {
    text += fmt::format("{}{:<{}} {:>6} {:>10} {:>9} {:>9} {:>8} {:>8}\n", text.empty() ? "" : "\n",
                        f.name, width + 2, "calls", "ms", "share", "MB", "GB/s", "GF/s");
    for (const Row& row : f.kernels)
      if (row.calls > 0) text += line(row, width, f.whole.milliseconds);
    Row whole = f.whole;
    whole.name = "together";
    text += line(whole, width, f.whole.milliseconds);
  }
  return text;
}

}  // namespace attn::driver
