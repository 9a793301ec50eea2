#include "tests/driver/process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace attn::testing {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const How& how,
                         const std::string& out, const std::string& error) {
  auto redirect = [](const std::string& path, int to) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, to) < 0) _exit(126);
  };
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  redirect(out, 1);
  redirect(how.standard_error.empty() ? error : how.standard_error, 2);
  if (!how.folder.empty() && chdir(how.folder.c_str()) != 0) _exit(126);
  for (const std::string& e : how.environment) putenv(const_cast<char*>(e.c_str()));
  if (how.largest_file >= 0) {
    // The search for leaks writes a report, and never ends where it may not.
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
    const rlimit limit{static_cast<rlim_t>(how.largest_file),
                       static_cast<rlim_t>(how.largest_file)};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

std::string read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Ended run_program(const std::vector<std::string>& command, const How& how) {
  char pattern[] = "/tmp/attn-test-out-XXXXXX";
  const fs::path said = mkdtemp(pattern);
  const std::string out = said / "out", error = said / "error";
  const pid_t child = fork();
  if (child == 0) become(command, how, out, error);
  int status = 0;
  waitpid(child, &status, 0);
  Ended ended{.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
              .out = read_bytes(out),
              .error = read_bytes(error)};
  fs::remove_all(said);
  return ended;
}

Ended attnc(const std::vector<std::string>& arguments, const How& how) {
  std::vector<std::string> command{ATTNC};
  command.insert(command.end(), arguments.begin(), arguments.end());
  How with = how;
  const char* given = getenv("ATTNC_CACHE_DIR");
  with.environment.insert(with.environment.begin(),
                          std::string("ATTNC_CACHE_DIR=") + (given ? given : ATTN_CACHE_DIR));
  Ended ended = run_program(command, with);
  EXPECT_LT(ended.status, 126) << ended.error;
  return ended;
}

Folder::Folder() {
  char pattern[] = "/tmp/attn-test-XXXXXX";
  folder_ = mkdtemp(pattern);
}

Folder::~Folder() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string Folder::file(const std::string& name, const std::string& text) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

Ended Folder::attnc(const std::vector<std::string>& arguments, How how) const {
  if (how.folder.empty()) how.folder = folder_;
  return testing::attnc(arguments, how);
}

}  // namespace attn::testing
