// attnc: the command line. Scripts rely on commands, options and exit statuses.
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <new>

#include "compiler/driver/command_line.h"
#include "compiler/driver/commands.h"
#include "compiler/driver/front.h"
#include "compiler/driver/process.h"

namespace {

using namespace attn;

// Statuses of the process; `attnc --help` lists them.
enum { kOk = 0, kUsage = 2, kSystem = 3, kLimit = 4, kRefused = 5, kInternal = 70 };

int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const driver::UsageError& e) {
    driver::say(fmt::format("attnc: {}\n", e.what()));
    return kUsage;
  } catch (const driver::SystemError& e) {
    driver::say(fmt::format("attnc: {}\n", e.what()));
    return kSystem;
  } catch (const LimitError& e) {
    driver::say(fmt::format("attnc: limit exceeded: {}\n", e.what()));
    return kLimit;
  } catch (const std::bad_alloc&) {
    driver::say("attnc: limit exceeded: out of memory\n");
    return kLimit;
  } catch (const driver::RefusedError& e) {
    driver::say(fmt::format("attnc: {}\n", e.what()));
    return kRefused;
  } catch (const std::exception& e) {
    driver::say(fmt::format(
        "attnc: internal error: {}\nThis is a defect of attnc, not of your program. Please "
        "report it with the .attn file.\n",
        e.what()));
    return kInternal;
  }
}

int run_command(std::vector<std::string> words) {
  driver::CommandLine c;
  const std::unique_ptr<CLI::App> app = driver::make_command_line(c);
  const auto refuse = [](const std::string& why) {
    driver::say(fmt::format(
        "attnc: {}\n`attnc --help` and `attnc COMMAND --help` say what there is.\n", why));
    return kUsage;
  };
  if (const std::string why = driver::first_word_complaint(*app, words); !why.empty())
    return refuse(why);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app->parse(reversed);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0) return refuse(driver::describe(*app, e));
    app->exit(e);  // prints the help or the version
    if (!std::cout.flush()) throw driver::SystemError("standard output cannot be written");
    return kOk;
  }
  const std::string command = app->get_subcommands()[0]->get_name();
  if (command == "build") return driver::build(c);
  if (command == "check") return driver::check(c);
  if (command == "emit") return driver::emit(c);
  if (command == "report") return driver::report(c);
  if (command == "run") return driver::run(c);
  if (command == "bench") return driver::bench(c);
  if (command == "doc") return driver::doc(c);
  return driver::format(c);
}

}  // namespace

int main(int argc, char** argv) {
  driver::prepare_process();
  return guarded([&] { return run_command({argv + std::min(argc, 1), argv + argc}); });
}
