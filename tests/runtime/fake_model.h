// A model as generated code exports it, written by hand: y[b] = sum[d] x[b,d] * w[d] + c, and
// loss = mean of (y - target)^2, updated by gradient descent with
// momentum. B and D are run-time sizes.
#pragma once

#include <attn/model.h>

const attn_model* fake_model();
// The same with D = 3 fixed, and w named "linear.weight" in weight files.
const attn_model* fake_fixed_model();
