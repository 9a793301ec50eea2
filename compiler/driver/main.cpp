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

// Whether `--diagnostics=json` is among the words; they may be wrong, and then this is known before
// the command line is.
bool wants_json(const std::vector<std::string>& words) {
  for (size_t k = 0; k < words.size(); ++k)
    if (words[k] == "--diagnostics=json" ||
        (words[k] == "--diagnostics" && k + 1 < words.size() && words[k + 1] == "json"))
      return true;
  return false;
}

// What went wrong, and a line of advice or nothing: for people, or for programs.
void complain(bool json, const std::string& what, const std::string& help = "") {
  if (!json) return driver::say(fmt::format("attnc: {}\n{}", what, help));
  Diagnostics all;
  Diagnostic& d = all.error({}, what);
  d.help = help.substr(0, help.find_last_not_of('\n') + 1);
  driver::say(render_json({}, all));
}

int guarded(bool json, const std::function<int()>& work) {
  try {
    return work();
  } catch (const driver::UsageError& e) {
    complain(json, e.what());
    return kUsage;
  } catch (const driver::SystemError& e) {
    complain(json, e.what());
    return kSystem;
  } catch (const LimitError& e) {
    complain(json, fmt::format("limit exceeded: {}", e.what()));
    return kLimit;
  } catch (const std::bad_alloc&) {
    complain(json, "limit exceeded: out of memory");
    return kLimit;
  } catch (const driver::RefusedError& e) {
    complain(json, e.what());
    return kRefused;
  } catch (const std::exception& e) {
    complain(json, fmt::format("internal error: {}", e.what()),
             "This is a defect of attnc, not of your program. Please report it with the .attn "
             "file.\n");
    return kInternal;
  }
}

int run_command(std::vector<std::string> words, bool json) {
  driver::CommandLine c;
  const std::unique_ptr<CLI::App> app = driver::make_command_line(c);
  const auto refuse = [&](const std::string& why) {
    complain(json, why, "`attnc --help` and `attnc COMMAND --help` say what there is.\n");
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
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool json = wants_json(words);
  return guarded(json, [&] { return run_command(words, json); });
}
