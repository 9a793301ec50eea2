#include "compiler/driver/programs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "compiler/driver/files.h"
#include "compiler/driver/front.h"
#include "compiler/driver/sha256.h"

extern char** environ;

namespace attn::driver {
namespace fs = std::filesystem;
namespace {

std::vector<char*> pointers(std::vector<std::string>& list) {
  std::vector<char*> all;
  for (std::string& text : list) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_with(const std::string& folder) {
  std::vector<std::string> all;
  for (char** e = environ; *e; ++e)
    if (folder.empty() || std::strncmp(*e, "TMPDIR=", 7) != 0) all.emplace_back(*e);
  if (!folder.empty()) all.push_back("TMPDIR=" + folder);
  return all;
}

// A process that says what it has to say to `output`, in a group of its own: it ends when attnc
// ends it. 0, with errno, where it does not start.
pid_t spawn(std::vector<std::string> command, const std::string& folder, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> environment = environment_with(folder);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command[0].c_str(), &actions, &attributes,
                                 pointers(command).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  errno = error;
  return error == 0 ? child : 0;
}

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// The build id of a loaded file, in hexadecimal; empty where it has none.
std::string build_id(const dl_phdr_info& info) {
  for (int k = 0; k < info.dlpi_phnum; ++k) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[k];
    if (segment.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
    const char* const end = at + segment.p_memsz;
    const auto padded = [](uint32_t bytes) { return (bytes + 3) / 4 * 4; };
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const content = name + padded(note.n_namesz);
      at = content + padded(note.n_descsz);
      if (at > end) break;
      if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(name, "GNU", 4) != 0)
        continue;
      std::string text;
      for (uint32_t b = 0; b < note.n_descsz; ++b)
        text += fmt::format("{:02x}", static_cast<unsigned char>(content[b]));
      return text;
    }
  }
  return {};
}

// Of attnc and libHalide.so; without a build id, the hash of the file.
int add_identity(dl_phdr_info* info, size_t, void* text) {
  const std::string path = info->dlpi_name;
  const bool is_program = path.empty();
  if (!is_program && path.find("libHalide") == std::string::npos) return 0;
  std::string id = build_id(*info);
  if (id.empty()) id = sha256(bytes_of(is_program ? "/proc/self/exe" : path));
  *static_cast<std::string*>(text) += " " + id;
  return 0;
}

std::vector<std::string> words_of_cc() {
  const char* named = getenv("CC");
  std::istringstream text(named ? named : "");
  return {std::istream_iterator<std::string>(text), {}};
}

}  // namespace

int run_program(const std::vector<std::string>& command, std::string& said,
                const std::string& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw SystemError(std::strerror(errno));
  int error = 0;
  const Child child([&] {
    const pid_t id = spawn(command, folder, ends[1]);
    error = errno;
    return -id;
  });
  close(ends[1]);
  char block[4096];
  ssize_t n;
  while (child.started() && (n = read(ends[0], block, sizeof block)) > 0)
    said.append(block, static_cast<size_t>(n));
  close(ends[0]);
  if (!child.started()) {
    said = std::strerror(error);
    return 127;
  }
  int status = 0;
  waitpid(child.process(), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> c_compiler() {
  std::vector<std::string> words = words_of_cc();
  if (words.empty()) words.emplace_back("cc");
  return words;
}

bool names_c_compiler() { return !words_of_cc().empty(); }

std::string compiler_identity() {
  std::string text = ATTN_VERSION;
  dl_iterate_phdr(add_identity, &text);
  return text;
}

std::string runtime_include() {
  const fs::path p = program_folder() / "../include";
  return fs::exists(p / "attn" / "kernel.h") ? p.lexically_normal().string() : std::string();
}

std::string runtime_archive() {
  const fs::path p = program_folder() / "../lib/libattn_rt.a";
  return fs::exists(p) ? p.lexically_normal().string() : std::string();
}

}  // namespace attn::driver
