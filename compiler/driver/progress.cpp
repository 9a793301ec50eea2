#include "compiler/driver/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace attn::driver {

void say(const std::string& text) { fwrite(text.data(), 1, text.size(), stderr); }

bool has_terminal() {
  const char* kind = getenv("TERM");
  return isatty(2) && !(kind && std::strcmp(kind, "dumb") == 0);
}

ProgressLine::ProgressLine(Progress mode, size_t total, size_t cached)
    : mode_(mode), moves_(mode != Progress::off && has_terminal()), total_(total), cached_(cached) {
  if (moves_ && total > 0) draw("");
}

ProgressLine::~ProgressLine() {
  if (moves_) say("\r\033[K");
}

void ProgressLine::draw(const std::string& kernel) const {
  constexpr size_t kWidth = 24;
  const size_t full = total_ ? kWidth * done_ / total_ : kWidth;
  // A name that does not fit would leave lines behind.
  const std::string name = kernel.substr(0, 30);
  say(fmt::format("\r\033[K[{}{}] {}/{} kernels{}{}", std::string(full, '#'),
                  std::string(kWidth - full, '.'), done_, total_,
                  name.empty() ? "" : ", the last was ", name));
  fflush(stderr);
}

void ProgressLine::finished(const std::string& kernel) {
  ++done_;
  if (moves_)
    draw(kernel);
  else if (mode_ == Progress::on)
    say(fmt::format("[{}/{}] {}\n", done_, total_, kernel));
}

void ProgressLine::end() {
  if (mode_ != Progress::on) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  say(fmt::format("{}compiled {} kernel{} in {:.1f} s, {} from the cache\n",
                  moves_ ? "\r\033[K" : "", total_, total_ == 1 ? "" : "s", seconds.count(),
                  cached_));
}

}  // namespace attn::driver
