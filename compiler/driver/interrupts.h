// What a signal that ends attnc leaves nothing of: temporary files, and processes at work.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <string>

namespace attn::driver {

// From now on a thread of its own waits for SIGHUP, SIGINT and SIGTERM, but for those that are
// ignored: it stops all processes of Child, removes all files and folders of Temporary, and ends
// attnc by that signal. The signals stay blocked in all other threads; call this before there are
// any.
void watch_signals();

// A file or folder that is removed with this object, or when a signal ends attnc.
class Temporary {
 public:
  Temporary() = default;
  // `make` creates it and gives its path; empty: nothing was created.
  explicit Temporary(const std::function<std::string()>& make);
  ~Temporary();
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;

  const std::string& path() const { return path_; }
  // Renames the file, which is then no longer temporary; false, with errno, where that fails.
  bool rename_to(const std::string& path);

 private:
  std::string path_;
};

// A process that is killed when attnc ends by a signal.
class Child {
 public:
  // `start` gives its id, negated where it leads a group of its own; 0: none was started.
  explicit Child(const std::function<pid_t()>& start);
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  bool started() const { return id_ != 0; }
  pid_t process() const { return id_ < 0 ? -id_ : id_; }

 private:
  pid_t id_ = 0;
};

// While it lives, no signal ends attnc: what writes a file that is no Temporary finishes it.
[[nodiscard]] std::unique_lock<std::mutex> uninterrupted();

}  // namespace attn::driver
