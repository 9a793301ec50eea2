#include "compiler/driver/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "compiler/driver/front.h"

namespace attn::driver {
namespace {

[[noreturn]] void fail_writing(const std::string& path, int error) {
  throw SystemError(fmt::format("{}: {}", path, std::strerror(error)));
}

std::string make_folder() {
  const char* given = getenv("TMPDIR");
  const std::string base = given && *given ? given : "/tmp";
  std::string path = base + "/attnc-XXXXXX";
  if (!mkdtemp(path.data()))
    throw SystemError(
        fmt::format("the temporary folder {} ($TMPDIR): {}", base, std::strerror(errno)));
  return path;
}

// Whether a file put in the place of `path` would take that of a device, a pipe or the like; also
// by a link, such as /dev/stdout.
bool is_special(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return false;
  if (!S_ISLNK(info.st_mode)) return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  char target[8] = "";
  if (readlink(path.c_str(), target, sizeof target - 1) > 0 &&
      (std::strncmp(target, "/proc/", 6) == 0 || std::strncmp(target, "/dev/", 5) == 0))
    return true;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

// What is to become the file `path`.
class Result {
 public:
  Result(const std::string& path, const std::string& bytes) : path_(path), bytes_(bytes) {
    // A folder of that name would be found only when the others are renamed already.
    struct stat info;
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) fail_writing(path, EISDIR);
    if (is_special(path)) return;
    beside_ = std::make_unique<NewFile>(create_beside(path, 0666));
    if (beside_->descriptor < 0) fail_writing(path, errno);
    // Who may read the old file may read the new one.
    if (lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      fchmod(beside_->descriptor, info.st_mode & 0777);
    if (const int error = write_and_close(beside_->descriptor, bytes, true))
      fail_writing(path, error);
  }
  void commit() {
    if (!beside_) return write_through();
    if (!beside_->name.rename_to(path_)) fail_writing(path_, errno);
  }

 private:
  // Without O_NONBLOCK, opening a pipe would wait for a reader.
  void write_through() {
    const int fd = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) fail_writing(path_, errno);
    fcntl(fd, F_SETFL, 0);
    if (const int error = write_and_close(fd, bytes_, false)) fail_writing(path_, error);
  }

  const std::string& path_;
  const std::string& bytes_;
  std::unique_ptr<NewFile> beside_;
};

}  // namespace

Scratch::Scratch() : folder_(make_folder) {}

NewFile create_beside(const std::string& path, unsigned mode) {
  NewFile file;
  std::random_device random;
  for (int attempt = 0; attempt < 100 && file.descriptor < 0; ++attempt) {
    Temporary name([&] {
      const std::string tried = fmt::format("{}.{:08x}.part", path, random());
      file.descriptor = open(tried.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                             static_cast<mode_t>(mode));
      return file.descriptor < 0 ? std::string() : tried;
    });
    if (file.descriptor >= 0) return {std::move(name), file.descriptor};
    if (errno != EEXIST) break;
  }
  return file;
}

int write_and_close(int descriptor, const std::string& bytes, bool to_disk) {
  int error = 0;
  for (size_t done = 0; done < bytes.size() && error == 0;) {
    const ssize_t n = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (n >= 0) done += static_cast<size_t>(n);
    if (n < 0 && errno != EINTR) error = errno;
  }
  if (to_disk && error == 0 && fsync(descriptor) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

void write_file(const std::string& path, const std::string& bytes) { Result(path, bytes).commit(); }

void write_files(const std::vector<std::pair<std::string, std::string>>& paths_and_bytes) {
  std::vector<Result> files;
  for (const auto& [path, bytes] : paths_and_bytes) files.emplace_back(path, bytes);
  for (Result& file : files) file.commit();
}

void write_new_file(const std::string& path, const std::string& bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) fail_writing(path, errno);
  if (const int error = write_and_close(fd, bytes, false)) fail_writing(path, error);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace attn::driver
