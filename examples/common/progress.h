// A progress bar for the terminal; in a file or a pipe, plain lines at the milestones instead.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace example {

class Progress {
 public:
  explicit Progress(int64_t total) : total_(total) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One step is done. `figures` stands right of the bar, which is drawn at most 20 times a second.
  void step(const std::string& figures) {
    ++done_;
    const Clock::time_point now = Clock::now();
    if (!terminal_ || now - drawn_ < std::chrono::milliseconds(50)) return;
    drawn_ = now;
    draw(figures);
  }

  // A line that stays, above the bar where there is one.
  void milestone(const std::string& line) {
    clear();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  void draw(const std::string& figures) {
    const double part =
        static_cast<double>(done_) / static_cast<double>(std::max<int64_t>(total_, 1));
    char percent[64];
    std::snprintf(percent, sizeof percent, " %3.0f %%  %s  %.0f s left", 100 * part,
                  figures.c_str(), seconds() * (1 - part) / part);
    // A line that wraps would not be erased by the next one.
    const int room = std::min(width() - 3 - static_cast<int>(std::string(percent).size()), 40);
    std::string line;
    if (room >= 5) {
      const int full = static_cast<int>(part * room);
      line = "[" + std::string(static_cast<size_t>(full), '=') +
             std::string(static_cast<size_t>(room - full), ' ') + "]";
    }
    line = (line + percent).substr(0, static_cast<size_t>(std::max(width() - 1, 1)));
    std::printf("\r\x1b[K%s", line.c_str());
    std::fflush(stdout);
  }

  void clear() {
    if (terminal_) std::printf("\r\x1b[K");
    std::fflush(stdout);
  }

  static int width() {
    winsize size = {};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
  }

  const int64_t total_;
  const bool terminal_ = isatty(STDOUT_FILENO) == 1;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  int64_t done_ = 0;
};

}  // namespace example
