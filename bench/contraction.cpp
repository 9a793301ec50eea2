// One thread of the contraction schedule against one thread of OpenBLAS, run by turns in one
// process, medians. Extents are run-time values, as in a model whose sizes are not fixed.
//   attn_bench_contraction [TARGET] [hints] [filter]      hints: the sizes as typical ones
#include <Halide.h>
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/halide/target.h"
#include "compiler/target/target.h"

extern "C" void openblas_set_num_threads(int);

// In place of the runtime's, for kernels that run in this process.
extern "C" __attribute__((visibility("default"))) int halide_fetch_ahead(const char* data,
                                                                         int64_t first,
                                                                         int64_t bytes) {
  for (int64_t k = 0; k < bytes; k += 64) __builtin_prefetch(data + first + k, 0, 2);
  return 0;
}

namespace {

namespace target = attn::target;
using namespace attn::lower;
using Halide::Expr;
using Along = Factor::Along;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Case {
  const char* name;
  bool left_transposed, right_transposed;  // stored [k,m]; stored [n,k]
  int batch, rows, columns, reduced;
};

constexpr Case kCases[] = {
    {"nn", false, false, 1, 1024, 1024, 1024}, {"nt", false, true, 1, 1024, 1024, 1024},
    {"tn", true, false, 1, 1024, 1024, 1024},  {"tt", true, true, 1, 1024, 1024, 1024},
    {"nn", false, false, 1, 512, 512, 512},    {"nn", false, false, 1, 2048, 256, 1024},
    {"nn", false, false, 1, 4096, 1024, 1024}, {"nn", false, false, 1, 1000, 1000, 1000},
    {"nt", false, true, 1, 512, 512, 512},     {"tn", true, false, 1, 512, 512, 100000},
    {"tn", true, false, 1, 8, 8, 1000000},     {"nn", false, false, 1, 16, 64, 64},
    {"nn", false, false, 1, 1, 1024, 1024},    {"nt", false, true, 1, 1, 1024, 1024},
    {"nn", false, false, 64, 32, 32, 32},      {"nt", false, true, 64, 128, 128, 64},
};

struct Kernel {
  Halide::ImageParam left{Halide::Float(32), 3, "left"}, right{Halide::Float(32), 3, "right"};
  Halide::Func out;
  double compile_seconds = 0;
};

// left[b, m, k] or [b, k, m]; right[b, k, n] or [b, n, k].
void build(Kernel& kernel, const Case& c, bool hints, const Target& level) {
  const bool left_transposed = c.left_transposed, right_transposed = c.right_transposed;
  const bool one_batch = c.batch == 1;
  auto& left = kernel.left;
  auto& right = kernel.right;
  Expr rows = left.dim(left_transposed ? 0 : 1).extent();
  Expr reduced = left.dim(left_transposed ? 1 : 0).extent();
  Expr columns = right.dim(right_transposed ? 1 : 0).extent();
  Expr batch = one_batch ? Expr(1) : Expr(left.dim(2).extent());
  auto dense = [&](Halide::ImageParam& image, const Expr& inner, const Expr& outer) {
    image.dim(0).set_bounds(0, inner);
    image.dim(1).set_bounds(0, outer).set_stride(inner);
    image.dim(2).set_bounds(0, batch).set_stride(inner * outer);
  };
  dense(left, left.dim(0).extent(), left.dim(1).extent());
  dense(right, right_transposed ? reduced : columns, right_transposed ? columns : reduced);
  ContractionSpec spec;
  spec.terms.push_back(
      {{[&, left_transposed](Expr b, Expr m, Expr k) -> Expr {
          return left_transposed ? left(m, k, b) : left(k, m, b);
        },
        left_transposed ? Along::kOuter : Along::kReduced},
       {[&, right_transposed](Expr b, Expr n, Expr k) -> Expr {
          return right_transposed ? right(k, n, b) : right(n, k, b);
        },
        right_transposed ? Along::kReduced : Along::kOuter, right_transposed ? kWholeRun : 0},
       reduced});
  spec.output = {{OutputDim::Group::kBatch, batch},
                 {OutputDim::Group::kRow, rows},
                 {OutputDim::Group::kColumn, columns}};
  if (hints) {
    spec.typical_rows = c.rows;
    spec.typical_columns = c.columns;
    spec.typical_reduced = c.reduced;
  }
  kernel.out = ContractionScheduler(spec, level).schedule();
  std::clock_t start = std::clock();
  kernel.out.compile_to_object("/dev/null", {left, right}, "kernel", kernel_target(level));
  kernel.compile_seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  kernel.out.compile_jit(jit_target(level));
}

void run(const Case& c, bool hints, const Target& level) {
  Kernel kernel;
  build(kernel, c, hints, level);
  auto buffer = [&](bool swapped, int outer, int inner) {
    return swapped ? Halide::Buffer<float>(outer, inner, c.batch)
                   : Halide::Buffer<float>(inner, outer, c.batch);
  };
  Halide::Buffer<float> left = buffer(c.left_transposed, c.rows, c.reduced);
  Halide::Buffer<float> right = buffer(c.right_transposed, c.reduced, c.columns);
  Halide::Buffer<float> out(c.columns, c.rows, c.batch), expected(c.columns, c.rows, c.batch);
  uint32_t seed = 1;
  auto fill = [&](float& value) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
  };
  left.for_each_value(fill);
  right.for_each_value(fill);
  kernel.left.set(left);
  kernel.right.set(right);
  auto ours = [&] { kernel.out.realize(out); };
  auto theirs = [&] {
    for (int b = 0; b < c.batch; ++b) {
      cblas_sgemm(CblasRowMajor, c.left_transposed ? CblasTrans : CblasNoTrans,
                  c.right_transposed ? CblasTrans : CblasNoTrans, c.rows, c.columns, c.reduced, 1,
                  left.data() + static_cast<int64_t>(b) * c.rows * c.reduced,
                  c.left_transposed ? c.rows : c.reduced,
                  right.data() + static_cast<int64_t>(b) * c.columns * c.reduced,
                  c.right_transposed ? c.reduced : c.columns, 0,
                  expected.data() + static_cast<int64_t>(b) * c.rows * c.columns, c.columns);
    }
  };
  ours();
  theirs();
  double difference = 0;
  for (size_t i = 0; i < out.number_of_elements(); ++i) {
    double d = std::abs(double(out.data()[i]) - expected.data()[i]);
    difference = d <= difference ? difference : d;  // NaN is kept
  }
  const double work = 2.0 * c.batch * c.rows * c.columns * c.reduced;
  const int runs = std::clamp(static_cast<int>(2e10 / work), 5, 3000);
  std::vector<double> mine, blas;
  for (int i = 0; i < runs; ++i) {
    double a = now();
    ours();
    double b = now();
    theirs();
    mine.push_back(b - a);
    blas.push_back(now() - b);
  }
  const double m = median(mine), o = median(blas);
  std::printf(
      "%s %3d x %5d x %5d x %7d  %9.3f ms  %6.1f GF/s  openblas %6.1f  ratio %.2f  "
      "compile %.2f s  difference %.1e\n",
      c.name, c.batch, c.rows, c.columns, c.reduced, m * 1e3, work / m / 1e9, work / o / 1e9, o / m,
      kernel.compile_seconds, difference);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("HL_NUM_THREADS", "1", 0);
  openblas_set_num_threads(1);
  prepare_code_generation(target::Arch::x86_64);
  const Target* target = &host();
  const char* filter = "";
  bool hints = false;
  for (int i = 1; i < argc; ++i) {
    if (const Target* named = target::find(argv[i])) {
      target = named;
    } else if (std::strcmp(argv[i], "hints") == 0) {
      hints = true;
    } else {
      filter = argv[i];
    }
  }
  for (const Case& c : kCases) {
    std::string shape = std::string(c.name) + " " + std::to_string(c.batch) + "x" +
                        std::to_string(c.rows) + "x" + std::to_string(c.columns) + "x" +
                        std::to_string(c.reduced);
    if (shape.find(filter) != std::string::npos) run(c, hints, *target);
  }
}
