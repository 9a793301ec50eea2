// The options of every command, and what is wrong with a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/driver/commands.h"

namespace attn::driver {

// Options are stored in `c`, which outlives the result.
std::unique_ptr<CLI::App> make_command_line(CommandLine& c);

// What is wrong before options are looked at: no such command, or an option in front of it. Empty
// where nothing is. `attnc help COMMAND` becomes `attnc COMMAND --help`.
std::string first_word_complaint(const CLI::App& app, std::vector<std::string>& words);

// The text for an error of CLI11, with the option that was meant.
std::string describe(const CLI::App& app, const CLI::ParseError& error);

}  // namespace attn::driver
