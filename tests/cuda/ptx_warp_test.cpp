// What lanes of a warp do together, against plain loops.
#include <cmath>
#include <cstring>

#include "ptx_kernel.h"

namespace {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint32_t b) { return std::bit_cast<float>(b); }

// Of each lane: its number plus 100 is shuffled.
Words shuffled(const std::string& instruction) {
  return result_of("add.s32 %r2, %r1, 100;\n" + instruction + "\nst.global.b32 [%rd2], %r3;",
                   Words(32), 32);
}

TEST(PtxWarp, Shuffles) {
  const Words butterfly = shuffled("shfl.sync.bfly.b32 %r3, %r2, 4, 31, -1;");
  const Words down = shuffled("shfl.sync.down.b32 %r3, %r2, 3, 31, -1;");
  const Words up = shuffled("shfl.sync.up.b32 %r3|%p1, %r2, 3, 0, -1; selp.b32 %r3, %r3, 7, %p1;");
  const Words index = shuffled("shfl.sync.idx.b32 %r3, %r2, 5, 31, -1;");
  const Words eights = shuffled("shfl.sync.idx.b32 %r3, %r2, 5, 0x181f, -1;");
  for (uint32_t k = 0; k < 32; ++k) {
    EXPECT_EQ(butterfly[k], (k ^ 4) + 100);
    EXPECT_EQ(down[k], (k + 3 < 32 ? k + 3 : k) + 100);
    EXPECT_EQ(up[k], k >= 3 ? k - 3 + 100 : 7);
    EXPECT_EQ(index[k], 105u);
    EXPECT_EQ(eights[k], k / 8 * 8 + 5 + 100);
  }
}

TEST(PtxWarp, Votes) {
  const Words r = result_of(
      "setp.gt.u32 %p1, %r1, 29;\nvote.sync.ballot.b32 %r2, %p1, -1;\n"
      "vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, !%p1, -1;\n"
      "@%p2 add.s32 %r2, %r2, 1; @%p3 add.s32 %r2, %r2, 2; st.global.b32 [%rd2], %r2;",
      Words(32), 32);
  EXPECT_EQ(r, Words(32, 0xc0000001u));
}

TEST(PtxWarp, FindsLanesThatDoNotCome) {
  const std::string some = "setp.gt.u32 %p1, %r1, 29;\n@%p1 bra $end;\n";
  const std::string shuffle = "shfl.sync.bfly.b32 %r3, %r1, 1, 31, ", end = ";\n$end:\n";
  EXPECT_EQ(found_in(some + shuffle + "0x3fffffff" + end, 32).code, 0);
  const Found in_vain = found_in(some + shuffle + "-1" + end, 32);
  EXPECT_EQ(in_vain.code, 719);
  EXPECT_NE(in_vain.text.find("line 10"), std::string::npos) << in_vain.text;
  // A lane that is not there has no value.
  EXPECT_EQ(found_in("shfl.sync.down.b32 %r3, %r1, 1, 31, -1;\nadd.s32 %r3, %r3, 1;", 24).code,
            719);
}

// ---- matrices. Data: a by rows, b by rows, then c, 32 bits each.

constexpr uint32_t kRows = 16, kColumns = 8;

struct Product {
  uint32_t depth;
  Words data;
  std::vector<double> expected;

  // Integers: each number of 16 bits has them.
  explicit Product(uint32_t d) : depth(d), data(16 * d + d * 8 + 128), expected(128) {
    for (uint32_t k = 0; k < data.size(); ++k)
      data[k] = bits(static_cast<float>(static_cast<int>(k * 37 % 23) - 11));
    for (uint32_t r = 0; r < kRows; ++r)
      for (uint32_t c = 0; c < kColumns; ++c) {
        double sum = number(data[24 * d + r * kColumns + c]);
        for (uint32_t k = 0; k < d; ++k)
          sum += number(data[r * d + k]) * number(data[16 * d + k * kColumns + c]);
        expected[r * kColumns + c] = sum;
      }
  }
  // Where c is, the kernel stores d.
  void check(const std::string& body) {
    run_kernel(body, data);
    for (uint32_t k = 0; k < 128; ++k) EXPECT_EQ(number(data[24 * depth + k]), expected[k]) << k;
  }
};

// %r20: the group of four lanes, %r21: the lane in it, by the layout of the ISA.
std::string at(uint32_t start, const std::string& row, const std::string& column, uint32_t width) {
  return "mad.lo.s32 %r22, " + row + ", " + std::to_string(width) + ", " + column +
         ";\nmul.wide.u32 %rd5, %r22, 4; add.s64 %rd5, %rd5, %rd1; add.s64 %rd5, %rd5, " +
         std::to_string(4 * start) + ";\n";
}
std::string plus(const std::string& a, uint32_t n, const std::string& name) {
  return "add.s32 " + name + ", " + a + ", " + std::to_string(n) + ";\n";
}
const std::string kLane = "shr.u32 %r20, %r1, 2; and.b32 %r21, %r1, 3; shl.b32 %r23, %r21, 1;\n";

std::string product(const std::string& name, uint32_t depth, bool is_paired) {
  std::string text = kLane;
  const std::string first = is_paired ? "%r23" : "%r21";
  const uint32_t next = is_paired ? 8 : 4, n_a = is_paired ? depth / 4 : depth / 2;
  const std::string type = name.substr(name.rfind('.') + 1);
  // Registers of a from %r30, of b from %r40, of c from %r50.
  const auto fragment = [&](const std::string& to, uint32_t start, uint32_t width, uint32_t row,
                            uint32_t column, bool is_b) {
    std::string load;
    for (uint32_t e = 0; e < (is_paired ? 2u : 1u); ++e) {
      load += is_b ? plus(first, row + e, "%r24") + plus("%r20", 0, "%r25")
                   : plus("%r20", row, "%r24") + plus(first, column + e, "%r25");
      load += at(start, "%r24", "%r25", width) + "ld.global.b32 %r2" + std::to_string(6 + e) +
              ", [%rd5];\n";
    }
    if (!is_paired) return load + "mov.b32 " + to + ", %r26;\n";
    return load + "cvt.rn." + type + "x2.f32 " + to + ", %r27, %r26;\n";
  };
  for (uint32_t r = 0; r < n_a; ++r)
    text += fragment("%r" + std::to_string(30 + r), 0, depth, r % 2 * 8, r / 2 * next, false);
  for (uint32_t r = 0; r < n_a / 2; ++r)
    text += fragment("%r" + std::to_string(40 + r), 16 * depth, 8, r * next, 0, true);
  std::string stores;
  for (uint32_t r = 0; r < 4; ++r) {
    const std::string place = plus("%r20", r / 2 * 8, "%r24") + plus("%r23", r % 2, "%r25") +
                              at(24 * depth, "%r24", "%r25", 8);
    text += place + "ld.global.b32 %r5" + std::to_string(r) + ", [%rd5];\n";
    stores += place + "st.global.b32 [%rd5], %r6" + std::to_string(r) + ";\n";
  }
  const auto list = [](uint32_t start, uint32_t n) {
    std::string all;
    for (uint32_t k = 0; k < n; ++k) all += (k > 0 ? ", %r" : "{%r") + std::to_string(start + k);
    return all + "}";
  };
  const std::string types = ".f32." + type + "." + type + ".f32 ";
  return text + "mma.sync.aligned." + name.substr(0, name.find('.')) + ".row.col" + types +
         list(60, 4) + ", " + list(30, n_a) + ", " + list(40, n_a / 2) + ", " + list(50, 4) +
         ";\n" + stores;
}

TEST(PtxWarp, MultipliesMatrices) {
  Product(8).check(product("m16n8k8.tf32", 8, false));
  Product(16).check(product("m16n8k16.bf16", 16, true));
  Product(16).check(product("m16n8k16.f16", 16, true));
}

TEST(PtxWarp, ReadsNineteenBitsOfATf32) {
  Product p(8);
  for (uint32_t k = 0; k < 16 * 8; ++k) p.data[k] |= 0x1fff;
  p.check(product("m16n8k8.tf32", 8, false));
}

// Four matrices of 8 x 8 in shared memory, whose element is 256 matrix + 16 row + column.
Words matrices(const std::string& trans) {
  const std::string text =
      "and.b32 %r2, %r1, 7; shr.u32 %r3, %r1, 3; shl.b32 %r4, %r3, 8; mad.lo.s32 %r4, %r2, 16, "
      "%r4;\n"
      "shl.b32 %r5, %r1, 4; mov.b64 %rd3, box; cvt.u64.u32 %rd4, %r5; add.s64 %rd4, %rd4, %rd3;\n"
      "mad.lo.s32 %r4, %r4, 65537, 65536; add.s32 %r6, %r4, 131074; add.s32 %r7, %r6, 131074;\n"
      "add.s32 %r8, %r7, 131074; st.shared.v4.b32 [%rd4], {%r4, %r6, %r7, %r8};\nbar.sync 0;\n"
      "ldmatrix.sync.aligned.m8n8.x4" +
      trans +
      ".shared.b16 {%r10, %r11, %r12, %r13}, [%rd4];\n"
      "shl.b32 %r14, %r1, 4; cvt.u64.u32 %rd5, %r14; add.s64 %rd5, %rd5, %rd1;\n"
      "st.global.v4.b32 [%rd5], {%r10, %r11, %r12, %r13};";
  return result_of(text, Words(128), 32);
}

TEST(PtxWarp, LoadsMatrices) {
  const Words plain = matrices(""), transposed = matrices(".trans");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t row = lane / 4, column = lane % 4 * 2;
      const auto element = [&](uint32_t r, uint32_t c) { return 256 * k + 16 * r + c; };
      EXPECT_EQ(plain[4 * lane + k], element(row, column + 1) << 16 | element(row, column));
      EXPECT_EQ(transposed[4 * lane + k], element(column + 1, row) << 16 | element(column, row));
    }
}

// ---- copies

const std::string kCopy =
    "sub.s64 %rd3, %rd2, %rd1; shl.b64 %rd3, %rd3, 2; add.s64 %rd4, %rd1, %rd3;\n"
    "mov.b64 %rd5, box; add.s64 %rd5, %rd5, %rd3;\n";
const std::string kBegin = "cp.async.cg.shared.global [%rd5], [%rd4], 16;\n";
const std::string kRead = "ld.shared.b32 %r2, [%rd5]; st.global.b32 [%rd2], %r2;";

TEST(PtxWarp, CopiesAreThereOnceWaitedFor) {
  Words data(128);
  for (uint32_t k = 0; k < 128; ++k) data[k] = k + 1;
  const std::string commit = "cp.async.commit_group;\n";
  for (const std::string& wait :
       {std::string("cp.async.wait_all;\n"), commit + "cp.async.wait_group 0;\n"}) {
    const Words r = result_of(kCopy + kBegin + wait + kRead, data, 32);
    for (uint32_t k = 0; k < 32; ++k) EXPECT_EQ(r[k], 4 * k + 1);
  }
  // Not waited for, or only for the group before.
  for (const std::string& wait : {std::string(), commit, commit + "cp.async.wait_group 1;\n"})
    EXPECT_EQ(result_of(kCopy + kBegin + wait + kRead, data, 32)[0], 0xffffffffu);
  const std::string two = kCopy + kBegin + commit +
                          "cp.async.ca.shared.global [%rd5+1024], [%rd4+4], 4, 2;\n" + commit +
                          "cp.async.wait_group 1;\n";
  EXPECT_EQ(result_of(two + kRead, data, 31)[5], 21u);
  EXPECT_EQ(result_of(two + "cp.async.wait_group 0;\nld.shared.b32 %r2, [%rd5+1024];\n"
                            "st.global.b32 [%rd2], %r2;",
                      data, 1)[0],
            2u);
  // Others see it after a barrier; the copy's place and source are checked.
  const std::string other = "ld.shared.b32 %r2, [box+16];\n";
  EXPECT_EQ(found_in(kCopy + kBegin + "cp.async.wait_all;\nbar.sync 0;\n" + other, 32, 128).code,
            0);
  EXPECT_EQ(found_in(kCopy + kBegin + "cp.async.wait_all;\n" + other, 32, 128).code, 719);
  EXPECT_EQ(found_in(kCopy + kBegin, 33, 128).code, 700);
  EXPECT_EQ(found_in(kCopy + "cp.async.cg.shared.global [%rd5], [%rd4+4], 16;", 1, 128).code, 716);
}

}  // namespace
