// Work in processes of their own: a crash is only theirs, LLVM ends the process that cannot write,
// and names that Halide counts up start anew, so that equal kernels give equal bytes.
#pragma once

#include <functional>
#include <string>

#include "compiler/driver/interrupts.h"

namespace attn::driver {

class Worker {
 public:
  // Forks; SystemError where that fails.
  explicit Worker(const std::function<void()>& work);
  ~Worker();
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&&) = delete;

  pid_t process() const { return child_.process(); }
  // Of a status that wait() gave: throws why the work was not done, if it was not. `what`: the
  // work, in messages. `folder`: where it wrote.
  void check(int status, const std::string& what, const std::string& folder) const;
  // Ends it, and waits for its end.
  void stop() const;

 private:
  std::string said() const;

  int said_;  // a file in memory: what it printed, or the text of an exception
  Child child_;
};

}  // namespace attn::driver
