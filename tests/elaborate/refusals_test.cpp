// What the language refuses, with the exact words.
#include "tests/elaborate/elaborated.h"

namespace attn::testing {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(ATTN_SOURCE_DIR) / "tests" / "refusals" / "elaborate";

TEST(Refusals, SayWhatIsWrongWhereAndWhatHelps) {
  Beside parts;
  for (const std::filesystem::path& file : files_in(kFolder / "parts", ".attn"))
    parts[file.filename().string()] = read_text(file);
  expect_goldens_in(kFolder, [&](const std::filesystem::path& file) {
    const auto e = elaborate_text(read_text(file), {}, parts, file.filename().string());
    EXPECT_TRUE(e->diagnostics.has_errors()) << file << " is not refused";
    return e->messages();
  });
}

}  // namespace
}  // namespace attn::testing
