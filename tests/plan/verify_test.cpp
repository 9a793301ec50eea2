// A plan with one promise broken is refused, and in the words of that promise.
#include "compiler/plan/verify.h"

#include <gtest/gtest.h>

#include <map>

#include "forms.h"
#include "promises.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

std::vector<Promise> promises() {
  std::vector<Promise> all = kernel_promises();
  for (const auto& more : {tile_promises(), function_promises()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

// What the verifier says of a plan; "" where nothing is wrong.
std::string refusal(const plan::Plan& p) {
  try {
    for (const plan::Function* f : plan::functions(p)) {
      for (const auto* list : {&f->checks, &f->kernels})
        for (const plan::Kernel& k : *list) plan::verify(f->graph, k);
      plan::verify(*f);
    }
    plan::verify(p);
  } catch (const InternalError& e) {
    return e.what();
  }
  return {};
}

class Promises : public ::testing::TestWithParam<Promise> {};

TEST_P(Promises, AreKept) {
  const auto file = planned_text(GetParam().model);
  ASSERT_EQ(file->models.size(), 1u);
  driver::Compiled& m = file->models[0];
  plan::Plan& p = m.step_plan ? m.step_plan->updates.at(0) : *m.plan;
  EXPECT_EQ(refusal(p), "");
  GetParam().corrupt(p);
  const std::string said = refusal(p);
  EXPECT_TRUE((": " + said).find(std::string(": ") + GetParam().message) != std::string::npos)
      << "expected: " << GetParam().message << "\nsaid: " << said;
}

INSTANTIATE_TEST_SUITE_P(Each, Promises, ::testing::ValuesIn(promises()), [](const auto& which) {
  std::string name = std::to_string(which.index) + "_" + which.param.message;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

// The argument list whose `(` is at `begin`, without what stands in strings.
struct Call {
  std::string last_literal;
  size_t end;
};
Call read_call(const std::string& text, size_t begin) {
  Call call{.end = begin};
  int depth = 0;
  do {
    const char c = text.at(call.end++);
    depth += (c == '(') - (c == ')');
    if (c != '"') continue;
    const size_t close = text.find('"', call.end);
    call.last_literal = text.substr(call.end, close - call.end);
    call.end = close + 1;
  } while (depth > 0);
  return call;
}

// The messages of a source file, with how often each stands there. A format that only frames what
// was found (`kernel {}: {}`) is none.
void count_messages(const std::string& text, std::map<std::string, int>& counts) {
  for (const char* word : {"require(", "InternalError(", "ATTN_CHECK("})
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const Call call = read_call(text, at + std::string_view(word).size() - 1);
      const std::string& message = call.last_literal;
      if (!message.empty() && message.find("{}") == std::string::npos) ++counts[message];
    }
}

TEST(Verify, HasATestForEachMessage) {
  std::map<std::string, int> counts;
  for (const char* name :
       {"verify.cpp", "verify_function.cpp", "verify_loops.cpp", "verify_memory.cpp"})
    count_messages(read_text(std::filesystem::path(ATTN_SOURCE_DIR) / "compiler" / "plan" / name),
                   counts);
  EXPECT_GT(counts.size(), 80u);
  for (const auto& [message, wanted] : counts) {
    const std::string text = message.starts_with(": ") ? message.substr(2) : message;
    int rows = 0;
    for (const Promise& p : promises()) rows += std::string_view(p.message).starts_with(text);
    EXPECT_GE(rows, wanted) << "no plan breaks the promise: " << message;
  }
}

}  // namespace
}  // namespace attn::testing
