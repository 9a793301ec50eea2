#include "compiler/driver/process.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "compiler/driver/interrupts.h"

extern char** environ;
// Of mimalloc, where it is linked: it would abort where `new` has no memory.
extern "C" [[gnu::weak]] void mi_register_error(void (*handler)(int, void*), void* argument);

namespace attn::driver {
namespace {

void on_no_memory(void (*handler)()) {
  std::set_new_handler(handler);
  if (!mi_register_error) return;
  mi_register_error(
      [](int error, void*) {
        const std::new_handler set = std::get_new_handler();
        if (error == ENOMEM && set) set();
      },
      nullptr);
}

// Before main, where nothing can be caught: libraries allocate when they are loaded.
void end_without_memory() {
  constexpr char kText[] = "attnc: limit exceeded: out of memory\n";
  const ssize_t written = write(2, kText, sizeof kText - 1);
  _exit(written < 0 ? 70 : 4);
}

// Runs before the constructors of libraries.
[[gnu::section(".preinit_array"), gnu::used]] void (*const early)() = [] {
  on_no_memory(end_without_memory);
};

void unset_halide_variables() {
  std::vector<std::string> names;
  for (char** e = environ; *e; ++e)
    if (std::strncmp(*e, "HL_", 3) == 0) names.emplace_back(*e, std::strcspn(*e, "="));
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

void prepare_process() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  on_no_memory([] { throw std::bad_alloc(); });
  unset_halide_variables();
  watch_signals();
}

}  // namespace attn::driver
