// Files that are written whole or not at all, and a folder for temporary ones.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/interrupts.h"

namespace attn::driver {

// A folder of our own under the system's temporary folder ($TMPDIR, else /tmp), removed with all in
// it. SystemError where there is none.
class Scratch {
 public:
  Scratch();
  const std::string& path() const { return folder_.path(); }

 private:
  Temporary folder_;
};

// Writes a file whole: beside it first, then renamed over it. What is not a regular file, such as a
// device or a pipe, is not replaced but written to.
void write_file(const std::string& path, const std::string& bytes);
// All of them: none is renamed before the last is written, so that a full disk changes nothing.
void write_files(const std::vector<std::pair<std::string, std::string>>& paths_and_bytes);

// A new file of the name and something that no other has, open for writing; -1, with errno, where
// it cannot be made.
struct NewFile {
  Temporary name;
  int descriptor = -1;
};
NewFile create_beside(const std::string& path, unsigned mode);
// 0, or what errno said. Closes.
int write_and_close(int descriptor, const std::string& bytes, bool to_disk);

// Writes a file that is not there yet, in a folder of our own. SystemError where that fails.
void write_new_file(const std::string& path, const std::string& bytes);

// All bytes of a file; empty where it cannot be read.
std::string bytes_of(const std::string& path);

}  // namespace attn::driver
