// Contexts: threads, pooled memory, messages, the state of the processor.
#include <attn/attn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/src/execute.h"

extern "C" {
void* attn_k_malloc(void* context, size_t bytes);
void attn_k_free(void* context, void* memory);
int attn_k_do_par_for(void* context, int (*task)(void*, int, uint8_t*), int min, int size,
                      uint8_t* closure);
int attn_k_error_access_out_of_bounds(void* context, const char* func, int dimension,
                                      int min_touched, int max_touched, int min_valid,
                                      int max_valid);
int attn_k_error_out_of_memory(void* context);
int attn_k_fetch_ahead(const void* data, int64_t from, int64_t bytes);
}

namespace {

using attn::rt::kernel_status;
using attn::rt::LaunchScope;

struct Owned {
  attn_context* context = nullptr;
  explicit Owned(int threads = 2) {
    attn_context_options options = {};
    options.threads = threads;
    EXPECT_EQ(attn_context_create(&options, &context), ATTN_OK);
  }
  explicit Owned(const attn_context_options& options) {
    EXPECT_EQ(attn_context_create(&options, &context), ATTN_OK);
  }
  ~Owned() { attn_context_destroy(context); }
  operator attn_context*() const { return context; }
};

// How often each index ran, and on how many threads.
struct Visits {
  attn_context* context = nullptr;
  std::vector<std::atomic<int>> counts;
  std::atomic<int> inner{0};
  explicit Visits(size_t n) : counts(n) {}
};

int visit(void* data, int index) {
  ++static_cast<Visits*>(data)->counts[static_cast<size_t>(index)];
  return 0;
}

void expect_each_once(const Visits& visits) {
  for (const auto& count : visits.counts) ASSERT_EQ(count, 1);
}

TEST(Threads, RunEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 7, 64}) {
    Owned context(threads);
    for (const int count : {0, 1, 2, 5, 1000}) {
      Visits visits(static_cast<size_t>(count));
      EXPECT_EQ(attn_parallel_for(context, count, visit, &visits), 0);
      expect_each_once(visits);
    }
  }
}

TEST(Threads, ManyShortLoopsFollowEachOther) {
  Owned context(4);
  for (int k = 0; k < 3000; ++k) {
    Visits visits(3);
    attn_parallel_for(context, 3, visit, &visits);
    expect_each_once(visits);
  }
}

TEST(Threads, NestedLoopsRunInPlace) {
  Owned context(4);
  Visits visits(50);
  visits.context = context;
  const auto outer = [](void* data, int index) {
    Visits* v = static_cast<Visits*>(data);
    const auto inner = [](void* d, int) {
      ++static_cast<Visits*>(d)->inner;
      return 0;
    };
    attn_parallel_for(v->context, 20, inner, v);
    return visit(data, index);
  };
  EXPECT_EQ(attn_parallel_for(context, 50, outer, &visits), 0);
  expect_each_once(visits);
  EXPECT_EQ(visits.inner, 50 * 20);
}

TEST(Threads, KernelLoopsBeginAtTheirMinimum) {
  Owned context(3);
  std::vector<std::atomic<int>> seen(10);
  const auto task = [](void*, int index, uint8_t* closure) {
    ++(*reinterpret_cast<std::vector<std::atomic<int>>*>(closure))[static_cast<size_t>(index + 5)];
    return 0;
  };
  EXPECT_EQ(attn_k_do_par_for(context, task, -5, 10, reinterpret_cast<uint8_t*>(&seen)), 0);
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(Threads, AFailureIsReturnedAndStopsTheRest) {
  for (const int threads : {1, 4}) {
    Owned context(threads);
    std::atomic<int> runs{0};
    const auto task = [](void* data, int index) {
      ++*static_cast<std::atomic<int>*>(data);
      return index == 3 ? -4 : 0;
    };
    EXPECT_EQ(attn_parallel_for(context, 1000000, task, &runs), -4);
    EXPECT_LT(runs, 1000000);
    Visits visits(10);
    EXPECT_EQ(attn_parallel_for(context, 10, visit, &visits), 0);
    expect_each_once(visits);
  }
}

TEST(Threads, RunWithFewerWhereTheSystemRefusesSome) {
  for (const int failing : {1, 3}) {
    std::string log;
    attn_context_options options = {};
    options.threads = 6;
    options.log_data = &log;
    options.log = [](void* data, attn_log_level, const char* text) {
      *static_cast<std::string*>(data) += text;
    };
    Owned context(options);
    attn_context_fail_thread(context, failing);
    Visits visits(100);
    EXPECT_EQ(attn_parallel_for(context, 100, visit, &visits), 0);
    expect_each_once(visits);
    EXPECT_EQ(log, "only " + std::to_string(failing) + " of 6 threads could be started");
  }
}

TEST(Threads, ChangeInNumberTakesEffectAtOnce) {
  Owned context(8);
  for (const int threads : {8, 1, 3, 2000, 2}) {
    ASSERT_EQ(attn_context_set_threads(context, threads), ATTN_OK);
    if (threads == 2000) {
      EXPECT_EQ(attn_context_threads(context), 1024);
      continue;
    }
    EXPECT_EQ(attn_context_threads(context), threads);
    Visits visits(100);
    attn_parallel_for(context, 100, visit, &visits);
    expect_each_once(visits);
  }
  EXPECT_EQ(attn_context_set_threads(context, -1), ATTN_REFUSED);
  EXPECT_STREQ(attn_context_message(context), "threads is -1, must be at least 0");
}

TEST(Threads, SixtyFourCallersWithContextsOfTheirOwn) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 64; ++k) {
    callers.emplace_back([&] {
      Owned context(2);
      for (int j = 0; j < 20; ++j) {
        Visits visits(10);
        attn_parallel_for(context, 10, visit, &visits);
        for (const auto& count : visits.counts) wrong += count != 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, AWorkerMayCallAnotherContext) {
  Owned outer(3);
  const auto task = [](void*, int) {
    Owned inner(2);
    Visits visits(10);
    attn_parallel_for(inner, 10, visit, &visits);
    for (const auto& count : visits.counts) {
      if (count != 1) return -1;
    }
    return 0;
  };
  EXPECT_EQ(attn_parallel_for(outer, 12, task, nullptr), 0);
}

TEST(Threads, AForkedChildStartsItsOwn) {
  Owned context(3);
  Visits before(100);
  attn_parallel_for(context, 100, visit, &before);
  const pid_t child = fork();
  if (child == 0) {
    Visits visits(100);
    attn_parallel_for(context, 100, visit, &visits);
    bool right = true;
    for (const auto& count : visits.counts) right = right && count == 1;
    attn_context_destroy(context);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  Visits after(100);
  attn_parallel_for(context, 100, visit, &after);
  expect_each_once(after);
}

TEST(Threads, NeedLittleStackOfTheCaller) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t thread;
  const auto run = [](void*) -> void* {
    Owned context(2);
    Visits visits(10);
    attn_parallel_for(context, 10, visit, &visits);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Memory, IsAlignedAndReused) {
  Owned context(1);
  std::set<void*> all;
  for (const size_t bytes : {0u, 1u, 63u, 64u, 65u, 80u, 100u, 4095u, 4097u, 1u << 20}) {
    void* memory = attn_k_malloc(context, bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 128, 0u);
    // A vector may be read past the end and before the start.
    volatile char* edge = static_cast<char*>(memory);
    (void)edge[-8];
    (void)edge[bytes + 63];
    memset(memory, 0xff, bytes);
    attn_k_free(context, memory);
    EXPECT_EQ(attn_k_malloc(context, bytes), memory);
    EXPECT_TRUE(all.insert(memory).second);
  }
  for (void* memory : all) attn_k_free(context, memory);
}

// A tile asks for what the next one reads, also where there is none.
TEST(Memory, IsFetchedAheadWhereverItEnds) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* pages = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  for (const int64_t bytes : {-1, 0, 1, 63, 64, 65, 1 << 20})
    for (const int64_t from : {int64_t{0}, static_cast<int64_t>(page) - 1, int64_t{1} << 40})
      EXPECT_EQ(attn_k_fetch_ahead(pages, from, bytes), 0);
  EXPECT_EQ(munmap(pages, 2 * page), 0);
}

TEST(Memory, ClassesHoldWhatWasAskedFor) {
  Owned context(1);
  for (size_t bytes = 1; bytes < 3000; ++bytes) {
    char* one = static_cast<char*>(attn_allocate(context, bytes));
    char* two = static_cast<char*>(attn_allocate(context, bytes));
    memset(one, 1, bytes);
    memset(two, 2, bytes);
    ASSERT_EQ(one[0], 1);
    ASSERT_EQ(one[bytes - 1], 1);
    attn_free(context, one);
    attn_free(context, two);
  }
}

TEST(Memory, MayBeFreedByAnotherThreadOrWithoutContext) {
  Owned context(4);
  const auto task = [](void* data, int) {
    attn_context* c = static_cast<attn_context*>(data);
    void* memory = attn_k_malloc(c, 1000);
    memset(memory, 7, 1000);
    attn_k_free(c, memory);
    return 0;
  };
  EXPECT_EQ(attn_parallel_for(context, 10000, task, context.context), 0);
  void* memory = attn_allocate(context, 100);
  attn_free(nullptr, memory);
  attn_free(context, attn_allocate(nullptr, 100));
  attn_free(context, nullptr);
  attn_context_trim(context);
}

TEST(Memory, RefusesWhatCannotBe) {
  Owned context(1);
  EXPECT_EQ(attn_allocate(context, SIZE_MAX), nullptr);
  EXPECT_EQ(attn_allocate(context, SIZE_MAX - 200), nullptr);
  EXPECT_EQ(attn_allocate(nullptr, SIZE_MAX), nullptr);
}

TEST(Memory, TheNthAllocationFailsOnce) {
  Owned context(1);
  attn_context_fail_allocation(context, 2);
  void* one = attn_allocate(context, 8);
  EXPECT_NE(one, nullptr);
  EXPECT_EQ(attn_allocate(context, 8), nullptr);
  void* two = attn_allocate(context, 8);
  EXPECT_NE(two, nullptr);
  attn_free(context, one);
  attn_free(context, two);
}

// Rows K11 and N17.
TEST(Call, SetsAndRestoresTheControlRegister) {
  Owned context(1);
  const unsigned before = _mm_getcsr();
  const unsigned odd = (before & ~0x1f80u) | 0x1b80u | 0x4000u | 0x8000u;  // one trap, round up
  _mm_setcsr(odd);
  {
    const LaunchScope scope(context);
    EXPECT_EQ(_mm_getcsr() & 0xffc0u, 0x9fc0u);
  }
  EXPECT_EQ(_mm_getcsr(), odd);
  _mm_setcsr(before);
}

TEST(Call, WorkersHaveTheKernelState) {
  Owned context(4);
  const auto task = [](void*, int) {
    usleep(100);
    return (_mm_getcsr() & 0xffc0u) == 0x9fc0u ? 0 : -1;
  };
  const LaunchScope scope(context);
  EXPECT_EQ(attn_parallel_for(context, 64, task, nullptr), 0);
}

TEST(Call, KeepsTheFirstMessageOfAKernel) {
  Owned context(1);
  const LaunchScope scope(context);
  EXPECT_STREQ(attn_context_message(context), "");
  const int code = attn_k_error_access_out_of_bounds(context, "x", 1, 0, 9, 0, 7);
  EXPECT_EQ(code, -4);
  EXPECT_EQ(attn_k_error_out_of_memory(context), -11);
  EXPECT_EQ(kernel_status(context, "k0", code), ATTN_INTERNAL);
  EXPECT_STREQ(
      attn_context_message(context),
      "internal error in kernel k0 (-4): x is read from 0 to 9 in dimension 1, has 0 to 7");
  EXPECT_EQ(kernel_status(context, "k0", -11), ATTN_NO_MEMORY);
  EXPECT_STREQ(attn_context_message(context), "out of memory in k0");
  EXPECT_EQ(kernel_status(context, "k0", 0), ATTN_OK);
}

TEST(Call, WorksWithoutContext) {
  EXPECT_EQ(attn_fail(nullptr, ATTN_REFUSED, "%d", 1), ATTN_REFUSED);
  EXPECT_EQ(attn_k_error_out_of_memory(nullptr), -11);
  Visits visits(10);
  EXPECT_EQ(attn_parallel_for(nullptr, 10, visit, &visits), 0);
  expect_each_once(visits);
  attn_context_destroy(nullptr);
  EXPECT_EQ(attn_context_create(nullptr, nullptr), ATTN_REFUSED);
}

// The compiler's run-time support knows which registers the system saves, too.
TEST(Call, KnowsTheFeaturesOfTheProcessor) {
  Owned context(1);
  attn_context* c = context;
  const auto has = [&](attn_cpu_word word, int bit) {
    return (c->cpu_features[word] >> bit & 1) != 0;
  };
  EXPECT_EQ(has(ATTN_CPUID_1_ECX, 20), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(has(ATTN_CPUID_80000001_ECX, 5), __builtin_cpu_supports("lzcnt") != 0);
  const bool saves_ymm = has(ATTN_XCR0, 1) && has(ATTN_XCR0, 2);
  EXPECT_EQ(saves_ymm && has(ATTN_CPUID_7_EBX, 5), __builtin_cpu_supports("avx2") != 0);
  const bool saves_zmm = (c->cpu_features[ATTN_XCR0] & 0xe6) == 0xe6;
  EXPECT_EQ(saves_zmm && has(ATTN_CPUID_7_EBX, 16), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(saves_zmm && has(ATTN_CPUID_7_ECX, 6), __builtin_cpu_supports("avx512vbmi2") != 0);
  EXPECT_EQ(saves_zmm && has(ATTN_CPUID_7_1_EAX, 5), __builtin_cpu_supports("avx512bf16") != 0);
}

}  // namespace
