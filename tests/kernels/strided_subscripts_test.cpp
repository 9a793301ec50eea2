// Every second element or fewer of a known extent, from the last to the first: Halide knows the
// last bits of such subscripts.
#include <gtest/gtest.h>

#include "agreement.h"

namespace attn::testing {
namespace {

TEST(StridedSubscripts, RunBackwards) {
  Library library(compile_text(R"(
size B, S, M = 10
train model strided(x: [B, S, M], w: [M], keep: [B]) -> y, z, u, v, t {
  y[b, j: S, h: 3] = prod[i: 4] x[b,j,6 - 2*i] * w[i]
  z[b, j: S] = max[i: 3] (if keep[b] > 0 then x[b,j,9 - 4*i] else w[i])
  u = prod[i: M where i % 3 == 0] (if 1 < B and 1 < S then x[1,1,M - 1 - i] else 0.5)
  v[b, j: S, i: 5] = x[b,j,8 - 2*i] * w[9 - 2*i]
  t[b] = sum[j: S, i: 3 where j > b] exp(if b >= 1 then x[b,j,7 - 3*i] else 0) * x[b,0,6 - 3*i]
}
model where_most(x: [B, S, M]) -> at {
  at[b, j: S] = argmax[i: 4] x[b,j,6 - 2*i]
}
)"));
  for (int64_t b : {0, 1, 2, 5})
    for (int64_t s : {0, 1, 3, 17}) {
      const Sizes sizes = {{"B", b}, {"S", s}};
      SCOPED_TRACE(text_of(sizes));
      for (const char* name : {"strided", "where_most"})
        expect_agreement(library, name, random_call(library.model(name), sizes, 3), 2e-5);
    }
}

}  // namespace
}  // namespace attn::testing
