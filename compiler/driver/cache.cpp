#include "compiler/driver/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "compiler/driver/commands.h"
#include "compiler/driver/files.h"
#include "compiler/driver/front.h"
#include "compiler/driver/sha256.h"

namespace attn::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "attnc object ";
constexpr std::string_view kEnding = ".object";
constexpr size_t kHashDigits = 64;
constexpr uint64_t kDefaultMegabytes = 2048;

fs::path wanted_folder() {
  if (const char* dir = getenv("ATTNC_CACHE_DIR"); dir && *dir) return dir;
  if (const char* xdg = getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "attnc";
  if (const char* home = getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "attnc";
  return {};
}

// Why the folder is not to be trusted, or cannot be had; empty: it is ours alone. Makes it.
std::string folder_complaint(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(fs::absolute(folder).parent_path(), error);
  if (error) return error.message();
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  struct stat info;
  if (stat(folder.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISDIR(info.st_mode)) return std::strerror(ENOTDIR);
  if (info.st_uid != geteuid()) return "belongs to somebody else";
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write to it";
  return access(folder.c_str(), R_OK | W_OK | X_OK) == 0 ? std::string() : std::strerror(errno);
}

std::string with_hash(const std::string& object) {
  return std::string(kMagic) + sha256(object) + "\n" + object;
}

// The object of an entry; empty where the entry is damaged.
std::string checked(const std::string& entry) {
  const size_t header = kMagic.size() + kHashDigits + 1;
  if (entry.size() <= header) return {};
  std::string object = entry.substr(header);
  return with_hash(object).compare(0, header, entry, 0, header) == 0 ? object : std::string();
}

// 0, or what errno said.
int write_entry(const std::string& path, const std::string& bytes) {
  NewFile file = create_beside(path, 0600);
  if (file.descriptor < 0) return errno;
  if (const int error = write_and_close(file.descriptor, bytes, false)) return error;
  return file.name.rename_to(path) ? 0 : errno;
}

uint64_t limit_in_bytes() {
  const char* given = getenv("ATTNC_CACHE_MAX");
  if (given == nullptr || *given == 0) return kDefaultMegabytes << 20;
  char* end = nullptr;
  const uint64_t megabytes = std::strtoull(given, &end, 10);
  if (end == given || *end != 0 || megabytes >= uint64_t{1} << 40)
    throw UsageError(fmt::format("ATTNC_CACHE_MAX takes megabytes, not `{}`", given));
  return megabytes << 20;
}

}  // namespace

Cache::Cache(bool wanted) {
  const fs::path folder = wanted_folder();
  if (!wanted || folder.empty()) return;
  limit_in_bytes();  // which refuses before anything is compiled
  const std::string why = folder_complaint(folder);
  if (why.empty())
    folder_ = folder.string();
  else
    complaint_ = fmt::format("the cache {} is not used: {}", folder.string(), why);
}

std::string Cache::entry(const std::string& description) const {
  return fmt::format("{}/{}{}", folder_, sha256(description), kEnding);
}

bool Cache::take(const std::string& description, const std::string& path) const {
  if (folder_.empty()) return false;
  const std::string kept = entry(description);
  struct stat info;
  if (lstat(kept.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::string object = checked(bytes_of(kept));
  if (object.empty()) return false;
  utimensat(AT_FDCWD, kept.c_str(), nullptr, 0);
  write_new_file(path, object);
  return true;
}

void Cache::keep(const std::string& description, const std::string& path) {
  if (folder_.empty()) return;
  const int error = write_entry(entry(description), with_hash(bytes_of(path)));
  if (error != 0 && !std::exchange(has_failed_, true))
    complaint_ = fmt::format("the cache {} cannot be written: {}", folder_, std::strerror(error));
}

void Cache::trim() const {
  if (folder_.empty()) return;
  struct Entry {
    fs::path path;
    timespec used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& e : fs::directory_iterator(folder_, error)) {
    struct stat info;
    if (e.path().extension() != kEnding || lstat(e.path().c_str(), &info) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    entries.push_back({e.path(), info.st_mtim, static_cast<uint64_t>(info.st_size)});
    total += entries.back().bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  const uint64_t limit = limit_in_bytes();
  for (const Entry& e : entries) {
    if (total <= limit) break;
    fs::remove(e.path, error);
    total -= e.bytes;
  }
}

}  // namespace attn::driver
