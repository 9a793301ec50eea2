// What percent of peak is a percent of. bench/ compiles this unit by itself, hence the C name.
#pragma once

// Floating-point operations a second that one thread reaches in f32 with independent fused
// multiply-adds (with multiplications and additions where the processor has none), two operations
// each: the best of short runs that take `seconds` together. `lanes`: 16 for AVX-512, 8 for AVX2, 4;
// 0 for the most that the processor has.
extern "C" double attn_fma_peak(double seconds, int lanes);
