// Files, folders, programs: what `build` and `run` need of the system.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "compiler/driver/build.h"

extern char** environ;

namespace attn::driver {
namespace fs = std::filesystem;

Scratch::Scratch() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : base) / "attnc-XXXXXX").string();
  if (!mkdtemp(path_.data())) throw SystemError(fmt::format("{}: {}", path_, std::strerror(errno)));
}

Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(path_, error);
}

namespace {

[[noreturn]] void fail_writing(const std::string& path, int error) {
  throw SystemError(fmt::format("{}: {}", path, std::strerror(error)));
}

// A file written beside `path`, there to be renamed over it; gone with this object if it was not.
class Beside {
 public:
  Beside(std::string path, const std::string& bytes)
      : path_(std::move(path)), beside_(fmt::format("{}.{}.part", path_, getpid())) {
    // A folder of that name would be found only when the others are renamed already.
    struct stat info;
    if (stat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) fail_writing(path_, EISDIR);
    int fd = open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) fail_writing(path_, errno);
    int error = 0;
    for (size_t done = 0; done < bytes.size() && error == 0;) {
      ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
      if (n >= 0) done += static_cast<size_t>(n);
      if (n < 0 && errno != EINTR) error = errno;
    }
    if (error == 0 && fsync(fd) != 0) error = errno;
    if (close(fd) != 0 && error == 0) error = errno;
    if (error == 0) return;
    unlink(beside_.c_str());
    fail_writing(path_, error);
  }
  ~Beside() {
    if (!beside_.empty()) unlink(beside_.c_str());
  }
  Beside(Beside&& other) noexcept
      : path_(std::move(other.path_)), beside_(std::move(other.beside_)) {
    other.beside_.clear();
  }
  Beside& operator=(Beside&&) = delete;
  void commit() {
    if (rename(beside_.c_str(), path_.c_str()) != 0) fail_writing(path_, errno);
    beside_.clear();
  }

 private:
  std::string path_, beside_;
};

}  // namespace

void write_file(const std::string& path, const std::string& bytes) { Beside(path, bytes).commit(); }

void write_files(const std::vector<std::pair<std::string, std::string>>& paths_and_bytes) {
  std::vector<Beside> files;
  for (const auto& [path, bytes] : paths_and_bytes) files.emplace_back(path, bytes);
  for (Beside& file : files) file.commit();
}

std::string cache_folder() {
  fs::path base;
  if (const char* dir = getenv("ATTNC_CACHE_DIR"); dir && *dir)
    base = dir;
  else if (const char* xdg = getenv("XDG_CACHE_HOME"); xdg && *xdg)
    base = fs::path(xdg) / "attnc";
  else if (const char* home = getenv("HOME"); home && *home)
    base = fs::path(home) / ".cache" / "attnc";
  else
    return {};
  std::error_code error;
  fs::create_directories(base, error);
  return error ? std::string() : base.string();
}

std::string content_hash(const std::string& bytes) {
  // Two FNV-1a sums with different starts: 128 bits against accidents, not against attackers.
  uint64_t a = 0xcbf29ce484222325u, b = 0x6c62272e07bb0142u;
  for (unsigned char c : bytes) {
    a = (a ^ c) * 0x100000001b3u;
    b = (b ^ c) * 0x100000001b3u + (a >> 41);
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

std::string compiler_identity() {
  struct stat info;
  if (stat("/proc/self/exe", &info) != 0) return ATTN_VERSION;
  return fmt::format("{} {} {} {}", ATTN_VERSION, static_cast<long long>(info.st_size),
                     static_cast<long long>(info.st_mtim.tv_sec),
                     static_cast<long long>(info.st_mtim.tv_nsec));
}

namespace {

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string runtime_include() {
  fs::path p = program_folder() / "../include";
  return fs::exists(p / "attn" / "kernel.h") ? p.lexically_normal().string() : std::string();
}

std::string runtime_archive() {
  fs::path p = program_folder() / "../lib/libattn_rt.a";
  return fs::exists(p) ? p.lexically_normal().string() : std::string();
}

int run_program(const std::vector<std::string>& command, std::string& said) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw SystemError(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char block[4096];
  ssize_t n;
  while (error == 0 && (n = read(ends[0], block, sizeof block)) > 0)
    said.append(block, static_cast<size_t>(n));
  close(ends[0]);
  if (error != 0) {
    said = std::strerror(error);
    return 127;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace attn::driver
