// Calls in PTX that stand for instructions of tensor cores, as LLVM writes them.
#include <Halide.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

TEST(Instructions, TakeThePlaceOfCalls) {
  EXPECT_EQ(with_instructions(R"(.version 7.0
.extern .func  (.param .align 16 .b8 func_retval0[16]) attn_mma_tf32
(
	.param .align 16 .b8 attn_mma_tf32_param_0[16],
	.param .b32 attn_mma_tf32_param_1
)
;
	mov.b32 	%r1, 0;
	{ // callseq 4, 0
	.param .align 16 .b8 	param0[16];
	st.param.v2.b64 	[param0], {%rd5, %rd6};
	.param .b32 	param1;
	st.param.b32 	[param1], %r1;
	.param .b32 	param2;
	st.param.b32 	[param2], %r2;
	.param .b32 	param3;
	st.param.b32 	[param3], 7;
	.param .b32 	param4;
	st.param.b32 	[param4], %r4;
	.param .b32 	param5;
	st.param.b32 	[param5], %r5;
	.param .b32 	param6;
	st.param.b32 	[param6], %r6;
	.param .align 16 .b8 	retval0[16];
	call.uni (retval0), attn_mma_tf32, (param0, param1, param2, param3, param4, param5, param6);
	ld.param.v2.b64 	{%rd7, %rd8}, [retval0];
	} // callseq 4
	{ // callseq 5, 0
	.param .align 16 .b8 	param0[16];
	st.param.v2.b64 	[param0], {%rd7, %rd8};
	.param .b32 	param1;
	st.param.b32 	[param1], 3;
	.param .b32 	retval0;
	call.uni (retval0), 
	attn_element, 
	(
	param0, 
	param1
	);
	ld.param.b32 	%r9, [retval0];
	} // callseq 5
	ret;
)"),
            R"(.version 7.0
	mov.b32 	%r1, 0;
	{ // attn_mma_tf32
	.reg .b32 %attn_0_0, %attn_0_1, %attn_0_2, %attn_0_3;
	mov.b64 {%attn_0_0, %attn_0_1}, %rd5;
	mov.b64 {%attn_0_2, %attn_0_3}, %rd6;
	.reg .b32 %attn_1;
	mov.b32 %attn_1, %r1;
	.reg .b32 %attn_2;
	mov.b32 %attn_2, %r2;
	.reg .b32 %attn_3;
	mov.b32 %attn_3, 7;
	.reg .b32 %attn_4;
	mov.b32 %attn_4, %r4;
	.reg .b32 %attn_5;
	mov.b32 %attn_5, %r5;
	.reg .b32 %attn_6;
	mov.b32 %attn_6, %r6;
	.reg .b32 %attn_r_0, %attn_r_1, %attn_r_2, %attn_r_3;
	mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%attn_r_0, %attn_r_1, %attn_r_2, %attn_r_3}, {%attn_1, %attn_2, %attn_3, %attn_4}, {%attn_5, %attn_6}, {%attn_0_0, %attn_0_1, %attn_0_2, %attn_0_3};
	mov.b64 %rd7, {%attn_r_0, %attn_r_1};
	mov.b64 %rd8, {%attn_r_2, %attn_r_3};
	}
	{ // attn_element
	.reg .b32 %attn_0_0, %attn_0_1, %attn_0_2, %attn_0_3;
	mov.b64 {%attn_0_0, %attn_0_1}, %rd7;
	mov.b64 {%attn_0_2, %attn_0_3}, %rd8;
	.reg .b32 %attn_1;
	mov.b32 %attn_1, 3;
	mov.b32 %r9, %attn_0_3;
	}
	ret;
)");
}

TEST(Instructions, LoadMatricesAndRoundPairs) {
  EXPECT_EQ(with_instructions(R"(	{ // callseq 7, 0
	.param .b32 	param0;
	st.param.b32 	[param0], %r4;
	.param .align 16 .b8 	retval0[16];
	call.uni (retval0), attn_turned_matrices, (param0);
	ld.param.v2.b64 	{_, %rd8}, [retval0];
	} // callseq 7
	{ // callseq 8, 0
	.param .b32 	param0;
	st.param.b32 	[param0], %r5;
	.param .b32 	param1;
	st.param.b32 	[param1], 0f3F800000;
	.param .b32 	param2;
	st.param.b32 	[param2], %r1;
	.param .b32 	retval0;
	call.uni (retval0), attn_pair_bf16, (param0, param1, param2);
	ld.param.b32 	%r9, [retval0];
	} // callseq 8
)"),
            R"(	{ // attn_turned_matrices
	.reg .b32 %attn_0;
	mov.b32 %attn_0, %r4;
	.reg .b32 %attn_r_0, %attn_r_1, %attn_r_2, %attn_r_3;
	ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%attn_r_0, %attn_r_1, %attn_r_2, %attn_r_3}, [%attn_0];
	mov.b64 %rd8, {%attn_r_2, %attn_r_3};
	}
	{ // attn_pair_bf16
	.reg .b32 %attn_0;
	mov.b32 %attn_0, %r5;
	.reg .b32 %attn_1;
	mov.b32 %attn_1, 0f3F800000;
	.reg .b32 %attn_2;
	mov.b32 %attn_2, %r1;
	cvt.rn.bf16x2.f32 %r9, %attn_1, %attn_0;
	}
)");
}

// Of a number that stands for what lies there the address is taken, in each kernel for itself.
TEST(Instructions, TakeAddressesOfWhatIsLoaded) {
  EXPECT_EQ(with_instructions(R"(.visible .entry first(
	ld.global.nc.v2.b64 	{%rd5, %rd6}, [%rd4+32];
	ld.global.b64 	%rd7, [%rd3];
	{ // callseq 1, 0
	.param .b32 	param0;
	st.param.b32 	[param0], %r4;
	.param .b64 	param1;
	st.param.b64 	[param1], %rd6;
	.param .b32 	retval0;
	call.uni (retval0), attn_copy, (param0, param1);
	} // callseq 1
	{ // callseq 2, 0
	.param .b64 	param0;
	st.param.b64 	[param0], %rd5;
	.param .b32 	retval0;
	call.uni (retval0), attn_address_in_line, (param0);
	ld.param.b32 	%r9, [retval0];
	} // callseq 2
.visible .entry second(
	ld.global.b64 	%rd5, [%rd3];
)"),
            R"(.visible .entry first(
	.reg .b64 %attn_at_rd5;
	add.s64 %attn_at_rd5, %rd4, 32;
	.reg .b64 %attn_at_rd6;
	add.s64 %attn_at_rd6, %rd4, 32;
	add.s64 %attn_at_rd6, %attn_at_rd6, 8;
	ld.global.b64 	%rd7, [%rd3];
	{ // attn_copy
	.reg .b32 %attn_0;
	mov.b32 %attn_0, %r4;
	cp.async.cg.shared.global [%attn_0], [%attn_at_rd6], 16;
	}
	{ // attn_address_in_line
	cvt.u32.u64 %r9, %attn_at_rd5; and.b32 %r9, %r9, 15;
	}
.visible .entry second(
	ld.global.b64 	%rd5, [%rd3];
)");
}

// LLVM loads once what is copied and also computed with: the load stays where a number is read.
TEST(Instructions, LeaveLoadsOfWhatIsReadToo) {
  const std::string copy = R"(	{ // callseq 1, 0
	.param .b32 	param0;
	st.param.b32 	[param0], %r4;
	.param .b32 	param1;
	st.param.b32 	[param1], %r5;
	.param .b32 	param2;
	st.param.b32 	[param2], 4;
	.param .b32 	retval0;
	call.uni (retval0), attn_copy_number, (param0, param1, param2);
	} // callseq 1
)";
  const std::string load = "\tld.global.nc.b32 \t%r5, [%rd4];\n";
  const std::string addresses = "\t.reg .b64 %attn_at_r5;\n\tadd.s64 %attn_at_r5, %rd4, 0;\n";
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  for (const std::string more :
       {"", "\tadd.f32 \t%r51, %r6, %r7;\n", "\tadd.f32 \t%r7, %r5, %r6;\n",
        "\tst.shared.b32 \t[%r3], %r5;\n", "\tld.global.b32 \t%r8, [%r5];\n"}) {
    const std::string text = with_instructions(load + copy + more);
    EXPECT_TRUE(has(text, addresses)) << text;
    EXPECT_EQ(has(text, load), has(more, "%r5,") || has(more, "%r5;") || has(more, "%r5]")) << text;
  }
  const std::string two = with_instructions("\tld.global.nc.v2.b32 \t{%r5, %r6}, [%rd4];\n" + copy +
                                            "\tadd.f32 \t%r7, %r6, %r6;\n");
  EXPECT_TRUE(has(two, "{%r5, %r6}")) << two;
  EXPECT_TRUE(has(two, addresses)) << two;
}

// LLVM gives one register to a number that several places load.
TEST(Instructions, DeclareAnAddressOnce) {
  const std::string text = with_instructions(R"(	@%p1 bra 	$other;
	ld.global.b64 	%rd5, [%rd4+32];
	bra.uni 	$both;
$other:
	ld.global.b64 	%rd5, [%rd3];
$both:
	{ // callseq 1, 0
	.param .b32 	param0;
	st.param.b32 	[param0], %r4;
	.param .b64 	param1;
	st.param.b64 	[param1], %rd5;
	.param .b32 	retval0;
	call.uni (retval0), attn_copy, (param0, param1);
	} // callseq 1
)");
  EXPECT_TRUE(text.starts_with(R"(	@%p1 bra 	$other;
	.reg .b64 %attn_at_rd5;
	add.s64 %attn_at_rd5, %rd4, 32;
	bra.uni 	$both;
$other:
	add.s64 %attn_at_rd5, %rd3, 0;
$both:
)")) << text;
}

TEST(Instructions, LeaveOtherCallsAsTheyAre) {
  const std::string text = R"(	{ // callseq 0, 0
	.param .b32 	param0;
	st.param.b32 	[param0], %r1;
	.param .b32 	retval0;
	call.uni (retval0), 
	expf, 
	(
	param0
	);
	ld.param.b32 	%r2, [retval0];
	} // callseq 0
)";
  EXPECT_EQ(with_instructions(text), text);
}

TEST(Instructions, OfUnknownCallsAreErrors) {
  EXPECT_THROW(with_instructions(std::string(R"(	{ // callseq 0, 0
	.param .b32 	retval0;
	call.uni (retval0), attn_unheard_of, ();
	ld.param.b32 	%r2, [retval0];
	} // callseq 0
)")),
               InternalError);
}

}  // namespace
}  // namespace attn::lower
