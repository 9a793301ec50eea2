#include "compiler/driver/workers.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "compiler/base/check.h"
#include "compiler/driver/front.h"

namespace attn::driver {
namespace {

enum Ended { kDone = 0, kSystem = 3, kLimit = 4, kDefect = 70 };

// LLVM says so before it ends the process.
constexpr const char* kCannotWrite = "IO failure on output stream: ";
constexpr const char* kNoMemory = "out of memory";
// Halide's words for a stack that it was not given.
constexpr const char* kNoStack = "mprotect failed";

[[noreturn]] void be_worker(const std::function<void()>& work, int said, pid_t parent) {
  // A worker does not outlive attnc, whatever ends it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kDefect);
  dup2(said, 1);
  dup2(said, 2);
  const auto end = [&](Ended status, const char* text) {
    // In place of what was printed.
    if (ftruncate(said, 0) == 0) lseek(said, 0, SEEK_SET);
    for (size_t at = 0; text[at] != 0;) {
      const ssize_t written = write(said, text + at, std::strlen(text + at));
      if (written <= 0) break;
      at += static_cast<size_t>(written);
    }
    _exit(status);
  };
  try {
    work();
  } catch (const SystemError& e) {
    end(kSystem, e.what());
  } catch (const std::bad_alloc&) {
    end(kLimit, kNoMemory);
  } catch (const std::exception& e) {
    end(kDefect, e.what());
  }
  _exit(kDone);
}

int make_report() {
  const int fd = memfd_create("attnc", MFD_CLOEXEC);
  if (fd < 0) throw SystemError(fmt::format("no memory for a process: {}", std::strerror(errno)));
  return fd;
}

}  // namespace

Worker::Worker(const std::function<void()>& work)
    : said_(make_report()), child_([&] {
        fflush(nullptr);
        const pid_t parent = getpid(), id = fork();
        if (id == 0) be_worker(work, said_, parent);
        return id < 0 ? 0 : id;
      }) {
  if (child_.started()) return;
  const int error = errno;
  close(said_);
  throw SystemError(
      fmt::format("cannot start a process to compile kernels: {}", std::strerror(error)));
}

Worker::~Worker() {
  if (said_ >= 0) close(said_);
}

Worker::Worker(Worker&& other) noexcept : said_(other.said_), child_(std::move(other.child_)) {
  other.said_ = -1;
}

std::string Worker::said() const {
  std::string text;
  char block[1024];
  ssize_t n;
  while ((n = pread(said_, block, sizeof block, static_cast<off_t>(text.size()))) > 0)
    text.append(block, static_cast<size_t>(n));
  return text;
}

void Worker::check(int status, const std::string& what, const std::string& folder) const {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kDone) return;
  const std::string text = said();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSystem) throw SystemError(text);
  if (const size_t at = text.find(kCannotWrite); at != std::string::npos) {
    const size_t begin = at + std::strlen(kCannotWrite);
    throw SystemError(
        fmt::format("{}: {}", folder, text.substr(begin, text.find('\n', begin) - begin)));
  }
  if (text.find(kNoMemory) != std::string::npos || text.find(kNoStack) != std::string::npos)
    throw LimitError(fmt::format("out of memory while compiling {}", what));
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    throw SystemError(fmt::format(
        "the process that compiled {} was killed (signal 9): is memory short? -j sets how many "
        "work at a time",
        what));
  const std::string how =
      WIFSIGNALED(status) ? fmt::format(" (signal {})", WTERMSIG(status)) : std::string();
  throw InternalError(
      fmt::format("{}{}: {}", what, how, text.empty() ? "the kernel compiler crashed" : text));
}

void Worker::stop() const {
  kill(process(), SIGKILL);
  waitpid(process(), nullptr, 0);
}

}  // namespace attn::driver
