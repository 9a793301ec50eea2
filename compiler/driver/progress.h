// What a long build says while it runs.
#pragma once

#include <chrono>
#include <string>

namespace attn::driver {

// `automatic`: a moving line, where standard error is a terminal that can move it. `on`: also a
// line for each kernel where it is none, and one at the end.
enum class Progress { off, automatic, on };

// Prints to standard error; where that cannot be written, nothing can be said.
void say(const std::string& text);
// Whether standard error is a terminal that takes escape sequences.
bool has_terminal();

class ProgressLine {
 public:
  ProgressLine(Progress mode, size_t total, size_t cached);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void finished(const std::string& kernel);
  // After the last.
  void end();

 private:
  void draw(const std::string& kernel) const;

  Progress mode_;
  bool moves_;
  size_t total_, cached_, done_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace attn::driver
