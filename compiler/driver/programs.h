// Other programs that attnc runs, above all a C compiler, and what lies beside attnc itself.
#pragma once

#include <string>
#include <vector>

namespace attn::driver {

// Runs a program with arguments, without a shell; its exit status (127: it does not start), and
// what it said. Its temporary files are made in `folder`, unless that is empty.
int run_program(const std::vector<std::string>& command, std::string& said,
                const std::string& folder = {});

// The words of $CC, or `cc`: "ccache gcc" is two.
std::vector<std::string> c_compiler();
// Whether $CC has any.
bool names_c_compiler();

// The content of attnc and of the libraries that it is made of: what compiled code depends on.
std::string compiler_identity();
// -I for the runtime's headers, and the path of libattn_rt.a; empty where they are not found.
std::string runtime_include();
std::string runtime_archive();

}  // namespace attn::driver
