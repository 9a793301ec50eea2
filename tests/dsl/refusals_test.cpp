// Every file of tests/refusals/parse is refused with exactly the text beside it; and inputs too
// large for a file are refused by their limit, in little time and stack.
#include <gtest/gtest.h>
#include <pthread.h>

#include <ctime>
#include <string>

#include "dsl/parse.h"
#include "tests/support/golden.h"

namespace attn::dsl {
namespace {

std::string refusal(const std::filesystem::path& path) {
  SourceMap sources;
  Diagnostics diagnostics;
  const int32_t file = sources.add(path.filename().string(), testing::read_text(path));
  parse(sources, file, diagnostics);
  EXPECT_TRUE(diagnostics.has_errors());
  return render(sources, diagnostics);
}

TEST(Refusals, SayExactlyWhatTheGoldenFilesSay) {
  testing::expect_goldens_in(ATTN_SOURCE_DIR "/tests/refusals/parse", refusal);
}

struct Outcome {
  bool exceeded_limit = false;
  int errors = 0;
  std::string text;
  double milliseconds = 0;
};

// Sanitizers need several times the stack.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = size_t{16} << 20;
#else
constexpr size_t kStackBytes = size_t{1} << 20;
#endif

// Parses on a thread with a small stack.
Outcome parse_on_small_stack(const std::string& source) {
  struct Job {
    const std::string& source;
    Outcome outcome;
  } job{source, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const auto work = [](void* argument) -> void* {
    Job& mine = *static_cast<Job*>(argument);
    const std::clock_t start = std::clock();  // of this process, however busy the machine is
    SourceMap sources;
    Diagnostics diagnostics;
    parse(sources, sources.add("deep.attn", mine.source), diagnostics);
    mine.outcome.exceeded_limit = diagnostics.exceeded_limit();
    mine.outcome.errors = diagnostics.error_count();
    mine.outcome.text = render(sources, diagnostics);
    mine.outcome.milliseconds = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, work, &job), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return job.outcome;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  all.reserve(text.size() * times);
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string model_with(const std::string& value) {
  return "model m(x: [T]) -> y {\n  y[i] = " + value + "\n}\n";
}

TEST(Limits, RefuseNestingPastTheLimit) {
  const std::string deep[] = {
      model_with(repeated("(", 100'000)),
      model_with(repeated("(", 100'000) + "1" + repeated(")", 100'000)),
      model_with(repeated("-", 100'000) + "1"),
      model_with(repeated("not ", 100'000) + "true"),
      model_with(repeated("x[", 50'000) + "0" + repeated("]", 50'000)),
      model_with(repeated("if 1 < 2 then 1 else ", 20'000) + "1"),
      model_with(repeated("if ", 100'000)),
      model_with(repeated("sum[j: 2] ", 20'000) + "1"),
      model_with(repeated("2 ^ ", 50'000) + "1"),
      repeated("model m(x: [T]) -> y {\n", 10'000),
      model_with("1\n" + repeated("repeat l: 2 {\n", 20'000)),
  };
  for (const std::string& source : deep) {
    const Outcome outcome = parse_on_small_stack(source);
    EXPECT_TRUE(outcome.exceeded_limit) << source.substr(0, 60) << "\n"
                                        << outcome.text.substr(0, 500);
    EXPECT_NE(outcome.text.find("256"), std::string::npos) << outcome.text.substr(0, 500);
    EXPECT_LT(outcome.milliseconds, 1000) << source.substr(0, 60);
  }
}

TEST(Limits, AllowNestingUpToTheLimitOnASmallStack) {
  const std::string fine[] = {
      model_with(repeated("(", 250) + "1" + repeated(")", 250)),
      model_with(repeated("x[", 250) + "0" + repeated("]", 250)),
      model_with(repeated("if 1 < 2 then 1 else ", 250) + "1"),
      model_with(repeated("-", 250) + "1"),
      model_with(repeated("sum[j: 2 where 1 < (2)] ", 250) + "1"),
      model_with("1\n" + repeated("repeat l: 2 {\n", 250) + repeated("}\n", 250)),
  };
  for (const std::string& source : fine) {
    const Outcome outcome = parse_on_small_stack(source);
    EXPECT_EQ(outcome.text, "") << source.substr(0, 60);
    EXPECT_LT(outcome.milliseconds, 500) << source.substr(0, 60);
  }
}

TEST(Limits, DoNotCountWhatStandsSideBySide) {
  const std::string flat[] = {
      model_with(repeated("-2^3 + ", 1000) + "1"),
      model_with(repeated("sum[j: 2] 1 + ", 1000) + "1"),
      model_with(repeated("not true and ", 1000) + "true"),
  };
  for (const std::string& source : flat) EXPECT_EQ(parse_on_small_stack(source).text, "");
}

TEST(Limits, AcceptALongSumAndRefuseAnEndlessOne) {
  EXPECT_EQ(parse_on_small_stack(model_with(repeated("1+", 100'000) + "1")).text, "");
  const Outcome outcome = parse_on_small_stack(model_with(repeated("1+", 500'000) + "1"));
  EXPECT_TRUE(outcome.exceeded_limit);
  EXPECT_NE(outcome.text.find("262144"), std::string::npos) << outcome.text;
}

TEST(Limits, RefuseALargeFileAndALongName) {
  const Outcome large = parse_on_small_stack(std::string(kMaxSourceBytes + 1, ' '));
  EXPECT_TRUE(large.exceeded_limit);
  EXPECT_NE(large.text.find("1048576"), std::string::npos) << large.text;
  const Outcome name = parse_on_small_stack("size " + std::string(300'000, 'T') + "\n");
  EXPECT_TRUE(name.exceeded_limit);
  EXPECT_NE(name.text.find("255"), std::string::npos);
  EXPECT_LT(name.text.size(), 1000u);
  EXPECT_EQ(parse_on_small_stack("size " + std::string(255, 'T') + "\n").text, "");
}

TEST(Limits, BracketsWithoutAnOperatorTakeLinearTime) {
  for (int depth : {12, 64}) {
    const Outcome good =
        parse_on_small_stack(model_with(repeated("(", depth) + "1" + repeated(")", depth)));
    EXPECT_EQ(good.text, "");
    EXPECT_LT(good.milliseconds, 10);
    // Also where the innermost is wrong.
    const Outcome bad =
        parse_on_small_stack(model_with(repeated("x[(", depth) + "1 1" + repeated(")]", depth)));
    EXPECT_EQ(bad.errors, 1) << bad.text;
    EXPECT_LT(bad.milliseconds, 10);
  }
}

}  // namespace
}  // namespace attn::dsl
