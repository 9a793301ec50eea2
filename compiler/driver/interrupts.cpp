#include "compiler/driver/interrupts.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace attn::driver {
namespace {

// Signals are the process's, and so is this. It is never destroyed: the thread may outlive main.
struct Registry {
  std::mutex mutex;
  std::set<std::string> paths;
  std::set<pid_t> children;  // negative: a group
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

void remove_quietly(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
}

// Keeps the registry locked, so that nothing is created any more.
[[noreturn]] void end_by(int signal_number) {
  Registry& all = registry();
  all.mutex.lock();
  for (const pid_t child : all.children) kill(child, SIGKILL);
  // What they write is complete only when they are gone.
  for (const pid_t child : all.children) waitpid(child < 0 ? -child : child, nullptr, 0);
  for (const std::string& path : all.paths) remove_quietly(path);
  signal(signal_number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal_number);
  _exit(128 + signal_number);
}

}  // namespace

void watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now;
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&watched, number);
  }
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  try {
    std::thread([watched] {
      int number = 0;
      if (sigwait(&watched, &number) == 0) end_by(number);
    }).detach();
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
  }
}

Temporary::Temporary(const std::function<std::string()>& make) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  path_ = make();
  if (!path_.empty()) all.paths.insert(path_);
}

Temporary::~Temporary() {
  if (path_.empty()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  remove_quietly(path_);
  all.paths.erase(path_);
}

Temporary::Temporary(Temporary&& other) noexcept : path_(std::exchange(other.path_, {})) {}

bool Temporary::rename_to(const std::string& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (rename(path_.c_str(), path.c_str()) != 0) return false;
  all.paths.erase(path_);
  path_.clear();
  return true;
}

Child::Child(const std::function<pid_t()>& start) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  id_ = start();
  if (id_ != 0) all.children.insert(id_);
}

Child::~Child() {
  if (id_ == 0) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.children.erase(id_);
}

Child::Child(Child&& other) noexcept : id_(std::exchange(other.id_, 0)) {}

std::unique_lock<std::mutex> uninterrupted() { return std::unique_lock(registry().mutex); }

}  // namespace attn::driver
