// The machine for PTX: single instructions, and what a kernel does wrong.
#include <cmath>
#include <cstring>

#include "context.h"
#include "ptx_kernel.h"

namespace {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

// An instruction of the words %r2, %r3 and %r4, which writes %r5.
uint32_t word_of(const std::string& instruction, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return result_of("ld.global.v4.b32 {%r2, %r3, %r4, %r9}, [%rd1];\n" + instruction +
                       "\nst.global.b32 [%rd1+16], %r5;",
                   {a, b, c, 0, 0})[4];
}
float float_of(const std::string& instruction, float a, float b = 0, float c = 0) {
  return std::bit_cast<float>(word_of(instruction, bits(a), bits(b), bits(c)));
}
// The same with %rd3, %rd4 and %rd5.
uint64_t long_of(const std::string& instruction, uint64_t a, uint64_t b = 0) {
  const Words given = {uint32_t(a), uint32_t(a >> 32), uint32_t(b), uint32_t(b >> 32), 0, 0};
  const Words r = result_of(
      "ld.global.v2.b64 {%rd3, %rd4}, [%rd1];\n" + instruction + "\nst.global.b64 [%rd1+16], %rd5;",
      given);
  return uint64_t{r[5]} << 32 | r[4];
}

TEST(Ptx, ComputesWithIntegers) {
  EXPECT_EQ(word_of("add.s32 %r5, %r2, %r3;", 0xffffffff, 3), 2u);
  EXPECT_EQ(word_of("mad.lo.s32 %r5, %r2, %r3, %r4;", 7, uint32_t(-3), 1), uint32_t(-20));
  EXPECT_EQ(word_of("mul.hi.u32 %r5, %r2, %r3;", 0x80000000, 6), 3u);
  EXPECT_EQ(word_of("mul.hi.s32 %r5, %r2, %r3;", uint32_t(-1), 6), 0xffffffffu);
  EXPECT_EQ(word_of("div.s32 %r5, %r2, %r3;", uint32_t(-7), 2), uint32_t(-3));
  EXPECT_EQ(word_of("rem.s32 %r5, %r2, %r3;", uint32_t(-7), 2), uint32_t(-1));
  EXPECT_EQ(word_of("rem.u32 %r5, %r2, %r3;", 7, 0), 7u);
  EXPECT_EQ(word_of("min.s32 %r5, %r2, %r3;", uint32_t(-7), 2), uint32_t(-7));
  EXPECT_EQ(word_of("min.u32 %r5, %r2, %r3;", uint32_t(-7), 2), 2u);
  EXPECT_EQ(word_of("mul24.lo.s32 %r5, %r2, %r3;", 0xffffff, 5), uint32_t(-5));
  EXPECT_EQ(long_of("mul.lo.s64 %rd5, %rd3, %rd4;", 1ull << 40, 3), 3ull << 40);
  EXPECT_EQ(long_of("mul.hi.u64 %rd5, %rd3, %rd4;", 1ull << 63, 6), 3u);
  // A sum of 64 bits in two halves.
  EXPECT_EQ(word_of("add.cc.u32 %r6, %r2, %r3; addc.u32 %r5, %r4, 0;", 0xffffffff, 1, 5), 6u);
  EXPECT_EQ(word_of("{ mad.lo.cc.u32 %r6, %r2, %r3, %r4; madc.hi.u32 %r5, %r2, %r3, 0; }",
                    0xffffffff, 0xffffffff, 0xffffffff),
            0xffffffffu);
}

TEST(Ptx, ComputesWithBits) {
  EXPECT_EQ(word_of("and.b32 %r5, %r2, %r3;", 12, 10), 8u);
  EXPECT_EQ(word_of("not.b32 %r5, %r2;", 12), ~12u);
  EXPECT_EQ(word_of("shl.b32 %r5, %r2, %r3;", 1, 32), 0u);
  EXPECT_EQ(word_of("shr.s32 %r5, %r2, %r3;", 0x80000000, 99), 0xffffffffu);
  EXPECT_EQ(word_of("shr.u32 %r5, %r2, 31;", 0x80000000), 1u);
  EXPECT_EQ(word_of("brev.b32 %r5, %r2;", 1), 0x80000000u);
  EXPECT_EQ(word_of("popc.b32 %r5, %r2;", 0xf0f), 8u);
  EXPECT_EQ(word_of("clz.b32 %r5, %r2;", 0xffff), 16u);
  EXPECT_EQ(word_of("bfind.u32 %r5, %r2;", 0), 0xffffffffu);
  EXPECT_EQ(word_of("bfe.u32 %r5, %r2, 4, 8;", 0xabcd), 0xbcu);
  EXPECT_EQ(word_of("bfe.s32 %r5, %r2, 4, 8;", 0xabcd), 0xffffffbcu);
  EXPECT_EQ(word_of("bfi.b32 %r5, %r2, %r3, 8, 4;", 0xff, 0), 0xf00u);
  EXPECT_EQ(word_of("prmt.b32 %r5, %r2, %r3, 0x5410;", 0x33221100, 0x77665544), 0x55441100u);
  EXPECT_EQ(word_of("shf.l.wrap.b32 %r5, %r2, %r3, 36;", 0x12345678, 0xabcdef01), 0xbcdef011u);
  EXPECT_EQ(word_of("mov.b32 {%rs1, %rs2}, %r2; mov.b32 %r5, {%rs2, %rs1};", 0x12345678),
            0x56781234u);
}

TEST(Ptx, ComputesWithFloats) {
  const float tiny = 1e-39f, nan = NAN;
  EXPECT_EQ(float_of("fma.rn.f32 %r5, %r2, %r3, %r4;", 1 + 0x1p-20f, 1 - 0x1p-20f, -1), -0x1p-40f);
  EXPECT_EQ(float_of("add.f32 %r5, %r2, %r3;", tiny, tiny), 2 * tiny);
  EXPECT_EQ(float_of("add.ftz.f32 %r5, %r2, %r3;", tiny, tiny), 0);
  EXPECT_EQ(float_of("min.f32 %r5, %r2, %r3;", nan, 2), 2);
  EXPECT_TRUE(std::isnan(float_of("min.NaN.f32 %r5, %r2, %r3;", 2, nan)));
  EXPECT_TRUE(std::signbit(float_of("min.f32 %r5, %r2, %r3;", 0.0f, -0.0f)));
  EXPECT_EQ(float_of("ex2.approx.ftz.f32 %r5, %r2;", -3), 0.125f);
  EXPECT_EQ(float_of("ex2.approx.ftz.f32 %r5, %r2;", -127), 0);
  EXPECT_EQ(float_of("div.rn.f32 %r5, %r2, %r3;", 1, 3), 1.0f / 3);
  EXPECT_EQ(float_of("sqrt.rn.f32 %r5, %r2;", 2), std::sqrt(2.0f));
  EXPECT_EQ(float_of("rcp.approx.ftz.f32 %r5, %r2;", 4), 0.25f);
}

TEST(Ptx, ComparesWhatIsUnordered) {
  const auto holds = [](const std::string& relation, float a, float b) {
    return word_of("setp." + relation + ".f32 %p1, %r2, %r3; selp.b32 %r5, 1, 0, %p1;", bits(a),
                   bits(b)) == 1;
  };
  EXPECT_TRUE(holds("ltu", NAN, 1) && holds("neu", NAN, 1) && holds("nan", NAN, 1));
  EXPECT_FALSE(holds("lt", NAN, 1) || holds("ne", NAN, 1) || holds("num", NAN, 1));
  EXPECT_TRUE(holds("ge", 1, 1) && holds("leu", 1, 1) && holds("ne", 1, 2));
  EXPECT_EQ(word_of("setp.lt.s32 %p1, %r2, 0; setp.gt.and.u32 %p2|%p3, %r2, 5, !%p1;\n"
                    "selp.b32 %r5, 1, 0, %p2; @%p3 add.s32 %r5, %r5, 2; @!%p1 add.s32 %r5, %r5, 4;",
                    uint32_t(-1)),
            0u);
}

TEST(Ptx, ConvertsWithEachRounding) {
  EXPECT_EQ(word_of("cvt.rzi.s32.f32 %r5, %r2;", bits(-2.7f)), uint32_t(-2));
  EXPECT_EQ(word_of("cvt.rmi.s32.f32 %r5, %r2;", bits(-2.7f)), uint32_t(-3));
  EXPECT_EQ(word_of("cvt.rni.s32.f32 %r5, %r2;", bits(2.5f)), 2u);
  EXPECT_EQ(word_of("cvt.rzi.s32.f32 %r5, %r2;", bits(3e9f)), 0x7fffffffu);
  EXPECT_EQ(word_of("cvt.rzi.u32.f32 %r5, %r2;", bits(NAN)), 0u);
  EXPECT_EQ(float_of("cvt.rmi.ftz.f32.f32 %r5, %r2;", -0.5f), -1);
  EXPECT_EQ(float_of("cvt.sat.f32.f32 %r5, %r2;", 7), 1);
  EXPECT_EQ(word_of("cvt.rn.f32.u32 %r5, %r2;", 0xffffffff), bits(4294967296.0f));
  EXPECT_EQ(word_of("cvt.rz.f32.u32 %r5, %r2;", 0xffffffff), bits(4294967040.0f));
  EXPECT_EQ(word_of("cvt.u16.u32 %rs1, %r2; cvt.s32.s16 %r5, %rs1;", 0x1ffff), 0xffffffffu);
  EXPECT_EQ(word_of("cvt.sat.s8.s32 %r5, %r2;", 1000), 127u);
  EXPECT_EQ(long_of("cvt.rzi.s64.f64 %rd5, %rd3;", std::bit_cast<uint64_t>(-1e18)),
            uint64_t(-1000000000000000000));
  EXPECT_EQ(word_of("cvt.rna.tf32.f32 %r5, %r2;", 0x3f801000), 0x3f802000u);
  EXPECT_EQ(word_of("cvt.rn.bf16x2.f32 %r5, %r2, %r3;", bits(1), bits(-2)), 0x3f80c000u);
}

// Each value of 16 bits, and what lies between two of them.
TEST(Ptx, RoundsToHalves) {
  for (uint32_t k = 0; k < 0x7c00; ++k) {
    const float low = ptx::of_half(k), high = k == 0x7bff ? 65536.0f : ptx::of_half(k + 1);
    ASSERT_EQ(ptx::half_of(low), k);
    ASSERT_LT(low, high);
    const float middle = (low + high) / 2;
    ASSERT_EQ(ptx::half_of(middle), k + k % 2);
    ASSERT_EQ(ptx::half_of(middle, ptx::Rounding::zero), k);
    ASSERT_EQ(ptx::half_of(-middle), 0x8000 + k + k % 2);
  }
  EXPECT_EQ(ptx::half_of(INFINITY), 0x7c00);
  EXPECT_EQ(ptx::half_of(NAN), 0x7fff);
  EXPECT_EQ(ptx::bfloat_of(1 + 0x1p-8f), 0x3f80);
  EXPECT_EQ(ptx::bfloat_of(1 + 0x3p-8f), 0x3f82);
}

TEST(Ptx, RunsThreadsBetweenBarriers) {
  // Sums over threads: in shared memory, by halves; the last half of each round is idle.
  Words data(64);
  for (uint32_t k = 0; k < 64; ++k) data[k] = k * k;
  run_kernel(
      "ld.global.nc.b32 %r2, [%rd2]; shl.b32 %r3, %r1, 2; cvt.u64.u32 %rd3, %r3;\n"
      "mov.b64 %rd4, box; add.s64 %rd4, %rd4, %rd3; st.shared.b32 [%rd4], %r2;\n"
      "mov.b32 %r4, 32;\n"
      "$again:\nbar.sync 0;\n"
      "setp.ge.u32 %p1, %r1, %r4;\n@%p1 bra $rest;\n"
      "mul.wide.u32 %rd5, %r4, 4; add.s64 %rd5, %rd4, %rd5; ld.shared.b32 %r5, [%rd5];\n"
      "ld.shared.b32 %r6, [%rd4]; add.s32 %r6, %r6, %r5; st.shared.b32 [%rd4], %r6;\n"
      "$rest:\nshr.u32 %r4, %r4, 1; setp.ne.b32 %p2, %r4, 0;\n@%p2 bra.uni $again;\n"
      "setp.eq.b32 %p3, %r1, 0; @%p3 st.global.b32 [%rd1], %r6;",
      data, 64);
  EXPECT_EQ(data[0], 63u * 64 * 127 / 6);
}

TEST(Ptx, KeepsMemoryOfAThread) {
  const Words r = result_of(
      "mov.b64 %rd3, depot; add.s64 %rd4, %rd3, %rd2; sub.s64 %rd4, %rd4, %rd1;\n"
      "st.local.b32 [%rd4+8], %r1; cvta.local.u64 %rd5, %rd3; mov.b32 %r2, 77;\n"
      "st.b32 [%rd5], %r2; ld.local.b32 %r3, [depot]; ld.local.b32 %r4, [%rd4+8];\n"
      "add.s32 %r3, %r3, %r4; st.global.b32 [%rd2], %r3;",
      {0, 0, 0}, 3);
  EXPECT_EQ(r, (Words{77, 78, 79}));
}

TEST(Ptx, ReadsConstantsOfTheModule) {
  const ptx::Module m = ptx::parse(
      ".version 7.0\n.const .align 4 .b8 table[8] = {1, 2, 0, 0, 5};\n"
      ".extern .shared .align 16 .b8 more[];\n"
      ".visible .entry one(.param .u64 p)\n{ .reg .b64 %rd<5>; .reg .b32 %r<5>;\n"
      "ld.param.b64 %rd1, [p]; mov.b64 %rd2, table; ld.const.b32 %r1, [%rd2];\n"
      "ld.const.b32 %r2, [%rd2+4]; add.s32 %r1, %r1, %r2; st.shared.b32 [more+4], %r1;\n"
      "ld.shared.b32 %r3, [more+4]; st.global.b32 [%rd1], %r3; ret; }\n");
  Words data(1);
  std::vector<char> arguments(8);
  memcpy(arguments.data(), &kData, 8);
  ptx::run(m, m.entries.at("one"), {{1, 1, 1}, {1, 1, 1}, 8}, arguments,
           {{kData, 4, reinterpret_cast<char*>(data.data())}});
  EXPECT_EQ(data[0], 0x201u + 5);
}

// ---- mistakes

void expect_found(const Found& found, int code, const std::vector<std::string>& parts) {
  EXPECT_EQ(found.code, code) << found.text;
  for (const std::string& part : parts)
    EXPECT_NE(found.text.find(part), std::string::npos) << part << " in: " << found.text;
}

TEST(Ptx, RefusesWhatItDoesNotKnow) {
  expect_found(found_in("add.s32 %r2, %r1, 1;\nfrob.s32 %r2, %r1;"), 218,
               {"line 9", "frob.s32 %r2, %r1;", "unknown instruction"});
  expect_found(found_in("add.rz.f32 %r2, %r1, %r1;"), 218, {"line 8"});
  expect_found(found_in("add.s32 %r2, %r1;"), 218, {"line 8"});
  expect_found(found_in("add.s32 %r2, %r1, %s7;"), 218, {"there is no `%s7`"});
  expect_found(found_in("bra $nowhere;"), 218, {"there is no label $nowhere"});
  expect_found(found_in(".frob 7;"), 218, {"line 8"});
  expect_found(found_in("{ .reg .b32 %own; }\n{ .reg .b32 %own; .reg .b32 %own; }"), 218,
               {"line 9", "declared twice: %own"});
  EXPECT_THROW(ptx::parse(".version 7.0\n.frob\n"), ptx::TextError);
}

TEST(Ptx, FindsAccessesOutside) {
  expect_found(found_in("st.global.b32 [%rd2+4], %r1;"), 700,
               {"one, line 8", "thread (63, 0, 0) of block (0, 0, 0)", "not live memory",
                "byte 256 of a block of 256 bytes"});
  expect_found(found_in("ld.global.b32 %r2, [%rd1+-4];"), 700, {"not live memory"});
  expect_found(found_in("ld.global.b64 %rd3, [%rd1+4];"), 716, {"8 bytes", "misaligned"});
  expect_found(found_in("ld.shared.b32 %r2, [box+4096];"), 700, {"shared memory, which has 4096"});
  expect_found(found_in("ld.local.b32 %r2, [depot+64];"), 700, {"local memory, which has 64"});
}

TEST(Ptx, FindsRegistersThatWereNotWritten) {
  expect_found(found_in("add.s32 %r2, %r7, 1;"), 719, {"line 8", "%r7 was never written"});
  expect_found(found_in("@%p1 bra $end;\n$end:"), 719, {"%p1 was never written"});
  EXPECT_EQ(found_in("// implicit-def: %r7\nadd.s32 %r2, %r7, 1;").code, 0);
}

TEST(Ptx, FindsRaces) {
  const std::string own = "mov.b64 %rd3, box; sub.s64 %rd4, %rd2, %rd1; add.s64 %rd4, %rd4, %rd3;";
  const std::string write = "st.shared.b32 [%rd4], %r1;", other = "ld.shared.b32 %r2, [%rd4+4];";
  EXPECT_EQ(found_in(own + "\n" + write + "\nbar.sync 0;\n" + other).code, 0);
  expect_found(found_in(own + "\n" + other + "\n" + write), 719,
               {"one, line 10", "thread (1, 0, 0)", "writes", "thread 0 read in line 9"});
  expect_found(found_in(own + "\n" + write + "\n" + "ld.shared.b32 %r2, [box];"), 719,
               {"line 10", "thread (1, 0, 0)", "reads", "thread 0 wrote in line 9"});
  expect_found(found_in("st.shared.b32 [box], %r1;"), 719, {"thread 0 wrote in line 8"});
  // Lanes of a warp may meet without the block; other warps do not know of it.
  const std::string meet = own + "\n" + write + "\nbar.warp.sync -1;\n" + other;
  EXPECT_EQ(found_in(meet, 32).code, 0);
  expect_found(found_in(own + "\n" + other + "\nbar.warp.sync -1;\n" + write), 719,
               {"line 11", "thread (32, 0, 0)", "thread 31 read in line 9"});
}

TEST(Ptx, EndedThreadsCountAtBarriers) {
  const std::string some = "setp.gt.u32 %p1, %r1, 31;\n";
  EXPECT_EQ(found_in(some + "@%p1 ret;\nbar.sync 0;").code, 0);
  EXPECT_EQ(found_in(some + "@%p1 bra $b;\nbar.sync 0;\nret;\n$b:\nbar.sync 0;").code, 0);
  expect_found(
      found_in("setp.gt.u32 %p1, %r1, 5;\n@%p1 bra $b;\nbar.sync 0;\nret;\n$b:\nbar.sync 0;"), 719,
      {"another lane of its warp is at the barrier of line 10"});
}

// Through the runtime: the launch's work fails, and the next wait says so.
TEST_F(Cuda, RunsTextsOfPtx) {
  const std::string text = kernel_text(
      "ld.param.b32 %r2, [one_param_1]; add.s32 %r2, %r2, %r1; st.global.b32 [%rd2], %r2;");
  Owned context(on(0));
  void* memory = attn_device_allocate(context, 128);
  OneKernel kernel{.text = text.c_str()};
  EXPECT_EQ(kernel.launch(context, memory, 70), 0);
  int32_t values[32] = {};
  EXPECT_EQ(context.device().copy_out(context, values, memory, 128), 0);
  for (int k = 0; k < 32; ++k) EXPECT_EQ(values[k], 70 + k);
  attn_device_free(context, memory);
}

TEST(PtxInTheRuntime, FailsTheNextWait) {
  fake_cuda::reset();
  const std::string text = kernel_text("st.global.b32 [%rd2+65536], %r1;");
  const std::string unknown = kernel_text("frob.s32 %r2, %r1;");
  attn_context_options options = {};
  options.threads = 1;
  options.device = {ATTN_CUDA, 0};
  Owned context(options);
  OneKernel bad{.text = unknown.c_str()};
  EXPECT_NE(bad.launch(context), 0);
  EXPECT_NE(context.message().find("frob.s32"), std::string::npos) << context.message();
  void* memory = attn_device_allocate(context, 128);
  OneKernel kernel{.text = text.c_str()};
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(attn_context_wait(context), ATTN_BAD_DEVICE);
  EXPECT_NE(fake_cuda::complaints().find("one, line 8"), std::string::npos);
  attn_device_free(context, memory);
}

}  // namespace
