// What derivatives refuse, with the exact words.
#include "dsl/parse.h"
#include "tests/stages/stages.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

TEST(Refusals, OfDerivativesSayWhatIsWrongAndWhere) {
  const fs::path folder = fs::path(ATTN_SOURCE_DIR) / "tests" / "refusals" / "derive";
  expect_goldens_in(folder, [](const fs::path& path) {
    driver::Source source;
    source.file = source.map.add(path.filename().string(), read_text(path));
    source.tree = dsl::parse(source.map, source.file, source.diagnostics);
    const auto models = driver::compile(source, {.all_gradients = true, .jvp = true, .hvp = true});
    EXPECT_TRUE(models.empty()) << path << " is not refused";
    return render(source.map, source.diagnostics);
  });
}

}  // namespace
}  // namespace attn::testing
